"""Follows the events of one player's server, which may be untrusted, and reconnects after every interruption.

Only the known fields of an event are stored, each cut to a fixed length. Other fields are dropped, so that
the limits in this module bound the memory of a match.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from typing import Any

from gdl.errors import GdlError
from ggp.log_lines import say
from ggp.protocol.address import Address, parse_address
from ggp.protocol.asking import events
from ggp.protocol.event_source import read_events

LONGEST_RULES = 2 * 1024 * 1024
"""Characters."""
LONGEST_TEXT = 300
MOST_STEPS = 20_000
MOST_ROLES = 64
MOST_ANSWERS = 1000
"""Answers in memory; older ones are dropped."""
MOST_CANDIDATES = 32


def read_match(data: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of a ``match`` event; None if its rules are missing or too long."""
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
        "title": _text(data.get("title")),
        "players": [_text(name) for name in _list(data.get("players"))[:MOST_ROLES]],
        "clocks": [_number(clock) for clock in _list(data.get("clocks"))[:2]],
        "moves": read_moves(data.get("moves")),
        "answers": [read_answer(answer) for answer in answers if isinstance(answer, dict)],
        "search": read_search(search) if isinstance(search := data.get("search"), dict) and search else None,
    }


def read_moves(moves: object) -> list[list[str]]:
    """Joint moves as lists of texts; other values count as empty."""
    return [[_text(move) for move in _list(joint)[:MOST_ROLES]] for joint in _list(moves)[:MOST_STEPS]]


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


def size_of(match: Mapping[str, Any]) -> int:
    """The approximate size of a match in bytes."""
    steps = sum(64 + sum(map(len, joint)) for joint in match["moves"])
    answers = sum(256 + len(answer["move"]) + len(answer["note"]) for answer in match["answers"])
    return 4096 + len(match["rules"]) + steps + answers


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return "" if value is None or isinstance(value, list | dict) else str(value)[:LONGEST_TEXT]


def _number(value: object) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
        return None
    return value


_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 5.0
_SILENCE_SECONDS = 40.0
"""A server that is silent for this time has gone, because servers ping more often."""
_LONGEST_LINE = 8 * 1024 * 1024
_BYTES_PER_SECOND = 4 * 1024 * 1024
_LINES_PER_SECOND = 2000
_BURST_SECONDS = 4.0
"""A server may exceed the rates by this many seconds' worth of data, for example after a reconnection. Then
its data is read with pauses."""
Hear = Callable[[str, dict[str, Any]], None]
"""Receives an event's name and data."""


class EventFollower:
    """Follows one server.

    Args:
        address: its address as written by people: ``http://host:port``. Raises GdlError if it is invalid.
        hear: receives each event.
        reached: called with True when the server is connected, with False when it is not.
    """

    def __init__(self, address: str, hear: Hear, reached: Callable[[bool], None]) -> None:
        self.address: Address = parse_address(address)
        self._hear = hear
        self._reached = reached

    async def run(self) -> None:
        """Read events until cancelled; reconnect after every error."""
        pause = _FIRST_PAUSE
        while True:
            try:
                async with events(self.address, _SILENCE_SECONDS, _LONGEST_LINE) as lines:
                    self._reached(True)
                    pause = _FIRST_PAUSE
                    async for name, data in read_events(_paced(lines)):
                        if isinstance(data, dict):
                            self._hear(name, data)
            except (OSError, TimeoutError, ValueError, GdlError) as error:
                say("debug", "not watched", server=str(self.address), error=str(error)[:200])
            self._reached(False)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


async def _paced(lines: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines no faster than the permitted rates, because each line costs the server time."""
    paid = time.monotonic()
    async for line in lines:
        now = time.monotonic()
        paid = max(paid, now) + max(len(line) / _BYTES_PER_SECOND, 1 / _LINES_PER_SECOND)
        if paid > now + _BURST_SECONDS:
            await asyncio.sleep(paid - now - _BURST_SECONDS)
        yield line
