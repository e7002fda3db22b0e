"""The rollouts of a search: by the policy that was asked for, or by the one that trials recommend."""

from __future__ import annotations

import numpy as np

from players.batch_machine import BatchMachine, Ends, NetworkBatch, Records
from players.uct.rollouts.policy import GuidedPolicy, RolloutPolicy
from players.uct.rollouts.stepwise import stepwise_playouts


def roll_out(
    batched: NetworkBatch,
    policy: RolloutPolicy,
    starts: Records,
    seed: int,
    steps: int,
    deadline: float,
    each: int,
    counted: int = 1,
    traces: list[list[int]] | None = None,
) -> Ends:
    """Playouts by a policy, as :meth:`players.batch_machine.BatchMachine.playouts` makes them, on the
    machine's guide if it has one.

    The policy learns from ``counted`` of the playouts from each state. Where it looks, ``traces`` takes the
    moves of the first role in each playout.
    """
    policy = GuidedPolicy(policy) if batched.guided else policy
    tallies = policy.new_tallies()
    network = policy.network(batched.machine)
    if policy.looks:
        starts = np.repeat(starts, each, axis=0)
        ends, moves = stepwise_playouts(network, policy, starts, seed, steps, deadline, tallies)
        if traces is not None:
            traces[:] = moves
    else:
        ends = batched.playouts(
            starts,
            seed,
            steps,
            deadline,
            each,
            weights=policy.weights,
            tallies=tallies,
            counted=counted,
            on=network,
        )
    if tallies is not None:
        policy.learn(tallies)
    return ends


class Rollouts:
    """How the playouts of one search choose moves: by ``policy``, which may be replaced on the way. A machine
    without lanes knows equal chances only."""

    def __init__(self, batched: BatchMachine, policy: RolloutPolicy) -> None:
        self.policy = policy
        self.batched = batched
        self._traces: list[list[int]] = []

    def playouts(self, starts: Records, seed: int, steps: int, deadline: float, each: int) -> Ends:
        """Playouts from these states, by the policy: see :func:`roll_out`."""
        batched = self.batched
        if not isinstance(batched, NetworkBatch):
            return batched.playouts(starts, seed, steps, deadline, each)
        return roll_out(batched, self.policy, starts, seed, steps, deadline, each, traces=self._traces)

    def playout_moves(self, row: int) -> list[int]:
        """The moves of the first role in one of the last playouts."""
        return self._traces[row] if self.policy.looks else self.batched.playout_moves(row)
