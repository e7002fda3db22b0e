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
from ggp.margin import Margin
from ggp.metrics import Metrics
from ggp.protocol import NO_MOVE, READY, Play, Start
from ggp.status import EndedStatus, MatchStatus
from ggp.worker import Spare, Worker

MAX_RESTARTS = 3
"""How many processes may end one after another without one move. Rules that kill every process before
there is any answer end there; a match that could be played goes on, with one more process per turn."""

HANG_SECONDS = 60.0
"""How long after its turn's watchdog a process may keep silent. It may be compiling something,
which has to be done once on each machine; the safe moves come all the same."""

LONG_SHARE = 0.5
"""An answer after this share of the time says how well the player keeps its deadline."""

Log = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Settings:
    """How matches are played.

    Attributes:
        player: name of the player.
        machine: name of the machine.
        margin: seconds before the end of a clock at which the answer should leave, to begin with:
            see :mod:`ggp.margin`.
        seed: what the players' randomness comes from.
    """

    player: str = "uct"
    machine: str = "auto"
    margin: float = 0.8
    seed: int = 0


@dataclass
class _Turn:
    """One PLAY that is being answered, or was.

    Attributes:
        id: counts the PLAYs.
        key: the moves without differences of case and spacing; what a re-sent PLAY is known by.
        received: when it came; ``due``: when the playclock ends; ``deadline``: when the search ends.
        answered: the answer to the PLAY before; with it how that one went out.
        safe: a legal move, known before any search.
        advanced: whether the process has made ``moves``.
    """

    id: int
    moves: tuple[str, ...] | None
    key: tuple[str, ...] | None
    received: float
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
        margin: how long before the end of a clock it answers.
        history: the joint moves made, by the number of the PLAY that reported them.
    """

    def __init__(self, start: Start, settings: Settings, spare: Spare, log: Log, metrics: Metrics) -> None:
        self.id = start.match
        self.start = start
        self.touched = self._began = time.monotonic()
        self.margin = Margin(settings.margin)
        self.history: dict[int, tuple[str, ...]] = {}
        self._settings = settings
        self._metrics = metrics
        self._game = self._machine = self._note = self._goals = ""
        self._spare = spare
        self._log = log
        self._worker: Worker | None = None
        self._restarts = 0
        self._length = 0
        self._deaths = 0
        self._playable = False
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
        self._ready_by = received + clock - self.margin.spare_time(clock)
        await self._employ(self._ready_by)

    async def ready(self) -> str:
        """``ready`` when prepared or when the startclock is nearly over.

        Raises:
            GdlError: the match cannot be played.
        """
        left = self._ready_by + 0.5 * self.margin.spare_time(self.start.startclock) - time.monotonic()
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
            late = time.monotonic() > self._turn.due
            if late and not self._turn.late:
                self._metrics.late.inc()
                self._log("error", "late", match=self.id, turn=self._turn.id)
            self._turn.late = late

    @property
    def settled(self) -> bool:
        """Whether it has got ready, or the time for that is over."""
        return self._ready.done() or time.monotonic() > self._ready_by

    def check(self) -> None:
        """Replace the process if somebody has stopped it. To be called now and then."""
        if self._worker is not None and not self._closed and self._worker.stopped:
            self._log("error", "process is stopped", match=self.id, pid=self._worker.pid)
            self._give_up(self._worker)

    def status(self) -> MatchStatus:
        """For the status page."""
        clocks = self.start.startclock, self.start.playclock
        return MatchStatus(
            id=self.id,
            role=self.start.role,
            game=self._game,
            rules=len(self.start.rules),
            turn=len(self.history) + 1,
            machine=self._machine,
            clocks=clocks,
            margin=self.margin.spare_time(clocks[1]),
            move=self._answered_last(),
            note=self._note,
            restarts=self._restarts,
            seconds=time.monotonic() - self._began,
        )

    def ended(self, why: str) -> EndedStatus:
        """The same once it is over."""
        return EndedStatus(
            id=self.id,
            role=self.start.role,
            turns=self._length or len(self.history),
            why=why,
            goals=self._goals,
            restarts=self._restarts,
            seconds=time.monotonic() - self._began,
        )

    def _answered_last(self) -> str:
        turn = self._turn
        return turn.answer.result() if turn is not None and turn.answer.done() else ""

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
        spare_time = self.margin.spare_time(clock)
        self._turns += 1
        turn = _Turn(
            id=self._turns,
            moves=moves,
            key=key,
            received=received,
            due=received + clock,
            deadline=received + clock - spare_time,
            answer=loop.create_future(),
            answered=before.answer.result() if before is not None else None,
            was_delivered=before is None or before.delivered,
            was_late=before is not None and before.late,
        )
        self._turn = turn
        if moves is not None:
            self.history[turn.id] = moves
        turn.timer = loop.call_later(
            max(0.0, turn.due - 0.5 * spare_time - time.monotonic()),
            self._watch,
            turn,
            before.safe if before is not None else None,
        )
        if self._worker is None or not self._worker.alive:
            self._log("warning", "no process", match=self.id, turn=turn.id)
            if self._restarting is None or self._restarting.done():
                self._restarting = asyncio.create_task(self._restart())
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
        self._note = "watchdog"
        self._metrics.moves.labels("watchdog").inc()
        turn.timer = asyncio.get_running_loop().call_later(HANG_SECONDS, self._kill_hung, turn)

    def _kill_hung(self, turn: _Turn) -> None:
        if self._closed or self._heard >= turn.id or self._worker is None or not self._worker.alive:
            return
        self._log("error", "process hangs", match=self.id, turn=turn.id, pid=self._worker.pid)
        self._give_up(self._worker)

    def _give_up(self, worker: Worker) -> None:
        """Kill the process and go on without waiting for its end: on a busy computer that takes long."""
        worker.kill()
        worker.on_message = worker.on_exit = None
        self._process_ended(worker)
        self._worker = None

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
            fast=self._deaths < 2,
            seed=self._settings.seed,
            history=self._played(),
            deadline=deadline,
        )

    def _receive(self, message: dict[str, Any]) -> None:
        match message["kind"]:
            case "ready":
                self._machine = message["machine"]
                self._log("info", "ready", match=self.id, machine=message["machine"])
                self._settle_start()
            case "refused":
                self._refused(message)
            case "game":
                self._game = message["text"]
            case "options":
                self._playable = True
                self._made(message["id"], message["made"])
                if self._turn is not None and self._turn.id == message["id"]:
                    self._turn.safe = message["safe"]
                    self._turn.advanced = True
            case "move":
                self._answered(message)
            case "over":
                self._length = message["turns"]
                self._goals = " ".join(map(str, message["goals"] or ()))
                self._log("info", "over", match=self.id, turns=message["turns"], goals=message["goals"])
            case "log":
                self._log(message["level"], message["event"], match=self.id, **message["fields"])

    def _answered(self, message: dict[str, Any]) -> None:
        self._heard = message["id"]
        turn = self._turn
        self._deaths = 0
        if message["again"]:
            self._made(message["id"], None)
        if turn is None or turn.id != message["id"]:
            return
        if turn.timer is not None:
            turn.timer.cancel()
        now = time.monotonic()
        if now - turn.received > LONG_SHARE * (turn.deadline - turn.received):
            self.margin.overshoot(max(0.0, now - turn.deadline))
        if turn.answer.done():
            self._log("warning", "move came late", match=self.id, turn=turn.id)
            return
        turn.answer.set_result(message["move"])
        turn.safe = message["move"]
        turn.advanced = True
        if not message["again"]:
            self._metrics.moves.labels("player").inc()
        self._note = message.get("note", "")
        self._machine = message.get("machine", "") or self._machine
        self._log(
            "info",
            "move",
            match=self.id,
            turn=turn.id,
            move=message["move"],
            again=message["again"],
            note=self._note,
            machine=self._machine,
            seconds=f"{now - turn.received:.3f}",
            margin=f"{turn.due - turn.deadline:.3f}",
        )

    def _made(self, turn: int, made: list[str] | None) -> None:
        """The process says what it has made of a PLAY; None if it was no new turn."""
        if made is not None:
            self.history[turn] = tuple(made)
        else:
            self.history.pop(turn, None)

    def _played(self) -> list[tuple[str, ...]]:
        """The joint moves up to the turn that is still to be asked."""
        turn = self._turn
        if turn is not None and turn.answer.done():
            # The process may have ended before it could say what it made of this turn's moves.
            turn.advanced = True
        return [made for id, made in self.history.items() if turn is None or id < turn.id or turn.advanced]

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
        self._deaths += 1
        self._metrics.restarts.inc()
        self._log("error", "process ended", match=self.id, pid=worker.pid, restarts=self._restarts)
        if self._deaths > MAX_RESTARTS:
            if not self._playable:
                error = "the process of this match keeps ending"
                self._refused({"error": error, "turn": None, "clean": False})
            return  # the next PLAY tries again
        self._restarting = asyncio.create_task(self._restart())

    async def _restart(self) -> None:
        now = time.monotonic()
        await self._employ(now + 0.2 if self._ready.done() else max(self._ready_by, now))
        turn = self._turn
        if turn is not None and not turn.answer.done() and self._worker is not None:
            self._ask(self._worker, turn)
