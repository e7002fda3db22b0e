"""A game manager: runs one match of a game between players over HTTP, and asks beforehand which of them can
play.

It trusts nothing that a player sends: it notes a late, unreadable or illegal answer, makes a random legal
move instead, and the match goes on.
"""

from __future__ import annotations

import asyncio
import errno
import random
import re
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from gdl.ends import no_move
from gdl.errors import GdlError, StuckError
from gdl.information import chance_role, hides
from gdl.machine import Machine, State
from gdl.scramble import Cipher
from gdl.syntax.parser import parse_term
from gdl.terms import RANDOM
from gdl.visible import visible
from gdl.words import counted
from ggp.protocol import messages
from ggp.protocol.address import Address, parse_address
from ggp.protocol.asking import asking, post
from ggp.protocol.http_error import HttpError
from ggp.protocol.match_record import MatchRecord
from ggp.protocol.messages import READY, spaced
from players.match import Match
from players.player import Choice

GOODBYE_SECONDS = 5.0
"""Seconds that a player may take to confirm STOP or ABORT."""
_MAX_REPLY = 10_000
"""Characters of the longest answer that is read."""
_STAND_INS = ("random", "legal")
"""Players that need no address: the manager moves for them."""
_CLASS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
"""``module:Class``: no port begins with a letter."""
NO_ANSWER = "TO"
NO_CONNECTION = "CE"
ILLEGAL = "IL"
EXCEPTION = f"{NO_CONNECTION} exception:"
"""Begins the error of a local player whose own code raised. Records only have the code for no connection."""
DIED = f"{NO_CONNECTION} process died:"
"""Begins the error of a local player whose process ended."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a player, or its fault (``error``), and the seconds it took."""

    text: str
    error: str = ""
    seconds: float = 0.0


@dataclass(slots=True)
class RemotePlayer:
    """A player at an address; ``name`` is for the record and the ``Receiver`` header."""

    name: str
    address: Address

    async def exchange(self, message: str, seconds: float) -> Answer:
        """One message and its answer; whatever goes wrong becomes the answer's error."""
        began = time.monotonic()
        text, error = "", ""
        try:
            text = await post(self.address, message, self.name, seconds)
            if len(text) > _MAX_REPLY:
                text, error = "", f"{ILLEGAL} an answer of {len(text):,} characters"
        except TimeoutError:
            error = NO_ANSWER
        except HttpError as problem:
            error = f"{ILLEGAL} {_short(problem.message)}"
        except OSError as problem:
            error = f"{NO_CONNECTION} {_short(problem.strerror or type(problem).__name__)}"
        return Answer(text, error, time.monotonic() - began)


class LocalPlayer(Protocol):
    """A player that is asked without HTTP. It keeps the clocks itself."""

    async def start(self, role: int, state: State) -> Answer:
        """The match begins in ``state``; ``ready`` when it may go on."""

    async def choose(self, state: State) -> Answer:
        """A move as GDL text."""


@dataclass(slots=True)
class StandIn:
    """A player for which the manager moves, as ``kind`` of :data:`_STAND_INS` says."""

    name: str
    kind: str


RolePlayer = RemotePlayer | LocalPlayer | StandIn
"""The player of a role."""


@dataclass(frozen=True, slots=True)
class TurnReport:
    """The outcome of one joint move, for viewers.

    Attributes:
        number: 0 after START, then the number of joint moves made.
        moves: the joint move, as text; empty at 0.
        errors: per role, ``""`` for none.
        seconds: per role, the seconds that its answer took.
    """

    number: int
    moves: Sequence[str]
    errors: Sequence[str]
    seconds: Sequence[float]


def parse_players(text: str) -> list[RemotePlayer | StandIn]:
    """Players from ``URL,URL,random,legal``, in role order. Raises GdlError if a part is neither an address
    nor a stand-in."""
    from players.registry import NAMES

    players: list[RemotePlayer | StandIn] = []
    for word in filter(None, map(str.strip, text.split(","))):
        if word.lower() in _STAND_INS:
            players.append(StandIn(word.lower(), word.lower()))
        elif word.partition(":")[0].lower() in NAMES or _CLASS.fullmatch(word):
            raise GdlError(
                f"{word} is a player, and no address",
                remedy=f"serve it in another terminal: ggp serve --player {word}; then name 127.0.0.1:9147",
            )
        else:
            address = parse_address(word)
            players.append(RemotePlayer(str(address), address))
    return players


def in_words(error: str) -> str:
    """An error of a record, for people: ``CE refused`` is ``no connection: refused``."""
    code, _, rest = error.partition(" ")
    if error.startswith((EXCEPTION, DIED)):
        return rest
    meaning = {
        NO_ANSWER: "no answer in time",
        NO_CONNECTION: "no connection",
        ILLEGAL: "illegal move",
    }.get(code)
    if meaning is None:
        return error
    return f"{meaning}: {rest}" if rest else meaning


class GameManager:
    """Runs one match; :meth:`run` once. The record is there at any time, also of a match that was cut short.

    Args:
        rules: the text of the rules, as players at addresses get it.
        machine: any machine of these rules.
        players: who plays, in role order.
        record: where the match is written to; gives match id and clocks.
        seed: what random moves come from.
        cipher: hides the words of the game from the players.
        watch: called after each joint move.
        opening: joint moves, by ids, that are made before the players are started. ``rules`` must then
            begin in the state that they lead to.
        max_steps: the match is aborted after this many joint moves, with the goals of the state reached.
        numbered: whether players of games of hidden information receive turn and last move (Dresden's
            dialect), and not only the percepts (gamecontroller's).

    Attributes:
        record: the match as a record, and ``match`` itself.

    Raises:
        GdlError: there are not as many players as roles.
    """

    def __init__(
        self,
        rules: str,
        machine: Machine,
        players: Sequence[RolePlayer],
        record: MatchRecord,
        *,
        seed: int = 0,
        cipher: Cipher | None = None,
        watch: Callable[[TurnReport], None] = lambda step: None,
        opening: Sequence[Sequence[int]] = (),
        max_steps: int | None = None,
        numbered: bool = True,
    ) -> None:
        players = with_chance(players, machine)
        self._numbered = numbered
        if len(players) != len(machine.roles):
            names = ", ".join(machine.rules.spell(role) for role in machine.roles if role is not RANDOM)
            raise GdlError(
                f"the game has {counted(len(machine.roles), 'role')},"
                f" and the players given are {len(players)}",
                remedy=f"give one for each of {names}; 'random' and 'legal' are players too",
            )
        self.record = record
        self.match = Match(machine, random.Random(seed), max_steps=max_steps)
        self._rules = spaced(rules)
        self._machine = machine
        self._players = players
        self._cipher = cipher or Cipher({})
        self._watch = watch
        self._opening = opening

    async def run(self) -> MatchRecord:
        """Play the match to its end.

        Whatever ends it early, cancellation or an error of ``watch`` (a closed pipe), the players are sent
        ABORT and the record says so. Raises GdlError if the rules leave a role without a move in a state that
        is not terminal.
        """
        async with asking():
            try:
                await self._play()
            except BaseException:  # whatever ends it here must not leave the players waiting
                self.record.aborted = True
                await self._tell_all(lambda _: messages.abort_request(self.record.match_id))
                raise
        return self.record

    @property
    def own_moves(self) -> list[int]:
        """Per role, the number of moves that it chose itself among several."""
        roles, steps = range(len(self._players)), self.match.steps
        return [sum(role in step.choices and role not in step.faults for step in steps) for role in roles]

    async def _play(self) -> None:
        match, record = self.match, self.record
        roles = range(len(self._players))
        for joint in self._opening:
            record.add_state(match.state, [""] * len(joint))
            record.add_moves(match.state, joint)
            match.replay(joint)
        answers = await self._start(match.state)
        errors = [_start_error(answer) for answer in answers]
        moves: Sequence[str] = ()
        while True:
            record.add_state(match.state, errors)
            self._watch(TurnReport(match.at, moves, errors, [answer.seconds for answer in answers]))
            if match.stuck:
                raise StuckError(
                    f"after {counted(match.at, 'turn')}, {no_move(match.state, match.stuck)}",
                    remedy="the rules are at fault: see `ggp validate`",
                )
            if match.over or match.why:
                break
            answers = await asyncio.gather(*map(self._ask, roles))
            for role, answer in enumerate(answers):
                self._judge(role, answer)
            step = match.make()
            errors = [step.faults.get(role, "") for role in roles]
            moves = record.add_moves(step.state, step.joint)
        record.goals = match.results
        record.completed, record.aborted = match.over, not match.over
        if match.over:
            await self._tell_all(lambda role: self._request("STOP", role))
        else:
            await self._tell_all(lambda _: messages.abort_request(record.match_id))

    def _request(self, command: str, role: int) -> str:
        """The PLAY or STOP for a role: the joint move, or where information is hidden the role's share."""
        record, hidden = self.record, self._cipher.scramble
        last = record.moves[-1] if len(record.moves) > len(self._opening) else None
        if not hides(self._machine.rules):
            moves = None if last is None else list(map(hidden, last))
            return messages.turn_request(command, record.match_id, moves)
        own = None if last is None else hidden(last[role])
        seen = [] if last is None else list(map(hidden, record.percepts[-1][role]))
        turn = len(record.moves)
        return messages.blind_request(command, record.match_id, turn, own, seen, numbered=self._numbered)

    async def _start(self, state: State) -> list[Answer]:
        record, machine = self.record, self._machine
        rules = spaced(self._cipher.scramble(self._rules))

        async def start(role: int, player: RolePlayer) -> Answer:
            if isinstance(player, StandIn):
                return Answer(READY)
            if not isinstance(player, RemotePlayer):
                return await player.start(role, state)
            name = self._cipher.scramble(machine.rules.spell(machine.roles[role]))
            text = messages.start_request(record.match_id, name, rules, record.startclock, record.playclock)
            return await player.exchange(text, record.startclock)

        return await asyncio.gather(*(start(role, player) for role, player in enumerate(self._players)))

    async def _ask(self, role: int) -> Answer:
        player, machine = self._players[role], self._machine
        if isinstance(player, RemotePlayer):
            return await player.exchange(self._request("PLAY", role), self.record.playclock)
        if not isinstance(player, StandIn):
            return await player.choose(self.match.state)
        move = self.match.draw(role) if player.kind == "random" else self.match.in_order(role)[0]
        return Answer(self._cipher.scramble(machine.rules.spell(machine.move(role, move))))

    def _judge(self, role: int, answer: Answer) -> None:
        """Take an answer, or draw a move in its place."""
        error = answer.error
        if not error:
            try:
                move = parse_term(self._cipher.unscramble(answer.text))
                self.match.answer(role, Choice(self._machine.move_id(role, move)))
                return
            except GdlError:
                error = f"{ILLEGAL} {_short(answer.text)}"
        self.match.replace(role, error)

    async def _tell_all(self, message: Callable[[int], str]) -> None:
        """Send each player at an address the message for its role."""
        exchanges = [
            player.exchange(message(role), GOODBYE_SECONDS)
            for role, player in enumerate(self._players)
            if isinstance(player, RemotePlayer)
        ]
        await asyncio.gather(*exchanges)


Seat = TypeVar("Seat", bound=RolePlayer)


def with_chance(players: Sequence[Seat], machine: Machine) -> list[Seat | StandIn]:
    """The players, with a stand-in for chance, the role ``random``, whose moves the manager draws. Raises
    GdlError if another player is to play it."""
    chance, seated = chance_role(machine.roles), list[Seat | StandIn](players)
    if chance is None:
        return seated
    if len(seated) == len(machine.roles) - 1:
        seated.insert(chance, StandIn(RANDOM.name, RANDOM.name))
    elif chance < len(seated) and getattr(seated[chance], "kind", "") != RANDOM.name:
        raise GdlError("the role random is chance: the manager draws its moves", remedy="leave it out")
    return seated


def _start_error(answer: Answer) -> str:
    """The error of an answer to START; empty if there is none."""
    return answer.error or ("" if answer.text.lower() == READY else f"not ready: {_short(answer.text)}")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return visible(text if len(text) <= 120 else text[:117] + "...")


INFO_SECONDS = 3.0
"""Seconds that a player may take to answer with its name."""
COMING_SECONDS = 10.0
"""Seconds to wait for a player that does not listen yet, because it may just have been started."""
_RETRY_SECONDS = 0.1
_MAX_NAME = 100


async def meet(players: Sequence[RolePlayer]) -> list[str]:
    """Ask each player at an address by INFO for its name and whether it is free; set its name.

    Returns one short text for each player that cannot play: its address does not listen, it does not answer
    in time, it is not a player, or it is busy. Such a player keeps its address as name.
    """
    async with asking():
        remote = (player for player in players if isinstance(player, RemotePlayer))
        faults = await asyncio.gather(*map(_meet, remote))
    return [fault for fault in faults if fault]


def make_distinct(players: Sequence[RemotePlayer | StandIn]) -> None:
    """Give each player a name of its own: those that are called alike get their address, and a number where
    that is the same too."""
    for same in _alike(players):
        for player in same:
            if isinstance(player, RemotePlayer) and player.name != str(player.address):
                player.name = f"{player.name} at {player.address}"
    for same in _alike(players):
        for number, player in enumerate(same[1:], 2):
            player.name = f"{player.name} ({number})"


def _alike(players: Sequence[RemotePlayer | StandIn]) -> list[list[RemotePlayer | StandIn]]:
    """The players that share a name with another one."""
    names: dict[str, list[RemotePlayer | StandIn]] = {}
    for player in players:
        names.setdefault(player.name, []).append(player)
    return [same for same in names.values() if len(same) > 1]


async def _meet(player: RemotePlayer) -> str:
    place = player.address
    try:
        text = await _info(player)
        facts = messages.parse_info_reply(text)
    except TimeoutError:
        return f"{place} says nothing for {INFO_SECONDS:.0f} s"
    except socket.gaierror:
        return f"there is no computer {place.host}"
    except ConnectionRefusedError:
        return f"no player listens at {place}: `ggp serve --port {place.port}` starts a player there"
    except HttpError as error:
        return f"{place} answers, but not as a player does: {error.message}"
    except OSError as error:
        return f"{place} cannot be reached: {error.strerror or error}"
    except GdlError:
        text, facts = "", {}
    name = facts.get("name", "")
    if name.isprintable() and 0 < len(name) <= _MAX_NAME:
        player.name = name
    if not text or text.startswith("<"):
        return f"{place} answers, but not as a player does"
    if facts.get("status", "").lower() == messages.BUSY:
        return f"{player.name} at {place} is busy with another match"
    return ""


async def _info(player: RemotePlayer) -> str:
    end = time.monotonic() + COMING_SECONDS
    while True:
        try:
            return await post(player.address, messages.info_request(), player.name, INFO_SECONDS)
        except OSError as error:
            if not _refused(error):
                raise
            if time.monotonic() >= end:
                raise ConnectionRefusedError from None
        await asyncio.sleep(_RETRY_SECONDS)


def _refused(error: OSError) -> bool:
    """Whether the address does not listen. asyncio puts the errors of several addresses into one text."""
    code = f"[Errno {errno.ECONNREFUSED}]"
    text = str(error)
    several = text.startswith("Multiple exceptions") and text.count("[Errno") == text.count(code)
    return several or isinstance(error, ConnectionRefusedError)
