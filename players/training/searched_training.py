"""`SearchedTraining`: linear weights and a small net on top of them, learnt from self-play by searches.

Linear weights learn from each state once, as in :mod:`players.knowledge.training`. The net learns from the
last states that were played, in random order (experience replay: L. Lin, 1992), what these leave. Each state
is learnt from as a random image under the symmetries of the game.
"""

from __future__ import annotations

import time

import numpy as np

from gdl.errors import GdlError
from players.knowledge.canonical_rules import CanonicalNames
from players.knowledge.features import Features
from players.knowledge.knowledge import GameKnowledge
from players.knowledge.learnt_net import LearntNet
from players.knowledge.net.layers import NetLayers
from players.knowledge.net.learner import NetLearner
from players.knowledge.state_values import StateValues
from players.knowledge.training import RATE, TrainingProgress, is_constant_sum
from players.knowledge.value_kernels import learn
from players.symmetries.game_symmetries import find_symmetries
from players.symmetries.image_kernels import random_images
from players.training.play_process import (
    STEPS,
    LearntStates,
    PlayProcesses,
    PlayTerms,
    play_and_tell,
)
from players.training.searched_play import SearchedPlay
from propnet.analysis.turns import forced_moves
from propnet.machine import PropnetMachine

REUSED = 1
"""How often a state is learnt from, about."""
_FIRST_RATE, _LAST_RATE = 1e-3, 1e-4
_MEMORY = 1 << 28
"""Bytes for the states that are learnt from."""
_MOST_STATES = 1 << 21
_ANEW = 50_000
"""Moves after which linear weights begin to move as fast as at first; then after twice as many, and so on.
What the first searches told of states was worth little, and would keep them."""
_INPUTS, _EFFORT = 1_000_000, 40_000_000
"""How large a game may be, and how long its symmetries are looked for: at most two seconds."""


class SearchedTraining:
    """Learns the net of a game.

    Attributes:
        features: of its states.
        values: what states are worth by the weights as they are.
        progress: what was learnt from so far.
    """

    def __init__(
        self,
        machine: PropnetMachine,
        names: CanonicalNames,
        known: GameKnowledge | None = None,
        seed: int = 0,
        workers: int = 1,
        terms: PlayTerms = PlayTerms(),
    ) -> None:
        """``known`` is what to go on with, or the linear weights to begin with. ``workers``: processes that
        play, this one counted. Raises GdlError for games in which searches cannot look at all moves: those of
        one role or of more than two, in which roles choose at the same time, or whose goals do not add up to
        100; and KnowledgeError for games that are too large."""
        if len(machine.roles) != 2 or not is_constant_sum(machine, seed) or forced_moves(machine) is None:
            raise GdlError(
                "nets are for games in which two roles choose in turn, and one gets what the other does not",
                remedy="--model linear",
            )
        self._names = names
        self.features = Features.of(machine.network.bases, names)
        self._key = names.key(machine.roles[0])
        if known is not None and known.columns != (self._key,):
            known = None
        bases, count = len(machine.network.bases), len(self.features.names)
        goes_on = known is not None and known.net is not None
        self._rng = np.random.default_rng([seed, known.moves if known else 0])
        self._weights, self._sums, self._sizes = (np.zeros((count, 1), np.float32) for _ in range(3))
        net = LearntNet.new(count, 1, self._rng)
        if known is not None:
            self._weights, *steps = self.features.arranged(known)
            if goes_on:
                self._sums, self._sizes = steps
                net = self.features.arranged_net(known)
        self._learner = NetLearner(self.features, bases, net)
        self._symmetries = find_symmetries(machine, inputs=_INPUTS, effort=_EFFORT)
        self.values = StateValues(bases, 2, (0,), None, NetLayers(bases, 1))
        self._refresh()
        self._play = SearchedPlay(machine, self.values, terms.lanes, terms.visits, terms.explored, self._rng)
        self._processes = PlayProcesses(machine, terms, workers - 1, seed * 4099 + 1)
        most = min(_MOST_STATES, _MEMORY // (8 * machine.words + 4))
        self._records = np.empty((most, machine.words), np.uint64)
        self._targets = np.empty((most, 1), np.float32)
        self._held = self._new = self._total = 0
        self._seconds = known.seconds if known is not None else 0.0
        moves = known.moves if known is not None and goes_on else 0
        self._anew = max(_ANEW, 2 * moves)
        self.progress = TrainingProgress(moves, 0, 0.0, 0.5, 0)

    def round(self, gone: float = 0.0) -> None:
        """Play some steps and learn from them, and from what other processes have played. ``gone``: the share
        of the time for this training, 0..1: towards its end steps become smaller."""
        began = time.process_time()
        self._processes.exchange(self.values, self._take)
        self._take(play_and_tell(self._play, STEPS, self._rng))
        rows = self._rng.integers(0, self._held, REUSED * self._new)
        rate = _FIRST_RATE * (_LAST_RATE / _FIRST_RATE) ** min(1.0, gone)
        squares = self._learner.learn(self._records, self._targets, rows, self._weights, rate)
        self._new = 0
        self._refresh()
        late = float(np.sqrt(squares / max(1, len(rows))))
        old = self.progress
        error = late if not old.error else 0.95 * old.error + 0.05 * late
        self.progress = TrainingProgress(old.moves, old.finished, error, old.share, old.rows)
        self._seconds += time.process_time() - began

    def _take(self, told: LearntStates) -> None:
        """Keep what was told, in the place of the oldest."""
        most, count = len(self._records), len(told.records)
        records, targets = random_images(self._symmetries, told.records, told.targets, self._rng)
        if self.progress.moves >= self._anew:
            self._anew *= 2
            self._sums[:] = self._sizes[:] = 0.0
        learnt = self._weights, self._sums, self._sizes
        learn(records, targets, self.features.start, self.features.feature, *learnt, RATE)
        places = (self._total + np.arange(count)) % most
        self._records[places], self._targets[places] = records, targets
        self._total = (self._total + count) % most
        self._held = min(most, self._held + count)
        self._new += count
        old = self.progress
        self.progress = TrainingProgress(
            old.moves + told.moves,
            old.finished + told.finished,
            old.error,
            old.share if not told.finished else 0.95 * old.share + 0.05 * told.won / told.finished,
            old.rows + count,
        )

    def _refresh(self) -> None:
        linear = self.features.weights_of_bases(self._weights)
        self.values.set_weights(linear, self._weights[0])
        assert self.values.net is not None
        self.values.net.set_weights(self.features, self._learner.net)

    def knowledge(self, game: str) -> GameKnowledge:
        """What was learnt, not to be used yet: its share is 0."""
        return GameKnowledge(
            self._names.fingerprint,
            game,
            (self._key,),
            self.features.names,
            self._weights.copy(),
            self._sums.copy(),
            self._sizes.copy(),
            moves=self.progress.moves,
            seconds=self._seconds,
            net=self._learner.net,
        )

    def close(self) -> None:
        """End the processes that play."""
        self._processes.close()
