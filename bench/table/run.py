"""Measures games on machines, each in a process of its own, and keeps a line for each."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import platform
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import ggp
from bench.processes import call, rules_files
from bench.scripts import processor
from gdl.errors import GdlError
from gdl.reading import games_folder
from ggp.bench import Row, measure, number, peak_mb
from ggp.game import Game
from ggp.rule_files import read_rules_file


def measure_job(job: Row, given: Row) -> Row:
    """The row of one game on one machine. Limits the memory of its process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    memory = int(given["memory_limit"] * 1e9)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
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
    return row


def measured(jobs: list[Row], given: Row) -> Iterator[Row]:
    """The rows of the jobs, in order; each runs alone, in a process that has the kernels loaded."""
    for job in jobs:
        start = time.monotonic()
        row, reason = call(measure_job, (job, given), ["bench.table.warm"], given["cpu_limit"])
        yield {**(row or {**job, "status": reason}), "wall_s": time.monotonic() - start}


def jobs_of(paths: list[Path], machines: list[str], patterns: list[str]) -> list[Row]:
    """One job per game and machine, the machines of a game one after the other."""
    files = rules_files(paths)
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
        text = read_rules_file(Path(job["path"]))
        return bool(row["sha256"] == hashlib.sha256(text.encode()).hexdigest())

    return [job for job in jobs if not is_done(job)]


def about(given: Row) -> dict[str, Any]:
    """What holds for a whole run: versions, processor, parameters."""
    import numba
    import numpy

    return {
        "version": f"kaskade-ggp {ggp.version() or 'not installed'}",
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": numpy.__version__,
        "processor": processor(),
        "cores": os.cpu_count(),
        "date": time.strftime("%Y-%m-%d"),
        **given,
    }


def warm_up(machines: list[str]) -> None:
    """Load the kernels, and fill the disk cache with them: the first game does not pay for that."""
    game = games_folder() / "tictactoe.kif"
    given = {"cpu_limit": 600, "memory_limit": 16, "seconds": 0.05, "seed": 0, "repetitions": 1}
    for _ in measured(jobs_of([game], machines, []), given):
        pass


def cut_broken_line(lines: Path) -> None:
    """Cut what follows the last line's end: a run that was stopped may not have written it all."""
    if lines.exists():
        data = lines.read_bytes()
        lines.write_bytes(data[: data.rfind(b"\n") + 1])


def run(jobs: list[Row], options: Row, lines: Path, console: Console) -> None:
    """Measure the jobs, append a line for each, and show the progress."""
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
            job = jobs[place] if place < len(jobs) else row
            progress.update(task, advance=1, description=f"{job['game']} {job['machine']}")
