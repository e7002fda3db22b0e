"""What exact covers cost by our choice of an engine, beside each engine, xcover and exact-cover.

    python -m bench.cover [NAME...] [--peers PYTHON] [--json FILE]

Least CPU seconds of several searches in one process, one thread, kernels loaded: reduction, choice, search;
from arrays on both sides. *told*: all solutions are handed over; *counted*: only their number. A row is
*behind* where ours takes more than 1.15 times the best of our engines, or longer than the other program, and
more than a millisecond longer. Numbers of solutions that are not the known ones end the run. ``--peers``
names the Python that has the others (see `bench.peers`); they have 40 seconds for a problem.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench.cover.instances import INSTANCES, Instance
from bench.scripts import command_line
from players.puzzles.cover.engines.memo import MemoCounter
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.problem import CoverError, CoverProblem
from players.puzzles.cover.search import ENGINES, CoverSearch

SLOWER, NOTICED = 1.15, 0.001
"""A row is behind beyond this ratio, if it is so many seconds."""
SCRIPT = Path(__file__).with_name("peer_script.py")
PEERS = ("xcover", "exact-cover")
_REPEATED, _MOST_RUNS, _HOPELESS = 0.3, 30, 5.0


@dataclass
class Row:
    """Seconds of one problem: ours, of each engine by itself, of other programs."""

    name: str
    tells: bool
    solutions: int
    ours: float
    chosen: str
    engines: dict[str, float] = field(default_factory=dict)
    peers: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> tuple[float, str]:
        """The fastest engine."""
        return min((seconds, name) for name, seconds in self.engines.items())

    @property
    def behind(self) -> list[str]:
        """What we are slower than, with the ratio."""
        told = []
        limits = [(SLOWER, self.best[1], self.best[0]), *((1.0, *peer) for peer in self.peers.items())]
        for most, name, seconds in limits:
            if self.ours > most * seconds and self.ours > seconds + NOTICED:
                told.append(f"{name} {self.ours / seconds:.2f}")
        return told


def searched(problem: CoverProblem, engine: str | None, tells: bool, limit: float) -> tuple[float, int, str]:
    """CPU seconds, solutions and engine of one search; infinite seconds if it takes longer than the limit."""
    began = time.process_time()
    search = CoverSearch(problem, CoverOptions(engine=engine, delivers=tells))
    while not search.step(time.monotonic() + 0.25):
        search.taken()
        if time.process_time() - began > limit:
            return float("inf"), 0, engine or ""
    search.taken()
    result = search.result()
    return time.process_time() - began, result.solutions, result.engine


def measure(name: str, instance: Instance, tells: bool) -> Row:
    """Ours and all engines, in turns. Raises ValueError if a number is wrong."""
    problem = instance.build()
    row = Row(name, tells, instance.solutions, float("inf"), "")
    searched(problem, None, tells, float("inf"))
    names: list[str | None] = [None, *ENGINES, *([] if tells else [MemoCounter.name])]
    runs, spent = 0, 0.0
    while names and (spent < _REPEATED * len(names) and runs < _MOST_RUNS):
        for engine in list(names):
            limit = float("inf") if engine is None else max(0.5, _HOPELESS * row.ours)
            try:
                seconds, found, chosen = searched(problem, engine, tells, limit)
            except CoverError:
                names.remove(engine)
                continue
            if seconds == float("inf"):
                names.remove(engine)
                continue
            if found != instance.solutions:
                raise ValueError(f"{name} has {instance.solutions} solutions, {chosen} finds {found}")
            spent += seconds
            if engine is None:
                row.ours, row.chosen = min((row.ours, row.chosen), (seconds, chosen))
            elif runs:  # the first run loads the engine
                row.engines[engine] = min(row.engines.get(engine, seconds), seconds)
        runs += 1
        if runs == 1:
            spent = 0.0
    return row


def request(problem: CoverProblem) -> dict[str, Any] | None:
    """The problem as `peer_script` takes it; None if it has bounds, weights or holes."""
    plain = (problem.maximum == 1) | problem.coloured()
    if not plain.all() or (problem.weights != 1).any():
        return None
    if problem.holes is not None and problem.may_be_hole.any():
        return None
    order = np.argsort(problem.minimum == 0, kind="stable")
    return {
        "starts": problem.starts.tolist(),
        "nodes": np.argsort(order)[problem.nodes].tolist(),
        "colours": problem.colours.tolist(),
        "primary": int((problem.minimum == 1).sum()),
        "items": problem.items,
    }


def peers(python: str, instance: Instance, tells: bool) -> dict[str, float]:
    """CPU seconds of the other programs that take the problem; infinite after 40 s by the clock. Raises
    ValueError if a number is wrong."""
    asked = request(problem := instance.build())
    found: dict[str, float] = {}
    for peer in PEERS if asked else ():
        if peer == "exact-cover" and problem.colours.any():
            continue
        line = {
            **(asked or {}),
            "peer": peer,
            "tells": tells,
            "seconds": 0.3,
            "solutions": instance.solutions,
        }
        try:
            done = subprocess.run(
                [python, str(SCRIPT)], input=json.dumps(line), capture_output=True, text=True, timeout=40
            )
        except subprocess.TimeoutExpired:
            found[peer] = float("inf")
            continue
        if done.returncode:
            raise ValueError(f"{peer}: {done.stderr.strip().splitlines()[-1]}")
        answer = json.loads(done.stdout)
        if answer["solutions"] != instance.solutions:
            raise ValueError(f"{peer} finds {answer['solutions']} of {instance.solutions} solutions")
        found[peer] = answer["seconds"]
    return found


def shown(row: Row) -> str:
    """The row of the table."""
    told = "told" if row.tells else "counted"
    others = " | ".join(_milliseconds(row.peers.get(peer)) for peer in PEERS)
    best, name = row.best
    ours = f"| {row.name} | {row.solutions:,} | {told} | {1e3 * row.ours:.2f} | {row.chosen} "
    return f"{ours}| {1e3 * best:.2f} {name} | {row.ours / best:.2f} | {others} | {', '.join(row.behind)} |"


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else "> 40 s" if seconds == float("inf") else f"{1e3 * seconds:.2f}"


def main() -> int:
    """Print the table; 1 if a row is behind."""
    parser = command_line(__doc__)
    parser.add_argument("names", nargs="*", help="all if none: " + ", ".join(INSTANCES))
    parser.add_argument("--peers", metavar="PYTHON", help="the interpreter that has xcover and exact-cover")
    parser.add_argument("--json", type=Path, help="write all rows")
    wanted = parser.parse_args()
    head = ["instance", "solutions", "", "ours, ms", "by", "best engine, ms", "ratio", *PEERS, "behind"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    rows = []
    for name in wanted.names or INSTANCES:
        for tells in (True, False) if INSTANCES[name].told else (False,):
            row = measure(name, INSTANCES[name], tells)
            if wanted.peers:
                row.peers = peers(wanted.peers, INSTANCES[name], tells)
            rows.append(row)
            print(shown(row), flush=True)
    late = [row for row in rows if row.behind]
    print(
        f"\n{len(late)} of {len(rows)} rows are behind"
        + "".join(f"\n- {row.name}: {row.behind}" for row in late)
    )
    if wanted.json:
        wanted.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
