"""A player in a process, seen from the referee: asked with a hard deadline, restarted if it fails."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import asdict, dataclass

from gdl.errors import GdlError
from gdl.machine import State
from ggp.manager import DIED, EXCEPTION, ILLEGAL, NO_ANSWER, NO_CONNECTION, Answer
from ggp.processes.parent import JsonMessage
from ggp.protocol.match_record import MatchRecord
from ggp.protocol.messages import READY
from ggp.tournament.process import TournamentProcess
from ggp.tournament.settings import READY_SECONDS, REMIND_SECONDS, refusal
from players.player import LATE_SECONDS, TOLERANCE

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
