"""`RolloutPolicy`: how playouts choose their moves. Every search plays out by one of these policies.

Most policies are fixed before a batch of playouts begins: the gates to run on, and a weight for each move.
The whole batch is then one call of a compiled kernel. A policy that must see the states on the way is
*stepwise*: it gets the states of all lanes before each step (:mod:`players.uct.rollouts.rollouts`), which
costs more time.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propnet.machine import PropnetMachine

Weights = NDArray[np.uint8]


class Weighing(NamedTuple):
    """A policy's weights for the moves of n lanes, given their states.

    Attributes:
        weights: float64, shape (n, moves), 0 or more: how likely each move is, relative to the role's other
            legal moves in the lane; None for uniform choice. Moves of weight 0 are made only if all of the
            role's legal moves have it, then uniformly.
        left_out: bool, shape (n, moves): moves that must not be made; None for no such moves. If all legal
            moves of a role are left out, the lane ends.
        ended: bool, shape (n,): lanes that end here, with the goals of their state; None for none.

    Illegal moves may have any weight. Entries for the moves of chance have no effect.
    """

    weights: NDArray[np.float64] | None = None
    left_out: NDArray[np.bool_] | None = None
    ended: NDArray[np.bool_] | None = None


class RolloutPolicy:
    """Uniform choice among all legal moves, and the interface of all other policies.

    Attributes:
        name: the name by which users select it.
        stepwise: whether it must be asked at each step (:meth:`weigh`).
    """

    name: ClassVar[str] = "equal"
    stepwise: bool = False

    def network(self, machine: PropnetMachine) -> PropnetMachine:
        """The gates to run on: those of the game's machine, or of a machine with the same states and moves
        whose `legal` leaves moves out."""
        return machine

    @property
    def weights(self) -> Weights | None:
        """uint8, shape (moves,): the binary logarithm of each move's weight, 0 to 7; None for uniform choice.
        The same array is returned until a weight changes, then a new one."""
        return None

    def new_tallies(self) -> NDArray[np.int32] | None:
        """Zeros, int32, shape (1, moves, 2): empty tallies for :meth:`learn`; None to learn nothing."""
        return None

    def learn(self, tallies: NDArray[np.int32]) -> None:
        """Learn from playouts. ``tallies``: int32, shape (rows, moves, 2), the number of playouts that made
        each move and the sum of its role's goals in them (see
        :meth:`players.batch_machine.BatchMachine.playouts`)."""

    def forget(self, keep: float) -> None:
        """Multiply the weight of everything learnt so far by ``keep`` (0..1): the match has moved on."""

    def weigh(self, records: NDArray[np.uint64], legal: NDArray[np.bool_], step: int) -> Weighing:
        """The weights of moves in these states; asked before each step if :attr:`stepwise`.

        Args:
            records: uint64, shape (n, words): packed states, none terminal.
            legal: bool, shape (n, moves): the legal moves of all roles, in the order of
                ``PropnetMachine.role_moves``.
            step: number of moves that the lanes have made.
        """
        return Weighing()
