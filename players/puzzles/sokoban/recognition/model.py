"""`MoveModel`: what Sokoban's rules say of any state, to be compared with what a machine says."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from propnet.jit.arrays import Int32s, Ints, Octets

WALLED = 255
"""The status of the square outside."""

Part = tuple[Ints, Ints, Octets]


@dataclass(frozen=True, slots=True)
class Predicted:
    """The legal moves of some states and what follows, by state and move: ``rows`` and ``moves``, int64 (m,),
    and ``status``, uint8 (m, squares)."""

    rows: Ints
    moves: Ints
    status: Octets

    @classmethod
    def joined(cls, parts: Sequence[Part]) -> Predicted:
        """Of several parts."""
        rows = np.concatenate([part[0] for part in parts])
        moves = np.concatenate([part[1] for part in parts])
        order = np.lexsort((moves, rows))
        return cls(rows[order], moves[order], np.concatenate([part[2] for part in parts])[order])


class MoveModel(ABC):
    """Sokoban with the moves of one machine."""

    neighbours: Int32s

    @abstractmethod
    def predicted(self, status: Octets) -> Predicted:
        """The legal moves in these states, uint8 (n, squares), and what follows."""


def walled(status: Octets) -> Octets:
    """Statuses with one more square, the outside: uint8 (n, squares + 1)."""
    board = np.full((len(status), status.shape[1] + 1), WALLED, np.uint8)
    board[:, :-1] = status
    return board
