"""Batched expansion: every successor of any number of packed states, for solvers and trees.

An :class:`Expander` streams: it writes successors into a bounded number of rows and hands these out
again and again, so that hundreds of millions of states go through little memory
(:mod:`propnet.kernels.expand_kernel`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gdl.errors import StateError, TooLargeError
from propnet.jit.arrays import Flags, Goals, Int32s, Ints, Words
from propnet.jit.vector512 import LANES
from propnet.kernels.expand_kernel import Rows, expand
from propnet.kernels.plan import Plan
from propnet.kernels.records import record_words
from propnet.kernels.scratch import new_block_scratch

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine

ROWS = 1 << 16
"""Successors that an expander holds at once unless told otherwise."""

MOST = 1 << 24
"""Successors that are put into one array unless told otherwise."""

_WORD = 400
"""What it costs to load or to read a word of 512 records, in gate inputs."""
_MOVE = 2
"""What it costs to walk over a move, in gate inputs."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """Successors of records, in the order of the records; those of one record in the order of
    ``itertools.product`` of its moves: the last role's move changes first.

    Attributes:
        parents: int32, shape (m,): which record each successor follows.
        moves: int32, shape (m, roles): the move ids that lead to it.
        records: uint64, shape (m, words).
        terminal: bool, shape (m,); no rows unless judged.
        goals: int16, shape (m, roles): goals 0..100 of terminal successors, the highest that holds;
            -1 where a role has none, and in states that are not terminal. No rows unless judged.
    """

    parents: Int32s
    moves: Int32s
    records: Words
    terminal: Flags
    goals: Goals

    def __len__(self) -> int:
        return len(self.parents)

    def copy(self) -> Expansion:
        """The same in arrays of its own."""
        return Expansion(*(array.copy() for array in _arrays(self)))


def _arrays(chunk: Expansion) -> tuple[NDArray[Any], ...]:
    return chunk.parents, chunk.moves, chunk.records, chunk.terminal, chunk.goals


class Expander:
    """Expands records of one machine, in the machine's scratch arrays: one thread at a time.

    Between two chunks of :meth:`stream` the machine, and other expanders, may be used freely.
    """

    def __init__(self, machine: PropnetMachine, rows: int = ROWS) -> None:
        """``rows``: most successors of a chunk, each 8 * words + 6 * roles + 9 bytes; ValueError for none."""
        if rows < 1:
            raise ValueError(f"{rows} rows: an expander needs one at least")
        self.machine = machine
        self.rows = rows
        self._scratch = new_block_scratch(machine.plan, rows)
        roles = len(machine.roles)
        self._costs = _costs(machine.plan, roles)
        self._out = Rows(
            np.zeros(rows, np.int32),
            np.zeros((rows, roles), np.int32),
            np.zeros((rows, machine.words), np.uint64),
            np.zeros(rows, np.uint8),
            np.zeros((rows, roles), np.int16),
        )

    def stream(self, records: Words, judged: bool = False) -> Iterator[Expansion]:
        """All successors of states by every joint move, at most ``rows`` at a time.

        The arrays of a chunk are overwritten by the next one: copy what is to be kept. Terminal
        states, and states that leave a role without a move, have no successors.

        Args:
            records: uint64, shape (n, words), n below 2**31.
            judged: tell also which successors are terminal, and the goals of those. It costs
                another pass over their gates.

        Raises StateError for records of another width.
        """
        records = self._checked(records)
        machine, out = self.machine, self._out
        state, skip = 0, 0
        while state < len(records):
            filled, state, skip = expand(
                machine.kernel_args, machine.scratch.wires, self._scratch, self._costs, records, state, skip,
                judged, out,
            )  # fmt: skip
            if filled:
                yield _chunk(out, filled, judged)

    def expand(self, records: Words, judged: bool = False, most: int = MOST) -> Expansion:
        """All successors at once, in arrays of their own (see :meth:`stream`).

        Raises TooLargeError for more than ``most``: simultaneous moves may be more than memory holds.
        """
        chunks = [_chunk(self._out, 0, judged)]
        total = 0
        for chunk in self.stream(records, judged):
            total += len(chunk)
            if total > most:
                raise TooLargeError(
                    f"{len(records):,} states have more than {most:,} successors",
                    remedy="take them in parts by Expander.stream",
                )
            chunks.append(chunk.copy())
        return Expansion(*(np.concatenate(parts) for parts in zip(*map(_arrays, chunks), strict=True)))

    def _checked(self, records: Words) -> Words:
        """The records in the kind of array that the kernel is compiled for."""
        if records.ndim != 2 or records.shape[1] != self.machine.words or len(records) >= 2**31:
            raise StateError(
                f"an array of shape {records.shape} does not hold records of {self.machine.words} words",
                remedy="records are rows of machine.words 64-bit words, less than 2**31 of them",
            )
        return np.require(records, np.uint64, ["C", "A", "W"])


def _chunk(rows: Rows, filled: int, judged: bool) -> Expansion:
    judged_rows = filled if judged else 0
    return Expansion(
        rows.parents[:filled],
        rows.moves[:filled],
        rows.records[:filled],
        rows.terminal[:judged_rows].view(np.bool_),
        rows.goals[:judged_rows],
    )


def _costs(plan: Plan, roles: int) -> Ints:
    """The costs that :func:`propnet.kernels.expand_kernel.expand` compares, in gate inputs."""
    plain, negated, gates = plan.runs.T.astype(np.int64)[:3]
    upto = np.concatenate(([0], np.cumsum((plain + negated) * gates)))
    ends = np.concatenate(([0], plan.blocks[:, 1]))
    play, moves = upto[ends[plan.play_blocks]], upto[-1] - upto[ends[plan.base_blocks]]
    words = record_words(plan.bases)
    sparse = moves + _WORD * words
    dense = sparse + play + _WORD * words + LANES * roles + plan.moves
    return np.array([sparse, _MOVE, dense], np.int64)
