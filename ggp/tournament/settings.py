"""What a tournament is: games, players, clocks. Kept with its results, so that it can be resumed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from gdl.errors import GdlError
from ggp.tournament.entrants import Entrant

T = TypeVar("T")

MATCH_SETTINGS = ("startclock", "playclock", "plies", "seed", "level", "max_steps", "take_turns")
"""What all matches of a tournament have in common, whenever they are played."""


@dataclass(frozen=True, slots=True)
class GameSpec:
    """A game: its name in the tournament, its rules as text, and how many roles it has."""

    name: str
    rules: str
    roles: int


@dataclass(frozen=True, slots=True)
class TournamentSettings:
    """A tournament.

    Attributes:
        name: for the match records and the report.
        games: the games.
        entrants: the players.
        rounds: openings of each game.
        startclock: seconds; ``playclock`` too.
        plies: random joint moves that begin each match.
        seed: what openings and players' randomness come from.
        level: the machine that local players get, ready-made.
        max_steps: a match is cut after this many joint moves.
        take_turns: the local players of a match think one after the other, on the same cores.
    """

    name: str
    games: tuple[GameSpec, ...]
    entrants: tuple[Entrant, ...]
    rounds: int
    startclock: float
    playclock: float
    plies: int = 2
    seed: int = 1
    level: str = "auto"
    max_steps: int = 1000
    take_turns: bool = False

    def __post_init__(self) -> None:
        """Raises GdlError where the parts do not go together."""
        if not self.games or not self.entrants:
            raise GdlError("a tournament needs games and players", remedy="ggp tournament GAME --players A,B")
        if any(entrant.remote for entrant in self.entrants):
            for what, clock in (("startclock", self.startclock), ("playclock", self.playclock)):
                if clock != int(clock) or (what == "playclock" and clock < 1):
                    raise GdlError(f"the {what} of players over HTTP is in whole seconds, not {clock}")

    def check_pair(self) -> None:
        """Raise GdlError unless there are two players, as a sequential test needs."""
        if len(self.entrants) != 2:
            raise GdlError("a sequential test is of two players", remedy="give two --players with --sprt")

    @property
    def labels(self) -> list[str]:
        """The names of the players."""
        return [entrant.label for entrant in self.entrants]

    def as_json(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> TournamentSettings:
        """The settings that :meth:`as_json` gave."""
        games = tuple(GameSpec(**game) for game in fields["games"])
        entrants = tuple(Entrant(**entrant) for entrant in fields["entrants"])
        return cls(**{**fields, "games": games, "entrants": entrants})

    def continues(self, earlier: TournamentSettings) -> TournamentSettings:
        """These settings for a tournament that was begun with earlier ones: rounds, games and players may be
        added, the rest has to be the same. Raises GdlError if results would be mixed that cannot be
        compared."""
        for key in MATCH_SETTINGS:
            before, after = getattr(earlier, key), getattr(self, key)
            if before != after:
                raise GdlError(
                    f"the database holds a tournament with {key} {before}, not {after}",
                    remedy="give the same options, or another --database",
                )
        return replace(
            self,
            name=earlier.name,
            games=_together(earlier.games, self.games, "name", "rules"),
            entrants=_together(earlier.entrants, self.entrants, "label", "spec"),
            rounds=max(earlier.rounds, self.rounds),
        )


def _together(old: tuple[T, ...], new: tuple[T, ...], key: str, content: str) -> tuple[T, ...]:
    known = {getattr(item, key): item for item in old}
    for item in new:
        same = known.setdefault(getattr(item, key), item)
        if getattr(same, content) != getattr(item, content):
            raise GdlError(
                f"the database knows another {getattr(item, key)}",
                remedy=f"its {content} has changed: give it another name, or another --database",
            )
    return tuple(known.values())
