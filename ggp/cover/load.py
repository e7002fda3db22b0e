"""`load_instance`: a file, of whatever kind, as something to be searched."""

from __future__ import annotations

from pathlib import Path

from gdl.errors import GdlError
from gdl.reading import read_limited
from ggp.cover.instance import CoverInstance, PlainInstance
from ggp.cover.packing_instance import packing_instance
from players.puzzles.cover.files.read import problem_of

MOST_BYTES = 1 << 28
"""Of a file with a problem."""


def load_instance(
    path: Path, number: int | None = None, *, every: bool = False, apart: bool = False
) -> CoverInstance:
    """Read a file: of a BurrTools file the problem of this number (None: the first). `every` keeps
    solutions of packing puzzles that are turns or reflections of others; with `apart` they are taken apart.
    Raises GdlError."""
    data = read_limited(path, MOST_BYTES, "name a file with a puzzle")
    found = packing_instance(path, data, number, every=every, apart=apart)
    if found is not None:
        return found
    if number is not None or every or apart:
        raise GdlError(
            f"{path} is no packing puzzle", remedy="leave --problem, --keep-rotations and --apart out"
        )
    return PlainInstance(path.stem, problem_of(data, str(path)))
