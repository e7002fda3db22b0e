"""What do cover problems cost each engine, solutions delivered?

    python -m bench.cover
    python -m bench.cover queens12 soma --engine bitset
    python -m bench.cover --sudokus 2000

CPU seconds of one thread from the problem's arrays to the last solution, kernels loaded before; reduction and
choice of the engine are not in it (`ggp cover --json` tells them all).
"""

from __future__ import annotations

import argparse
import random
import time

from rich.console import Console
from rich.table import Table as Printed

from bench.cover.instances import INSTANCES, SUDOKUS, clues, latin, shuffled, sudoku
from players.puzzles.cover.choice import engine_named, engine_names
from players.puzzles.cover.engines.bitset import Bitset
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.problem import CoverProblem


def main() -> None:
    """Read the arguments, measure, print."""
    question, _, epilog = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m bench.cover",
        description=question,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("instances", nargs="*", metavar="NAME", help=", ".join(INSTANCES))
    parser.add_argument("--engine", choices=engine_names(), action="append")
    parser.add_argument(
        "--sudokus", type=int, metavar="N", help="so many sudokus of 17 clues, one after another"
    )
    given = parser.parse_args()
    if given.sudokus:
        rate = sudokus_per_second(given.sudokus)
        print(f"{rate:,.0f} sudokus a CPU second, shuffled copies of {len(SUDOKUS)} with 17 clues")
        return
    unknown = set(given.instances) - set(INSTANCES)
    if unknown:
        parser.error(f"there is no instance {min(unknown)!r}")
    table = Printed("instance", "engine", "solutions", "nodes", "CPU s", "ns a node")
    for name in given.instances or INSTANCES:
        make, known = INSTANCES[name]
        problem = make()
        for kind in map(engine_named, given.engine or engine_names()):
            if not kind.takes(problem):
                continue
            _searched(kind, latin(2))
            count, nodes, seconds = _searched(kind, problem)
            right = f"{count:,}" if count == known else f"[red]{count:,}, not {known:,}"
            table.add_row(
                name, kind.name, right, f"{nodes:,}", f"{seconds:.3f}", f"{1e9 * seconds / max(nodes, 1):.0f}"
            )
    Console().print(table)


def sudokus_per_second(number: int) -> float:
    """Shuffled sudokus solved in a CPU second, one after another; raises AssertionError for a wrong one."""
    engine, randomness = Bitset(sudoku()), random.Random(17)
    grids = [clues(shuffled(randomness.choice(SUDOKUS), randomness)) for _ in range(number)]
    engine.solve_each(grids[:1])
    began = time.process_time()
    counts, _ = engine.solve_each(grids, most=1)
    seconds = time.process_time() - began
    assert (counts == 1).all()
    return number / seconds


def _searched(kind: type[CoverEngine], problem: CoverProblem) -> tuple[int, int, float]:
    """Solutions delivered, nodes, CPU seconds."""
    began, found = time.process_time(), 0
    engine = kind(problem)
    while engine.step(time.monotonic() + 1):
        found += len(engine.taken())
    found += len(engine.taken())
    return found, engine.nodes, time.process_time() - began


if __name__ == "__main__":
    main()
