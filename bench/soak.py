"""A server that is starved and whose processes are killed and stopped at random: is it ever late?

    python -m bench.soak --turns 2000 --playclock 1 --matches 2 --burners 2 --kill-every 2

starts ``ggp serve``, plays matches side by side by game managers of its own
(:mod:`bench.soak_referee`) that check every reply's time and legality, keeps the processors busy, and
sends SIGKILL and SIGSTOP (sometimes followed by SIGCONT) to processes of the server, never to the server
itself. Writes what was seen as JSON; exit status 1 if any reply was late or illegal, a match was lost, a
process or a file in /dev/shm is left, or the memory has grown by more than --growth percent.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from bench.soak_referee import SoakPlan, SoakTally, work
from ggp.server.descendants import descendants, proportional_bytes

ROOT = Path(__file__).resolve().parents[1]

GAMES = (
    "breakthrough connectfour othello tictactoe hex checkers rockpaperscissors biddingtictactoe tron sokoban"
    " amazons kalah"
)

ROLES = ("fork_server", "match_process", "keeper", "uct_worker", "kaskade_process", "assembler")
"""What processes of the server are for: the modules that they run."""

SETTLE_SECONDS = 20.0
"""How long it may take until all matches have gone."""


def role_of(pid: int) -> str:
    """What a process is for; empty where it is gone."""
    try:
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        line = Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
    known = [role for role in ROLES if role.startswith(name.removeprefix("ggp-")[:8])]
    return (known or [role for role in ROLES if f".{role}\0" in line] or [name])[0]


@dataclass
class Harm:
    """Kills and stops processes below a server.

    Attributes:
        done: how often, by kind and by what the process was for.
    """

    server: int
    every: float
    seed: int
    done: Counter[str] = field(default_factory=Counter)
    _over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Until :meth:`end`."""
        rng = random.Random(self.seed)
        while not self._over.wait(rng.expovariate(1 / self.every)):
            below = [pid for pid in descendants(self.server) if role_of(pid)]
            if not below:
                continue
            pid = rng.choice(below)
            how = rng.choices(("SIGKILL", "SIGSTOP", "SIGSTOP+SIGCONT"), (2, 1, 1))[0]
            role = role_of(pid)
            try:
                os.kill(pid, signal.SIGKILL if how == "SIGKILL" else signal.SIGSTOP)
            except ProcessLookupError:
                continue
            self.done[f"{how} {role}"] += 1
            if how.endswith("SIGCONT"):
                threading.Timer(rng.uniform(0.05, 3.0), _go_on, (pid,)).start()

    def end(self) -> None:
        """Do no more harm."""
        self._over.set()


def _go_on(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return


def shared_files() -> set[str]:
    """What lies in /dev/shm."""
    folder = Path("/dev/shm")
    return {file.name for file in folder.iterdir()} if folder.exists() else set()


def burn() -> None:
    """Keep a processor busy."""
    parent = os.getppid()
    while os.getppid() == parent:
        sum(range(100_000))


class Soak:
    """One run; see the module's first lines."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.log: list[str] = []
        self.memory: list[tuple[float, int, int]] = []
        self._seen: set[tuple[int, str]] = set()
        self._context = multiprocessing.get_context("spawn")

    def run(self) -> dict[str, Any]:
        """Start the server, play, and say what was seen."""
        options = self.options
        shared = shared_files()
        command = [sys.executable, "-m", "ggp", "serve", "--port", "0", "--log-level", "info"]
        command += ["--player", options.player, "--machine", options.machine]
        command += ["--matches", str(options.matches)]
        server = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
        try:
            port = self._port(server)
            time.sleep(options.wait)
            tally, harm, seconds = self._play(server.pid, port)
            settled = self._settle(server.pid)
        finally:
            server.terminate()
            status = server.wait(60)
        time.sleep(0.5)
        left = [f"{pid} {role_of(pid)}" for pid, born in self._seen if born and _born(pid) == born]
        return {
            "turns": tally.turns,
            "matches": tally.matches,
            "late": tally.late,
            "late_starts": tally.late_starts,
            "illegal": tally.illegal,
            "lost": tally.lost,
            "slowest": round(tally.slowest, 3),
            "percentiles": _percentiles(tally.times),
            "seconds": round(seconds, 1),
            "harmed": sum(harm.values()),
            "harm": dict(sorted(harm.items())),
            "ends": dict(tally.ends),
            "faults": tally.faults,
            "left_processes": left,
            "left_shared": sorted(shared_files() - shared),
            "processes_at_end": settled,
            "memory": self._growth(),
            "memory_mb": [(round(when, 1), mb // 2**20, count) for when, mb, count in self.memory],
            "log": dict(Counter(match.group(1) for line in self.log if (match := _EVENT.search(line)))),
            "tracebacks": sum("Traceback" in line for line in self.log),
            "exit_status": status,
        }

    def _port(self, server: subprocess.Popen[str]) -> int:
        assert server.stderr is not None
        for line in server.stderr:
            self.log.append(line)
            if match := re.search(r"event=listening .*port=(\d+)", line):
                threading.Thread(target=self._read, args=(server,), daemon=True).start()
                return int(match.group(1))
        raise SystemExit("the server did not start:\n" + "".join(self.log))

    def _read(self, server: subprocess.Popen[str]) -> None:
        for line in server.stderr or ():
            self.log.append(line)
            if self.options.verbose:
                print(line, end="", file=sys.stderr)

    def _play(self, pid: int, port: int) -> tuple[SoakTally, Counter[str], float]:
        options = self.options
        burners = [self._context.Process(target=burn, daemon=True) for _ in range(options.burners)]
        harm = Harm(pid, options.kill_every, options.seed)
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
            )
            managers[ours] = self._context.Process(target=work, args=(plan, theirs), daemon=True)
        began = time.monotonic()
        for process in [*burners, *managers.values()]:
            process.start()
        if options.kill_every:
            threading.Thread(target=harm.run, daemon=True).start()
        tally = SoakTally()
        while managers:
            for pipe in wait(list(managers), options.look):
                assert isinstance(pipe, Connection)
                tally.add(pipe.recv())
                managers.pop(pipe).join(5)
            self._look(pid, began)
        harm.end()
        seconds = time.monotonic() - began
        for process in burners:
            process.kill()
        if options.kill_every:
            time.sleep(3.2)  # the last SIGCONT
        return tally, harm.done, seconds

    def _look(self, server: int, began: float) -> None:
        below = descendants(server)
        self._seen |= {(pid, _born(pid)) for pid in below}
        self.memory.append((time.monotonic() - began, proportional_bytes([server, *below]), len(below)))

    def _settle(self, server: int) -> list[str]:
        """The processes of the server once no more of them go away."""
        end = time.monotonic() + SETTLE_SECONDS
        fewest = len(descendants(server))
        quiet = time.monotonic()
        while time.monotonic() < min(end, quiet + self.options.quiet):
            time.sleep(0.1)
            now = len(descendants(server))
            if now < fewest:
                fewest, quiet = now, time.monotonic()
        below = descendants(server)
        self._seen |= {(pid, _born(pid)) for pid in below}
        return sorted(role_of(pid) for pid in below if _born(pid))

    def _growth(self) -> dict[str, float]:
        """The memory of all processes together in the first and the last third of the run, MB: matches
        begin and end, so single values say little."""
        part = max(1, len(self.memory) // 3)
        # What is loaded in the first matches is no growth.
        begin = part // 4
        first = statistics.mean(value for _, value, _ in self.memory[begin : begin + part])
        last = statistics.mean(value for _, value, _ in self.memory[-part:])
        return {
            "first_mb": round(first / 2**20, 1),
            "last_mb": round(last / 2**20, 1),
            "growth_percent": round(100 * (last / first - 1), 1) if first else 0.0,
        }


_EVENT = re.compile(r"level=(?:WARNING|ERROR) event=('[^']*'|\S+)")


def _born(pid: int) -> str:
    """When a process was started, in clock ticks since boot; empty where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return fields[19] if fields[0] != "Z" else ""


def _percentiles(times: list[float]) -> dict[str, float]:
    if len(times) < 2:
        return {}
    cuts = statistics.quantiles(times, n=1000, method="inclusive")
    return {
        name: round(cuts[place], 3) for name, place in (("50", 499), ("90", 899), ("99", 989), ("99.9", 998))
    }


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    made.add_argument("--turns", type=int, default=2000, help="of all matches together")
    made.add_argument("--matches", type=int, default=2, help="side by side")
    made.add_argument("--startclock", type=int, default=4)
    made.add_argument("--playclock", type=int, default=1)
    made.add_argument("--per-match", type=int, default=40, help="turns after which a match is ended")
    made.add_argument("--burners", type=int, default=2, help="processes that keep processors busy")
    made.add_argument("--kill-every", type=float, default=2.0, help="mean seconds between two; 0 for none")
    made.add_argument("--player", default="uct")
    made.add_argument("--machine", default="auto")
    made.add_argument("--games", default=GAMES, help="names, with blanks between them")
    made.add_argument("--wait", type=float, default=0.0, help="seconds for the server before the first match")
    made.add_argument("--look", type=float, default=2.0, help="seconds between two looks at the memory")
    made.add_argument(
        "--quiet", type=float, default=5.0, help="seconds without an end after which all have gone"
    )
    made.add_argument("--growth", type=float, default=10.0, help="percent of memory")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--out", type=Path, help="where to write the JSON")
    made.add_argument("--verbose", action="store_true", help="show the server's log")
    return made


def main() -> int:
    """Run as a script."""
    options = parser().parse_args()
    report = Soak(options).run()
    text = json.dumps({"options": {k: str(v) for k, v in vars(options).items()}, **report}, indent=1)
    if options.out:
        options.out.write_text(text + "\n")
    print(json.dumps({key: value for key, value in report.items() if key != "memory_mb"}, indent=1))
    wrong = report["late"] + report["illegal"] + report["lost"] + report["tracebacks"] + report["exit_status"]
    wrong += len(report["left_processes"]) + len(report["left_shared"])
    return int(bool(wrong) or report["memory"]["growth_percent"] > options.growth)


if __name__ == "__main__":
    sys.exit(main())
