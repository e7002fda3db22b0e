"""What well-known exact covers cost, and whether each engine counts them right.

    python -m bench.cover [NAME...] [--engine NAME] [--count] [--workers N]

CPU seconds of the whole search, its reduction and the choice of the engine, without loading kernels: each
kind of problem is searched once before, for a moment. `sudokus` are a thousand with 17 clues each, one
after the other.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines.bitset import Bitset
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.problem import CoverProblem
from players.puzzles.cover.search import CoverSearch

PIECES = {
    "F": "01 02 10 11 21",
    "I": "00 01 02 03 04",
    "L": "00 10 20 30 31",
    "N": "01 11 20 21 30",
    "P": "00 01 10 11 20",
    "T": "00 01 02 11 21",
    "U": "00 02 10 11 12",
    "V": "00 10 20 21 22",
    "W": "00 10 11 21 22",
    "X": "01 10 11 12 21",
    "Y": "01 10 11 21 31",
    "Z": "00 01 11 21 22",
}
CLUES = (
    "000000010400000000020000000000050407008000300001090000300400200050100000000806000",
    "000000010400000000020000000000050604008000300001090000300400200050100000000807000",
    "000000012000035000000600070700000300000400800100000000000120000080000040050000600",
    "000000012003600000000007000410020000000500300700000600280000040000300500000000000",
)


def queens(size: int) -> CoverProblem:
    """Queens that do not attack each other, one in each row and column."""
    options = [(f"r{y}", f"c{x}", f"a{y + x}", f"b{y - x}") for y in range(size) for x in range(size)]
    diagonals = [f"a{k}" for k in range(2 * size - 1)] + [f"b{k}" for k in range(1 - size, size)]
    return CoverProblem.of([f"{line}{k}" for line in "rc" for k in range(size)], options, secondary=diagonals)


def langford(size: int) -> CoverProblem:
    """Two of each number k in a row, with k others between them; both ways round."""
    options = [
        (f"n{k}", f"p{at}", f"p{at + k + 1}") for k in range(1, size + 1) for at in range(2 * size - k - 1)
    ]
    return CoverProblem.of(
        [f"n{k}" for k in range(1, size + 1)] + [f"p{at}" for at in range(2 * size)], options
    )


def latin(size: int) -> CoverProblem:
    """Latin squares."""
    sides = range(size)
    items = [f"{kind}{a}{b}" for kind in "prc" for a in sides for b in sides]
    return CoverProblem.of(
        items, [(f"p{y}{x}", f"r{y}{d}", f"c{x}{d}") for y in sides for x in sides for d in sides]
    )


def dominoes(rows: int, columns: int) -> CoverProblem:
    """A board to be covered with dominoes."""
    cells = [(y, x) for y in range(rows) for x in range(columns)]
    steps = ((0, 1), (1, 0))
    options = [
        (f"{y},{x}", f"{y + down},{x + right}")
        for y, x in cells
        for down, right in steps
        if y + down < rows and x + right < columns
    ]
    return CoverProblem.of([f"{y},{x}" for y, x in cells], options)


def pentominoes(rows: int, columns: int) -> CoverProblem:
    """The twelve pentominoes, each once, any side up."""
    options = []
    for name, text in PIECES.items():
        cells = [(int(cell[0]), int(cell[1])) for cell in text.split()]
        turned = set()
        for turn in range(8):
            now = [(y, -x) for y, x in cells] if turn & 1 else cells
            for _ in range(turn // 2):
                now = [(x, -y) for y, x in now]
            top, left = min(y for y, _ in now), min(x for _, x in now)
            turned.add(tuple(sorted((y - top, x - left) for y, x in now)))
        for shape in sorted(turned):
            for down in range(rows - max(y for y, _ in shape)):
                for right in range(columns - max(x for _, x in shape)):
                    options.append((name, *(f"{y + down},{x + right}" for y, x in shape)))
    return CoverProblem.of([*PIECES, *(f"{y},{x}" for y in range(rows) for x in range(columns))], options)


def domination(size: int, count: int) -> CoverProblem:
    """So many queens that attack or stand on every square: each square 1 to `count` times."""
    squares = [(y, x) for y in range(size) for x in range(size)]
    options = [
        [k for k, (v, u) in enumerate(squares) if v == y or u == x or abs(v - y) == abs(u - x)]
        + [size * size]
        for y, x in squares
    ]
    nodes = np.concatenate(options).astype(np.int32)
    minimum = np.array([1] * size * size + [count], np.int32)
    return CoverProblem(
        minimum,
        np.full(size * size + 1, count, np.int32),
        np.cumsum([0, *map(len, options)]).astype(np.int32),
        nodes,
        np.ones(len(nodes), np.int32),
        np.zeros(len(nodes), np.int32),
        np.zeros(size * size + 1, np.bool_),
    )


def sudokus(count: int) -> tuple[CoverProblem, list[NDArray[np.int32]]]:
    """The empty sudoku, and the options that the clues of each choose; all have one solution."""
    size = range(9)
    items = [f"{kind}{a}{b}" for kind in "prcb" for a in size for b in size]
    options = [
        (f"p{y}{x}", f"r{y}{d}", f"c{x}{d}", f"b{y // 3 * 3 + x // 3}{d}")
        for y in size
        for x in size
        for d in size
    ]
    random, given = np.random.default_rng(1), []
    for k in range(count):
        grid = np.array(list(CLUES[k % len(CLUES)]), np.int64).reshape(9, 9)
        grid = np.concatenate(([0], random.permutation(9) + 1))[grid]
        for _ in range(2):
            lines = [band * 3 + random.permutation(3) for band in random.permutation(3)]
            grid = grid[np.concatenate(lines)].T
        y, x = np.nonzero(grid)
        given.append((y * 81 + x * 9 + grid[y, x] - 1).astype(np.int32))
    return CoverProblem.of(items, options), given


INSTANCES: dict[str, tuple[Callable[[], CoverProblem], int]] = {
    "queens12": (lambda: queens(12), 14200),
    "langford11": (lambda: langford(11), 35584),
    "latin5": (lambda: latin(5), 161280),
    "domination8": (lambda: domination(8, 5), 4860),
    "pentominoes6x10": (lambda: pentominoes(6, 10), 9356),
    "dominoes6x6": (lambda: dominoes(6, 6), 6728),
    "dominoes8x8": (lambda: dominoes(8, 8), 12988816),
    "dominoes10x10": (lambda: dominoes(10, 10), 258584046368),
}
BY_COUNTING_ALONE = ("dominoes8x8", "dominoes10x10")


def measure(name: str, options: CoverOptions) -> str:
    """A row of the table. Raises ValueError if the number is wrong."""
    build, known = INSTANCES[name]
    problem = build()
    for seconds in (0.05, float("inf")):
        wall, began = time.monotonic(), time.process_time()
        search = CoverSearch(problem, options)
        while search.step(time.monotonic() + min(seconds, 0.25)):
            search.taken()
            if time.monotonic() - wall > seconds:
                break
    passed, result = time.process_time() - began, search.result()
    if result.solutions != known:
        raise ValueError(f"{name} has {known} solutions, not {result.solutions}")
    return f"| {name} | {known:,} | {result.engine} | {result.nodes:,} | {passed:.3f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="all if none: " + ", ".join([*INSTANCES, "sudokus"]))
    parser.add_argument("--engine")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--count", action="store_true", help="count the solutions, do not deliver them")
    wanted = parser.parse_args()
    print("| instance | solutions | engine | nodes | CPU s |\n|---|---|---|---|---|")
    for name in wanted.names or [*INSTANCES, "sudokus"]:
        if name == "sudokus":
            problem, given = sudokus(1000)
            engine = Bitset(problem)
            engine.each(given[:1])
            began = time.process_time()
            right = sum(count == 1 for count, _ in engine.each(given))
            passed = time.process_time() - began
            print(f"| sudokus | {right:,} | bitset | | {passed:.3f} |")
            continue
        delivers = not wanted.count and name not in BY_COUNTING_ALONE
        options = CoverOptions(engine=wanted.engine, workers=wanted.workers, delivers=delivers)
        print(measure(name, options), flush=True)


if __name__ == "__main__":
    main()
