"""Which way of looking deadlock sets up is fastest: scan (A), tree (B) or counters (C), by sets and density.

    python -m bench.sokoban.lookup [--size 5] [--squares 60] [--plot docs/pictures/sokoban_lookup.svg]
    python -m bench.sokoban.lookup --level FILE.xsb:N --most 5

Without a level, sets of ``--size`` random squares are made, none of which lies within one of the positions
asked for: what a search asks is mostly answered with no. With one, its dead sets are generated, and the
positions come from pulls backwards from the goals, so they can all be solved. Times are CPU nanoseconds per
query.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.scripts import command_line
from players.puzzles.sokoban.deadsets.dead_sets import (
    COUNTERS,
    LINEAR,
    TREE,
    Lookup,
    any_within,
    freeze,
    make_dead_sets,
)
from players.puzzles.sokoban.deadsets.minimal import Family, in_slots
from players.puzzles.sokoban.deadsets.squares import BoxSquares
from players.puzzles.sokoban.geometry import Geometry, from_level
from players.puzzles.sokoban.levels.read import find_level
from propnet.jit.arrays import Index, Int32s, Words
from propnet.jit.decorators import ARENA, kernel

METHODS = {"A scan": LINEAR, "B tree": TREE, "C counters": COUNTERS}
COUNTS = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]
DENSITIES = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5]
_POSITIONS = 32


@kernel(**ARENA)
def _ask(lookup: Lookup, slots: Int32s, positions: Words, rounds: Index) -> int:
    """Ask every query ``rounds`` times. Returns how often the answer is yes."""
    found = 0
    for _ in range(rounds):
        for query in range(len(slots)):
            found += any_within(lookup.heads, lookup.data, slots[query], positions[query])
    return found


def nanoseconds(lookup: Lookup, slots: Int32s, positions: Words) -> tuple[float, int]:
    """CPU time per query, the best of three, and how many queries are answered with yes."""
    rounds, took = 1, 0.0
    found = _ask(lookup, slots, positions, 1)
    while took < 0.01:
        rounds *= 2
        start = time.process_time()
        _ask(lookup, slots, positions, rounds)
        took = time.process_time() - start
    for _ in range(2):
        start = time.process_time()
        _ask(lookup, slots, positions, rounds)
        took = min(took, time.process_time() - start)
    return took / (rounds * len(slots)) * 1e9, found


def packed(boxes: NDArray[np.bool_]) -> Words:
    """Rows of flags as words."""
    rows, n = boxes.shape
    words = np.zeros((rows, (n + 63) // 64), np.uint64)
    for number in range(n):
        words[:, number >> 6] |= boxes[:, number].astype(np.uint64) << np.uint64(number & 63)
    return words


def random_family(
    n: int, size: int, count: int, boxes: NDArray[np.bool_], random: np.random.Generator
) -> Family:
    """``count`` sets of ``size`` of n squares, none within one of the positions, in slots by box."""
    kept = np.zeros((0, size), np.int64)
    while len(kept) < count:
        drawn = np.sort(random.integers(0, n, (4 * count + 100, size)), axis=1)
        drawn = drawn[(np.diff(drawn, axis=1) > 0).all(axis=1)]
        for position in boxes:
            drawn = drawn[~position[drawn].all(axis=1)]
        kept = np.unique(np.concatenate([kept, drawn]), axis=0)
    kept = random.permutation(kept)[:count]
    slots = np.concatenate([kept[:, i] for i in range(size)])
    return in_slots(slots, np.concatenate([np.delete(kept, i, axis=1) for i in range(size)]), n)


def measure_random(
    n: int, size: int, counts: list[int], densities: list[float]
) -> dict[str, NDArray[np.float64]]:
    """Nanoseconds by method: shape (counts, densities)."""
    random = np.random.default_rng(1)
    times = {name: np.zeros((len(counts), len(densities))) for name in METHODS}
    squares = BoxSquares(*(np.zeros(n, np.int32) for _ in range(6)))  # type: ignore[arg-type]
    for j, density in enumerate(densities):
        boxes = np.argsort(random.random((_POSITIONS, n)), axis=1) < max(size, round(density * n))
        slots = np.array([random.choice(np.flatnonzero(position)) for position in boxes], np.int32)
        for i, count in enumerate(counts):
            family = random_family(n, size, count, boxes, random)
            for name, method in METHODS.items():
                lookup = freeze(squares, {size: family}, n, 0, method)
                times[name][i, j], _ = nanoseconds(lookup, slots, packed(boxes))
            row = "".join(f"{times[name][i, j]:12.1f}" for name in METHODS)
            print(f"{count:8,} sets, density {density:4.2f}: {row} ns", flush=True)
    return times


def solvable_positions(
    geometry: Geometry, count: int, random: np.random.Generator
) -> list[tuple[set[int], int]]:
    """Boxes and keeper squares after random pulls from the goals."""
    neighbours = geometry.neighbours.tolist()
    found = []
    while len(found) < count:
        boxes = set(geometry.goals.tolist())
        free = sorted(set(range(geometry.size)) - boxes)
        keeper = int(random.choice(free))
        for _ in range(3000):
            direction = int(random.integers(4))
            to = neighbours[keeper][direction]
            if to == geometry.size or to in boxes:
                continue
            box = neighbours[keeper][direction ^ 2]
            if box in boxes and random.random() < 0.7:
                boxes = boxes - {box} | {keeper}
            keeper = to
        found.append((boxes, keeper))
    return found


def measure_level(name: str, most: int) -> None:
    """Print times of each K alone and of all together, with keeper sides and without."""
    geometry = from_level(find_level(name))[0]
    start = time.process_time()
    made = make_dead_sets(geometry, most, seconds=600, memory=4 << 30)
    print(f"{name}: sizes {made.sizes}, generated in {time.process_time() - start:.2f} s")
    numbers, neighbours = made.squares.numbers, geometry.neighbours
    random = np.random.default_rng(1)
    by_box: list[tuple[int, set[int]]] = []
    by_side: list[tuple[int, set[int]]] = []
    for boxes, _ in solvable_positions(geometry, _POSITIONS, random):
        for box in boxes:
            by_box.append((int(numbers[box]), boxes))
            free = [
                d for d in range(4) if neighbours[box, d] < geometry.size and neighbours[box, d] not in boxes
            ]
            by_side += [(4 * int(numbers[box]) + d, boxes) for d in free]
    kinds = (("any keeper", made.box_families, by_box), ("keeper sides", made.families, by_side))
    for kind, families, asked in kinds:
        flags = np.zeros((len(asked), len(made.squares.squares)), np.bool_)
        for row, (_, boxes) in enumerate(asked):
            flags[row, numbers[sorted(boxes)]] = True
        slots, positions = np.array([slot for slot, _ in asked], np.int32), packed(flags)
        count = len(made.squares.squares) * (4 if families is made.families else 1)
        for size in [*families, 0]:
            some = families if size == 0 else {size: families[size]}
            total = sum(len(family.partners) for family in some.values())
            row = f"{kind}, K {size or 'all'}: {total:,} sets by box"
            for way, method in [*METHODS.items(), ("chosen", None)]:
                lookup = freeze(made.squares, some, count, len(geometry.goals), method)
                took, found = nanoseconds(lookup, slots, positions)
                row += f", {way} {took:.1f} ns ({8 * len(lookup.data) / 1024:,.0f} KB)"
            print(f"{row}; {found} of {len(slots)} yes", flush=True)


def plot(times: dict[str, NDArray[np.float64]], size: int, n: int, file: Path) -> None:
    """Draw which method wins where, and the times of all at three densities."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    colours = {"A scan": "#1f77b4", "B tree": "#2ca02c", "C counters": "#d62728"}
    names = list(METHODS)
    with mpl.rc_context(
        {"svg.fonttype": "none", "svg.hashsalt": "bench", "font.size": 9, "font.sans-serif": ["DejaVu Sans"]}
    ):
        figure = Figure(figsize=(10, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=[1, 1.3])
        stack = np.stack([times[name] for name in names])
        best = stack.argmin(axis=0)
        ratio = np.sort(stack, axis=0)[1] / stack.min(axis=0)
        for number, name in enumerate(names):
            i, j = np.nonzero(best == number)
            where = np.array(COUNTS)[i], np.array(DENSITIES)[j]
            left.plot(*where, "s", markersize=16, color=colours[name], label=name)
        for (i, j), times_faster in np.ndenumerate(ratio):
            place = COUNTS[i], DENSITIES[j]
            left.annotate(f"{times_faster:.1f}", place, ha="center", va="center", fontsize=6, color="w")
        left.set(
            xscale="log", xlabel="sets", ylabel="boxes / squares", title="Fastest, and how many times so"
        )
        for density, style in ((0.05, ":"), (0.2, "-"), (0.5, "--")):
            for name in names:
                right.plot(
                    COUNTS,
                    times[name][:, DENSITIES.index(density)],
                    style,
                    color=colours[name],
                    label=f"{name}, {density}",
                )
        right.set(
            xscale="log",
            yscale="log",
            xlabel="sets",
            ylabel="ns a query",
            title=f"K = {size}, {n} squares; lines: boxes / squares",
        )
        right.legend(fontsize=6, ncols=3)
        figure.savefig(file, metadata={"Date": None})


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = command_line(__doc__)
    parser.add_argument("--size", type=int, default=5, help="K of random sets, 2 to 5")
    parser.add_argument("--squares", type=int, default=60, help="squares of random sets")
    parser.add_argument("--plot", type=Path, help="draw the times of random sets (needs matplotlib)")
    parser.add_argument("--level", help="FILE:N, to measure dead sets of a level instead")
    parser.add_argument("--most", type=int, default=3, help="the largest K of the level's sets")
    options = parser.parse_args(arguments)
    if options.level:
        measure_level(options.level, options.most)
        return
    times = measure_random(options.squares, options.size, COUNTS, DENSITIES)
    if options.plot:
        plot(times, options.size, options.squares, options.plot)


if __name__ == "__main__":
    main()
