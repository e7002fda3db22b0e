"""A game manager: runs one match of a game between players over HTTP.

It trusts nothing that a player sends: it notes a late, unreadable or illegal answer, makes a random legal
move instead, and the match goes on.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from gdl.ends import no_goal, no_move
from gdl.errors import GdlError, StuckError
from gdl.information import chance_role, hides
from gdl.machine import Machine, State
from gdl.scramble import Cipher
from gdl.syntax.parser import parse_term
from gdl.terms import RANDOM, sort_key
from gdl.visible import visible
from gdl.words import counted
from ggp.protocol import messages
from ggp.protocol.address import Address, parse_address
from ggp.protocol.asking import asking, post
from ggp.protocol.http_error import HttpError
from ggp.protocol.match_record import MatchRecord
from ggp.protocol.messages import READY, spaced

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
class MatchStep:
    """The outcome of one joint move, for viewers.

    Attributes:
        number: 0 after START, then the number of joint moves made.
        state: the state reached.
        moves: the joint move that led to it; empty at 0.
        errors: per role, ``""`` for none.
        seconds: per role, the seconds that its answer took.
    """

    number: int
    state: State
    moves: tuple[str, ...]
    errors: tuple[str, ...]
    seconds: tuple[float, ...]


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
        record: the match.
        own_moves: per role, the number of moves that it chose itself among several.
        doubts: why roles have no goal value at the end, or not only one.

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
        watch: Callable[[MatchStep], None] = lambda step: None,
        opening: Sequence[Sequence[int]] = (),
        max_steps: int | None = None,
        numbered: bool = True,
    ) -> None:
        players = with_chance(players, machine)
        self._chance, self._numbered = chance_role(machine.roles), numbered
        if len(players) != len(machine.roles):
            names = ", ".join(machine.rules.spell(role) for role in machine.roles if role is not RANDOM)
            raise GdlError(
                f"the game has {counted(len(machine.roles), 'role')},"
                f" and the players given are {len(players)}",
                remedy=f"give one for each of {names}; 'random' and 'legal' are players too",
            )
        self.record = record
        self.own_moves = [0] * len(players)
        self.doubts: list[str] = []
        self._rules = spaced(rules)
        self._machine = machine
        self._players = players
        self._rng = random.Random(seed)
        self._cipher = cipher or Cipher({})
        self._watch = watch
        self._opening = opening
        self._max_steps = max_steps

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

    async def _play(self) -> None:
        machine, record = self._machine, self.record
        roles = range(len(self._players))
        state = machine.initial_state()
        for opening in self._opening:
            self._note_state(state, [""] * len(opening))
            record.add_moves(self._spelled(opening))
            state = machine.next_state(state, opening)
        answers = await self._start(state)
        errors = tuple(_start_error(answer) for answer in answers)
        joint: tuple[str, ...] | None = None
        percepts: list[list[str]] | None = None
        while True:
            self._note_state(state, errors)
            seconds = tuple(answer.seconds for answer in answers)
            self._watch(MatchStep(len(record.moves), state, joint or (), errors, seconds))
            if machine.is_terminal(state) or len(record.moves) == self._max_steps:
                break
            answers = await asyncio.gather(*(self._ask(role, state, joint, percepts) for role in roles))
            judged = [self._judge(role, state, answer) for role, answer in enumerate(answers)]
            moves, errors = [move for move, _ in judged], tuple(error for _, error in judged)
            joint = self._spelled(moves)
            percepts = self._perceived(state, moves)
            state = machine.next_state(state, moves)
            record.add_moves(joint, percepts)
        record.goals = [machine.result(state, role) or 0 for role in roles]
        record.completed = machine.is_terminal(state)
        if record.completed:
            players = (role for role in roles if role != self._chance)
            self.doubts = [no_goal(state, role) for role in players if machine.goal(state, role) is None]
        record.aborted = not record.completed
        if record.completed:
            await self._tell_all(lambda role: self._request("STOP", role, joint, percepts))
        else:
            await self._tell_all(lambda _: messages.abort_request(record.match_id))

    def _request(
        self, command: str, role: int, joint: tuple[str, ...] | None, percepts: list[list[str]] | None
    ) -> str:
        """The PLAY or STOP for a role: the joint move, or where information is hidden the role's share."""
        match, hidden = self.record.match_id, self._cipher.scramble
        if not hides(self._machine.rules):
            request = messages.play_request if command == "PLAY" else messages.stop_request
            return request(match, self._hidden(joint))
        own = None if joint is None else hidden(joint[role])
        seen = [] if percepts is None else list(map(hidden, percepts[role]))
        turn = len(self.record.moves)
        return messages.blind_request(command, match, turn, own, seen, numbered=self._numbered)

    def _perceived(self, state: State, moves: Sequence[int]) -> list[list[str]] | None:
        """The percepts of each role, as text; None if the game hides nothing."""
        machine = self._machine
        if not hides(machine.rules):
            return None
        return [list(map(machine.rules.spell, sorted(seen))) for seen in machine.percepts(state, moves)]

    def _spelled(self, joint: Sequence[int]) -> tuple[str, ...]:
        machine = self._machine
        return tuple(machine.rules.spell(machine.move(role, move)) for role, move in enumerate(joint))

    def _note_state(self, state: State, errors: Sequence[str]) -> None:
        spell = self._machine.rules.spell
        self.record.add_state(map(spell, sorted(state.propositions)), errors)

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

    async def _ask(
        self,
        role: int,
        state: State,
        joint: tuple[str, ...] | None,
        percepts: list[list[str]] | None,
    ) -> Answer:
        player, machine = self._players[role], self._machine
        if isinstance(player, RemotePlayer):
            text = self._request("PLAY", role, joint, percepts)
            return await player.exchange(text, self.record.playclock)
        if not isinstance(player, StandIn):
            return await player.choose(state)
        options = self._ordered(role, machine.legal_moves(state, role))
        if not options:
            return Answer("")
        move = self._rng.choice(options) if player.kind == "random" else options[0]
        return Answer(self._cipher.scramble(machine.rules.spell(machine.move(role, move))))

    def _ordered(self, role: int, moves: Sequence[int]) -> list[int]:
        """Moves of a role in the order of their terms: ids differ between machines."""
        return sorted(moves, key=lambda move: sort_key(self._machine.move(role, move)))

    def _hidden(self, joint: tuple[str, ...] | None) -> list[str] | None:
        return None if joint is None else list(map(self._cipher.scramble, joint))

    def _judge(self, role: int, state: State, answer: Answer) -> tuple[int, str]:
        """The move that counts, and the error of the answer."""
        machine = self._machine
        options = machine.legal_moves(state, role)
        if not options:
            raise StuckError(
                f"after {counted(len(self.record.moves), 'turn')}, {no_move(state, [role])}",
                remedy="the rules are at fault: see `ggp validate`",
            )
        error = answer.error
        if not error:
            try:
                move = machine.move_id(role, parse_term(self._cipher.unscramble(answer.text)))
                if move in options:
                    self.own_moves[role] += len(options) > 1
                    return move, ""
            except GdlError:
                pass  # the error below has the text as it came
            error = f"{ILLEGAL} {_short(answer.text)}"
        return self._rng.choice(self._ordered(role, options)), error

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


def remote_players(players: Sequence[RolePlayer]) -> list[RemotePlayer]:
    """Those at addresses."""
    return [player for player in players if isinstance(player, RemotePlayer)]


def _start_error(answer: Answer) -> str:
    """The error of an answer to START; empty if there is none."""
    return answer.error or ("" if answer.text.lower() == READY else f"not ready: {_short(answer.text)}")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return visible(text if len(text) <= 120 else text[:117] + "...")
