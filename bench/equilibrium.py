"""How near does UCT come to the mixed equilibria of small games of two roles and constant sum?

    python -m bench.equilibrium rockpaperscissors PATH.kif --seconds 2
    python -m bench.equilibrium PATH.kif --plies 5 --positions 10

Equilibria come from backward induction; a state in which both roles choose is a matrix game, solved by the
simplex method in rational numbers with Bland's rule (Dantzig 1951, Bland 1977). Values are rounded to a
denominator of at most a million, so that the numbers do not grow from state to state.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from fractions import Fraction

from rich.console import Console
from rich.table import Table as Printed

from bench.positions import load_game, random_state
from bench.tree import grow
from gdl.machine import Machine, State
from gdl.terms import sort_key
from ggp.game import Game
from players.uct.root_statistics import RootStatistics, rank, strategy
from players.uct.search import Search
from players.uct.tuning import Tuning

Matrix = list[list[Fraction]]
_FINEST = 10**6


class TooManyStatesError(Exception):
    """The game has more states than were allowed."""


class NotConstantSumError(Exception):
    """The game has not two roles whose goals add up to 100."""


def matrix_value(table: Sequence[Sequence[Fraction]]) -> tuple[Fraction, list[Fraction]]:
    """The value of a matrix game, whose entries go to the row player, and what rows to play how often."""
    rows, columns = len(table), len(table[0])
    lift = 1 - min(min(row) for row in table)
    # The column player's programme: the largest sum of y >= 0 with (table + lift) y <= 1.
    tableau = [
        [Fraction(x) + lift for x in row] + [Fraction(int(i == k)) for k in range(rows)] + [Fraction(1)]
        for i, row in enumerate(table)
    ]
    bottom = [Fraction(-1)] * columns + [Fraction(0)] * (rows + 1)
    basis = list(range(columns, columns + rows))
    while (enter := next((j for j in range(columns + rows) if bottom[j] < 0), -1)) >= 0:
        limits = ((line[-1] / line[enter], basis[i], i) for i, line in enumerate(tableau) if line[enter] > 0)
        leave = min(limits)[2]
        pivot = [x / tableau[leave][enter] for x in tableau[leave]]
        tableau[leave], basis[leave] = pivot, enter
        for i in range(rows):
            if i != leave and tableau[i][enter]:
                tableau[i] = [x - tableau[i][enter] * p for x, p in zip(tableau[i], pivot, strict=True)]
        bottom = [x - bottom[enter] * p for x, p in zip(bottom, pivot, strict=True)]
    total = bottom[-1]
    return 1 / total - lift, [bottom[columns + i] / total for i in range(rows)]


class Equilibrium:
    """The values of a game's states to role 0.

    Args:
        machine: a game of two roles whose goals add up to 100.
        states: how many states may be looked at.
    """

    def __init__(self, machine: Machine, states: int = 100_000) -> None:
        self._machine = machine
        self._allowed = states
        self.values: dict[State, Fraction] = {}

    def value(self, state: State) -> Fraction:
        """What role 0 gets on average if both play as well as can be.

        Raises:
            TooManyStatesError: it takes more states than allowed.
            NotConstantSumError: an end's goals do not add up to 100.
        """
        if (known := self.values.get(state)) is not None:
            return known
        if len(self.values) >= self._allowed:
            raise TooManyStatesError
        if self._machine.is_terminal(state):
            mine, theirs = (self._machine.goal(state, role) for role in (0, 1))
            if mine is None or theirs is None or mine + theirs != 100:
                raise NotConstantSumError
            value = Fraction(mine)
        else:
            value = matrix_value(self.table(state))[0].limit_denominator(_FINEST)
        self.values[state] = value
        return value

    def table(self, state: State) -> Matrix:
        """The values after each joint move, a row for each move of role 0."""
        machine = self._machine
        rows, columns = (machine.legal_moves(state, role) for role in (0, 1))
        return [[self.value(machine.next_state(state, (i, j))) for j in columns] for i in rows]


def compare(
    machine: Machine, state: State, seconds: float, states: int
) -> tuple[float, float, tuple[float, float]]:
    """Of a state: the value to role 0, what UCT says it is, and how much of what it could be sure of each
    role's mixed strategy (by a search of its own) loses against the best answer to it. All 0..100.

    Raises:
        TooManyStatesError, NotConstantSumError: as above.
    """
    if len(machine.roles) != 2:
        raise NotConstantSumError
    equilibrium = Equilibrium(machine, states)
    value = equilibrium.value(state)
    table = equilibrium.table(state)
    first, second = (_searched(machine, state, role, seconds) for role in (0, 1))
    mine, theirs = ([float(p) for p in strategy(root, role)] for role, root in enumerate((first, second)))
    rows, columns = (_by_text(machine, state, role) for role in (0, 1))
    least = min(sum(p * float(table[i][j]) for p, i in zip(mine, rows, strict=True)) for j in columns)
    most = max(sum(p * float(table[i][j]) for p, j in zip(theirs, columns, strict=True)) for i in rows)
    return float(value), rank(first, 0).worth, (float(value) - least, most - float(value))


def _searched(machine: Machine, state: State, role: int, seconds: float) -> RootStatistics:
    """What a role's own search finds in so many CPU seconds."""
    search = Search(role, 1, Tuning())
    search.set_machine(machine)
    search.set_root(state)
    grow(search, seconds)
    return search.statistics()


def _by_text(machine: Machine, state: State, role: int) -> list[int]:
    """The places among a role's legal moves of these moves in the order of their text."""
    moves = machine.legal_moves(state, role)
    return sorted(range(len(moves)), key=lambda place: sort_key(machine.move(role, moves[place])))


def reached(machine: Machine, plies: int, seed: int) -> State:
    """A state that is not terminal, after so many random joint moves."""
    rng = random.Random(seed)
    while machine.is_terminal(state := random_state(machine, plies, rng)) and plies:
        pass
    return state


def main() -> None:
    """Read the arguments, print a row for each state."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("games", nargs="+", help="installed games or files")
    parser.add_argument("--seconds", type=float, default=2.0, help="of CPU time for the search of each role")
    parser.add_argument("--states", type=int, default=20_000, help="that a game may have")
    parser.add_argument("--plies", type=int, default=0, help="random joint moves before the state")
    parser.add_argument("--positions", type=int, default=1, help="so many states of each game")
    given = parser.parse_args()
    printed = Printed(
        "game", "seed", "value", "UCT says", "role 0 loses", "role 1 loses", box=None, header_style="bold"
    )
    for name in given.games:
        game = Game.load(name) if name.endswith(".kif") else load_game(name)
        machine = game.machine("propnet")
        for seed in range(given.positions):
            try:
                state = reached(machine, given.plies, seed)
                value, by_uct, losses = compare(machine, state, given.seconds, given.states)
            except TooManyStatesError:
                printed.add_row(game.name, str(seed), "too many states")
                continue
            except NotConstantSumError:
                printed.add_row(game.name, str(seed), "not of constant sum")
                break
            printed.add_row(game.name, str(seed), *(f"{x:.2f}" for x in (value, by_uct, *losses)))
    Console(highlight=False).print(printed)


if __name__ == "__main__":
    main()
