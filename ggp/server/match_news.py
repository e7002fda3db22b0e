"""`MatchNews`: the events of a match that is being played, for those who look on."""

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
"""Rules with this word may hide information, which must not be told while a match lasts."""
Publish = Callable[[str, dict[str, Any]], None]
"""Takes an event's name and its data."""


class MatchNews:
    """Keeps what there is to know of one match, and tells what changes.

    Events, each with the ``match``'s id: ``match`` (all there is to know), ``step`` (all ``moves`` so far),
    ``search`` (``turn``, ``note``, ``machine``, ``expects``, ``candidates``; several times a turn),
    ``answer`` (the same with the ``move``), ``ended``. Where information may be hidden, searches are not
    told, and moves and answers come with the end.

    Args:
        start: the match.
        players: their names in role order, where the match is a game manager's.
        clocks: startclock and playclock, seconds, where not those of ``start``.

    Raises:
        ParseError: the rules' parentheses do not balance.

    Attributes:
        publish: whom to tell; nobody at first.
        name: the game's name; empty while it is not known.
        kind: what kind of game it seems to be, in words.
        machine: what the player thinks on.
        note: what the player said of its last answer.
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
        """The game's name, or while it is not known how many rules it has."""
        return self.name or self._rules

    @property
    def game(self) -> str:
        """What is known of the game: its title and its kind."""
        return ": ".join(filter(None, (self.title, self.kind)))

    def learn(self, message: dict[str, Any]) -> None:
        """A process says what it found out of the game: its ``name``, or its kind (``text``)."""
        self.name = message.get("name", self.name)
        self.kind = message.get("text", self.kind)

    def told(self) -> dict[str, Any]:
        """All there is to know: the data of a ``match`` event. ``began`` is in seconds since 1970."""
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
        """The match begins."""
        self.publish("match", self.told())

    def step(self, moves: Sequence[Sequence[str]]) -> None:
        """These joint moves have been made."""
        told = [list(joint) for joint in moves]
        if told != self._moves and not self._hidden:
            self._moves = told
            self.publish("step", {"match": self._start.match, "moves": told})

    def last(self, moves: Sequence[str] | None) -> None:
        """The match ends with this joint move; None where there is none."""
        if moves is not None:
            self.step([*self._moves, list(moves)])

    def joint(self, moves: Sequence[str], errors: Sequence[str] = ()) -> None:
        """One more joint move has been made; ``errors`` say per role what went wrong, ``""`` nothing."""
        if self._hidden:
            self._later.append(list(moves))
            return
        self.step([*self._moves, list(moves)])
        self.answer(len(self._moves), " ".join(moves), {"note": "; ".join(filter(None, errors))})

    def search(self, message: dict[str, Any]) -> None:
        """What the player thinks so far, as its process tells it."""
        if self._hidden:
            return
        self._search = {
            name: message.get(name, "") for name in ("turn", "note", "machine", "candidates", "expects")
        }
        self.publish("search", {"match": self._start.match, **self._search})

    def answer(self, turn: int, move: str, message: dict[str, Any]) -> None:
        """What was answered."""
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
        """It is over; ``goals`` in role order, empty where it has not come to its end."""
        if self._hidden:
            self._hidden = False
            if self._later:
                self.step(self._later)
            for fields in self._later_answers:
                self._tell_answer(fields)
        self.publish("ended", {"match": self._start.match, "why": why, "goals": goals})


def _in_words(start: Start) -> str:
    """What there is to say of rules that are not read yet: how many there are, if they are in KIF. Raises
    ParseError where their parentheses do not balance."""
    form = form_of(start.rules)
    if form.name != "kif":
        return f"rules in {form.name}"
    try:
        return counted(len(split(start.rules)), "rule")
    except ParseError as error:
        error.source = start.match  # whose places are those of the rules
        raise
