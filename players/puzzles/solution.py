"""What came of a puzzle, and the proof of it: the line played move by move on the prover."""

from __future__ import annotations

from dataclasses import dataclass

from gdl.errors import GdlError
from gdl.machine import State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_term


@dataclass(frozen=True, slots=True)
class Solution:
    """What came of a puzzle.

    Attributes:
        value: the goal value of the line, 0..100; -1 where there is no line.
        moves: the line, as GDL.
        proven: whether no line has a higher value; with value -1, whether no line comes to an end.
        solver: the name of the solver that found it; empty where none has.
        states: how many states all solvers have looked at.
        seconds: CPU seconds of the search.
    """

    value: int
    moves: tuple[str, ...]
    proven: bool
    solver: str
    states: int
    seconds: float

    @property
    def rank(self) -> tuple[int, bool, int]:
        """What makes one solution of a game better than another: larger is better."""
        return self.value, self.proven, -len(self.moves)


def replayed(rules: Rules, solution: Solution) -> State:
    """The last state of a line, played move by move on the prover, which no solver has a part in.

    Raises:
        GdlError: the line is no line of these rules, or has another value. That is an error of a solver.
    """
    prover = ProverMachine(rules)
    state = prover.initial_state()
    for number, text in enumerate(solution.moves, 1):
        move = prover.move_id(0, parse_term(text))
        if prover.is_terminal(state) or move not in prover.legal_moves(state, 0):
            raise GdlError(f"{solution.solver}: move {number} of its line, {text}, is not legal by the rules")
        state = prover.next_state(state, [move])
    value = prover.result(state, 0) or 0
    if not prover.is_terminal(state) or value != solution.value:
        raise GdlError(f"{solution.solver}: its line ends with goal {value}, not with {solution.value}")
    return state
