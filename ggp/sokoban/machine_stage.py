"""`MachineStage`: a game whose rules turn out to be Sokoban, as a level that can be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term
from ggp.sokoban.stage import LevelStage
from ggp.sokoban.upright import upright
from players.puzzles.sokoban.geometry import Position
from players.puzzles.sokoban.lines import LETTERS, steps_of
from players.puzzles.sokoban.recognition.recognise import Recognised, recognise
from propnet.capabilities import lane_machine


@dataclass(frozen=True, slots=True, eq=False)
class MachineStage:
    """A recognised game as it is drawn.

    Attributes:
        stage: its level, in its initial state.
        game: how its states are read.
    """

    stage: LevelStage
    game: Recognised

    def position(self, state: State) -> Position:
        """Where everything stands in a state."""
        return self.game.position(state)

    def steps(self, positions: Iterable[Position]) -> str:
        """The steps that lead from each of these positions to the next, as LURD. Moves that change nothing
        are left out; a move that is a push is preceded by a shortest walk to it.

        Raises:
            GdlError: no push leads from one to the next.
        """
        geometry = self.stage.geometry
        neighbours: list[list[int]] = geometry.neighbours.tolist()
        letters: list[str] = []
        before: Position | None = None
        for position in positions:
            if before is not None and before.boxes != position.boxes:
                left = set(before.boxes) - set(position.boxes)
                entered = set(position.boxes) - set(before.boxes)
                if len(left) != 1 or len(entered) != 1:
                    raise GdlError("these positions do not follow each other")
                box = left.pop()
                letters.append(steps_of(geometry, before, [(box, neighbours[box].index(entered.pop()))]))
            elif before is not None and before.keeper != position.keeper:
                letters.append(LETTERS[neighbours[before.keeper].index(position.keeper)])
            before = position
        return "".join(letters)


def stage_of_machine(machine: Machine, title: str = "") -> MachineStage | None:
    """The stage of a machine's game; None if it is not Sokoban, no flat map shows it, or
    the machine has no network."""
    lanes = lane_machine(machine)
    game = None if lanes is None or len(machine.roles) != 1 else recognise(lanes)
    if game is None:
        return None
    geometry = upright(game, machine)
    if geometry is None:
        return None
    start = game.position(machine.initial_state())
    return MachineStage(LevelStage.of_geometry(geometry, start, title), game)


def steps_of_moves(machine: Machine, stage: MachineStage, moves: Sequence[str]) -> str:
    """The steps that moves of the game, as GDL from the initial state on, come to."""
    states = [machine.initial_state()]
    for move in moves:
        states.append(machine.next_state(states[-1], [machine.move_id(0, parse_term(move))]))
    return stage.steps(map(stage.position, states))


def not_sokoban(name: str) -> GdlError:
    """The error for a game that has no level to be drawn."""
    return GdlError(
        f"{name} is not Sokoban, or its rules do not tell the map",
        remedy="name a level (FILE.xsb:N), or a game that is one",
    )
