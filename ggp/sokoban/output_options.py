"""The output of ``ggp solve`` for Sokoban: findings, an animation, a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import orjson
from rich.console import Console

from gdl.errors import GdlError
from ggp import output_file
from ggp.sokoban.findings import findings, show_findings
from ggp.sokoban.glyphs import animate
from ggp.sokoban.lurd import snapshot
from ggp.sokoban.stage import LevelStage
from ggp.sokoban.svg import svg


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """The options of ``ggp solve`` for Sokoban.

    Attributes:
        fps: steps a second of the animation; None for no animation.
        output: the file to be written.
        explain: whether the findings of the analysis are printed first.
    """

    fps: float | None = None
    output: Path | None = None
    explain: bool = False

    def check(self, several: bool) -> None:
        """Raise GdlError for options that conflict or cannot be met, before a search begins."""
        if several:
            raise GdlError("this is shown for one level only", remedy="leave out --all, or name FILE:N")
        if self.output is not None:
            _check_suffix(self.output)

    def before(self, console: Console, stage: LevelStage, as_json: bool) -> None:
        """Print the findings before the search, if asked for."""
        if self.explain and as_json:
            found = [finding.as_json(stage) for finding in findings(stage)]
            console.file.write(orjson.dumps({"found": found}).decode() + "\n")
        elif self.explain:
            show_findings(console, stage, findings(stage))
            console.print()

    def after(self, console: Console, stage: LevelStage, steps: str | None, solver: str) -> None:
        """Write the file and show the animation, as asked for; ``steps`` is None if there is no solution.
        Raises KeyboardInterrupt if the user stops the animation; the file is written by then."""
        if self.output is not None and (steps is not None or self.output.suffix.lower() == ".svg"):
            write_file(self.output, stage, steps or "", self.fps or _DEFAULT_FPS, solver)
        if steps is not None and self.fps is not None:
            animate(console, stage, steps, self.fps)


SUFFIXES = (".svg", ".sok", ".lurd")
_DEFAULT_FPS = 8.0


def _check_suffix(path: Path) -> None:
    """Raise GdlError if the file's name has no known ending."""
    if path.suffix.lower() not in SUFFIXES:
        raise GdlError(
            f"{path} does not say what to write", remedy=f"let its name end in {', '.join(SUFFIXES)}"
        )


def write_file(
    path: Path, stage: LevelStage, steps: str = "", fps: float = _DEFAULT_FPS, solver: str = ""
) -> None:
    """Write a level and, if steps are given, its solution.

    Args:
        path: the file; its name ends in one of SUFFIXES. ``.svg`` moves if there are steps, otherwise it
            shows the start; ``.sok`` is level and solution as text; ``.lurd`` has the steps alone.
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
        case _:
            data = f"{steps}\n".encode()
    output_file.write_file(path, data)
