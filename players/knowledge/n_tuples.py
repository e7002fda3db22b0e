"""`NTuples`: groups of variables that are looked at together, and the place of a state's entry in a table.

A tuple has an entry for each combination of its variables' values. Its weight is the sum of the tuple's own
weight and that of its shape. Tuples that differ only in their place on the board share the weights of a
shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]

_MOST_VARIABLES = 20_000
_MOST_MEMBERS = 20_000
MOST_ENTRIES = 1 << 15
"""Most entries of one tuple: their places are counted in 16 bits."""
_MOST_OWN = 1 << 20
"""Most entries of all tables together that a file may ask for."""


@dataclass(frozen=True, eq=False)
class NTuples:
    """The tuples of a game.

    Attributes:
        names: propositions by canonical names.
        variable, code: int32, shape (names,): the variable of each proposition, and the variable's value,
            from 1, if the proposition holds; 0 if none does.
        radix: int32, shape (variables,): number of values of each variable.
        start, member: int32, shape (tuples + 1,) and (members,): tuple t has the variables
            ``member[start[t]:start[t + 1]]``; the first one's value counts least in the place of an entry.
        shape: int32, shape (tuples,): tuples with the same number share weights.
        ordered: int32, shape (shapes,): 1 if entries are shared place by place, 0 if the order of the values
            does not matter (except the last one's if it has another radix).
    """

    names: tuple[str, ...]
    variable: Ints
    code: Ints
    radix: Ints
    start: Ints
    member: Ints
    shape: Ints
    ordered: Ints

    @staticmethod
    def of(
        variables: list[list[tuple[str, int]]],
        radix: list[int],
        tuples: list[tuple[int, ...]],
        shapes: list[int],
        ordered: list[bool],
    ) -> NTuples:
        """Tuples of variables, each with the names and codes of its propositions."""
        used = sorted({member for members in tuples for member in members})
        place = {variable: number for number, variable in enumerate(used)}
        rows = [(name, place[v], code) for v in used for name, code in variables[v]]
        return NTuples(
            tuple(name for name, _, _ in rows),
            np.array([number for _, number, _ in rows], np.int32),
            np.array([code for _, _, code in rows], np.int32),
            np.array([radix[v] for v in used], np.int32),
            np.cumsum([0, *map(len, tuples)]).astype(np.int32),
            np.array([place[member] for members in tuples for member in members], np.int32),
            np.array(shapes, np.int32),
            np.array(ordered, np.int32),
        )

    def arrays(self) -> tuple[Ints, ...]:
        """All arrays, in the order of the file format."""
        return self.variable, self.code, self.radix, self.start, self.member, self.shape, self.ordered

    def check(self) -> None:
        """Raises ValueError if the arrays do not fit together, or the tables are too large."""
        members, shapes = len(self.member), len(self.ordered)
        if not 1 <= len(self.radix) <= _MOST_VARIABLES or not 1 <= members <= _MOST_MEMBERS:
            raise ValueError("it has no tuples, or too many")
        fits = (
            len(self.names) == len(self.variable) == len(self.code) > 0
            and len(set(self.names)) == len(self.names)
            and self.start[0] == 0
            and self.start[-1] == members
            and _within(self.start, 0, members + 1)
            and (np.diff(self.start) > 0).all()
            and len(self.shape) == len(self.start) - 1
            and all(_within(array, 0, len(self.radix)) for array in (self.variable, self.member))
            and _within(self.radix, 2, 1 << 10)
            and _within(self.shape, 0, shapes)
            and _within(self.ordered, 0, 2)
            and (self.code >= 1).all()
            and (self.code < self.radix[self.variable]).all()
        )
        if not fits:
            raise ValueError("its tuples do not fit together")
        if not self.fits:
            raise ValueError("its tables are too large")
        if any(
            len({self._form(t) for t in np.flatnonzero(self.shape == s).tolist()}) != 1 for s in range(shapes)
        ):
            raise ValueError("tuples of the same shape have different variables")

    @property
    def fits(self) -> bool:
        """Whether its tables are small enough."""
        return max(self._sizes()) <= MOST_ENTRIES and sum(self._sizes()) <= _MOST_OWN

    def members_of(self, number: int) -> list[int]:
        """The variables of a tuple."""
        found: list[int] = self.member[self.start[number] : self.start[number + 1]].tolist()
        return found

    def _form(self, number: int) -> tuple[int, ...]:
        """The radixes of a tuple's variables."""
        return tuple(int(self.radix[member]) for member in self.members_of(number))

    def _sizes(self) -> list[int]:
        """Number of entries of each tuple."""
        sizes = []
        for number in range(len(self.shape)):
            size = 1
            for radix in self._form(number):
                size = min(size * radix, MOST_ENTRIES + 1)
            sizes.append(size)
        return sizes

    @cached_property
    def stride(self) -> Ints:
        """int32, shape (members,): factor of each member's value in the place of an entry."""
        found = []
        for number in range(len(self.shape)):
            found += [1, *np.cumprod(self._form(number))[:-1].tolist()]
        return np.array(found, np.int32)

    @cached_property
    def offset(self) -> Ints:
        """int32, shape (tuples + 1,): the first entry of each tuple."""
        return np.cumsum([0, *self._sizes()]).astype(np.int32)

    @cached_property
    def shared(self) -> Ints:
        """int32, shape (own entries,): the shape's entry that belongs to each tuple's entry; the shapes'
        entries come after the tuples' own ones."""
        found = np.empty(self.offset[-1], np.int32)
        begin: dict[int, int] = {}
        at = int(self.offset[-1])
        for number, shape in enumerate(self.shape.tolist()):
            low, high = self.offset[number], self.offset[number + 1]
            if shape not in begin:
                begin[shape], at = at, at + int(high - low)
            inside = np.arange(high - low) if self.ordered[shape] else _sorted_entries(self._form(number))
            found[low:high] = begin[shape] + inside
        return found

    @property
    def entries(self) -> int:
        """Number of weights: of tuples, then of shapes."""
        sizes = dict(zip(self.shape.tolist(), np.diff(self.offset).tolist(), strict=True))
        return int(self.offset[-1]) + sum(sizes.values())


def _within(array: Ints, low: int, high: int) -> bool:
    return bool(((array >= low) & (array < high)).all())


def _sorted_entries(form: tuple[int, ...]) -> NDArray[np.int64]:
    """For each entry the one with the same values in ascending order; a last variable with another radix
    stays in its place."""
    alike = len(form) if len(set(form)) == 1 else len(form) - 1
    if len(set(form[:alike])) > 1:
        return np.arange(int(np.prod(form)))
    # The first value counts least: it is the last axis of the array.
    values = np.array(np.unravel_index(np.arange(int(np.prod(form))), form[::-1]))[::-1]
    values[:alike] = np.sort(values[:alike], axis=0)
    return np.asarray(np.ravel_multi_index(tuple(values[::-1]), form[::-1]))
