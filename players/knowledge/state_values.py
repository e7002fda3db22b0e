"""`StateValues`: learnt values of states to each role, for many states at once, by linear weights or small
nets.

With weights, packed rows are gathered. A byte of a record says which of eight propositions hold; a table has
the sum of their weights for each byte and each of its 256 values.

The net's first layer is updated from state to state (Y. Nasu: Efficiently updatable neural-network-based
evaluation functions for computer shogi, 2018). Its sums are whole numbers, so that adding and subtracting
leaves no rounding errors, in any order. The second layer is a vector of 16 floats, held in registers. numba
keeps the sums of such a layer in memory, which makes them several times as slow; LLVM maps a vector to one or
more registers, on any processor.
"""

# mypy: disallow-untyped-calls=False
# (numba and llvmlite have no types)

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from gdl.information import playing
from players.knowledge.canonical_rules import CanonicalNames
from players.knowledge.features import CONSTANT, Features
from players.knowledge.knowledge import WIDTH, Floats, GameKnowledge, KnowledgeError, LearntNet
from propnet.jit.arrays import Int32s, Words
from propnet.jit.decorators import inlined, kernel
from propnet.jit.vector512 import PointerType, item, lowest_bit, put, raw
from propnet.kernels.records import record_words
from propnet.machine import PropnetMachine

SCALE = 1 << 16
"""Weights are added as whole numbers, in units of 1 / SCALE logits: that is exact, and no addition waits long
for the one before."""
MOST_WEIGHT = 1000.0
"""Most logits of a proposition: eight of them fit into 32 bits, and their sums are taken in 64."""
VECTORS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""Options of kernels that divide: a check for zero divisors would keep them from using vectors."""
_UNIT = np.float32(1.0 / SCALE)
_HALF = np.float32(0.5)
_FLAT = np.float32(7.90531110763549805)
"""Beyond this, tanh is 1 in float precision."""
_A1, _A3, _A5 = (
    np.float32(4.89352455891786e-03),
    np.float32(6.37261928875436e-04),
    np.float32(1.48572235717979e-05),
)
_A7, _A9 = np.float32(5.12229709037114e-08), np.float32(-8.60467152213735e-11)
_A11, _A13 = np.float32(2.00018790482477e-13), np.float32(-2.76076847742355e-16)
_B0, _B2 = np.float32(4.89352518554385e-03), np.float32(2.26843463243900e-03)
_B4, _B6 = np.float32(1.18534705686654e-04), np.float32(1.19825839466702e-06)
"""Coefficients of tanh's numerator and denominator, as in the linear algebra library Eigen (G. Guennebaud and
B. Jacob, 2010)."""


@kernel(**VECTORS)
def values_of_states(records: Words, table: Int32s, constant: Int32s, values: Floats) -> None:
    """Fill in the values by weights, 0..1, float32, shape (columns, n), of states: records, uint64, shape
    (n, words).

    ``table``: int32, shape (columns, bytes * 256), logits in units of 1 / SCALE; entry ``256 * i + b`` is for
    byte i of a record with the value b. Bytes of records past these are ignored. ``constant``: int32, shape
    (columns,), the logits of all states.
    """
    rows, words = np.int64(records.shape[0]), np.int64(records.shape[1])
    column_size = np.int64(table.shape[1])
    octets = column_size // 256
    whole = octets // 8
    for column in range(table.shape[0]):
        first = column * column_size
        for row in range(rows):
            total = np.int64(constant[column])
            at = first
            for word in range(whole):
                bits = item(records, row * words + word)
                if bits != 0:
                    # All eight at once: a test for bytes that are 0 would be mispredicted too often.
                    for octet in range(8):
                        byte = (bits >> np.uint64(8 * octet)) & np.uint64(255)
                        total += item(table, at + 256 * octet + np.int64(byte))
                at += 2048
            if octets > 8 * whole:
                bits = item(records, row * words + whole)
                for _ in range(octets - 8 * whole):
                    total += item(table, at + np.int64(bits & np.uint64(255)))
                    bits >>= np.uint64(8)
                    at += 256
            put(values, column * rows + row, np.float32(total) * _UNIT)
    for i in range(table.shape[0] * rows):
        put(values, i, logistic(item(values, i)))


@inlined
def logistic(logit: np.float32) -> np.float32:
    """1 / (1 + exp(-x)) to seven digits, without a branch: (1 + tanh(x / 2)) / 2 by a rational function."""
    half = min(max(logit * _HALF, -_FLAT), _FLAT)
    square = half * half
    above = half * (
        _A1
        + square * (_A3 + square * (_A5 + square * (_A7 + square * (_A9 + square * (_A11 + square * _A13)))))
    )
    below = _B0 + square * (_B2 + square * (_B4 + square * _B6))
    return _HALF + _HALF * (above / below)


def _table(weights: NDArray[np.int32]) -> Int32s:
    """The table, int32, shape (columns, bytes * 256), from the weights of propositions, int32, shape (bases,
    columns). Propositions past the last one weigh nothing."""
    bases, columns = weights.shape
    octets = -(-bases // 8)
    of_bits = np.zeros((octets, 8, columns), np.int32)
    of_bits.reshape(-1, columns)[:bases] = weights
    table = np.zeros((columns, octets, 256), np.int32)
    for bit in range(8):
        size = 1 << bit
        table[:, :, size : 2 * size] = table[:, :, :size] + of_bits[:, bit].T[:, :, None]
    return table.reshape(columns, -1)


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
def net_values(
    records: Words,
    first: NDArray[np.int16],
    first_bias: NDArray[Any],
    second: Floats,
    second_bias: Floats,
    third: Floats,
    values: Floats,
) -> None:
    """Fill in the net's values, 0..1, float32, shape (columns, n), of states: records, uint64, shape (n,
    words).

    ``first``: int16, shape (64 * words, units), in units of UNIT; ``first_bias``: int32 or int16, shape
    (units,). Sums are of its type and must fit in it; those of int16 take half as long. They are cut to 0..1.
    ``second``: float32, shape (units, WIDTH), its bias (WIDTH,); ``third``: float32, shape (columns, WIDTH).
    """
    size = np.int64(second.shape[0])
    rows, words = np.int64(records.shape[0]), np.int64(records.shape[1])
    sums = np.empty(size, first_bias.dtype)
    narrow = first_bias.dtype.type
    units = np.empty(size, np.float32)
    outputs = np.empty(WIDTH, np.float32)
    for i in range(size):
        put(sums, i, item(first_bias, i))
    unit, none, one = np.float32(UNIT), np.float32(0.0), np.float32(1.0)
    for row in range(rows):
        for word in range(words):
            bits = item(records, row * words + word)
            changed = bits ^ item(records, (row - 1) * words + word) if row else bits
            while changed:
                place = lowest_bit(changed)
                at = (64 * word + place) * size
                if (bits >> np.uint64(place)) & np.uint64(1):
                    for i in range(size):
                        put(sums, i, narrow(item(sums, i) + item(first, at + i)))
                else:
                    for i in range(size):
                        put(sums, i, narrow(item(sums, i) - item(first, at + i)))
                changed &= changed - np.uint64(1)
        for i in range(size):
            put(units, i, min(max(np.float32(item(sums, i)) * unit, none), one))
        layer(raw(units), raw(second), raw(second_bias), raw(outputs), size)
        for column in range(values.shape[0]):
            total = none
            for i in range(WIDTH):
                total += item(outputs, i) * item(third, column * WIDTH + i)
            put(values, column * rows + row, total)
    for i in range(values.shape[0] * rows):
        put(values, i, logistic(item(values, i)))


_MOST = 32_767


class StateValues:
    """The value of states: the logistic function of a sum of weights, one for each true proposition, or of
    the output of a net.

    Attributes:
        table, constant: the weights, as :func:`players.knowledge.state_values.values_of_states` takes them.
        net: the arrays of the net, as :func:`players.knowledge.state_values.net_values` takes them; None
            without one. With one, the weights do not count.
    """

    def __init__(self, bases: int, roles: int, columns: tuple[int, ...]) -> None:
        """All values are one half. For a game with ``roles`` roles and ``bases`` base propositions.
        ``columns`` are the roles that have values of their own: all players' roles, or one of two."""
        self._bases, self._roles, self._columns = bases, roles, columns
        self.table = np.zeros((len(columns), 256 * -(-bases // 8)), np.int32)
        self.constant = np.zeros(len(columns), np.int32)
        self.net: tuple[NDArray[np.int16], NDArray[Any], Floats, Floats, Floats] | None = None

    @staticmethod
    def of_game(knowledge: GameKnowledge, names: CanonicalNames, machine: PropnetMachine) -> StateValues:
        """The values of the states of a machine's game. Raises KnowledgeError if the knowledge does not fit
        the game's roles."""
        roles, players = [names.key(role) for role in machine.roles], playing(machine.roles)
        count = len(knowledge.columns)
        fits = count == len(players) or (count == 1 and len(players) == 2)
        if not fits or not set(knowledge.columns) <= {roles[role] for role in players}:
            raise KnowledgeError("it is knowledge of other roles", remedy="train the game again")
        features = Features.of(machine.network.bases, names)
        values = StateValues(features.bases, len(roles), tuple(map(roles.index, knowledge.columns)))
        arranged = features.arranged(knowledge)
        if arranged.net is not None and knowledge.net_used:
            values.set_net(features, arranged.net)
        else:
            values.set_weights(features, arranged.weights)
        return values

    def set_weights(self, features: Features, weights: Floats) -> None:
        """Take other weights, float32, shape (features, columns)."""
        self.table = _table(_whole(features.weights_of_bases(weights)))
        self.constant = _whole(weights[0])

    def set_net(self, features: Features, net: LearntNet) -> None:
        """Take another net over these features."""
        first = np.zeros((64 * record_words(self._bases), net.units), np.int16)
        summed = features.weights_of_bases(net.first)
        first[: len(summed)] = np.clip(np.rint(summed / UNIT), -_MOST, _MOST)
        bias = np.clip(np.rint(net.first[0] / UNIT), -(2**30), 2**30).astype(np.int32)
        highest = bias + np.maximum(first, 0).sum(axis=0, dtype=np.int64)
        lowest = bias + np.minimum(first, 0).sum(axis=0, dtype=np.int64)
        if lowest.min() >= -_MOST and highest.max() <= _MOST:
            bias = bias.astype(np.int16)
        second, second_bias, third = map(np.ascontiguousarray, net.arrays()[1:])
        self.net = first, bias, second, second_bias, third

    def take(self, other: StateValues) -> None:
        """Take over the weights and the net from other values of the same game."""
        self.table, self.constant, self.net = other.table, other.constant, other.net

    @property
    def paired(self) -> bool:
        """Whether one of two players' roles gets what the other does not."""
        return self._roles > 1 and len(self._columns) == 1

    def columns_of(self, records: NDArray[np.uint64]) -> NDArray[np.float32]:
        """Values, 0..1, float32, shape (n, columns), of states: records, uint64, shape (n, words)."""
        values = np.zeros((len(self._columns), len(records)), np.float32)
        rows, flags = records, records.flags
        if not (flags.c_contiguous and flags.writeable):  # np.require takes longer than this check
            rows = np.require(records, np.uint64, ["C", "W"])
        if self.net is None:
            values_of_states(rows, self.table, self.constant, values)
        else:
            net_values(rows, *self.net, values)
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


def warm_up() -> None:
    """Compile the kernels of values."""
    features = Features((CONSTANT,), np.zeros(2, np.int32), np.zeros(0, np.int32))
    values = StateValues(1, 1, (0,))
    values.set_weights(features, np.zeros((1, 1), np.float32))
    net = LearntNet.new(1, 1, np.random.default_rng())
    values.of(np.zeros((1, 1), np.uint64))
    for many in (1, _MOST):  # sums of 16 bits, and of 32
        values.set_net(features, replace(net, first=many * net.first))
        values.of(np.zeros((1, 1), np.uint64))
