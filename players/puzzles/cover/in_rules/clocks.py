"""`Clocks`: base propositions that depend on the number of moves alone, and what they tell of each time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from propnet.analysis.ternary import CASES_PER_WORD, Ternary, unpack_cases

Flags = NDArray[np.bool_]

_LONGEST = 400
"""Moves of the longest game whose clocks are followed."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """What the clocks of a game do from one state on.

    Attributes:
        bases: int64: the clock propositions.
        values: bool, shape (steps, bases): their values after 0, 1... moves; one step if there are none.
        ends: whether every state with the last values is terminal.
        settled: whether the last values stay for ever. If neither, longer lines were not looked at.
        times: bool, shape (steps, moves): which moves may be legal after so many moves.
    """

    bases: NDArray[np.int64]
    values: Flags
    ends: bool
    settled: bool
    times: Flags

    @property
    def complete(self) -> bool:
        """Whether all lengths of lines are known."""
        return self.ends or self.settled


def followed(ternary: Ternary, start: Flags, candidates: Flags) -> Clocks:
    """The clocks among some propositions, given as bool (bases,), from a state on: those that turn out to
    depend on more are left out."""
    bases = np.flatnonzero(candidates)
    while True:
        values, ends, settled, others = _run(ternary, start, bases)
        if not others.any():
            break
        bases = bases[~others]
    may = ternary.state(_rows(ternary, bases, values))
    legal = unpack_cases(may[ternary.network.legal_literals], len(values))
    open_ = unpack_cases(may[[ternary.network.terminal_literal ^ 1]], len(values))
    return Clocks(bases, values, ends, settled, np.asarray(legal & open_))


def possible_ends(ternary: Ternary, clocks: Clocks) -> list[tuple[int, int | None]]:
    """The goal values that a line may end with, and its length, the highest first, as far as the clocks tell;
    None for all lengths with settled clocks."""
    network, steps = ternary.network, len(clocks.values)
    may = ternary.state(_rows(ternary, clocks.bases, clocks.values))
    goals = [(value, literal) for _, value, literal in network.goals.tolist()]
    terminal = network.terminal_literal
    rows = may[[terminal, terminal ^ 1, *(literal for _, literal in goals)]]
    ends = unpack_cases(rows, steps)
    found: set[tuple[int, int | None]] = set()
    for place, (value, _) in enumerate(goals):
        if clocks.settled and ends[-1, 0] and ends[-1, 2 + place]:
            found.add((value, None))
        for step in range(1, steps):
            if ends[step, 0] and ends[step, 2 + place] and ends[step - 1, 1]:
                found.add((value, step))
    return sorted(found, key=lambda end: (-end[0], end[1] or steps))


def _rows(ternary: Ternary, clock: NDArray[np.int64], values: Flags) -> NDArray[np.uint64]:
    """Rows for states, a case each, of which the clocks are known and nothing else."""
    rows = ternary.unknown(-(-len(values) // CASES_PER_WORD))
    for step, holds in enumerate(values):
        rows[2 * clock + holds, step // CASES_PER_WORD] &= ~bits(np.array([step]))
    return rows


def _run(ternary: Ternary, start: Flags, clock: NDArray[np.int64]) -> tuple[Flags, bool, bool, Flags]:
    """The values of the clocks after 0, 1... moves, whether all states with the last ones are terminal,
    whether these stay; and which of the clocks are none."""
    values = [start[clock]]
    none = np.zeros(len(clock), np.bool_)
    if not len(clock):
        return np.array(values), False, True, none
    rows = ternary.unknown(1)
    one = np.uint64(1)
    for _ in range(_LONGEST):
        state = rows.copy()
        state[2 * clock] = np.where(values[-1], ~np.uint64(0), np.uint64(0))[:, None]
        state[2 * clock + 1] = ~state[2 * clock]
        after = ternary.step(state)
        if not after.may[ternary.network.terminal_literal ^ 1, 0] & one:
            return np.array(values), True, False, none
        true = after.following[2 * clock, 0] & one > 0
        false = after.following[2 * clock + 1, 0] & one > 0
        if (true & false).any():
            return np.array(values), False, False, true & false
        if (true == values[-1]).all():
            return np.array(values), False, True, none
        values.append(true)
    return np.array(values), False, False, none


def bits(case: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The bit of each case in its word."""
    found: NDArray[np.uint64] = np.uint64(1) << (case % CASES_PER_WORD).astype(np.uint64)
    return found
