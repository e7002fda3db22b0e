"""`ProblemBuilder`: items and options, one after the other as a file has them, become a cover problem."""

from __future__ import annotations

import numpy as np

from gdl.errors import Place
from gdl.visible import visible
from players.puzzles.cover.problem import CoverError, CoverProblem

_MOST = 2**31 - 1


class ProblemBuilder:
    """Collects items and options; what is wrong with one is said at the place that the caller gives."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.number: dict[str, int] = {}
        self._minimum: list[int] = []
        self._maximum: list[int] = []
        self._may_be_hole: list[bool] = []
        self._starts = [0]
        self._nodes: list[int] = []
        self._weights: list[int] = []
        self._colours: list[int] = []
        self._shades: dict[str, int] = {}
        self._names: list[str] = []
        self._last: list[int] = []
        """For each item the option that it was last seen in."""

    def wrong(self, message: str, remedy: str, place: Place | None) -> CoverError:
        """The error to be raised for what is wrong at a place."""
        return CoverError(message, place, remedy, self.source)

    def item(
        self, name: str, low: int, high: int, *, may_be_hole: bool = False, place: Place | None = None
    ) -> None:
        """An item with its bounds. Raises CoverError."""
        if not name.isprintable():
            raise self.wrong(
                f"the item {name[:40]!r} has a character that is not printable", "remove it", place
            )
        if name in self.number:
            raise self.wrong(f"the item {name[:40]!r} is there twice", "give each a name of its own", place)
        if not 0 <= low <= high <= _MOST:
            remedy = "0 <= minimum <= maximum < 2147483648"
            raise self.wrong(f"the bounds {low} and {high} of {name[:40]!r} are none", remedy, place)
        self.number[name] = len(self._minimum)
        self._minimum.append(low)
        self._maximum.append(high)
        self._may_be_hole.append(may_be_hole)
        self._last.append(-1)

    def node(
        self, name: str, *, weight: int = 1, colour: str | None = None, place: Place | None = None
    ) -> int:
        """A node of the option that is being read. Returns the item's number. Raises CoverError."""
        item = self.number.get(name)
        if item is None:
            raise self.wrong(f"{name[:40]!r} is no item", "name it where the items are", place)
        if self._last[item] == len(self._names):
            raise self.wrong(f"{name[:40]!r} stands twice in an option", "leave one out", place)
        if colour is not None and self._minimum[item] > 0:
            raise self.wrong(
                f"the item {name[:40]!r} has a colour here, but a minimum above 0", "make it optional", place
            )
        if not 1 <= weight <= _MOST:
            raise self.wrong(f"the weight {weight} is none", "1 to 2147483647", place)
        self._last[item] = len(self._names)
        self._nodes.append(item)
        self._weights.append(weight)
        self._colours.append(0 if colour is None else self._shades.setdefault(colour, len(self._shades) + 1))
        return item

    def never(self) -> None:
        """The option that is being read can never be chosen; it keeps its number."""
        if "" not in self.number:
            self.item("", 0, 0)
        self.node("")

    def end_option(self, name: str) -> None:
        """The nodes since the last call are an option."""
        self._names.append(visible(name))
        self._starts.append(len(self._nodes))

    def problem(self, holes: int | None = None) -> CoverProblem:
        """What was read. Raises CoverError."""
        problem = CoverProblem(
            np.array(self._minimum, np.int32),
            np.array(self._maximum, np.int32),
            np.array(self._starts, np.int32),
            np.array(self._nodes, np.int32),
            np.array(self._weights, np.int32),
            np.array(self._colours, np.int32),
            np.array(self._may_be_hole, np.bool_),
            holes,
            tuple(self.number),
            tuple(self._names) if any(self._names) else (),
        )
        problem.check()
        return problem
