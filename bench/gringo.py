"""Our grounder beside gringo (PyPI ``clingo``): CPU time of both on every game of some folders.

    python -m bench.gringo ../shared/corpus/games --out gringo.json --markdown gringo.md

Two comparisons, each with its geometric mean over the games that both ground:

- *grounding*: parsed rules in, ground rules out. Ours is ``gdl.grounding.pipeline.ground``; gringo's is
  ``Control.add`` and ``Control.ground`` on the translated text, the translation not counted.
- *whole*: the text of the rules in, ground rules out. Both begin with our parser; gringo's
  way then goes through normal form and the translation to ASP.

CPU time of a process of its own per game and side, after the imports and a warm-up on a game of
a few rules; the least of some runs where they are short. Gringo gets one choice rule each for
``true`` and ``does``, and no solver runs.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import resource
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import orjson
from rich.progress import track

from bench.asp import Translation, translate
from bench.table import cpu_seconds
from gdl.compile.normalize import normalize
from gdl.errors import GdlError
from gdl.grounding.pipeline import GroundLimits, ground
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from ggp.game import read_rules_file

WARM_UP = """(role a) (init (on 1)) (init (on 2)) (succ 1 2) (succ 2 1) (<= (legal a (go ?x)) (true (on ?x)))
(<= (next (on ?y)) (does a (go ?x)) (succ ?x ?y)) (<= (next (on ?x)) (true (on ?x)) (not (does a (go ?x))))
(<= terminal (not (true (on 1)))) (goal a 100)"""

RUNS = 5
"""Most runs of one game."""

ENOUGH = 0.5
"""Seconds of CPU time after which a game is not run again."""

MEMORY = 4 << 30
"""Bytes that a process may grow by."""


def run_gringo(translation: Translation) -> Any:
    """Ground with gringo; the clingo Control that holds the ground program."""
    import clingo

    control = clingo.Control(["--warn=none"])
    control.add("base", [], translation.text)
    control.ground([("base", [])])
    return control


def ours(text: str, seconds: float) -> dict[str, Any]:
    """Times of our grounder, and sizes."""
    start = time.process_time()
    rules = parse_rules(text)
    parsed = time.process_time()
    grounded = ground(rules, GroundLimits(memory_bytes=MEMORY, cpu_seconds=seconds))
    end = time.process_time()
    return {
        "ground_s": end - parsed,
        "whole_s": end - start,
        "rules": len(grounded.heads),
        "literals": len(grounded.bodies),
        "bases": len(grounded.bases),
        "moves": grounded.move_count,
        "passes": grounded.stats,
    }


def theirs(text: str, seconds: float) -> dict[str, Any]:
    """Times of gringo, and sizes."""
    start = time.process_time()
    rules: Rules = parse_rules(text)
    translation = translate(normalize(rules))
    translated = time.process_time()
    control = run_gringo(translation)
    end = time.process_time()
    atoms = control.symbolic_atoms
    return {
        "ground_s": end - translated,
        "whole_s": end - start,
        "bases": sum(1 for _ in atoms.by_signature(*translation.true)),
        "moves": sum(1 for _ in atoms.by_signature(*translation.does)),
        "atoms": len(atoms),
    }


def work(side: Callable[[str, float], dict[str, Any]], path: str, seconds: float, pipe: Connection) -> None:
    """Run one side on one game; send what it took."""
    # No RLIMIT_CPU: under one, Linux counts a process's CPU time in ticks of some milliseconds.
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY + (2 << 30), MEMORY + (2 << 30)))
    row: dict[str, Any] = {}
    try:
        side(WARM_UP, seconds)
        text = read_rules_file(Path(path))
        spent = 0.0
        for _ in range(RUNS):
            run = side(text, seconds)
            spent += run["whole_s"]
            for key in ("ground_s", "whole_s"):
                run[key] = min(run[key], row.get(key, math.inf))
            row = {"status": "ok", **run}
            if spent > ENOUGH:
                break
    except GdlError as error:
        row = {"status": f"{type(error).__name__}: {error.message}"}
    except (MemoryError, RuntimeError) as error:
        row = {"status": f"{type(error).__name__}: {error}"}
    row["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    pipe.send(row)


def measure(side: Callable[[str, float], dict[str, Any]], path: Path, seconds: float) -> dict[str, Any]:
    """One side on one game in a process of its own."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["bench.asp", "clingo", "gdl.grounding.pipeline", "gdl.syntax.parser", "ggp.game", "rich.progress"]
    )
    ours_end, theirs_end = context.Pipe(duplex=False)
    child = context.Process(target=work, args=(side, str(path), seconds, theirs_end))
    child.start()
    theirs_end.close()
    try:
        while not ours_end.poll(0.2):
            if cpu_seconds(child.pid) > seconds + 5:
                child.kill()
        row: dict[str, Any] = ours_end.recv()
    except EOFError:
        row = {"status": f"stopped after {seconds:g} s of CPU time, or out of memory"}
    child.join()
    return row


def geometric_mean(values: list[float]) -> float:
    """The geometric mean; 1 for no values."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 1.0


def summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts and means over all games."""
    both = [r for r in results if r["ours"]["status"] == r["gringo"]["status"] == "ok"]

    def ratios(key: str) -> list[float]:
        return [max(r["ours"][key], 1e-5) / max(r["gringo"][key], 1e-5) for r in both]

    return {
        "games": len(results),
        "ours_ok": sum(r["ours"]["status"] == "ok" for r in results),
        "gringo_ok": sum(r["gringo"]["status"] == "ok" for r in results),
        "both": len(both),
        "geometric_mean_ground": geometric_mean(ratios("ground_s")),
        "geometric_mean_whole": geometric_mean(ratios("whole_s")),
        "total_ground_ours_s": sum(r["ours"]["ground_s"] for r in both),
        "total_ground_gringo_s": sum(r["gringo"]["ground_s"] for r in both),
    }


def markdown(results: list[dict[str, Any]], counts: dict[str, Any]) -> str:
    """The table and the summary."""
    lines = [
        f"Geometric mean of our CPU time over gringo's, {counts['both']} games: grounding "
        f"{counts['geometric_mean_ground']:.2f}, whole {counts['geometric_mean_whole']:.2f}. "
        f"Sum of grounding: ours {counts['total_ground_ours_s']:.1f} s, gringo "
        f"{counts['total_ground_gringo_s']:.1f} s. Grounded: ours {counts['ours_ok']}, gringo "
        f"{counts['gringo_ok']} of {counts['games']}.",
        "",
        "| game | ours, s | gringo, s | ratio | ours whole, s | gringo whole, s | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in results:
        a, b = r["ours"], r["gringo"]
        cells = [r["game"]]
        for key in ("ground_s", "whole_s"):
            cells += [f"{x[key]:.4f}" if x["status"] == "ok" else x["status"] for x in (a, b)]
            fine = a["status"] == b["status"] == "ok"
            cells.append(f"{max(a[key], 1e-5) / max(b[key], 1e-5):.2f}" if fine else "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def save(path: Path, results: list[dict[str, Any]]) -> None:
    """Write all findings as JSON."""
    report = {"summary": summary(results), "results": results}
    path.write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2))


def main() -> None:
    """Read the arguments, measure, print the summary, write the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path, help=".kif files, or folders of them")
    parser.add_argument("--limit", type=float, default=60, help="CPU seconds per game and side")
    parser.add_argument("--out", type=Path, help="write all findings as JSON")
    parser.add_argument("--markdown", type=Path, help="write the table as Markdown")
    parser.add_argument("--known", type=Path, help="take gringo's times from an earlier --out")
    given = parser.parse_args()
    paths = [q for p in given.paths for q in (sorted(p.glob("*.kif")) if p.is_dir() else [p])]
    known = {}
    if given.known:
        known = {r["game"]: r["gringo"] for r in orjson.loads(given.known.read_bytes())["results"]}
    results = []
    for path in track(paths, description="games"):
        gringo = known.get(path.stem) or measure(theirs, path, given.limit)
        results.append({"game": path.stem, "ours": measure(ours, path, given.limit), "gringo": gringo})
        if given.out:  # as far as it goes, in case it is stopped
            save(given.out, results)
    counts = summary(results)
    text = markdown(results, counts)
    print(text if not given.markdown else text.splitlines()[0])
    if given.markdown:
        given.markdown.write_text(text)
    if given.out:
        given.out.write_bytes(
            orjson.dumps({"summary": counts, "results": results}, option=orjson.OPT_INDENT_2)
        )


if __name__ == "__main__":
    main()
