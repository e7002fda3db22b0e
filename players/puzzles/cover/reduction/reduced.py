"""`ReducedProblem`: a smaller problem, and how its solutions become those of the original one."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.problem import CoverError, CoverProblem

_MOST_AT_ONCE = 1_000_000
"""Solutions of the original problem that one of the reduced problem may stand for."""


@dataclass(frozen=True, eq=False, slots=True)
class ReducedProblem:
    """A problem whose solutions stand for those of another one.

    Attributes:
        problem: the smaller problem, in which each option has an item; None if there is no solution.
        groups: for each of its options the options it stands for, of which a solution has one; None where
            the options are those of the original problem.
        always: options that all solutions have, int32.
        statistics: what the reduction brought, numbers by name.
    """

    problem: CoverProblem | None
    groups: list[NDArray[np.int32]] | None = None
    always: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    statistics: dict[str, int] = field(default_factory=dict)

    @property
    def weighted(self) -> bool:
        """Whether a solution may stand for several."""
        return self.groups is not None and any(len(group) > 1 for group in self.groups)

    def counted(self, solutions: list[NDArray[np.int32]]) -> int:
        """How many solutions of the original problem these stand for."""
        if self.groups is None or not solutions:
            return len(solutions)
        sizes = np.array([len(group) for group in self.groups], np.int64)
        ends = np.cumsum([len(solution) for solution in solutions])
        factors = sizes[np.concatenate(solutions)] if ends[-1] else np.zeros(0, np.int64)
        starts = np.concatenate(([0], ends[:-1]))
        # No product is larger than the largest factor to the power of the longest solution.
        bits = float(np.log2(factors.max(initial=1))) * int((ends - starts).max())
        if bits < 62 and (ends > starts).all():
            return int(np.multiply.reduceat(factors, starts).astype(object).sum())
        return sum(prod(factors[a:b].tolist()) for a, b in zip(starts, ends, strict=True))

    def expanded(self, solutions: list[NDArray[np.int32]]) -> list[NDArray[np.int32]]:
        """The solutions of the original problem that these stand for; sorted int32 each, as they are. Raises
        CoverError where one stands for more than fit into memory."""
        if self.groups is None or not solutions:
            return solutions
        if not self.weighted:
            names = np.array([group[0] for group in self.groups], np.int32)
            ends = np.cumsum([len(solution) for solution in solutions]).tolist()
            flat = names[np.concatenate(solutions)]
            parts = [flat[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
            if len(self.always):
                return [np.sort(np.concatenate((part, self.always))) for part in parts]
            # Options keep their order, so these are sorted.
            return parts
        whole: list[NDArray[np.int32]] = []
        for solution in solutions:
            choices = [self.groups[option].tolist() for option in solution.tolist()]
            if prod(map(len, choices)) > _MOST_AT_ONCE:
                raise CoverError(
                    "equal options make millions of solutions out of one",
                    remedy="count them (--count), or leave equal options out",
                )
            for picked in product(*choices):
                whole.append(np.sort(np.array((*picked, *self.always.tolist()), np.int32)))
        return whole
