"""What a person wants to see of a solved level: found, animated, as letters, as a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import orjson
from rich.console import Console

from gdl.errors import GdlError
from ggp import output_file
from ggp.sokoban.findings import findings, show_findings
from ggp.sokoban.glyphs import animate
from ggp.sokoban.lurd import run_length, snapshot
from ggp.sokoban.stage import LevelStage
from ggp.sokoban.svg import svg


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options of ``ggp solve`` for Sokoban.

    Attributes:
        fps: steps a second of the animation; None for none.
        lurd: whether the steps alone are printed.
        run_lengths: whether they are written with run lengths.
        output: the file to be written.
        explain: whether what the analysis finds is told first.
    """

    fps: float | None = None
    lurd: bool = False
    run_lengths: bool = False
    output: Path | None = None
    explain: bool = False

    @property
    def any(self) -> bool:
        """Whether anything is wished for that only Sokoban has."""
        return self.fps is not None or self.lurd or self.output is not None or self.explain

    def check(self, as_json: bool, several: bool) -> None:
        """Raise GdlError for wishes that do not go together, or cannot be met, before a search begins."""
        if several and self.any:
            raise GdlError("this is shown for one level only", remedy="leave out --all, or name FILE:N")
        if as_json and self.lurd:
            raise GdlError("--json says the steps too", remedy="leave out --lurd")
        if self.run_lengths and not self.lurd:
            raise GdlError("--run-length says how --lurd writes", remedy="add --lurd")
        if self.output is not None:
            check_suffix(self.output)

    def before(self, console: Console, stage: LevelStage, as_json: bool) -> None:
        """What is shown before the search. With ``lurd`` nothing but the steps is printed."""
        if self.explain and as_json:
            found = [finding.as_json(stage) for finding in findings(stage)]
            console.file.write(orjson.dumps({"found": found}).decode() + "\n")
        elif self.explain and not self.lurd:
            show_findings(console, stage, findings(stage))
            console.print()

    def after(self, console: Console, stage: LevelStage, steps: str | None, solver: str) -> None:
        """What is done with the solution, None where there is none. Raises KeyboardInterrupt where a person
        stops the animation; the file is written by then."""
        if self.output is not None and (steps is not None or is_picture(self.output)):
            write_file(self.output, stage, steps or "", self.fps or DEFAULT_FPS, solver)
        if steps is None:
            return
        if self.lurd:
            console.print(run_length(steps) if self.run_lengths else steps, soft_wrap=True)
        if self.fps is not None:
            animate(console, stage, steps, self.fps)


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
        import ggp.sokoban.raster  # noqa: F401 - it complains if Pillow is missing


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
            from ggp.sokoban.raster import gif, png

            data = gif(stage, steps, fps) if suffix == ".gif" else png(stage, stage.start)
    output_file.write_file(path, data)
