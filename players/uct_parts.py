"""The factors of a game of several roles, so that moves are counted by the state of the factor they act on.

A game that falls apart (:mod:`propnet.analysis.factors`) is searched as a whole, for its factors meet in
the goals and in the order of moves, but what a move is worth in one of them is learnt once for all states
of the others. Trees for each factor that one search of the whole asks: Hufschmitt, Vittaut and Jouandeau
2018.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from players.batch_machine import BatchMachine, NetworkBatch
from propnet.analysis.factors import ALTERNATIVE, Factors, quick_factors
from propnet.kernels.records import pack


@dataclass(frozen=True, slots=True)
class Parts:
    """The factors of a game by which its moves are counted.

    Attributes:
        of_move: int32, shape (moves of all roles,): 1 + the factor that each acts on, 0 for none.
        masks: uint64, shape (factors, words): the bits of each factor in a record.
    """

    of_move: NDArray[np.int32]
    masks: NDArray[np.uint64]

    @classmethod
    def none(cls, moves: int, words: int) -> Parts:
        """Of a game that does not fall apart."""
        return cls(np.zeros(moves, np.int32), np.empty((0, words), np.uint64))

    @classmethod
    def of_factors(cls, found: Factors) -> Parts:
        """Of a game whose moves act on one factor each."""
        touched = found.choices > 0
        of_move = np.where(touched.any(axis=0), 1 + touched.argmax(axis=0), 0).astype(np.int32)
        return cls(of_move, pack(np.equal(found.bases[None], np.arange(found.count)[:, None])))

    @property
    def several(self) -> bool:
        """Whether the game falls apart."""
        return len(self.masks) > 1


def parts_of(lanes: BatchMachine) -> Parts:
    """The factors of a machine's game, if it has several roles, each move acts on one factor, and they are
    found quickly (:func:`propnet.analysis.factors.quick_factors`); else it counts as one."""
    moves = int(lanes.first_column[-1]) if len(lanes.first_column) else 0
    if isinstance(lanes, NetworkBatch) and len(lanes.machine.roles) > 1:
        found = quick_factors(lanes.machine.network)
        if found is not None and found.count > 1 and found.kind == ALTERNATIVE:
            return Parts.of_factors(found)
    return Parts.none(moves, lanes.words)
