"""The rollout policies by name. A new policy is a module of its own and a row here."""

from __future__ import annotations

from collections.abc import Callable

from players.batch_machine import NetworkBatch
from players.uct.rollouts.averages import AveragePolicy
from players.uct.rollouts.policy import RolloutPolicy


def _deadlocks(batched: NetworkBatch) -> RolloutPolicy:
    from players.uct.rollouts.deadlocks import DeadlockPolicy  # few games need what it brings along

    return DeadlockPolicy(batched.machine)


def _dead_ends(batched: NetworkBatch) -> RolloutPolicy:
    from players.uct.rollouts.dead_ends import DeadEndRollouts

    return DeadEndRollouts(batched.machine)


POLICIES: dict[str, Callable[[NetworkBatch], RolloutPolicy]] = {
    RolloutPolicy.name: lambda batched: RolloutPolicy(),
    AveragePolicy.name: lambda batched: AveragePolicy(batched.first_column),
    "deadlocks": _deadlocks,
    "dead-ends": _dead_ends,
}
"""Name -> what makes the policy for a machine."""

AUTO = "auto"
"""Which policy plays is found out by trials (:mod:`players.uct.rollouts.policy_trials`)."""


def policy_names() -> tuple[str, ...]:
    """What may be asked for."""
    return (AUTO, *POLICIES)
