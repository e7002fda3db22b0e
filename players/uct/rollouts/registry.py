"""The rollout policies by name. A new policy is a module of its own and a row here."""

from __future__ import annotations

from collections.abc import Callable

from players.batch_machine import NetworkBatch
from players.uct.rollouts.averages import AveragePolicy
from players.uct.rollouts.dead_ends import DeadEndRollouts
from players.uct.rollouts.policy import RolloutPolicy

POLICIES: dict[str, Callable[[NetworkBatch], RolloutPolicy]] = {
    RolloutPolicy.name: lambda batched: RolloutPolicy(),
    AveragePolicy.name: lambda batched: AveragePolicy(batched.first_column),
    DeadEndRollouts.name: lambda batched: DeadEndRollouts(batched.machine),
}
"""Name -> what makes the policy for a machine."""

AUTO = "auto"
"""Which policy plays is found out by trials (:mod:`players.uct.rollouts.policy_trials`)."""


def policy_names() -> tuple[str, ...]:
    """What may be asked for."""
    return (AUTO, *POLICIES)
