"""What projections tell each other: a configuration that leads to the goal has a part that does so in every
smaller projection, and a continuation that does so in every larger one (k-consistency: E. Freuder,
Synthesizing constraint expressions, 1978).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator
from itertools import combinations

import numpy as np

from propnet.dead_sets.projections import Bits, Projection

_AT_ONCE = 300

Known = dict[tuple[int, ...], Projection]


def spread_in(smaller: Projection, numbers: tuple[int, ...]) -> Bits:
    """What is open in a smaller projection, with the axes of a larger one; those that it lacks have length
    1."""
    axes = tuple(place for place, n in enumerate(numbers) if n not in smaller.variables)
    return np.expand_dims(smaller.open, axes)


def parts(numbers: tuple[int, ...], known: Known) -> list[Projection]:
    """The known projections onto some of these variables, but not all."""
    sizes = range(1, len(numbers))
    return [known[some] for size in sizes for some in combinations(numbers, size) if some in known]


def tighten(known: Known) -> Generator[None, None, set[tuple[int, ...]]]:
    """Yields now and then. Closes configurations (in place) that do not fit others, until nothing changes.
    Returns the projections in which some were closed."""
    above: defaultdict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
    below: dict[tuple[int, ...], list[Projection]] = {}
    for done, numbers in enumerate(known):
        if done % _AT_ONCE == 0:
            yield
        below[numbers] = parts(numbers, known)
    for done, (numbers, smaller) in enumerate(below.items()):
        if done % _AT_ONCE == 0:
            yield
        for part in smaller:
            above[part.variables].append(numbers)
    waiting = dict.fromkeys(sorted((numbers for numbers in known if below[numbers]), key=len))
    changed: set[tuple[int, ...]] = set()
    done = 0
    while waiting:
        done += 1
        if done % _AT_ONCE == 0:
            yield
        numbers = next(iter(waiting))
        del waiting[numbers]
        projection = known[numbers]
        before = np.count_nonzero(projection.open)
        for part in below[numbers]:
            projection.open[...] &= spread_in(part, numbers)
        if np.count_nonzero(projection.open) < before:
            changed.add(numbers)
            waiting.update(dict.fromkeys(above[numbers]))
        for part in below[numbers]:
            axes = tuple(place for place, n in enumerate(numbers) if n not in part.variables)
            kept = part.open & projection.open.any(axis=axes)
            if (kept != part.open).any():
                part.open[...] = kept
                changed.add(part.variables)
                waiting.update(dict.fromkeys(above[part.variables]))
                if below[part.variables]:
                    waiting[part.variables] = None
    return changed
