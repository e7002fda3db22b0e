"""Cover problems that are measured everywhere, with their known numbers of solutions."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np

from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.text import packing_of_text
from players.puzzles.cover.problem import CoverProblem

_PUZZLES = Path(__file__).resolve().parents[2] / "games" / "puzzles"


def queens(size: int) -> CoverProblem:
    """Queens on a board: rows and columns are covered, diagonals at most once."""
    sides = [f"{side}{i}" for side in "rc" for i in range(size)]
    slants = [f"{slant}{i}" for slant in "ud" for i in range(2 * size - 1)]
    squares = [(i, j) for i in range(size) for j in range(size)]
    options = [[f"r{i}", f"c{j}", f"u{i + j}", f"d{i - j + size - 1}"] for i, j in squares]
    return CoverProblem.of(sides, options, secondary=slants)


def langford(size: int) -> CoverProblem:
    """Pairs of 1 to size with k numbers between the two k; both of each mirrored pair are counted."""
    items = [f"n{k}" for k in range(1, size + 1)] + [f"s{i}" for i in range(2 * size)]
    pairs = [(k, i) for k in range(1, size + 1) for i in range(2 * size - k - 1)]
    return CoverProblem.of(items, [[f"n{k}", f"s{i}", f"s{i + k + 1}"] for k, i in pairs])


def latin(size: int) -> CoverProblem:
    """Latin squares."""
    triples = [(i, j, k) for i in range(size) for j in range(size) for k in range(size)]
    items = [f"{kind}{a},{b}" for kind in ("p", "r", "c") for a in range(size) for b in range(size)]
    return CoverProblem.of(items, [[f"p{i},{j}", f"r{i},{k}", f"c{j},{k}"] for i, j, k in triples])


SUDOKUS = [
    "000000010400000000020000000000050407008000300001090000300400200050100000000806000",
    "000000010400000000020000000000050604008000300001090000300400200050100000000807000",
    "000000012000035000000600070700000300000400800100000000000120000080000040050000600",
    "000000012003600000000007000410020000000500300700000600280000040000300500000000000",
    "000000012008030000000000040120500000000004700060000000507000300000620000000100000",
    "000000012040050000000009000070600400000100000000000050000087500601000300200000000",
]
"""Sudokus with 17 clues, the fewest that leave one solution (from G. Royle's collection)."""


def sudoku() -> CoverProblem:
    """All sudoku grids: option 81 r + 9 c + d is digit d in row r and column c."""
    kinds = [f"{kind}{a}{b}" for kind in "prcb" for a in range(9) for b in range(9)]
    cells = [(r, c, d) for r in range(9) for c in range(9) for d in range(9)]
    return CoverProblem.of(
        kinds, [[f"p{r}{c}", f"r{r}{d}", f"c{c}{d}", f"b{r // 3 * 3 + c // 3}{d}"] for r, c, d in cells]
    )


def clues(grid: str) -> list[int]:
    """The options that a sudoku in one line gives; 0 or a dot is an empty square."""
    return [9 * square + int(digit) - 1 for square, digit in enumerate(grid) if digit in "123456789"]


def shuffled(grid: str, randomness: random.Random) -> str:
    """The same sudoku with other digits, and with rows and columns changed within the rules."""
    digits = "".join(randomness.sample("123456789", 9))
    lines = [
        [
            3 * band + line
            for band in randomness.sample(range(3), 3)
            for line in randomness.sample(range(3), 3)
        ]
        for _ in range(2)
    ]
    return "".join(grid[9 * r + c] for r in lines[0] for c in lines[1]).translate(
        str.maketrans("123456789", digits)
    )


def dominoes(rows: int, columns: int) -> CoverProblem:
    """Tilings of a board by dominoes."""
    squares = [(i, j) for i in range(rows) for j in range(columns)]
    options = [[f"{i},{j}", f"{i + 1},{j}"] for i, j in squares if i + 1 < rows]
    options += [[f"{i},{j}", f"{i},{j + 1}"] for i, j in squares if j + 1 < columns]
    return CoverProblem.of([f"{i},{j}" for i, j in squares], options)


def domination(size: int, queens: int) -> CoverProblem:
    """So many queens that attack or occupy every square: each square once to `queens` times."""
    squares = [(i, j) for i in range(size) for j in range(size)]
    reach = {
        (i, j): [
            number
            for number, (k, m) in enumerate(squares)
            if i == k or j == m or i + j == k + m or i - j == k - m
        ]
        for i, j in squares
    }
    count = len(squares)
    nodes = [item for square in squares for item in [*reach[square], count]]
    starts = np.cumsum([0] + [len(reach[square]) + 1 for square in squares])
    return CoverProblem(
        np.array([1] * count + [queens], np.int32),
        np.full(count + 1, queens, np.int32),
        starts.astype(np.int32),
        np.array(nodes, np.int32),
        np.ones(len(nodes), np.int32),
        np.zeros(len(nodes), np.int32),
        np.zeros(count + 1, np.bool_),
    )


def packing(name: str) -> CoverProblem:
    """One of our packing puzzles, turned solutions included."""
    return Packing.of(packing_of_text((_PUZZLES / f"{name}.packing").read_text())).problem


INSTANCES: dict[str, tuple[Callable[[], CoverProblem], int]] = {
    "queens12": (lambda: queens(12), 14_200),
    "langford11": (lambda: langford(11), 35_584),
    "latin5": (lambda: latin(5), 161_280),
    "dominoes6x6": (lambda: dominoes(6, 6), 6_728),
    "soma": (lambda: packing("soma"), 11_520),
    "pentominoes6x10": (lambda: packing("pentominoes6x10"), 9_356),
    "domination8x5": (lambda: domination(8, 5), 4_860),
}
"""By name: the problem, and how many solutions it has."""
