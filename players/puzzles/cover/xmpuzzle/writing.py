"""Writes solutions into a BurrTools file, so that its program can show and take apart what we found."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from players.puzzles.cover.packing.grids.registry import GRIDS
from players.puzzles.cover.packing.puzzle import PackingPuzzle
from players.puzzles.cover.problem import CoverError
from players.puzzles.cover.xmpuzzle.model import BurrFile, BurrProblem, BurrShape, Place
from players.puzzles.cover.xmpuzzle.reading import MOST_COLOUR, MOST_VOXELS

_SOLVED, _SOME = 2, 3


def burr_file(puzzle: PackingPuzzle) -> BurrFile:
    """A file with this puzzle alone; raises CoverError where a cell has a coordinate below 0."""
    shapes = []
    for shape in [*(piece.shape for piece in puzzle.pieces), puzzle.result]:
        if shape.cells.min() < 0 or shape.colours.max() > MOST_COLOUR:
            raise CoverError(
                f"{shape.name or 'a shape'} cannot be written", remedy="coordinates from 0 on, colours to 63"
            )
        x, y, z = (shape.cells.max(axis=0) + 1).tolist()
        if x * y * z > MOST_VOXELS:
            raise CoverError(f"{shape.name or 'a shape'} is too large", remedy="move it to 0, 0, 0")
        shapes.append(BurrShape(shape, (x, y, z)))
    pieces = len(puzzle.pieces)
    return BurrFile(tuple(shapes), (BurrProblem(puzzle, tuple(range(pieces)), pieces),))


def written_xmpuzzle(
    file: BurrFile,
    solutions: Mapping[int, Sequence[Sequence[Place | None]]],
    *,
    complete: bool = True,
    packed: bool = True,
) -> bytes:
    """The bytes of a file with these solutions in place of those it had.

    Args:
        file: its shapes and problems.
        solutions: by the number of the problem, from 1: places as `Places.places` gives them.
        complete: whether these are all solutions.
        packed: by gzip.
    """
    grid = file.problems[0].puzzle.grid if file.problems else GRIDS[0]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<puzzle version="2">']
    lines += [f'<gridType type="{GRIDS.index(grid)}"/>', "<colors>"]
    lines += [f'<color red="{r}" green="{g}" blue="{b}"/>' for r, g, b in file.colours]
    lines += ["</colors>", "<shapes>", *map(_voxel, file.shapes), "</shapes>", "<problems>"]
    for number, problem in enumerate(file.problems, 1):
        lines += _problem(problem, solutions.get(number), complete)
    lines += ["</problems>", f'<comment popup="">{escape(_plain(file.comment))}</comment>', "</puzzle>", ""]
    data = "\n".join(lines).encode()
    return gzip.compress(data, mtime=0) if packed else data


def _plain(text: str) -> str:
    """Text without what XML cannot hold."""
    return "".join(c for c in text if c >= " " or c in "\t\n")


def _voxel(shape: BurrShape) -> str:
    x, y, z = shape.size
    marks = ["_"] * (x * y * z)
    drawn = zip(shape.shape.cells.tolist(), shape.shape.fixed, shape.shape.colours.tolist(), strict=True)
    for (cx, cy, cz), fixed, colour in drawn:
        marks[cx + x * (cy + y * cz)] = ("#" if fixed else "+") + (str(colour) if colour else "")
    hotspot = "".join(f' h{axis}="{at}"' for axis, at in zip("xyz", shape.hotspot, strict=True) if at)
    name = f" name={quoteattr(_plain(shape.shape.name))}" if shape.shape.name else ""
    return f'<voxel x="{x}" y="{y}" z="{z}"{hotspot}{name} type="0">{"".join(marks)}</voxel>'


def _problem(
    problem: BurrProblem, solutions: Sequence[Sequence[Place | None]] | None, complete: bool
) -> list[str]:
    puzzle = problem.puzzle
    state = 'state="0"'
    if solutions is not None:
        state = f'state="{_SOLVED if complete else _SOME}" assemblies="{len(solutions)}" time="0"'
    name = f"name={quoteattr(_plain(puzzle.name))} " if puzzle.name else ""
    holes = f' maxHoles="{puzzle.holes}"' if puzzle.holes is not None else ""
    lines = [f"<problem {name}{state}{holes}>", "<shapes>"]
    for number, piece in zip(problem.shapes, puzzle.pieces, strict=True):
        bounds = f'min="{piece.minimum}" max="{piece.maximum}"'
        if piece.minimum == piece.maximum:
            bounds = f'count="{piece.minimum}"'
        lines.append(f'<shape id="{number}" {bounds}>')
        lines += [f'<group group="{group}" count="{count}"/>' for group, count in piece.groups]
        lines.append("</shape>")
    lines += ["</shapes>", f'<result id="{problem.result}"/>', "<bitmap>"]
    lines += [f'<pair piece="{ours - 1}" result="{theirs - 1}"/>' for ours, theirs in sorted(puzzle.allowed)]
    lines.append("</bitmap>")
    if solutions:
        lines.append("<solutions>")
        for number, solution in enumerate(solutions):
            words = " ".join("x" if place is None else " ".join(map(str, place)) for place in solution)
            lines.append(f'<solution asmNum="{number}"><assembly>{words}</assembly></solution>')
        lines.append("</solutions>")
    lines.append("</problem>")
    return lines
