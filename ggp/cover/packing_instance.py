"""`PackingInstance`: a packing puzzle from a file of ours or of BurrTools, searched, drawn and written."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from gdl.errors import GdlError
from ggp.console import new_console
from ggp.cover.drawing.layers import layers
from ggp.cover.drawing.moves import moves_as_json, moves_told
from ggp.cover.drawing.packed import Packed, PlacedPiece
from ggp.cover.drawing.page import page
from ggp.cover.drawing.svg import svg
from ggp.cover.instance import CoverInstance, Watch
from ggp.output_file import write_file
from players.puzzles.cover.disassembly.assembly import MOTIONS, Assembly
from players.puzzles.cover.disassembly.disassembly import take_apart
from players.puzzles.cover.game.rules import packing_rules
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.puzzle import PackingPuzzle
from players.puzzles.cover.packing.search import PackingSearch
from players.puzzles.cover.packing.text import is_packing_text, packing_of_text
from players.puzzles.cover.problem import CoverError
from players.puzzles.cover.xmpuzzle.model import BurrFile
from players.puzzles.cover.xmpuzzle.places import Places
from players.puzzles.cover.xmpuzzle.reading import xmpuzzle
from players.puzzles.cover.xmpuzzle.writing import burr_file, written_xmpuzzle

_MOST_DRAWN = 200
"""Solutions on a page."""


def packing_instance(
    path: Path, data: bytes, number: int | None, *, every: bool, apart: bool = False
) -> PackingInstance | None:
    """The packing puzzle in the bytes of a file; None if it has something else. ``apart``: its solutions are
    taken apart. Raises GdlError."""
    packed = data.startswith(b"\x1f\x8b")
    if packed or data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        try:
            burr = xmpuzzle(data)
        except CoverError as error:
            error.source = f"{path} (unpacked)" if packed else str(path)
            raise
        problem = burr.problem(number or 1)
        problem.refuse_to_go_on()
        name = problem.puzzle.name or path.stem
        return PackingInstance(name, problem.puzzle, every=every, apart=apart, burr=burr, number=number or 1)
    text = data.decode("utf-8", "replace")
    if not is_packing_text(text):
        return None
    if number is not None:
        raise GdlError(f"{path} has one problem", remedy="leave --problem out")
    try:
        puzzle = packing_of_text(text)
    except CoverError as error:
        error.source = str(path)
        raise
    return PackingInstance(puzzle.name or path.stem, puzzle, every=every, apart=apart)


class PackingInstance(CoverInstance):
    """A packing puzzle; `burr` is the BurrTools file it is from, `number` that of its problem there. With
    `apart` each solution is told with the moves that take it apart."""

    def __init__(
        self,
        name: str,
        puzzle: PackingPuzzle,
        *,
        every: bool = False,
        apart: bool = False,
        burr: BurrFile | None = None,
        number: int = 1,
    ) -> None:
        self.name, self.puzzle, self.every = name, puzzle, every
        self.burr, self.number = burr, number
        self.apart = apart
        if apart and puzzle.grid.name not in MOTIONS:
            raise CoverError(
                f"pieces of {puzzle.grid.name} are not taken apart",
                remedy="leave --apart out: only cubes and prisms slide",
            )
        self._packing: Packing | None = None

    @property
    def options(self) -> int:
        return self.packing.problem.options

    def search(self, options: CoverOptions, watch: Watch, saved: dict[str, Any] | None) -> PackingSearch:
        if saved is None:
            search = PackingSearch(self.puzzle, options, watch, every=self.every)
        else:
            search = PackingSearch.resumed(self.puzzle, saved, options, watch, every=self.every)
        self._packing = search.packing
        return search

    @property
    def packing(self) -> Packing:
        """The placements of its pieces."""
        if self._packing is None:
            self._packing = Packing.of(self.puzzle)
        return self._packing

    def packed(self, solution: Sequence[int] | NDArray[np.int32]) -> Packed:
        """A solution as the drawings take it."""
        pieces, groups = [], []
        for option in solution:
            kind = int(self.packing.pieces[option])
            cells = self.puzzle.result.cells[self.packing.cells(int(option))].tolist()
            name = self.puzzle.pieces[kind].shape.name or f"piece {kind + 1}"
            pieces.append(PlacedPiece(name, tuple((x, y, z) for x, y, z in cells), kind))
            groups.append(frozenset(group for group, _ in self.puzzle.pieces[kind].groups))
        grid = self.puzzle.grid.name
        if not self.apart:
            return Packed(grid, tuple(pieces))
        assembly = Assembly.of([piece.cells for piece in pieces], MOTIONS[grid], groups)
        return Packed(grid, tuple(pieces), take_apart(assembly))

    def tell(self, solution: NDArray[np.int32]) -> str:
        console = new_console(file=io.StringIO(), width=120, force_terminal=sys.stdout.isatty())
        packed = self.packed(solution)
        console.print(layers(packed))
        if packed.legend():
            console.print(Text(packed.legend(), "dim"))
        if packed.apart is not None:
            console.print(Text("\n".join(moves_told(packed, packed.apart))))
        text = console.file.getvalue()  # type: ignore[attr-defined]
        return "\n".join(line.rstrip() for line in text.splitlines())

    def as_json(self, solution: Sequence[int]) -> object:
        packed = self.packed(solution)
        pieces = [
            {"piece": piece.name, "cells": [list(cell) for cell in piece.cells]} for piece in packed.pieces
        ]
        return pieces if packed.apart is None else {"pieces": pieces} | moves_as_json(packed.apart)

    def as_rules(self) -> str:
        return packing_rules(self.puzzle)

    def keep(self, path: Path, solutions: Sequence[NDArray[np.int32]], *, complete: bool) -> None:
        write_file(path, self._file(path, solutions, complete))

    def _file(self, path: Path, solutions: Sequence[NDArray[np.int32]], complete: bool) -> bytes:
        kind = path.suffix.lower()
        if kind == ".xmpuzzle":
            burr = self.burr or burr_file(self.puzzle)
            places = Places(burr, burr.problem(self.number), self.packing)
            told = [places.places(solution) for solution in solutions]
            return written_xmpuzzle(burr, {self.number: told}, complete=complete and not self.every)
        if kind not in (".svg", ".html"):
            raise GdlError(f"{path}: no drawing is of this kind", remedy="name a file .svg or .html")
        drawn = [self.packed(solution) for solution in solutions[:_MOST_DRAWN]]
        if not drawn:
            raise GdlError("there is no solution to draw", remedy="leave --render out")
        return (svg(drawn[0]) if kind == ".svg" else page(self.name, drawn)).encode()
