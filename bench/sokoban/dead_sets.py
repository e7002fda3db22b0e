"""What deadlock sets cost to make, and which fatal pushes they tell at once, against all states of small
levels.

    python -m bench.sokoban.dead_sets generation FILE.xsb [--most 3]
    python -m bench.sokoban.dead_sets fatal FILE.xsb [--most 3] [--states 100000]

A fatal push leads from a state that can be solved to one that cannot. A detector that flags a push to a state
that can be solved is wrong, and the command ends with an error.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable

import numpy as np

from bench.sokoban.state_space import StateSpace, explore
from gdl.errors import TooLargeError, sound
from players.puzzles.sokoban.board import BOXED, FREE, Board, new_board
from players.puzzles.sokoban.deadlocks.bipartite import Bipartite, is_bipartite_deadlock, new_bipartite
from players.puzzles.sokoban.deadlocks.freeze import is_freeze_deadlock
from players.puzzles.sokoban.deadsets.dead_sets import (
    DeadSets,
    Lookup,
    any_within,
    dead_after_push,
    freeze,
    make_dead_sets,
    set_box,
)
from players.puzzles.sokoban.deadsets.larger import alive_sets
from players.puzzles.sokoban.deadsets.minimal import player_family
from players.puzzles.sokoban.deadsets.pairs import alive_pairs
from players.puzzles.sokoban.deadsets.squares import number_squares
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.levels.read import levels_of_file
from propnet.jit.arrays import Flags, Int32s, Ints, Words
from propnet.jit.decorators import kernel

COLUMNS = (
    "pushes",
    "keeper sides",
    "any keeper",
    "freeze",
    "bipartite",
    "sides + freeze",
    "all",
)


@kernel
def _flag(
    sides: Lookup, boxes: Lookup, board: Board, bipartite: Bipartite, records: Words,
    edges: Int32s, alive: Flags, counts: Ints, bits: Words,
) -> None:  # fmt: skip
    """``counts``: int64, shape (2, columns): by whether the push is fatal, :data:`COLUMNS`."""
    size = len(board.occupied) - 1
    one = np.uint64(1)
    for number in range(len(edges)):
        parent, child, box, direction = edges[number]
        if not alive[parent]:
            continue
        bits[:] = np.uint64(0)
        for square in range(size):
            boxed = records[child, square // 64] >> np.uint64(square % 64) & one
            board.occupied[square] = BOXED if boxed else FREE
            if boxed:
                set_box(sides, bits, square)
        square = board.neighbours[box, direction]
        row = counts[0 if alive[child] else 1]
        by_side = dead_after_push(sides, bits, square, direction)
        frozen = is_freeze_deadlock(board, bipartite.freeze, square)
        unmatched = is_bipartite_deadlock(board, bipartite, box)
        row[0] += 1
        row[1] += by_side
        number_to = sides.numbers[square]
        row[2] += number_to < 0 or any_within(boxes.heads, boxes.data, number_to, bits)
        row[3] += frozen
        row[4] += unmatched
        row[5] += by_side or frozen
        row[6] += by_side or unmatched


def box_lookup(made: DeadSets) -> Lookup:
    """The sets that are dead wherever the keeper is, frozen for kernels."""
    squares = made.squares
    return freeze(squares, made.box_families, len(squares.squares), len(made.geometry.goals))


def count_flags(space: StateSpace, most: int) -> Ints:
    """How many pushes from states that can be solved each detector flags: int64, shape (2, columns),
    row 1 for fatal pushes, columns as in :data:`COLUMNS`."""
    geometry = space.geometry
    made = make_dead_sets(geometry, most, seconds=60, memory=1 << 30)
    counts = np.zeros((2, len(COLUMNS)), np.int64)
    _flag(
        made.lookup, box_lookup(made), new_board(geometry), new_bipartite(geometry), space.records,
        space.edges, space.alive, counts, np.zeros(made.squares.words, np.uint64),
    )  # fmt: skip
    return counts


def fatal_pushes(levels: Iterable[Level], most: int, states: int) -> None:
    """Print the shares of all levels with at most so many states."""
    total = np.zeros((2, len(COLUMNS)), np.int64)
    explored = 0
    for number, level in enumerate(levels, 1):
        geometry, start = from_level(level)
        try:
            space = explore(geometry, start, states)
        except TooLargeError:
            continue
        counts = count_flags(space, most)
        if counts[0, 1:].any():
            sys.exit(f"level {number}: a push to a state that can be solved was flagged: {counts[0]}")
        total += counts
        explored += 1
    print(f"{explored} levels of up to {states:,} states, sets of up to {most} boxes")
    print(f"pushes to states that can be solved: {total[0, 0]:,}, none flagged; fatal: {total[1, 0]:,}")
    for name, count in zip(COLUMNS[1:], total[1, 1:].tolist(), strict=True):
        print(f"  {name:15} {count / max(1, total[1, 0]):8.2%}")


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


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("question", choices=["generation", "fatal"])
    parser.add_argument("file")
    parser.add_argument("--most", type=int, default=3, help="the largest K")
    parser.add_argument("--states", type=int, default=100_000, help="levels with more are left out")
    options = parser.parse_args(arguments)
    levels = list(map(sound, levels_of_file(options.file)))
    if options.question == "generation":
        generation(levels, options.most)
    else:
        fatal_pushes(levels, options.most, options.states)


if __name__ == "__main__":
    main()
