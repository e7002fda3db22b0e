"""The process that solves one puzzle, tells how it gets on, and draws the states of lines."""

from __future__ import annotations

import time
from dataclasses import replace

from gdl.errors import GdlError
from gdl.machine import State
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.processes.parent import JsonMessage, Send
from ggp.web.game_source import load_source
from ggp.web.work_process import answer_orders

MEMORY = 3 * 1024**3
SOLVER_MEMORY = 600 * 1024**2
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


def solve_told(game: Game, order: JsonMessage, send: Send) -> dict[str, object]:
    """Solve a game; news ``progress`` about five times a second, with the line whenever it is a better one.

    The answer is what ``ggp solve --json`` prints, its line replayed by the prover. Raises GdlError: it is no
    puzzle, or no solver recognises it.
    """
    from ggp.solving.team import Order, cpu_seconds, solve_together
    from players.puzzles.solution import Solution, replayed

    roles = [rule for rule in game.rules if rule.head.name == "role"]
    if len(roles) != 1:
        raise GdlError(f"this game has {len(roles)} roles, and only a puzzle of one role can be solved")
    began, cpu = time.monotonic(), cpu_seconds()
    best: Solution | None = None

    def tell(solution: Solution, at_work: list[str]) -> None:
        nonlocal best
        better = solution.value >= 0 and (best is None or solution.rank > best.rank)
        if better:
            best = solution
        news = {"moves": solution.moves} if better else {}
        send(
            "progress",
            seconds=round(time.monotonic() - began, 2),
            states=solution.states,
            value=solution.value if solution.value >= 0 else None,
            length=len(solution.moves),
            proven=solution.proven,
            at_work=at_work,
            **news,
        )

    work = Order(game.text, float(order["seconds"]), SOLVER_MEMORY, order["solver"] or None, 1, order["seed"])
    found = replace(solve_together(work, tell), seconds=cpu_seconds() - cpu)
    if found.value >= 0:
        replayed(game.rules, found)
    return {
        "game": game.name,
        "value": found.value if found.value >= 0 else None,
        "moves": found.moves,
        "proven": found.proven,
        "solver": found.solver or None,
        "states": found.states,
        "seconds_cpu": round(found.seconds, 3),
        "seconds_wall": round(time.monotonic() - began, 3),
    }


def main() -> None:
    """Solve and draw until the other end is gone."""
    answer_orders(PuzzleBench().answer, "solver", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
