"""How many states are still to come, from the sizes of the layers so far.

In a puzzle whose states are finite the logarithm of the size of a layer rises, bends and falls about as a
parabola does. That tells something as soon as the layers hardly grow any more; before, a small error in the
bend is a large one in the sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

_SEEN = 7
"""How many of the last layers tell how it goes on."""
_FEWEST = 6
_GROWTH = 0.25
"""Logarithm of the factor from layer to layer above which there is no estimate."""
_DEEPEST = 100_000


def states_to_come(layers: Sequence[int]) -> float | None:
    """About how many states the layers after the last one have, all together. None where the layers do not
    tell: they are too few, or still grow too fast."""
    sizes = np.array(layers[-_SEEN:], np.float64)
    if len(sizes) < _FEWEST or sizes.min() < 1:
        return None
    square, slope, _ = np.polyfit(np.arange(1 - len(sizes), 1), np.log(sizes), 2)
    if slope > _GROWTH or (square > -1e-6 and slope >= 0):
        return None
    total, last = 0.0, math.log(sizes[-1])
    for ahead in range(1, _DEEPEST):
        size = last + slope * ahead + min(square, 0.0) * ahead * ahead
        if size < 0:
            break
        if size > 60:
            return None
        total += math.exp(size)
    return total
