"""The output that a user asks for with a solved level: findings, animation, letters, a file."""

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
class SokobanOutput:
    """The options of ``ggp solve`` for Sokoban.

    Attributes:
        fps: steps a second of the animation; None for no animation.
        lurd: whether only the steps are printed.
        run_lengths: whether they are written with run lengths.
        output: the file to be written.
        explain: whether the findings of the analysis are printed first.
    """

    fps: float | None = None
    lurd: bool = False
    run_lengths: bool = False
    output: Path | None = None
    explain: bool = False

    @property
    def any(self) -> bool:
        """Whether any option is set that only Sokoban has."""
        return self.fps is not None or self.lurd or self.output is not None or self.explain

    def check(self, as_json: bool, several: bool) -> None:
        """Raise GdlError for options that conflict or cannot be met, before a search begins."""
        if several and self.any:
            raise GdlError("this is shown for one level only", remedy="leave out --all, or name FILE:N")
        if as_json and self.lurd:
            raise GdlError("--json says the steps too", remedy="leave out --lurd")
        if self.run_lengths and not self.lurd:
            raise GdlError("--run-length says how --lurd writes", remedy="add --lurd")
        if self.output is not None:
            _check_suffix(self.output)

    def before(self, console: Console, stage: LevelStage, as_json: bool) -> None:
        """Print the findings before the search, if asked for. With ``lurd`` only the steps are printed."""
        if self.explain and as_json:
            found = [finding.as_json(stage) for finding in findings(stage)]
            console.file.write(orjson.dumps({"found": found}).decode() + "\n")
        elif self.explain and not self.lurd:
            show_findings(console, stage, findings(stage))
            console.print()

    def after(self, console: Console, stage: LevelStage, steps: str | None, solver: str) -> None:
        """Write the file, print the steps and show the animation, as asked for; ``steps`` is None if there is
        no solution. Raises KeyboardInterrupt if the user stops the animation; the file is written by then."""
        if self.output is not None and (steps is not None or _is_picture(self.output)):
            write_file(self.output, stage, steps or "", self.fps or _DEFAULT_FPS, solver)
        if steps is None:
            return
        if self.lurd:
            console.print(run_length(steps) if self.run_lengths else steps, soft_wrap=True)
        if self.fps is not None:
            animate(console, stage, steps, self.fps)


SUFFIXES = (".png", ".gif", ".svg", ".sok", ".lurd")
_DEFAULT_FPS = 8.0


def _is_picture(path: Path) -> bool:
    """Whether the file's name asks for a drawing, which does not need a solution."""
    return path.suffix.lower() in (".png", ".gif", ".svg")


def _check_suffix(path: Path) -> None:
    """Raise GdlError if the file's name has no known ending, or a needed library is missing."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise GdlError(
            f"{path} does not say what to write", remedy=f"let its name end in {', '.join(SUFFIXES)}"
        )
    if suffix in (".png", ".gif"):
        import ggp.sokoban.raster  # noqa: F401 - it raises if Pillow is missing


def write_file(
    path: Path, stage: LevelStage, steps: str = "", fps: float = _DEFAULT_FPS, solver: str = ""
) -> None:
    """Write a level and, if steps are given, its solution.

    Args:
        path: the file; its name ends in one of SUFFIXES. ``.png`` shows the start; ``.gif`` and ``.svg`` move
            if there are steps; ``.sok`` is level and solution as text; ``.lurd`` has the steps alone.
        stage: the level.
        steps: legal steps, or none.
        fps: steps a second of an animation.
        solver: the solver's name, for ``.sok``.

    Raises:
        GdlError: as :func:`_check_suffix`, or the file cannot be written.
    """
    _check_suffix(path)
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
