"""Games whose states are sets of moves: a SAT solver says which moves to make, then they are put in order."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from enum import Enum
from typing import ClassVar

import numpy as np

from gdl.machine import State
from players.puzzles.cover.recognition.formula import FormulaSizeError, SatSearch, available
from players.puzzles.cover.recognition.latch_game import (
    LatchGame,
    effects,
    latch_game,
    latch_game_of,
    possible_ends,
)
from players.puzzles.cover.recognition.move_sets import MoveSets, move_cover, move_sets
from players.solvers import Certainty, LineSolver, Promise, Task
from propnet.analysis.ternary import Ternary
from propnet.jit.arrays import Words
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine

_NODES = 3_000
"""States that the search may look at."""


def ordered(
    machine: PropnetMachine, game: LatchGame, start: State, moves: list[int], last: int, length: int | None
) -> tuple[int, list[int]] | None:
    """A legal line of a set of moves.

    Args:
        machine: the game's machine.
        game: what is proven of it.
        start: where the line begins.
        moves: what it makes; all of them, once at least.
        last: its last move.
        length: how many moves it has: some are repeated where that is more; None for no repetitions.

    Returns:
        The goal value of the terminal state that it ends in, and the line; None if none is found.
    """
    earlier = [m for m in moves if m != last]
    # Moves that others block come first.
    counts = game.blocks[np.ix_(earlier, earlier)].sum(axis=0)
    earlier = [earlier[i] for i in np.argsort(-counts, kind="stable").tolist()]
    again = [m for m in moves if not game.blocks[m, m]]
    target = len(earlier) if length is None else length - 1
    if target < len(earlier):
        return None
    line: list[int] = []
    path = [_choices(machine, machine.records([start]), line, earlier, again, target)]
    records = [machine.records([start])]
    for _ in range(_NODES):
        move = next(path[-1], None)
        if move is not None:
            after = machine.successors(records[-1], np.array([[move]], np.int32))
            if machine.ends(after)[0][0]:
                continue
            line.append(move)
            records.append(after)
            path.append(_choices(machine, after, line, earlier, again, target))
            if len(line) < target:
                continue
        if len(line) == target and last in _legal(machine, records[-1]):
            after = machine.successors(records[-1], np.array([[last]], np.int32))
            terminal, goals = machine.ends(after)
            if terminal[0]:
                return int(goals[0, 0]), [*line, last]
        path.pop()
        records.pop()
        if not path:
            return None
        line.pop()
    return None


def _choices(
    machine: PropnetMachine, record: Words, line: list[int], earlier: list[int], again: list[int], target: int
) -> Iterator[int]:
    """The moves to try in a state: those that are not yet made, then those that may be repeated."""
    if len(line) >= target:
        return iter(())
    made = set(line)
    missing = [m for m in earlier if m not in made]
    legal = _legal(machine, record)
    spare = target - len(line) > len(missing)
    return iter([m for m in missing if m in legal] + [m for m in again if spare and m in legal])


def _legal(machine: PropnetMachine, record: Words) -> set[int]:
    """The legal moves of a state."""
    bits = unpack(machine.evaluate(record).legal, machine.network.move_count)
    return set(np.flatnonzero(bits[0]).tolist())


_SLICE = 0.02
"""Seconds that the SAT solver works at once."""
_TRIES = 20
"""Sets of moves that are tried for one goal value, before more is asked of them."""

_MOST_COVERS = 20
"""Lengths of lines for which cover problems are made when a game is recognised."""
_PLAYOUTS, _LONGEST = 64, 10_000
"""Playouts that look for any line that ends, and the moves of a playout."""


class _Outcome(Enum):
    """What came of one goal value and one length."""

    FOUND = "found"
    REFUTED = "refuted"
    OPEN = "open"


class MoveSetSolver(LineSolver):
    """Goes through the goal values from the highest, and asks for a set of moves that ends with it.

    If there is none, no line has that value: :attr:`proven` is the value of the first line found when all
    values above it are refuted. Sets that cannot be put in order refute nothing.
    """

    name: ClassVar[str] = "move-sets"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._work = self._solve()

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        game = latch_game_of(machine.network)
        if game is None or not (available() or _covers(game)):
            return None
        return Promise(Certainty.FINDS, alike=True)

    def step(self, deadline: float) -> bool:
        return any(time.monotonic() >= deadline for _ in self._work)

    def _solve(self) -> Iterator[None]:
        network = self.machine.network
        found = effects(network)
        if found is None:
            return
        start = unpack(self.machine.records([self.start]), len(network.bases))[0].astype(np.bool_)
        yield
        ternary = Ternary(network)
        game = latch_game(ternary, start, found)
        if game is None:
            return
        yield
        refuted = game.clocks.complete
        candidates = possible_ends(ternary, game.clocks)
        for value in sorted({value for value, _ in candidates if value}, reverse=True):
            for length in [length for worth, length in candidates if worth == value]:
                try:
                    outcome = yield from self._look_for(game, value, length)
                except FormulaSizeError:
                    outcome = _Outcome.OPEN
                if outcome is _Outcome.FOUND:
                    if refuted:
                        self.proven = value
                    return
                refuted = refuted and outcome is _Outcome.REFUTED
        if refuted:
            self._any_line()

    def _any_line(self) -> None:
        """Nothing above 0 can be reached: report a line that ends, any one."""
        record = self.machine.records([self.start])
        played = self.machine.playouts_from(record, max_steps=_LONGEST, each=_PLAYOUTS)
        whole = (played.goals[:, 0] == 0) & (played.lengths < _LONGEST)
        if whole.any():
            row = int(whole.argmax())
            length = int(played.lengths[row])
            moves = self.machine.playout_moves(record, row, length, max_steps=_LONGEST, each=_PLAYOUTS)
            self.report(0, moves[:, 0].tolist())
            self.proven = 0

    def _look_for(self, game: LatchGame, value: int, length: int | None) -> Generator[None, None, _Outcome]:
        """Look for a line with this goal value and so many moves."""

        if not available():
            return (yield from self._look_for_cover(game, value, length))
        for sufficient in (False, True):
            sets = yield from move_sets(game, value, length, sufficient=sufficient)
            yield
            search = SatSearch(sets.clauses)
            try:
                outcome = yield from self._try_sets(game, sets, search, value, length)
            finally:
                search.close()
            if outcome is not _Outcome.OPEN:
                return outcome if not sufficient or outcome is _Outcome.FOUND else _Outcome.OPEN
        return _Outcome.OPEN

    def _look_for_cover(
        self, game: LatchGame, value: int, length: int | None
    ) -> Generator[None, None, _Outcome]:
        """The same without a SAT solver, where the conditions are a cover problem."""
        from players.puzzles.cover.outcome import CoverOptions
        from players.puzzles.cover.search import CoverSearch

        cover = move_cover(game, value, length)
        if cover is None:
            return _Outcome.OPEN
        search = CoverSearch(cover.problem, CoverOptions(first=_TRIES))
        goes_on, some = True, False
        while goes_on:
            goes_on = search.step(time.monotonic() + _SLICE)
            for options in search.taken():
                some = True
                if self._found(game, cover.line(game, options.tolist()), value, length):
                    return _Outcome.FOUND
            yield
        return _Outcome.OPEN if some else _Outcome.REFUTED

    def _found(self, game: LatchGame, made: list[int], value: int, length: int | None) -> bool:
        """Put a set of moves in order, its last one last, and report the line if that works."""

        self.states += 1
        line = ordered(self.machine, game, self.start, made, made[-1], length) if made else None
        if line is None or line[0] < value:
            return False
        self.report(*line)
        return True

    def _try_sets(
        self, game: LatchGame, sets: MoveSets, search: SatSearch, value: int, length: int | None
    ) -> Generator[None, None, _Outcome]:
        """Put the sets in order that the search comes up with; refuted if there is none."""
        for tries in range(_TRIES):
            while search.step(time.monotonic() + _SLICE):
                yield
            if search.answer is False:
                return _Outcome.OPEN if tries else _Outcome.REFUTED
            made, last = sets.read(search.model)
            if self._found(game, [*(m for m in made if m != last), last], value, length):
                return _Outcome.FOUND
            search.add(sets.forbid(search.model))
            yield
        return _Outcome.OPEN


def _covers(game: LatchGame) -> bool:
    """Whether the highest goal value asks for a cover, whatever the length of the line."""

    ends = possible_ends(Ternary(game.network), game.clocks)
    highest = [end for end in ends if end[0] == ends[0][0]]
    return 0 < len(highest) <= _MOST_COVERS and all(move_cover(game, *end) for end in highest)
