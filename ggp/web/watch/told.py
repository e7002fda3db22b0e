"""What is kept of the events of a server, which may be a stranger's: known fields, each cut to a length.

Whatever else an event has is dropped, so that what one match takes is what stands here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LONGEST_RULES = 2 * 1024 * 1024
"""Characters."""
LONGEST_TEXT = 300
MOST_STEPS = 20_000
MOST_ROLES = 64
MOST_ANSWERS = 1000
"""The newest are kept."""
MOST_CANDIDATES = 32


def read_match(data: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of a ``match`` event; None where it has no rules, or too long ones."""
    rules = data.get("rules")
    if not isinstance(rules, str) or len(rules) > LONGEST_RULES:
        return None
    answers = _list(data.get("answers"))[-MOST_ANSWERS:]
    return {
        "match": _text(data.get("match")),
        "role": _text(data.get("role")),
        "rules": rules,
        "name": _text(data.get("name")),
        "game": _text(data.get("game")),
        "players": [_text(name) for name in _list(data.get("players"))[:MOST_ROLES]],
        "clocks": [_number(clock) for clock in _list(data.get("clocks"))[:2]],
        "moves": read_moves(data.get("moves")),
        "answers": [read_answer(answer) for answer in answers if isinstance(answer, dict)],
        "search": read_search(search) if isinstance(search := data.get("search"), dict) and search else None,
    }


def read_moves(told: object) -> list[list[str]]:
    """Joint moves, as far as they are some."""
    return [[_text(move) for move in _list(joint)[:MOST_ROLES]] for joint in _list(told)[:MOST_STEPS]]


def read_search(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a ``search`` event."""
    candidates = []
    for one in _list(data.get("candidates"))[:MOST_CANDIDATES]:
        if isinstance(one, list) and len(one) == 3:
            candidates.append([_text(one[0]), _number(one[1]) or 0, _number(one[2])])
    return {
        "turn": _number(data.get("turn")),
        "note": _text(data.get("note")),
        "machine": _text(data.get("machine")),
        "expects": _number(data.get("expects")),
        "candidates": candidates,
    }


def read_answer(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an ``answer`` event."""
    texts = {name: _text(data.get(name)) for name in ("move", "note", "machine")}
    return {"turn": _number(data.get("turn")), **texts, "expects": _number(data.get("expects"))}


def size_of(told: Mapping[str, Any]) -> int:
    """About how many bytes a match takes."""
    steps = sum(64 + sum(map(len, joint)) for joint in told["moves"])
    answers = sum(256 + len(answer["move"]) + len(answer["note"]) for answer in told["answers"])
    return 4096 + len(told["rules"]) + steps + answers


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return "" if value is None or isinstance(value, list | dict) else str(value)[:LONGEST_TEXT]


def _number(value: object) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
        return None
    return value
