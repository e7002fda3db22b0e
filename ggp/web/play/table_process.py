"""The process of one table, and tables of games of hidden information.

The first request is ``open``: the game's name or its rules, ``seats``, ``playclock`` and so on. If the table
cannot be opened, the process answers ``refused``. Otherwise it sends the ``rules``, followed by the messages
of :class:`ggp.web.play.table.Table`.

If the game hides information, each person sees only its role's knowledge until the match is over, and has one
seat. The field ``to`` of the table's messages is the person that they are for: -1 for spectators. A message
without ``to`` is for everybody.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from gdl.ends import stuck_roles
from gdl.information import hides, playing
from gdl.machine import State
from gdl.syntax.preface import read_preface
from gdl.terms import Term
from ggp.boards.role_view import RoleSight, SightView, new_belief
from ggp.game import Game
from ggp.processes.parent import Inbox, JsonMessage, Parent, Send, explain
from ggp.web.play.requests import AFTER, BEFORE, DURING
from ggp.web.play.table import AttentiveSeat, Table, TableRequest
from ggp.web.play.view import OUTSIDE, TableView
from players.belief.belief import Belief, observed
from players.kaskade.player import KaskadePlayer
from players.match import MatchStep
from players.player import Choice
from players.processes.limits import limit_memory
from players.registry import fitting


class BlindTable(Table):
    """One match in which roles do not see all; arguments and errors are those of :class:`Table`."""

    FIRST_SECONDS = 10.0
    """Longer than at other tables, because computing beliefs profits from a fast machine."""

    def __init__(self, request: TableRequest, inbox: Inbox, send: Send) -> None:
        super().__init__(request, inbox, self._hushed)
        self._tell = send
        self._last: dict[int, dict[str, Any]] = {}
        """Person -> the last ``state`` sent to it."""
        self._playing = playing(self.machine.roles)
        board, painter = self._view.board, self._view.painter
        self._sight_view = SightView(self.machine, board, painter, read_preface(request.game.text)[0])
        # Words and clicks depend on the moves seen before, so each role has a view of its own.
        self._views = {role: TableView(request.game, self.machine, like=self._view) for role in self._playing}
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._revealed = False
        self._beliefs = {role: new_belief(self.machine, role, 0) for role in self._playing}
        self._sights: list[dict[int, RoleSight]] = [self._seen({})]
        self._histories: dict[int, list[dict[str, Any]]] = {role: [] for role in self._playing}

    def _seen(self, before: dict[int, RoleSight]) -> dict[int, RoleSight]:
        """The knowledge of each role in the current state."""
        view = self._sight_view
        return {role: view.sight(belief, before.get(role)) for role, belief in self._beliefs.items()}

    # The match

    def _turn(self) -> bool:
        self._revealed = self._revealed or self._is_over()
        return self._obey(self._requests.next()) if self._revealed else super()._turn()

    def _is_over(self) -> bool:
        last = self.match.states[-1]
        closed = self.match.closed is not None
        return closed or self.machine.is_terminal(last) or bool(stuck_roles(last))

    def _learnt(self, step: MatchStep) -> None:
        learnt, before = observed(step.state, step.joint), self._sights[-1]
        if self._is_over():
            self._revealed = True
            percepts = {role: self._sight_view.percepts(learnt[role].percepts) for role in self._playing}
            self._sights.append(
                {
                    role: replace(role_view, shown={**role_view.shown, "percepts": percepts[role]})
                    for role, role_view in before.items()
                }
            )
            return
        for role, belief in self._beliefs.items():
            belief.update(learnt[role])
        self._sights.append(self._seen(before))
        for role, steps in self._histories.items():
            steps.append(self._own_step(role, step))

    def _again(self) -> None:
        self._begin_anew()
        super()._again()

    def _belief(self, role: int) -> Belief | None:
        return self._beliefs[role]

    def _known(self, role: int) -> Collection[Term] | None:
        return self._sights[-1][role].sure

    def _new_player(self, name: str, role: int, state: State, deadline: float) -> AttentiveSeat:
        # A fixed number of playouts is chosen to get a weak player.
        name = name if "playouts" in name else fitting(name, self.machine)
        # Its preparation must not know the state.
        return super()._new_player(name, role, self.machine.initial_state(), deadline)

    def _think_aloud(self, role: int, player: KaskadePlayer, state: State, choice: Choice) -> None:
        """Send nothing, because a player's search reveals its knowledge."""

    def _view_of(self, role: int) -> TableView:
        return self._views[role]

    # Requests

    def _phase(self) -> str:
        return AFTER if self._revealed else DURING if self.match.steps else BEFORE

    def _do_left(self) -> None:
        """Free the seats of a person who has been away for long, but not during the match, because who sits
        down sees what is hidden from others."""
        if self._revealed or not self.match.steps:
            super()._do_left()

    def _do_keep(self, form: str, over: bool = False) -> None:
        if self._revealed or over:
            super()._do_keep(form, over)
        else:
            error = "a match with hidden information can be saved after its end"
            self._send("kept", form=form, over=over, error=error)

    # Messages

    def _hushed(self, kind: str, **fields: Any) -> None:
        """Send a message of :class:`Table` if it reveals nothing hidden: no search of a player, and notes
        only to the person who has caused them."""
        if kind in ("kept", "took") or (kind != "search" and "to" in fields):
            self._tell(kind, **fields)

    def _show(self) -> None:
        people = {person: role for role, person in enumerate(self._company.at) if person is not None}
        self._revealed = self._revealed or self._is_over()
        if self._revealed:
            views = dict.fromkeys((OUTSIDE, *people), self._whole(self.match.at))
        else:
            views = {
                OUTSIDE: self._outside(),
                **{person: self._inside(role) for person, role in people.items()},
            }
        for person, view in views.items():
            # A person without news gets no message, because even that would reveal another role's choice.
            message = {**view, "blind": {**view["blind"], "as": people.get(person)}}
            if self._last.get(person) != message:
                self._last[person] = message
                self._tell("state", **message, to=person)

    def _whole(self, step: int) -> dict[str, Any]:
        return {**super()._whole(step), "blind": self._all_sights(step), "asked": [], "choosing": []}

    def _all_sights(self, step: int) -> dict[str, Any]:
        """The knowledge of each role after a step."""
        sights = self._sights[min(step, len(self._sights) - 1)]
        return {
            "over": True,
            "as": None,
            "sights": [{"role": role, **role_view.shown} for role, role_view in sights.items()],
        }

    def _frame(self) -> dict[str, Any]:
        """The public fields of ``state`` during a match."""
        step = len(self.match.steps)
        lists = dict.fromkeys(
            ("goals", "lost", "doubts", "thought", "history", "asked", "choosing", "chosen", "beside"), ()
        )
        nothing = {"over": False, "reason": "", "why": ""}
        return {**self._setting(), **lists, **nothing, "step": step, "steps": step}

    def _outside(self) -> dict[str, Any]:
        """The ``state`` for spectators during a match; it has no position."""
        drawing = self._view.painter.draw((), facts=False)
        return {**self._frame(), "svg": drawing, "blind": {"over": False}}

    def _inside(self, role: int) -> dict[str, Any]:
        """The ``state`` for the person who plays a role, during a match."""
        view = self._views[role]
        shown = dict(self._sights[-1][role].shown)
        legal = self.match.options[role]
        free, waits = len(legal) > 1, role in self.match.waiting
        return {
            **self._frame(),
            "svg": shown.pop("svg"),
            "beside": shown.pop("beside"),
            "asked": [{"role": role, "moves": view.offered(role, legal, self._sights[-1][role].sure)}]
            if waits
            else [],
            "choosing": [role] if free else [],
            "chosen": [role] if free and not waits else [],
            "history": self._histories[role],
            "blind": {"over": False, **shown},
        }

    def _own_step(self, role: int, step: MatchStep) -> dict[str, Any]:
        """The latest step, as a role knows it."""
        width, move = range(len(self.roles)), step.joint[role]
        text = self._views[role].spelled(role, move)
        known = self._sights[-2][role].sure
        words = None if role not in step.choices else self._views[role].words(role, [move], known)[0]
        return {
            "moves": [text if one == role else "" for one in width],
            "words": [words if one == role else None for one in width],
            "percepts": self._sights[-1][role].shown["percepts"],
            "notes": {},
            "expects": {},
        }


MEMORY_BYTES = 3 * 1024**3


def main() -> None:
    """Serve one table until it ends."""
    limit_memory(MEMORY_BYTES)
    inbox = Inbox()
    stamped = lambda message: inbox.put({**message, "came": time.monotonic()})  # noqa: E731
    send = Parent(stamped, end_seconds=2.0).send
    try:
        request = _request(inbox.get())
        send("rules", text=request.game.text, how=read_preface(request.game.text)[0].how)
        kind = BlindTable if hides(request.game.rules) else Table
        kind(request, inbox, send).run()
    except BrokenPipeError:
        return
    except Exception as error:
        send("refused", error=explain(error, "table"))


def _request(message: JsonMessage) -> TableRequest:
    rules = message.get("rules")
    game = Game(str(message.get("game") or "game"), rules) if rules else Game.load(str(message["game"]))
    names = TableRequest.__dataclass_fields__.keys() - {"game"}
    return TableRequest(game, **{name: message[name] for name in names if message.get(name)})
