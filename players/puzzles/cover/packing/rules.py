"""`packing_rules`: a packing puzzle as the rules of a one-player game.

A move `(place PIECE WAY X Y Z)` places a piece: WAY is one of its orientations, X Y Z the place of its first
cell. The game is over when no piece can be placed. The goal is the percentage of pieces placed, and 100 if
all are placed and every cell that must be filled is filled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gdl.syntax.format import format_text
from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.puzzle import PackingPuzzle
from players.puzzles.cover.problem import CoverError

_AXES = "xyz"


def packing_rules(puzzle: PackingPuzzle) -> str:
    """Return the rules, in KIF. A puzzle of one layer has no Z, and one of a single row has no Y either.

    Raises CoverError if the number of pieces is open: then a partial solution has no defined goal.
    """
    if puzzle.ranged:
        raise CoverError(
            "a puzzle with an open number of pieces cannot become a game",
            remedy="give each piece one count, not a range",
        )
    writer = _Writer(puzzle)
    return "\n".join(writer.header()) + "\n\n" + format_text("\n".join(writer.lines()))


class _Writer:
    """Writes the rules of one puzzle."""

    def __init__(self, puzzle: PackingPuzzle) -> None:
        self.puzzle = puzzle
        self.packing = Packing.of(puzzle)
        cells = puzzle.result.cells
        self.low = cells.min(axis=0)
        spread = cells.max(axis=0) - self.low
        self.axes = [axis for axis in range(3) if spread[axis] > 0] or [0]
        self.spread = spread
        self.names = _names([piece.shape.name for piece in puzzle.pieces])
        self.total = sum(piece.maximum for piece in puzzle.pieces)

    def place(self, cell: NDArray[np.int64]) -> str:
        """Return the name of a cell of the result in the rules, counted from 1."""
        return " ".join(str(cell[axis] - self.low[axis] + 1) for axis in self.axes)

    def variables(self, names: str) -> str:
        return " ".join(f"?{names[axis]}" for axis in self.axes)

    def header(self) -> Iterator[str]:
        """The comment that describes the game."""
        title = "".join(sign for sign in self.puzzle.name if sign.isprintable())[:60]
        where = " ".join("XYZ"[axis] for axis in self.axes)
        cells = sum(
            len(set(self.packing.placed[number].ravel().tolist())) for number in range(len(self.names))
        )
        bases = cells + sum(piece.maximum + 1 for piece in self.puzzle.pieces) + self.total + 1
        yield f"; {title or 'A packing puzzle'}: place {self.total} pieces so that they fill the shape."
        yield ";"
        yield "; Roles   player, alone."
        yield f"; State   (cell {where} PIECE); (left PIECE N) copies to place; (placed N) pieces that lie."
        yield f"; Moves   (place PIECE WAY {where}): WAY is how it lies, {where} where its first"
        yield ";         cell, the lowest by these coordinates, comes to. Pieces are not reflected."
        yield "; Ends    when nothing can be placed."
        yield "; Goals   the share of the pieces that lie; 100 where all do and the shape is full, else 99."
        yield f"; Size    {bases} base propositions, {self.packing.problem.options} moves."

    def lines(self) -> Iterator[str]:
        """The lines of the rules: one rule per line, with a heading for each part."""
        yield "(role player)"
        yield "; --- What is left, what lies, what it is worth ---"
        yield from self.counts()
        yield "; --- Placing a piece ---"
        yield from self.moves()
        yield "; --- The shape, the pieces, and where they fit ---"
        yield from self.facts()

    def counts(self) -> Iterator[str]:
        """The rules for pieces left and placed, and for the goals."""
        most = max(piece.maximum for piece in self.puzzle.pieces)
        for name, piece in zip(self.names, self.puzzle.pieces, strict=True):
            yield f"(init (left {name} {piece.maximum}))"
            for count in range(piece.maximum + 1):
                yield f"(base (left {name} {count}))"
        yield "(init (placed 0))"
        for count in range(self.total + 1):
            yield f"(base (placed {count}))"
        for count in range(max(most, self.total)):
            yield f"(next-number {count} {count + 1})"
        yield "(<= (next (placed ?m)) (true (placed ?n)) (next-number ?n ?m))"
        where = self.variables(_AXES)
        less = "(true (left ?p ?m)) (next-number ?n ?m)"
        yield f"(<= (next (left ?p ?n)) (does player (place ?p ?w {where})) {less})"
        unchanged = "(true (left ?p ?n)) (distinct ?p ?q)"
        yield f"(<= (next (left ?p ?n)) (does player (place ?q ?w {where})) {unchanged})"
        for count in range(self.total):
            yield f"(<= (goal player {100 * count // self.total}) (true (placed {count})))"
        yield f"(<= (goal player 100) (true (placed {self.total})) (not unfilled))"
        yield f"(<= (goal player 99) (true (placed {self.total})) unfilled)"
        cell = self.variables("abc")
        yield f"(<= (filled {cell}) (true (cell {cell} ?p)))"
        yield f"(<= unfilled (must-be-filled {cell}) (not (filled {cell})))"
        yield "(<= terminal (not movable))"

    def moves(self) -> Iterator[str]:
        """The rules for legal moves and their effects."""
        where, cell, step = self.variables(_AXES), self.variables("abc"), self.variables("ijk")
        sums = " ".join(f"(plus ?{_AXES[axis]} ?{'ijk'[axis]} ?{'abc'[axis]})" for axis in self.axes)
        yield f"(<= (base (cell {cell} ?p)) (covers ?p ?w {where} {cell}))"
        yield f"(<= (input player (place ?p ?w {where})) (fits ?p ?w {where}))"
        yield f"(<= (covers ?p ?w {where} {cell}) (fits ?p ?w {where}) (part ?p ?w {step}) {sums})"
        yield f"(<= (blocked ?p ?w {where}) (covers ?p ?w {where} {cell}) (filled {cell}))"
        yield (
            f"(<= (legal player (place ?p ?w {where})) (true (left ?p ?n)) (next-number ?m ?n)"
            f" (fits ?p ?w {where}) (not (blocked ?p ?w {where})))"
        )
        yield f"(<= movable (legal player (place ?p ?w {where})))"
        yield f"(<= (next (cell {cell} ?p)) (true (cell {cell} ?p)))"
        laid = f"(does player (place ?p ?w {where})) (covers ?p ?w {where} {cell})"
        yield f"(<= (next (cell {cell} ?p)) {laid})"

    def facts(self) -> Iterator[str]:
        """The facts: cells, pieces, and the places where they fit."""
        result = self.puzzle.result
        for cell, fixed in zip(result.cells, result.fixed, strict=True):
            if fixed:
                yield f"(must-be-filled {self.place(cell)})"
        steps: set[int] = set()
        for number, name in enumerate(self.names):
            seen: dict[int, NDArray[np.int64]] = {}
            for option in range(self.packing.first[number], self.packing.first[number + 1]):
                cells = result.cells[self.packing.cells(option)]
                way = int(self.packing.ways[option])
                if way not in seen:
                    seen[way] = cells - cells[0]
                    for part in seen[way]:
                        yield f"(part {name} {way} {' '.join(_signed(part[axis]) for axis in self.axes)})"
                        steps.update(int(part[axis]) for axis in self.axes)
                yield f"(fits {name} {way} {self.place(cells[0])})"
        longest = int(max(self.spread[axis] for axis in self.axes)) + 1
        for step in sorted(steps):
            for place in range(1, longest + 1):
                if 1 <= place + step <= longest:
                    yield f"(plus {place} {_signed(step)} {place + step})"


def _signed(step: int) -> str:
    """Return a step as a symbol that every KIF reader accepts."""
    return str(step) if step >= 0 else f"m{-step}"


def _names(names: list[str]) -> list[str]:
    """Return different KIF symbols, one for each piece."""
    found: list[str] = []
    for number, name in enumerate(names):
        symbol = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
        if not symbol or symbol in found:
            symbol = f"{symbol or 'piece'}-{number + 1}"
        found.append(symbol)
    return found
