"""A local player as the referee sees it: asked with a hard deadline, restarted where it does not answer."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from gdl.errors import GdlError
from gdl.machine import State
from ggp.manager import NO_ANSWER, NO_CONNECTION, Answer
from ggp.processes.parent import Message
from ggp.protocol.match_record import MatchRecord
from ggp.protocol.messages import READY
from ggp.tournament.processes import TournamentProcess

TOLERANCE = 0.1
"""Seconds after the clock at which an answer still counts: pipe and scheduler take them, not the player,
which is told the clock itself."""

LOAD_SECONDS = 600.0
"""How long a player may take for the machine and its warm-up, before any clock runs."""

MAX_RESTARTS = 3
"""How often in one match a player that crashed or hung is started again."""

RELOAD_SECONDS = 60.0
"""How long it may be silent then, while it gets ready; its turns are lost meanwhile."""

LATE_SECONDS = 5.0
"""How long after a clock a player that is silent is thought to be merely late."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a local player is told of a match.

    Attributes:
        player: its name for the registry.
        rules: the rules as text.
        level: the machine that it gets.
        workers: whether it has processes of its own, which take a while to load.
        seed: what its randomness comes from.
        cores: where it may run; empty for anywhere.
        startclock: seconds; ``playclock`` too.
    """

    player: str
    rules: str
    level: str
    workers: bool
    seed: int
    cores: tuple[int, ...]
    startclock: float
    playclock: float


class LocalMover:
    """A :class:`ggp.manager.Mover` whose player thinks in a process of its own.

    Args:
        child: its process; replaced where it fails.
        terms: what it is told.
        record: the match, whose moves it follows.
        one_at_a_time: held while the player thinks, where the players of a match share their cores.
    """

    def __init__(
        self,
        child: TournamentProcess,
        terms: Terms,
        record: MatchRecord,
        one_at_a_time: AbstractAsyncContextManager[object] | None = None,
    ) -> None:
        self.child = child
        self.restarts = 0
        self._terms = terms
        self._record = record
        self._turnstile = one_at_a_time or nullcontext()
        self._role = 0
        self._sent = 0
        self._asked = 0
        self._answered = 0
        self._heard = True
        """Whether there was an answer, be it a late one, since it was asked last."""
        self._patience = 0.0
        """Until when silence does not mean that it hangs."""

    async def load(self, role: int) -> None:
        """Have machine and player made, before any clock runs.

        Raises:
            GdlError: the player cannot be made, or takes forever.
        """
        self._role = role
        self._load()
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                while (message := await self.child.inbox.get()) is not None:
                    if message["kind"] == "loaded":
                        return
                    if message["kind"] == "refused":
                        raise GdlError(f"{self._terms.player} cannot play: {message['error']}")
        except TimeoutError:
            raise GdlError(f"{self._terms.player} is not ready after {LOAD_SECONDS:.0f} s") from None
        raise GdlError(f"{self._terms.player} crashes while it gets ready")

    async def start(self, role: int, state: State) -> Answer:
        """Start the player; it may prepare until the startclock is over."""
        async with self._turnstile:
            clock = self._terms.startclock
            began = time.monotonic()
            self._start(began + clock)
            reply = await self._reply(began + clock + TOLERANCE)
        return self._judged(reply, READY, began)

    async def choose(self, state: State) -> Answer:
        """The player's move; at once where there is but one."""
        machine = state.machine
        options = machine.legal_moves(state, self._role)
        if len(options) < 2:
            text = machine.rules.spell(machine.move(self._role, options[0])) if options else ""
            return Answer(text)
        async with self._turnstile:
            began = time.monotonic()
            deadline = began + self._terms.playclock
            if self._fails(began):
                if self.restarts == MAX_RESTARTS:
                    return Answer("", f"{NO_CONNECTION} crashed or hung {MAX_RESTARTS + 1} times")
                await self._restart(began)
            self._ask("choose", deadline)
            reply = await self._reply(deadline + TOLERANCE)
        return self._judged(reply, "", began)

    def _fails(self, now: float) -> bool:
        """Whether the player is gone, or has been silent for too long. One that is merely late goes on: it
        would lose more turns if it was started again."""
        while not self.child.inbox.empty():
            message = self.child.inbox.get_nowait()
            if message is not None:
                self._note(message)
        return not self.child.alive or (not self._heard and now > self._patience)

    def stop(self) -> bool:
        """The match is over. Whether the process may be used for another one."""
        self.child.send("stop")
        return self.child.alive and self._answered == self._asked and not self.restarts

    # --- messages ---------------------------------------------------------------------------------
    def _load(self) -> None:
        terms = self._terms
        self.child.send(
            "load",
            player=terms.player,
            rules=terms.rules,
            level=terms.level,
            workers=terms.workers,
            seed=terms.seed,
            role=self._role,
            cores=terms.cores,
        )

    def _start(self, deadline: float) -> None:
        self._sent = 0
        self._ask(
            "start", deadline, role=self._role, seed=self._terms.seed, startclock=self._terms.startclock
        )

    def _ask(self, do: str, deadline: float, **fields: object) -> None:
        self._asked += 1
        if self._heard:
            self._patience = deadline + LATE_SECONDS
        self._heard = False
        moves = self._record.moves[self._sent :]
        self._sent += len(moves)
        self.child.send(do, id=self._asked, moves=moves, deadline=deadline, **fields)

    async def _restart(self, now: float) -> None:
        """A new process in the place of one that crashed or hangs. It is loaded while its clocks
        run: turns that are over before it is ready are lost."""
        self.restarts += 1
        self.child.kill()
        await self.child.close()
        self.child = await TournamentProcess.start("ggp.tournament.player_process")
        self._load()
        self._start(now)
        self._patience = now + RELOAD_SECONDS

    async def _reply(self, deadline: float) -> Message | None:
        """The answer to what was asked last; None where the process ended.

        Raises nothing: ``{"kind": "late"}`` where there is no answer in time.
        """
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                while (message := await self.child.inbox.get()) is not None:
                    self._note(message)
                    if self._answered == self._asked:
                        return message
                return None
        except TimeoutError:
            return {"kind": "late"}

    def _note(self, message: Message) -> None:
        """Take note of something it says."""
        if "id" in message:
            self._answered = message["id"]
            self._heard = True

    def _judged(self, reply: Message | None, ready: str, began: float) -> Answer:
        seconds = time.monotonic() - began
        if reply is None:
            return Answer("", f"{NO_CONNECTION} the player crashed", seconds)
        match reply["kind"]:
            case "late":
                return Answer("", NO_ANSWER, seconds)
            case "failed":
                return Answer("", f"{NO_CONNECTION} {reply['error']}", seconds)
            case _:
                return Answer(reply.get("move", ready), "", seconds)
