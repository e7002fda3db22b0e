"""`StateValues`: learnt values of states to each role, for many states at once. They come from linear
weights, and from tables over n-tuples or small nets that add to these.

The kernels of a small net compute values, gradients, and Adam's steps (D. Kingma and J. Ba, 2015).

The first layer is updated from state to state (Y. Nasu: Efficiently updatable neural-network-based evaluation
functions for computer shogi, 2018). Its sums are whole numbers, so that adding and subtracting leaves no
rounding errors, in any order. The second layer is a vector of 16 floats, held in registers. numba keeps the
sums of such a layer in memory, which makes them several times as slow; LLVM maps a vector to one or more
registers, on any processor.
"""

# mypy: disallow-untyped-calls=False
# (numba and llvmlite have no types)

from __future__ import annotations

import math
from copy import copy
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from gdl.information import playing
from gdl.terms import Term
from players.knowledge.canonical_rules import CanonicalNames
from players.knowledge.derived_propositions import Derive, DerivedPropositions, derived_of
from players.knowledge.features import DERIVED, Features
from players.knowledge.knowledge import HIDDEN, WIDTH, Floats, GameKnowledge, KnowledgeError, LearntNet
from players.knowledge.n_tuples import NTuples
from players.knowledge.value_kernels import (
    MOST_WEIGHT,
    SCALE,
    VECTORS,
    Singles,
    add_tuples,
    fill_table,
    learn_tuples,
    logistic,
    values_of_states,
)
from propnet.derived import derived_network
from propnet.jit.arrays import Int32s, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import PointerType, item, lowest_bit, put, raw
from propnet.kernels.records import record_words
from propnet.machine import PropnetMachine

_SUMS = 4
"""Number of sums under way at once, so that none waits for the one before."""
_VECTOR = ir.VectorType(ir.FloatType(), WIDTH)
_FLOAT = ir.FloatType()
_I32, _I64 = ir.IntType(32), ir.IntType(64)
_intrinsic: Any = intrinsic


@_intrinsic
def layer(typing_context: Any, inputs: Any, weights: Any, bias: Any, outputs: Any, count: Any) -> Any:
    """Write ``bias`` plus the weighted inputs, negative ones taken as 0, to ``outputs``. All are
    :func:`propnet.jit.vector512.raw` pointers to float32, of shapes (count,), (count, WIDTH), (WIDTH,) and
    (WIDTH,). ``count`` is a multiple of 4."""
    assert all(isinstance(each, PointerType) for each in (inputs, weights, bias, outputs))

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        floats = [builder.bitcast(arg, _FLOAT.as_pointer()) for arg in args[:4]]
        source, table, begin, target = floats
        total = builder.sext(args[4], _I64) if args[4].type.width < 64 else args[4]
        fma = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), f"llvm.fma.v{WIDTH}f32"
        )

        def vector_at(pointer: Any, place: Any) -> Any:
            return builder.bitcast(builder.gep(pointer, [place]), _VECTOR.as_pointer())

        zero = ir.Constant(_VECTOR, [0.0] * WIDTH)
        first = builder.load(vector_at(begin, ir.Constant(_I64, 0)), align=4)
        sums = [cgutils.alloca_once_value(builder, value) for value in (first, *(zero,) * (_SUMS - 1))]
        with cgutils.for_range_slice(
            builder, ir.Constant(_I64, 0), total, ir.Constant(_I64, _SUMS), _I64
        ) as (at, _):
            for number, place in enumerate(sums):
                here = builder.add(at, ir.Constant(_I64, number))
                one = builder.load(builder.gep(source, [here]))
                empty = ir.Constant(_VECTOR, ir.Undefined)
                single = builder.insert_element(empty, one, ir.Constant(_I32, 0))
                spread = builder.shuffle_vector(
                    single, empty, ir.Constant(ir.VectorType(_I32, WIDTH), [0] * WIDTH)
                )
                row = builder.load(vector_at(table, builder.mul(here, ir.Constant(_I64, WIDTH))), align=4)
                builder.store(builder.call(fma, [spread, row, builder.load(place)]), place)
        values = [builder.load(place) for place in sums]
        while len(values) > 1:
            values = [builder.fadd(a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
        positive = builder.fcmp_ordered(">", values[0], zero)
        builder.store(
            builder.select(positive, values[0], zero), vector_at(target, ir.Constant(_I64, 0)), align=4
        )
        return context.get_dummy_value()

    return types.void(inputs, weights, bias, outputs, count), generate


UNIT = 1 / 256
"""Unit of the whole-number weights in the first layer."""


@kernel(**VECTORS)
def _add_net(
    records: Words,
    first: NDArray[np.int16],
    first_bias: Int32s,
    second: Singles,
    second_bias: Singles,
    third: Singles,
    values: Singles,
) -> None:
    """Add the net's output to the logits of states, float32, shape (columns, n), and turn these into values,
    0..1: records, uint64, shape (n, words).

    ``first``: int16, shape (64 * words, HIDDEN), in units of UNIT; ``first_bias``: int32, shape (HIDDEN,).
    The first layer's sums are cut to 0..1. ``second``: float32, shape (HIDDEN, WIDTH), its bias (WIDTH,);
    ``third``: float32, shape (columns, WIDTH).
    """
    rows, words = np.int64(records.shape[0]), np.int64(records.shape[1])
    sums = np.empty(HIDDEN, np.int32)
    units = np.empty(HIDDEN, np.float32)
    outputs = np.empty(WIDTH, np.float32)
    for i in range(HIDDEN):
        put(sums, i, item(first_bias, i))
    unit, none, one = np.float32(UNIT), np.float32(0.0), np.float32(1.0)
    for row in range(rows):
        for word in range(words):
            bits = item(records, row * words + word)
            changed = bits ^ item(records, (row - 1) * words + word) if row else bits
            while changed:
                place = lowest_bit(changed)
                at = (64 * word + place) * HIDDEN
                if (bits >> np.uint64(place)) & np.uint64(1):
                    for i in range(HIDDEN):
                        put(sums, i, item(sums, i) + np.int32(item(first, at + i)))
                else:
                    for i in range(HIDDEN):
                        put(sums, i, item(sums, i) - np.int32(item(first, at + i)))
                changed &= changed - np.uint64(1)
        for i in range(HIDDEN):
            put(units, i, min(max(np.float32(item(sums, i)) * unit, none), one))
        layer(raw(units), raw(second), raw(second_bias), raw(outputs), HIDDEN)
        for column in range(values.shape[0]):
            total = item(values, column * rows + row)
            for i in range(WIDTH):
                total += item(outputs, i) * item(third, column * WIDTH + i)
            put(values, column * rows + row, total)
    for i in range(values.shape[0] * rows):
        put(values, i, logistic(item(values, i)))


_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8
_FAST: dict[str, Any] = {
    "nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}
}  # fmt: skip


@kernel(**_FAST)
def gradients(
    records: Words,
    targets: Singles,
    rows: NDArray[np.int64],
    bases: Singles,
    second: Singles,
    second_bias: Singles,
    third: Singles,
    by_base: Singles,
    by_second: Singles,
    by_second_bias: Singles,
    by_third: Singles,
) -> float:
    """Add the gradients of the cross entropy of values and targets, 0..1, over some rows of ``records``,
    uint64, shape (n, words), and ``targets``, float32, shape (n, columns). Returns the sum of the squared
    errors.

    ``bases``: float32, shape (bases + 1, HIDDEN + columns): each proposition's addition to the first layer
    and to the logits; the last row is for all states. ``second`` and so on:
    :class:`players.knowledge.knowledge.LearntNet`. ``by_...``: the gradients, of these shapes.
    """
    columns = targets.shape[1]
    width = HIDDEN + columns
    active = np.empty(64 * records.shape[1] + 1, np.int64)
    sums, units = np.empty(width, np.float32), np.empty(HIDDEN, np.float32)
    outputs, back = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    errors = np.empty(width, np.float32)
    zero, one = np.float32(0.0), np.float32(1.0)
    squares = 0.0
    for i in range(rows.size):
        row = rows[i]
        active[0] = bases.shape[0] - 1
        count = 1
        for word in range(records.shape[1]):
            bits = records[row, word]
            while bits:
                active[count] = 64 * word + np.int64(lowest_bit(bits))
                count += 1
                bits &= bits - np.uint64(1)
        for j in range(width):
            sums[j] = zero
        for k in range(count):
            place = active[k]
            for j in range(width):
                sums[j] += bases[place, j]
        for j in range(HIDDEN):
            units[j] = min(max(sums[j], zero), one)
        for j in range(WIDTH):
            outputs[j] = second_bias[j]
        for k in range(HIDDEN):
            unit = units[k]
            if unit != zero:
                for j in range(WIDTH):
                    outputs[j] += unit * second[k, j]
        for j in range(WIDTH):
            outputs[j] = max(outputs[j], zero)
            back[j] = zero
        for column in range(columns):
            logit = sums[HIDDEN + column]
            for j in range(WIDTH):
                logit += outputs[j] * third[column, j]
            error = np.float32(1.0 / (1.0 + math.exp(-logit))) - targets[row, column]
            squares += error * error
            errors[HIDDEN + column] = error
            for j in range(WIDTH):
                by_third[column, j] += error * outputs[j]
                back[j] += error * third[column, j]
        for j in range(WIDTH):
            back[j] = back[j] if outputs[j] > zero else zero
            by_second_bias[j] += back[j]
        for k in range(HIDDEN):
            unit, error = units[k], zero
            if unit != zero:
                for j in range(WIDTH):
                    by_second[k, j] += unit * back[j]
            if zero < sums[k] < one:
                for j in range(WIDTH):
                    error += back[j] * second[k, j]
            errors[k] = error
        for k in range(count):
            place = active[k]
            for j in range(width):
                by_base[place, j] += errors[j]
    return squares


@kernel(**_FAST)
def sums_of_features(
    start: Int32s, feature: Int32s, scale: Singles, weights: Singles, bases: Singles
) -> None:
    """Fill in the additions of propositions, float32, shape (bases + 1, width), from the weights of features,
    shape (features, width). Proposition b has the features ``feature[start[b]:start[b + 1]]``, each times its
    ``scale``, float32, shape (features,); all states have feature 0."""
    width = weights.shape[1]
    last = bases.shape[0] - 1
    for j in range(width):
        bases[last, j] = weights[0, j]
    for base in range(last):
        for j in range(width):
            bases[base, j] = np.float32(0.0)
        for entry in range(start[base], start[base + 1]):
            number = feature[entry]
            by = scale[number]
            for j in range(width):
                bases[base, j] += by * weights[number, j]


@kernel(**_FAST)
def spread_to_features(
    start: Int32s, feature: Int32s, scale: Singles, by_base: Singles, by_feature: Singles
) -> None:
    """The reverse, for gradients: fill in those of features from those of propositions, shapes as above."""
    width = by_feature.shape[1]
    last = by_base.shape[0] - 1
    by_feature[:] = np.float32(0.0)
    for j in range(width):
        by_feature[0, j] = by_base[last, j]
    for base in range(last):
        for entry in range(start[base], start[base + 1]):
            number = feature[entry]
            by = scale[number]
            for j in range(width):
                by_feature[number, j] += by * by_base[base, j]


@kernel(**_FAST)
def adam(weights: Singles, gradient: Singles, mean: Singles, square: Singles, step: int, rate: float) -> None:
    """One step of weights, all float32 of shape (n,), number ``step`` from 1 on; updates the running ``mean``
    and ``square`` of gradients."""
    scale = rate * math.sqrt(1.0 - _BETA2**step) / (1.0 - _BETA1**step)
    one, keep1, keep2 = np.float32(1.0), np.float32(_BETA1), np.float32(_BETA2)
    for i in range(weights.size):
        mean[i] = keep1 * mean[i] + (one - keep1) * gradient[i]
        square[i] = keep2 * square[i] + (one - keep2) * gradient[i] * gradient[i]
        weights[i] -= np.float32(scale) * mean[i] / (np.float32(math.sqrt(square[i])) + np.float32(_EPSILON))


class TupleTables:
    """Tables of a game.

    Attributes:
        tuples: the n-tuples.
        table: int32, shape (columns, entries of tuples), in units of 1 / SCALE logits.
    """

    def __init__(
        self,
        tuples: NTuples,
        bases: tuple[Term, ...],
        names: CanonicalNames,
        columns: int,
        derived: DerivedPropositions | None = None,
    ) -> None:
        """All weights 0. With ``derived`` propositions records are long ones. Raises KnowledgeError if the
        game has other propositions."""
        place = {names.key(term): base for base, term in enumerate(bases)}
        bits = len(bases)
        if derived is not None:
            bits = len(derived.propositions)
            place |= {DERIVED + names.key(term): bit for bit, term in enumerate(derived.terms, derived.first)}
        if not set(tuples.names) <= set(place):
            raise KnowledgeError("it is knowledge of other propositions", remedy="train the game again")
        self.tuples = tuples
        self._base = np.array([place[name] for name in tuples.names], np.int32)
        self._variable_of = np.full(bits + 64, -1, np.int32)
        self._code_of = np.zeros(bits + 64, np.int32)
        self._variable_of[self._base], self._code_of[self._base] = tuples.variable, tuples.code
        self.table = np.zeros((columns, int(tuples.offset[-1])), np.int32)

    def set_weights(self, weights: NDArray[np.float32]) -> None:
        """Take other weights, float32, shape (entries of tuples and of shapes, columns)."""
        own = int(self.tuples.offset[-1])
        summed = weights[:own] + weights[self.tuples.shared]
        # This many of them are added in 32 bits.
        most = min(MOST_WEIGHT, (2**31 - 1) / SCALE / len(self.tuples.shape))
        self.table = np.ascontiguousarray(np.rint(np.clip(summed, -most, most) * SCALE).T, np.int32)

    def add(self, records: NDArray[np.uint64], values: NDArray[np.float32]) -> None:
        """Add to the logits of states, float32, shape (columns, n), and turn them into values of 0..1."""
        tuples = self.tuples
        add_tuples(
            records, self._base, tuples.variable, tuples.code, len(tuples.radix), tuples.start,
            tuples.member, tuples.stride, tuples.offset, self.table, 1.0 / SCALE, values,
        )  # fmt: skip

    def learn(
        self,
        records: NDArray[np.uint64],
        targets: NDArray[np.float32],
        features: Features,
        weights: tuple[NDArray[np.float32], ...],
        rate: float,
    ) -> float:
        """Move weights, then sums and sizes, of linear features and of entries: see
        :func:`players.knowledge.value_kernels.learn_tuples`."""
        tuples = self.tuples
        # Bits past those of the features have none.
        start = np.pad(features.start, (0, max(0, len(self._code_of) - features.bits)), "edge")
        squares: float = learn_tuples(
            records, targets, start, features.feature, len(features.names), self._variable_of,
            self._code_of, len(tuples.radix), tuples.start, tuples.member, tuples.stride, tuples.offset,
            tuples.shared, *weights, rate,
        )  # fmt: skip
        return squares


_MOST = 32_767


class NetLayers:
    """The layers of a net over a game's base propositions.

    Attributes:
        first, first_bias, second, second_bias, third: as :func:`players.knowledge.state_values.add_net` takes
            them.
    """

    def __init__(self, bases: int, columns: int) -> None:
        """A net with output 0."""
        self.first = np.zeros((64 * record_words(bases), HIDDEN), np.int16)
        self.first_bias = np.zeros(HIDDEN, np.int32)
        self.second = np.zeros((HIDDEN, WIDTH), np.float32)
        self.second_bias = np.zeros(WIDTH, np.float32)
        self.third = np.zeros((columns, WIDTH), np.float32)

    def set_weights(self, features: Features, net: LearntNet) -> None:
        """Take the weights of a net over these features."""
        summed = features.weights_of_bases(net.first)
        self.first[: len(summed)] = np.clip(np.rint(summed / UNIT), -_MOST, _MOST)
        self.first_bias = np.clip(np.rint(net.first[0] / UNIT), -(2**30), 2**30).astype(np.int32)
        self.second = np.ascontiguousarray(net.second)
        self.second_bias = np.ascontiguousarray(net.second_bias)
        self.third = np.ascontiguousarray(net.third)

    def add(self, records: NDArray[np.uint64], values: NDArray[np.float32]) -> None:
        """Add to the logits of states, float32, shape (columns, n), and turn them into values of 0..1."""
        layers = self.first, self.first_bias, self.second, self.second_bias, self.third
        _add_net(records, *layers, values)


BATCH = 1024
"""States in one step."""
_DECAY = 0.6
"""Part of its size, times the rate, that a weight loses in each step, so that the net does not learn a few
matches by heart (I. Loshchilov and F. Hutter: Decoupled weight decay regularization, 2019)."""


class NetLearner:
    """Learns a net that adds to linear weights, which are learnt elsewhere.

    Attributes:
        net: the current net.
    """

    def __init__(
        self,
        features: Features,
        bits: int,
        net: LearntNet,
        scale: Floats,
    ) -> None:
        """Goes on from this net over the features of ``bits`` bits. ``scale``, float32, shape (features, 1),
        is their scale in learning (:meth:`players.knowledge.features.Features.scale`)."""
        columns = len(net.third)
        self._features = features
        # The last columns are for the linear weights.
        self._weights = np.zeros((len(features.names), HIDDEN + columns), np.float32)
        self._scale = scale
        self._weights[:, :HIDDEN] = net.first / scale
        self._second, self._bias, self._third = (np.array(array) for array in net.arrays()[1:])
        self._bases = np.zeros((bits + 1, HIDDEN + columns), np.float32)
        learnt = self._weights, self._second, self._bias, self._third
        self._learnt = tuple(array.reshape(-1) for array in learnt)
        self._by_feature = np.zeros_like(self._weights)
        self._by = np.zeros_like(self._bases), *(np.zeros_like(array) for array in learnt[1:])
        self._gradients = tuple(array.reshape(-1) for array in (self._by_feature, *self._by[1:]))
        self._means = tuple(np.zeros_like(array) for array in self._learnt)
        self._squares = tuple(np.zeros_like(array) for array in self._learnt)
        self._steps = 0

    @property
    def net(self) -> LearntNet:
        copies = (array.copy() for array in (self._second, self._bias, self._third))
        return LearntNet(self._weights[:, :HIDDEN] * self._scale, *copies)

    def learn(
        self,
        records: NDArray[np.uint64],
        targets: Floats,
        rows: NDArray[np.int64],
        linear: Floats,
        rate: float,
    ) -> float:
        """Learn from some rows of states, uint64, shape (n, words), and their targets, float32, shape (n,
        columns), BATCH of them a step, with these linear weights, float32, shape (features, columns). Returns
        the sum of the squared errors."""
        squares = 0.0
        self._weights[:, HIDDEN:] = linear / self._scale
        of = self._features.start, self._features.feature, self._scale[:, 0]
        for begin in range(0, len(rows), BATCH):
            part = rows[begin : begin + BATCH]
            sums_of_features(*of, self._weights, self._bases)
            for array in self._by:
                array[...] = 0.0
            squares += gradients(
                records, targets, part, self._bases, self._second, self._bias, self._third, *self._by,
            )  # fmt: skip
            spread_to_features(*of, self._by[0], self._by_feature)
            self._by_feature[:, HIDDEN:] = 0.0
            self._steps += 1
            for arrays in zip(self._learnt, self._gradients, self._means, self._squares, strict=True):
                arrays[1][...] /= len(part)
                adam(*arrays, self._steps, rate)
            for array in (self._weights[:, :HIDDEN], self._second, self._third):
                array *= np.float32(1.0 - _DECAY * rate)
        return squares


class StateValues:
    """The value of states: the logistic function of a sum of weights, one for each true proposition, and, if
    used, one for each derived proposition and each n-tuple, or the output of a net.

    Attributes:
        table, constant: the weights, as :func:`players.knowledge.value_kernels.values_of_states` takes them.
        tuples, net: the tables of n-tuples, or the net, if there are any.
        derived: the derived propositions that have weights, if any do.
    """

    def __init__(
        self,
        bits: int,
        roles: int,
        columns: tuple[int, ...],
        tuples: TupleTables | None = None,
        net: NetLayers | None = None,
        derived: DerivedPropositions | None = None,
    ) -> None:
        """For a game with ``roles`` roles and ``bits`` base propositions, or bits of long records with
        ``derived`` propositions. ``columns`` are the roles that have values of their own: all players' roles,
        or one of two. Tuples and a net exclude each other."""
        self._roles = roles
        self._columns = columns
        self.table = np.zeros((len(columns), 256 * -(-bits // 8)), np.int32)
        self.constant = np.zeros(len(columns), np.int32)
        self.tuples, self.net, self.derived = tuples, net, derived

    def sent(self) -> StateValues:
        """A copy without the derived propositions: the receiver has these, and adds them."""
        sent = copy(self)
        sent.derived = None
        return sent

    def set_weights(self, weights: NDArray[np.float32], constant: NDArray[np.float32]) -> None:
        """Take other weights: float32, shape (bases, columns), and those of all states, shape (columns,)."""
        fill_table(_whole(weights), self.table)
        self.constant = _whole(constant)

    def take(self, other: StateValues) -> None:
        """Take over the weights from other values of the same game."""
        self.table, self.constant = other.table, other.constant
        self.tuples, self.net = other.tuples, other.net

    @property
    def paired(self) -> bool:
        """Whether one of two roles gets what the other does not."""
        return self._roles == 2 and len(self._columns) == 1

    def columns_of(self, records: NDArray[np.uint64]) -> NDArray[np.float32]:
        """Values, 0..1, float32, shape (n, columns), of states: records, uint64, shape (n, words)."""
        if self.derived is not None:
            records = self.derived.long(records)
        values = np.empty((len(self._columns), len(records)), np.float32)
        rows, flags = records, records.flags
        if not (flags.c_contiguous and flags.writeable):  # np.require takes longer than this check
            rows = np.require(records, np.uint64, ["C", "W"])
        more = self.tuples or self.net
        values_of_states(rows, self.table, self.constant, more is not None, values)
        if more is not None:
            more.add(rows, values)
        return values.T

    def of(self, records: NDArray[np.uint64]) -> NDArray[np.float64]:
        """The values of states to each role, 0..1, float64, shape (n, roles)."""
        return self.spread(self.columns_of(records))

    def spread(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        """The values of all roles, float64, shape (n, roles), from those of the columns."""
        result = np.empty((len(values), self._roles))
        if len(self._columns) == 1:
            result[:] = 1.0 - values
        elif len(self._columns) < self._roles:
            result[:] = 0.0  # of chance, which has no goals
        for place, role in enumerate(self._columns):
            result[:, role] = values[:, place]
        return result


def _whole(weights: NDArray[np.float32]) -> NDArray[np.int32]:
    """Weights as whole numbers, in the units of the kernels."""
    clipped = np.clip(weights, -MOST_WEIGHT, MOST_WEIGHT)
    return np.ascontiguousarray(np.rint(clipped * SCALE), np.int32)


def values_by(
    known: GameKnowledge, names: CanonicalNames, machine: PropnetMachine, derive: Derive = derived_network
) -> StateValues:
    """The values of the states of a machine's game by ``known``; ``derive`` makes the network of derived
    propositions. Raises KnowledgeError if the knowledge does not fit the game's roles, propositions or
    relations, and the errors of ``derive``."""
    network = machine.network
    roles = [names.key(role) for role in network.roles]
    players = playing(network.roles)
    fits = _column_count_fits(len(known.columns), len(players))
    if not set(known.columns) <= {roles[role] for role in players} or not fits:
        raise KnowledgeError("it is knowledge of other roles", remedy="train the game again")
    derived = derived_of(machine, names, known.derived, derive) if known.derived else None
    features = features_of(machine, names, None if known.tables is not None else derived)
    weights = features.arranged(known)[0]
    tuples = None
    if known.tables is not None:
        tuples = TupleTables(known.tables.tuples, network.bases, names, len(known.columns), derived)
        tuples.set_weights(known.tables.weights)
    net = None
    if known.net is not None:
        net = NetLayers(features.bits, len(known.columns))
        net.set_weights(features, features.arranged_net(known))
    columns = tuple(roles.index(column) for column in known.columns)
    values = StateValues(features.bits, len(roles), columns, tuples, net, derived)
    values.set_weights(features.weights_of_bases(weights), weights[0])
    return values


def features_of(
    machine: PropnetMachine, names: CanonicalNames, derived: DerivedPropositions | None
) -> Features:
    """The features of a machine's states, with those of derived propositions if there are any. Raises
    KnowledgeError for games that are too large."""
    bases = machine.network.bases
    if derived is None:
        return Features.of(bases, names)
    return Features.of(derived.propositions, names, len(bases))


def _column_count_fits(columns: int, roles: int) -> bool:
    """Whether this many roles with players may have this many columns of values."""
    return columns == roles or (columns == 1 and roles == 2)


def warm_up() -> None:
    """Compile the kernels of values."""
    names = CanonicalNames("", {})
    tuples = NTuples.of([[("a", 1)], [("b", 1)]], [2, 2], [(0, 1)], [0], [True])
    tables = TupleTables(tuples, (Term("a"), Term("b")), names, 1)
    for more in ((None, None), (tables, None), (None, NetLayers(1, 1))):
        values = StateValues(1, 1, (0,), *more)
        values.set_weights(np.zeros((1, 1), np.float32), np.zeros(1, np.float32))
        values.of(np.zeros((1, 1), np.uint64))
