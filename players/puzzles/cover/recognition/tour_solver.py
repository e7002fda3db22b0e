"""Tours and other games in which every move uses something up: unrolled over the moves, for a SAT solver.

This is planning as satisfiability (H. Kautz and B. Selman, 1992). Each move of a tour marks a square that no
other move marks: with as many moves as squares each square is marked once. A SAT solver that looks at one
step at a time does not see that by itself.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from players.puzzles.cover.recognition.formula import (
    Clause,
    Formula,
    FormulaSizeError,
    SatSearch,
    StateCone,
    available,
    reads_of,
)
from players.puzzles.cover.recognition.latch_game import (
    Clocks,
    Effects,
    Flags,
    bits,
    effects,
    followed,
    latch_game,
    possible_ends,
)
from players.puzzles.solver import Certainty, LineSolver, Promise, Task
from propnet.analysis.ternary import CASES_PER_WORD, Ternary, unpack_cases
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE
from propnet.substitute import EffortError, Remake

_EFFORT = 200_000
_MOST_WORDS = 500_000
"""Nodes, times words of cases, that are simulated."""


def used_up(ternary: Ternary, found: Effects) -> Flags | None:
    """Which latches each move sets for the first time, whenever it is legal: bool, shape (moves, bases).

    A move that is legal in a state that is not terminal finds all of these unset; nothing unsets them. None
    if some move that can ever be legal has no such latch.
    """
    network = ternary.network
    up = found.adds.any(axis=0) & ~found.deletes.any(axis=0) & ~found.clock
    down = found.deletes.any(axis=0) & ~found.adds.any(axis=0) & ~found.clock
    sets = np.where(up, found.adds, False) | np.where(down, found.deletes, False)
    move, base = np.nonzero(sets)
    words = -(-len(move) // CASES_PER_WORD)
    if not sets.any(axis=1).all() or words * network.nodes > _MOST_WORDS:
        return None
    # One case for each move and latch: what the move's legality implies, and that the latch is set.
    rows = ternary.unknown(words)
    case = np.arange(len(move))
    np.bitwise_and.at(rows, (2 * base + up[base], case // CASES_PER_WORD), ~bits(case))
    try:
        needed = _needed(network)
    except EffortError:
        return None
    for made, word, bit in zip(move, case // CASES_PER_WORD, bits(case), strict=True):
        for literal in needed[made]:
            rows[literal ^ 1, word] &= ~bit
    may = ternary.state(rows)
    open_ = unpack_cases(may[[network.terminal_literal ^ 1]], len(move))[:, 0]
    legal = unpack_cases(may[network.legal_literals], len(move))[case, move]
    first = np.zeros_like(sets)
    fresh = ~(open_ & legal)
    first[move[fresh], base[fresh]] = True
    return first if first.any(axis=1).all() else None


def _needed(network: Network) -> list[list[int]]:
    """Per move the rows of :class:`Ternary` of base literals that hold wherever it is legal."""
    gates = Remake(network, _EFFORT)
    bases = len(network.bases)
    return [
        [x - 2 for x in gates.implied(literal) if 1 <= x >> 1 <= bases]
        for literal in network.legal_literals.tolist()
    ]


@dataclass(frozen=True, slots=True)
class Unrolled:
    """The lines of some length that end with a goal value, as clauses.

    Attributes:
        moves: per step its moves and their variables (DIMACS numbers).
        clauses: the conditions; each model is a line, and each line a model.
    """

    moves: list[dict[int, int]]
    clauses: list[Clause]

    def line(self, model: frozenset[int]) -> list[int]:
        """The moves of a model."""
        return [next(m for m, x in step.items() if x in model) for step in self.moves]


def unrolled(
    network: Network, start: Flags, value: int, length: int, first: Flags
) -> Generator[None, None, Unrolled]:
    """Writes the conditions on lines from a state, bool (bases,), step by step.

    What is false or true at a step in all lines vanishes as the formula is built.

    Args:
        network: the game; it has no loops.
        start: the state.
        value: the goal value, 0..100.
        length: how many moves, no more than there is to use up.
        first: what :func:`used_up` says, without moves that are never legal from here on.

    Raises:
        FormulaSizeError: the clauses are too many.
    """
    formula = Formula()
    bases, legal = len(network.bases), network.legal_literals.tolist()
    next_literals = network.next_literals.tolist()
    state = {1 + base: TRUE if holds else FALSE for base, holds in enumerate(start.tolist())}
    steps: list[dict[int, int]] = []
    reads = reads_of(network)
    for _ in range(length):
        yield
        now = StateCone(formula, network, state, reads)
        formula.require(now.literal(network.terminal_literal) ^ 1)
        made: dict[int, int] = {}
        for move, literal in enumerate(legal):
            allowed = now.literal(literal)
            if allowed != FALSE:
                made[move] = formula.variable()
                formula.clause([made[move] ^ 1, allowed])
        formula.at_most(list(made.values()), 1, exactly=True)
        steps.append(made)
        moves = {1 + bases + move: made.get(move, FALSE) for move in range(len(legal))}
        after = StateCone(formula, network, state | moves, reads)
        state = {1 + base: after.literal(literal) for base, literal in enumerate(next_literals)}
    last = StateCone(formula, network, state)
    formula.require(last.literal(network.terminal_literal))
    formula.require(
        formula.any([last.literal(x) for _, worth, x in network.goals.tolist() if worth == value])
    )
    _require_counts(formula, steps, first)
    yield
    return Unrolled([{m: x >> 1 for m, x in step.items()} for step in steps], formula.clauses())


def _require_counts(formula: Formula, steps: list[dict[int, int]], first: Flags) -> None:
    """Each move uses something up. If that is as much as there is, all of it is used up some time."""
    there = np.flatnonzero(first.any(axis=0)).tolist()
    amounts = first.sum(axis=1)
    if len(steps) * int(amounts[amounts > 0].min(initial=len(there))) == len(there):
        for base in there:
            users = np.flatnonzero(first[:, base]).tolist()
            formula.clause([step[move] for step in steps for move in users if move in step])


_SLICE = 0.02
"""Seconds that the SAT solver works at once."""
_LARGEST = 400_000
"""Gate inputs and moves, of all steps together."""


class TourSolver(LineSolver):
    """Goes through the goal values from the highest, and the lengths that lines with it may have.

    The formula is exact: where there is no line for any length, the value is out of reach. So the first line
    that is found is the best, and proven.
    """

    name: ClassVar[str] = "tours"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._work = self._solve()

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        start = np.asarray(machine.network.initial, np.bool_)
        if not available() or _looked_at(machine, start) is None:
            return None
        return Promise(Certainty.FINDS, alike=True)

    def step(self, deadline: float) -> bool:
        return any(time.monotonic() >= deadline for _ in self._work)

    def _solve(self) -> Iterator[None]:
        network = self.machine.network
        start = unpack(self.machine.records([self.start]), len(network.bases))[0].astype(np.bool_)
        found = _looked_at(self.machine, start)
        if found is None:
            return
        ternary, clocks, first, longest = found
        yield
        for value, length in _ends(possible_ends(ternary, clocks), len(clocks.values), longest):
            try:
                lines = yield from unrolled(network, start, value, length, first)
            except FormulaSizeError:
                return
            yield
            search = SatSearch(lines.clauses)
            try:
                while search.step(time.monotonic() + _SLICE):
                    yield
            finally:
                search.close()
            if search.answer:
                self.states += 1
                line = lines.line(search.model)
                self.report(self._value(line), line)
                self.proven = value
                return

    def _value(self, line: list[int]) -> int:
        """The goal value that a line ends with, by the machine."""
        state = self.start
        for move in line:
            state = self.machine.next_state(state, [move])
        return self.machine.result(state, 0) or 0


def _ends(ends: list[tuple[int, int | None]], steps: int, longest: int) -> Iterator[tuple[int, int]]:
    """The goal values and lengths of lines, the highest values first; lines from ``steps`` on have settled
    clocks."""
    for value, length in ends:
        lengths = range(steps, longest + 1) if length is None else (length,)
        yield from ((value, chosen) for chosen in lengths if chosen <= longest)


def _looked_at(machine: PropnetMachine, start: Flags) -> tuple[Ternary, Clocks, Flags, int] | None:
    """The simulation of a game, its clocks, what its moves use up, and how many moves that allows; None if it
    is no game for this solver: order does not matter in it, it is too large, or moves use nothing up."""

    network = machine.network
    found = effects(network)
    if found is None:
        return None
    ternary = Ternary(network)
    first = used_up(ternary, found)
    if first is None or latch_game(ternary, start, found) is not None:
        return None
    # A move that would use up what is used up from the start is never legal.
    spent = np.where(found.adds.any(axis=0), start, ~start)
    first[(first & spent).any(axis=1)] = False
    clocks = followed(ternary, start, found.clock)
    amounts = first.sum(axis=1)
    if not amounts.any():
        return None
    least = int(amounts[amounts > 0].min())
    longest = int(first.any(axis=0).sum()) // least
    if clocks.ends:
        longest = min(longest, len(clocks.values) - 1)
    elif longest >= len(clocks.values) and not clocks.settled:
        return None
    size = longest * (len(network.gate_inputs) + network.move_count)
    return (ternary, clocks, first, longest) if size <= _LARGEST else None
