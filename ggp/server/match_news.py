"""`MatchNews`: the events of a match that is being played, for spectators."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from gdl.errors import ParseError
from gdl.syntax.notation import form_of
from gdl.words import counted
from ggp.protocol.messages import Start, split

_SEES = re.compile(r"[\s(]sees[\s(]", re.IGNORECASE)
"""Rules with this word may hide information, which must not be published while a match lasts."""
Publish = Callable[[str, dict[str, Any]], None]
"""Takes an event's name and its data."""


class MatchNews:
    """Keeps the data of one match, and publishes its changes.

    Events, each with the ``match``'s id: ``match`` (all data), ``step`` (all ``moves`` until now), ``search``
    (``turn``, ``note``, ``machine``, ``expects``, ``candidates``; several times a turn), ``answer`` (the same
    with the ``move``), ``ended``. If information may be hidden, searches are not published, and moves and
    answers come at the end.

    Args:
        start: the match.
        players: their names in role order, if the match belongs to a game manager.
        clocks: startclock and playclock, seconds, if they differ from those of ``start``.

    Raises:
        ParseError: the rules' parentheses do not balance.

    Attributes:
        publish: called with each event; does nothing at first.
        name: the game's name; empty while it is not known.
        kind: the kind of game it seems to be, in words.
        machine: the machine that the player thinks on.
        note: the player's note on its last answer.
    """

    def __init__(
        self, start: Start, players: Sequence[str] = (), clocks: tuple[float, float] | None = None
    ) -> None:
        self.publish: Publish = lambda event, data: None
        self.name = self.kind = self.machine = self.note = ""
        self._start = start
        self._rules = _in_words(start)
        self._players = list(players)
        self._clocks = list(clocks or (start.startclock, start.playclock))
        self._began = time.time()
        self._hidden = _SEES.search(start.rules) is not None
        self._later: list[list[str]] = []
        self._later_answers: list[dict[str, Any]] = []
        self._moves: list[list[str]] = []
        self._answers: list[dict[str, Any]] = []
        self._search: dict[str, Any] = {}

    @property
    def title(self) -> str:
        """The game's name, or the number of its rules while the name is not known."""
        return self.name or self._rules

    @property
    def game(self) -> str:
        """The game's title and kind, as far as they are known."""
        return ": ".join(filter(None, (self.title, self.kind)))

    def learn(self, message: dict[str, Any]) -> None:
        """Take a process's findings about the game: its ``name``, or its kind (``text``)."""
        self.name = message.get("name", self.name)
        self.kind = message.get("text", self.kind)

    def snapshot(self) -> dict[str, Any]:
        """All data of the match: the content of a ``match`` event. ``began`` is in seconds since 1970."""
        start = self._start
        return {
            "match": start.match,
            "role": start.role,
            "rules": start.rules,
            "players": self._players,
            "clocks": self._clocks,
            "began": self._began,
            "name": self.name,
            "game": self.game,
            "machine": self.machine,
            "moves": self._moves,
            "answers": self._answers,
            "search": self._search,
        }

    def began(self) -> None:
        """Publish the beginning of the match."""
        self.publish("match", self.snapshot())

    def step(self, moves: Sequence[Sequence[str]]) -> None:
        """Publish the joint moves made, if there are new ones."""
        joints = [list(joint) for joint in moves]
        if joints != self._moves and not self._hidden:
            self._moves = joints
            self.publish("step", {"match": self._start.match, "moves": joints})

    def last(self, moves: Sequence[str] | None) -> None:
        """Publish the last joint move of the match; None if there is none."""
        if moves is not None:
            self.step([*self._moves, list(moves)])

    def joint(self, moves: Sequence[str], errors: Sequence[str] = ()) -> None:
        """Add one more joint move; ``errors`` has each role's error, ``""`` for none."""
        if self._hidden:
            self._later.append(list(moves))
            return
        self.step([*self._moves, list(moves)])
        self.answer(len(self._moves), " ".join(moves), {"note": "; ".join(filter(None, errors))})

    def search(self, message: dict[str, Any]) -> None:
        """Publish the player's thoughts, as its process reports them."""
        if self._hidden:
            return
        self._search = {
            name: message.get(name, "") for name in ("turn", "note", "machine", "candidates", "expects")
        }
        self.publish("search", {"match": self._start.match, **self._search})

    def answer(self, turn: int, move: str, message: dict[str, Any]) -> None:
        """Publish an answer."""
        note = message.get("note", "")
        self.note = "" if self._hidden else note
        self.machine = message.get("machine", "") or self.machine
        fields = {"turn": turn, "move": move, "note": note, "machine": self.machine}
        fields["expects"] = message.get("expects")
        self._tell_answer(fields)

    def _tell_answer(self, fields: dict[str, Any]) -> None:
        if self._hidden:
            self._later_answers.append(fields)
        else:
            self._answers.append(fields)
            self.publish("answer", {"match": self._start.match, **fields})

    def ended(self, why: str, goals: str) -> None:
        """Publish the end; ``goals`` in role order, empty if the match was cut short."""
        if self._hidden:
            self._hidden = False
            if self._later:
                self.step(self._later)
            for fields in self._later_answers:
                self._tell_answer(fields)
        self.publish("ended", {"match": self._start.match, "why": why, "goals": goals})


def _in_words(start: Start) -> str:
    """A description of rules that are not read yet: their number, if they are in KIF. Raises ParseError if
    their parentheses do not balance."""
    form = form_of(start.rules)
    if form.name != "kif":
        return f"rules in {form.name}"
    try:
        return counted(len(split(start.rules)), "rule")
    except ParseError as error:
        error.source = start.match  # whose places are those of the rules
        raise
