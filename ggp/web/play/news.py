"""What a table tells those who look on without a seat: the events of a watched match."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ggp.processes.parent import JsonMessage

Hear = Callable[[str, dict[str, Any]], None]
"""Takes an event's name and data."""

_DRAWN = ("svg", "facts", "step", "roles", "over", "goals")


class TableNews:
    """Makes events out of what a table says.

    They are those of :class:`ggp.server.match_news.MatchNews`, and ``board``, for a table draws its own.

    Args:
        name: what the match is called. It is no key to the table.
        playclock: seconds that players think.
        hear: takes the events; nobody at first.
    """

    def __init__(self, name: str, playclock: float, hear: Hear = lambda event, data: None) -> None:
        self.hear = hear
        self._told: dict[str, Any] = {"match": name, "role": "", "rules": "", "clocks": [0, playclock]}
        self._seats: object = None
        self._moves: list[object] = []
        self._over = False

    def says(self, kind: str, message: JsonMessage) -> None:
        """The table says something."""
        if kind == "rules":
            self._told["rules"] = message["text"]
        elif kind == "state":
            self._shows(message)
        elif kind == "search":
            self._tell("search", message)

    def closes(self) -> None:
        """The table is there no more."""
        if self._seats is not None and not self._over:
            self._tell("ended", {"why": "the table is closed", "goals": ""})

    def _shows(self, state: JsonMessage) -> None:
        history = state["history"][: state["step"]]
        moves = [step["moves"] for step in history]
        answers = [_answer(turn, step) for turn, step in enumerate(history, 1)]
        before, self._moves = self._moves, moves
        goes_on = moves[: len(before)] == before and state["over"] >= self._over
        if self._seats != state["seats"] or not goes_on:
            self._seats = state["seats"]
            seats = zip(state["roles"], state["seats"], strict=True)
            players = [f"{role}: {seat}" for role, seat in seats]
            self._told |= {"game": state["game"], "players": players, "moves": moves, "answers": answers}
            self.hear("match", dict(self._told))
        elif moves != before:
            self._tell("step", {"moves": moves})
            for answer in answers[len(before) :]:
                self._tell("answer", answer)
        self._tell("board", {**{name: state[name] for name in _DRAWN}, "last": state["last"] or []})
        if state["over"] and not self._over:
            self._tell("ended", {"why": "done", "goals": " ".join(map(str, state["goals"]))})
        self._over = state["over"]

    def _tell(self, event: str, data: Mapping[str, Any]) -> None:
        self.hear(event, {"match": self._told["match"], **data})


def _answer(turn: int, step: Mapping[str, Any]) -> dict[str, Any]:
    """What was played at a turn; the result that the first of our players expected."""
    notes = "; ".join(f"{role}: {note}" for role, note in step["notes"].items())
    expects = next(iter(step["expects"].values()), None)
    return {"turn": turn, "move": " ".join(step["moves"]), "note": notes, "machine": "", "expects": expects}
