"""Cover problems as JSON: an object with `items`, `options` and, where there is a limit, `holes`.

An item is its name (to be covered exactly once) or an object with `name`, `min`, `max` (1 if absent) and
`hole` (whether it counts as a hole when nothing covers it). An option is a list of nodes, or an object with
`name` and `nodes`. A node is an item's name, `name:colour`, or an object with `item`, `weight` and `colour`.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

from gdl.errors import Place
from players.puzzles.cover.files.builder import ProblemBuilder
from players.puzzles.cover.files.json_places import place_of
from players.puzzles.cover.problem import CoverError, CoverProblem

_Path = tuple[int | str, ...]


def read_json(text: str, source: str = "") -> CoverProblem:
    """The problem that a text says. Raises CoverError with line and column.

    >>> read_json('{"items": ["a", {"name": "b", "min": 0}], "options": [["a"], ["a", "b"]]}').options
    2
    """
    return _JsonReader(text, source).read()


def write_json(problem: CoverProblem) -> str:
    """The text of a problem; items without names are called by their numbers."""
    names = problem.item_names or tuple(map(str, range(problem.items)))
    items = [
        {"name": name, "min": int(low), "max": int(high), "hole": bool(hole)}
        for name, low, high, hole in zip(
            names, problem.minimum, problem.maximum, problem.may_be_hole, strict=True
        )
    ]
    options: list[Any] = []
    for option in range(problem.options):
        nodes = []
        for node in range(problem.starts[option], problem.starts[option + 1]):
            entry: dict[str, Any] = {"item": names[problem.nodes[node]]}
            if problem.weights[node] != 1:
                entry["weight"] = int(problem.weights[node])
            if problem.colours[node]:
                entry["colour"] = str(problem.colours[node])
            nodes.append(entry)
        name = problem.option_names[option] if problem.option_names else ""
        options.append({"name": name, "nodes": nodes} if name else nodes)
    whole: dict[str, Any] = {"items": items, "options": options}
    if problem.holes is not None:
        whole["holes"] = problem.holes
    return json.dumps(whole)


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
