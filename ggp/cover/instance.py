"""`load_instance`: a file's puzzle, ready to be searched, and the text and JSON of its solutions."""

from __future__ import annotations

import io
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from gdl.errors import GdlError, Place
from gdl.reading import read_limited, text_of
from ggp.console import new_console
from ggp.cover.drawings import page, svg
from ggp.cover.packed import Packed, PlacedPiece, layers, moves_as_json, moves_told
from ggp.output_file import write_file
from players.companions import Stepwise
from players.puzzles.cover.files.texts import problem_of
from players.puzzles.cover.files.xmpuzzle import xmpuzzle
from players.puzzles.cover.outcome import CoverOptions, CoverResult
from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.disassembly import MOTIONS, Assembly, take_apart
from players.puzzles.cover.packing.puzzle import PackingPuzzle
from players.puzzles.cover.packing.search import PackingSearch
from players.puzzles.cover.packing.text import is_packing_text, packing_of_text
from players.puzzles.cover.problem import CoverError, CoverProblem
from players.puzzles.cover.search import CoverSearch


class RunningSearch(Stepwise, Protocol):
    """The methods that searches of covers and of packings share: see `CoverSearch`."""

    def taken(self) -> list[NDArray[np.int32]]: ...

    def result(self) -> CoverResult: ...

    def saved(self) -> dict[str, Any]: ...


class CoverInstance(ABC):
    """A puzzle named on the command line. `name` is for people; `remark` is a note to its author."""

    name: str
    remark = ""

    @property
    @abstractmethod
    def options(self) -> int:
        """The number of options from which solutions choose."""

    @abstractmethod
    def search(self, options: CoverOptions, saved: dict[str, Any] | None) -> RunningSearch:
        """A new search, or one resumed from the saved state."""

    @abstractmethod
    def tell(self, solution: NDArray[np.int32]) -> str:
        """The text of a solution, lines without a last newline."""

    @abstractmethod
    def as_json(self, solution: Sequence[int]) -> object:
        """A solution for JSON."""

    def draw(self, path: Path, solutions: Sequence[Sequence[int]]) -> None:
        """Write a drawing of solutions, of the kind that the ending of its name says."""
        raise GdlError(f"{path}: only packing puzzles are drawn", remedy="leave --output out")


class PlainInstance(CoverInstance):
    """A cover problem that is not a packing puzzle."""

    def __init__(self, name: str, problem: CoverProblem) -> None:
        self.name, self.problem = name, problem
        if problem.holes is not None and not problem.may_be_hole.any():
            self.remark = '`holes` changes nothing: no item has "hole": true'

    @property
    def options(self) -> int:
        return self.problem.options

    def search(self, options: CoverOptions, saved: dict[str, Any] | None) -> CoverSearch:
        if saved is None:
            return CoverSearch(self.problem, options)
        return CoverSearch.resumed(self.problem, saved, options)

    def tell(self, solution: NDArray[np.int32]) -> str:
        return "\n".join(_option_text(self.problem, int(option)) for option in solution)

    def as_json(self, solution: Sequence[int]) -> object:
        return list(solution)


def _option_text(problem: CoverProblem, option: int) -> str:
    if problem.option_names and problem.option_names[option]:
        return problem.option_names[option]
    names = problem.item_names
    return " ".join(names[item] if names else str(item) for item in problem.option(option))


DRAWN = (".svg", ".html")
"""The kinds of drawings."""
_MOST_DRAWN = 200
"""Most solutions on a page."""


_XCC = re.compile(rb"\s*(<)[^<>]*>[^<>]*\Z")


def packing_instance(
    path: Path, data: bytes, number: int | None, *, every: bool, apart: bool = False
) -> PackingInstance | None:
    """The packing puzzle in the bytes of a file; None if the file has another kind of problem. With ``apart``
    its solutions are taken apart. Raises GdlError."""
    if found := _XCC.match(data):
        place = Place(1 + data.count(b"\n", 0, found.start(1)), 1)
        remedy = "write 'a b | x', secondary items behind the |, and each option on a line without ;"
        raise CoverError("items in < > and [ ] (XCC text) are not read", place, remedy, str(path))
    packed = data.startswith(b"\x1f\x8b")
    text = "" if packed else text_of(data, str(path))
    if packed or text.lstrip().startswith("<"):
        try:
            problem = xmpuzzle(data).problem(number or 1)
        except GdlError as error:
            error.source = f"{path} (unpacked)" if packed else str(path)
            raise
        problem.refuse_to_go_on()
        name = problem.puzzle.name or path.stem
        return PackingInstance(name, problem.puzzle, every=every, apart=apart)
    if not is_packing_text(text):
        return None
    if number is not None:
        raise GdlError(f"{path} has one problem", remedy="leave :N out")
    try:
        puzzle = packing_of_text(text)
    except CoverError as error:
        error.source = str(path)
        raise
    return PackingInstance(puzzle.name or path.stem, puzzle, every=every, apart=apart)


class PackingInstance(CoverInstance):
    """A packing puzzle. With `apart` each solution includes the moves that take it apart."""

    def __init__(self, name: str, puzzle: PackingPuzzle, *, every: bool = False, apart: bool = False) -> None:
        self.name, self.puzzle, self.every = name, puzzle, every
        self.remark = puzzle.remark
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

    def search(self, options: CoverOptions, saved: dict[str, Any] | None) -> PackingSearch:
        if saved is None:
            search = PackingSearch(self.puzzle, options, every=self.every)
        else:
            search = PackingSearch.resumed(self.puzzle, saved, options, every=self.every)
        self._packing = search.packing
        return search

    @property
    def packing(self) -> Packing:
        """The placements of its pieces."""
        if self._packing is None:
            self._packing = Packing.of(self.puzzle)
        return self._packing

    def packed(self, solution: Sequence[int] | NDArray[np.int32]) -> Packed:
        """A solution ready to be drawn."""
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

    def draw(self, path: Path, solutions: Sequence[Sequence[int]]) -> None:
        drawn = [self.packed(solution) for solution in solutions[:_MOST_DRAWN]]
        if not drawn:
            raise GdlError("there is no solution to draw", remedy="leave --output out")
        write_file(
            path, (svg(drawn[0]) if path.suffix.lower() == ".svg" else page(self.name, drawn)).encode()
        )


MOST_BYTES = 1 << 28
"""Largest size of a file with a problem, in bytes."""


def load_instance(
    path: Path, number: int | None = None, *, every: bool = False, apart: bool = False
) -> CoverInstance:
    """Read a file; of a BurrTools file the problem with this number (None: the first). With `every`,
    solutions of packing puzzles include turns and reflections of others; with `apart`, solutions are taken
    apart. Raises GdlError."""
    data = read_limited(path, MOST_BYTES, "name a file with a puzzle")
    found = packing_instance(path, data, number, every=every, apart=apart)
    if found is not None:
        return found
    if number is not None or every or apart:
        raise GdlError(f"{path} is not a packing puzzle", remedy="leave :N, --keep-rotations and --apart out")
    return PlainInstance(path.stem, problem_of(data, str(path)))
