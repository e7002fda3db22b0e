"""`RolloutPolicy`: how playouts choose their moves. Every search plays out by one of these policies.

A policy is fixed before a batch of playouts begins: it has a weight for each move. The whole batch is then
one call of a compiled kernel, from whose results the policy may learn.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from players.batch_machine import Ends, NetworkBatch, Records, Weights


class RolloutPolicy:
    """Uniform choice among all legal moves, and the interface of all other policies.

    Attributes:
        name: the name by which users select it.
    """

    name: ClassVar[str] = "equal"

    @property
    def weights(self) -> Weights | None:
        """uint8, shape (moves,): the binary logarithm of each move's weight, 0 to 7; None for uniform choice.
        The same array is returned until a weight changes, then a new one."""
        return None

    def new_tallies(self) -> NDArray[np.int32] | None:
        """Zeros, int32, shape (moves, 2): empty tallies for :meth:`learn`; None to learn nothing."""
        return None

    def learn(self, tallies: NDArray[np.int32]) -> None:
        """Learn from playouts. ``tallies``: int32, shape (moves, 2), the number of playouts that made each
        move and the sum of its role's goals in them (see
        :meth:`players.batch_machine.BatchMachine.playouts`)."""

    def forget(self, keep: float) -> None:
        """Multiply the weight of everything learnt so far by ``keep`` (0..1): the match has moved on."""


def roll_out(
    batched: NetworkBatch,
    policy: RolloutPolicy,
    starts: Records,
    seed: int,
    steps: int,
    deadline: float,
    each: int,
    counted: int = 1,
) -> Ends:
    """Playouts by a policy, as :meth:`players.batch_machine.BatchMachine.playouts` makes them. The policy
    learns from ``counted`` of the playouts from each state."""
    tallies, weights = policy.new_tallies(), policy.weights
    ends = batched.playouts(
        starts, seed, steps, deadline, each, weights=weights, tallies=tallies, counted=counted
    )
    if tallies is not None:
        policy.learn(tallies)
    return ends
