"""Cover problems as JSON: an object with `items`, `options` and, where there is a limit, `holes`.

An item is its name (to be covered exactly once) or an object with `name`, `min`, `max` (1 if absent) and
`hole` (whether it counts as a hole when nothing covers it). An option is a list of nodes, or an object with
`name` and `nodes`. A node is an item's name, `name:colour`, or an object with `item`, `weight` and `colour`.
"""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from gdl.errors import Place
from players.puzzles.cover.files.builder import ProblemBuilder
from players.puzzles.cover.files.dlx import read_dlx
from players.puzzles.cover.problem import CoverError, CoverProblem

_Path = tuple[int | str, ...]


def read_json(text: str, source: str = "") -> CoverProblem:
    """The problem that a text says. Raises CoverError with line and column.

    >>> read_json('{"items": ["a", {"name": "b", "min": 0}], "options": [["a"], ["a", "b"]]}').options
    2
    """
    return _JsonReader(text, source).read()


class _JsonReader:
    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.builder = ProblemBuilder(source)

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

    def wrong(self, message: str, remedy: str, path: _Path) -> Exception:
        return self.builder.wrong(message, remedy, place_of(self.text, path))

    def _list(self, value: Any, path: _Path) -> list[Any]:
        if not isinstance(value, list):
            raise self.wrong(f"{path[-1]} is no list", "write [...]", path)
        return value

    def _object(self, value: Any, path: _Path, known: set[str]) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.wrong("this is no object", "with " + ", ".join(sorted(known)), path)
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
        place = None if self._is_new(name) and 0 <= low <= high < 2**31 else place_of(self.text, path)
        self.builder.item(name, low, high, may_be_hole=hole, place=place)

    def _is_new(self, name: str) -> bool:
        return name not in self.builder.number

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
            place = place_of(self.text, path)
            raise self.builder.wrong(error.message, error.remedy, place) from None


_SPACE = re.compile(r"[ \t\r\n,:]*")
_DECODER = json.JSONDecoder()


def place_of(text: str, path: tuple[int | str, ...]) -> Place:
    """Line and column of the value that is found by these keys and indices in a text that is JSON; where it
    is not there, of the last one on the way to it."""
    at = _skip(text, 0)
    for step in path:
        inside = _entry(text, at, step)
        if inside is None:
            break
        at = inside
    return Place(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _entry(text: str, at: int, step: int | str) -> int | None:
    """Where the entry of the object or list at a position begins; the last of equal keys counts."""
    if text[at : at + 1] != ("[" if isinstance(step, int) else "{"):
        return None
    at, index, last = _skip(text, at + 1), 0, None
    while text[at : at + 1] not in ("]", "}", ""):
        if isinstance(step, int):
            if index == step:
                return at
        else:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if key == step:
                last = at
        _, at = _DECODER.raw_decode(text, at)
        at, index = _skip(text, at), index + 1
    return last


def problem_of(data: bytes, source: str) -> CoverProblem:
    """The problem in the bytes of a file: JSON if they begin with ``{``, else DLX text. Raises CoverError, in
    which ``source`` is the place."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.rpartition(b"\n")[2].decode()
        place = Place(before.count(b"\n") + 1, len(line) + 1)
        raise CoverError("this is not UTF-8 text", place, "save the file as UTF-8", source) from None
    return (read_json if text.lstrip().startswith("{") else read_dlx)(text, source)
