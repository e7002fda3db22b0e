"""Writes a level or its solution to a file, in the form that the file's name asks for."""

from __future__ import annotations

from pathlib import Path

from gdl.errors import GdlError
from ggp import output_file
from ggp.sokoban.lurd import snapshot
from ggp.sokoban.pictures.svg import svg
from ggp.sokoban.stage import LevelStage

SUFFIXES = (".png", ".gif", ".svg", ".sok", ".lurd")
DEFAULT_FPS = 8.0


def is_picture(path: Path) -> bool:
    """Whether the name asks for a drawing, which a level has without being solved."""
    return path.suffix.lower() in (".png", ".gif", ".svg")


def check_suffix(path: Path) -> None:
    """Raise GdlError where the name of a file does not say what it is to be, or the means are missing."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise GdlError(
            f"{path} does not say what to write", remedy=f"let its name end in {', '.join(SUFFIXES)}"
        )
    if suffix in (".png", ".gif"):
        import ggp.sokoban.pictures.raster  # noqa: F401 - it complains if Pillow is missing


def write_file(
    path: Path, stage: LevelStage, steps: str = "", fps: float = DEFAULT_FPS, solver: str = ""
) -> None:
    """Write a level and, where there are steps, its solution.

    Args:
        path: where to; what it ends in is one of SUFFIXES. ``.png`` shows the start, ``.gif`` and ``.svg``
            move if there are steps, ``.sok`` is level and solution as text, ``.lurd`` the steps alone.
        stage: the level.
        steps: legal steps, or none.
        fps: steps a second, where it moves.
        solver: whose solution it is, for ``.sok``.

    Raises:
        GdlError: as :func:`check_suffix`, or the file cannot be written.
    """
    check_suffix(path)
    match path.suffix.lower():
        case ".svg":
            data = svg(stage, steps, fps)
        case ".sok":
            data = snapshot(stage, steps, solver).encode()
        case ".lurd":
            data = f"{steps}\n".encode()
        case suffix:
            from ggp.sokoban.pictures.raster import gif, png

            data = gif(stage, steps, fps) if suffix == ".gif" else png(stage, stage.start)
    output_file.write_file(path, data)
