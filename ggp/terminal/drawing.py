"""`PlainDrawing`: the states of one game as text, for code and notebooks."""

from __future__ import annotations

from gdl.machine import Machine, State
from ggp.boards.board import find_board
from ggp.boards.snakes import SnakesPainter, map_of_rules
from ggp.boards.text import Painter
from ggp.sokoban.machine_stage import LevelPainter, stage_of_machine


class PlainDrawing:
    """Draws the states of one game. The first state decides how, which takes up to a second."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._painter: Painter | None = None

    def __call__(self, state: State) -> str:
        """The drawing, lines from top to bottom, followed by the true propositions off the board."""
        if self._painter is None:
            self._painter = self._painter_of(state.machine)
        shown = self._painter.draw_state(state)
        parts = [shown.plain(), "\n".join(shown.beside)]
        return "\n".join(filter(None, parts))

    def _painter_of(self, machine: Machine) -> Painter:
        drawn = map_of_rules(machine.rules)
        if drawn is not None:
            return SnakesPainter(machine.rules, machine.roles, drawn, False, False)
        stage = stage_of_machine(machine, self._name)
        if stage is not None:
            return LevelPainter(machine, stage, False, False)
        return Painter(find_board(machine), machine.rules, machine.roles)
