"""How much shorter the optimizer makes our own solutions, level by level.

    python -m bench.sokoban.optimizer LEVELS.xsb [--seconds 10] [--metric moves]

Each level is solved (within `--solve` CPU seconds), then the solution is optimized for so many CPU seconds.
The result is played step by step before it counts.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from gdl.errors import GdlError
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.read import read_levels
from players.puzzles.sokoban.lines import after_steps, is_solved
from players.puzzles.sokoban.optimizer import Optimizer
from players.puzzles.sokoban.search.solve_level import solve_level
from players.puzzles.sokoban.solution import Metric


def main() -> None:
    """Solve, optimize, print."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0, help="for the optimizer, CPU seconds a level")
    parser.add_argument("--solve", type=float, default=10.0, help="for the solver, CPU seconds a level")
    parser.add_argument("--metric", choices=[metric.value for metric in Metric], default="pushes")
    parser.add_argument("--levels", type=int, default=10_000, help="only so many of the first levels")
    arguments = parser.parse_args()
    levels = read_levels(arguments.file.read_text(), str(arguments.file))[: arguments.levels]
    sums, solved, optimal = [0, 0, 0, 0], 0, 0
    print("level  raw pushes moves   optimized pushes moves   CPU s  optimal")
    for number, level in enumerate(levels, 1):
        geometry, start = from_level(level)
        solution = solve_level(level, arguments.solve)
        if not solution.steps:
            print(f"{number:5}  not solved", flush=True)
            continue
        optimizer = Optimizer(geometry, start, solution.pushes, Metric(arguments.metric))
        began = time.thread_time()
        while optimizer.step(0.05) and time.thread_time() < began + arguments.seconds:
            pass
        used = time.thread_time() - began
        if not is_solved(geometry, after_steps(geometry, start, optimizer.steps)):
            raise GdlError(f"level {number}: what the optimizer made is no solution")
        counts = [len(solution.pushes), len(solution.steps), len(optimizer.pushes), len(optimizer.steps)]
        sums = [one + other for one, other in zip(sums, counts, strict=True)]
        solved, optimal = solved + 1, optimal + optimizer.optimal
        mark = "yes" if optimizer.optimal else ""
        raw_pushes, raw_moves, pushes, moves = counts
        print(f"{number:5} {raw_pushes:11} {raw_moves:5} {pushes:18} {moves:5} {used:7.2f}  {mark}")
    raw_pushes, raw_moves, pushes, moves = sums
    print(
        f"{solved} of {len(levels)} solved: {raw_pushes:,} pushes and {raw_moves:,} moves, "
        f"optimized {pushes:,} and {moves:,}; {optimal} are optimal"
    )


if __name__ == "__main__":
    main()
