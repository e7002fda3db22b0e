"""The player's HTTP endpoint: takes messages of game managers, keeps their matches apart.

The event loop's process only moves text (:mod:`ggp.server.clients.connections`). Processes of each match read
rules, compute states and search moves (:mod:`ggp.server.match`).

A match belongs to the address that started it; for any other address it does not exist. This computer sees
whole ids, other computers and the log do not.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

import ggp
from gdl.errors import GdlError
from gdl.words import duration
from ggp import warm
from ggp.log_lines import say
from ggp.processes.parent import JsonMessage
from ggp.protocol import messages
from ggp.protocol.event_source import EventSource, encode
from ggp.protocol.messages import BUSY, Message, Play, Preview, Start
from ggp.server.admission import Admission, Remembered
from ggp.server.clients.connections import Connections
from ggp.server.clients.visitors import Veil
from ggp.server.fork_servers import KeptForkServer, Spare, Spares
from ggp.server.margin import Margin
from ggp.server.match import ServedMatch
from ggp.server.settings import ServerConfig
from ggp.server.status import Metrics, ServerStatus, StatusRow
from players.processes import launch
from players.processes.limits import FIRST, cores, go_first, set_session

_REMEMBERED = 64
"""Finished matches whose STOP and ABORT are answered if they are repeated."""


class Roster:
    """The matches by id, in upper or lower case.

    ``any_sender``: every address may send messages of all matches.
    """

    def __init__(self, any_sender: bool) -> None:
        self._any = any_sender
        self._live: dict[str, tuple[ServedMatch, str]] = {}
        self._finished: deque[tuple[str, str]] = deque(maxlen=_REMEMBERED)

    def __len__(self) -> int:
        return len(self._live)

    @property
    def matches(self) -> list[ServedMatch]:
        """The matches that are being played."""
        return [match for match, _ in self._live.values()]

    def add(self, match: ServedMatch, sender: str) -> None:
        """Add a match started by this address (:func:`ggp.server.clients.visitors.sender_of`)."""
        self._live[match.id.lower()] = match, sender

    def taken(self, match_id: str) -> bool:
        """Whether a match with this id is being played, whichever address started it."""
        return match_id.lower() in self._live

    def get(self, match_id: str, sender: str) -> ServedMatch | None:
        """The match with this id if this address may send messages of it, otherwise None."""
        match, owner = self._live.get(match_id.lower(), (None, ""))
        return match if self._any or owner == sender else None

    def finish(self, match: ServedMatch) -> bool:
        """Finish a match; False if it was already finished."""
        found, owner = self._live.get(match.id.lower(), (None, ""))
        if found is not match:
            return False
        del self._live[match.id.lower()]
        self._finished.append((match.id.lower(), owner))
        return True

    def finished(self, match_id: str, sender: str) -> bool:
        """Whether a match of this address has ended recently."""
        return any(
            key == match_id.lower() and (self._any or owner == sender) for key, owner in self._finished
        )


_SHOWN_ENDED = 20
"""Finished matches on the status page."""


class Shown:
    """The status page's contents and the events.

    Args:
        name, player: of the server.
        running: the matches that are being played.
    """

    def __init__(self, name: str, player: str, running: Callable[[], Sequence[ServedMatch]]) -> None:
        self._name, self._player = name, player
        self._running = running
        self._veil = Veil()
        self._ended: deque[StatusRow] = deque(maxlen=_SHOWN_ENDED)
        self._news = EventSource(lambda: self._snapshot(True))
        self._outside_news = EventSource(lambda: self._snapshot(False))

    def ended(self, match: StatusRow) -> None:
        """Add a match that is over."""
        self._ended.append(match)

    def status(self, facts: Sequence[tuple[str, str]], here: bool) -> ServerStatus:
        """The status page. Only ``here``, on this computer, it has whole ids and the search's reports."""
        live = [match.status() for match in self._running()]
        ended = list(reversed(self._ended))
        if not here:
            live = [{**self._veiled(match), "search": "-"} for match in live]
            ended = [self._veiled(match) for match in ended]
        return ServerStatus(self._name, facts, live, ended)

    def news(self, here: bool) -> EventSource:
        """The events of the matches, for readers ``here`` or on other computers."""
        return self._news if here else self._outside_news

    def publish(self, event: str, data: dict[str, Any]) -> None:
        """Publish an event of the match that ``data`` names."""
        self._news.send(event, data)
        if self._outside_news.readers:
            self._outside_news.send(event, self._veiled(data))

    def for_log(self, fields: dict[str, object]) -> dict[str, object]:
        """The fields of a line of the log, without the whole id of a ``match``."""
        return self._veiled(fields) if "match" in fields else fields

    def _veiled(self, data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "match": self._veil.name(str(data["match"]))}

    def _snapshot(self, here: bool) -> list[bytes]:
        """The events for a new reader: the server and its matches."""
        snapshots = [match.news.snapshot() for match in self._running()]
        matches = [encode("match", data if here else self._veiled(data)) for data in snapshots]
        return [encode("server", {"name": self._name, "player": self._player}), *matches]


BEAT = 0.1
"""Seconds between two checks for a late event loop and for stopped processes."""
_SWEEP_BEATS = 10
"""The number of these checks after which matches without a manager are freed."""
_MAX_CLOSING = 8
"""Matches that may still be ending while a new one is taken."""
_ENDING_SHARE = 0.25
"""The share of a startclock for which a START waits for ending matches to make room."""
Ending = Coroutine[None, None, None]
_VERSION = ggp.version() or "not installed"


class Server:
    """An endpoint that listens. Use :meth:`open` and :meth:`close`, or :meth:`run`. ``config`` has its
    settings, ``metrics`` its counters."""

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.metrics = Metrics(_VERSION)
        self._admission = Admission(config.settings.cores or cores())
        self._large: Remembered[list[str]] = Remembered()
        self._roster = Roster(config.any_sender)
        self._shown = Shown(config.name, config.settings.player, lambda: self.running)
        self._closing: set[asyncio.Task[None]] = set()
        kind = config.settings.player, config.settings.machine
        self._forks: tuple[KeptForkServer, ...] = ()
        if config.forks:
            standby, match = f"{warm.__name__}:warm_up_standby", f"{warm.__name__}:warm_up_all"
            self._forks = (
                KeptForkServer("standby", (standby,), self._say, self._refill),
                KeptForkServer("match", (match, *kind), self._say, self._warm, lambda: launch.use(None)),
            )
        self._spares = Spares(
            Spare("ggp.match_process.thinking_process", *kind),
            Spare(
                "ggp.match_process.safe_move_process",
                server=lambda: self._forks[0].connection if self._forks else None,
            ),
        )
        self._connections = Connections(self, self._say)
        self._previewing = False
        self._sweeper: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._connections.listener.port

    @property
    def running(self) -> list[ServedMatch]:
        """The matches that are being played."""
        return self._roster.matches

    async def open(self) -> None:
        """Begin to listen, with a match process kept ready. Raises GdlError if the address cannot be listened
        on."""
        await self._connections.open()
        for forks in self._forks:
            forks.open()
        # This process is for a match that begins before processes can be forked; if kernels are still to be
        # compiled, it compiles a share of them.
        self._spares.match.refill()
        self._refill()
        self._sweeper = asyncio.create_task(self._sweep())
        self._say(
            "info", "listening", host=self.config.host, port=self.port, player=self.config.settings.player
        )

    async def close(self) -> None:
        """Stop listening, end every match and process."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._connections.listener.stop()
        for match in self.running:
            self._drop(match, "server ends", match.close())
        if self._closing:
            await asyncio.wait(self._closing)
        await self._connections.close()
        for spare in self._spares:
            await spare.close()
        for forks in self._forks:
            await forks.close()
        self._say("info", "closed")

    async def run(self) -> None:
        """Serve until SIGINT or SIGTERM, in a process that does nothing else."""
        await asyncio.to_thread(int)  # a system without threads is found out before anything begins
        go_first()
        set_session(os.getpid(), -FIRST)
        # With vfork the event loop would wait for the first moments of each new process.
        subprocess._USE_VFORK = False  # type: ignore[misc]
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                loop.add_signal_handler(number, stop.set)
            except NotImplementedError:  # Windows: KeyboardInterrupt does it
                break
        await self.open()
        try:
            await stop.wait()
        finally:
            await self.close()

    def status(self, here: bool) -> ServerStatus:
        """The contents of the status page. Only ``here``, on this computer, it has whole ids and the search's
        reports."""
        config = self.config
        facts = (
            ("version", _VERSION),
            ("uptime", duration(time.monotonic() - self.metrics.began)),
            ("player", config.settings.player),
            ("machine", config.settings.machine),
            ("matches", f"{len(self._roster)} of {config.matches}"),
            ("standbys need", self._admission.summary(self.running)),
        )
        return self._shown.status(facts, here)

    def news(self, here: bool) -> EventSource:
        """The events of the matches, for readers ``here``, on this computer, or on other computers."""
        return self._shown.news(here)

    def match(self, match_id: str, sender: str) -> ServedMatch | None:
        """The match of this address that is being played with this id, in upper or lower case."""
        return self._roster.get(match_id, sender)

    async def answer(self, message: Message, received: float, sender: str) -> str:
        """The reply to a message.

        Args:
            received: when it came, time.monotonic() seconds.
            sender: the address it came from, as :func:`~ggp.server.clients.visitors.sender_of` writes it. A
                match that another address has started does not exist for it.

        Raises:
            GdlError: the message cannot be handled, with the reason.
        """
        match message:
            case messages.Info():
                return messages.info_reply(self.config.name, self._free())
            case Preview():
                return await self._preview(message)
            case Start():
                return await self._start(message, received, sender)
            case Play():
                return await self._play(message, received, sender)
            case messages.Stop(match=match_id, told=moves):
                return self._end(match_id, sender, "stop", messages.DONE, lambda match: match.finish(moves))
            case messages.Abort(match=match_id):
                return self._end(match_id, sender, "abort", messages.ABORTED, ServedMatch.close)

    def _free(self) -> bool:
        """Whether a match that needs next to nothing can be taken."""
        room = len(self._roster) < self.config.matches and len(self._closing) < _MAX_CLOSING
        return room and self._admission.room(self.running)

    async def _let_end(self, until: float) -> None:
        """Wait until so few matches are still ending that one can be taken, or until this
        time.monotonic()."""
        while len(self._closing) >= _MAX_CLOSING and (left := until - time.monotonic()) > 0:
            await asyncio.wait(self._closing, timeout=left, return_when=asyncio.FIRST_COMPLETED)

    async def _start(self, original: Start, received: float, sender: str) -> str:
        longest = self.config.longest_clock
        startclock, playclock = min(original.startclock, longest), min(original.playclock, longest)
        message = replace(original, startclock=startclock, playclock=playclock)
        for earlier in self.running:
            if earlier.refused:  # after its startclock: START was answered, and no PLAY has come since
                self._drop(earlier, "refused", earlier.close())
        await self._let_end(received + startclock * _ENDING_SHARE)
        if self._roster.taken(message.match):
            # A manager that lost its connection asks again; a different match with that id is refused.
            same = self.match(message.match, sender)
            return await same.ready() if same is not None and same.start == message else BUSY
        if not self._free():
            self._say("info", "busy", match=message.match)
            return BUSY
        settings, say = self.config.settings, self._say
        match = ServedMatch(message, settings, self._spares, say, self.metrics, self._large)
        if self._admission.refuses(match, self.running):
            self._say("info", "busy", match=message.match, why="standbys of these rules need more")
            return BUSY
        match.news.publish = self._shown.publish
        match.news.began()
        self._roster.add(match, sender)
        self._share()
        self.metrics.started.inc()
        self.metrics.live.set(len(self._roster))
        clocks = {"startclock": startclock, "playclock": playclock}
        self._say("info", "start", match=message.match, role=message.role, sender=sender, **clocks)
        self._say("debug", "whole id", match=message.match, id=message.match, sender=sender)
        if message != original:
            self._say("warning", "clocks are cut: --longest-clock", match=message.match, seconds=longest)
        try:
            await match.begin(received)
            if not await self._admission.admit(match, lambda: self.running):
                match.busy = True
                self._say(
                    "warning", "busy", match=match.id, why=f"standbys need {match.share_needed:.2f} more"
                )
                self._drop(match, "busy", match.close())
            reply = await match.ready()
        except (GdlError, OSError) as error:
            self._drop(match, "refused", match.close())
            if isinstance(error, OSError):
                self._say("error", "no process", match=message.match, error=str(error))
                return BUSY
            raise
        self._refill()
        return reply

    async def _play(self, message: Play, received: float, sender: str) -> str:
        match = self.match(message.match, sender)
        if match is None:
            return self._unknown("play", message.match, sender)
        match.touched = received
        try:
            return await match.play(message, received)
        except GdlError:
            self._drop(match, "refused", match.close())
            raise

    def _end(
        self, match_id: str, sender: str, why: str, reply: str, ending: Callable[[ServedMatch], Ending]
    ) -> str:
        match = self.match(match_id, sender)
        if match is not None:
            self._drop(match, why, ending(match))
        elif not self._roster.finished(match_id, sender):
            return self._unknown(why, match_id, sender)
        # A manager that lost its connection gets the same answer again.
        return reply

    def _unknown(self, command: str, match_id: str, sender: str) -> str:
        """The reply if there is no such match, or if another address has started it: it does not say
        which."""
        event = "unknown match"
        if self._roster.taken(match_id):
            event = "another address has started this match: --any-sender lets all in"
        self._say("warning", event, command=command, match=match_id, sender=sender)
        return BUSY

    async def _preview(self, message: Preview) -> str:
        """Have a match process read the rules: the spare process is warm afterwards."""
        if self._previewing or not self._free():
            return BUSY
        self._previewing = True
        try:
            return await self._read_rules(message)
        except OSError as error:
            self._say("error", "no process", error=str(error))
            return BUSY
        finally:
            self._previewing = False
            self._refill()

    async def _read_rules(self, message: Preview) -> str:
        child = await self._spares.match.take()
        done: asyncio.Future[JsonMessage] = asyncio.get_running_loop().create_future()

        def receive(reply: JsonMessage) -> None:
            if reply["kind"] in ("ready", "refused") and not done.done():
                done.set_result(reply)

        child.on_message = receive
        child.send("preview", rules=message.rules)
        clock = float(min(message.clock, self.config.longest_clock))
        seconds = max(0.5, clock - Margin(self.config.settings.margin).spare_time(clock))
        try:
            await asyncio.wait([done], timeout=seconds)
        finally:
            if not (done.done() and self._spares.match.give_back(child)):
                child.kill()
        if done.done() and done.result()["kind"] == "refused":
            raise GdlError(str(done.result()["error"]))
        return messages.READY

    def _drop(self, match: ServedMatch, why: str, ending: Ending) -> None:
        """Forget a match at once, and run ``ending`` in the background."""
        if self._roster.finish(match):
            self._share()
            self.metrics.finished.labels(why).inc()
            self.metrics.live.set(len(self._roster))
        self._say("info", "end", match=match.id, why=why)
        task = asyncio.create_task(ending)
        self._closing.add(task)

        def closed(task: asyncio.Task[None]) -> None:
            self._closing.discard(task)
            self._shown.ended(match.ended(why))
            self._refill()

        task.add_done_callback(closed)

    def _share(self) -> None:
        """Share the processors among the searches of all matches. With more matches than processors each has
        one, and none searches while the other players think. The search and building of one match give way to
        the answers of the others; a single match need not give way."""
        total, live = self.config.settings.cores, len(self._roster)
        workers = None if total is None else max(1, total // max(1, live))
        for match in self.running:
            match.share(workers, total is None or live <= total, live > 1)

    def _refill(self) -> None:
        """Start spare processes for future and running matches. Starting one takes time from matches that get
        ready, so it waits for them unless it is forked."""
        if not self._connections.listener.serving:
            return
        self._spares.standby.refill()
        settled = self._free() or all(match.settled for match in self.running)
        if self._forks[1].ready if self._forks else settled:
            self._spares.match.refill()

    def _warm(self) -> None:
        """Replace the spare processes now that processes can be forked."""
        self._say("debug", "warm")
        launch.use(self._forks[1].connection)
        self._spares.match.renew()

    async def _sweep(self) -> None:
        """Check the matches and processes regularly."""
        beats = 0
        while True:
            asleep, computed = time.monotonic(), time.thread_time()
            await asyncio.sleep(BEAT)
            now = time.monotonic()
            lag = max(0.0, now - asleep - BEAT)
            self.metrics.lag.observe(lag)
            if lag > BEAT:
                computed = time.thread_time() - computed
                self._say("info", "event loop late", seconds=round(lag, 3), computed=round(computed, 3))
            rests = any(match.waits for match in self.running)
            for match in self.running:
                match.margin.lag(lag)
                match.check(rests)
            for spare in self._spares:
                spare.check()
            for forks in self._forks:
                forks.check()
            self._refill()
            beats += 1
            if beats % _SWEEP_BEATS == 0:
                self._free_idle(now)

    def _free_idle(self, now: float) -> None:
        """Free matches whose manager has gone."""
        for match in self.running:
            if now - match.touched > self.config.idle_seconds(match.start.startclock, match.start.playclock):
                self._drop(match, "idle", match.close())

    def _say(self, level: str, event: str, **fields: object) -> None:
        self.metrics.events.labels(level).inc()
        say(level, event, **self._shown.for_log(fields))
