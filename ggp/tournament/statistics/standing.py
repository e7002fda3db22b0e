"""The rated players, and why others are not: a player that never made a move of its own has shown nothing.

If a player cannot be created, or fails whenever it is asked, random moves play for it. Such matches say
nothing about it or its opponents, so no rating uses them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gdl.words import counted
from ggp.manager import DIED, EXCEPTION, in_words
from ggp.tournament.schedule import Fixture
from ggp.tournament.settings import why_refused
from ggp.tournament.store import Failure, Record, Result

_NOT_YET = "no match yet"


@dataclass(frozen=True, slots=True)
class FaultLine:
    """A kind of fault of a player.

    Attributes:
        label: the player.
        text: the message of its first occurrence, for people.
        times: the number of such faults.
        match: the first match with it, by its number.
        game: of that match.
        when: ``START``, or the step in that match.
    """

    label: str
    text: str
    times: int
    match: int
    game: str
    when: str

    def __str__(self) -> str:
        often = f" ({self.times:,} times)" if self.times > 1 else ""
        return f"{self.label}: {self.text}, match {self.match} ({self.game}), {self.when}{often}"


def fault_lines(records: Iterable[tuple[int, Fixture, Record]]) -> list[FaultLine]:
    """The faults of all players by kind, from numbers, fixtures and records of matches
    (:meth:`.Store.faulty`), in order of first occurrence."""
    first: dict[tuple[str, str], tuple[str, int, str, str]] = {}
    times = Counter[tuple[str, str]]()
    for number, fixture, record in records:
        # Moves of an opening belong to no player: an error before the first other move is one at START.
        opening = record.get("opening", 0)
        for step, label, error in _errors(fixture, record):
            if error:
                # Illegal moves differ from turn to turn but are one kind; each exception is a kind of its
                # own.
                kind = error if error.startswith((EXCEPTION, DIED)) else error.partition(" ")[0]
                times[label, kind] += 1
                when = "START" if step in (0, opening) else f"step {step}"
                first.setdefault((label, kind), (in_words(error), number, fixture.game, when))
    return [
        FaultLine(label, text, times[label, kind], number, game, when)
        for (label, kind), (text, number, game, when) in first.items()
    ]


def _errors(fixture: Fixture, record: Record) -> Iterator[tuple[int, str, str]]:
    """The step, the player and the text of each error; a record may be a stranger's and hold anything."""
    rows = record.get("errors")
    for step, errors in enumerate(rows if isinstance(rows, list) else ()):
        for label, error in zip(fixture.seats, errors if isinstance(errors, list) else (), strict=False):
            if isinstance(error, str):
                yield step, label, error


@dataclass(frozen=True, slots=True)
class TournamentStanding:
    """The matches and players that count in a tournament.

    Attributes:
        results: the matches whose players have all made a move of their own in some match.
        labels: the rated players, in their order.
        unrated: the other players, each with the reason.
    """

    results: list[Result]
    labels: list[str]
    unrated: list[tuple[str, str]]

    def failure_lines(self, failures: Iterable[Failure]) -> list[str]:
        """The matches that could not be run, those with the same error on one line. Matches that are missing
        because of an unrated player are already in :attr:`reasons`."""
        missed: dict[str, list[Fixture]] = {}
        for fixture, error in failures:
            fixtures = missed.setdefault(error, [])
            if fixture not in fixtures and not any(why_refused(label, error) for label, _ in self.unrated):
                fixtures.append(fixture)
        lines = []
        for error, fixtures in missed.items():
            if fixtures:
                one, others = fixtures[0], len(fixtures) - 1
                more = f" and {counted(others, 'other match', 'other matches')}" if others else ""
                lines.append(f"{one.game} {one.round}: {' - '.join(one.seats)}{more}: {error}")
        return lines

    @property
    def reasons(self) -> list[str]:
        """A line for each player without a rating; those that have not played yet share one."""
        waiting = [label for label, why in self.unrated if why == _NOT_YET]
        lines = [f"{label} has no rating: {why}" for label, why in self.unrated if why != _NOT_YET]
        return [*lines, *([f"{_NOT_YET}: {', '.join(waiting)}"] if waiting else [])]


def standing_of(
    results: Sequence[Result],
    labels: Sequence[str],
    failures: Iterable[Failure] = (),
    faults: Iterable[FaultLine] = (),
) -> TournamentStanding:
    """The rated players, and the matches that count for them.

    Args:
        results: all matches.
        labels: all players.
        failures: matches that could not be run, with their errors.
        faults: of the players in their matches, for the reasons.
    """
    played = Counter(label for result in results for label in set(result.fixture.seats))
    active = {label for r in results for role, label in enumerate(r.fixture.seats) if not r.idle(role)}
    failed = list(failures)
    all_faults = list(faults)
    rated = [label for label in labels if label in active]
    counting = [result for result in results if active.issuperset(result.fixture.seats)]
    unrated = [
        (label, _why(label, played[label], failed, all_faults)) for label in labels if label not in active
    ]
    return TournamentStanding(counting, rated, unrated)


def _why(label: str, played: int, failures: Sequence[Failure], faults: Sequence[FaultLine]) -> str:
    if played:
        first = next((f"; first {fault.text}, {fault.when}" for fault in faults if fault.label == label), "")
        return f"no move of its own in {counted(played, 'match', 'matches')}{first}"
    missed = {fixture: error for fixture, error in failures if label in fixture.seats}
    reasons = Counter(why for error in missed.values() if (why := why_refused(label, error)))
    if reasons:
        text = reasons.most_common(1)[0][0]
        others = f" and {counted(len(reasons) - 1, 'other reason')}" if len(reasons) > 1 else ""
        return f"{text}{others} ({counted(len(missed), 'match', 'matches')} not played)"
    if missed:
        return f"its opponents could not play ({counted(len(missed), 'match', 'matches')} not played)"
    return _NOT_YET
