"""The packing plan: the order in which to fill goals, found by pulling boxes off them (Shoham and Schaeffer
2020, retrograde analysis).

All boxes stand on goals. A *sink* is a square with a box at the start. A box that pulls can bring to a sink
can leave, and is removed from the board; that never hinders others, unless each sink takes one box only:
then those that have left must fit distinct sinks (a matching). If no box can leave, boxes are pulled aside
(parked) until one can. Read backwards, this is a plan: phases in which boxes come from the sinks, and
between them moves of parked boxes.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board, find_key, new_board, walk
from players.puzzles.sokoban.deadlocks.bipartite import GoalMatching, count_matched, new_goal_matching
from players.puzzles.sokoban.distances import side_classes
from players.puzzles.sokoban.fess.macro_moves import Maneuvers, macro_pulls, new_maneuvers
from players.puzzles.sokoban.geometry import Geometry, Position
from propnet.jit.arrays import Flags, Index, Int32s, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel

_MOST_STARTS = 8
_DEEPEST = 40
"""The most boxes that are parked before one leaves."""
_CHOICES = 4
"""The most ways to park that are followed of each depth."""
_TRIALS = 35_000
"""The number of ways to park that one attempt tries on a map of 150 squares; fewer on larger ones."""
_MOST_IN_THE_WAY = 15
_MOST_SINKS = 64
"""With more, as many boxes as come may leave by each."""
_UNSEEN = 1 << 20


class _Attempt(NamedTuple):
    """A way to look for boxes to park.

    Attributes:
        width: the positions that are kept at each depth.
        roomy: whether half of them are those where the keeper has most space; otherwise, all are those whose
            boxes are farthest from goals.
    """

    width: int
    roomy: bool


_ATTEMPTS = _Attempt(30, True), _Attempt(30, False), _Attempt(200, True)


@dataclass(frozen=True, slots=True, eq=False)
class PackingPhase:
    """A part of a plan.

    Attributes:
        base: squares that must hold boxes before the phase begins.
        squares: squares that boxes from the sinks fill.
        before: bool, shape (squares, squares): entry [h, g] is set if g must be filled before h. Either g can
            no longer be filled once h is, or they touch, perhaps through other goals, and g's box leaves in a
            later round.
        counted: the number of boxes that count as packed when the phase begins.
        planned: whether a way is known by which boxes fill these squares.
    """

    base: tuple[int, ...]
    squares: tuple[int, ...]
    before: Flags
    counted: int
    planned: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class PackingPlan:
    """The order in which goals are filled.

    Attributes:
        phases: the phases in the order of play.
        loose: one phase for all, without parked boxes: a goal waits only for goals that cannot be filled
            after it.
    """

    phases: tuple[PackingPhase, ...]
    loose: PackingPhase


def packing_plan(geometry: Geometry, start: Position, everywhere: bool) -> PackingPlan:
    """Return the plan of a level (:func:`plan_in_parts`), all parts at once."""
    plans = (plan for plan in plan_in_parts(geometry, start, everywhere) if plan is not None)
    return next(plans)


def plan_in_parts(geometry: Geometry, start: Position, everywhere: bool) -> Iterator[PackingPlan | None]:
    """Work on the plan of a level; yields None after each part of the work, and the plan at the end.

    Its sinks are all start squares if boxes may come from ``everywhere``, any number from each. Otherwise
    one box comes from each: from the start squares in the basin of one goal, the one with most of them, if
    that gives a complete plan at the first attempt, and else from all. The keeper is tried in several
    regions. If no plan is complete, it is one that knows ways for most goals."""
    goals = geometry.goals.tolist()
    best: _PlanFound | None = None
    for puller, attempts in _tries(geometry, start, everywhere):
        for attempt, keeper, rounds in _beginnings(puller, goals, attempts):
            ways = yield from _ways(puller, _Way(goals, keeper), attempt)
            stuck = len(_stuck(puller, ways[-1]))
            if best is None or stuck < best.stuck:
                best = _PlanFound(puller, stuck, keeper, rounds, ways)
            if not stuck:
                break
        if best is not None and not best.stuck:
            break
    if best is None:
        free = PackingPhase((), tuple(goals), np.zeros((len(goals),) * 2, np.bool_), 0)
        yield PackingPlan((free,), free)
        return
    gone = np.array(best.rounds, np.int32) > 0
    before = gone[:, None] & ~gone[None]
    before[np.ix_(gone, gone)] = _needs(best.puller, _Way(goals, best.keeper), best.rounds)
    loose = PackingPhase((), tuple(goals), before, 0)
    yield PackingPlan(tuple(_phases(best.puller, best.ways)), loose)


def _tries(
    geometry: Geometry, start: Position, everywhere: bool
) -> Iterator[tuple[_Puller, Sequence[_Attempt]]]:
    """Yield pullers for a plan, and the attempts that each has."""
    goals = geometry.goals.tolist()
    settled = set(start.boxes) & set(goals)
    sinks = [box for box in start.boxes if box not in goals] or list(start.boxes)
    if not everywhere:
        basins = [squares_reaching(geometry, goal, goals) for goal in goals]
        near = max(([box for box in sinks if reach[box]] for reach in basins), key=len, default=[])
        if 0 < len(near) < len(sinks):
            yield _Puller(geometry, near, settled=settled, spare=len(goals) - len(near)), _ATTEMPTS[:1]
    spare = len(goals) - (0 if everywhere else len(sinks))
    yield _Puller(geometry, sinks, settled=settled, spare=spare), _ATTEMPTS


class _PlanFound(NamedTuple):
    """A plan: the puller that found it, the number of boxes for which it knows no way, where the keeper ends,
    the round in which each box can leave at the end, and the positions from which boxes leave, the last one
    first."""

    puller: _Puller
    stuck: int
    keeper: int
    rounds: list[int]
    ways: list[_Way]


def _beginnings(
    puller: _Puller, goals: list[int], attempts: Sequence[_Attempt]
) -> Iterator[tuple[_Attempt, int, list[int]]]:
    """Yield these attempts, each with a square of a region of the keeper when all goals hold boxes, and the
    round in which each box leaves; those regions first from where most boxes leave."""
    found: list[tuple[int, list[int]]] = []
    tried = set(goals)
    for square in range(puller.geometry.size):
        if square not in tried:
            walked, rounds, _ = puller.leave(goals, [square])
            tried |= walked
            found.append((square, rounds))
    found.sort(key=lambda one: one[1].count(0))
    for attempt in attempts:
        puller.begin_anew()
        for keeper, rounds in found[:_MOST_STARTS]:
            yield attempt, keeper, rounds


@dataclass(frozen=True, slots=True)
class _PackingOrder:
    """An order in which goals can be filled, one box after the other.

    Attributes:
        layers: goals; the goals of a layer in any order, after all previous layers.
        stuck: goals that no single box can leave: their boxes must be packed together, and first.
    """

    layers: tuple[tuple[int, ...], ...]
    stuck: tuple[int, ...]


def packing_order(geometry: Geometry, start: Position) -> _PackingOrder:
    """Return the packing order of all goals of a level (after Junghanns and Schaeffer 2001).

    It is found in reverse. All goals hold a box. A box can leave if it can be pulled to the start square of
    some box, with the others as walls and the keeper coming from outside. Boxes that can leave are removed,
    which only makes space, until none is left or none can leave. The last box out is the first box in.
    """
    goals = geometry.goals.tolist()
    puller = _Puller(geometry, list(start.boxes), gone=False, spare=len(goals))
    _, rounds, _ = puller.leave(goals, [start.keeper, *start.boxes])
    layers = {turn: [goal for goal, one in zip(goals, rounds, strict=True) if one == turn] for turn in rounds}
    stuck = layers.pop(0, [])
    return _PackingOrder(tuple(tuple(layers[turn]) for turn in sorted(layers, reverse=True)), tuple(stuck))


class _Way(NamedTuple):
    """A position on the way back from the end: the boxes that have not left, and the keeper.

    Attributes:
        boxes: their squares.
        keeper: his square.
        before: the position before the last pull; None if boxes have left since.
        taken: for each box that has left, the sinks that it could reach, a bit each.
    """

    boxes: list[int]
    keeper: int
    before: _Way | None = None
    taken: tuple[int, ...] = ()


def _phases(puller: _Puller, ways: list[_Way]) -> Iterator[PackingPhase]:
    """Yield the phases of a plan, from the positions from which boxes leave, the last one first. A box that
    was parked has a phase of its own, without squares, which begins when it is back."""
    found: list[tuple[list[int], list[int], Flags, int, bool]] = []
    nothing = np.zeros((0, 0), np.bool_)
    for number, way in enumerate(ways):
        rounds = puller.leave(way.boxes, [way.keeper], taken=way.taken)[1]
        left = [box for box, turn in zip(way.boxes, rounds, strict=True) if not turn]
        gone = [box for box, turn in zip(way.boxes, rounds, strict=True) if turn]
        parked: list[list[int]] = []
        step = ways[number + 1].before if number + 1 < len(ways) else None
        while step is not None:
            parked.append(step.boxes)
            step = step.before
        found.append((left, gone, _order(puller, way, rounds), int(bool(parked)), True))
        found += [(boxes, [], nothing, 1, True) for boxes in parked[-2::-1]]
        if left and not parked:  # they stand there already, or no way is known: first, in any order
            at_once = puller.settled.issuperset(left)
            found.append(([], left, np.zeros((len(left),) * 2, np.bool_), 0, at_once))
    counted = 0
    for base, squares, before, moved, planned in reversed(found):
        counted += moved
        yield PackingPhase(tuple(base), tuple(squares), before, counted, planned)
        counted += len(squares)


def _staying(puller: _Puller, way: _Way) -> _Way:
    """Return the position after all boxes have left that can."""
    _, rounds, masks = puller.leave(way.boxes, [way.keeper], taken=way.taken)
    left = [box for box, turn in zip(way.boxes, rounds, strict=True) if not turn]
    gone = [mask for mask, turn in zip(masks, rounds, strict=True) if turn]
    return _Way(left, way.keeper, None, (*way.taken, *gone))


def _stuck(puller: _Puller, way: _Way) -> set[int]:
    """Return the boxes that cannot leave and do not stand on their goals from the beginning."""
    return set(_staying(puller, way).boxes) - puller.settled


def _ways(puller: _Puller, way: _Way, attempt: _Attempt) -> Generator[None, None, list[_Way]]:
    """Return the positions from which boxes leave, this one first: depth-first over the ways to park, until
    all boxes have left but those that stand on their goals from the beginning; otherwise the positions after
    which the fewest stay. Yields between parts of the work."""
    left = _staying(puller, way)
    best, fewest = [way], len(set(left.boxes) - puller.settled)
    for after in _park(puller, left, attempt) if fewest else ():
        if after is None:
            yield
            continue
        rest = yield from _ways(puller, after, attempt)
        stuck = len(_stuck(puller, rest[-1]))
        if stuck < fewest:
            best, fewest = [way, *rest], stuck
        if not stuck:
            break
    return best


def _needs(puller: _Puller, way: _Way, rounds: list[int]) -> Flags:
    """Return which leaving box cannot leave while which other box stays: bool, [the other, the box]."""
    gone = [number for number, turn in enumerate(rounds) if turn]
    before = np.zeros((len(gone), len(gone)), np.bool_)
    for row, number in enumerate(gone):
        _, others, _ = puller.leave(way.boxes, [way.keeper], number, way.taken)
        before[row] = [others[other] == 0 and other != number for other in gone]
    return before


def _order(puller: _Puller, way: _Way, rounds: list[int]) -> Flags:
    """Return which leaving box must be in place before which, as in ``PackingPhase``."""
    turns = np.array([turn for turn in rounds if turn])
    squares = [box for box, turn in zip(way.boxes, rounds, strict=True) if turn]
    clusters = _clusters(puller.geometry, np.array(squares, np.int32))
    layers: Flags = (turns[None] > turns[:, None]) & (clusters[None] == clusters[:, None])
    return layers | _needs(puller, way, rounds)


def _park(puller: _Puller, begin: _Way, attempt: _Attempt) -> Iterator[_Way | None]:
    """Pull boxes aside until one can leave, breadth-first by pulls of one box: a beam of the positions with
    the fewest boxes in the way. Yields the positions from which some leave, those first that need fewer
    pulls, and of these those from which most leave; and None between parts of the work."""
    layer, salt = [begin], puller.salt()
    for _ in range(_DEEPEST):
        pulls: list[tuple[_Pull, int]] = []
        for number, way in enumerate(layer):
            pulls += ((pull, number) for pull in puller.pulls(way, salt))
            yield None
        free: dict[tuple[int, ...], tuple[int, _Way]] = {}
        after: list[_Way] = []
        for pull, number in _best(pulls, attempt):
            before = layer[number]
            boxes = [*before.boxes[: pull.box], pull.stance >> 2, *before.boxes[pull.box + 1 :]]
            keeper = int(puller.geometry.neighbours[pull.stance >> 2, pull.stance & 3])
            way = _Way(boxes, keeper, before, before.taken)
            left = boxes if pull.in_the_way else _staying(puller, way).boxes
            if len(left) < len(boxes):
                free.setdefault(tuple(sorted(left)), (len(left), way))
            else:
                after.append(way)
        yield from (way for _, way in sorted(free.values(), key=lambda one: one[0])[:_CHOICES])
        layer = after


def _best(pulls: list[tuple[_Pull, int]], attempt: _Attempt) -> list[tuple[_Pull, int]]:
    """Return the pulls that an attempt keeps, each with the number of its position."""

    def by_distance(one: tuple[_Pull, int]) -> tuple[int, int]:
        return one[0].in_the_way, -one[0].distance

    def by_space(one: tuple[_Pull, int]) -> tuple[int, int, int]:
        return one[0].in_the_way, -one[0].space, -one[0].distance

    pulls = sorted(pulls, key=by_distance)
    if attempt.roomy:
        half = attempt.width // 2
        pulls = sorted([*pulls[:half], *sorted(pulls[half:], key=by_space)[:half]], key=by_distance)
    return pulls[: attempt.width]


class _Pull(NamedTuple):
    """A macro pull.

    Attributes:
        box: the number of the box.
        stance: the stance that it reaches (:mod:`players.puzzles.sokoban.fess.macro_moves`).
        in_the_way: the fewest boxes that must then move before some box can leave.
        distance: of all boxes from the nearest goal, added up.
        space: the number of squares that the keeper can walk to.
    """

    box: int
    stance: int
    in_the_way: int
    distance: int
    space: int


class _Puller:
    """Pulls boxes on a board of its own. A box on a sink is ``gone`` at once, or must be reached first.

    Attributes:
        geometry: the level's.
        settled: goals with a box from the beginning.
        spare: the number of boxes that may leave by a sink that another has taken.
    """

    def __init__(
        self,
        geometry: Geometry,
        sinks: list[int],
        *,
        gone: bool = True,
        settled: Iterable[int] = (),
        spare: int = 0,
    ) -> None:
        rows = geometry.size + 1
        self.geometry, self.settled = geometry, frozenset(settled)
        self._board, self._room = new_board(geometry), new_maneuvers(geometry)
        self._sinks = np.zeros(rows, np.uint8)
        self._sinks[sinks] = 2 if gone else 1
        self.spare = spare if len(sinks) <= _MOST_SINKS else len(geometry.goals)
        self._open = self._sinks.copy()
        self._numbers = np.zeros(rows, np.int32)
        self._numbers[sinks] = np.arange(len(sinks)) % _MOST_SINKS
        self._matching = new_goal_matching(len(geometry.goals) + 1, _MOST_SINKS)
        self._way_out = _WayOut(
            side_classes(geometry),
            _steps_from(geometry, geometry.goals.tolist()),
            np.zeros(4 * rows, np.int32),
            np.zeros((_MOST_IN_THE_WAY + 1, 16 * rows), np.int32),
            np.zeros(_MOST_IN_THE_WAY + 1, np.int32),
        )
        self._pulls = np.zeros((rows * 16, 5), np.int32)
        self._most = min(_TRIALS, _TRIALS * 150 // rows)
        self._met = np.zeros(1 << (2 * _TRIALS).bit_length(), np.uint64)
        self._trials, self._salt = 0, 0

    def leave(
        self, boxes: list[int], keepers: list[int], stays: int = -1, taken: Sequence[int] = ()
    ) -> tuple[set[int], list[int], list[int]]:
        """Let all boxes leave that can, except one, with the keeper on any of some squares; ``taken`` are the
        sinks that boxes that have left could reach. Returns the squares to which he can walk at first from
        the first of them, the round in which each box left, from 1, 0 if it could not, and the sinks that it
        could reach."""
        rounds, masks = np.zeros(len(boxes), np.int32), np.zeros(len(boxes), np.uint64)
        squares = np.array(boxes, np.int32), np.array(keepers, np.int32)
        self._matching.reach[: len(taken), 0] = taken
        tools = self._board, self._room, self._sinks, self._numbers, self._matching
        _leave(*tools, *squares, rounds, masks, stays, len(taken), self.spare)
        self._trials += len(boxes)
        walked = set(np.flatnonzero(self._board.reached == self._board.stamp[0]).tolist())
        return walked, rounds.tolist(), masks.tolist()

    def begin_anew(self) -> None:
        """Forget all positions met, and the number of trials."""
        self._met[:] = 0
        self._trials = 0

    def salt(self) -> int:
        """Return a number for a search of its own: positions that others have met are new to it."""
        self._salt = self._salt + 0x9E3779B97F4A7C15 & (1 << 64) - 1
        return self._salt

    def pulls(self, way: _Way, salt: int) -> list[_Pull]:
        """Return all macro pulls of a position that lead to one that the search has not met; none after too
        many trials."""
        if self._trials >= self._most:
            return []
        self._matching.reach[: len(way.taken), 0] = way.taken
        _find_open(self._sinks, self._numbers, self._matching, len(way.taken), self.spare, self._open)
        tools = self._board, self._room, self._open, self._way_out, self._met
        count = _pull(*tools, np.array(way.boxes, np.int32), way.keeper, np.uint64(salt), self._pulls)
        self._trials += count
        return [_Pull(*row) for row in self._pulls[:count].tolist()]


class _WayOut(NamedTuple):
    """Scratch space to count the boxes in the way of the next one that leaves.

    Attributes:
        sides: uint8, shape (size + 1, 4): see :func:`~players.puzzles.sokoban.distances.side_classes`.
        far: int32, shape (size + 1,): the steps to each square from the nearest goal.
        least: int32, shape (4 * (size + 1),): the fewest boxes in the way to each side of a box.
        buckets: int32, shape (most boxes + 1, ...): the sides that wait, by that number.
        lengths: int32, shape (most boxes + 1,): the number that wait in each.
    """

    sides: Octets
    far: Int32s
    least: Int32s
    buckets: Int32s
    lengths: Int32s


def _steps_from(geometry: Geometry, squares: Iterable[int]) -> Int32s:
    """Return the steps to each square from the nearest of some others, int32, shape (size + 1,); a large
    number if there is no way."""
    far = np.full(geometry.size + 1, 1 << 20, np.int32)
    waiting = list(squares)
    far[waiting] = 0
    for square in waiting:  # the list grows
        for there in geometry.neighbours[square].tolist():
            if there != geometry.size and far[there] == 1 << 20:
                far[there] = far[square] + 1
                waiting.append(there)
    return far


def _clusters(geometry: Geometry, squares: Int32s) -> Int32s:
    """Return the cluster of each square: squares that touch, also diagonally, share one."""
    places = geometry.places[squares]
    touch = np.abs(places[:, None] - places[None]).max(axis=2, initial=0) <= 1
    names = np.arange(len(squares), dtype=np.int32)
    for _ in squares:
        names = np.where(touch, names[None], len(squares)).min(axis=1, initial=len(squares)).astype(np.int32)
    return names


def squares_reaching(geometry: Geometry, goal: int, filled: Iterable[int]) -> Flags:
    """Return the squares from which a box can be pushed to this goal when others are ``filled``, with the
    keeper wherever he is needed: bool, shape (size + 1,)."""
    found = np.zeros(geometry.size + 1, np.bool_)
    found[goal] = True
    waiting = [goal]
    closed = {*filled, geometry.size} - {goal}
    while waiting:
        square = waiting.pop()
        for direction in range(4):
            origin = int(geometry.neighbours[square, direction])
            if origin in closed or found[origin] or int(geometry.neighbours[origin, direction]) in closed:
                continue
            found[origin] = True
            waiting.append(origin)
    return found


@kernel(**ARENA)
def _leave(
    board: Board,
    room: Maneuvers,
    sinks: Octets,
    numbers: Int32s,
    matching: GoalMatching,
    boxes: Int32s,
    keepers: Int32s,
    rounds: Int32s,
    masks: Words,
    stays: Index,
    taken: Index,
    spare: Index,
) -> None:
    """Let boxes leave the board, except the one numbered ``stays``, with the keeper on any of some squares.
    ``rounds`` receives the round of each, 0 if it could not, and ``masks`` its sinks. The last walk is the
    first one that he could make from the first square."""
    for square in range(len(sinks) - 1):
        board.occupied[square] = FREE
    for number in range(len(boxes)):
        board.occupied[boxes[number]] = BOXED
        rounds[number] = 0
    left, turn = 1, 0
    while left:
        left = 0
        turn += 1
        for keeper in keepers:
            if board.occupied[keeper] != FREE:
                continue
            walk(board, keeper)
            for number in range(len(boxes)):
                if rounds[number] == 0 and number != stays:
                    mask = _sinks_of(board, room, sinks, numbers, boxes[number])
                    if mask == 0:
                        continue
                    matching.reach[taken, 0] = mask
                    if _takes_one_more(matching, taken, spare):
                        taken += 1
                        masks[number] = mask
                        rounds[number] = turn
                        left += 1
        for number in range(len(boxes)):
            if rounds[number] == turn:
                board.occupied[boxes[number]] = FREE
    for number in range(len(boxes)):
        board.occupied[boxes[number]] = BOXED
    walk(board, keepers[0])


@kernel(**ARENA)
def _find_open(
    sinks: Octets, numbers: Int32s, matching: GoalMatching, taken: Index, spare: Index, found: Octets
) -> None:
    """Copy to ``found`` the sinks by which one more box may leave."""
    for square in range(len(sinks)):
        found[square] = 0
        if sinks[square]:
            matching.reach[taken, 0] = np.uint64(1) << np.uint64(numbers[square])
            if _takes_one_more(matching, taken, spare):
                found[square] = sinks[square]


@inner
def _takes_one_more(matching: GoalMatching, taken: Index, spare: Index) -> bool:
    """Return whether one more box than ``taken`` may leave, by the sinks in that row of the matching."""
    return bool(spare > taken or count_matched(matching, taken + 1) + spare > taken)


@inner
def _sinks_of(board: Board, room: Maneuvers, sinks: Octets, numbers: Int32s, box: Index) -> np.uint64:
    """Return the sinks to which pulls bring this box, a bit each, and that on which it stands if it counts
    2."""
    found = np.uint64(0)
    if sinks[box] == 2:
        found |= np.uint64(1) << np.uint64(numbers[box])
    for number in range(macro_pulls(board, room, box)):
        square = room.stances[number] >> 2
        if sinks[square]:
            found |= np.uint64(1) << np.uint64(numbers[square])
    return found


@inner
def _in_the_way(board: Board, sinks: Octets, way_out: _WayOut) -> Index:
    """Return the fewest boxes that must move before some box that the keeper reaches can be pulled to a sink,
    by breadth-first search from the sinks over pushes of one box with costs 0 and 1: a box costs 1 if the
    keeper must stand on its square. Needs his walk."""
    occupied, neighbours, sides = board.occupied, board.neighbours, way_out.sides
    least, buckets, lengths = way_out.least, way_out.buckets, way_out.lengths
    size = len(occupied) - 1
    least[:] = _UNSEEN
    lengths[:] = 0
    for square in range(size):
        for side in range(4):
            if sinks[square] and sides[square, side] == side:
                least[4 * square + side] = 0
                buckets[0, lengths[0]] = 4 * square + side
                lengths[0] += 1
    for cost in range(_MOST_IN_THE_WAY):
        head = 0
        while head < lengths[cost]:
            state = buckets[cost, head]
            head += 1
            if least[state] != cost:
                continue
            square, part = state >> 2, state & 3
            for side in range(4):
                beside, there = neighbours[square, side], neighbours[square, side ^ 2]
                if sides[square, side] != part:
                    continue
                if occupied[square] == BOXED:
                    if board.reached[beside] == board.stamp[0]:
                        return cost
                elif there != size:
                    after = cost + (occupied[beside] == BOXED)
                    state = 4 * there + sides[there, side]
                    if least[state] > after and lengths[after] < buckets.shape[1]:
                        least[state] = after
                        buckets[after, lengths[after]] = state
                        lengths[after] += 1
    return _MOST_IN_THE_WAY


@kernel(**ARENA)
def _pull(
    board: Board,
    room: Maneuvers,
    sinks: Octets,
    way_out: _WayOut,
    met: Words,
    boxes: Int32s,
    keeper: Index,
    salt: np.uint64,
    pulls: Int32s,
) -> Index:
    """Find the pulls of a position that lead to positions not ``met`` by the search with this salt: rows of
    ``pulls`` with the fields of ``_Pull``. Returns their number, at most as many as fit."""
    for square in range(len(board.occupied) - 1):
        board.occupied[square] = FREE
    key, distance = salt, 0
    for number in range(len(boxes)):
        board.occupied[boxes[number]] = BOXED
        key ^= board.keys[0, boxes[number]]
        distance += way_out.far[boxes[number]]
    walk(board, keeper)
    total = 0
    for number in range(len(boxes)):
        for other in range(1, macro_pulls(board, room, boxes[number])):
            if total < len(pulls):
                pulls[total, 0] = number
                pulls[total, 1] = room.stances[other]
                total += 1
    count = 0
    for row in range(total):
        number, stance = pulls[row, 0], pulls[row, 1]
        origin, end = boxes[number], stance >> 2
        board.occupied[origin] = FREE
        board.occupied[end] = BOXED
        spot = walk(board, board.neighbours[end, stance & 3])
        after = key ^ board.keys[0, origin] ^ board.keys[0, end] ^ board.keys[1, spot]
        slot = find_key(met, after)
        if slot < 0:
            met[-1 - slot] = after
            pulls[count, 0] = number
            pulls[count, 1] = stance
            pulls[count, 2] = _in_the_way(board, sinks, way_out)
            pulls[count, 3] = distance - way_out.far[origin] + way_out.far[end]
            pulls[count, 4] = 0
            for square in range(len(sinks) - 1):
                pulls[count, 4] += board.reached[square] == board.stamp[0]
            count += 1
        board.occupied[end] = FREE
        board.occupied[origin] = BOXED
    return count
