"""What deadlock sets cost to make. Which fatal pushes they flag, :mod:`bench.sokoban.deadlocks` says.

python -m bench.sokoban.dead_sets FILE.xsb [--most 3]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable

from gdl.errors import sound
from players.puzzles.sokoban.deadsets.alive import alive_pairs, alive_sets
from players.puzzles.sokoban.deadsets.minimal import player_family
from players.puzzles.sokoban.deadsets.squares import number_squares
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.levels.read import levels_of_file


def generation(levels: Iterable[Level], most: int) -> None:
    """Print the CPU time of each level's sets, all and minimal ones, and the largest."""
    worst: dict[int, float] = {}
    for number, level in enumerate(levels, 1):
        squares = number_squares(from_level(level)[0])
        row = f"{number:3}: {len(squares.squares):3} squares"
        smaller = None
        for size in range(2, most + 1):
            start = time.thread_time()
            alive = alive_pairs(squares) if size == 2 else alive_sets(squares, size)
            assert alive is not None
            middle = time.thread_time()
            family = player_family(squares, size, alive, smaller)
            end = time.thread_time()
            if number > 1:  # the first one loads kernels
                worst[size] = max(worst.get(size, 0.0), end - start)
            took = f"{middle - start:.4f} + {end - middle:.4f} s"
            row += f"; K {size}: {took}, {len(family.partners):,} by box and side"
            smaller = alive
        print(row, flush=True)
    print("slowest:", ", ".join(f"K {size} {took:.4f} s" for size, took in worst.items()))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file")
    parser.add_argument("--most", type=int, default=3, help="the largest K")
    options = parser.parse_args()
    generation(map(sound, levels_of_file(options.file)), options.most)


if __name__ == "__main__":
    main()
