"""A game manager: runs one match of a game between players over HTTP.

What a player sends is never trusted: a late, unreadable or illegal answer is replaced by a
random legal move, noted, and the match goes on.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gdl.errors import GdlError, MoveError
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term
from gdl.terms import sort_key
from ggp.protocol.cipher import Cipher, Plain
from ggp.protocol.http10 import Address, HttpError, parse_address, post
from ggp.protocol.match_record import MatchRecord
from ggp.protocol.messages import (
    READY,
    abort_request,
    info_request,
    parse_info_reply,
    play_request,
    spaced,
    start_request,
    stop_request,
)

INFO_SECONDS = 3.0
"""How long a player may take to say its name."""

GOODBYE_SECONDS = 5.0
"""How long a player may take to confirm STOP or ABORT."""

MAX_REPLY = 10_000
"""Longest answer that is looked into, in characters."""

STAND_INS = ("random", "legal")
"""Players that need no address: the manager moves for them."""

NO_ANSWER = "TO"
NO_CONNECTION = "CE"
ILLEGAL = "IL"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a player said, or what went wrong (``error``), and how many seconds it took."""

    text: str
    error: str = ""
    seconds: float = 0.0


class Mover(Protocol):
    """A player that is asked without HTTP. It keeps the clocks itself."""

    async def start(self, role: int, state: State) -> Answer:
        """The match begins in ``state``; ``ready`` when it may go on."""

    async def choose(self, state: State) -> Answer:
        """A move as GDL text."""


@dataclass(slots=True)
class Seat:
    """Who plays a role: a player at an address, a mover, or a stand-in (both are None).

    Attributes:
        name: what the player is called in the record and in the ``Receiver`` header.
        kind: ``random`` or ``legal`` for stand-ins.
    """

    name: str
    address: Address | None
    kind: str = ""
    mover: Mover | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What one turn brought, for whoever watches.

    Attributes:
        number: 0 after START, then the number of joint moves made.
        state: the state reached.
        moves: the joint move that led to it; empty at 0.
        errors: per role, ``""`` where none.
        seconds: per role, how long its answer took.
    """

    number: int
    state: State
    moves: tuple[str, ...]
    errors: tuple[str, ...]
    seconds: tuple[float, ...]


def parse_seats(players: str) -> list[Seat]:
    """Seats from ``URL,URL,random,legal``, in role order.

    Raises:
        HttpError: a part is neither an address nor a stand-in.
    """
    seats: list[Seat] = []
    for part in filter(None, map(str.strip, players.split(","))):
        if part.lower() in STAND_INS:
            seats.append(Seat(part.lower(), None, part.lower()))
        else:
            address = parse_address(part)
            seats.append(Seat(str(address), address))
    return seats


class Host:
    """Runs one match; :meth:`run` once. The record is there at any time, also of a match that
    was cut short.

    Args:
        rules: the text of the rules, as players at addresses get it.
        machine: any machine of these rules.
        seats: who plays, in role order.
        record: where the match is written to; gives match id and clocks.
        seed: what random moves come from.
        cipher: hides the words of the game from the players.
        watch: called after each turn.
        opening: joint moves, by ids, that are made before the players are started. ``rules`` must
            then begin in the state that they lead to.
        max_steps: the match is aborted after this many joint moves; its goals are those of the
            state reached.
    """

    def __init__(
        self,
        rules: str,
        machine: Machine,
        seats: Sequence[Seat],
        record: MatchRecord,
        *,
        seed: int = 0,
        cipher: Cipher | None = None,
        watch: Callable[[Step], None] = lambda step: None,
        opening: Sequence[Sequence[int]] = (),
        max_steps: int | None = None,
    ) -> None:
        if len(seats) != len(machine.roles):
            names = ", ".join(map(machine.rules.spell, machine.roles))
            raise GdlError(
                f"the game has {len(machine.roles)} roles, and the players given are {len(seats)}",
                remedy=f"give one for each of {names}; 'random' and 'legal' are players too",
            )
        self.record = record
        self._rules = spaced(rules)
        self._machine = machine
        self._seats = seats
        self._rng = random.Random(seed)
        self._cipher = cipher or Plain()
        self._watch = watch
        self._opening = opening
        self._max_steps = max_steps

    async def run(self) -> MatchRecord:
        """Play the match to its end.

        On cancellation the players are sent ABORT and the record says so.

        Raises:
            GdlError: the rules leave a role without a move in a state that is not terminal.
        """
        try:
            await self._play()
        except (asyncio.CancelledError, GdlError):
            self.record.aborted = True
            await self._tell_all(abort_request(self.record.match_id))
            raise
        return self.record

    async def _play(self) -> None:
        machine, record = self._machine, self.record
        state = machine.initial_state()
        for moves in self._opening:
            self._reached(state, [""] * len(moves))
            record.add_moves(self._spelled(moves))
            state = machine.next_state(state, moves)
        errors, seconds = await self._start(state)
        self._reached(state, errors)
        self._watch(Step(len(record.moves), state, (), errors, seconds))
        joint: tuple[str, ...] | None = None
        while not machine.is_terminal(state) and len(record.moves) != self._max_steps:
            answers = await asyncio.gather(
                *(self._ask(role, state, joint) for role in range(len(self._seats)))
            )
            choice = [self._judged(role, state, answer) for role, answer in enumerate(answers)]
            errors = tuple(error for _, error in choice)
            joint = self._spelled([move for move, _ in choice])
            state = machine.next_state(state, [move for move, _ in choice])
            record.add_moves(joint)
            self._reached(state, errors)
            self._watch(Step(len(record.moves), state, joint, errors, tuple(a.seconds for a in answers)))
        record.goals = [machine.result(state, role) or 0 for role in range(len(self._seats))]
        record.completed = machine.is_terminal(state)
        record.aborted = not record.completed
        if record.completed:
            await self._tell_all(stop_request(record.match_id, self._hidden(joint)))
        else:
            await self._tell_all(abort_request(record.match_id))

    def _spelled(self, joint: Sequence[int]) -> tuple[str, ...]:
        machine = self._machine
        return tuple(machine.rules.spell(machine.move(role, move)) for role, move in enumerate(joint))

    def _reached(self, state: State, errors: Sequence[str]) -> None:
        spell = self._machine.rules.spell
        self.record.add_state(map(spell, sorted(state.propositions)), errors)

    # --- messages -------------------------------------------------------------------------------
    async def _start(self, state: State) -> tuple[tuple[str, ...], tuple[float, ...]]:
        record = self.record
        rules = spaced(self._cipher.scramble(self._rules))

        async def start(role: int, seat: Seat) -> Answer:
            if seat.mover is not None:
                return await seat.mover.start(role, state)
            if seat.address is None:
                return Answer(READY)
            name = self._cipher.scramble(self._machine.rules.spell(self._machine.roles[role]))
            text = start_request(record.match_id, name, rules, record.startclock, record.playclock)
            return await _exchange(seat, text, record.startclock)

        answers = await asyncio.gather(*(start(r, s) for r, s in enumerate(self._seats)))
        errors = tuple(
            a.error or ("" if a.text.lower() == READY else f"not ready: {_short(a.text)}") for a in answers
        )
        return errors, tuple(a.seconds for a in answers)

    async def _ask(self, role: int, state: State, joint: tuple[str, ...] | None) -> Answer:
        seat = self._seats[role]
        if seat.address is not None:
            text = play_request(self.record.match_id, self._hidden(joint))
            return await _exchange(seat, text, self.record.playclock)
        if seat.mover is not None:
            return await seat.mover.choose(state)
        machine = self._machine
        options = machine.legal_moves(state, role)
        if not options:
            return Answer("")
        ordered = sorted(options, key=lambda move: sort_key(machine.move(role, move)))
        move = self._rng.choice(ordered) if seat.kind == "random" else ordered[0]
        return Answer(self._cipher.scramble(machine.rules.spell(machine.move(role, move))))

    def _hidden(self, joint: tuple[str, ...] | None) -> list[str] | None:
        return None if joint is None else list(map(self._cipher.scramble, joint))

    def _judged(self, role: int, state: State, answer: Answer) -> tuple[int, str]:
        """The move that counts, and what was wrong with the answer."""
        machine = self._machine
        options = machine.legal_moves(state, role)
        if not options:
            raise MoveError(
                f"{machine.rules.spell(machine.roles[role])} has no legal move"
                f" after {len(self.record.moves)} turns",
                remedy="the rules are at fault: see `ggp validate`",
            )
        error = answer.error
        if not error:
            try:
                move = machine.move_id(role, parse_term(self._cipher.unscramble(answer.text)))
                if move in options:
                    return move, ""
            except GdlError:
                pass  # said below, with the text as it came
            error = f"{ILLEGAL} {_short(answer.text)}"
        ordered = sorted(options, key=lambda move: sort_key(machine.move(role, move)))
        return self._rng.choice(ordered), error

    async def _tell_all(self, message: str) -> None:
        await asyncio.gather(
            *(_exchange(seat, message, GOODBYE_SECONDS) for seat in self._seats if seat.address is not None)
        )


async def ask_names(seats: Sequence[Seat]) -> None:
    """Ask each player for its name by INFO; who does not answer keeps its address as name."""

    async def ask(seat: Seat) -> None:
        if seat.address is None:
            return
        answer = await _exchange(seat, info_request(), INFO_SECONDS)
        try:
            name = parse_info_reply(answer.text).get("name", "")
        except GdlError:
            return
        if name.isprintable() and 0 < len(name) <= 100:
            seat.name = name

    await asyncio.gather(*map(ask, seats))


async def _exchange(seat: Seat, message: str, seconds: float) -> Answer:
    """One message and its answer; whatever goes wrong becomes the answer's error."""
    assert seat.address is not None
    began = time.monotonic()
    text, error = "", ""
    try:
        text = await post(seat.address, message, seat.name, seconds)
        if len(text) > MAX_REPLY:
            text, error = "", f"{ILLEGAL} an answer of {len(text):,} characters"
    except TimeoutError:
        error = NO_ANSWER
    except HttpError as problem:
        error = f"{ILLEGAL} {_short(problem.message)}"
    except OSError as problem:
        error = f"{NO_CONNECTION} {_short(problem.strerror or type(problem).__name__)}"
    return Answer(text, error, time.monotonic() - began)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 120 else text[:117] + "..."
