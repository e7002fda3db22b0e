"""Chooses, before and during the first turns, how the playouts of a search choose moves: by measurement.

Policies are tried against playouts with equal chances (:mod:`players.uct.rollouts.trial`). One is used only
where it is clearly ahead: a small lead tells nothing of what it is worth in a search.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from typing import NamedTuple

import numpy as np

from players.batch_machine import NetworkBatch
from players.uct.rollouts.move_averages import PlayoutPolicy
from players.uct.rollouts.trial import ByPlayouts, Trial

TEMPERATURES = (1.0, 0.5)
"""Of the policies that are tried, one after the other; see
:class:`players.uct.rollouts.move_averages.PlayoutPolicy`."""

_SHARE = 0.15
"""Share of the time to the first deadline that is for trials..."""
_LATER_SHARE = 0.1
"""... and of the time after that, ..."""
_MOST_SECONDS = 8.0
"""... of the processor, and no more than so much altogether."""
_SLICE_SECONDS = 0.02
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
    """What playouts take.

    Attributes:
        seconds: CPU time of one, where many are made at once.
        length: the mean number of steps.
        steps: that a playout may have.
    """

    seconds: float
    length: float
    steps: int


class PlayoutChoice:
    """What one search finds out about the playouts of its machine.

    Args:
        lanes: the machine.
        seed: of the trials.

    Attributes:
        temperature: of the policy by which playouts are to choose; 0 for equal chances.
        done: whether the trials are over.
    """

    def __init__(self, lanes: NetworkBatch, seed: int) -> None:
        self.temperature = 0.0
        self.done = False
        self._batched = lanes
        self._seed = seed
        self._course = self._try_all()
        self._credit = -1.0
        self._spent = 0.0
        self._found: list[str] = []

    def grant(self, seconds: float) -> None:
        """Take note of time that the search has taken."""
        self._credit += _LATER_SHARE * seconds

    def learn(self, deadline: float) -> bool:
        """Go on with the trials for some milliseconds, if they are due. Returns whether they were.

        ``deadline``: when the search must be over; time.monotonic() seconds."""
        if self.done:
            return False
        if self._credit < 0.0 and not self._spent:
            self._credit = _SHARE * (deadline - time.monotonic())
        if self._credit < _SLICE_SECONDS:
            return False
        began = used = time.thread_time()
        self.done = self._spent > _MOST_SECONDS or next(self._course, _OVER) is _OVER
        while not self.done and (used := time.thread_time()) < began + _SLICE_SECONDS:
            self.done = next(self._course, _OVER) is _OVER
        self._spent += used - began
        self._credit -= used - began
        return True

    def __str__(self) -> str:
        return "; ".join(self._found) or "playouts with equal chances: others take too long to try"

    def _try_all(self) -> Iterator[None]:
        for temperature in TEMPERATURES:
            yield from self._try(temperature)

    def _try(self, temperature: float) -> Iterator[None]:
        """Hold a policy against the best so far, and take it instead if it is clearly ahead."""
        lanes = self._batched
        policy = PlayoutPolicy(lanes.first_column, temperature)
        costs = yield from self._teach(policy)
        size = self._size(costs)
        if size is None:
            return
        games, each = size
        rows = int(np.clip(_CALL_SECONDS / (each * costs.seconds), 1, 512))
        before = self.temperature
        usual = PlayoutPolicy(lanes.first_column, before) if before else None
        tried = ByPlayouts(lanes, self._seed + 1, each, costs.steps, policy)
        other = ByPlayouts(lanes, self._seed + 2, each, costs.steps, usual)
        trial = Trial(lanes, tried, other, self._seed + 3, games, rows)
        for number in range(1, _ROUNDS + 1):
            yield from trial.play(math.inf)
            if not trial.spread:
                break
            lead, doubt = trial.ahead / trial.spread, _SURE / math.sqrt(trial.games)
            if lead - doubt > _LEAD and number >= _FEWEST_ROUNDS:
                self.temperature = temperature
            if self.temperature == temperature or lead + doubt < _HOPE:
                break
        against = f"temperature {before:g}" if before else "equal chances"
        use = "in use" if self.temperature == temperature else "not used"
        self._found.append(
            f"playouts by averages of moves, temperature {temperature:g}: {trial.ahead:+.0%} against"
            f" {against} in {trial.games} games, {use}"
        )

    def _teach(self, policy: PlayoutPolicy) -> Generator[None, None, _Costs]:
        """Let a policy learn from playouts from the first state. Returns what these cost."""
        lanes = self._batched
        starts = np.repeat(lanes.record(lanes.machine.initial_state())[None, :], _LANES, axis=0)
        steps = int(np.clip(_CALL_SECONDS / max(lanes.warm_up(), 1e-9), 1, _LONGEST))
        seconds, length = math.inf, 0.0
        for number in range(_LESSONS):
            tallies, weights = policy.new_tallies(), policy.weights
            began = time.thread_time()
            ends = lanes.playouts(
                starts, self._seed + number, steps, math.inf, weights=weights, tallies=tallies
            )
            seconds = min(seconds, max(1e-9, (time.thread_time() - began) / _LANES))
            length = float(ends.lengths.mean())
            policy.learn(tallies)
            yield
        return _Costs(seconds, length, steps)

    def _size(self, costs: _Costs) -> tuple[int, int] | None:
        """How many games side by side for each role, and playouts from each state, there is time for;
        None where it does not suffice."""
        lanes = self._batched
        first = lanes.record(lanes.machine.initial_state())[None, :]
        roles, width = len(lanes.machine.roles), int(lanes.legal(first)[0].max(initial=1))
        for games, each in _SIZES:
            # Playouts become shorter as games go on.
            playouts = games * roles * width * each * costs.length / 2
            if _FEWEST_ROUNDS * playouts * costs.seconds < _MOST_SECONDS - self._spent:
                return games, each
        return None
