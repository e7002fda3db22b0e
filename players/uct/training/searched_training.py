"""`SearchedTraining`: weights learnt from self-play by searches, on any rung of the ladder.

Each state is learnt from as a random image under the symmetries of the game. A net learns from the last
states in random order (experience replay: L. Lin, 1992) what its linear weights leave; these stay as they
are.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from players.knowledge.canonical_rules import CanonicalNames
from players.knowledge.derived_propositions import DerivedPropositions
from players.knowledge.features import Features
from players.knowledge.knowledge import GameKnowledge, LearntNet
from players.knowledge.state_values import NetLayers, NetLearner, StateValues
from players.knowledge.training import Training, TrainingProgress
from players.uct.training.game_symmetries import find_symmetries, random_images
from players.uct.training.play_processes import PlayProcesses
from players.uct.training.searched_play import STEPS, LearntStates, PlayTerms, SearchedPlay, play_and_tell
from propnet.analysis.classify import forced_moves
from propnet.machine import PropnetMachine
from propnet.symmetries.group import EFFORT, MOST_INPUTS

_ANEW = 20_000
"""Moves after which weights begin to move as fast as at first, again and again: what searches told of states
before, by weights that were worse, would keep them."""
_LAST = 0.85
"""The share of the time after which they do so no more, and come to rest."""
_INPUTS, _EFFORT = 1_000_000, 40_000_000
"""How large a game may be, and how long its symmetries are looked for: at most two seconds."""


def searches_can_look(machine: PropnetMachine) -> bool:
    """Whether a game is one in which searches look at all moves: two roles choose in turn."""
    return len(machine.roles) == 2 and forced_moves(machine) is not None


class SearchedTraining:
    """Learns the weights of a game.

    Attributes:
        values: what states are worth by the weights as they are.
        progress: what was learnt from so far.
    """

    def __init__(
        self,
        machine: PropnetMachine,
        names: CanonicalNames,
        known: GameKnowledge | None = None,
        seed: int = 0,
        model: str = "linear",
        workers: int = 1,
        terms: PlayTerms = PlayTerms(),
        patient: bool = True,
        weights: Training | None = None,
    ) -> None:
        """``known`` is what to go on with: of this ``model``, or, for a net, the weights below it.
        ``workers``: processes that play, this one counted. ``patient``: symmetries are looked for in large
        games too, which may take two seconds. ``weights``: a training of the game that has brought what is
        known, and goes on. Raises GdlError for games in which searches cannot look at all moves: those of one
        role or of more than two, in which roles choose at the same time, or whose goals do not add up to 100;
        and KnowledgeError for games that are too large."""
        below = model
        if model == "net":
            below = "derived" if known is not None and known.derived else "linear"
        if weights is None:
            begun = None if known is None else replace(known, net=None)
            weights = Training(machine, names, begun, seed, below)
        if weights.columns != (0,) or not searches_can_look(machine):
            raise GdlError(
                "searches play games in which two roles choose in turn, and one gets what the other does not",
                remedy="--model linear",
            )
        self._weights, self._net = weights, None
        self._rng = np.random.default_rng([seed, known.moves if known else 0, 1])
        self.values = weights.values
        if model == "net":
            with_net = known if known is not None and known.net is not None else weights.knowledge("")
            of = weights.features, with_net, self._rng, weights.scale, weights.derived
            self._net = NetTraining(machine, *of)
            self.values = self._net.values
        inputs, effort = (_INPUTS, _EFFORT) if patient else (MOST_INPUTS, EFFORT)
        self._symmetries = find_symmetries(machine, inputs=inputs, effort=effort)
        self._play = SearchedPlay(machine, self.values, terms, self._rng)
        self._processes = PlayProcesses(machine, terms, workers - 1, seed * 4099 + 1, weights.derived)
        self._gone = 0.0
        goes_on = known is not None and known.model == model
        self._seconds = known.seconds if known is not None else 0.0
        moves = known.moves if known is not None and goes_on else 0
        self._anew = moves + _ANEW
        self.progress = TrainingProgress(moves, 0, 0.0, 0.5, 0)

    def round(self, gone: float = 0.0) -> None:
        """Play some steps and learn from them, and from what other processes have played. ``gone``: the share
        of the time for this training, 0..1: towards its end weights come to rest."""
        began = time.process_time()
        self._gone = gone
        if self.progress.moves >= self._anew and gone < _LAST:
            self._anew = self.progress.moves + _ANEW
            self._weights.begin_anew()
        self._processes.exchange(self.values, self._take)
        self._take(play_and_tell(self._play, STEPS, self._rng))
        self._seconds += time.process_time() - began

    def _take(self, told: LearntStates) -> None:
        """Learn from what was told."""
        records, targets = random_images(self._symmetries, told.records, told.targets, self._rng)
        if self._net is not None:
            squares = self._net.learn(records, targets, self._gone)
        else:
            squares = self._weights.learn(records, targets)
        square = squares / max(1, len(records))
        self.progress = self.progress.after(told.moves, told.finished, told.won, square, len(records))

    def knowledge(self, game: str) -> GameKnowledge:
        """What was learnt, not to be used yet: its share is 0."""
        known = self._weights.knowledge(game)
        if self._net is not None:
            known = replace(known, net=self._net.net)
        return replace(known, moves=self.progress.moves, seconds=self._seconds)

    def close(self) -> None:
        """End the processes that play."""
        self._processes.close()


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
