"""The settings of a tournament: games, players, clocks, and how long a player may take before any clock runs.
They are stored with its results, so that it can be resumed.
"""

from __future__ import annotations

import re
import signal
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from types import FrameType
from typing import Any, TypeVar

from gdl.errors import GdlError
from gdl.json_schema import FLAG, check_json, record, rows, text, whole
from gdl.syntax.sexpr import MAX_CHARACTERS
from ggp.printing import show
from ggp.protocol.address import parse_address
from ggp.tournament import bounds
from ggp.tournament.schedule import Fixture, count_matches
from players.kaskade import LEVELS
from players.options import read_names, read_spec
from players.processes.limits import cores
from players.registry import check_name, check_public, is_registered

READY_SECONDS = 60.0
"""Seconds that a player may take to be imported, and then again to be created and to think once."""
REMIND_SECONDS = 10.0
"""Seconds after which the terminal names the player it waits for."""


@contextmanager
def impatient(what: str) -> Iterator[None]:
    """Run strangers' code in the main thread: stderr reports a long wait for ``what``, and in the end
    GdlError is raised in that code."""
    if threading.current_thread() is not threading.main_thread():  # signals reach only the main thread
        yield
        return
    reminded = False

    def remind(number: int, frame: FrameType | None) -> None:
        nonlocal reminded
        if reminded:
            raise GdlError(f"{what} is not done after {READY_SECONDS:.0f} s")
        reminded = True
        show(f"ggp: waiting for {what}", err=True)

    before = signal.signal(signal.SIGALRM, remind)
    signal.setitimer(signal.ITIMER_REAL, REMIND_SECONDS, READY_SECONDS - REMIND_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


_ALL_CORES = "all"
"""The value of ``workers=`` that stands for all cores of the tournament."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """One participant.

    Attributes:
        label: its name in tables; no two entrants share one.
        spec: ``uct:exploration=0.4``, ``module:Class`` or ``http://host:port``.
    """

    label: str
    spec: str

    @property
    def remote(self) -> bool:
        """Whether it is reached over HTTP."""
        return "://" in self.spec

    def cores(self, available: int) -> int:
        """The number of this tournament's cores that it keeps busy: its workers, or 1; 0 if it is reached
        over HTTP."""
        return 0 if self.remote else max(1, self.workers(available))

    def workers(self, available: int) -> int:
        """The number of processes it searches with, apart from its own."""
        workers = self._workers()
        if workers == _ALL_CORES:
            return available
        return int(workers) if workers.isdigit() else 0

    def _workers(self) -> str:
        if self.remote or not is_registered(self.spec):
            return ""
        return (read_spec(self.spec).option("workers") or "").lower()

    def local_name(self, available: int) -> str:
        """The name for the registry, with its workers as a number."""
        return re.sub(rf"\bworkers\s*=\s*{_ALL_CORES}\b", f"workers={available}", self.spec)


def parse_entrants(texts: Sequence[str]) -> list[Entrant]:
    """Entrants from ``uct:workers=1,random``, ``old@http://host:9147``, ``module:Class``.

    The text before an ``@`` is the entrant's label; without one the whole text is. Raises GdlError if a name
    or address does not exist, or if two labels are the same.
    """
    entrants: list[Entrant] = []
    for given in (name for names in texts for name in read_names(names)):
        label, at, spec = given.partition("@")
        entrant = Entrant(label.strip(), spec.strip()) if at else Entrant(given, given)
        if not entrant.label or not entrant.label.isprintable():
            raise GdlError(f"{given!r} has no name before the @")
        if entrant.remote:
            parse_address(entrant.spec)
        elif is_registered(entrant.spec):
            check_name(entrant.local_name(1))
        else:
            with impatient(f"the import of {entrant.spec}"):
                check_name(entrant.spec)
        if any(entrant.label == earlier.label for earlier in entrants):
            raise GdlError(
                f"two players are called {entrant.label}",
                remedy=f"give them names: one@{entrant.spec},two@{entrant.spec}",
            )
        entrants.append(entrant)
    return entrants


def refusal(label: str, why: str) -> str:
    """The error of a match that could not be run because this player cannot play."""
    return f"{label} cannot play: {why}"


def why_refused(label: str, error: str) -> str:
    """Why this player cannot play, from the error of a match; empty if the error is not about it."""
    head = refusal(label, "")
    return error.removeprefix(head) if error.startswith(head) else ""


def check_kept(kept: Iterable[Entrant], given: Iterable[Entrant], database: str) -> None:
    """Check the entrants that a tournament's file names before they play.

    A file may be a stranger's. So a class, an address, and an option that loads or opens something count only
    if the command line names them too; the file's are compared with these.

    Args:
        kept: all entrants of the tournament.
        given: those of the command line.
        database: the file's name, for the message.

    Raises:
        GdlError: a name of the file is not a player, or has to be given on the command line.
    """
    named = {entrant.spec for entrant in given}
    missing: list[str] = []
    for entrant in kept:
        if entrant.spec in named:
            continue
        try:
            if entrant.remote:
                raise GdlError(f"{entrant.spec} is an address")
            check_public(entrant.local_name(cores()))
        except GdlError:
            missing.append(
                entrant.spec if entrant.label == entrant.spec else f"{entrant.label}@{entrant.spec}"
            )
    if missing:
        raise GdlError(
            f"{database} names {', '.join(missing)}: not run because a file says so",
            remedy=f"if you trust them, name them on the command line too: --players '{','.join(missing)}'",
        )


T = TypeVar("T")

MATCH_SETTINGS = ("startclock", "playclock", "plies", "seed", "level", "max_steps", "take_turns")
"""The settings that all matches of a tournament share, whenever they are played."""


_NAME = text(bounds.LONGEST_NAME)
_GAME = record(name=_NAME, rules=text(MAX_CHARACTERS), roles=whole(1, bounds.MOST_SEATS))
_SCHEMA = {
    **record(
        name=_NAME,
        games=rows(_GAME, most=bounds.MOST_GAMES),
        entrants=rows(record(label=_NAME, spec=_NAME), most=bounds.MOST_ENTRANTS),
        rounds=bounds.ROUNDS,
        startclock=bounds.STARTCLOCK,
        playclock=bounds.PLAYCLOCK,
        plies=bounds.PLIES,
        seed=bounds.SEED,
        level={"type": "string", "enum": list(LEVELS)},
        max_steps=bounds.MAX_STEPS,
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
        seed: of the openings and the players' random numbers.
        level: the machine that local players get, ready to use.
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
        """Raise GdlError if the parts do not fit together."""
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
        """The number of matches when all are played."""
        games = {game.name: game.roles for game in self.games}
        return count_matches(games, len(self.entrants), self.rounds)

    def check_played(self, fixtures: Iterable[Fixture]) -> None:
        """Raise GdlError if one of the matches in a file does not belong to this tournament."""
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
        """The settings that :meth:`as_json` returned; their file may be a stranger's. Raises GdlError if they
        are invalid or exceed the limits of the command line."""
        check_json(fields, _SCHEMA, "settings")
        games = tuple(GameSpec(**game) for game in fields["games"])
        entrants = tuple(Entrant(**entrant) for entrant in fields["entrants"])
        return cls(**{**fields, "games": games, "entrants": entrants})

    def continues(self, earlier: TournamentSettings) -> TournamentSettings:
        """These settings, for a tournament that was begun with earlier ones. Rounds, games and players may be
        added; the rest has to be the same. Raises GdlError if results that cannot be compared would be
        mixed."""
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
            raise GdlError(
                f"{name[:80]!r} cannot be the name of a {what}", remedy="choose one that can be printed"
            )
        if count > 1:
            raise GdlError(f"two {what}s are called {name[:80]}", remedy="rename one of them")


def _together(old: tuple[T, ...], new: tuple[T, ...], key: str, content: str) -> tuple[T, ...]:
    merged = {getattr(item, key): item for item in old}
    for item in new:
        same = merged.setdefault(getattr(item, key), item)
        if getattr(same, content) != getattr(item, content):
            raise GdlError(
                f"the database knows another {getattr(item, key)}",
                remedy=f"its {content} has changed: give it another name, or another --database",
            )
    return tuple(merged.values())
