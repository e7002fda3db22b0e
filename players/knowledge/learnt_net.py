"""`LearntNet`: the weights of a small net, by features of the game (:mod:`players.knowledge.features`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

HIDDEN = 64
"""Units of the first layer: 32 for each of two roles."""
WIDTH = 16
"""Units of the second layer."""
Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class LearntNet:
    """The net's weights: what it says is added to the logit of a state by linear weights.

    A unit of the first layer has the sum of the weights of the features of the propositions that are true,
    and of the constant feature, cut to 0..1; one of the second layer what these and its bias add up to, or
    0 where that is less.

    Attributes:
        first: float32, shape (features, HIDDEN).
        second, second_bias: float32, shapes (HIDDEN, WIDTH) and (WIDTH,).
        third: float32, shape (columns, WIDTH).
    """

    first: Floats
    second: Floats
    second_bias: Floats
    third: Floats

    def arrays(self) -> tuple[Floats, ...]:
        """All of them in this order."""
        return self.first, self.second, self.second_bias, self.third

    @staticmethod
    def shapes(features: int, columns: int) -> tuple[tuple[int, ...], ...]:
        """The shapes of the arrays of a net of so many features and columns."""
        return (features, HIDDEN), (HIDDEN, WIDTH), (WIDTH,), (columns, WIDTH)

    @staticmethod
    def new(features: int, columns: int, rng: np.random.Generator) -> LearntNet:
        """One that says nothing yet, with units that differ by chance."""
        first = rng.normal(0.0, _SPREAD, (features, HIDDEN)).astype(np.float32)
        first[0] = rng.uniform(0.0, 0.5, HIDDEN)
        return LearntNet(
            first,
            rng.normal(0.0, (2.0 / HIDDEN) ** 0.5, (HIDDEN, WIDTH)).astype(np.float32),
            np.full(WIDTH, 0.1, np.float32),
            np.zeros((columns, WIDTH), np.float32),
        )


_SPREAD = 0.02
"""The standard deviation of new weights of a feature: a proposition has some eight features, and some forty
propositions are true."""
