"""The process that runs one match after another.

A :class:`ggp.manager.GameManager` runs each match. Local players think in processes of their own
(:mod:`ggp.tournament.player_process`). They are asked with a hard deadline and restarted if they fail; the
referee keeps them from match to match as long as they behave.

It receives ``play`` with a job. It sends ``waits`` while players take long to get ready, ``step`` after each
joint move, then ``done`` with the record, or ``failed``.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from gdl.errors import GdlError
from gdl.information import hides, playing
from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.manager import (
    DIED,
    EXCEPTION,
    ILLEGAL,
    NO_ANSWER,
    NO_CONNECTION,
    Answer,
    GameManager,
    RemotePlayer,
    RolePlayer,
    TurnReport,
    in_words,
)
from ggp.processes.parent import JsonMessage, Parent, explain, leave
from ggp.protocol.address import parse_address
from ggp.protocol.match_record import MatchRecord, now_ms
from ggp.protocol.messages import READY
from ggp.tournament.process import END_SECONDS, TournamentProcess, pin
from ggp.tournament.schedule import rules_from
from ggp.tournament.settings import READY_SECONDS, REMIND_SECONDS, refusal
from players.match import Openings
from players.player import LATE_SECONDS, TOLERANCE
from players.processes.limits import limit_memory

BUILD_SECONDS = 600.0
"""Seconds that its machine may take, before any clock runs."""
MAX_RESTARTS = 3
"""The number of times in one match that a player which crashed or hung is started again."""


@dataclass(frozen=True, slots=True)
class PlayerTerms:
    """The settings of a local player for a match.

    Attributes:
        label: its name in the tournament.
        player: its name for the registry.
        rules: the rules as text.
        level: the machine that it gets.
        workers: whether it has processes of its own, which take a while to load.
        seed: of its random numbers.
        cores: where it may run; empty for anywhere.
        startclock: seconds; ``playclock`` too.
    """

    label: str
    player: str
    rules: str
    level: str
    workers: bool
    seed: int
    cores: tuple[int, ...]
    startclock: float
    playclock: float


class ProcessPlayer:
    """A :class:`ggp.manager.LocalPlayer` that thinks in a process of its own.

    Args:
        process: the player's process; replaced if it fails.
        terms: the player's settings.
        record: the match, whose moves it follows.
        one_at_a_time: held while the player thinks, if the players of a match share their cores.

    Attributes:
        restarts: the number of times that the process was replaced.
    """

    def __init__(
        self,
        process: TournamentProcess,
        terms: PlayerTerms,
        record: MatchRecord,
        one_at_a_time: AbstractAsyncContextManager[object] | None = None,
    ) -> None:
        self.process = process
        self.restarts = 0
        self._terms = terms
        self._record = record
        self._turnstile = one_at_a_time or nullcontext()
        self._role = 0
        self._moves_sent = 0
        self._last_asked = 0
        self._last_answered = 0
        self._heard = True
        """Whether there was an answer, even a late one, since the last request."""
        self._loaded = False
        self._patience = 0.0
        """The time until which silence does not mean that the player hangs."""

    @property
    def name(self) -> str:
        """Its name for the registry."""
        return self._terms.player

    async def load(self, role: int, remind: Callable[[str], None]) -> None:
        """Create the machine and the player, before any clock of the match runs. ``remind`` is called with
        the name of the player if it takes long. Raises GdlError if the player cannot be created, or is not
        ready in time."""
        self._role = role
        self._load()
        label, now = self._terms.label, asyncio.get_running_loop().time
        clock = max(READY_SECONDS, self._terms.startclock)
        reminder = asyncio.get_running_loop().call_later(REMIND_SECONDS, remind, f"waiting for {label}")
        try:
            async with asyncio.timeout(clock) as limit:
                while (message := await self.process.inbox.get()) is not None:
                    match message["kind"]:
                        case "building":
                            limit.reschedule(now() + BUILD_SECONDS)
                        case "built":
                            limit.reschedule(now() + clock)
                        case "loaded":
                            self._loaded = True
                            return
                        case "refused":
                            raise GdlError(refusal(label, message["error"]))
        except TimeoutError:
            raise GdlError(refusal(label, f"it is not ready after {clock:.0f} s")) from None
        finally:
            reminder.cancel()
        raise GdlError(refusal(label, f"its process died while it got ready: {self.process.ending}"))

    async def start(self, role: int, state: State) -> Answer:
        """Start the player; it may prepare until the startclock is over."""
        async with self._turnstile:
            began = time.monotonic()
            deadline = began + self._terms.startclock
            self._start(deadline)
            return await self._answer(READY, began, deadline)

    async def choose(self, state: State) -> Answer:
        """The player's move; at once if there is only one."""
        machine = state.machine
        options = machine.legal_moves(state, self._role)
        if len(options) < 2:
            return Answer(machine.rules.spell(machine.move(self._role, options[0])) if options else "")
        async with self._turnstile:
            began = time.monotonic()
            deadline = began + self._terms.playclock
            if self._fails(began):
                if self.restarts == MAX_RESTARTS:
                    return Answer(
                        "", f"{NO_CONNECTION} died or hung {MAX_RESTARTS + 1} times, not started again"
                    )
                await self._restart(began)
            self._ask("choose", deadline)
            return await self._answer("", began, deadline)

    def stop(self) -> bool:
        """End the match. Returns whether the process may be used for another one."""
        self.process.send("stop")
        answers = self._loaded and self._last_answered == self._last_asked
        return answers and self.process.alive and not self.restarts

    def _fails(self, now: float) -> bool:
        """Whether the player is gone, or has been silent for too long. A player that is merely late goes on:
        it would lose more turns if it was started again."""
        while not self.process.inbox.empty():
            message = self.process.inbox.get_nowait()
            if message is not None:
                self._note(message)
        return not self.process.alive or (not self._heard and now > self._patience)

    async def _restart(self, now: float) -> None:
        """Start a new process in place of one that crashed or hangs. It loads while its clocks run: turns
        that are over before it is ready are lost."""
        self.restarts += 1
        self.process.kill()
        await self.process.close()
        self.process = await TournamentProcess.start("ggp.tournament.player_process")
        self._load()
        self._start(now)
        self._patience = now + READY_SECONDS

    def _load(self) -> None:
        self.process.send("load", role=self._role, **asdict(self._terms))

    def _start(self, deadline: float) -> None:
        self._moves_sent = 0
        terms = self._terms
        self._ask("start", deadline, role=self._role, seed=terms.seed, startclock=terms.startclock)

    def _ask(self, do: str, deadline: float, **fields: object) -> None:
        self._last_asked += 1
        if self._heard:
            self._patience = deadline + LATE_SECONDS
        self._heard = False
        moves, first = self._record.moves[self._moves_sent :], self._moves_sent
        self._moves_sent += len(moves)
        if self._record.percepts:
            role = self._role
            fields["observed"] = [
                (joint[role], seen[role])
                for joint, seen in zip(moves, self._record.percepts[first:], strict=True)
            ]
            moves = []
        self.process.send(do, id=self._last_asked, moves=moves, deadline=deadline, **fields)

    async def _answer(self, ready: str, began: float, deadline: float) -> Answer:
        """The answer to the last request; ``ready`` if the request needs no answer."""
        text, error = "", ""
        try:
            async with asyncio.timeout(deadline + TOLERANCE - time.monotonic()):
                while (message := await self.process.inbox.get()) is not None:
                    self._note(message)
                    if self._last_answered != self._last_asked:
                        continue
                    if message["kind"] == "failed":
                        error = f"{EXCEPTION} {message['error']}"
                    elif message["kind"] == "illegal":
                        error = f"{ILLEGAL} {message['error']}"
                    else:
                        text = message.get("move", ready)
                    break
                else:
                    error = f"{DIED} {self.process.ending}"
        except TimeoutError:
            error = NO_ANSWER
        return Answer(text, error, time.monotonic() - began)

    def _note(self, message: JsonMessage) -> None:
        """Take note of a message from the player."""
        if "id" in message:
            self._last_answered = message["id"]
            self._heard = True


MEMORY_BYTES = 4 * 1024**3

_MAX_IDLE = 8
"""The number of idle players' processes that are kept."""


class Referee:
    """Runs matches, one at a time."""

    def __init__(self, parent: Parent) -> None:
        self._parent = parent
        self._games: dict[tuple[str, int, int], tuple[Machine, Openings]] = {}
        self._idle: list[tuple[str, TournamentProcess]] = []

    async def play(self, job: JsonMessage) -> None:
        """Run the match of a job and report it. Raises GdlError if the match cannot be played."""
        pin(core for seat in job["seats"] for core in seat["cores"])
        machine, openings = self._game(job["rules"], job["plies"], job["seed"])
        # The state after an opening would reveal hidden information.
        hidden = hides(machine.rules)
        opening = () if hidden else openings.of_round(job["round"])
        roles, names = playing(machine.roles), [machine.rules.spell(role) for role in machine.roles]
        for role, seat in zip(roles, job["seats"], strict=True):
            names[role] = seat["label"]
        record = MatchRecord(
            f"{job['tournament']}.{now_ms()}.{_seed_of(job['seed'], job['key']) % 10**8}",
            round(job["startclock"]),
            round(job["playclock"]),
            names,
            tournament=job["tournament"],
            seed=(deals := _seed_of(job["seed"], job["key"], "referee", bits=128)),
        )
        local: dict[int, ProcessPlayer] = {}
        try:
            players = await self._players(job, roles, record, local)
            began = time.monotonic()
            record.start_time = now_ms()
            manager = GameManager(
                rules_from(openings.state(job["round"])) if opening else job["rules"],
                machine,
                players,
                record,
                seed=deals,
                watch=partial(self._tell, record),
                opening=opening,
                max_steps=job["max_steps"],
            )
            await manager.run()
            seconds = time.monotonic() - began
        finally:
            await self._release(job, local)
        fields: dict[str, Any] = {**record.to_dict(), "opening": len(opening)}
        for key, clock in (("startClock", job["startclock"]), ("playClock", job["playclock"])):
            fields[key] = clock if clock != int(clock) else int(clock)
        self._parent.send(
            "done",
            record=fields,
            roles=roles,
            goals=[record.goals[role] for role in roles],
            completed=record.completed,
            seconds=seconds,
            own=[manager.own_moves[role] for role in roles],
            restarts=[local[role].restarts if role in local else 0 for role in roles],
        )

    def _tell(self, record: MatchRecord, step: TurnReport) -> None:
        """Report a step: the first one with all moves of the opening."""
        moves = [step.moves] if step.moves else record.moves
        errors = list(map(in_words, step.errors))
        self._parent.send("step", number=step.number, match=record.match_id, moves=moves, errors=errors)

    def _remind(self, text: str) -> None:
        self._parent.send("waits", text=text)

    async def close(self) -> None:
        """End all processes, giving them a moment to free what they hold."""
        await asyncio.gather(*(process.close() for _, process in self._idle))

    async def _players(
        self, job: JsonMessage, roles: Sequence[int], record: MatchRecord, local: dict[int, ProcessPlayer]
    ) -> list[RolePlayer]:
        """The players of these roles, ready to start; players with processes are also put in ``local``."""
        players: list[RolePlayer] = []
        turnstile = asyncio.Lock() if job["take_turns"] else None
        for role, seat in zip(roles, job["seats"], strict=True):
            if seat["address"]:
                players.append(RemotePlayer(seat["label"], parse_address(seat["address"])))
                continue
            terms = PlayerTerms(
                label=seat["label"],
                player=seat["player"],
                rules=job["rules"],
                level=job["level"],
                workers=seat["workers"],
                seed=_seed_of(job["seed"], job["key"], role),
                cores=tuple(seat["cores"]),
                startclock=job["startclock"],
                playclock=job["playclock"],
            )
            local[role] = ProcessPlayer(await self._process(seat["player"]), terms, record, turnstile)
            players.append(local[role])
        await asyncio.gather(*(player.load(role, self._remind) for role, player in local.items()))
        return players

    async def _process(self, player: str) -> TournamentProcess:
        for index, (name, process) in enumerate(self._idle):
            if name == player and process.alive:
                del self._idle[index]
                return process
        return await TournamentProcess.start("ggp.tournament.player_process")

    async def _release(self, job: JsonMessage, local: dict[int, ProcessPlayer]) -> None:
        """Keep the processes that behaved, for later matches."""
        for player in local.values():
            if player.stop():
                self._idle.append((player.name, player.process))
            else:
                player.process.kill()
                await player.process.close()
        while len(self._idle) > _MAX_IDLE:
            await self._idle.pop(0)[1].close()

    def _game(self, text: str, plies: int, seed: int) -> tuple[Machine, Openings]:
        key = (text, plies, seed)
        if key not in self._games:
            machine = ProverMachine(parse_rules(text, "the rules"))
            self._games[key] = machine, Openings(machine, plies, seed)
        return self._games[key]


def _seed_of(*parts: object, bits: int = 31) -> int:
    """A seed of ``bits`` bits, at most 256, that depends on all parts and on nothing else."""
    text = "\x00".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") >> (256 - bits)


async def serve() -> None:
    """Take jobs until the tournament closes the connection; a match that is being played is then dropped."""
    loop = asyncio.get_running_loop()
    inbox: asyncio.Queue[JsonMessage] = asyncio.Queue()
    parent = Parent(lambda message: loop.call_soon_threadsafe(inbox.put_nowait, message), END_SECONDS)
    referee = Referee(parent)
    playing: asyncio.Task[None] | None = None
    while (message := await inbox.get())["do"] == "play":
        playing = asyncio.create_task(_reported(referee, parent, message))
    if playing is not None and not playing.done():
        playing.cancel()
        await asyncio.wait([playing])
    await referee.close()


async def _reported(referee: Referee, parent: Parent, job: JsonMessage) -> None:
    try:
        await referee.play(job)
    except Exception as error:
        parent.send("failed", error=explain(error, "referee"))


def main() -> None:
    """Serve one tournament."""
    limit_memory(MEMORY_BYTES)
    asyncio.run(serve())
    leave()
