"""Sides of a board that belong to a role, as in Hex: a chain of its stones between two opposite sides wins.

The rules are asked about states that we make: a whole row of one role's stones, the same with a gap, a whole
column. Names play no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gdl.errors import GdlError
from gdl.machine import Machine
from gdl.terms import Term
from ggp.boards.layers import Layer, Square
from ggp.boards.shapes import BoardShape

if TYPE_CHECKING:
    from ggp.boards.board import Grid

_FEWEST = 4
"""Columns and rows of a board on which a chain may have to go from side to side."""
_SHAPES = (BoardShape.STRAIGHT, BoardShape.RIGHT, BoardShape.LEFT)
_SIDES = (("left", "right"), ("bottom", "top"))


def edges_of(machine: Machine, board: Grid, possible: Iterable[Term]) -> dict[str, int]:
    """The role of each side, where the one role wins by a chain from left to right and the other by one from
    bottom to top; empty for other games.

    Args:
        possible: base propositions, those seen at least.
    """
    whole = len(board.squares) == len(board.columns) * len(board.rows)
    if len(machine.roles) != 2 or board.shape not in _SHAPES or not whole or len(board.panels) != 1:
        return {}
    if min(len(board.columns), len(board.rows)) < _FEWEST or board.fixed:
        return {}
    stones = [_stones(board, role, possible) for role in machine.roles]
    first = frozenset(machine.initial_state().propositions)
    if any(len(own) != len(board.squares) for own in stones) or any(own & first for own in stones):
        return {}
    try:
        winners = [
            [role for role, own in enumerate(stones) if _wins(machine, board, first, role, own, axis)]
            for axis in (0, 1)
        ]
    except GdlError:  # hostile rules, beyond the limits
        return {}
    if sorted(map(len, winners)) != [1, 1] or winners[0] == winners[1]:
        return {}
    return {side: winners[axis][0] for axis in (0, 1) for side in _SIDES[axis]}


def _stones(board: Grid, role: Term, possible: Iterable[Term]) -> frozenset[Term]:
    """The propositions that say that a stone of a role stands on a square."""
    layers = {(layer.name, layer.arity): layer for layer in board.layers if layer.x != layer.y}
    return frozenset(
        term
        for term in possible
        if term.signature in layers and layers[term.signature].thing(term) == (role,)
    )


def _wins(
    machine: Machine, board: Grid, first: frozenset[Term], role: int, own: frozenset[Term], axis: int
) -> bool:
    """Whether a chain of stones across the board wins for a role, and needs all of its stones."""
    layers = {(layer.name, layer.arity): layer for layer in board.layers}
    at: dict[Square, Term] = {layers[term.signature].square(term): term for term in own}
    middle = board.columns[len(board.columns) // 2], board.rows[len(board.rows) // 2]
    panel = board.panels[0]
    chain: list[Square] = (
        [(panel, x, middle[1]) for x in board.columns]
        if axis == 0
        else [(panel, middle[0], y) for y in board.rows]
    )
    broken = [chain[:-1], chain[1:], chain[:2] + chain[3:]]
    return _won(machine, first, role, [at[square] for square in chain], layers) and not any(
        _won(machine, first, role, [at[square] for square in part], layers) for part in broken
    )


def _won(
    machine: Machine,
    first: frozenset[Term],
    role: int,
    stones: Sequence[Term],
    layers: dict[tuple[str, int], Layer],
) -> bool:
    taken = {layers[term.signature].square(term) for term in stones}
    rest = (
        term
        for term in first
        if term.signature not in layers or layers[term.signature].square(term) not in taken
    )
    state = machine.state_of([*rest, *stones])
    return machine.is_terminal(state) and machine.goal(state, role) == 100
