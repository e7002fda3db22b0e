"""The process that solves one puzzle, reports its progress, and draws the states along a line of moves."""

from __future__ import annotations

from gdl.errors import GdlError
from ggp.answers.answer_process import solve_told
from ggp.answers.catalogue import load_source
from ggp.game import Game
from ggp.processes.parent import JsonMessage, Send, answer_requests
from ggp.web.drawing_process import DrawnLine

MEMORY = 3 * 1024**3
CPU_SECONDS = 3600.0
LONGEST = 100_000
"""Moves of a line."""


class PuzzleBench:
    """Answers requests about one puzzle at a time. The game and its drawings stay cached for the next one."""

    def __init__(self) -> None:
        self._key: tuple[str, str] | None = None
        self._game: Game | None = None
        self._line: DrawnLine | None = None

    def answer(self, request: JsonMessage, send: Send) -> dict[str, object]:
        """``draw`` or ``solve``. Raises GdlError."""
        key = request["game"], request["rules"]
        if self._game is None or key != self._key:
            self._key, self._game, self._line = key, load_source(request), None
        if request["do"] == "draw":
            moves, step = request["moves"], request["step"]
            if len(moves) > LONGEST or not 0 <= step <= len(moves):
                raise GdlError(f"there is no step {step}", remedy=f"0 to {len(moves)}")
            return {"svg": self._drawn(self._game).draw([[move] for move in moves], step)}
        answer = solve_told(self._game, request, send)
        moves = answer["moves"]
        assert isinstance(moves, list | tuple)
        lurd = answer["steps"] or _lurd(self._game, moves)
        # LURD describes a Sokoban solution completely, and the board of a large level takes long to find.
        words = [] if lurd else self._drawn(self._game).words(moves)
        return {**answer, "lurd": lurd, "words": words}

    def _drawn(self, game: Game) -> DrawnLine:
        if self._line is None:
            self._line = DrawnLine(game.machine("prover"), game.name)
        return self._line


def _lurd(game: Game, moves: object) -> str:
    """A Sokoban line in LURD notation, as solvers write it; empty for other games."""
    from ggp.sokoban.machine_stage import stage_of_machine, steps_of_moves

    assert isinstance(moves, list | tuple)
    try:
        machine = game.machine()
        stage = stage_of_machine(machine)
        return "" if stage is None else steps_of_moves(machine, stage, moves)
    except GdlError:  # too large for a network, so there is no level map
        return ""


def main() -> None:
    """Solve and draw until the other end is gone."""
    answer_requests(PuzzleBench().answer, "solver", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
