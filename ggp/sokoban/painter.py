"""States of a game that is Sokoban, drawn as a level where other games have a board."""

from __future__ import annotations

from gdl.machine import Machine, State
from ggp.boards.text import DrawnState, Painter
from ggp.sokoban.glyphs import LEGEND, around, cell, draw
from ggp.sokoban.machine_stage import MachineStage


class LevelPainter(Painter):
    """Draws the states of one game as players of Sokoban know them: two columns for each square, or where
    ``terminal`` is not set in XSB. ``unicode``: whether there are more characters than those of ASCII."""

    def __init__(self, machine: Machine, level: MachineStage, terminal: bool, unicode: bool) -> None:
        super().__init__(None, machine.rules, machine.roles)
        self.level = level
        self._terminal, self._unicode = terminal, unicode
        for kind, meaning in LEGEND:
            glyph, style = cell(kind, unicode)
            self.legend.append((glyph if terminal else kind, meaning, style if terminal else ""))

    def draw_state(self, state: State, width: int = 80, before: State | None = None) -> DrawnState:
        position, stage = self.level.position(state), self.level.stage
        if not self._terminal:
            return DrawnState(tuple(((line, ""),) for line in stage.text(position).split("\n")), ())
        frame = around(stage, position, (stage.height, max(3, width // 2)))
        return DrawnState(tuple(map(tuple, draw(stage, position, self._unicode, frame=frame))), ())
