"""The process that solves one puzzle, tells how it gets on, and draws the states of lines."""

from __future__ import annotations

from gdl.errors import GdlError
from gdl.machine import State
from ggp.answers.answer_process import solve_told
from ggp.answers.source import load_source
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.processes.parent import JsonMessage, Send
from ggp.processes.work_process import answer_orders

MEMORY = 3 * 1024**3
CPU_SECONDS = 3600.0
LONGEST = 100_000
"""Moves of a line."""


class _Stage:
    """The states along a line, drawn on demand."""

    def __init__(self, game: Game) -> None:
        self.machine = game.machine("prover")
        self._painter = SvgPainter.of_machine(self.machine, game.name)
        self._moves: list[str] = []
        self._states: list[State] = [self.machine.initial_state()]

    def draw(self, moves: list[str], step: int) -> str:
        """The state after so many of these moves, what the last one changed marked. Raises GdlError."""
        if len(moves) > LONGEST or not 0 <= step <= len(moves):
            raise GdlError(f"there is no step {step}", remedy=f"0 to {len(moves)}")
        same = 0
        while same < min(len(moves), len(self._moves)) and moves[same] == self._moves[same]:
            same += 1
        del self._moves[same:], self._states[same + 1 :]
        while len(self._states) <= step:
            move = moves[len(self._moves)]
            self._states.append(self._states[-1].play(move))
            self._moves.append(move)
        return self._painter.draw_state(self._states[step], self._states[step - 1] if step else None)


class PuzzleBench:
    """Answers orders about one puzzle at a time, and keeps what it knows of the last one."""

    def __init__(self) -> None:
        self._known: tuple[str, str] | None = None
        self._game: Game | None = None
        self._stage: _Stage | None = None

    def answer(self, order: JsonMessage, send: Send) -> dict[str, object]:
        """``draw`` or ``solve``. Raises GdlError."""
        known = order["game"], order["rules"]
        if self._game is None or known != self._known:
            self._known, self._game, self._stage = known, load_source(order), None
        if order["do"] == "draw":
            if self._stage is None:
                self._stage = _Stage(self._game)
            return {"svg": self._stage.draw(order["moves"], order["step"])}
        return solve_told(self._game, order, send)


def main() -> None:
    """Solve and draw until the other end is gone."""
    answer_orders(PuzzleBench().answer, "solver", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
