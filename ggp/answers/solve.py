"""A puzzle is solved, and how that gets on is told as it goes."""

from __future__ import annotations

import time
from dataclasses import replace

from gdl.errors import GdlError
from ggp.game import Game
from ggp.processes.parent import JsonMessage, Send

SOLVER_MEMORY = 600 * 1024**2


def solve_told(game: Game, order: JsonMessage, send: Send) -> dict[str, object]:
    """Solve a game; news ``progress`` about five times a second, with the line whenever it is a better one.

    The answer is what ``ggp solve --json`` prints, its line replayed by the prover. Raises GdlError: it is no
    puzzle, or no solver recognises it.
    """
    from ggp.solving.team import Order, cpu_seconds, solve_together
    from ggp.solving.view import doubt_of
    from players.puzzles.solver import Solution, replayed

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
    last = replayed(game.rules, found) if found.value >= 0 else None
    return {
        "game": game.name,
        "value": found.value if found.value >= 0 else None,
        "moves": found.moves,
        "proven": found.proven,
        "solver": found.solver or None,
        "states": found.states,
        "doubt": doubt_of(game.rules, last),
        "seconds_cpu": round(found.seconds, 3),
        "seconds_wall": round(time.monotonic() - began, 3),
    }
