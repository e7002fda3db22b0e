"""IDA* by pushes, in slices: iterative deepening by a lower bound, with a transposition table of fixed size
(Korf 1985; Reinefeld and Marsland 1994 for the table). Fewest pushes in memory of a fixed size."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board, can_push, new_board, walk
from players.puzzles.sokoban.deadlocks.freeze import Freeze, is_freeze_deadlock, new_freeze
from players.puzzles.sokoban.lines import is_solved
from players.puzzles.sokoban.search.matching import FAR_COST, Matching, match_boxes, new_matching, total_cost
from players.puzzles.sokoban.search.push_search import PushSearch, PushTask, SliceRate, checked
from players.puzzles.sokoban.solution import Outcome
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel

DEPTH, THRESHOLD, NEXT, MADE, MOST_PUSHES = range(5)
"""What ``counts`` holds: pushes on the path; the bound of this iteration; the least that went beyond it;
children made; the most pushes that count."""

GOING_ON, FOUND, EXHAUSTED = range(3)


class Path(NamedTuple):
    """The path from the start, one row for each push made, and the table.

    Attributes:
        keepers: int32, shape (rows,): where the keeper stands.
        hashes: uint64, shape (rows,): of the boxes alone.
        pushes: int32, shape (rows, 4 * boxes, 2): box and direction of the pushes that can be made.
        lengths, following: int32, shape (rows,): how many these are, and the next to be made.
        squares: int32, shape (boxes,): where the boxes are.
        keys: uint64, shape (slots,): hashes of positions, 0 for none; a power of two. A new one replaces
            what was there.
        left: int32, shape (slots,): there is no solution of so many pushes from that position.
    """

    keepers: Int32s
    hashes: Words
    pushes: Int32s
    lengths: Int32s
    following: Int32s
    squares: Int32s
    keys: Words
    left: Int32s


@inner
def list_pushes(board: Board, path: Path, dead: Octets, depth: Index) -> None:
    """Find the pushes that can be made, after a walk."""
    count = 0
    for number in range(len(path.squares)):
        box = np.int64(path.squares[number])
        for direction in range(4):
            if can_push(board, box, direction) and not dead[board.neighbours[box, direction]]:
                path.pushes[depth, count, 0] = box
                path.pushes[depth, count, 1] = direction
                count += 1
    path.lengths[depth] = count
    path.following[depth] = 0


@inner
def exchange(path: Path, origin: Index, square: Index) -> None:
    """Note that a box has moved."""
    for number in range(len(path.squares)):
        if path.squares[number] == origin:
            path.squares[number] = square
            break


@kernel(**ARENA)
def begin(
    board: Board,
    matching: Matching,
    path: Path,
    dead: Octets,
    counts: Ints,
    marks: Int32s,
    value: np.uint64,
) -> Index:
    """Put the start on the board; ``value`` is the hash of its boxes. Returns its bound."""
    for number in range(len(path.squares)):
        board.occupied[path.squares[number]] = BOXED
    path.hashes[0] = value
    walk(board, np.int64(path.keepers[0]))
    list_pushes(board, path, dead, 0)
    match_boxes(matching, path.squares, len(path.squares), marks)
    return np.int64(total_cost(matching))


@kernel(**ARENA)
def deepen(
    board: Board,
    freeze: Freeze,
    matching: Matching,
    path: Path,
    dead: Octets,
    counts: Ints,
    marks: Int32s,
    most: int,
) -> int:
    """Make so many pushes, backtracking between. Returns GOING_ON, FOUND (the path is the solution) or
    EXHAUSTED (no bound is left below the most pushes that count)."""
    occupied, neighbours = board.occupied, board.neighbours
    last = np.uint64(len(path.keys) - 1)
    for _ in range(most):
        depth = counts[DEPTH]
        if path.following[depth] == path.lengths[depth]:
            if depth == 0:
                if counts[NEXT] > counts[MOST_PUSHES]:
                    return EXHAUSTED
                counts[THRESHOLD] = counts[NEXT]
                counts[NEXT] = FAR_COST
                path.following[0] = 0
                continue
            depth -= 1
            counts[DEPTH] = depth
            made = path.following[depth] - 1
            box, way = np.int64(path.pushes[depth, made, 0]), path.pushes[depth, made, 1]
            square = np.int64(neighbours[box, way])
            occupied[square] = FREE
            occupied[box] = BOXED
            exchange(path, square, box)
            continue
        made = path.following[depth]
        path.following[depth] = made + 1
        box, way = np.int64(path.pushes[depth, made, 0]), path.pushes[depth, made, 1]
        square = np.int64(neighbours[box, way])
        counts[MADE] += 1
        occupied[box] = FREE
        occupied[square] = BOXED
        exchange(path, box, square)
        deeper = False
        if not is_freeze_deadlock(board, freeze, square):
            match_boxes(matching, path.squares, len(path.squares), marks)
            bound = np.int64(total_cost(matching))
            if bound == 0:
                counts[DEPTH] = depth + 1
                return FOUND
            if depth + 1 + bound > counts[THRESHOLD]:
                if bound < FAR_COST:
                    counts[NEXT] = min(counts[NEXT], depth + 1 + bound)
            else:
                region = np.int64(walk(board, box))
                boxes = path.hashes[depth] ^ board.keys[0, box] ^ board.keys[0, square]
                value = boxes ^ board.keys[1, region]
                slot = value & last
                left = counts[THRESHOLD] - depth - 1
                if path.keys[slot] == value and path.left[slot] >= left:
                    counts[NEXT] = min(counts[NEXT], depth + 2 + path.left[slot])
                else:
                    path.keys[slot] = value
                    path.left[slot] = left
                    path.hashes[depth + 1] = boxes
                    list_pushes(board, path, dead, depth + 1)
                    counts[DEPTH] = depth + 1
                    deeper = True
        if not deeper:
            occupied[square] = FREE
            occupied[box] = BOXED
            exchange(path, square, box)
    return GOING_ON


_DEEPEST = 4000


class IdaStar(PushSearch):
    """Searches in depth, as far as pushes made and a lower bound of those to make stay below a threshold,
    which grows. Positions that come up again are known as long as nothing has replaced them in the table.

    A level without solution is only proven to be one if its bound is infinite, or with a limit of pushes.
    """

    name = "ida-star"

    def __init__(self, task: PushTask) -> None:
        checked(task)
        super().__init__(task)
        self._pace = SliceRate(rate=100_000.0, least=64)
        self._ready = False

    def step(self, seconds: float) -> Outcome:
        """See :meth:`PushSearch.step`."""
        if self.outcome is Outcome.GOING_ON:
            self._pace.run(seconds, self._work)
        return self.outcome

    def _prepare(self) -> None:
        task, count = self.task, len(self.task.start.boxes)
        self._ready = True
        self._counts = np.zeros(5, np.int64)
        if is_solved(task.geometry, task.start):
            self.outcome, self.optimal = Outcome.SOLVED, True
            return
        self._board, self._freeze = new_board(task.geometry), new_freeze(task.geometry)
        self._matching = new_matching(task.knowledge.distances)
        self._marks = np.zeros(task.geometry.size + 1, np.int32)
        rows = min(_DEEPEST, _DEEPEST if task.most_pushes is None else task.most_pushes) + 2
        slots = 1 << max(10, (task.memory // 12).bit_length() - 1)
        boxes = np.array(task.start.boxes, np.int32)
        self._path = Path(
            np.full(rows, task.start.keeper, np.int32),
            np.zeros(rows, np.uint64),
            np.empty((rows, 4 * count, 2), np.int32),
            np.zeros(rows, np.int32),
            np.zeros(rows, np.int32),
            boxes,
            np.zeros(slots, np.uint64),
            np.zeros(slots, np.int32),
        )
        value = np.bitwise_xor.reduce(self._board.keys[0, boxes])
        self._counts[MOST_PUSHES] = rows - 2
        bound = begin(
            self._board, self._matching, self._path, task.knowledge.dead, self._counts, self._marks, value
        )
        self._counts[[THRESHOLD, NEXT]] = bound, FAR_COST
        if bound > rows - 2:
            self.outcome = self._beyond(bound)

    def _beyond(self, bound: int) -> Outcome:
        """What it means that only bounds from this one on are left, which are too high."""
        limited = self.task.most_pushes is not None
        return Outcome.UNSOLVABLE if limited or bound >= FAR_COST else Outcome.GAVE_UP

    def _work(self, units: int) -> bool:
        if not self._ready:
            self._prepare()
            if self.outcome is not Outcome.GOING_ON:
                return False
        said = deepen(
            self._board, self._freeze, self._matching, self._path, self.task.knowledge.dead, self._counts,
            self._marks, units,
        )  # fmt: skip
        self.progress.positions = int(self._counts[MADE])
        self.progress.bound = int(self._counts[THRESHOLD])
        if said == FOUND:
            path, length = self._path, int(self._counts[DEPTH])
            made = path.pushes[np.arange(length), path.following[:length] - 1].tolist()
            self.pushes = [(box, direction) for box, direction in made]
            self.outcome, self.optimal = Outcome.SOLVED, True
        elif said == EXHAUSTED:
            self.outcome = self._beyond(int(self._counts[NEXT]))
        return bool(said == GOING_ON)
