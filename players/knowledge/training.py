"""`Training`: weights learnt from self-play, in rounds; TD(lambda) towards returns of segments.

A round plays some steps of all matches by the current weights, and then goes through them from the last to
the first: the target of a state is the outcome of its successors (R. Sutton: Learning to predict by the
methods of temporal differences, 1988), up to the next random move.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.information import playing
from players.knowledge.canonical_rules import CanonicalNames
from players.knowledge.derived_propositions import DerivedPropositions, derived_of, find_derived
from players.knowledge.features import DERIVED, Features, check_size
from players.knowledge.knowledge import GameKnowledge, LearntNet, LearntTables
from players.knowledge.n_tuples import NTuples
from players.knowledge.net_training import NetTraining
from players.knowledge.self_play import SelfPlay, Steps
from players.knowledge.state_values import NetLayers, StateValues, TupleTables, features_of
from players.knowledge.tuple_finder import find_tuples
from players.knowledge.value_kernels import learn
from propnet.analysis.classify import final_goals, is_constant_sum
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.recoding.samples import sample_states

STEPS = 24
"""Moves of each match in a round."""
LAMBDA = 0.8
RATE, _TUPLE_RATE = 1.0, 0.6
"""Part of an error that a step takes away; less if each weight has seen few states."""
_LANES, _FEWEST_LANES = 256, 32
_ROUND_SECONDS = 2.0
"""If a round takes longer, fewer matches are played side by side."""
MODELS = "linear", "derived", "tuples", "net"
"""The rungs of the ladder: weights of features; also of those of derived propositions; tables over n-tuples
added to the first; a net added to the first or the second."""
_SCALED = 2048
"""States that show how many propositions features count."""
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
        features: of its states.
        derived: the derived propositions that have features, or that are in tuples; None if there are none.
        scale: float32, shape (features, 1): :meth:`players.knowledge.features.Features.scale`.
        values: values of states by the current weights.
        columns: the roles that have values of their own.
        progress: the play that was learnt from so far.
    """

    def __init__(
        self,
        machine: PropnetMachine,
        names: CanonicalNames,
        known: GameKnowledge | None = None,
        seed: int = 0,
        model: str = MODELS[0],
        most_moves: int = _MOST_MOVES,
    ) -> None:
        """``known`` is the knowledge to go on with, if it is of this ``model``, or has the weights below a
        net: otherwise weights of another rung are a worse beginning than none (see docs/measurements.md).
        Random games of at most ``most_moves`` moves show whether one of two roles gets what the other does
        not. Raises GdlError for games of one role, for those that are over when they begin, and if no tuples
        or derived propositions are found, and KnowledgeError for games that are too large."""
        check_goes_on(machine)
        below = model
        if model == "net":
            below = "derived" if known is not None and known.derived else "linear"
        if known is not None and known.model not in (model, below):
            known = None
        roles = len(machine.roles)
        self._machine, self._names = machine, names
        self.derived = _derived(machine, names, known, below, seed)
        own = self.derived if below == "derived" else None
        self.features = features_of(machine, names, own)
        self.scale = np.ones((len(self.features.names), 1), np.float32)
        if own is not None:
            sample = own.long(sample_states(machine, _SCALED, seed))
            self.scale = self.features.scale(unpack(sample, self.features.bits))[:, None]
        keys = [names.key(role) for role in machine.roles]
        players = playing(machine.roles)
        alone = len(players) == 2 and is_constant_sum(
            final_goals(machine, _SAMPLE, seed, most_moves)[:, players]
        )
        columns = tuple(players[:1] if alone else players)
        if known is not None and set(known.columns) <= set(keys):
            columns = tuple(keys.index(column) for column in known.columns)
        else:
            known = None
        self._keys = tuple(keys[role] for role in columns)
        self.columns = columns
        tables = None if known is None else known.tables
        self._tuples: TupleTables | None = None
        if model == "tuples":
            tuples = find_tuples(machine, names, seed, self.derived) if tables is None else tables.tuples
            if tuples is None:
                raise GdlError("no n-tuples were found in this game", remedy="--model linear")
            if not any(name.startswith(DERIVED) for name in tuples.names):
                self.derived = None
            self._tuples = TupleTables(tuples, machine.network.bases, names, len(columns), self.derived)
        self.weights, self._sums, self._sizes = _start(self.features, len(columns), known)
        self.weights /= self.scale
        if self._tuples is not None:
            parts = _start_of_tables(self._tuples.tuples, len(columns), tables)
            whole = zip((self.weights, self._sums, self._sizes), parts, strict=True)
            self.weights, self._sums, self._sizes = (np.concatenate(pair) for pair in whole)
        moves = known.moves if known is not None and known.model == model else 0
        self._rng = np.random.default_rng([seed, moves])
        layers = NetLayers(self.features.bits, len(columns)) if model == "net" else None
        self.values = StateValues(
            self.features.bits, roles, columns, self._tuples, layers, derived=self.derived
        )
        self._refresh()
        self._net = None if layers is None else self._net_training(known)
        self._play = SelfPlay(machine, columns, _LANES, self._rng)
        self._seconds = known.seconds if known else 0.0
        self.progress = TrainingProgress(moves, 0, 0.0, 0.5, 0)

    def _net_training(self, known: GameKnowledge | None) -> NetTraining:
        """The training of the net, which begins with the known net if there is one."""
        features, columns = self.features, len(self.columns)
        if known is None or known.net is None:
            net = LearntNet.new(len(features.names), columns, self._rng)
        else:
            net = features.arranged_net(known)
        words = self._machine.words if self.derived is None else self.derived.words
        linear = self.weights * self.scale
        return NetTraining(features, self.values, net, linear, self.scale, words, self._rng)

    def remember(self, states: int) -> None:
        """See :meth:`players.knowledge.net_training.NetTraining.remember`."""
        if self._net is not None:
            self._net.remember(states)

    def fit(self, seconds: float) -> None:
        """Play as many matches side by side as a round of a few seconds allows, given the ``seconds`` of one
        move in 32 of them."""
        lanes = _LANES
        while lanes > _FEWEST_LANES and seconds * lanes / _FEWEST_LANES * STEPS > _ROUND_SECONDS:
            lanes //= 2
        if lanes != self._play.lanes:
            self._play = SelfPlay(self._machine, self.columns, lanes, self._rng)

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
            self._play = SelfPlay(self._machine, self.columns, play.lanes // 2, self._rng)

    def learn(self, records: NDArray[np.uint64], targets: NDArray[np.float32], gone: float = 0.0) -> float:
        """Learn from states, uint64, shape (n, words), with ``targets``, 0..1, float32, shape (n, columns),
        one after the other. ``gone``, the elapsed share of the time, sets how fast a net learns. Returns the
        sum of the squared errors."""
        learnt = self.weights, self._sums, self._sizes
        long = records if self.derived is None else self.derived.long(records)
        if self._net is not None:
            return self._net.learn(long, targets, gone)
        if self._tuples is not None:
            squares = self._tuples.learn(long, targets, self.features, learnt, _TUPLE_RATE)
        else:
            of = self.features.start, self.features.feature, self.scale[:, 0]
            squares = learn(long, targets, *of, *learnt, RATE)
        self._refresh()
        return float(squares)

    def begin_anew(self) -> None:
        """Reset the step sizes, so that weights move as fast as at first."""
        self._sums[:] = self._sizes[:] = 0.0

    def _refresh(self) -> None:
        linear = len(self.features.names)
        weights = self.weights[:linear] * self.scale
        self.values.set_weights(self.features.weights_of_bases(weights), weights[0])
        if self._tuples is not None:
            self._tuples.set_weights(self.weights[linear:])

    def close(self) -> None:
        """Do nothing: it has no processes."""

    def knowledge(self, game: str) -> GameKnowledge:
        """The learnt weights, not to be used yet: their share is 0."""
        linear, learnt = len(self.features.names), (self.weights, self._sums, self._sizes)
        tables = None
        if self._tuples is not None:
            tables = LearntTables(self._tuples.tuples, *(array[linear:].copy() for array in learnt))
        weights, sums, sizes = (array[:linear].copy() for array in learnt)
        weights *= self.scale
        return GameKnowledge(
            self._names.fingerprint,
            game,
            self._keys,
            self.features.names,
            weights,
            sums,
            sizes,
            moves=self.progress.moves,
            seconds=self._seconds,
            tables=tables,
            net=None if self._net is None else self._net.net,
            derived=() if self.derived is None else self.derived.relations,
        )


def check_goes_on(machine: PropnetMachine) -> None:
    """Raise GdlError for games of one role, and for those that are over when they begin, and KnowledgeError
    for games that are too large."""
    roles, start = len(machine.roles), machine.initial_state()
    if len(playing(machine.roles)) < 2:
        alone = "puzzles are for `ggp solve`" if roles == 1 else "`expectimax` and `uct` play it without"
        raise GdlError("only games that several roles play are learnt", remedy=alone)
    check_size(len(machine.network.bases))
    if machine.is_terminal(start) or not all(machine.legal_moves(start, role) for role in range(roles)):
        raise GdlError("nothing is to be learnt: no match of this game goes on from its initial state")


def _derived(
    machine: PropnetMachine, names: CanonicalNames, known: GameKnowledge | None, model: str, seed: int
) -> DerivedPropositions | None:
    """The derived propositions to learn with. Raises GdlError if a model needs some and there are none."""
    if model == "linear":
        return None
    if known is not None:
        return derived_of(machine, names, known.derived) if known.derived else None
    found = find_derived(machine, names, seed)
    if found is None and model == "derived":
        raise GdlError("these rules derive nothing of use", remedy="--model linear")
    return found


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


def _start(features: Features, columns: int, known: GameKnowledge | None) -> tuple[NDArray[np.float32], ...]:
    """Initial weights, sums and sizes."""
    if known is not None:
        return features.arranged(known)
    shape = len(features.names), columns
    return np.zeros(shape, np.float32), np.zeros(shape, np.float32), np.zeros(shape, np.float32)


def _start_of_tables(
    tuples: NTuples, columns: int, known: LearntTables | None
) -> tuple[NDArray[np.float32], ...]:
    """Initial weights, sums and sizes of tables."""
    if known is not None:
        return known.arrays()
    return tuple(np.zeros((tuples.entries, columns), np.float32) for _ in range(3))
