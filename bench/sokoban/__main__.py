"""How many levels of a collection are solved, in how many CPU seconds, directly or through rules in GDL?

    python -m bench.sokoban Microban_I.xsb --seconds 10 --out bench/out/microban.json
    python -m bench.sokoban Microban_I.xsb --way scrambled --levels 1-40,155
    python -m bench.sokoban --compare OLD.json NEW.json

Each level has a process of its own. Its CPU time counts from its start on: Python, imports, loading kernels,
the search, and replaying the solution on the prover. A level counts as solved if all that stays within the
limits of time and memory. The first run after an installation compiles kernels, before levels are counted;
Python keeps what it compiles, as it does for users.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from bench.processes import HANG, cpu_seconds
from bench.scripts import command_line
from players.puzzles.sokoban.levels.read import levels_of_file
from players.puzzles.sokoban.search.solve_level import warm_up

Way = Literal["direct", "gdl", "scrambled"]
WAYS: tuple[Way, ...] = ("direct", "gdl", "scrambled")
_TOTALS = (1, 10, 60)
_WARM_UP_SECONDS = 300.0
_USUAL_MEGABYTES = 1024
_PROGRAM_MEGABYTES = 300
"""Of the memory of a process, for all that is not data of its searches."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, or compare two measurements."""
    options = _options(arguments)
    if options.compare:
        old, new = (json.loads(Path(name).read_text(encoding="utf-8")) for name in options.compare)
        print(compared(old, new))
        return 0
    if options.one == 0:
        warm_up()
        print("{}")
        return 0
    if options.one is not None:
        asked = options.collection, options.one, options.way, options.seconds, options.megabytes
        print(json.dumps(solve_one(*asked)))
        return 0
    if not options.collection:
        print("name a collection of levels, or --compare OLD.json NEW.json", file=sys.stderr)
        return 2
    count = len(levels_of_file(options.collection))
    measure_one(options.collection, 0, options.way, _WARM_UP_SECONDS)  # kernels are compiled
    measure_one(options.collection, 1, options.way, _WARM_UP_SECONDS)
    rows: list[dict[str, Any]] = []
    print(f"{'level':>5} {'result':<11} {'pushes':>6} {'moves':>6} {'CPU s':>7} {'MB':>5}  solver")
    for number in numbers(options.levels, count):
        row = measure_one(options.collection, number, options.way, options.seconds, options.megabytes)
        if row["megabytes"] > options.megabytes:
            row["result"] = "memory"
        rows.append(row)
        print(line_of(row), flush=True)
    told = {"collection": Path(options.collection).stem, "way": options.way, "seconds": options.seconds}
    told |= {"megabytes": options.megabytes, "levels": rows}
    print(totals(rows))
    if options.out:
        Path(options.out).parent.mkdir(parents=True, exist_ok=True)
        Path(options.out).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


def measure_one(
    collection: str, number: int, way: Way, seconds: float, megabytes: int = _USUAL_MEGABYTES
) -> dict[str, Any]:
    """The row of one level: what its process says, its CPU seconds and its peak of memory."""
    command = [sys.executable, "-m", "bench.sokoban", collection, "--one", str(number), "--way", way]
    began = time.monotonic()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    child = subprocess.Popen(
        [*command, "--seconds", str(seconds), "--megabytes", str(megabytes)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    row: dict[str, Any] = {"level": number, "result": "time", "pushes": 0, "moves": 0, "solver": ""}
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        if cpu_seconds(child.pid) > seconds + 1 or time.monotonic() - began > HANG * seconds + 60:
            child.kill()
        time.sleep(0.02)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.stdout is not None and child.stderr is not None
    said, errors = child.stdout.read(), child.stderr.read()
    child.stdout.close()
    child.stderr.close()
    if child.returncode == 0:
        row |= json.loads(said)
    elif child.returncode > 0:
        row["result"] = "error"
        row["error"] = errors.strip().splitlines()[-1] if errors.strip() else f"status {child.returncode}"
    row["seconds"] = round(usage.ru_utime + usage.ru_stime, 3)
    row["megabytes"] = usage.ru_maxrss // 1024
    if row["result"] == "solved" and row["seconds"] > seconds:
        row["result"] = "time"
    return row


def solve_one(collection: str, number: int, way: Way, seconds: float, megabytes: int) -> dict[str, Any]:
    """Solve a level here, in what is left of so many CPU seconds of this process."""
    from players.puzzles.sokoban.levels.read import find_level

    level = find_level(f"{collection}:{number}")
    if way == "direct":
        from players.puzzles.sokoban.search.solve_level import MEMORY_BYTES, solve_level
        from players.puzzles.sokoban.solution import Outcome

        # Replaying takes its time too.
        memory = max(MEMORY_BYTES, megabytes - _PROGRAM_MEGABYTES << 20)
        found = solve_level(level, seconds - 0.15, memory=memory, clock=time.process_time)
        result = {Outcome.GOING_ON: "time"}.get(found.outcome, found.outcome.value)
        sizes = {"pushes": len(found.pushes), "moves": len(found.steps), "positions": found.positions}
        return {"result": result, "solver": found.solver, **sizes}
    return _solve_rules(level_rules(level, way), seconds)


def level_rules(level: Any, way: Way) -> str:
    """The rules of a level, with their symbols scrambled if that is the way."""
    from gdl.scramble import scramble
    from gdl.syntax.parser import parse_rules
    from players.puzzles.sokoban.levels.gdl import level_to_gdl

    text = level_to_gdl(level)
    return text if way == "gdl" else str(scramble(parse_rules(text))[0])


def _solve_rules(text: str, seconds: float) -> dict[str, Any]:
    from gdl.syntax.parser import parse_rules
    from players.kaskade.make_machine import make_machine
    from players.portfolio import solve
    from players.solvers import replayed

    rules = parse_rules(text)
    machine = make_machine(rules, "propnet")
    solution = solve(machine, seconds - time.process_time() - 0.15)
    if solution.value >= 0:
        replayed(rules, solution)
    result = "solved" if solution.value == 100 else "gave up"
    return {"result": result, "moves": len(solution.moves), "solver": solution.solver}


def numbers(text: str, count: int) -> list[int]:
    """The levels that ``1-40,155`` names, of so many; all for an empty text."""
    if not text:
        return list(range(1, count + 1))
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return [number for number in found if 1 <= number <= count]


def line_of(row: dict[str, Any]) -> str:
    """A row for people."""
    return (
        f"{row['level']:>5} {row['result']:<11} {row['pushes'] or '':>6} {row['moves'] or '':>6} "
        f"{row['seconds']:>7.2f} {row['megabytes']:>5}  {row['solver']}{row.get('error', '')}"
    )


def totals(rows: Iterable[dict[str, Any]]) -> str:
    """How many levels are solved within 1, 10 and 60 CPU seconds, and what it took in all."""
    rows = list(rows)
    solved = [row for row in rows if row["result"] == "solved"]
    within = ", ".join(f"{sum(row['seconds'] <= t for row in solved)} in {t} s" for t in _TOTALS)
    pushes, moves = (sum(row[name] for row in solved) for name in ("pushes", "moves"))
    used = sum(row["seconds"] for row in rows)
    most = max((row["megabytes"] for row in rows), default=0)
    return (
        f"{len(solved)} of {len(rows)} solved: {within}; {pushes:,} pushes, {moves:,} moves, "
        f"{used:.1f} CPU s, {most} MB at most"
    )


def compared(old: dict[str, Any], new: dict[str, Any]) -> str:
    """What changed between two measurements: levels won and lost, and the ratio of CPU times on levels that
    both solve."""
    before = {row["level"]: row for row in old["levels"]}
    lines, ratio = [], 1.0
    both = 0
    for row in new["levels"]:
        other = before.get(row["level"])
        if other is None:
            continue
        was, now = other["result"] == "solved", row["result"] == "solved"
        if was and now:
            both += 1
            ratio *= row["seconds"] / max(other["seconds"], 1e-9)
        elif was != now:
            lines.append(f"level {row['level']}: {other['result']} -> {row['result']}")
    lines.append(f"old: {totals(old['levels'])}")
    lines.append(f"new: {totals(new['levels'])}")
    if both:
        lines.append(f"CPU time new/old on the {both} levels that both solve: {ratio ** (1 / both):.2f}")
    return "\n".join(lines)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command_line(__doc__)
    parser.add_argument("collection", nargs="?", default="", help="a file of levels")
    parser.add_argument("--way", choices=WAYS, default="direct")
    parser.add_argument("--seconds", type=float, default=10.0, help="CPU seconds a level (10)")
    memory = f"peak of resident memory ({_USUAL_MEGABYTES})"
    parser.add_argument("--megabytes", type=int, default=_USUAL_MEGABYTES, help=memory)
    parser.add_argument("--levels", default="", help="like 1-40,155")
    parser.add_argument("--out", help="a JSON file for the results")
    parser.add_argument("--compare", nargs=2, metavar=("OLD", "NEW"))
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
