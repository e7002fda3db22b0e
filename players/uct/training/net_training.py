"""`NetTraining`: a small net on top of linear weights that stay as they are.

It learns from the last states that it was told, in random order (experience replay: L. Lin, 1992), what the
linear weights leave.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.knowledge.derived_propositions import DerivedPropositions
from players.knowledge.features import Features
from players.knowledge.knowledge import GameKnowledge
from players.knowledge.learnt_net import LearntNet
from players.knowledge.net.layers import NetLayers
from players.knowledge.net.learner import NetLearner
from players.knowledge.state_values import StateValues
from propnet.machine import PropnetMachine

REUSED = 1
"""How often a state is learnt from, about."""
FIRST_RATE, LAST_RATE = 1e-3, 1e-4
_MEMORY = 1 << 28
"""Bytes for the states that are learnt from."""
_MOST_STATES = 1 << 21


class NetTraining:
    """Learns a net for games of two roles in which one gets what the other does not.

    Attributes:
        values: what states are worth by the weights as they are.
    """

    def __init__(
        self,
        machine: PropnetMachine,
        features: Features,
        known: GameKnowledge,
        rng: np.random.Generator,
        scale: NDArray[np.float32],
        derived: DerivedPropositions | None = None,
    ) -> None:
        """On top of the weights of some knowledge of the game, and on from its net, if it has one. ``scale``,
        float32, shape (features, 1): :meth:`players.knowledge.features.Features.scale`; ``derived`` if some
        features are those of derived propositions."""
        bits, count = features.bits, len(features.names)
        self._features, self._rng, self._derived = features, rng, derived
        self._linear = features.arranged(known)[0]
        net = LearntNet.new(count, 1, rng) if known.net is None else features.arranged_net(known)
        self._learner = NetLearner(features, bits, net, scale)
        self.values = StateValues(bits, 2, (0,), None, NetLayers(bits, 1), derived)
        self.values.set_weights(features.weights_of_bases(self._linear), self._linear[0])
        self._refresh()
        words = machine.words if derived is None else derived.words
        most = min(_MOST_STATES, _MEMORY // (8 * words + 4))
        self._records = np.empty((most, words), np.uint64)
        self._targets = np.empty((most, 1), np.float32)
        self._held = self._total = 0

    def learn(self, records: NDArray[np.uint64], targets: NDArray[np.float32], gone: float) -> float:
        """Learn from states, uint64, shape (n, words), that are worth ``targets``, 0..1, float32, shape (n,
        1), and from earlier ones. ``gone``: the share of the time, 0..1: towards its end steps become
        smaller. Returns the sum of the squared errors."""
        if self._derived is not None:
            records = self._derived.long(records)
        most, count = len(self._records), len(records)
        places = (self._total + np.arange(count)) % most
        self._records[places], self._targets[places] = records, targets
        self._total = (self._total + count) % most
        self._held = min(most, self._held + count)
        rows = self._rng.integers(0, self._held, REUSED * count)
        rate = FIRST_RATE * (LAST_RATE / FIRST_RATE) ** min(1.0, gone)
        squares = self._learner.learn(self._records, self._targets, rows, self._linear, rate)
        self._refresh()
        return squares / REUSED

    def _refresh(self) -> None:
        assert self.values.net is not None
        self.values.net.set_weights(self._features, self._learner.net)

    @property
    def net(self) -> LearntNet:
        """What was learnt."""
        return self._learner.net
