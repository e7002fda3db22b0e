"""Planes: states as an array (channels, rows, columns) of zeros and ones, from the board found in the rules.

A channel for each thing that may stand on a square of each board, and one, the same on all squares, for each
other
base proposition: whose turn it is, how many steps were made. What means an empty square has none. A game
    without
a board has a single square.
"""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from gdl.machine import Machine
from gdl.terms import Term
from ggp.boards.board import Grid, board_of
from propnet.machine import PropnetMachine

_STATES = 200
"""States of random play in which the board is looked for: a number, and no time, so that planes are the same
everywhere."""


class Planes:
    """How base propositions become planes.

    Attributes:
        shape: channels, rows, columns. Row 0 is the one that is drawn on top.
        names: what each channel says.
    """

    def __init__(self, machine: PropnetMachine) -> None:
        board = steady_board(machine)
        bases = machine.network.bases
        rows = {} if board is None else {row: i for i, row in enumerate(reversed(board.rows))}
        columns = {} if board is None else {column: i for i, column in enumerate(board.columns)}
        height, width = max(1, len(rows)), max(1, len(columns))
        channels: dict[str, int] = {}
        taken: set[tuple[str, int]] = set()
        on: list[tuple[int, str, int]] = []
        beside: list[int] = []
        for base, term in enumerate(bases):
            place = None if board is None else _place(board, term)
            if board is None or place is None:
                beside.append(base)
                continue
            (panel, column, row), thing = place
            if thing in board.blanks:
                continue
            if row not in rows or column not in columns:
                beside.append(base)
                continue
            name = " ".join(map(machine.rules.spell, (*panel, *thing)))
            cell = rows[row] * width + columns[column]
            while (name, cell) in taken:  # two propositions say the same of a square
                name += "'"
            taken.add((name, cell))
            channels.setdefault(name, len(channels))
            on.append((base, name, cell))
        self.names = (*channels, *(machine.rules.spell(bases[base]) for base in beside))
        self.shape = len(self.names), height, width
        self._on = np.array([base for base, _, _ in on], np.int64)
        self._cells = np.array([channels[name] * height * width + cell for _, name, cell in on], np.int64)
        self._beside = np.array(beside, np.int64)
        self._first = len(channels)

    def of_bits(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Planes, uint8 (n, channels, rows, columns), of states, 0 or 1, (n, bases)."""
        planes = np.zeros((len(bits), *self.shape), np.uint8)
        planes.reshape(len(bits), -1)[:, self._cells] = bits[:, self._on]
        planes[:, self._first :] = bits[:, self._beside, None, None]
        return planes


def _place(board: Grid, term: Term) -> tuple[tuple[tuple[Term, ...], Term, Term], tuple[Term, ...]] | None:
    """The square that a proposition is about and what it says of it; None for those beside the board."""
    layer = next((layer for layer in board.layers if layer.fits(term)), None)
    return None if layer is None else (layer.square(term), layer.thing(term))


def steady_board(machine: Machine) -> Grid | None:
    """The board that a fixed number of states of random play show: the same in every process; None if there
    is none."""
    rng = random.Random(1)
    state = machine.initial_state()
    states = [state.propositions]
    while len(states) < _STATES:
        options = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
        if machine.is_terminal(state) or not all(options):
            if len(states) == 1:
                break
            state = machine.initial_state()
            options = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
        state = machine.next_state(state, [rng.choice(moves) for moves in options])
        states.append(state.propositions)
    assert isinstance(machine, PropnetMachine)
    return board_of(machine.rules, machine.roles, states, set(machine.network.bases), True)
