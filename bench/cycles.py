"""Does anything stay behind when one server plays matches from START to STOP over and over?

    python -m bench.cycles --count 1000 --player uct --machine auto --side 4 --startclock 1 --playclock 1

starts ``ggp serve``, plays one turn per match, several matches side by side, ends some by STOP and some by
ABORT, and compares memory, processes, open files and files in /dev/shm after the first matches with those at
the end. Exit status 1 if memory has grown by more than --growth percent, if anything else has grown at all,
or if a reply was wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.hostile import COUNTING
from bench.serving import ServerProcess, say
from players.processes.lifeline import descendants, resident_bytes

SETTLE_SECONDS = 60.0
"""How long it may take until ended matches have gone."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a server holds: resident bytes of its own process and of those below it, the number of those,
    open files of its own process, files in /dev/shm."""

    own: int
    below: int
    processes: int
    files: int
    shared: int

    def __str__(self) -> str:
        return (
            f"server {self.own / 1e6:.1f} MB, below it {self.below / 1e6:.1f} MB in {self.processes}"
            f" processes, {self.files} open files, {self.shared} in /dev/shm"
        )


def held(pid: int) -> Held:
    """What a server holds at this moment."""
    below = descendants(pid)
    shm = Path("/dev/shm")
    return Held(
        resident_bytes([pid]),
        resident_bytes(below),
        len(below),
        len(list(Path(f"/proc/{pid}/fd").iterdir())),
        len(list(shm.iterdir())) if shm.exists() else 0,
    )


def settled(pid: int, processes: int | None = None) -> Held:
    """What it holds once no more processes than these are left, or their number no longer changes."""
    end = time.monotonic() + SETTLE_SECONDS
    last = held(pid)
    same = 0
    while time.monotonic() < end and not (same >= 6 and (processes is None or last.processes <= processes)):
        time.sleep(0.5)
        before, last = last, held(pid)
        same = same + 1 if (last.processes, last.files) == (before.processes, before.files) else 0
    return last


def cycle(port: int, number: int, clocks: str, problems: list[str]) -> None:
    """One match of one turn."""
    name = f"cycle{number}"
    expected = [
        (f"( START {name} left ({COUNTING}) {clocks} )", ("ready",)),
        (f"( PLAY {name} NIL )", ("(add 1)", "(add 2)")),
        (f"( ABORT {name} )", ("aborted",))
        if number % 3 == 0
        else (f"( STOP {name} ((add 1) (add 2)) )", ("done",)),
    ]
    for message, replies in expected:
        reply = say(port, message)
        if reply not in replies:
            problems.append(f"{message[:50]}: {reply[:200]!r}")


def cycles(port: int, numbers: range, options: argparse.Namespace, problems: list[str]) -> None:
    """These matches, some of them side by side."""
    clocks = f"{options.startclock} {options.playclock}"
    with ThreadPoolExecutor(options.side) as pool:
        list(pool.map(lambda number: cycle(port, number, clocks, problems), numbers))


def grown(first: Held, last: Held, percent: float) -> list[str]:
    """What has grown that should not have."""
    growth = []
    for name in ("own", "below"):
        before, after = getattr(first, name), getattr(last, name)
        if after > before * (1 + percent / 100):
            growth.append(f"{name} memory: {before / 1e6:.1f} -> {after / 1e6:.1f} MB")
    for name in ("processes", "files", "shared"):
        if getattr(last, name) > getattr(first, name):
            growth.append(f"{name}: {getattr(first, name)} -> {getattr(last, name)}")
    return growth


def main() -> int:
    """Run as a script; exit status 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--warm", type=int, default=10, help="cycles before the first look")
    parser.add_argument("--growth", type=float, default=5.0, help="percent of memory")
    parser.add_argument("--side", type=int, default=1, help="matches side by side")
    parser.add_argument("--startclock", type=int, default=10)
    parser.add_argument("--playclock", type=int, default=10)
    parser.add_argument("--wait", type=float, default=300.0, help="most seconds until the server is warm")
    parser.add_argument("--player", default="legal")
    parser.add_argument("--machine", default="prover")
    options = parser.parse_args()
    server = ServerProcess(
        "--player", options.player, "--machine", options.machine, "--matches", str(options.side)
    )
    problems: list[str] = []
    # Later matches are made otherwise than those before.
    server.wait_for("what=match seconds=", options.wait)
    began = time.monotonic()
    cycles(server.port, range(options.warm), options, problems)
    first = settled(server.pid)
    print(f"after {options.warm} cycles: {first}", flush=True)
    fifth = max(1, (options.count - options.warm) // 5)
    for start in range(options.warm, options.count, fifth):
        stop = min(options.count, start + fifth)
        cycles(server.port, range(start, stop), options, problems)
        print(f"after {stop} cycles: {held(server.pid)}", flush=True)
    last = settled(server.pid, first.processes)
    print(f"after {options.count} cycles: {last}; {time.monotonic() - began:.0f} s")
    below = descendants(server.pid)
    status = server.stop()
    problems += grown(first, last, options.growth)
    problems += [f"process {pid} is left over" for pid in below if Path(f"/proc/{pid}").exists()]
    problems += [line.strip() for line in server.log if "Traceback" in line or "level=error" in line]
    for problem in problems[:20]:
        print(f"  {problem}")
    print(f"{len(problems)} problems; exit status {status}")
    return int(bool(problems or status))


if __name__ == "__main__":
    sys.exit(main())
