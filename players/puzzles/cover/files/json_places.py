"""Where in a JSON text a value stands; only for errors, the text is read again up to there."""

from __future__ import annotations

import json
import re

from gdl.errors import Place

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
