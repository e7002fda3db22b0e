"""Kernels: which way the weights of a small net are to go, and Adam's steps (D. Kingma and J. Ba, 2015)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.knowledge.learnt_net import HIDDEN, WIDTH
from players.knowledge.value_kernels import Singles
from propnet.jit.arrays import Int32s, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import lowest_bit

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

    ``bases``: float32, shape (bases + 1, HIDDEN + columns): what each proposition adds to the
    first layer and to the logits; the last row is for all states. ``second`` and so on:
    :class:`players.knowledge.learnt_net.LearntNet`. ``by_...``: the gradients, of these shapes.
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
    """Fill in what propositions add, float32, shape (bases + 1, width), of the weights of features, shape
    (features, width): proposition b has ``feature[start[b]:start[b + 1]]``, each as much as its ``scale``,
    float32, shape (features,), all states have feature 0."""
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
    """The reverse, for gradients: fill in those of features of those of propositions, shapes as above."""
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
    """One step of weights, all float32 of shape (n,), number ``step`` from 1 on; the running ``mean`` and
    ``square`` of gradients are brought up to date."""
    scale = rate * math.sqrt(1.0 - _BETA2**step) / (1.0 - _BETA1**step)
    one, keep1, keep2 = np.float32(1.0), np.float32(_BETA1), np.float32(_BETA2)
    for i in range(weights.size):
        mean[i] = keep1 * mean[i] + (one - keep1) * gradient[i]
        square[i] = keep2 * square[i] + (one - keep2) * gradient[i] * gradient[i]
        weights[i] -= np.float32(scale) * mean[i] / (np.float32(math.sqrt(square[i])) + np.float32(_EPSILON))
