"""One match as the server sees it: its processes, its clocks, and an answer whatever happens.

The process that thinks is not trusted to be in time, or to live. Beside it a keeper follows the match
(:mod:`ggp.match_process.safe_move_process`). Each of them names a safe move early in each turn; shortly
before the playclock runs out a watchdog answers with that if nothing better has come. A process that ends
or is stopped is replaced by one that replays the match. So there is a legal move in time unless all of them
are lost within the same turn, and a new one cannot be started in what is left of it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

from gdl.errors import GdlError, RulesError
from ggp.match_process.match_state import fold
from ggp.protocol.messages import NO_MOVE, READY, Play, Start
from ggp.server.child_process import Spare, Spares
from ggp.server.margin import Margin
from ggp.server.metrics import Metrics
from ggp.server.settings import Settings
from ggp.server.status import EndedStatus, MatchStatus
from ggp.server.supervised_process import Fields, Member
from ggp.server.turn import Turn

MAX_RESTARTS = 3
"""How many processes may end one after another without one move. Rules that kill every process before
there is any answer end there; a match that could be played goes on, with one more process per turn."""

HANG_SECONDS = 60.0
"""How long after its turn's watchdog a process may keep silent. It may be compiling something,
which has to be done once on each machine; the safe moves come all the same."""

LONG_SHARE = 0.5
"""An answer after this share of the time says how well the player keeps its deadline."""

WATCH_SHARE = 0.6
"""What is left of the margin when the watchdog answers with a safe move;"""
LAST_SHARE = 0.3
"""what is left of it when it answers although no safe move of this turn is known."""

Log = Callable[..., None]


class ServedMatch:
    """See the module's first lines.

    Attributes:
        id: the match id as the manager spells it.
        start: the START message.
        touched: when the last message of the manager came, time.monotonic() seconds.
        margin: how long before the end of a clock it answers.
        history: the joint moves made, by the number of the PLAY that reported them.
    """

    def __init__(self, start: Start, settings: Settings, spares: Spares, log: Log, metrics: Metrics) -> None:
        self.id = start.match
        self.start = start
        self.touched = self._began = time.monotonic()
        self.margin = Margin(settings.margin)
        self.history: dict[int, tuple[str, ...]] = {}
        self._settings = settings
        self._metrics = metrics
        self._game = self._machine = self._note = self._goals = ""
        self._log = log
        self._main = self._member("match", spares.match)
        self._members = [
            self._main,
            *(self._member("keeper", spares.keeper) for _ in range(settings.keepers)),
        ]
        self._share: Fields = {"workers": None, "ponder": True}
        self._restarts = 0
        self._length = 0
        self._playable = False
        self._turn: Turn | None = None
        self._closed = False
        self._reusable = False
        self._refusal: GdlError | None = None
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ready_by = 0.0

    def _member(self, name: str, spare: Spare) -> Member:
        def log(level: str, event: str, **fields: object) -> None:
            self._log(level, event, match=self.id, **fields)

        return Member(name, spare, self._brief, self._receive, self._lost, log)

    # --- what the manager asks ------------------------------------------------------------------
    async def begin(self, received: float) -> None:
        """Take processes and send them the rules; :meth:`ready` waits for the one that thinks.

        Raises:
            OSError: there are no more processes or files to be had.
        """
        clock = self.start.startclock
        self._ready_by = received + clock - self.margin.spare_time(clock)
        for member in self._members[1:]:
            member.replace()
        await self._main.employ()

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
        """Replace processes that somebody has stopped. To be called now and then."""
        for member in self._members:
            member.check()

    def share(self, workers: int, ponder: bool) -> None:
        """What its search may use of the processors from now on: how many processes, and whether they
        search while the others think."""
        share = {"workers": workers, "ponder": ponder}
        if share != self._share:
            self._share = share
            if self._main.alive:
                self._main.send("share", **share)

    @property
    def pids(self) -> list[int]:
        """The processes that follow it now."""
        return [member.worker.pid for member in self._members if member.worker is not None]

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
        """Give the match up: end its processes at once. No further answer comes from them."""
        self._settle()
        await asyncio.gather(*(m.close(self._reusable and m is self._main) for m in self._members))

    async def finish(self, moves: tuple[str, ...] | None) -> None:
        """The match is over, ``moves`` being its last joint move: let the processes say how it
        ended, for a moment, and end them."""
        self._settle()
        await asyncio.gather(*(member.finish(moves) for member in self._members))

    def _settle(self) -> None:
        self._closed = True
        if self._turn is not None:
            self._turn.finish()
        self._settle_start()
        for member in self._members:
            member.settle()

    # --- turns ------------------------------------------------------------------------------------
    def _new_turn(self, moves: tuple[str, ...] | None, key: tuple[str, ...] | None, received: float) -> Turn:
        before = self._turn
        if before is not None:
            before.finish()
        self.check()
        clock = self.start.playclock
        spare_time = self.margin.spare_time(clock)
        turn = self._turn = Turn.after(before, moves, key, received, clock, spare_time)
        if moves is not None:
            self.history[turn.id] = moves
        turn.call_at(turn.due - WATCH_SHARE * spare_time, self._watch)
        for member in self._members:
            member.send("play", **turn.asked())
        return turn

    def _watch(self, turn: Turn) -> None:
        """The playclock is nearly over: answer from what is known."""
        if turn.answer.done():
            return
        if turn.safe is None and not turn.pressed:
            # Nothing is known to be legal yet: it may still come.
            turn.pressed = True
            turn.call_at(turn.due - LAST_SHARE * (turn.due - turn.deadline), self._watch)
            return
        answer = turn.safe or turn.known or NO_MOVE
        level = "warning" if turn.safe else "error"
        self._log(level, "watchdog answers", match=self.id, turn=turn.id, move=answer, safe=bool(turn.safe))
        turn.answer.set_result(answer)
        self._note = "watchdog"
        self._metrics.moves.labels("watchdog").inc()
        turn.call_at(time.monotonic() + HANG_SECONDS, self._kill_hung)

    def _kill_hung(self, turn: Turn) -> None:
        for member in self._members:
            if not self._closed and member.heard < turn.id and member.alive:
                self._log("error", "process hangs", match=self.id, turn=turn.id, what=member.name)
                member.give_up()

    # --- the processes ------------------------------------------------------------------------------
    def _brief(self, member: Member) -> Iterator[tuple[str, Fields]]:
        """What a process is told that is to follow the match from here on."""
        now = time.monotonic()
        yield (
            "start",
            {
                "match": self.start.match,
                "role": self.start.role,
                "rules": self.start.rules,
                "startclock": self.start.startclock,
                "player": self._settings.player,
                # What has died twice may have died of the fast machine.
                "fast": member.deaths < 2,
                "seed": self._settings.seed,
                "share": self._share,
                "history": self._played(),
                "deadline": now + 0.2 if self._ready.done() else max(self._ready_by, now),
            },
        )
        turn = self._turn
        if turn is not None and not turn.answer.done():
            yield "play", turn.asked()

    def _receive(self, member: Member, message: dict[str, Any]) -> None:
        if member is not self._main and message["kind"] not in ("options", "move", "over"):
            return
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
                self._safe(member, message)
            case "move":
                self._answered(member, message)
            case "over":
                if not self._length:
                    self._length = message["turns"]
                    self._goals = " ".join(map(str, message["goals"] or ()))
                    self._log("info", "over", match=self.id, turns=message["turns"], goals=message["goals"])
            case "log":
                self._log(message["level"], message["event"], match=self.id, **message["fields"])

    def _safe(self, member: Member, message: dict[str, Any]) -> None:
        """A process names a legal move."""
        self._playable = True
        self._made(message["id"], message["made"])
        if member is not self._main:
            member.heard = message["id"]
            member.deaths = 0
        turn = self._turn
        if turn is None or turn.id != message["id"]:
            return
        turn.safe = turn.safe or message["safe"]
        turn.advanced = True
        if turn.pressed:
            self._watch(turn)

    def _answered(self, member: Member, message: dict[str, Any]) -> None:
        member.heard = message["id"]
        member.deaths = 0
        turn = self._turn
        if message["again"]:
            self._made(message["id"], None)
        if turn is None or turn.id != message["id"]:
            return
        turn.cancel()
        now = time.monotonic()
        if now - turn.received > LONG_SHARE * (turn.deadline - turn.received):
            self.margin.overshoot(max(0.0, now - turn.deadline))
        if turn.answer.done():
            if not message["again"]:
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
                turn.finish()
        if turn is not None and turn.id == message["turn"]:
            self._main.heard = turn.id
            turn.finish()

    def _settle_start(self) -> None:
        if not self._ready.done():
            self._ready.set_result(None)

    def _lost(self, member: Member, pid: int) -> bool:
        """A process has ended; whether to replace it at once."""
        if self._closed or self._refusal is not None:
            return False
        self._restarts += 1
        self._metrics.restarts.inc()
        self._log("error", "process ended", match=self.id, what=member.name, pid=pid, restarts=self._restarts)
        if member.deaths <= MAX_RESTARTS:
            return True
        if member is self._main and not self._playable:
            error = "the process of this match keeps ending"
            self._refused({"error": error, "turn": None, "clean": False})
        return False  # the next PLAY tries again
