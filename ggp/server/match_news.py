"""What is told of a match while it is played, for those who look on: :class:`MatchNews`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from ggp.protocol.messages import Start

Publish = Callable[[str, dict[str, Any]], None]
"""Takes an event's name and its data."""


class MatchNews:
    """Keeps what there is to know of one match, and tells what changes.

    Events, each with the ``match``'s id: ``match`` (all there is to know), ``step`` (all ``moves`` so far),
    ``search`` (``turn``, ``note``, ``machine``, ``expects``, ``candidates``; several times a turn),
    ``answer`` (the same with the ``move``), ``ended``.

    Attributes:
        publish: whom to tell; nobody at first.
        game: what kind of game it seems to be, in words.
        machine: what the player thinks on.
        note: what the player said of its last answer.
    """

    def __init__(self, start: Start) -> None:
        self.publish: Publish = lambda event, data: None
        self.game = self.machine = self.note = ""
        self._start = start
        self._began = time.time()
        self._moves: list[list[str]] = []
        self._answers: list[dict[str, Any]] = []
        self._search: dict[str, Any] = {}

    def told(self) -> dict[str, Any]:
        """All there is to know: the data of a ``match`` event. ``began`` is in seconds since 1970."""
        start = self._start
        return {
            "match": start.match,
            "role": start.role,
            "rules": start.rules,
            "clocks": [start.startclock, start.playclock],
            "began": self._began,
            "game": self.game,
            "machine": self.machine,
            "moves": self._moves,
            "answers": self._answers,
            "search": self._search,
        }

    def began(self) -> None:
        """The match begins."""
        self.publish("match", self.told())

    def step(self, moves: Sequence[Sequence[str]]) -> None:
        """These joint moves have been made."""
        told = [list(joint) for joint in moves]
        if told != self._moves:
            self._moves = told
            self.publish("step", {"match": self._start.match, "moves": told})

    def search(self, message: dict[str, Any]) -> None:
        """What the player thinks so far, as its process tells it."""
        self._search = {
            name: message.get(name, "") for name in ("turn", "note", "machine", "candidates", "expects")
        }
        self.publish("search", {"match": self._start.match, **self._search})

    def answer(self, turn: int, move: str, message: dict[str, Any]) -> None:
        """What was answered."""
        self.note = message.get("note", "")
        self.machine = message.get("machine", "") or self.machine
        fields = {"turn": turn, "move": move, "note": self.note, "machine": self.machine}
        fields["expects"] = message.get("expects")
        self._answers.append(fields)
        self.publish("answer", {"match": self._start.match, **fields})

    def ended(self, why: str, goals: str) -> None:
        """It is over; ``goals`` in role order, empty where it has not come to its end."""
        self.publish("ended", {"match": self._start.match, "why": why, "goals": goals})
