"""What a tournament is: games, players, clocks. Kept with its results, so that it can be resumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from gdl.errors import GdlError
from gdl.json_schema import FLAG, Schema, check_json, record, rows, whole
from gdl.syntax.sexpr import MAX_CHARACTERS
from ggp.tournament import bounds
from ggp.tournament.bounds import Bound, RealBound
from ggp.tournament.entrants import Entrant
from ggp.tournament.schedule import Fixture, count_matches
from players.kaskade.make_machine import LEVELS

T = TypeVar("T")

MATCH_SETTINGS = ("startclock", "playclock", "plies", "seed", "level", "max_steps", "take_turns")
"""What all matches of a tournament have in common, whenever they are played."""


def _number(bound: Bound | RealBound) -> Schema:
    kind = "integer" if isinstance(bound, Bound) else "number"
    return {"type": kind, "minimum": bound.least, "maximum": bound.most}


_NAME: Schema = {"type": "string", "maxLength": bounds.LONGEST_NAME}
_RULES: Schema = {"type": "string", "maxLength": MAX_CHARACTERS}
_GAME = record(name=_NAME, rules=_RULES, roles=whole(1, bounds.MOST_SEATS))
SCHEMA = {
    **record(
        name=_NAME,
        games=rows(_GAME, most=bounds.MOST_GAMES),
        entrants=rows(record(label=_NAME, spec=_NAME), most=bounds.MOST_ENTRANTS),
        rounds=_number(bounds.ROUNDS),
        startclock=_number(bounds.STARTCLOCK),
        playclock=_number(bounds.PLAYCLOCK),
        plies=_number(bounds.PLIES),
        seed=_number(bounds.SEED),
        level={"type": "string", "enum": list(LEVELS)},
        max_steps=_number(bounds.MAX_STEPS),
        take_turns=FLAG,
    ),
    "required": ["name", "games", "entrants", "rounds", "startclock", "playclock"],
}
"""The settings in a file (:mod:`gdl.json_schema`)."""


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
        _check_names("player", self.labels)
        _check_names("game", [game.name for game in self.games])
        if len(self.entrants) > bounds.MOST_ENTRANTS or self.matches > bounds.MOST_MATCHES:
            raise GdlError(
                f"more than {bounds.MOST_ENTRANTS} players or {bounds.MOST_MATCHES:,} matches",
                remedy="give fewer players, games or rounds",
            )
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

    @property
    def matches(self) -> int:
        """How many matches it has when all are played."""
        games = {game.name: game.roles for game in self.games}
        return count_matches(games, len(self.entrants), self.rounds)

    def check_played(self, fixtures: Iterable[Fixture]) -> None:
        """Raises GdlError where one of the matches that a file holds is none of this tournament."""
        roles = {game.name: game.roles for game in self.games}
        labels = set(self.labels)
        for fixture in fixtures:
            if roles.get(fixture.game) != len(fixture.seats) or not labels.issuperset(fixture.seats):
                raise GdlError(
                    f"a match of {fixture.game[:80]}, round {fixture.round}, is none of this tournament",
                    remedy="the file is damaged: begin another one",
                )

    def as_json(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> TournamentSettings:
        """The settings that :meth:`as_json` gave; a file that has them may be a stranger's. Raises GdlError
        where they are none, or go beyond what the command line allows."""
        check_json(fields, SCHEMA, "settings")
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


def _check_names(what: str, names: list[str]) -> None:
    for name, count in Counter(names).items():
        if not name.strip() or not name.isprintable():
            raise GdlError(f"{name[:80]!r} is no name of a {what}", remedy="choose one that can be printed")
        if count > 1:
            raise GdlError(f"two {what}s are called {name[:80]}", remedy="rename one of them")


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
