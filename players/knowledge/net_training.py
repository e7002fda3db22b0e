"""`NetTraining`: a net learns the errors of its linear weights, from the last states in random order
(experience replay: L. Lin, 1992). The linear weights stay as they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.knowledge.features import Features
from players.knowledge.knowledge import Floats, LearntNet
from players.knowledge.state_values import NetLearner, StateValues

_REUSED = 1
"""Approximate number of times that a state is learnt from."""
_FIRST_RATE, _LAST_RATE = 1e-3, 1e-4
FRESH, LASTING = 200_000, 1 << 21
"""Most states that are learnt from. Targets that come from the values themselves are soon out of date; those
of searches last longer. In backgammon a net that learns from the last 200,000 states for two minutes is as
good as one that learns from two million for five."""
_MEMORY = 1 << 28
"""Most bytes for these states."""


class NetTraining:
    """Learns the net of some values."""

    def __init__(
        self,
        features: Features,
        values: StateValues,
        net: LearntNet,
        linear: Floats,
        scale: Floats,
        words: int,
        rng: np.random.Generator,
    ) -> None:
        """Goes on from this ``net``, over linear weights, float32, shape (features, columns). ``values`` must
        have layers for a net; they always follow it. ``scale``, float32, shape (features, 1):
        :meth:`players.knowledge.features.Features.scale`; states have this many ``words``."""
        self._features, self._values, self._rng, self._linear = features, values, rng, linear
        self._learner = NetLearner(features, features.bits, net, scale)
        self._refresh()
        self._words = words
        self.remember(FRESH)

    def remember(self, states: int) -> None:
        """Learn from at most ``states`` states from now on, and forget all earlier ones."""
        columns = self._linear.shape[1]
        most = min(states, _MEMORY // (8 * self._words + 4 * columns))
        self._records = np.empty((most, self._words), np.uint64)
        self._targets = np.empty((most, columns), np.float32)
        self._held = self._total = 0

    def learn(self, records: NDArray[np.uint64], targets: NDArray[np.float32], gone: float) -> float:
        """Learn from states, uint64, shape (n, words), with ``targets``, 0..1, float32, shape (n, columns),
        and from earlier ones. ``gone``: the elapsed share of the time, 0..1: towards its end steps become
        smaller. Returns the sum of the squared errors."""
        most, count = len(self._records), len(records)
        places = (self._total + np.arange(count)) % most
        self._records[places], self._targets[places] = records, targets
        self._total = (self._total + count) % most
        self._held = min(most, self._held + count)
        rows = self._rng.integers(0, self._held, _REUSED * count)
        rate = _FIRST_RATE * (_LAST_RATE / _FIRST_RATE) ** min(1.0, gone)
        squares = self._learner.learn(self._records, self._targets, rows, self._linear, rate)
        self._refresh()
        return squares / _REUSED

    def _refresh(self) -> None:
        assert self._values.net is not None
        self._values.net.set_weights(self._features, self._learner.net)

    @property
    def net(self) -> LearntNet:
        """The learnt net."""
        return self._learner.net
