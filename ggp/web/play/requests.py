"""What people ask of a table: the fields of each request, and who may make it when."""

from __future__ import annotations

import queue
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from gdl.json_schema import Schema, number, text, whole
from ggp.processes.parent import Inbox, JsonMessage, Send
from ggp.web.play.company import LONGEST_NAME, OWNER
from ggp.web.play.view import OUTSIDE

LONGEST_CLOCK = 3600.0
PLAYER = text(1000, 1)
"""A player with all its options; the table's process checks them (:mod:`ggp.web.play.seats`)."""
LOOKS_ON = "you look on here"
BEFORE, DURING, AFTER = "before its first step", "during the match", "after its end"


@dataclass(frozen=True, slots=True)
class RequestKind:
    """A kind of request.

    Attributes:
        fields, more: the schemas of the fields that it has, and of those that it may have.
        own: whether it is made for a role of the person's own.
        between: whether one of several people may make it.
        patient: whether it does not interrupt a player's search.
        blind: when it may be made in a game that hides something. A match cannot be restarted before its end,
            so that a person cannot repeat the deal until it is a good one.
    """

    fields: Mapping[str, Schema] = field(default_factory=dict)
    more: Mapping[str, Schema] = field(default_factory=dict)
    own: bool = False
    between: bool = False
    patient: bool = False
    blind: Collection[str] = ()


_ROLE = {"role": text(2000)}
_UNTIL_END = (BEFORE, DURING)
_ALWAYS = (BEFORE, DURING, AFTER)
REQUESTS = {
    "move": RequestKind(
        {**_ROLE, "move": text(2000)},
        {"step": whole()},
        own=True,
        between=True,
        patient=True,
        blind=_UNTIL_END,
    ),
    "resign": RequestKind(_ROLE, own=True, between=True, blind=_UNTIL_END),
    "draw": RequestKind(between=True, blind=_UNTIL_END),
    "decline": RequestKind({"offer": text(10)}, between=True, patient=True, blind=_ALWAYS),
    "back": RequestKind(between=True, blind=(AFTER,)),
    "again": RequestKind(between=True, blind=(AFTER,)),
    "goto": RequestKind({"step": whole()}, between=True, blind=(AFTER,)),
    "redo": RequestKind(blind=(AFTER,)),
    "hint": RequestKind(_ROLE, patient=True, blind=_UNTIL_END),
    "walk": RequestKind({**_ROLE, "to": text(200)}, {"origin": text(200)}, patient=True),
    "seat": RequestKind(
        {**_ROLE, "player": PLAYER}, {"seconds": number(0.05, LONGEST_CLOCK)}, blind=(BEFORE, AFTER)
    ),
    "swap": RequestKind(blind=(BEFORE, AFTER)),
    "pause": RequestKind(blind=_ALWAYS),
    "go": RequestKind(blind=_ALWAYS),
    "show": RequestKind(patient=True),
    "sit": RequestKind(_ROLE, {"name": text(LONGEST_NAME)}),
}
"""The requests that people make."""
_SERVERS = ("show", "keep", "end", "sit", "left")
"""Requests that the server makes itself, or checks."""


def refusal(request: JsonMessage, sitting: Collection[tuple[int, str]], phase: str = "") -> str:
    """The reason why a request is not permitted now; empty if it is.

    Args:
        sitting: the people who have a seat, with the name of its role.
        phase: of a match that hides something (`BEFORE`, `DURING`, `AFTER`); empty for others.
    """
    do, asker, role = request.get("do"), request.get("person", OUTSIDE), request.get("role")
    kind, people = REQUESTS.get(str(do)), {person for person, _ in sitting}
    if do in _SERVERS:
        return ""
    if kind is None:
        return "the table does not know this request"
    if asker not in (people or {OWNER}):
        return f"{LOOKS_ON}: take a free seat"
    if (kind.own or (phase and do == "hint")) and (asker, role) not in sitting:
        return f"{role} is not your role: take a free seat"
    if len(people) > 1 and not kind.between:
        return "several people play here: ask for a draw, to take back, or for another match"
    if not phase or phase in kind.blind:
        return ""
    hides = "this game hides information: wait for the end of the match"
    return "the match is over: play again" if phase == AFTER else hides


class WaitingRequests:
    """The requests that wait at a table.

    Args:
        inbox: receives the requests.
        send: sends ``took`` whenever a request leaves the queue.
        refused: the reason why the table refuses a request; empty if it does not.
    """

    def __init__(self, inbox: Inbox, send: Send, refused: Callable[[JsonMessage], str]) -> None:
        self._inbox, self._send, self._refused = inbox, send, refused
        self._looked_at: list[JsonMessage] = []

    def urgent(self) -> bool:
        """Whether a request waits that is permitted and interrupts a player's search."""
        while not self._inbox.empty():
            self._looked_at.append(self._inbox.get())
        kinds = ((one, REQUESTS.get(str(one.get("do")), RequestKind())) for one in self._looked_at)
        return any(
            one.get("do") != "keep" and not kind.patient and not self._refused(one) for one, kind in kinds
        )

    def next(self, seconds: float | None = None) -> JsonMessage | None:
        """The next request; None if none arrives within ``seconds``, which may be None for no limit."""
        try:
            if self._looked_at:
                request = self._looked_at.pop(0)
            else:
                request = self._inbox.get(timeout=None if seconds is None else max(seconds, 0.0))
        except queue.Empty:
            return None
        self._send("took")
        return request
