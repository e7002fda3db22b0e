"""The seats of a table: people, players with public names, and players named by the operator.

Text from a page never imports a class, calls an address or opens a folder. Such players come from the command
line (``ggp web --player NAME``). The table asks a player at an address over HTTP, like a game manager. The
protocol cannot take back steps, so each line of play is a match of its own: after people have gone back, or
have made the player's moves, a new match starts in the current state. An answer that is not a legal move is
never shown, because the address may belong to another service."""

from __future__ import annotations

import asyncio
import contextlib
import math
import secrets
from collections.abc import Callable, Collection, Sequence

from gdl.errors import GdlError
from gdl.information import hides
from gdl.machine import JointMove, Machine, State
from gdl.syntax.parser import parse_term
from gdl.terms import RANDOM
from ggp.manager import ILLEGAL, NO_ANSWER, NO_CONNECTION, Answer, RemotePlayer
from ggp.protocol import messages
from ggp.protocol.address import parse_address
from ggp.tournament.schedule import rules_from
from ggp.web.play.company import FRIEND
from ggp.web.play.view import HUMAN
from players.player import GRACE_SECONDS, Choice
from players.registry import check_name, check_public

_SCHEME = "http://"
_LOOK_SECONDS = 0.05
_GOODBYE_SECONDS = 0.5
_FAULTS = {NO_ANSWER: "does not answer in time", ILLEGAL: "does not speak the protocol of matches"}


def is_remote(name: str) -> bool:
    """Whether a seat's name is an address."""
    return name.startswith(_SCHEME)


class InterruptedByPeopleError(GdlError):
    """An urgent request arrived before the player's answer."""


class RemoteSeat:
    """The player at an address, for one role.

    Args:
        name: its address, ``http://host:port``. Raises GdlError if it is not an address.
        playclock: seconds for a move, rounded up because the protocol's clocks are whole seconds.
        hurry: whether an urgent request waits; the player's answer is dropped then.

    Attributes:
        clock: these seconds.
    """

    def __init__(self, name: str, role: int, playclock: float, hurry: Callable[[], bool]) -> None:
        self._player = RemotePlayer(name, parse_address(name))
        self._role = role
        self.clock = max(1, math.ceil(playclock))
        self._hurry = hurry
        self._match = ""
        self._line: list[tuple[State, JointMove]] = []
        """The steps sent to the player."""
        self._first = 0
        """The number of these steps before its match began."""

    def choose(self, state: State, line: Sequence[tuple[State, JointMove]]) -> Choice:
        """Its move in a state, after the steps of ``line``.

        Raises:
            GdlError: the player does not answer in time, or its move is not legal.
            InterruptedByPeopleError: an urgent request arrived.
        """
        machine = state.machine
        sent = len(self._line)
        answer = ""
        if not self._match or list(line[:sent]) != self._line:
            # With hidden information the rules must not reveal the state, so all percepts are sent again.
            first = 0 if hides(machine.rules) else len(line)
            self._begin(line[0][0] if line and not first else state, first)
            self._line, sent = list(line[:first]), first
            answer = self._play(machine, None)
        for step in line[sent:]:
            self._line.append(step)
            answer = self._play(machine, step)
        if not answer:  # asked again in the same state
            answer = self._play(machine, self._line[-1] if len(self._line) > self._first else None)
        try:
            move = machine.move_id(self._role, parse_term(answer))
            legal = move in machine.legal_moves(state, self._role)
        except GdlError:
            legal = False
        if not legal:
            raise GdlError("answers with a move that is not legal")
        return Choice(move)

    def stop(self) -> None:
        """End the player's match."""
        if self._match:
            with contextlib.suppress(GdlError):
                self._ask(messages.abort_request(self._match), _GOODBYE_SECONDS, patient=True)
        self._match = ""

    def _begin(self, state: State, steps: int) -> None:
        self.stop()
        match, machine = f"Table.{secrets.token_hex(6)}", state.machine
        role = machine.rules.spell(machine.roles[self._role])
        rules = messages.spaced(rules_from(state))
        request = messages.start_request(match, role, rules, self.clock, self.clock)
        reply = self._ask(request, self.clock + GRACE_SECONDS)
        if reply.lower() != messages.READY:
            raise GdlError("does not answer that it is ready", remedy="is it free?")
        self._match, self._first = match, steps

    def _play(self, machine: Machine, step: tuple[State, JointMove] | None) -> str:
        moves: list[str] = []
        spell, role = machine.rules.spell, self._role
        if step is not None:
            moves = [spell(machine.move(other, move)) for other, move in enumerate(step[1])]
        if not hides(machine.rules):
            request = messages.turn_request("PLAY", self._match, None if step is None else moves)
        elif step is None:
            request = messages.blind_request("PLAY", self._match, 0, None, ())
        else:
            seen = map(spell, sorted(machine.percepts(*step)[role]))
            request = messages.blind_request("PLAY", self._match, len(self._line), moves[role], list(seen))
        return self._ask(request, self.clock + GRACE_SECONDS)

    def _ask(self, message: str, seconds: float, patient: bool = False) -> str:
        answer = asyncio.run(self._asked(message, seconds, patient))
        if answer.error:
            self._match = ""
            code, _, why = answer.error.partition(" ")
            raise GdlError(f"cannot be reached: {why}" if code == NO_CONNECTION else _FAULTS[code])
        return answer.text

    async def _asked(self, message: str, seconds: float, patient: bool) -> Answer:
        asking = asyncio.create_task(self._player.exchange(message, seconds))
        while not asking.done():
            await asyncio.wait([asking], timeout=_LOOK_SECONDS)
            if not asking.done() and not patient and self._hurry():
                asking.cancel()
                await asyncio.wait([asking])
                raise InterruptedByPeopleError("is not waited for")
        return asking.result()


def check_seat(name: str, allowed: Collection[str]) -> None:
    """Check a seat chosen on a page.

    Args:
        name: ``human``, ``friend``, a player's name, or an address.
        allowed: the names and addresses given by the operator.

    Raises:
        GdlError: pages may not choose this player.
    """
    if name in (HUMAN, FRIEND):
        return
    if not is_remote(name):
        check_public(name, allowed)
    elif name not in allowed:
        raise GdlError(
            f"{name!r} is not offered here",
            remedy="the operator names addresses: ggp web --player http://HOST:PORT",
        )


def check_offer(name: str) -> None:
    """Check a player given by the operator. Raises GdlError if it is neither a player nor an address."""
    if is_remote(name):
        parse_address(name)
    elif name != HUMAN:
        check_name(name)


def seated(names: Sequence[str], roles: int, chance: int | None) -> list[str]:
    """The players of all roles, with ``random`` for the chance role. ``names`` are in role order, with or
    without a name for chance."""
    seats = list(names)
    if chance is None:
        return seats
    if len(seats) == roles:
        del seats[chance]
    return [*seats[:chance], RANDOM.name, *seats[chance:]]
