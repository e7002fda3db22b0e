"""Logistic regression on packed states, with weights shared by propositions of like shape.

Majorized Newton steps (Boehning and Lindsay 1988), each solved by preconditioned conjugate gradients
(Hestenes and Stiefel 1952). Products with the matrix of propositions go through tables of octets.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term
from players.evaluation import BITS, chances, tables_of
from players.evaluation_kernel import add_back, add_up

_RIDGE = 20.0
"""What a weight of 1 costs, in units of the loss of a position."""
_NEWTON = 4
_GRADIENTS = 10
_CURVATURE = 0.15
"""The logistic curve is taken to bend so much at least, so that no step goes too far; 0.25 is the most."""
_MOST_ARGUMENTS = 4

Vector = NDArray[np.float64]


class Features:
    """Parameters for the bits of a record: one for each bit, and one for all propositions that agree in
    some of their arguments (all with this piece, all in this row, all with this piece in this row...).

    A proposition's weight is the sum of its parameters. So what was seldom seen is taken to be worth as
    much as what is like it.

    Attributes:
        bits: bits of a record, those past the last proposition included.
        count: parameters.
    """

    def __init__(self, bases: Sequence[Term], words: int) -> None:
        self.bits = 64 * words
        numbers: dict[tuple[object, ...], int] = {}
        members: list[int] = []
        shapes: list[int] = []
        for bit, term in enumerate(bases):
            arguments = len(term.args)
            sizes = range(arguments) if arguments <= _MOST_ARGUMENTS else range(1)
            for places in itertools.chain.from_iterable(
                itertools.combinations(range(arguments), size) for size in sizes
            ):
                shape = (term.name, arguments, places, *(term.args[place] for place in places))
                members.append(bit)
                shapes.append(numbers.setdefault(shape, len(numbers)))
        self._members = np.array(members, np.int64)
        self._shapes = np.array(shapes, np.int64)
        self.count = self.bits + len(numbers)

    def weights(self, parameters: Vector) -> Vector:
        """The weights (bits,) that parameters (count,) make."""
        shared = parameters[self.bits :][self._shapes]
        return parameters[: self.bits] + np.bincount(self._members, shared, self.bits)

    def gradient(self, by_bit: Vector) -> Vector:
        """The reverse: from what each weight (bits,) does to what each parameter does."""
        shared = np.bincount(self._shapes, by_bit[self._members], self.count - self.bits)
        return np.concatenate([by_bit, shared])


def fit(
    features: Features,
    records: NDArray[np.uint64],
    results: Vector,
    start: Vector,
    late: Callable[[], bool],
) -> Vector:
    """Parameters (count,) by which the logistic function of a record's sum of weights foretells results.

    Args:
        records: (n, words).
        results: (n,), 0..1.
        start: parameters to begin with.
        late: is asked now and then whether to stop with what there is.
    """
    sums = np.empty((len(records), 1), np.float32)

    def project(parameters: Vector) -> Vector:
        add_up(tables_of(features.weights(parameters)[None, :]), records, sums)
        return sums[:, 0].astype(np.float64)

    def gather(amounts: Vector) -> Vector:
        counts = np.zeros((8 * records.shape[1], 256), np.float32)
        add_back(records, amounts.astype(np.float32), counts)
        return features.gradient((counts @ BITS).reshape(-1).astype(np.float64))

    parameters = start
    for _ in range(_NEWTON):
        expected = chances(project(parameters).astype(np.float32))
        slope = gather(results - expected) - _RIDGE * parameters
        bend = np.maximum(expected * (1 - expected), _CURVATURE)
        scale = gather(bend) + _RIDGE
        step = np.zeros_like(slope)
        rest, direction = slope, slope / scale
        product = float(rest @ direction)
        for _ in range(_GRADIENTS):
            if late() or product < 1e-9:
                break
            turned = gather(bend * project(direction)) + _RIDGE * direction
            length = product / float(direction @ turned)
            step = step + length * direction
            rest = rest - length * turned
            scaled = rest / scale
            before, product = product, float(rest @ scaled)
            direction = scaled + product / before * direction
        parameters = parameters + step
        if late():
            break
    return parameters
