"""Grounds and builds every game of some folders, each in a process of its own, and says what it took.

    python bench/sweep.py ../shared/corpus/games games --limit 60 --out sweep.json

CPU seconds of grounding and of the network with its passes, peak memory, sizes; games that are
too large or do not finish are listed with the reason.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.progress import track
from rich.table import Table


def work(path: str, pipe: Connection) -> None:
    """Ground and build one game; send a dictionary of what it took."""
    from gdl.errors import GdlError
    from gdl.ground import ground
    from gdl.parser import parse_rules
    from ggp.game import read_rules_file
    from propnet.build import build

    found: dict[str, Any] = {"game": Path(path).stem}
    start = time.process_time()
    try:
        rules = parse_rules(read_rules_file(Path(path)), path)
        parsed = time.process_time()
        grounded = ground(rules)
        ground_end = time.process_time()
        network = build(grounded)
        found |= {
            "status": "ok",
            "parse_s": parsed - start,
            "ground_s": ground_end - parsed,
            "build_s": time.process_time() - ground_end,
            "rules": len(grounded.heads),
            "gates": network.gates,
            "gate_inputs": len(network.gate_inputs),
            "bases": len(network.bases),
            "moves": network.move_count,
        }
    except GdlError as error:
        found["status"] = f"{type(error).__name__}: {error.message}"
    except MemoryError:
        found["status"] = "MemoryError"
    found["cpu_s"] = time.process_time() - start
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    pipe.send(found)


def sweep(paths: list[Path], limit: float) -> list[dict[str, Any]]:
    """The findings for all games, in order; ``limit`` is wall seconds per game."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["gdl.ground", "propnet.build", "ggp.game"])
    results = []
    for path in track(paths, description="games"):
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=work, args=(str(path), theirs))
        child.start()
        theirs.close()
        try:
            results.append(ours.recv() if ours.poll(limit) else {"status": "timeout"})
        except EOFError:
            results.append({"status": "died"})
        results[-1].setdefault("game", path.stem)
        child.kill()
        child.join()
    return results


def main() -> None:
    """Read the arguments, sweep, print the slow and the failed, and the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path, help=".kif files, or folders of them")
    parser.add_argument("--limit", type=float, default=120, help="wall seconds per game")
    parser.add_argument("--out", type=Path, help="write all findings as JSON")
    parser.add_argument("--slow", type=float, default=5, help="list games above this many CPU seconds")
    given = parser.parse_args()
    paths = [q for p in given.paths for q in (sorted(p.glob("*.kif")) if p.is_dir() else [p])]
    results = sweep(paths, given.limit)
    table = Table("game", "status", "ground s", "build s", "MB", "rules", "gates", "inputs")
    for r in sorted(results, key=lambda r: -r.get("cpu_s", 1e9)):
        if r["status"] != "ok":
            table.add_row(
                r["game"], r["status"], f"{r.get('cpu_s', 0):.1f}", "", f"{r.get('peak_mb', 0):.0f}"
            )
        elif r["cpu_s"] > given.slow:
            table.add_row(
                r["game"], "ok", f"{r['ground_s']:.1f}", f"{r['build_s']:.1f}", f"{r['peak_mb']:.0f}",
                f"{r['rules']:,}", f"{r['gates']:,}", f"{r['gate_inputs']:,}",
            )  # fmt: skip
    Console().print(table)
    done = [r["cpu_s"] for r in results if r["status"] == "ok"]
    for bound in (1, 2, 5, 10, 60):
        print(f"within {bound:2d} s of CPU: {sum(s <= bound for s in done)} of {len(results)}")
    if given.out:
        given.out.write_bytes(orjson.dumps(results, option=orjson.OPT_INDENT_2))


if __name__ == "__main__":
    main()
