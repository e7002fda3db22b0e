"""The rollout policies by name, and the choice of one for a search. A new policy is a module of its own and a
row here."""

from __future__ import annotations

from collections.abc import Callable

from gdl.information import chance_role
from players.batch_machine import BatchMachine, NetworkBatch
from players.companions import TimeShares
from players.uct.rollouts.averages import AveragePolicy
from players.uct.rollouts.policy import RolloutPolicy
from players.uct.rollouts.policy_trials import PolicyTrials
from players.uct.rollouts.rollouts import Rollouts

POLICIES: dict[str, Callable[[NetworkBatch], RolloutPolicy]] = {
    RolloutPolicy.name: lambda batched: RolloutPolicy(),
    AveragePolicy.name: lambda batched: AveragePolicy(batched.role_moves),
}
"""Name -> function that makes the policy for a machine; if it does not suit the game, ``RolloutPolicy()``."""

AUTO = "auto"
"""Trials choose the policy (:mod:`players.uct.rollouts.policy_trials`); with a chance role, playouts choose
uniformly."""


def policy_names() -> tuple[str, ...]:
    """The names that users may choose from."""
    return (AUTO, *POLICIES)


class RolloutChoice:
    """The rollouts of a search: by the policy that was asked for, or uniform until trials find a better one.

    Attributes:
        rollouts: the rollouts; companions replace their policy and their machine.
        trials: the trials of policies; None without trials, as in games of chance.
    """

    def __init__(
        self, batched: BatchMachine, asked: str, seed: int, shares: TimeShares, needed: bool
    ) -> None:
        """``asked``: the name of a policy, or AUTO; ``shares``: the companions' shares of the time;
        ``needed``: whether the search makes rollouts at all, so that trials pay."""
        self._seed = seed
        self.trials: PolicyTrials | None = None
        self.rollouts = Rollouts(batched, RolloutPolicy())
        if not isinstance(batched, NetworkBatch):
            return
        if asked != AUTO:
            self.rollouts.policy = POLICIES[asked](batched)
        elif needed and len(batched.machine.roles) > 1 and chance_role(batched.machine.roles) is None:
            # Trials compare the roles' goals at the end. Chance has none, so none of its games would count.
            self._begin_trials(batched, shares)

    @property
    def unguided(self) -> bool:
        """Whether trials have found it better not to leave out blunders."""
        return self.trials is not None and self.trials.done and self.trials.unguided

    def go_on_with(self, batched: BatchMachine, shares: TimeShares) -> None:
        """Roll out on another machine, which numbers states and moves alike, and join these companions.
        Trials restart if the guide is new or they are not over."""
        guided, self.rollouts.batched = self.rollouts.batched.guided or self.unguided, batched
        if self.trials is None:
            return
        assert isinstance(batched, NetworkBatch)
        if guided != batched.guided or not self.trials.done:
            self._begin_trials(batched, shares)
        elif self.unguided:
            self.rollouts.batched = batched.without_guide

    def _begin_trials(self, batched: NetworkBatch, shares: TimeShares) -> None:
        self.trials = PolicyTrials(batched, self._seed, self.rollouts)
        shares.join(self.trials)
