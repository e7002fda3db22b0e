"""The process that follows one live match on its rules and draws it, within limits of time and memory.

Its first order is ``open`` with the ``rules``. ``step`` makes a joint move and gives the drawing of the state
that it leads to, ``draw`` that of an earlier step.
"""

from __future__ import annotations

from typing import Any

from gdl.errors import GdlError
from gdl.machine import State
from gdl.syntax.parser import parse_term
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.processes.parent import Inbox, JsonMessage, Parent, explain
from players.processes.limits import limit_cpu, limit_memory

CPU_SECONDS = 600.0
MEMORY = 2 * 1024**3


class LiveScenes:
    """The states of a match, which may still go on. Raises GdlError where the rules cannot be used."""

    def __init__(self, rules: str, name: str) -> None:
        self._machine = Game(name or "match", rules).machine("prover")
        self._painter = SvgPainter.of_machine(self._machine, name)
        self._states: list[State] = [self._machine.initial_state()]

    def about(self) -> dict[str, Any]:
        """What the page shows of the rules."""
        return {"roles": list(map(self._machine.rules.spell, self._machine.roles))}

    def step(self, number: int, moves: list[str]) -> dict[str, Any]:
        """Make the joint move with this number, from 1; what came after it is forgotten. Raises GdlError
        where it cannot be made."""
        if not 1 <= number <= len(self._states):
            raise GdlError(f"step {number} was told before the one before it")
        machine, state = self._machine, self._states[number - 1]
        del self._states[number:]
        fault = GdlError(f"the moves of step {number} are not legal")
        if len(moves) != len(machine.roles) or machine.is_terminal(state):
            raise fault
        try:
            joint = [machine.move_id(role, parse_term(text, "move")) for role, text in enumerate(moves)]
        except GdlError:
            raise fault from None
        if any(move not in machine.legal_moves(state, role) for role, move in enumerate(joint)):
            raise fault
        self._states.append(machine.next_state(state, joint))
        return {"svg": self.draw(number), "moves": self._spelled(joint)}

    def draw(self, number: int) -> str:
        """The drawing of a step; what has changed is marked. Raises GdlError where there is none."""
        if not 0 <= number < len(self._states):
            raise GdlError(f"the match has no step {number} yet")
        return self._painter.draw_state(self._states[number], self._states[number - 1] if number else None)

    def _spelled(self, joint: list[int]) -> list[str]:
        machine = self._machine
        return [machine.rules.spell(machine.move(role, move)) for role, move in enumerate(joint)]


def main() -> None:
    """Answer until the other end is gone."""
    inbox = Inbox()
    parent = Parent(inbox.put)
    limit_memory(MEMORY)
    limit_cpu(CPU_SECONDS)
    scenes: LiveScenes | None = None
    while True:
        order: JsonMessage = inbox.get()
        try:
            if order["do"] == "open":
                scenes = LiveScenes(order["rules"], order["name"])
                parent.send("done", **scenes.about())
            elif scenes is None:
                raise GdlError("the match has not begun")
            elif order["do"] == "step":
                parent.send("done", **scenes.step(order["number"], order["moves"]))
            else:
                parent.send("done", svg=scenes.draw(order["number"]))
        except BrokenPipeError:
            return
        except Exception as error:
            parent.send("refused", error=explain(error, "drawing").replace("\n", " "))


if __name__ == "__main__":
    main()
