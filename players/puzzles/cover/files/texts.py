"""Cover problems as text: JSON, and DLX in the format of Knuth's programs dlx1, dlx2, dlx3 and their
relatives.

JSON is an object with `items`, `options` and, if there is a limit, `holes`. An item is its name (to be
covered exactly once) or an object with `name`, `min`, `max` (1 if absent) and `hole` (whether it counts as a
hole when nothing covers it). An option is a list of nodes, or an object with `name` and `nodes`. A node is an
item's name, `name:colour`, or an object with `item`, `weight` and `colour`.

DLX: D. E. Knuth, https://www-cs-faculty.stanford.edu/~knuth/programs.html. Lines that begin with ``|`` are
comments. The first other line names the items, the secondary ones after a ``|`` of its own; ``2:3|c`` is an
item to be covered two or three times, ``2|c`` twice. Each further line is an option. ``x:red`` is a secondary
item with a colour.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import orjson

from gdl.errors import Place
from gdl.reading import plain, text_of
from gdl.visible import visible
from players.puzzles.cover.problem import CoverError, CoverProblem

_MOST = 2**31 - 1


class _ProblemBuilder:
    """Collects items and options; errors are reported at the place that the caller gives."""

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
        """For each item the last option that has it."""

    def wrong(self, message: str, remedy: str, place: Place | None) -> CoverError:
        """The error for a fault at a place."""
        return CoverError(message, place, remedy, self.source)

    def item(
        self, name: str, low: int, high: int, *, may_be_hole: bool = False, place: Place | None = None
    ) -> None:
        """Add an item with its bounds. Raises CoverError."""
        if not name.isprintable():
            raise self.wrong(
                f"the item {name[:40]!r} has a character that is not printable", "remove it", place
            )
        if name in self.number:
            raise self.wrong(f"the item {name[:40]!r} is there twice", "give each a name of its own", place)
        if not 0 <= low <= high <= _MOST:
            remedy = "0 <= minimum <= maximum < 2147483648"
            raise self.wrong(f"{name[:40]!r} cannot be covered {low} to {high} times", remedy, place)
        self.number[name] = len(self._minimum)
        self._minimum.append(low)
        self._maximum.append(high)
        self._may_be_hole.append(may_be_hole)
        self._last.append(-1)

    def node(
        self, name: str, *, weight: int = 1, colour: str | None = None, place: Place | None = None
    ) -> int:
        """Add a node to the current option. Returns the item's number. Raises CoverError."""
        item = self.number.get(name)
        if item is None:
            raise self.wrong(f"{name[:40]!r} is not an item", "name it where the items are", place)
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
        """Mark the current option as never to be chosen; it keeps its number."""
        if "" not in self.number:
            self.item("", 0, 0)
        self.node("")

    def end_option(self, name: str) -> None:
        """End the current option; its nodes are those since the last call."""
        self._names.append(visible(name))
        self._starts.append(len(self._nodes))

    def problem(self, holes: int | None = None) -> CoverProblem:
        """The problem of all items and options. Raises CoverError."""
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


_Path = tuple[int | str, ...]


def read_json(text: str, source: str = "") -> CoverProblem:
    """The problem in a text. Raises CoverError, which says which value is wrong: ``options[3].nodes[1]``.

    >>> read_json('{"items": ["a", {"name": "b", "min": 0}], "options": [["a"], ["a", "b"]]}').options
    2
    """
    return _JsonReader(text, source).read()


class _JsonReader:
    def __init__(self, text: str, source: str) -> None:
        self.text = plain(text)
        self.builder = _ProblemBuilder(source)

    def read(self) -> CoverProblem:
        try:
            whole = orjson.loads(self.text)
        except orjson.JSONDecodeError as error:
            place = Place(error.lineno, error.colno)
            raise self.builder.wrong(f"this is not JSON: {error.msg}", "mend the text", place) from None
        self._object(whole, (), {"items", "options", "holes"})
        items, options, holes = (whole.get(key) for key in ("items", "options", "holes"))
        for index, item in enumerate(self._list(items, ("items",))):
            self._item(item, ("items", index))
        for index, option in enumerate(self._list(options, ("options",))):
            self._option(option, ("options", index))
        if holes is not None and (type(holes) is not int or not 0 <= holes < 2**31):
            raise self.wrong("the number of holes is none", "0 or more", ("holes",))
        return self.builder.problem(holes)

    def wrong(self, message: str, remedy: str, path: _Path) -> CoverError:
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
        return self.builder.wrong(f"{where}: {message}" if where else message, remedy, None)

    def _list(self, value: Any, path: _Path) -> list[Any]:
        if not isinstance(value, list):
            raise self.wrong(f"{path[-1]} is not a list", "write [...]", path)
        return value

    def _object(self, value: Any, path: _Path, known: set[str]) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.wrong("this is not an object", "with " + ", ".join(sorted(known)), path)
        unknown = sorted(set(value) - known)
        if unknown:
            remedy = "there are " + ", ".join(sorted(known))
            raise self.wrong(f"{unknown[0][:40]!r} is unknown", remedy, (*path, unknown[0]))
        return value

    def _get(self, value: dict[str, Any], key: str, kind: type, default: Any, path: _Path) -> Any:
        found = value.get(key, default)
        if type(found) is not kind:
            noun = {str: "a text", int: "a whole number", bool: "true or false"}[kind]
            raise self.wrong(f"{key} is not {noun}", f"give {noun}", (*path, key) if key in value else path)
        return found

    def _item(self, value: Any, path: _Path) -> None:
        entry = {"name": value} if isinstance(value, str) else value
        self._object(entry, path, {"name", "min", "max", "hole"})
        name = self._get(entry, "name", str, None, path)
        low, high = (self._get(entry, key, int, 1, path) for key in ("min", "max"))
        hole = self._get(entry, "hole", bool, False, path)
        try:
            self.builder.item(name, low, high, may_be_hole=hole)
        except CoverError as error:
            raise self.wrong(error.message, error.remedy, path) from None

    def _option(self, value: Any, path: _Path) -> None:
        name, nodes = "", value
        if isinstance(value, dict):
            self._object(value, path, {"name", "nodes"})
            name = self._get(value, "name", str, "", path)
            nodes, path = value.get("nodes"), (*path, "nodes")
        for index, node in enumerate(self._list(nodes, path)):
            self._node(node, (*path, index))
        self.builder.end_option(name)

    def _node(self, node: Any, path: _Path) -> None:
        weight, colour = 1, None
        if isinstance(node, str):
            name = node
            if name not in self.builder.number and ":" in name:
                name, _, colour = name.rpartition(":")
        else:
            self._object(node, path, {"item", "weight", "colour"})
            name = self._get(node, "item", str, None, path)
            weight = self._get(node, "weight", int, 1, path)
            colour = self._get(node, "colour", str, None, path) if "colour" in node else None
        try:
            self.builder.node(name, weight=weight, colour=colour)
        except CoverError as error:
            raise self.wrong(error.message, error.remedy, path) from None


def problem_of(data: bytes, source: str) -> CoverProblem:
    """The problem in the bytes of a file: JSON if they begin with ``{``, otherwise DLX text. Raises
    CoverError and FileError, in which ``source`` is the place."""
    text = text_of(data, source)
    return (read_json if text.lstrip().startswith("{") else read_dlx)(text, source)


_WORD = re.compile(r"\S+")
_BOUNDS = re.compile(r"(?:(\d{1,10}):)?(\d{1,10})\|(.*)", re.ASCII)


def read_dlx(text: str, source: str = "") -> CoverProblem:
    r"""The problem in a text. Knuth's programs leave out options without primary items; here such an option
    keeps its number, but can never be chosen. Raises CoverError with line and column.

    >>> problem = read_dlx("| a comment\n a b 2:3|c | x\na b x:red\nb c")
    >>> problem.item_names, problem.maximum.tolist()
    (('a', 'b', 'c', 'x'), [1, 1, 3, 1])
    """
    builder = _ProblemBuilder(source)
    primary = -1
    for number, line in enumerate(plain(text).split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("|"):
            continue
        if primary < 0:
            primary = _read_items(builder, line, number)
        else:
            _read_option(builder, line, number, primary)
    if primary < 0:
        raise builder.wrong("no line names the items", "the first line does", Place(1, 1))
    return builder.problem()


def _read_items(builder: _ProblemBuilder, line: str, number: int) -> int:
    """Read the items and return the number of primary ones."""
    primary = -1
    for word in _WORD.finditer(line):
        name, place = word[0], Place(number, word.start() + 1)
        low = high = 1
        if name == "|":
            if primary >= 0:
                raise builder.wrong("a second | among the items", "secondary items follow the first", place)
            primary = len(builder.number)
            continue
        if "|" in name:
            bounds = _BOUNDS.fullmatch(name)
            if bounds is None or primary >= 0:
                raise builder.wrong(f"{name[:40]!r} names no item", "primary items may be like 2:3|c", place)
            low, high, name = int(bounds[1] or bounds[2]), int(bounds[2]), bounds[3]
        if not name or ":" in name or "|" in name:
            raise builder.wrong(f"{word[0][:40]!r} names no item", "no : and | in names", place)
        builder.item(name, low if primary < 0 else 0, high, place=place)
    if primary == 0 or not builder.number:
        raise builder.wrong("there is no primary item", "name one before the |", Place(number, 1))
    return len(builder.number) if primary < 0 else primary


def _read_option(builder: _ProblemBuilder, line: str, number: int, primary: int) -> None:
    chosen = False
    for word in _WORD.finditer(line):
        name, colon, colour = word[0].partition(":")
        place = Place(number, word.start() + 1)
        if name.startswith("|"):
            message = f"costs (DLX5) are not read: {word[0][:20]!r}"
            raise builder.wrong(message, "leave them out; options then cost the same", place)
        if colon and (not colour or ":" in colour or "|" in colour):
            raise builder.wrong(f"{word[0][:40]!r} has no colour after its :", "x:red", place)
        if colon and builder.number.get(name, primary) < primary:
            message = f"{name[:40]!r} is primary and has a colour"
            raise builder.wrong(message, "name it behind the | in the line of the items", place)
        item = builder.node(name, colour=colour if colon else None, place=place)
        chosen = chosen or item < primary
    if not chosen:
        builder.never()
    builder.end_option(" ".join(line.split()))
