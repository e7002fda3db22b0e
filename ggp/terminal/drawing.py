"""The states of one game as text: the painter for it, and drawings for code and notebooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gdl.machine import Machine, State
from ggp.boards.board import find_board
from ggp.boards.snakes import SnakesPainter, map_of_rules
from ggp.boards.text import Painter
from propnet.capabilities import lane_machine

if TYPE_CHECKING:
    from ggp.sokoban.machine_stage import MachineStage


def painter_of(
    machine: Machine, name: str, *, colours: bool = False, unicode: bool = False
) -> tuple[Painter, MachineStage | None]:
    """A painter of the game's states, and the game as a Sokoban level if it is one."""
    drawn = map_of_rules(machine.rules)
    if drawn is not None:
        return SnakesPainter(machine.rules, machine.roles, drawn, colours, unicode), None
    if lane_machine(machine) is not None:
        # Imported here: a match on the prover begins without numba.
        from ggp.sokoban.machine_stage import LevelPainter, stage_of_machine

        stage = stage_of_machine(machine, name)
        if stage is not None:
            return LevelPainter(machine, stage, colours, unicode), stage
    return Painter(find_board(machine), machine.rules, machine.roles), None


def plain_drawing(machine: Machine, name: str) -> Callable[[State], str]:
    """Draws the states of one game for code and notebooks: lines from top to bottom, followed by the true
    propositions off the board."""
    painter, _ = painter_of(machine, name)

    def draw(state: State) -> str:
        shown = painter.draw_state(state)
        return "\n".join(filter(None, (shown.plain(), "\n".join(shown.beside))))

    return draw
