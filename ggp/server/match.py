"""One match in the server: its processes, its clocks, and an answer whatever happens.

The process that thinks may be late, hang or end. Next to it a *standby* follows the match without thinking
(:mod:`ggp.match_process.safe_move_process`). Both name a safe move early in each turn. Shortly before the
playclock runs out a watchdog answers with it if nothing better has come (:mod:`ggp.server.turn`). A process
that ends or is stopped is replaced by a *spare*, one started in advance if there is any
(:mod:`ggp.server.fork_servers`), which replays the match. So there is a legal move in time unless all
processes are lost within one turn and no new one can be started in the remaining time.
"""

from __future__ import annotations

import asyncio
import time
from asyncio import FIRST_COMPLETED
from collections.abc import Callable, Iterator

from gdl.errors import GdlError, RulesError
from gdl.words import duration
from ggp.processes.parent import JsonMessage
from ggp.protocol.messages import ABORTED, BUSY, READY, Play, Start
from ggp.server.admission import Ahead, History, Ranks, Remembered, StandbyNeed, begins
from ggp.server.fork_servers import Spare, Spares
from ggp.server.margin import Margin
from ggp.server.match_news import MatchNews
from ggp.server.settings import MatchSettings
from ggp.server.status import Metrics, StatusRow
from ggp.server.supervised_process import SupervisedProcess
from ggp.server.turn import Crowd, Phase, Turn, Verdicts, play_key

MAX_RESTARTS = 3
"""The most deaths in a row, without a move between them, after which a process is replaced at once. After
more it waits for the next PLAY. A match whose rules kill every process before any answer ends there."""
_HANG_SECONDS = 60.0
"""Seconds that a process may stay silent after the watchdog has answered, if no PLAY comes: each PLAY ends
the wait. It may be compiling something, which each computer has to do once; the safe moves still come."""
STOP_SECONDS = 2.0
"""Seconds that a process may take to end by itself after the match."""
_LONG_SHARE = 0.5
"""The share of the time after which an answer measures how well the player keeps its deadline."""
_OF_FOLLOWERS = ("safe", "options", "pace", "practised", "move", "over", "verdict", "foreseen")
Log = Callable[..., None]


class ServedMatch:
    """Answers START and every PLAY of one match in time, and keeps its processes alive.

    Attributes:
        id: the match id as the manager spells it.
        start: the START message.
        touched: when the last message of the manager came, time.monotonic() seconds.
        margin: the time before the end of a clock at which it answers.
        history: the joint moves made.
        news: the events for spectators.
        need: the CPU time that its standby needs in a turn.
        ready_by: when it has to be ready.
        admitted: whether there are enough processors for it; ``busy``: whether it ends because there are not.
    """

    def __init__(
        self,
        start: Start,
        settings: MatchSettings,
        spares: Spares,
        log: Log,
        metrics: Metrics,
        large: Remembered[list[str]],
    ) -> None:
        self.id, self.start, self._large = start.match, start, large
        self.touched = self._began = time.monotonic()
        self.margin = Margin(settings.margin)
        self.history = History()
        self._settings, self._metrics = settings, metrics
        self.news = MatchNews(start)
        self.need = StandbyNeed()
        self.admitted = self.busy = False
        self._goals = ""
        self._log = log
        self._main = self._process("match", spares.match)
        self._standby = self._process("standby", spares.standby)
        self._processes = [self._main, self._standby]
        self._ranks = Ranks(self._main, self._standby)
        self._share: JsonMessage = {"workers": None, "ponder": True, "behind": False}
        self._ahead = Ahead()
        self._length, self._restarts, self._playable = 0, 0, False
        self._turn: Turn | None = None
        self._verdicts = Verdicts()
        self._starters, self._players = Crowd(), Crowd()
        self._closed = self._reusable = False
        self._refusal: GdlError | None = None
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ready_by = 0.0

    def _process(self, name: str, spare: Spare) -> SupervisedProcess:
        return SupervisedProcess(name, spare, self._briefing, self._receive, self._lost, self._say)

    def _say(self, level: str, event: str, **fields: object) -> None:
        self._log(level, event, match=self.id, **fields)

    async def begin(self, received: float) -> None:
        """Take processes and send them the rules; :meth:`ready` waits for the one that thinks. Raises OSError
        if no more processes can be started or files opened."""
        clock = self.start.startclock
        self.ready_by = received + clock - self.margin.spare_time(clock)
        self._standby.replace()
        await self._main.begin()

    async def ready(self) -> str:
        """``ready`` when prepared or the startclock is nearly over, ``aborted`` if the match ended before
        that, ``busy`` if it was not admitted. Raises GdlError if it cannot be played."""
        left = self.ready_by + 0.5 * self.margin.spare_time(self.start.startclock) - time.monotonic()
        with self._starters.place() as hurried:
            await asyncio.wait([self._ready, hurried], timeout=max(0.0, left), return_when=FIRST_COMPLETED)
        if self._refusal is not None:
            raise self._refusal
        if self._closed:
            return BUSY if self.busy else ABORTED
        if not (self._ready.done() or hurried.done()):
            self._say("info", "not prepared in time")
        return READY

    async def play(self, message: Play, received: float) -> str:
        """The answer to the manager's PLAY, in time; legal if any legal move is known. Raises GdlError if the
        rules turn out to be unplayable."""
        if self._refusal is not None:
            raise self._refusal
        key = play_key(message)
        turn = self._turn
        if turn is not None and not turn.answered and turn.key != key:
            # It is the next turn, a correction of this one, or invalid.
            can_be = await self._verdicts.ask(self._processes, message.told, turn.answer)
            if self._closed or not can_be:
                return await self._answer(turn)
            turn = self._turn
        if turn is None or turn.answered or turn.key != key:
            turn = self._new_turn(message.told, key, received)
        return await self._answer(turn)

    async def _answer(self, turn: Turn) -> str:
        with self._players.place() as hurried:
            await asyncio.wait([turn.answer, hurried], return_when=FIRST_COMPLETED)
        await asyncio.wait([turn.answer, turn.named], return_when=FIRST_COMPLETED)
        return turn.answer.result() if turn.answered or turn.safe is None else turn.safe

    def sent(self, message: Play, delivered: bool) -> None:
        """Note whether the answer to a PLAY was delivered, if the PLAY is the last one."""
        turn = self._turn
        if turn is not None and turn.key == play_key(message) and not turn.void:
            late = time.monotonic() > turn.due
            if late and not turn.late:
                self._metrics.late.inc()
                self._say("error", "late", turn=turn.id)
            turn.delivered, turn.late = delivered, late

    @property
    def share_needed(self) -> float:
        """The share of a processor that its standby needs to be in time."""
        clock = self.start.playclock
        return self.need.share(clock - self.margin.spare_time(clock))

    @property
    def settled(self) -> bool:
        """Whether it is ready, or the time for that is over."""
        return self._ready.done() or time.monotonic() > self.ready_by

    @property
    def refused(self) -> bool:
        """Whether its rules have turned out to be unplayable."""
        return self._refusal is not None

    @property
    def waits(self) -> bool:
        """Whether no legal move of this turn is known yet."""
        return self._turn is not None and not self._turn.answered and self._turn.legal is None

    def check(self, rests: bool) -> None:
        """Replace processes that are stopped. Let the one that thinks wait for others, or rest while a match
        ``waits``, unless it is the only one that follows its match. Call this regularly."""
        for process in self._processes:
            process.check()
        self._ranks.thinks(bool(self._share["behind"]), rests)

    def share(self, workers: int | None, ponder: bool, behind: bool) -> None:
        """Set the processors that its search may use from now on: the number of processes (None: as its name
        says), whether they search while others think, and whether they and builders give way to processes
        that answer."""
        share = {"workers": workers, "ponder": ponder, "behind": behind}
        if share != self._share:
            self._share = share
            if self._main.alive:
                self._main.send("share", **share)

    def status(self) -> StatusRow:
        """The match's line on the status page. The margin is the time before the end of the playclock at
        which answers leave."""
        turn, start = self._turn, self.start
        move = turn.answer.result() if turn is not None and turn.answered else ""
        return {
            "match": self.id,
            "game": self.news.title,
            "role": start.role,
            "turn": str(len(self.history.moves) + 1),
            "machine": self.news.machine or "-",
            "clocks": f"{start.startclock}/{start.playclock} s",
            "margin": f"{self.margin.spare_time(start.playclock):.2f} s",
            "time": duration(time.monotonic() - self._began),
            "restarts": str(self._restarts),
            "last move": move or "-",
            "search": self.news.note or "-",
        }

    def ended(self, why: str) -> StatusRow:
        """Publish the end, and return the match's line on the status page from now on."""
        self.news.ended(why, self._goals)
        return {
            "match": self.id,
            "game": self.news.title,
            "role": self.start.role,
            "turns": str(self._length or len(self.history.moves)),
            "end": why,
            "goals": self._goals or "-",
            "time": duration(time.monotonic() - self._began),
            "restarts": str(self._restarts),
        }

    async def close(self) -> None:
        """Drop the match: end its processes at once. No further answer comes from them."""
        self._settle()
        await asyncio.gather(*(p.close(self._reusable and p is self._main) for p in self._processes))

    async def finish(self, moves: tuple[str, ...] | None) -> None:
        """End the match, whose last joint move is ``moves``: give the processes a moment to report its
        outcome, then end them."""
        self._settle()
        self.news.last(moves)
        await asyncio.gather(*(process.finish(moves, STOP_SECONDS) for process in self._processes))

    def _settle(self) -> None:
        self._closed = True
        if self._turn is not None:
            self._turn.close()
        self._settle_start()
        self.need.practised(0.0, 0.0, True)
        for process in self._processes:
            process.settle()

    def _new_turn(self, moves: tuple[str, ...] | None, key: tuple[str, ...] | None, received: float) -> Turn:
        if self._turn is not None:
            self._turn.close()
        clock = self.start.playclock
        turn = self._turn = Turn(self._turn, moves, key, received, clock, self.margin.spare_time(clock))
        self.history.begin(turn)
        self._ahead.inform(turn)
        turn.call_at(turn.watched_from, self._watch)
        self.check(self.waits)
        self._ranks.asked(turn)
        for process in self._processes:
            process.send("play", **turn.request())
        return turn

    def _watch(self, turn: Turn) -> None:
        """Answer with a known move, as the playclock is nearly over."""
        if turn.answered:
            return
        if turn.phase is Phase.THINKING and turn.checked is None:
            turn.press()
            turn.call_at(turn.last_moment, self._watch)
            return
        safe = bool(turn.best or turn.legal)
        move = turn.stand_in()
        self._say("warning" if safe else "error", "watchdog answers", turn=turn.id, move=move, safe=safe)
        self.news.answer(turn.id, move, {"note": "watchdog"})
        self._metrics.moves.labels("watchdog").inc()
        turn.call_at(time.monotonic() + _HANG_SECONDS, self._kill_hung)

    def _kill_hung(self, turn: Turn) -> None:
        for process in self._processes:
            if not self._closed and process.heard < turn.id and process.alive:
                self._say("error", "process hangs", turn=turn.id, what=process.name)
                process.give_up()

    def _briefing(self, process: SupervisedProcess) -> Iterator[tuple[str, JsonMessage]]:
        """The messages that bring a new process up to date."""
        now = time.monotonic()
        # After two deaths the fast machine is the suspect.
        fast, large = process.deaths < 2, self._large.recall(self.start.rules, [])
        start = begins(self.start, self._settings, fast, self._share, large)
        start |= self.history.briefing(self._turn)
        start["deadline"] = now + 0.2 if self._ready.done() else max(self.ready_by, now)
        yield "start", start
        if self._turn is not None and not self._turn.answered:
            yield "play", self._turn.request()

    def _receive(self, process: SupervisedProcess, message: JsonMessage) -> None:
        if process is not self._main and message["kind"] not in _OF_FOLLOWERS:
            return
        match message["kind"]:
            case "ready":
                self.news.machine = message["machine"]
                self._say("debug", "ready", machine=message["machine"])
                self._settle_start()
            case "refused":
                self._refused(message)
            case "game":
                self.news.name = message["name"]
            case "search":
                self.news.search(message)
            case "best" if self._turn is not None and self._turn.id == message["id"]:
                self._turn.best = message["move"]
            case "safe":
                self._name(message)
            case "options":
                self._safe_move(process, message)
            case "pace":
                self.need.practised(message["cpu"], message["lasting"], message["whole"])
                self._ranks.practises(True, self._turn)
            case "practised":
                self._ranks.practises(False, self._turn)
                self._large.note(self.start.rules, message["large"])
            case "move":
                self._move(process, message)
            case "foreseen":
                self._ahead.take(message)
                if (turn := self._turn) and self._ahead.inform(turn) and turn.phase is Phase.PRESSED:
                    self._watch(turn)
            case "verdict":
                self._verdicts.take(message)
            case "over":
                if not self._length:
                    self._length = message["turns"]
                    self._goals = " ".join(map(str, message["goals"] or ()))
                    self._say("info", "result", turns=message["turns"], goals=self._goals)
            case "log":
                self._say(message["level"], message["event"], **message["fields"])

    def _safe_move(self, process: SupervisedProcess, message: JsonMessage) -> None:
        """Take a legal move that a process has named."""
        self._playable = True
        self.news.step(self.history.followed(message["id"], message["joint"]))
        if process is self._standby:
            process.heard, process.deaths = message["id"], 0
            self.need.note(message["cpu"])
            self._ranks.asked(self._turn)
        self._name(message)

    def _name(self, message: JsonMessage) -> None:
        """Take a legal move for a turn from a process, which may not have followed the whole turn yet."""
        if (turn := self._turn) is None or turn.id != message["id"]:
            return
        turn.name_safe(message["safe"])
        if turn.phase is Phase.PRESSED:
            self._watch(turn)

    def _move(self, process: SupervisedProcess, message: JsonMessage) -> None:
        """Take the player's move, or the repeated answer to a PLAY that was sent again."""
        process.heard, process.deaths = message["id"], 0
        again = message["again"]
        if again:
            self.news.step(self.history.followed(message["id"], None))
        turn = self._turn
        if turn is None or turn.id != message["id"]:
            return
        if message.get("void"):
            turn.annul()
        now = time.monotonic()
        if now - turn.received > _LONG_SHARE * (turn.deadline - turn.received):
            self.margin.overshoot(max(0.0, now - turn.deadline))
        if not turn.take_move(message["move"]):
            if not again:
                self._say("warning", "move came late", turn=turn.id)
            return
        if not again:
            self._metrics.moves.labels("player").inc()
        self.news.answer(turn.id, message["move"], message)
        times = {"seconds": f"{now - turn.received:.3f}", "margin": f"{turn.due - turn.deadline:.3f}"}
        fields = {"note": self.news.note, "machine": self.news.machine, **times}
        self._say("debug", "move", turn=turn.id, move=message["move"], again=again, **fields)

    def _refused(self, message: JsonMessage) -> None:
        self._say("warning", "refused", error=message["error"][:300])
        turn = self._turn
        if message["turn"] is None:
            self._refusal = RulesError(message["error"])
            self._reusable = message["clean"]
            self._settle_start()
            self.need.practised(0.0, 0.0, True)
            if turn is not None:
                turn.close()
        elif turn is not None and turn.id == message["turn"]:
            self._main.heard = turn.id
            turn.close()

    def _settle_start(self) -> None:
        if not self._ready.done():
            self._ready.set_result(None)

    def _lost(self, process: SupervisedProcess, pid: int) -> bool:
        """Handle the end of a process. Returns whether to replace it at once."""
        if self._closed or self._refusal is not None:
            return False
        self._restarts += 1
        self._metrics.restarts.inc()
        self._say("error", "process ended", what=process.name, pid=pid, restarts=self._restarts)
        if process.deaths <= MAX_RESTARTS:
            return True
        if process is self._main and not self._playable:
            error = "the process of this match keeps ending"
            self._refused({"error": error, "turn": None, "clean": False})
        return False  # the next PLAY tries again
