"""Tables of games; and what whole games are worth, by plain recursion without our networks or sorted sets."""

from __future__ import annotations

from pathlib import Path

from gdl.machine import Machine, State
from players.puzzles.frontier.outcome import SearchLimits
from players.strong.layers import solve_game
from players.strong.outcomes import SolvedGame
from players.strong.storage import TableWriter
from players.strong.tables import Tables
from tests.machines import network

PLAIN = SearchLimits(1 << 30, symmetry=False)


class Enough(BaseException):
    """As a signal would be."""


def table_of(text: str, folder: Path, options: SearchLimits = PLAIN) -> tuple[SolvedGame, Tables]:
    """A game's results, and its table in a folder."""
    writer = TableWriter(folder)
    solved = solve_game(network(text), options, writer)
    assert writer.size == sum(path.stat().st_size for path in folder.iterdir())
    return solved, Tables.open(folder)


Value = tuple[int, int]
"""Role 0's goal (role 1's makes 100 with it), and joint moves to the end: a role that gets more than 50 takes
the shortest way, one that gets less or as much the longest."""


def better(value: Value, role: int) -> tuple[int, int]:
    """What a role maximises."""
    own = value[0] if role == 0 else 100 - value[0]
    return own, -value[1] if own > 50 else value[1]


def values_of_machine(machine: Machine) -> dict[State, Value]:
    """All states of a game of two roles in turn, without cycles, by plain recursion."""
    known: dict[State, Value] = {}

    def visit(state: State) -> Value:
        if state not in known:
            if machine.is_terminal(state):
                goal = machine.result(state, 0)
                assert goal is not None
                known[state] = goal, 0
            else:
                options = [machine.legal_moves(state, role) for role in (0, 1)]
                role = int(len(options[1]) > 1)
                after = [machine.next_state(state, (a, b)) for a in options[0] for b in options[1]]
                goal, distance = max(map(visit, after), key=lambda value: better(value, role))
                known[state] = goal, distance + 1
        return known[state]

    visit(machine.initial_state())
    return known
