"""Sokoban levels: each search, the portfolio, and the optimizer, against all steps of the keeper.

Levels are small and odd: more goals than boxes, boxes on goals, no boxes, walls everywhere, parts that nobody
reaches, a keeper who cannot move, one square. Some are solved as rules, too.
"""

from __future__ import annotations

import heapq
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass

from bench.truth.field import Case, Field, network_machine
from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from players.portfolio import solve
from players.puzzles.sokoban.geometry import Geometry, Position, from_level
from players.puzzles.sokoban.levels.gdl import level_to_gdl
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import steps_of
from players.puzzles.sokoban.optimizer import Optimizer
from players.puzzles.sokoban.push_search import PushSearch, PushTask
from players.puzzles.sokoban.search.portfolio import ENTRIES, SearchPortfolio
from players.puzzles.sokoban.solution import Metric, Outcome
from players.puzzles.sokoban.solver import Sokoban
from players.solvers import replayed

MEMORY = 4 << 20
RULES_SHARE = 0.2
"""Of the levels are looked at as rules, too, which takes longer."""
RULES_SECONDS = 3.0
SECONDS = 1.0
"""CPU seconds that a search may take for what is found in milliseconds where it is found at all."""
MOST_STATES = 30_000
_STEPS = {"u": (-1, 0), "r": (0, 1), "d": (1, 0), "l": (0, -1)}

Place = tuple[int, int]
Node = tuple[frozenset[Place], Place]
Cost = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Map:
    """A level as it is drawn, for the brute force alone."""

    walls: frozenset[Place]
    goals: frozenset[Place]
    start: Node

    def steps(self, node: Node) -> Iterator[tuple[str, Node]]:
        """The steps of the keeper: capitals are pushes."""
        boxes, (y, x) = node
        for letter, (dy, dx) in _STEPS.items():
            there, beyond = (y + dy, x + dx), (y + 2 * dy, x + 2 * dx)
            if there in self.walls:
                continue
            if there not in boxes:
                yield letter, (boxes, there)
            elif beyond not in self.walls and beyond not in boxes:
                yield letter.upper(), (boxes - {there} | {beyond}, there)

    def is_solved(self, node: Node) -> bool:
        return node[0] <= self.goals

    def best(self, pushes_first: bool) -> Cost | None:
        """Dijkstra (1959) over all steps: the fewest pushes and then moves that solve it, or moves and then
        pushes; None where nothing does. Raises OverflowError with too many states."""
        queue: list[tuple[Cost, int, Node]] = [((0, 0), 0, self.start)]
        done: set[Node] = set()
        number = 0
        while queue:
            cost, _, node = heapq.heappop(queue)
            if node in done:
                continue
            if self.is_solved(node):
                return cost
            done.add(node)
            if len(done) > MOST_STATES:
                raise OverflowError
            for letter, after in self.steps(node):
                if after not in done:
                    number += 1
                    extra = (int(letter.isupper()), 1)
                    first, second = extra if pushes_first else extra[::-1]
                    heapq.heappush(queue, ((cost[0] + first, cost[1] + second), number, after))
        return None

    def replay(self, steps: str) -> bool:
        """Whether these steps can be made and solve it."""
        node = self.start
        for letter in steps:
            after = dict(self.steps(node))
            if letter not in after:
                return False
            node = after[letter]
        return self.is_solved(node)


def random_level(rng: random.Random) -> Level:
    """A level that may be odd in any way that the reader takes."""
    height, width = rng.choice([(1, 7), (2, 5), (3, 3), (3, 4), (3, 5), (4, 4), (4, 5), (1, 1), (2, 2)])
    places = [(y, x) for y in range(height) for x in range(width)]
    walls = {place for place in places if rng.random() < rng.choice((0.0, 0.1, 0.3))}
    free = [place for place in places if place not in walls] or places[:1]
    rng.shuffle(free)
    boxes = min(rng.choice((0, 1, 1, 2, 2, 3, 4)), len(free) - 1)
    held = set(free[1 : boxes + 1])
    count = min(len(free), boxes + rng.choice((0, 0, 1, 1, 2, 5)))
    pool = sorted(held) * rng.choice((0, 0, 0, 3)) + free
    goals: set[Place] = set()
    while len(goals) < count:
        goals.add(rng.choice(pool))
    cells = dict.fromkeys(free, " ") | dict.fromkeys(goals, ".")
    cells |= {place: "*" if place in goals else "$" for place in held}
    cells[free[0]] = "+" if free[0] in goals else "@"
    rows = ["".join(cells.get((y, x), "#") for x in range(width)) for y in range(height)]
    ring = "#" * (width + 2)
    return Level((ring, *(f"#{row}#" for row in rows), ring))


def map_of(level: Level) -> _Map:
    """The level for the brute force."""
    cells = {(y, x): cell for y, row in enumerate(level.rows) for x, cell in enumerate(row)}

    def where(letters: str) -> frozenset[Place]:
        return frozenset(place for place, cell in cells.items() if cell in letters)

    return _Map(where("#"), where(".*+"), (where("$*"), next(iter(where("@+")))))


def _ended(search: PushSearch) -> PushSearch:
    search.step(time.monotonic() + SECONDS)
    search.close()
    return search


def _examine(rng: random.Random, case: Case) -> None:
    level = random_level(rng)
    case.text = "\n".join(level.rows)
    whole = map_of(level)
    try:
        fewest, quickest = whole.best(pushes_first=True), whole.best(pushes_first=False)
    except OverflowError:
        return
    try:
        geometry, start = from_level(level)
    except GdlError as error:
        case.check("refused as unsolvable", fewest is None and "no solution" in str(error), str(error))
        return
    pushes: list[tuple[int, int]] | None = None
    for kind in (*(entry.search for entry in ENTRIES), SearchPortfolio):
        for most in {None, *([] if fewest is None else [fewest[0], max(0, fewest[0] - 1)])}:
            task = PushTask(geometry, start, MEMORY, most)
            try:
                search = _ended(kind(task))
            except GdlError as error:
                case.check(
                    "refused as unsolvable", fewest is None and "no solution" in str(error), str(error)
                )
                continue
            _check(case, whole, geometry, start, search, fewest, most)
            if search.outcome is Outcome.SOLVED:
                pushes = search.pushes
    if pushes is not None and fewest is not None and quickest is not None:
        for metric, true in ((Metric.PUSHES, fewest), (Metric.MOVES, quickest)):
            _check_optimizer(case, whole, Optimizer(geometry, start, pushes, metric, MEMORY), true)
    if rng.random() < RULES_SHARE:
        _check_rules(case, level, quickest and quickest[0], rng)


def _check(
    case: Case,
    whole: _Map,
    geometry: Geometry,
    start: Position,
    search: PushSearch,
    fewest: Cost | None,
    most: int | None,
) -> None:
    """What a search came to, with at most so many pushes."""
    name = f"{search.name}{'' if most is None else ' within a limit'}"
    if search.outcome is Outcome.SOLVED:
        count = len(search.pushes)
        steps = steps_of(geometry, start, search.pushes)
        case.check(f"{name} solved", whole.replay(steps) and (most is None or count <= most), steps)
        if search.optimal:
            case.equal(f"{name} optimal", count, fewest and fewest[0])
    elif search.outcome is Outcome.UNSOLVABLE:
        impossible = fewest is None or (most is not None and fewest[0] > most)
        case.check(f"{name} unsolvable", impossible, f"solved by {fewest and fewest[0]} pushes")


def _check_rules(case: Case, level: Level, moves: int | None, rng: random.Random) -> None:
    """The same level as rules, which end after so many moves: what the recogniser makes of it, and the
    portfolio. ``moves``: the fewest that solve it."""
    steps = rng.choice((1, 3, 12, *(() if not moves else (moves, max(1, moves - 1), moves + 2))))
    rules = parse_rules(level_to_gdl(level, steps=steps), "the level's rules")
    machine = network_machine(rules)
    possible = moves is not None and moves <= steps
    for only in (None, Sokoban.name):
        if only is not None and Sokoban.recognise(machine) is None:
            continue
        try:
            found = solve(machine, RULES_SECONDS, seed=rng.randrange(100), only=only)
        except GdlError as error:
            case.faults.append(f"as rules: {error}")
            continue
        kind = f"as rules, {only or 'portfolio'}"
        if found.value >= 0:
            replayed(rules, found)
        case.check(f"{kind} finds", found.value < 100 or possible, f"100 within {steps} moves")
        if found.proven:
            case.equal(f"{kind} proven", found.value == 100, possible)


def _check_optimizer(case: Case, whole: _Map, optimizer: Optimizer, true: Cost) -> None:
    optimizer.step(time.monotonic() + SECONDS)
    name = f"optimizer by {optimizer.metric.value}"
    case.check(f"{name} replays", whole.replay(optimizer.steps), optimizer.steps)
    case.check(f"{name} not below the best", optimizer.cost >= true, f"{optimizer.cost}, true is {true}")
    if optimizer.optimal:
        case.equal(f"{name} optimal", optimizer.cost, true)


FIELD = Field("sokoban", _examine)
