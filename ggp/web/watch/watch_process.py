"""The process that draws the states of a watched match, within limits of time and memory."""

from __future__ import annotations

from gdl.errors import GdlError
from gdl.machine import State
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules, parse_term
from ggp.boards.svg.picture import SvgPainter
from ggp.processes.parent import JsonMessage, Send
from ggp.processes.work_process import answer_orders

MEMORY = 2 * 1024**3
CPU_SECONDS = 3600.0
MOST_STEPS = 20_000


class WatchedGame:
    """One match. Raises GdlError if its rules cannot be played."""

    def __init__(self, rules: str) -> None:
        self.rules = rules
        self._machine = ProverMachine(parse_rules(rules, "match"))
        self._painter = SvgPainter.of_machine(self._machine)
        self._moves: list[list[str]] = []
        self._states: list[State] = [self._machine.initial_state()]

    def draw(self, moves: list[list[str]], step: int | None = None) -> dict[str, object]:
        """The state after these joint moves, or after the first ``step`` of them. Raises GdlError where one
        cannot be."""
        if len(moves) > MOST_STEPS:
            raise GdlError(f"more than {MOST_STEPS:,} steps")
        known = next((i for i, (a, b) in enumerate(zip(self._moves, moves, strict=False)) if a != b), None)
        if known is None:
            known = min(len(self._moves), len(moves))
        del self._moves[known:], self._states[known + 1 :]
        for joint in moves[known:]:
            self._states.append(self._states[-1].play(*(parse_term(str(move), "move") for move in joint)))
            self._moves.append(joint)
        at = len(moves) if step is None else max(0, min(step, len(moves)))
        machine, state = self._machine, self._states[at]
        before = self._states[at - 1] if at else None
        over = machine.is_terminal(state)
        spell = machine.rules.spell
        return {
            "svg": self._painter.draw_state(state, before),
            "facts": " ".join(map(spell, sorted(state.propositions))),
            "step": at,
            "roles": [spell(role) for role in machine.roles],
            "last": [spell(parse_term(str(move), "move")) for move in moves[at - 1]] if at else [],
            "over": over,
            "goals": [machine.goal(state, role) for role in range(len(machine.roles))] if over else [],
        }


def main() -> None:
    """Answer until the other end is gone."""
    game: WatchedGame | None = None

    def answer(order: JsonMessage, news: Send) -> dict[str, object]:
        nonlocal game
        if game is None or game.rules != order["rules"]:
            game = WatchedGame(order["rules"])
        moves = order["moves"]
        if not isinstance(moves, list) or not all(isinstance(joint, list) for joint in moves):
            raise GdlError("the moves are no list")
        return game.draw(moves, order.get("step"))

    answer_orders(answer, "drawing", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
