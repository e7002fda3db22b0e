"""JSON with one thing changed, as damage, another version or a stranger may change it."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import orjson

from gdl.errors import GdlError

ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 63, 64, 255, 1 << 31, (1 << 53) - 1, 1 << 63, -(1 << 63), 0.5, 1e300),
    *("", "..", "../x", "/etc/passwd", "a\0b", "x" * 300, "0x0", "0xffffffffffffffff", "-1", "é", "\ud800"),
    *([], [[]], {}, [0], [None], {"": 0}, [[0, 0]], [-1]),
]


def refusals(
    whole: Any, seal: Callable[[Any], bytes], attempt: Callable[[bytes], None], count: int
) -> list[str]:
    """What is said of so many mutations, where they are refused.

    Args:
        whole: a JSON object.
        seal: the bytes of a file that has such an object, with a right digest.
        attempt: reads a file of these bytes. It may raise GdlError, and nothing else.
    """
    told: list[str] = []
    for seed in range(count):
        try:
            data = seal(mutated(whole, random.Random(seed)))
        except orjson.JSONEncodeError:
            continue
        try:
            attempt(data)
        except GdlError as error:
            told.append(str(error))
    return told


def mutated(value: Any, randomness: random.Random) -> Any:
    """A copy of a JSON object in which one part is replaced, removed, doubled, or exchanged with another."""
    whole = copy.deepcopy(value)
    places = [(holder, key) for holder, key in _places(whole)]
    # Long lists of numbers would hide the rest.
    by_depth: dict[int, list[tuple[Any, Any]]] = {}
    for holder, key in places:
        by_depth.setdefault(id(holder), []).append((holder, key))
    holder, key = randomness.choice(randomness.choice(list(by_depth.values())))
    match randomness.randrange(6):
        case 0 if isinstance(holder, dict):
            del holder[key]
        case 0:
            holder.pop(key)
        case 1 if isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        case 1:
            holder[f"{key}x"] = copy.deepcopy(holder[key])
        case 2:
            other, there = randomness.choice(places)
            holder[key] = copy.deepcopy(other[there])
        case 3 if isinstance(holder[key], int):
            holder[key] += randomness.choice((-1, 1, 1 << 20))
        case 3 if isinstance(holder[key], list) and holder[key]:
            randomness.shuffle(holder[key])
        case _:
            holder[key] = copy.deepcopy(randomness.choice(ODD))
    return whole


def _places(value: Any) -> list[tuple[Any, Any]]:
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = list(range(len(value)))
    return [(value, key) for key in keys] + [place for key in keys for place in _places(value[key])]
