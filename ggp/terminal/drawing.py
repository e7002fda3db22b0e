"""`PlainDrawing`: the states of one game as text, for code and notebooks."""

from __future__ import annotations

from gdl.machine import State
from ggp.boards.board import find_board
from ggp.boards.snakes import SnakesPainter, map_of_rules
from ggp.boards.text import Painter
from ggp.sokoban.machine_stage import LevelPainter, stage_of_machine


class PlainDrawing:
    """Draws the states of one game. The first state decides how, which takes up to a second."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._painter: object = None

    def __call__(self, state: State) -> str:
        """The drawing, lines from top to bottom, followed by the true propositions off the board."""
        machine = state.machine
        painter = self._painter
        if not isinstance(painter, Painter):
            drawn = map_of_rules(machine.rules)
            stage = None if drawn is not None else stage_of_machine(machine, self._name)
            if drawn is not None:
                painter = SnakesPainter(machine.rules, machine.roles, drawn, False, False)
            elif stage is not None:
                painter = LevelPainter(machine, stage, False, False)
            else:
                painter = Painter(find_board(machine), machine.rules, machine.roles)
            # A painter of Snakes shows changes since it last drew, so it draws one state only.
            self._painter = painter if drawn is None else None
        shown = painter.draw_state(state)
        parts = [shown.plain(), "\n".join(shown.beside)]
        return "\n".join(filter(None, parts))
