"""The rollouts of a search, and the policies by name. A new policy is a module of its own and a row here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gdl.information import chance_role
from players.batch_machine import BatchMachine, Ends, NetworkBatch, Records
from players.companions import TimeShares
from players.uct.rollouts.averages import AveragePolicy
from players.uct.rollouts.policy import RolloutPolicy, roll_out
from players.uct.rollouts.policy_trials import PolicyTrials

POLICIES: dict[str, Callable[[NetworkBatch], RolloutPolicy]] = {
    RolloutPolicy.name: lambda batched: RolloutPolicy(),
    AveragePolicy.name: lambda batched: AveragePolicy(batched.role_moves),
}
"""Name -> function that makes the policy for a machine; if it does not suit the game, ``RolloutPolicy()``."""


class Rollouts:
    """The playouts of one search: by the policy that was asked for, or uniform until trials find a better
    one. A machine without lanes only plays uniformly.

    Attributes:
        batched: the machine.
        policy: the policy.
        trials: the trials of policies, which replace both; None without trials, as in games of chance.
    """

    def __init__(
        self, batched: BatchMachine, asked: str, seed: int, shares: TimeShares, needed: bool
    ) -> None:
        """``asked``: the name of a policy; with any other name trials choose it if there is no chance role.
        ``shares``: the companions' shares of the time; ``needed``: whether the search makes rollouts at all,
        so that trials pay."""
        self.batched, self.policy = batched, RolloutPolicy()
        self.trials: PolicyTrials | None = None
        self._seed = seed
        if not isinstance(batched, NetworkBatch):
            return
        if asked in POLICIES:
            self.policy = POLICIES[asked](batched)
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
        guided, self.batched = self.batched.guided or self.unguided, batched
        if self.trials is None:
            return
        assert isinstance(batched, NetworkBatch)
        if guided != batched.guided or not self.trials.done:
            self._begin_trials(batched, shares)
        elif self.unguided:
            self.batched = batched.without_guide

    def _begin_trials(self, batched: NetworkBatch, shares: TimeShares) -> None:
        self.trials = PolicyTrials(batched, self._seed, self._use)
        shares.join(self.trials)

    def _use(self, batched: NetworkBatch, policy: RolloutPolicy) -> None:
        self.batched, self.policy = batched, policy

    def playouts(self, starts: Records, seed: int, steps: int, deadline: float, each: int) -> Ends:
        """Playouts from these states, by the policy: see :func:`players.uct.rollouts.policy.roll_out`."""
        batched = self.batched
        if not isinstance(batched, NetworkBatch):
            return batched.playouts(starts, seed, steps, deadline, each)
        return roll_out(batched, self.policy, starts, seed, steps, deadline, each)

    def playouts_while(
        self, fewest: int, most: int, states: Records, made: NDArray[np.int32], seed: int, steps: int
    ) -> tuple[Ends, NDArray[np.int32], Records]:
        """Playouts that may go on in a later call, if :attr:`carries`: see
        :meth:`propnet.machine.PropnetMachine.playouts_while`."""
        assert isinstance(self.batched, NetworkBatch)
        return self.batched.playouts_while(fewest, most, states, made, seed, steps)

    @property
    def carries(self) -> bool:
        """Whether playouts may go on in a later batch: the policy does not learn from them."""
        batched = self.batched
        return isinstance(batched, NetworkBatch) and batched.carries and type(self.policy) is RolloutPolicy
