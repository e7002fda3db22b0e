"""Exact covers of all kinds and their numbers of solutions: puzzles, designs, partitions, colours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import numpy as np

from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.text import packing_of_text
from players.puzzles.cover.problem import CoverProblem, restricted

PUZZLES = Path(__file__).parents[2] / "games" / "puzzles"

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
CLUES = "000000010400000000020000000000050407008000300001090000300400200050100000000806000"


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


Cell = tuple[int, int]


def placements(pieces: dict[str, str], board: Iterable[Cell]) -> list[tuple[str, ...]]:
    """All ways to lay each piece on a board, any side up: its name, then its cells ``y,x``."""
    inside = set(board)
    down, right = (max(cell[axis] for cell in inside) + 1 for axis in (0, 1))
    options = []
    for name, text in pieces.items():
        cells = [(int(cell[0]), int(cell[1])) for cell in text.split()]
        turned = set()
        for turn in range(8):
            now = [(y, -x) for y, x in cells] if turn & 1 else cells
            for _ in range(turn // 2):
                now = [(x, -y) for y, x in now]
            top, left = min(y for y, _ in now), min(x for _, x in now)
            turned.add(tuple(sorted((y - top, x - left) for y, x in now)))
        for shape, (v, u) in product(sorted(turned), product(range(down), range(right))):
            if all((y + v, x + u) in inside for y, x in shape):
                options.append((name, *(f"{y + v},{x + u}" for y, x in shape)))
    return options


def pentominoes(rows: int, columns: int) -> CoverProblem:
    """The twelve pentominoes, each once, any side up."""
    board = list(product(range(rows), range(columns)))
    return CoverProblem.of([*PIECES, *(f"{y},{x}" for y, x in board)], placements(PIECES, board))


def calendar() -> CoverProblem:
    """Eight pieces on 12 months and 31 days that leave one month and one day free: all dates."""
    months = list(product(range(2), range(6)))
    board = months + list(product(range(2, 6), range(7))) + [(6, x) for x in range(3)]
    pieces = {name: PIECES[name] for name in "PUVLNYZ"} | {"H": "00 01 02 10 11 12"}
    options = placements(pieces, board)
    options += [("month" if cell in months else "day", f"{cell[0]},{cell[1]}") for cell in board]
    return CoverProblem.of([*pieces, "month", "day", *(f"{y},{x}" for y, x in board)], options)


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


def one_sudoku() -> CoverProblem:
    """What the 17 clues of a sudoku leave."""
    size = range(9)
    items = [f"{kind}{a}{b}" for kind in "prcb" for a in size for b in size]
    options = [
        (f"p{y}{x}", f"r{y}{d}", f"c{x}{d}", f"b{y // 3 * 3 + x // 3}{d}")
        for y, x, d in product(size, repeat=3)
    ]
    given = [9 * cell + int(digit) - 1 for cell, digit in enumerate(CLUES) if digit != "0"]
    rest = restricted(CoverProblem.of(items, options), given, [])
    assert rest is not None
    return rest.problem


def large_sudoku(order: int, share: float) -> CoverProblem:
    """A sudoku of order**4 cells, of which this share is given."""
    random, side = np.random.default_rng(order), order**2
    y, x = np.divmod(np.arange(side * side), side)
    digits = random.permutation(side)[(y % order * order + y // order + x) % side]
    items = [f"{kind}{a}.{b}" for kind in "prcb" for a in range(side) for b in range(side)]
    options = [
        (f"p{v}.{u}", f"r{v}.{d}", f"c{u}.{d}", f"b{v // order * order + u // order}.{d}")
        for v, u, d in product(range(side), repeat=3)
    ]
    clues = random.permutation(side * side)[: int(share * side * side)]
    rest = restricted(CoverProblem.of(items, options), (clues * side + digits[clues]).tolist(), [])
    assert rest is not None
    return rest.problem


def triples(points: int) -> CoverProblem:
    """Steiner triple systems: each pair of points in one triple."""
    pairs = [f"{a}.{b}" for a, b in combinations(range(points), 2)]
    return CoverProblem.of(
        pairs, [[f"{a}.{b}" for a, b in combinations(three, 2)] for three in combinations(range(points), 3)]
    )


def partitions(members: int) -> CoverProblem:
    """A set cut into any parts: every subset is an option."""
    names = [str(k) for k in range(members)]
    return CoverProblem.of(names, [part for size in range(members) for part in combinations(names, size + 1)])


def random_sets(members: int, size: int, count: int, planted: int, seed: int) -> CoverProblem:
    """Random sets of this size that share no structure; as many whole partitions are among them."""
    random, names = np.random.default_rng(seed), [str(k) for k in range(members)]
    rows = [random.permutation(members)[:size] for _ in range(count)]
    for _ in range(planted):
        rows += list(random.permutation(members).reshape(-1, size))
    return CoverProblem.of(names, [[names[k] for k in sorted(row)] for row in rows])


def without_corners(size: int) -> CoverProblem:
    """A board without two opposite corners, to be covered with dominoes: there is no way."""
    whole = dominoes(size, size)
    assert whole.item_names is not None
    cells = [name for name in whole.item_names if name not in ("0,0", f"{size - 1},{size - 1}")]
    options = [[whole.item_names[item] for item in whole.option(option)] for option in range(whole.options)]
    return CoverProblem.of(cells, [option for option in options if set(option) <= set(cells)])


def coloured_squares(rows: int, columns: int) -> CoverProblem:
    """MacMahon's squares with edges of three colours, each at most once: edges that touch agree."""
    tiles = {min(edges[k:] + edges[:k] for k in range(4)): None for edges in product("abc", repeat=4)}
    options = []
    for number, edges in enumerate(tiles):
        turned = {edges[k:] + edges[:k] for k in range(4)}
        for (y, x), (up, right, down, left) in product(product(range(rows), range(columns)), sorted(turned)):
            sides = (f"h{y}.{x}:{up}", f"v{y}.{x + 1}:{right}", f"h{y + 1}.{x}:{down}", f"v{y}.{x}:{left}")
            options.append((f"{y},{x}", f"t{number}", *sides))
    edges_of_board = [f"h{y}.{x}" for y in range(rows + 1) for x in range(columns)]
    edges_of_board += [f"v{y}.{x}" for y in range(rows) for x in range(columns + 1)]
    secondary = [f"t{number}" for number in range(len(tiles))] + edges_of_board
    return CoverProblem.of(
        [f"{y},{x}" for y, x in product(range(rows), range(columns))], options, secondary=secondary
    )


def packing(name: str) -> CoverProblem:
    """A packing puzzle of the folder of games; turns and reflections of a solution are others."""
    return Packing.of(packing_of_text((PUZZLES / f"{name}.packing").read_text())).problem


@dataclass(frozen=True)
class Instance:
    """A problem, how many solutions it has, and whether these are few enough to be told one by one."""

    build: Callable[[], CoverProblem]
    solutions: int
    told: bool = True


INSTANCES: dict[str, Instance] = {
    "letters": Instance(lambda: CoverProblem.of("abcdefg", ["ce", "adg", "bcf", "adf", "bg", "deg"]), 1),
    "queens6": Instance(lambda: queens(6), 4),
    "dominoes4x4": Instance(lambda: dominoes(4, 4), 36),
    "latin4": Instance(lambda: latin(4), 576),
    "triples9": Instance(lambda: triples(9), 840),
    "sudoku": Instance(one_sudoku, 1),
    "burr": Instance(lambda: packing("burr"), 12),
    "dominoes6x6 without corners": Instance(lambda: without_corners(6), 0),
    "pentominoes3x20": Instance(lambda: pentominoes(3, 20), 8),
    "dominoes6x6": Instance(lambda: dominoes(6, 6), 6728),
    "queens12": Instance(lambda: queens(12), 14200),
    "langford11": Instance(lambda: langford(11), 35584),
    "partitions9": Instance(lambda: partitions(9), 21147),
    "soma": Instance(lambda: packing("soma"), 11520),
    "latin5": Instance(lambda: latin(5), 161280),
    "domination8": Instance(lambda: domination(8, 5), 4860),
    "squares1x4": Instance(lambda: coloured_squares(1, 4), 1116144),
    "random sets": Instance(lambda: random_sets(36, 4, 500, 2, 1), 109472),
    "large sudoku": Instance(lambda: large_sudoku(6, 0.6), 3840),
    "calendar": Instance(calendar, 25061),
    "pentominoes6x10": Instance(lambda: pentominoes(6, 10), 9356),
    "dominoes8x8": Instance(lambda: dominoes(8, 8), 12988816, told=False),
    "dominoes10x10": Instance(lambda: dominoes(10, 10), 258584046368, told=False),
}
"""From small to large."""
