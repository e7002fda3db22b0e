"""`RolloutPolicy`: how playouts choose their moves. Every search plays out by one of these.

Most policies are settled before a batch of playouts begins: the gates to run on, and a weight for each
move. The whole batch is one call of a compiled kernel then. A policy that has to see the states on the way
is *stepwise*: it is shown the states of all lanes before each step (:mod:`players.uct.rollouts.rollouts`),
which costs more time.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propnet.machine import PropnetMachine

Weights = NDArray[np.uint8]


class Weighing(NamedTuple):
    """What a policy says of the states that n lanes are in.

    Attributes:
        weights: float64, shape (n, moves), 0 or more: how likely each move is, relative to the role's other
            legal moves in the lane; None for equal chances. Moves that weigh 0 are made only where all of the
            role's legal moves do, with equal chances.
        left_out: bool, shape (n, moves): moves that are not to be made; None for no such moves. Where all
            legal moves of a role are left out, the lane ends.
        ended: bool, shape (n,): lanes that end here, worth what their state's goals say; None for none.

    Illegal moves may have any weight. What is said of the moves of chance has no effect.
    """

    weights: NDArray[np.float64] | None = None
    left_out: NDArray[np.bool_] | None = None
    ended: NDArray[np.bool_] | None = None


class RolloutPolicy:
    """Equal chances for all legal moves, and the interface of all other policies.

    Attributes:
        name: by which people ask for it.
        stepwise: whether it wants to be asked at each step (:meth:`weigh`).
    """

    name: ClassVar[str] = "equal"
    stepwise: bool = False

    def network(self, machine: PropnetMachine) -> PropnetMachine:
        """The gates to run on: the game's own, or those of a machine with the same states and moves whose
        `legal` leaves moves out."""
        return machine

    @property
    def weights(self) -> Weights | None:
        """uint8, shape (moves,): the binary logarithm of each move's weight, 0 to 7; None for equal chances.
        The same array until a weight changes, then a new one."""
        return None

    def new_tallies(self) -> NDArray[np.int32] | None:
        """Zeros, int32, shape (1, moves, 2), for what :meth:`learn` takes; None to learn nothing."""
        return None

    def learn(self, tallies: NDArray[np.int32]) -> None:
        """Learn from playouts: int32, shape (rows, moves, 2), how many playouts made each move and the sum
        of its role's goals then (see :meth:`players.batch_machine.BatchMachine.playouts`)."""

    def forget(self, keep: float) -> None:
        """Let what was learnt count for less, ``keep`` (0..1) of what it did: the match has moved on."""

    def weigh(self, records: NDArray[np.uint64], legal: NDArray[np.bool_], step: int) -> Weighing:
        """What to do in these states; asked before each step where :attr:`stepwise`.

        Args:
            records: uint64, shape (n, words): packed states, none terminal.
            legal: bool, shape (n, moves): the legal moves of all roles, in the order of
                ``PropnetMachine.role_moves``.
            step: how many moves the lanes have made.
        """
        return Weighing()
