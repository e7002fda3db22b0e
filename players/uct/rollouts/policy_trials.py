"""Chooses the rollout policy of a search by measurement, before and during the first turns.

Where a guide keeps playouts from blunders, playouts without it are tried first: in some games in which
whoever makes a line loses, how soon random play blunders says how many moves are safe, and that counts. Then
average policies are tried against equal chances (:mod:`players.uct.rollouts.trial`). What is tried is used
only where it is clearly ahead: a small lead tells nothing of what it is worth in a search.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from gdl.words import counted
from players.batch_machine import NetworkBatch
from players.companions import Companion
from players.uct.rollouts.averages import AveragePolicy
from players.uct.rollouts.policy import RolloutPolicy
from players.uct.rollouts.rollouts import Rollouts
from players.uct.rollouts.trial import ByPlayouts, Trial

TEMPERATURES = (1.0, 0.5)
"""Of the policies that are tried, one after the other: see
:class:`players.uct.rollouts.averages.AveragePolicy`."""

_SHARE = 0.15
"""Share of the time to the first deadline that is for trials..."""
_LATER_SHARE = 0.1
"""... and of the time after that, ..."""
_MOST_SECONDS = 8.0
"""... of the processor, and no more than so much altogether."""
_CALL_SECONDS = 0.05
"""What one call for playouts may take, about: nothing else is heard of meanwhile."""
_LESSONS = 8
"""Batches of playouts that a policy learns from at first."""
_LANES = 512
_LONGEST = 500
"""Steps of a playout."""
_SIZES = ((12, 512), (12, 256))
"""Games side by side for each role and playouts from each state, as time allows. With fewer playouts policies
are far ahead that are worth little in a long search: less is left to chance, but what they say is wrong."""
_OVER = object()
_ROUNDS = 12
"""Times that so many games are played at most, ..."""
_FEWEST_ROUNDS = 3
"""... and at least where a policy is ahead."""
_SURE = 1.5
"""Standard errors between what was measured and what is thought to be true."""
_LEAD = 0.2
"""A lead, in standard deviations of the results of games, that is worth having."""
_HOPE = 0.3
"""A policy whose lead cannot be so large is given up."""


class _Costs(NamedTuple):
    """What playouts take."""

    seconds: float  # CPU time of one, where many are made at once
    length: float  # the mean number of steps
    steps: int  # that a playout may have


class _Outcome(NamedTuple):
    """What a trial has shown."""

    ahead: float  # the mean gain
    games: int  # that came to an end
    clear: bool  # whether what was tried is clearly ahead


_Way = tuple[NetworkBatch, RolloutPolicy]
"""What playouts run on, and how they choose moves."""


class PolicyTrials(Companion):
    """Finds out which policy a search should roll out by; ``rollouts`` gets it when the trials are over.

    Attributes:
        temperature: of the average policy that is ahead; 0 for equal chances.
        unguided: whether playouts without the machine's guide are ahead.
        done: whether the trials are over.
    """

    name = "trials of rollout policies"
    least = 0.02
    rate = _LATER_SHARE

    def __init__(self, batched: NetworkBatch, seed: int, rollouts: Rollouts) -> None:
        self.temperature = 0.0
        self.unguided = False
        self.done = False
        self._batched = batched
        self._seed = seed
        self._rollouts = rollouts
        self._course = self._try_all()
        self._begun = False
        self._spent = 0.0
        self._results: list[str] = []

    @property
    def active(self) -> bool:
        return not self.done

    def opening_credit(self, left: float, credit: float) -> float:
        """A share of the time to the first deadline."""
        if self._begun:
            return credit
        self._begun = True
        return _SHARE * left

    def step(self, seconds: float, deadline: float) -> bool:
        began = used = time.thread_time()
        self.done = self._spent > _MOST_SECONDS or next(self._course, _OVER) is _OVER
        while not self.done and (used := time.thread_time()) < began + self.least:
            self.done = next(self._course, _OVER) is _OVER
        self._spent += used - began
        if self.done:
            self._rollouts.policy = self._policy(self.temperature)
            self._rollouts.batched = self._batched
        return self.done

    def __str__(self) -> str:
        """What was found out; empty while the trials go on."""
        if not self.done:
            return ""
        return "; ".join(self._results) or "playouts with equal chances: others take too long to try"

    def _policy(self, temperature: float) -> RolloutPolicy:
        return AveragePolicy(self._batched.role_moves, temperature) if temperature else RolloutPolicy()

    def _try_all(self) -> Iterator[None]:
        if self._batched.guided:
            yield from self._try_unguided()
        yield from chain.from_iterable(map(self._try, TEMPERATURES))

    def _try_unguided(self) -> Iterator[None]:
        """Hold playouts without a guide against those with it, and leave it if they are clearly ahead."""
        guided = self._batched
        plain = guided.without_guide
        trial = yield from self._hold((plain, RolloutPolicy()), (guided, RolloutPolicy()))
        if trial is None:
            return
        self.unguided = trial.clear
        if self.unguided:
            self._batched = plain
        use = "left out" if self.unguided else "in use"
        self._results.append(
            f"moves that win or lose at once seen in playouts: {-trial.ahead:+.0%} against not, in"
            f" {counted(trial.games, 'game')}, {use}"
        )

    def _try(self, temperature: float) -> Iterator[None]:
        """Hold a policy against the best so far, and take it instead if it is clearly ahead."""
        batched, before = self._batched, self.temperature
        tried = AveragePolicy(batched.role_moves, temperature)
        trial = yield from self._hold((batched, tried), (batched, self._policy(before)))
        if trial is None:
            return
        if trial.clear:
            self.temperature = temperature
        against = f"temperature {before:g}" if before else "equal chances"
        use = "in use" if self.temperature == temperature else "not used"
        self._results.append(
            f"playouts by averages of moves, temperature {temperature:g}: {trial.ahead:+.0%} against"
            f" {against} in {counted(trial.games, 'game')}, {use}"
        )

    def _hold(self, tried: _Way, usual: _Way) -> Generator[None, None, _Outcome | None]:
        """Hold one way of playouts against another, until it is clear whether it is far ahead; None where
        there is no time for that."""
        costs = yield from self._teach(tried[1])
        size = self._size(costs)
        if size is None:
            return None
        games, each = size
        rows = int(np.clip(_CALL_SECONDS / (each * costs.seconds), 1, 512))
        new, old = (
            ByPlayouts(batched, self._seed + number, each, costs.steps, policy)
            for number, (batched, policy) in enumerate((tried, usual), 1)
        )
        trial = Trial(self._batched, new, old, self._seed + 3, games, rows)
        clear = False
        for number in range(1, _ROUNDS + 1):
            yield from trial.play(math.inf)
            if not trial.spread:
                break
            lead, doubt = trial.ahead / trial.spread, _SURE / math.sqrt(trial.games)
            clear = lead - doubt > _LEAD and number >= _FEWEST_ROUNDS
            if clear or lead + doubt < _HOPE:
                break
        return _Outcome(trial.ahead, trial.games, clear)

    def _teach(self, policy: RolloutPolicy) -> Generator[None, None, _Costs]:
        """Let a policy learn from playouts from the first state. Returns what these cost."""
        batched = self._batched
        starts = np.repeat(batched.record(batched.machine.initial_state())[None, :], _LANES, axis=0)
        steps = int(np.clip(_CALL_SECONDS / max(batched.warm_up(), 1e-9), 1, _LONGEST))
        seconds, length = math.inf, 0.0
        for number in range(_LESSONS):
            tallies, weights = policy.new_tallies(), policy.weights
            began = time.thread_time()
            seed = self._seed + number
            ends = batched.playouts(starts, seed, steps, math.inf, weights=weights, tallies=tallies)
            seconds = min(seconds, max(1e-9, (time.thread_time() - began) / _LANES))
            length = float(ends.lengths.mean())
            if tallies is not None:
                policy.learn(tallies)
            yield
        return _Costs(seconds, length, steps)

    def _size(self, costs: _Costs) -> tuple[int, int] | None:
        """How many games side by side for each role, and playouts from each state, there is time for;
        None where it does not suffice."""
        batched = self._batched
        first = batched.record(batched.machine.initial_state())[None, :]
        roles, width = len(batched.machine.roles), int(batched.legal(first)[0].max(initial=1))
        for games, each in _SIZES:
            # Playouts become shorter as games go on.
            playouts = games * roles * width * each * costs.length / 2
            if _FEWEST_ROUNDS * playouts * costs.seconds < _MOST_SECONDS - self._spent:
                return games, each
        return None
