"""Comparisons of players from matches: who did better than whom, how often.

In a game of several roles two players are compared by their goal values in the same match: the larger
one wins, equal ones draw. In a one-player game they are compared over matches of the same game and round.
A match between n players counts as n/2 comparisons, spread over its pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from ggp.tournament.schedule import seatings
from ggp.tournament.store import FAULTS, Result

Block = tuple[str, int]
"""Game and round: the matches that share an opening."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of one player against another.

    Attributes:
        first, second: labels.
        score: 1 if the first did better, 0.5 if both did equally well, otherwise 0.
        weight: of this comparison in sums.
        block: the game and round it comes from.
    """

    first: str
    second: str
    score: float
    weight: float
    block: Block


def comparisons(results: Iterable[Result]) -> Iterator[Comparison]:
    """All comparisons from the matches."""
    alone: dict[Block, list[tuple[str, int]]] = defaultdict(list)
    for result in results:
        fixture = result.fixture
        block = (fixture.game, fixture.round)
        roles = len(fixture.seats)
        if roles == 1:
            alone[block].append((fixture.seats[0], result.goals[0]))
            continue
        for a, b in combinations(range(roles), 2):
            if fixture.seats[a] != fixture.seats[b]:
                score = compare(result.goals[a], result.goals[b])
                yield Comparison(fixture.seats[a], fixture.seats[b], score, 1 / (roles - 1), block)
    for block, goals in alone.items():
        for (first, goal), (second, goal2) in combinations(goals, 2):
            yield Comparison(first, second, compare(goal, goal2), 1 / max(1, len(goals) - 1), block)


def compare(mine: int, theirs: int) -> float:
    """1 won, 0.5 drawn, 0 lost."""
    return 0.5 if mine == theirs else float(mine > theirs)


@dataclass(slots=True)
class Tally:
    """Wins, draws and losses; the weights of comparisons added up."""

    wins: float = 0.0
    draws: float = 0.0
    losses: float = 0.0

    @property
    def games(self) -> float:
        """The number of comparisons."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float | None:
        """Points per comparison, 0..1; None if there are none."""
        return (self.wins + self.draws / 2) / self.games if self.games else None

    def __str__(self) -> str:
        return f"+{self.wins:g} ={self.draws:g} -{self.losses:g}"

    def add(self, score: float, weight: float) -> None:
        """Count a comparison; one of 0.75, against several at once, is half won and half drawn."""
        clear = 2.0 * score - 1.0
        self.wins += weight * max(0.0, clear)
        self.draws += weight * (1.0 - abs(clear))
        self.losses += weight * max(0.0, -clear)


def percent(tally: Tally) -> str:
    """The score in percent; empty if there is none."""
    return "" if tally.score is None else f"{100 * tally.score:.1f} %"


def crosstable(compared: Iterable[Comparison]) -> dict[tuple[str, str], Tally]:
    """The tally of each player against each other player, in both directions."""
    table: dict[tuple[str, str], Tally] = defaultdict(Tally)
    for comparison in compared:
        table[comparison.first, comparison.second].add(comparison.score, comparison.weight)
        table[comparison.second, comparison.first].add(1 - comparison.score, comparison.weight)
    return dict(table)


@dataclass(slots=True)
class _GameLine:
    """The results of a player in one game.

    Attributes:
        tally: its comparisons there.
        goals: all its goal values, per role.
    """

    tally: Tally = field(default_factory=Tally)
    goals: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


def by_game(results: Sequence[Result]) -> dict[tuple[str, str], _GameLine]:
    """(game, player) -> its results there."""
    lines: dict[tuple[str, str], _GameLine] = defaultdict(_GameLine)
    for comparison in comparisons(results):
        game = comparison.block[0]
        lines[game, comparison.first].tally.add(comparison.score, comparison.weight)
        lines[game, comparison.second].tally.add(1 - comparison.score, comparison.weight)
    for result in results:
        for role, (label, goal) in enumerate(zip(result.fixture.seats, result.goals, strict=True)):
            lines[result.fixture.game, label].goals[role].append(goal)
    return dict(lines)


def conduct(results: Iterable[Result]) -> dict[str, list[int]]:
    """Label -> its numbers of matches, steps, and late, illegal and crashed answers."""
    lines: dict[str, list[int]] = {}
    for result in results:
        for label, faults in zip(result.fixture.seats, result.faults, strict=True):
            before = lines.get(label, [0] * (2 + len(FAULTS)))
            lines[label] = [a + b for a, b in zip(before, (1, result.steps, *faults), strict=True)]
    return lines


def block_scores(results: Iterable[Result], first: str, second: str) -> list[float]:
    """For each opening that was played in all orders, the first player's mean score against the second, in
    the order in which the openings were finished: the input of a sequential test."""
    points: dict[Block, list[float]] = defaultdict(list)
    matches: dict[Block, set[tuple[str, ...]]] = defaultdict(set)
    alone: dict[Block, dict[str, int]] = defaultdict(dict)
    finished: list[float] = []
    for result in results:
        seats, block = result.fixture.seats, (result.fixture.game, result.fixture.round)
        if not set(seats) <= {first, second}:
            continue
        if len(seats) == 1:
            alone[block][seats[0]] = result.goals[0]
            if len(alone[block]) == 2:
                finished.append(compare(alone[block][first], alone[block][second]))
            continue
        for a, b in combinations(range(len(seats)), 2):
            if seats[a] != seats[b]:
                score = compare(result.goals[a], result.goals[b])
                points[block].append(score if seats[a] == first else 1 - score)
        matches[block].add(seats)
        if len(matches[block]) == len(seatings([first, second], len(seats))):
            finished.append(sum(points[block]) / len(points[block]))
    return finished
