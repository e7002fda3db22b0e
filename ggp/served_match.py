"""One match as the server sees it: its process, its clocks, and an answer whatever happens.

The process that thinks is not trusted to be in time, or to live. It names a safe move early
in each turn; shortly before the playclock runs out a watchdog answers with that if nothing
better has come. A process that dies is replaced by one that replays the match.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gdl.errors import GdlError, RulesError
from ggp.ledger import fold
from ggp.protocol import NO_MOVE, READY, Play, Start
from ggp.worker import Spare, Worker

MAX_RESTARTS = 3
"""How often a match gets a new process. Rules that kill every process end there."""

HANG_SECONDS = 60.0
"""How long after its turn's watchdog a process may keep silent. It may be compiling something,
which has to be done once on each machine; the safe moves come all the same."""

Log = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Settings:
    """How matches are played.

    Attributes:
        player: name of the player.
        machine: name of the machine.
        margin: seconds before the end of a clock at which the answer should leave.
        seed: what the players' randomness comes from.
    """

    player: str = "uct"
    machine: str = "auto"
    margin: float = 0.8
    seed: int = 0

    def spare_time(self, clock: float) -> float:
        """The margin for a clock: not more than a quarter of it."""
        return min(self.margin, clock * 0.25)


@dataclass
class _Turn:
    """One PLAY that is being answered, or was.

    Attributes:
        id: counts the PLAYs.
        key: the moves without differences of case and spacing; what a re-sent PLAY is known by.
        due: when the playclock ends; ``deadline``: when the search ends.
        answered: the answer to the PLAY before; with it how that one went out.
        safe: a legal move, known before any search.
        advanced: whether the process has made ``moves``.
    """

    id: int
    moves: tuple[str, ...] | None
    key: tuple[str, ...] | None
    due: float
    deadline: float
    answer: asyncio.Future[str] = field(repr=False)
    answered: str | None
    was_delivered: bool
    was_late: bool
    safe: str | None = None
    advanced: bool = False
    delivered: bool = True
    late: bool = False
    timer: asyncio.TimerHandle | None = None


class ServedMatch:
    """See the module's first lines.

    Attributes:
        id: the match id as the manager spells it.
        start: the START message.
        touched: when the last message of the manager came, time.monotonic() seconds.
    """

    def __init__(self, start: Start, settings: Settings, spare: Spare, log: Log) -> None:
        self.id = start.match
        self.start = start
        self.touched = time.monotonic()
        self._settings = settings
        self._spare = spare
        self._log = log
        self._worker: Worker | None = None
        self._restarts = 0
        self._history: list[tuple[str, ...]] = []
        self._turn: _Turn | None = None
        self._turns = 0
        self._closed = False
        self._reusable = False
        self._refusal: GdlError | None = None
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ready_by = 0.0
        self._heard = 0
        self._restarting: asyncio.Task[None] | None = None

    # --- what the manager asks ------------------------------------------------------------------
    async def begin(self, received: float) -> None:
        """Take a process and send it the rules; :meth:`ready` waits for it."""
        clock = self.start.startclock
        self._ready_by = received + clock - self._settings.spare_time(clock)
        await self._employ(self._ready_by)

    async def ready(self) -> str:
        """``ready`` when prepared or when the startclock is nearly over.

        Raises:
            GdlError: the match cannot be played.
        """
        left = self._ready_by + 0.5 * self._settings.spare_time(self.start.startclock) - time.monotonic()
        await asyncio.wait([self._ready], timeout=max(0.0, left))
        if self._refusal is not None:
            raise self._refusal
        if not self._ready.done():
            self._log("info", "not prepared in time", match=self.id)
        return READY

    async def play(self, message: Play, received: float) -> str:
        """The move for the state that the manager reports, legal and in time.

        Raises:
            GdlError: the rules have turned out to be unplayable.
        """
        if self._refusal is not None:
            raise self._refusal
        key = None if message.moves is None else tuple(map(fold, message.moves))
        turn = self._turn
        if turn is None or turn.answer.done() or turn.key != key:
            turn = self._new_turn(message.moves, key, received)
        return await asyncio.shield(turn.answer)

    def sent(self, delivered: bool) -> None:
        """Note how the answer to the last PLAY went out."""
        if self._turn is not None:
            self._turn.delivered = delivered
            self._turn.late = time.monotonic() > self._turn.due

    async def close(self) -> None:
        """Give the match up: end its process at once. No further answer comes from it."""
        self._settle()
        if self._worker is not None and not (self._reusable and self._spare.give_back(self._worker)):
            self._worker.kill()
            await self._worker.ended()

    async def finish(self, moves: tuple[str, ...] | None) -> None:
        """The match is over, ``moves`` being its last joint move: let the process say how it
        ended, for a moment, and end it."""
        self._settle()
        if self._worker is not None:
            await self._worker.stop(moves)

    def _settle(self) -> None:
        self._closed = True
        if self._turn is not None:
            self._finish(self._turn)
        if not self._ready.done():
            self._ready.set_result(None)
        if self._restarting is not None:
            self._restarting.cancel()

    # --- turns ------------------------------------------------------------------------------------
    def _new_turn(self, moves: tuple[str, ...] | None, key: tuple[str, ...] | None, received: float) -> _Turn:
        loop = asyncio.get_running_loop()
        before = self._turn
        if before is not None:
            self._finish(before)
        clock = self.start.playclock
        spare_time = self._settings.spare_time(clock)
        self._turns += 1
        turn = _Turn(
            id=self._turns,
            moves=moves,
            key=key,
            due=received + clock,
            deadline=received + clock - spare_time,
            answer=loop.create_future(),
            answered=before.answer.result() if before is not None else None,
            was_delivered=before is None or before.delivered,
            was_late=before is not None and before.late,
        )
        self._turn = turn
        turn.timer = loop.call_later(
            max(0.0, turn.due - 0.5 * spare_time - time.monotonic()),
            self._watch,
            turn,
            before.safe if before is not None else None,
        )
        if self._worker is None or not self._worker.alive:
            self._log("warning", "no process", match=self.id, turn=turn.id)
        else:
            self._ask(self._worker, turn)
        return turn

    def _ask(self, worker: Worker, turn: _Turn) -> None:
        worker.send(
            "play",
            id=turn.id,
            moves=turn.moves,
            answered=turn.answered,
            delivered=turn.was_delivered,
            late=turn.was_late,
            advanced=turn.advanced,
            deadline=turn.deadline,
        )

    @staticmethod
    def _finish(turn: _Turn) -> None:
        if turn.timer is not None:
            turn.timer.cancel()
        if not turn.answer.done():
            turn.answer.set_result(turn.safe or NO_MOVE)

    def _watch(self, turn: _Turn, known: str | None) -> None:
        """The playclock is nearly over: answer from what is known."""
        if turn.answer.done():
            return
        answer = turn.safe or known or NO_MOVE
        self._log("warning", "watchdog answers", match=self.id, turn=turn.id, move=answer)
        turn.answer.set_result(answer)
        turn.timer = asyncio.get_running_loop().call_later(HANG_SECONDS, self._kill_hung, turn)

    def _kill_hung(self, turn: _Turn) -> None:
        if self._closed or self._heard >= turn.id or self._worker is None or not self._worker.alive:
            return
        self._log("error", "process hangs", match=self.id, turn=turn.id, pid=self._worker.pid)
        self._worker.kill()

    # --- the process ------------------------------------------------------------------------------
    async def _employ(self, deadline: float) -> None:
        worker = await self._spare.take()
        if self._closed:
            worker.kill()
            return
        self._worker = worker
        worker.on_message = self._receive
        worker.on_exit = self._process_ended
        if not worker.alive:
            self._process_ended(worker)
            return
        worker.send(
            "start",
            match=self.start.match,
            role=self.start.role,
            rules=self.start.rules,
            startclock=self.start.startclock,
            player=self._settings.player,
            # What has died twice may have died of the fast machine.
            fast=self._restarts < 2,
            seed=self._settings.seed,
            history=self._history,
            deadline=deadline,
        )

    def _receive(self, message: dict[str, Any]) -> None:
        match message["kind"]:
            case "ready":
                self._log("info", "ready", match=self.id, machine=message["machine"])
                self._settle_start()
            case "refused":
                self._refused(message)
            case "options":
                if message["made"] is not None:
                    self._history.append(tuple(message["made"]))
                if self._turn is not None and self._turn.id == message["id"]:
                    self._turn.safe = message["safe"]
                    self._turn.advanced = True
            case "move":
                self._answered(message)
            case "over":
                self._log("info", "over", match=self.id, turns=message["turns"], goals=message["goals"])
            case "log":
                self._log(message["level"], message["event"], match=self.id, **message["fields"])

    def _answered(self, message: dict[str, Any]) -> None:
        self._heard = message["id"]
        turn = self._turn
        if turn is None or turn.id != message["id"]:
            return
        if turn.timer is not None:
            turn.timer.cancel()
        if turn.answer.done():
            self._log("warning", "move came late", match=self.id, turn=turn.id)
            return
        turn.answer.set_result(message["move"])
        turn.safe = message["move"]
        turn.advanced = True
        self._log(
            "info",
            "move",
            match=self.id,
            turn=turn.id,
            move=message["move"],
            again=message["again"],
            note=message.get("note", ""),
        )

    def _refused(self, message: dict[str, Any]) -> None:
        self._log("warning", "refused", match=self.id, error=message["error"][:300])
        turn = self._turn
        if message["turn"] is None:
            self._refusal = RulesError(message["error"])
            self._reusable = message["clean"]
            self._settle_start()
            if turn is not None:
                self._finish(turn)
        if turn is not None and turn.id == message["turn"]:
            self._heard = turn.id
            self._finish(turn)

    def _settle_start(self) -> None:
        if not self._ready.done():
            self._ready.set_result(None)

    def _process_ended(self, worker: Worker) -> None:
        if self._closed or worker is not self._worker or self._refusal is not None:
            return
        self._restarts += 1
        self._log("error", "process ended", match=self.id, pid=worker.pid, restarts=self._restarts)
        if self._restarts > MAX_RESTARTS:
            self._refused({"error": "the process of this match keeps ending", "turn": None, "clean": False})
            return
        self._restarting = asyncio.create_task(self._restart())

    async def _restart(self) -> None:
        turn = self._turn
        if turn is not None and turn.answer.done() and not turn.advanced and turn.moves is not None:
            # It ended before it could say what it made of this turn's moves.
            self._history.append(turn.moves)
            turn.advanced = True
        now = time.monotonic()
        await self._employ(now + 0.2 if self._ready.done() else max(self._ready_by, now))
        turn = self._turn
        if turn is not None and not turn.answer.done() and self._worker is not None:
            self._ask(self._worker, turn)
