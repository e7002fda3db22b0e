"""`Training`: weights learnt from self-play, in rounds; TD(lambda) towards returns of segments.

A round plays some steps of all matches by the current weights, and then goes through them from the last to
the first: the target of a state is the outcome of its successors (R. Sutton: Learning to predict by the
methods of temporal differences, 1988), up to the next random move. Step sizes are those of temporal coherence
learning (D. Beal and M. Smith, 1999): a weight whose errors cancel each other out moves less.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.information import playing
from players.knowledge import state_values
from players.knowledge.canonical_rules import CanonicalNames
from players.knowledge.features import Features
from players.knowledge.knowledge import Floats, GameKnowledge, LearntNet
from players.knowledge.net_training import FRESH, Kept, NetTraining, ReplayBuffer
from players.knowledge.self_play import SelfPlay, Steps
from players.knowledge.state_values import StateValues
from propnet.analysis.random_play import final_goals, is_constant_sum
from propnet.jit.arrays import Int32s, Words
from propnet.jit.decorators import kernel
from propnet.machine import PropnetMachine


@kernel(nogil=True)
def learn(
    records: Words,
    targets: Floats,
    start: Int32s,
    feature: Int32s,
    weights: Floats,
    sums: Floats,
    sizes: Floats,
    rate: float,
) -> float:
    """Move weights, float32, shape (features, columns), towards the target values 0..1 of n states, one after
    the other: ``targets`` float32, shape (n, columns), ``records`` uint64, shape (n, words). Returns the sum
    of the squared errors.

    Proposition b has the features ``feature[start[b]:start[b + 1]]``; every state also has feature 0. A step
    moves the logit of the state itself by ``rate`` times the error, less the reduction by the step sizes.
    ``sums`` and ``sizes``, the errors of each weight, of the weights' shape, are updated."""
    active = np.empty(feature.size + 1, np.int32)
    times = np.zeros(weights.shape[0], np.float32)
    squares = 0.0
    for row in range(records.shape[0]):
        active[0] = 0
        times[0] = 1.0
        count = 1
        for word in range(records.shape[1]):
            bits = records[row, word]
            base = 64 * word
            while bits:
                if bits & np.uint64(1):
                    for entry in range(start[base], start[base + 1]):
                        if times[feature[entry]] == 0:
                            active[count] = feature[entry]
                            count += 1
                        times[feature[entry]] += 1
                bits >>= np.uint64(1)
                base += 1
        length = 0.0
        for i in range(count):
            length += float(times[active[i]]) * float(times[active[i]])
        for column in range(weights.shape[1]):
            logit = 0.0
            for i in range(count):
                logit += float(weights[active[i], column]) * times[active[i]]
            error = float(targets[row, column]) - 1.0 / (1.0 + math.exp(-logit))
            squares += error * error
            for i in range(count):
                number = active[i]
                size = float(sizes[number, column])
                coherence = abs(float(sums[number, column])) / size if size > 0.0 else 1.0
                step = rate * coherence * error * times[number] / length
                weights[number, column] += np.float32(step)
                sums[number, column] += np.float32(error)
                sizes[number, column] += np.float32(abs(error))
        for i in range(count):
            times[active[i]] = 0
    return squares


STEPS = 24
"""Moves of each match in a round."""
LAMBDA = 0.8
_RATE = 1.0
"""Part of an error that a step takes away; less if each weight has seen few states."""
_LANES, _FEWEST_LANES = 512, 32
_ROUND_SECONDS = 2.0
"""If a round takes longer, fewer matches are played side by side."""
_SAMPLE, _MOST_MOVES = 512, 500
"""Random games that show whether results add up to a constant, and their moves at most."""


@dataclass(frozen=True)
class TrainingProgress:
    """The play that was learnt from so far.

    Attributes:
        moves: in all self-play that the weights come from; ``finished`` matches since this training began.
        error: the root of the mean squared error of values, of late.
        share: the mean result of the first role with values of late, 0..1.
        rows: states evaluated since this training began.
    """

    moves: int
    finished: int
    error: float
    share: float
    rows: int

    def after(self, moves: int, finished: int, won: float, square: float, rows: int) -> TrainingProgress:
        """The progress after more moves, matches and states. The first role with values ``won`` that sum in
        the matches; ``square`` is the mean squared error of the states' values."""
        error = float(np.sqrt(square))
        return TrainingProgress(
            self.moves + moves,
            self.finished + finished,
            0.95 * self.error + 0.05 * error if self.rows else error,
            0.95 * self.share + 0.05 * won / finished if finished else self.share,
            self.rows + rows,
        )


class Training:
    """Learns the weights of a game.

    Attributes:
        machine: the game's.
        features: of its states.
        values: values of states by the current weights.
        columns: the roles that have values of their own.
        progress: the play that was learnt from so far.
    """

    def __init__(
        self,
        machine: PropnetMachine,
        names: CanonicalNames,
        knowledge: GameKnowledge | None = None,
        seed: int = 0,
    ) -> None:
        """Goes on with ``knowledge``, if there is some. If it has a net, the net learns; otherwise the linear
        weights do, until :meth:`add_net`. Random games show whether one of two roles gets what the other does
        not. Raises GdlError for games of one role and for those that are over when they begin, and
        KnowledgeError for games that are too large."""
        _check_goes_on(machine)
        roles = len(machine.roles)
        self.machine, self._names = machine, names
        self.features = Features.of(machine.network.bases, names)
        keys = [names.key(role) for role in machine.roles]
        players = playing(machine.roles)
        goals = final_goals(machine, _SAMPLE, seed, _MOST_MOVES)
        alone = len(players) == 2 and is_constant_sum(goals[:, players])
        columns = tuple(players[:1] if alone else players)
        if knowledge is not None and set(knowledge.columns) <= set(keys):
            columns = tuple(keys.index(column) for column in knowledge.columns)
            knowledge = self.features.arranged(knowledge)
        else:
            knowledge = None
        self._keys = tuple(keys[role] for role in columns)
        self.columns = columns
        shape = len(self.features.names), len(columns)
        zeros: tuple[Floats, ...] = tuple(np.zeros(shape, np.float32) for _ in range(3))
        self.weights, self._sums, self._sizes = zeros if knowledge is None else knowledge.arrays()
        moves = knowledge.moves if knowledge is not None else 0
        self._rng = np.random.default_rng([seed, moves])
        self.values = StateValues(self.features.bases, roles, columns)
        self._refresh()
        self._net: NetTraining | None = None
        self.remember(FRESH)
        if knowledge is not None and knowledge.net is not None:
            self._net = self._training_of(knowledge.net)
        self._play = SelfPlay(machine, columns, _LANES, self._rng)
        self._seconds = knowledge.seconds if knowledge else 0.0
        self.progress = TrainingProgress(moves, 0, 0.0, 0.5, 0)

    def add_net(self) -> None:
        """Let a new net learn from now on. It begins with the states that the linear weights learnt from."""
        net = LearntNet.new(len(self.features.names), len(self.columns), self._rng)
        self._net = self._training_of(net)
        self._net.catch_up()

    def _training_of(self, net: LearntNet) -> NetTraining:
        return NetTraining(self.features, self.values, net, self._replay, self._rng)

    def remember(self, kept: Kept) -> None:
        """Let a net learn from these states from now on, and forget all earlier ones."""
        self._replay = ReplayBuffer(kept, self.machine.words, len(self.columns))
        if self._net is not None:
            self._net.replay = self._replay

    def round(self, gone: float = 0.0) -> None:
        """Play some steps and learn from them; ``gone``, the elapsed share of the time, has no effect."""
        began = time.process_time()
        play = self._play
        finished, won = play.finished, play.won
        steps = play.play(self.values, STEPS)
        records, targets = returns(steps, LAMBDA)
        order = self._rng.permutation(len(records))
        squares = self.learn(records[order], targets[order], gone)
        self.progress = self.progress.after(
            steps.ended.size,
            play.finished - finished,
            play.won - won,
            squares / max(1, targets.size),
            steps.rows,
        )
        seconds = time.process_time() - began
        self._seconds += seconds
        if seconds > _ROUND_SECONDS and play.lanes > _FEWEST_LANES:
            self._play = SelfPlay(self.machine, self.columns, play.lanes // 2, self._rng)

    def learn(self, records: NDArray[np.uint64], targets: NDArray[np.float32], gone: float = 0.0) -> float:
        """Learn from states, uint64, shape (n, words), with ``targets``, 0..1, float32, shape (n, columns),
        one after the other. ``gone``, the elapsed share of the time, sets how fast a net learns. Returns the
        sum of the squared errors."""
        if self._net is not None:
            return self._net.learn(records, targets, gone)
        self._replay.add(records, targets)
        learnt = self.weights, self._sums, self._sizes
        squares = learn(records, targets, self.features.start, self.features.feature, *learnt, _RATE)
        self._refresh()
        return float(squares)

    def begin_anew(self) -> None:
        """Reset the step sizes, so that weights move as fast as at first."""
        self._sums[:] = self._sizes[:] = 0.0

    def _refresh(self) -> None:
        self.values.set_weights(self.features, self.weights)

    def close(self) -> None:
        """Do nothing: it has no processes."""

    def knowledge(self, game: str) -> GameKnowledge:
        """The learnt weights, not to be used yet: their share is 0."""
        return GameKnowledge(
            self._names.fingerprint,
            game,
            self._keys,
            self.features.names,
            self.weights.copy(),
            self._sums.copy(),
            self._sizes.copy(),
            moves=self.progress.moves,
            seconds=self._seconds,
            net=None if self._net is None else self._net.net,
        )


def _check_goes_on(machine: PropnetMachine) -> None:
    """Raise GdlError for games of one role, and for those that are over when they begin."""
    roles, start = len(machine.roles), machine.initial_state()
    if len(playing(machine.roles)) < 2:
        alone = "puzzles are for `ggp solve`" if roles == 1 else "`expectimax` and `uct` play it without"
        raise GdlError("only games that several roles play are learnt", remedy=alone)
    if machine.is_terminal(start) or not all(machine.legal_moves(start, role) for role in range(roles)):
        raise GdlError("nothing is to be learnt: no match of this game goes on from its initial state")


def returns(steps: Steps, decay: float) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
    """The states whose move was not random, uint64, shape (n, words), and their targets, float32, shape (n,
    columns): the value after the next move mixed with the target of the state after it, which has the weight
    ``decay``, up to the next random move."""
    following = steps.after[-1]
    targets = np.empty_like(steps.after)
    for step in range(len(steps.after) - 1, -1, -1):
        after, ended = steps.after[step], steps.ended[step][:, None]
        targets[step] = np.where(ended, after, after + np.float32(decay) * (following - after))
        # The state after a random move says nothing about the state before it.
        random = steps.random[step][:, None]
        following = np.where(random, steps.after[step - 1] if step else after, targets[step])
    informative = ~steps.random
    return steps.records[informative], targets[informative]


def warm_up() -> None:
    """Compile the kernels of values, and of learning linear weights."""
    state_values.warm_up()
    weights, targets = (np.zeros((1, 1), np.float32) for _ in range(2))
    start, feature = np.zeros(65, np.int32), np.zeros(0, np.int32)
    learn(np.zeros((1, 1), np.uint64), targets, start, feature, weights, weights, weights, _RATE)
