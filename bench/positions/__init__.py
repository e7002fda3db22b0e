"""Positions whose best moves are proven, and other states that random moves lead to.

positions.jsonl has one position per line: ``game``, ``role`` to move, what is ``true``, its ``value`` for
that role, the ``best`` moves, the number of ``plies`` within which the value is forced, and the ``proof``:
``search`` (:mod:`bench.positions.solver`: exhaustive, all other moves are worse) or the work where it is
published.

connectfour.txt has one position of connect four per line, after 8 to 26 random moves: the columns of these
moves, the value for the role to move, and the columns of the best moves, all by an exact solver (alpha-beta
on bitboards, in C). Some move is worse in each. They are the game ``connectfour`` with ``exact`` as proof.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import orjson

from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term
from ggp.game import Game

BY_SEARCH, EXACT = "search", "exact"
LONGEST = 400
"""Joint moves that a proof may look ahead."""

_HERE = Path(__file__).parent
_COLUMNS, _DISCS = "abcdefg", ("red", "yellow")


@dataclass(frozen=True, slots=True)
class ProvenPosition:
    """One line of the file."""

    game: str
    role: str
    value: int
    plies: int
    best: tuple[str, ...]
    proof: str
    nodes: int
    true: tuple[str, ...]

    def on(self, machine: Machine) -> tuple[State, int]:
        """The state and the role to move, on a machine of its game."""
        state = machine.state_of(map(parse_term, self.true))
        return state, machine.role_id(parse_term(self.role))


def load() -> list[ProvenPosition]:
    """All positions of the files."""
    lines = map(orjson.loads, (_HERE / "positions.jsonl").read_bytes().splitlines())
    found = [ProvenPosition(**{**x, "best": tuple(x["best"]), "true": tuple(x["true"])}) for x in lines]
    return found + [_dropped(*line.split()) for line in (_HERE / "connectfour.txt").read_text().splitlines()]


def _dropped(columns: str, value: str, best: str) -> ProvenPosition:
    """A position of connect four after moves in these columns, numbered from 1; ``best`` are the columns of
    the best moves."""
    heights = dict.fromkeys(columns, 0)
    true = []
    for number, column in enumerate(columns):
        heights[column] += 1
        true.append(f"(cell {_COLUMNS[int(column) - 1]} {heights[column]} {_DISCS[number % 2]})")
    role = _DISCS[len(columns) % 2]
    moves = tuple(f"(drop {_COLUMNS[int(column) - 1]})" for column in best)
    return ProvenPosition("connectfour", role, int(value), 0, moves, EXACT, 0, (*true, f"(control {role})"))


def load_game(name: str) -> Game:
    """A game that comes along, or one that only the positions need."""
    own = _HERE / f"{name}.kif"
    return Game.load(own if own.is_file() else name)


def random_state(machine: Machine, plies: int, rng: random.Random) -> State:
    """The state after so many random joint moves, or where the match ends before."""
    state = machine.initial_state()
    for _ in range(plies):
        if machine.is_terminal(state):
            break
        options = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
        state = machine.next_state(state, [rng.choice(moves) for moves in options])
    return state


def open_states(machine: Machine, plies: int, count: int, seed: int) -> list[State]:
    """States after so many random joint moves in which the match goes on; fewer, if matches end before."""
    rng = random.Random(seed)
    states = (random_state(machine, plies, rng) for _ in range(100 * count))
    return list(islice((state for state in states if not machine.is_terminal(state)), count))
