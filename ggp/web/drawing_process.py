"""The process that draws the states of one game, within limits of time and memory."""

from __future__ import annotations

import sys

from gdl.errors import GdlError
from gdl.machine import State
from gdl.syntax.parser import parse_terms
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.processes.parent import JsonMessage, Send
from ggp.processes.work_process import answer_orders

CPU_SECONDS = 120.0
"""Of one process, for all its drawings; another takes its place."""
MEMORY = 1024**3
MOST_STEPS = 500
"""Joint moves in one request."""


class Artist:
    """Draws states of one installed game."""

    def __init__(self, name: str) -> None:
        self._machine = Game.load(name).machine("prover")
        self._painter = SvgPainter.of_machine(self._machine, name)

    def draw(self, state: str, steps: list[str]) -> str:
        """The drawing after some joint moves, each a run of GDL terms, from a state, a run of propositions,
        or where that is empty from the first; what the last move changed is marked. Raises GdlError."""
        if len(steps) > MOST_STEPS:
            raise GdlError(f"more than {MOST_STEPS} joint moves", remedy="give a state further on")
        machine = self._machine
        at = machine.state_of(parse_terms(state, "state", "auto")) if state else machine.initial_state()
        before: State | None = None
        for step in steps:
            before, at = at, at.play(*parse_terms(step, "moves", "auto"))
        return self._painter.draw_state(at, before, alone=True)


def main() -> None:
    """Draw until the other end is gone."""
    artist: Artist | None = None

    def answer(order: JsonMessage, send: Send) -> dict[str, object]:
        nonlocal artist
        artist = artist or Artist(sys.argv[1])
        return {"svg": artist.draw(order["state"], order["steps"])}

    answer_orders(answer, "drawing", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
