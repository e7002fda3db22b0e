"""Starves and harms a server while matches go on, and counts what goes wrong.

Starts ``ggp serve``, has game managers (:mod:`bench.soak.game_manager`) play matches side by side and check
every reply's time and legality, keeps the processors busy, and sends SIGKILL and SIGSTOP (sometimes followed
by SIGCONT) to processes of the server, never to the server itself.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import re
import signal
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from bench.serving import ServerProcess
from bench.soak.game_manager import Signals, SoakCounts, SoakPlan, manage
from players.processes.lifeline import descendants, proportional_bytes

GAMES = (
    "breakthrough connectfour othello tictactoe hex checkers rockpaperscissors biddingtictactoe tron sokoban"
    " amazons kalah"
)

ROLES = (
    "fork_server",
    "thinking_process",
    "safe_move_process",
    "worker",
    "relay",
    "builder",
    "assembler",
)
"""What processes of the server are for: the modules that they run."""

SETTLE_SECONDS = 20.0
"""How long the processes of matches may take to end."""


def role_of(pid: int) -> str:
    """What a process is for; empty where it is gone."""
    try:
        name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
        line = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except OSError:
        return ""
    known = [role for role in ROLES if role.startswith(name.removeprefix("ggp-")[:8])]
    return (known or [role for role in ROLES if f".{role}\0" in line] or [name])[0]


MOMENT_SECONDS = 3.0
"""How long a moment is waited for."""
WITHIN_SECONDS = {"START": 1.0, "PLAY": 0.5, "STOP": 0.01}
"""How far into the wait for a reply a process is harmed, at most."""


@dataclass
class Harm:
    """Kills and stops processes below a server.

    Attributes:
        server: its process.
        every: mean seconds between two.
        only: how the names of those begin that are harmed; empty for all.
        signals: what the managers wait for: as many are harmed during START, PLAY and STOP.
        counts: how often, by kind, by what the process was for, and by what was waited for.
    """

    server: int
    every: float
    seed: int
    signals: Signals
    only: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    _over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Until :meth:`end`."""
        rng = random.Random(self.seed)
        while not self._over.wait(rng.expovariate(1 / self.every)):
            during = self._moment(rng)
            below = self._harmed()
            if not below:
                continue
            pid = rng.choice(below)
            how = rng.choices(("SIGKILL", "SIGSTOP", "SIGSTOP+SIGCONT"), (2, 1, 1))[0]
            role = role_of(pid)
            try:
                os.kill(pid, signal.SIGKILL if how == "SIGKILL" else signal.SIGSTOP)
            except ProcessLookupError:
                continue
            self.counts[f"{how} {role} during {during}"] += 1
            if how.endswith("SIGCONT"):
                threading.Timer(rng.uniform(0.05, 3.0), _go_on, (pid,)).start()

    def _harmed(self) -> list[int]:
        """What may be harmed: below the server, or wherever a name fits. Nodes of a cluster are elsewhere."""
        if not self.only:
            return [pid for pid in descendants(self.server) if role_of(pid)]
        everybody = map(int, (entry.name for entry in Path("/proc").glob("[0-9]*")))
        return [pid for pid in everybody if role_of(pid).startswith(self.only)]

    def _moment(self, rng: random.Random) -> str:
        """Wait for a random moment while a manager waits for the reply to one kind of message; which kind."""
        phase = rng.randrange(1, len(Signals.PHASES))
        end = time.monotonic() + MOMENT_SECONDS
        while phase not in list(self.signals.phases) and time.monotonic() < end:
            time.sleep(0.0005)
        if phase not in list(self.signals.phases):
            return Signals.PHASES[0]
        time.sleep(rng.uniform(0.0, WITHIN_SECONDS[Signals.PHASES[phase]]))
        return Signals.PHASES[phase]

    def end(self) -> None:
        """Do no more harm."""
        self._over.set()


def _go_on(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return


def shared_files() -> dict[str, tuple[str, str]]:
    """What lies in /dev/shm and belongs to us: device and inode by name."""
    folder = Path("/dev/shm")
    files = {}
    for file in folder.iterdir() if folder.exists() else ():
        try:
            status = file.stat()
        except FileNotFoundError:
            continue
        if status.st_uid == os.getuid():
            device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
            files[file.name] = (device, str(status.st_ino))
    return files


def left_shared_files(before: Iterable[str], seconds: float = 5.0) -> list[str]:
    """What has come into /dev/shm since ``before``, that no living process maps, and that stays so.

    Processes beside the server have shared memory of their own; what nobody maps was left behind, unless
    the resource tracker of one that was killed is about to remove it. A mapped file is known by its inode:
    a semaphore is mapped under a name that it loses.
    """
    left = shared_files().keys() - set(before)
    end = time.monotonic() + seconds
    while left and time.monotonic() < end:
        time.sleep(0.2)
        mapped = set()
        for process in Path("/proc").glob("[0-9]*"):
            try:
                maps = (process / "maps").read_text(errors="replace")
            except OSError:
                continue
            mapped |= {tuple(line.split(maxsplit=5)[3:5]) for line in maps.splitlines()}
        left &= {name for name, inode in shared_files().items() if inode not in mapped}
    return sorted(left)


def burn() -> None:
    """Keep a processor busy."""
    parent = os.getppid()
    while os.getppid() == parent:
        sum(range(100_000))


class Soak:
    """One run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.memory: list[tuple[float, int, int]] = []
        self._seen: set[tuple[int, str]] = set()
        self._context = multiprocessing.get_context("spawn")

    def run(self) -> dict[str, Any]:
        """Start the server, play, and count."""
        options = self.options
        shared = shared_files()
        words = ["--player", options.player, "--machine", options.machine, "--matches", str(options.matches)]
        if options.cluster:
            words += ["--cluster", options.cluster]
        cores = tuple(int(core) for core in options.cores.split(",") if core)
        server = ServerProcess(*words, show=options.verbose, cores=cores)
        try:
            time.sleep(options.wait)
            counts, harm, seconds = self._play(server.pid, server.port)
            settled = self._settle(server.pid)
        finally:
            status = server.stop()
        time.sleep(0.5)
        left = [f"{pid} {role_of(pid)}" for pid, born in self._seen if born and _born(pid) == born]
        copied = ("turns", "matches", "late", "late_starts", "illegal", "junk", "busy", "lost", "faults")
        return {
            **{name: getattr(counts, name) for name in copied},
            "slowest": round(counts.slowest, 3),
            "stood_still": round(counts.stood_still, 3),
            "percentiles": _percentiles(counts.times),
            "seconds": round(seconds, 1),
            "harmed": sum(harm.values()),
            "harm": dict(sorted(harm.items())),
            "ends": dict(counts.ends),
            "left_processes": left,
            "left_shared": left_shared_files(shared),
            "processes_at_end": settled,
            "memory": self._growth(),
            "memory_mb": [(round(when, 1), mb // 2**20, count) for when, mb, count in self.memory],
            "event_loop_late": [line.strip() for line in server.log if 'event="event loop late"' in line],
            "log": dict(Counter(event.group(1) for line in server.log if (event := _EVENT.search(line)))),
            "tracebacks": server.tracebacks,
            "exit_status": status,
        }

    def _play(self, pid: int, port: int) -> tuple[SoakCounts, Counter[str], float]:
        options = self.options
        burners = [self._context.Process(target=burn, daemon=True) for _ in range(options.burners)]
        signals = Signals(options.matches, self._context)
        harm = Harm(pid, options.kill_every, options.seed, signals, options.harm)
        games = tuple(options.games.split())
        managers: dict[Connection, BaseProcess] = {}
        for number in range(options.matches):
            ours, theirs = self._context.Pipe(False)
            first = number * len(games) // options.matches
            plan = SoakPlan(
                f"soak{number}",
                port,
                games[first:] + games[:first],
                options.turns // options.matches,
                options.startclock,
                options.playclock,
                options.per_match,
                options.seed,
                options.junk,
                options.junk_kinds,
            )
            managers[ours] = self._context.Process(
                target=manage, args=(plan, theirs, signals, number), daemon=True
            )
        began = time.monotonic()
        for process in [*burners, *managers.values()]:
            process.start()
        if options.kill_every:
            threading.Thread(target=harm.run, daemon=True).start()
        counts = SoakCounts()
        while managers:
            for pipe in wait(list(managers), options.look):
                assert isinstance(pipe, Connection)
                counts.add(pipe.recv())
                managers.pop(pipe).join(5)
            self._look(pid, began)
            if options.kills and sum(harm.counts.values()) >= options.kills:
                signals.over.set()
        harm.end()
        seconds = time.monotonic() - began
        for process in burners:
            process.kill()
        if options.kill_every:
            time.sleep(3.2)  # the last SIGCONT
        return counts, harm.counts, seconds

    def _look(self, server: int, began: float) -> None:
        below = descendants(server)
        self._seen |= {(pid, _born(pid)) for pid in below}
        self.memory.append(
            (time.monotonic() - began, sum(map(proportional_bytes, [server, *below])), len(below))
        )

    def _settle(self, server: int) -> list[str]:
        """The processes of the server once no more of them go away."""
        end = time.monotonic() + SETTLE_SECONDS
        fewest = len(descendants(server))
        quiet = time.monotonic()
        while time.monotonic() < min(end, quiet + self.options.quiet):
            time.sleep(0.1)
            processes = len(descendants(server))
            if processes < fewest:
                fewest, quiet = processes, time.monotonic()
        below = descendants(server)
        self._seen |= {(pid, _born(pid)) for pid in below}
        return sorted(role_of(pid) for pid in below if _born(pid))

    def _growth(self) -> dict[str, float]:
        """The memory of all processes together in the first and the last third of the run, MB: matches
        begin and end, so single values say little."""
        third = max(1, len(self.memory) // 3)
        # What is loaded in the first matches is no growth.
        begin = third // 4
        first = statistics.mean(value for _, value, _ in self.memory[begin : begin + third])
        last = statistics.mean(value for _, value, _ in self.memory[-third:])
        return {
            "first_mb": round(first / 2**20, 1),
            "last_mb": round(last / 2**20, 1),
            "growth_percent": round(100 * (last / first - 1), 1) if first else 0.0,
        }


_EVENT = re.compile(r'level=(?:warning|error) event=("[^"]*"|\S+)')


def _born(pid: int) -> str:
    """When a process was started, in clock ticks since boot; empty where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return ""
    return fields[19] if fields[0] != "Z" else ""


def _percentiles(times: list[float]) -> dict[str, float]:
    if len(times) < 2:
        return {}
    cuts = statistics.quantiles(times, n=1000, method="inclusive")
    return {f"{per_mille / 10:g}": round(cuts[per_mille - 1], 3) for per_mille in (500, 900, 990, 999)}


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__.partition("\n")[0])
    add = options.add_argument
    add("--turns", type=int, default=2000, help="of all matches together")
    add("--matches", type=int, default=2, help="side by side")
    add("--startclock", type=int, default=4)
    add("--playclock", type=int, default=1)
    add("--per-match", type=int, default=40, help="turns after which a match is ended")
    add("--burners", type=int, default=2, help="processes that keep processors busy")
    add("--kill-every", type=float, default=2.0, help="mean seconds between two; 0 for none")
    add("--kills", type=int, default=0, help="end once so many processes were harmed")
    add("--harm", default="", help="harm only processes whose names begin so: worker, ray::RayWorker ...")
    add("--cluster", default="", help="as of ggp serve")
    add("--junk", type=float, default=0.0, help="share of turns disturbed by PLAYs that cannot be")
    add("--junk-kinds", type=int, default=5, help="how many kinds, of bench.soak.game_manager")
    add("--player", default="uct")
    add("--machine", default="auto")
    add("--cores", default="", help="processors of the server, such as 0 or 0,1; all by default")
    add("--games", default=GAMES, help="names, with blanks between them")
    add("--wait", type=float, default=0.0, help="seconds for the server before the first match")
    add("--look", type=float, default=2.0, help="seconds between two looks at the memory")
    add("--quiet", type=float, default=5.0, help="seconds without an end after which all have gone")
    add("--growth", type=float, default=10.0, help="percent of memory")
    add("--seed", type=int, default=0)
    add("--out", type=Path, help="where to write the JSON")
    add("--verbose", action="store_true", help="show the server's log")
    return options
