"""Measures every game of some folders on every machine, each in a process of its own.

    python -m bench.table ../shared/corpus/games games
    python -m bench.table ../shared/corpus/games --resume          # goes on where it was stopped
    python -m bench.table ../shared/corpus/games --games ticTacToe reversi 'chess*' --machines propnet
    python -m bench.table --report bench/out/table.jsonl           # only write the report anew

writes to bench/out (or the folder of ``--out``): table.jsonl, a line per game and machine as it
is measured; table.json, the same sorted, with what is said about the computer; table.md, the
report; table.svg, the plot (which needs matplotlib). ``ggp bench NEW --compare OLD`` compares two
runs. A game that takes too long or too much memory, or kills its process, is a line that says so.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import multiprocessing
import os
import platform
import resource
import signal
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bench.report import report
from ggp.bench.measure import engine_version, levels
from ggp.bench.results import Row, read_results
from ggp.bench.view import number

HANG = 4
"""Wall seconds that a game may take, per second of CPU allowed: a process that sleeps ends too."""


def work(job: Row, given: Row, pipe: Connection) -> None:
    """In a process of its own: measure one game on one machine, send the row."""
    from gdl.errors import GdlError
    from ggp.bench.measure import measure, peak_mb
    from ggp.game import Game

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    memory = int(given["memory_limit"] * 1e9)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # No RLIMIT_CPU: under one, Linux counts a process's CPU time in ticks of some milliseconds.
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    row = dict(job)
    try:
        game = Game.load(Path(job["path"]))
        row["sha256"] = hashlib.sha256(game.text.encode()).hexdigest()
        measurement = measure(
            job["game"], game.rules, job["machine"], given["seconds"], given["seed"], given["repetitions"]
        )
        row |= {"status": "ok", **measurement.as_dict()}
    except GdlError as error:
        row["status"] = f"{type(error).__name__}: {error.message}"
    except MemoryError:
        row["status"] = f"more than {given['memory_limit']:g} GB of memory"
    row["peak_mb"] = peak_mb()
    row["cpu_s"] = time.process_time()
    pipe.send(row)


def measured(jobs: list[Row], given: Row) -> Iterator[Row]:
    """The rows of the jobs, in order; each runs alone, in a process that has the kernels loaded."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["bench.warm"])
    for job in jobs:
        start = time.monotonic()
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=work, args=(job, given, theirs))
        child.start()
        theirs.close()
        try:
            row = _answer(child, ours, job, given)
        finally:
            child.kill()
            child.join()
            ours.close()
        yield {**row, "wall_s": time.monotonic() - start}


def _answer(child: BaseProcess, pipe: Connection, job: Row, given: Row) -> Row:
    """The row that a process sends, or one that says why it sent none."""
    status = _wait(child, pipe, given)
    if status:
        return {**job, "status": status}
    try:
        row: Row = pipe.recv()
    except EOFError:
        child.join(1)
        return {**job, "status": _death(child.exitcode)}
    return row


def _wait(child: BaseProcess, pipe: Connection, given: Row) -> str:
    """Wait until a process has sent something or ended; else which limit it went past."""
    limit = given["cpu_limit"]
    start = time.monotonic()
    while not pipe.poll(0.2):
        if cpu_seconds(child.pid) > limit:
            return f"more than {limit:g} s of CPU time"
        if time.monotonic() - start > HANG * limit:
            return f"no answer within {HANG * limit:g} s by the clock"
    return ""


def cpu_seconds(process: int | None) -> float:
    """CPU time of a process up to now; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


def _death(exitcode: int | None) -> str:
    """How a process ended that sent nothing."""
    if exitcode is not None and exitcode < 0:
        return f"died of {signal.Signals(-exitcode).name}"
    return f"ended with status {exitcode}"


def jobs_of(paths: list[Path], machines: list[str], patterns: list[str]) -> list[Row]:
    """One job per game and machine, the machines of a game one after the other."""
    files = [q for p in paths for q in (sorted(p.glob("*.kif")) if p.is_dir() else [p])]
    if patterns:
        files = [f for f in files if any(fnmatch.fnmatchcase(f.stem, p) for p in patterns)]
    return [{"game": f.stem, "machine": m, "path": str(f)} for f in files for m in machines]


def still_to_do(jobs: list[Row], rows: list[Row], again: bool) -> list[Row]:
    """The jobs without a row, or whose rules have changed since; with ``again`` also the failed."""
    done = {(row["game"], row["machine"]): row for row in rows}

    def is_done(job: Row) -> bool:
        row = done.get((job["game"], job["machine"]))
        if row is None or (again and row["status"] != "ok"):
            return False
        if "sha256" not in row:
            return True
        from ggp.game import read_rules_file

        text = read_rules_file(Path(job["path"]))
        return bool(row["sha256"] == hashlib.sha256(text.encode()).hexdigest())

    return [job for job in jobs if not is_done(job)]


def about(given: Row) -> dict[str, Any]:
    """What holds for a whole run: versions, processor, parameters."""
    import numba
    import numpy

    return {
        "version": engine_version(),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": numpy.__version__,
        "processor": _processor(),
        "cores": os.cpu_count(),
        "date": time.strftime("%Y-%m-%d"),
        **given,
    }


def _processor() -> str:
    """The processor's name and how wide its vectors are."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    flags = fields.get("flags", "").split()
    widest = next((name for name in ("avx512f", "avx2") if name in flags), "")
    return " ".join(filter(None, (fields.get("model name", platform.machine()), widest)))


def warm_up(machines: list[str]) -> None:
    """Load the kernels, and fill the disk cache with them: the first game does not pay for that."""
    game = Path(__file__).resolve().parent.parent / "games" / "tictactoe.kif"
    given = {"cpu_limit": 600, "memory_limit": 16, "seconds": 0.05, "seed": 0, "repetitions": 1}
    for _ in measured(jobs_of([game], machines, []), given):
        pass


def main() -> None:
    """Read the arguments, measure what is to be measured, write the report."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        epilog="\n".join((__doc__ or "").splitlines()[2:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("paths", nargs="*", type=Path, help=".kif files, or folders of them")
    add("--games", nargs="*", default=[], metavar="PATTERN", help="only games with such names")
    add("--machines", nargs="*", default=list(levels()), choices=levels(), help="default: all")
    add("--seconds", type=float, default=1.0, help="CPU seconds of playouts per game and machine")
    add("--repetitions", type=int, default=5, help="batches of playouts; their median counts")
    add("--seed", type=int, default=0)
    add("--cpu-limit", type=float, default=150.0, help="CPU seconds per game and machine, all included")
    add("--memory-limit", type=float, default=6.0, help="GB of data per game and machine")
    add("--out", type=Path, default=Path("bench/out"), help="folder to write to")
    add("--resume", action="store_true", help="keep the lines that are there, measure the rest")
    add("--again", action="store_true", help="with --resume: measure the failed ones again")
    add("--report", type=Path, metavar="RESULTS", help="measure nothing, report on this file")
    given = parser.parse_args()
    console = Console(stderr=True)
    given.out.mkdir(parents=True, exist_ok=True)
    if given.report:
        report(*read_results(given.report), given.out)
        return
    if not given.paths:
        parser.error("which games? name folders or .kif files")
    lines = given.out / "table.jsonl"
    options = {
        key: getattr(given, key) for key in ("seconds", "repetitions", "seed", "cpu_limit", "memory_limit")
    }
    rows: list[Row] = []
    if lines.exists() and lines.stat().st_size:
        if not given.resume:
            parser.error(f"{lines} exists: --resume goes on with it, --out writes elsewhere")
        rows = read_results(lines)[1]
    jobs = still_to_do(jobs_of(given.paths, given.machines, given.games), rows, given.again)
    try:
        if jobs:
            run(jobs, options, lines, console)
    except KeyboardInterrupt:
        console.print(f"stopped; the same with --resume goes on with {lines}")
        raise SystemExit(130) from None
    report(*read_results(lines), given.out)
    console.print(f"{given.out}: table.jsonl, table.json, table.md, table.svg")


def cut_broken_line(lines: Path) -> None:
    """Leave out what follows the last line's end: a run that was stopped may not have written it all."""
    if lines.exists():
        data = lines.read_bytes()
        lines.write_bytes(data[: data.rfind(b"\n") + 1])


def run(jobs: list[Row], options: Row, lines: Path, console: Console) -> None:
    """Measure the jobs, append a line for each, show how it goes."""
    with console.status("kernels ..."):
        warm_up(sorted({job["machine"] for job in jobs}))
    columns = (
        TextColumn("{task.description}"), BarColumn(30), MofNCompleteColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    cut_broken_line(lines)
    with lines.open("ab") as file, Progress(*columns, console=console) as progress:
        file.write(orjson.dumps({"about": about(options)}) + b"\n")
        task = progress.add_task("", total=len(jobs))
        progress.update(task, description=f"{jobs[0]['game']} {jobs[0]['machine']}")
        for place, row in enumerate(measured(jobs, options), 1):
            file.write(orjson.dumps(row) + b"\n")
            file.flush()
            rate = (
                number(row["playouts_per_cpu_s"]) + " playouts/s" if row["status"] == "ok" else row["status"]
            )
            progress.console.print(
                f"{row['game']:28} {row['machine']:8} {rate}", highlight=False, markup=False
            )
            following = jobs[place] if place < len(jobs) else row
            progress.update(task, advance=1, description=f"{following['game']} {following['machine']}")


if __name__ == "__main__":
    main()
