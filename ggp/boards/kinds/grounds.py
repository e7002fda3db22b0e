"""The ground of a board, found in the rules and in some states: lines for stones that are laid, green for
discs that turn over, dark for riders that close the squares behind them; blocks, as in Sudoku."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from math import prod
from operator import eq

from gdl.machine import Machine
from gdl.terms import Term
from ggp.boards.layers import Square, Thing
from ggp.boards.piece_behaviour import PieceBehaviour
from ggp.boards.statics import Statics

_FEWEST_LINES = 7
"""Fewest columns and rows of a board of lines."""


def ground_of(
    machine: Machine, things: Sequence[Thing], squares: Collection[Square], behaviour: PieceBehaviour
) -> str:
    """``lines``, ``green`` or ``dark`` for the things and squares of a board; empty for other boards."""
    kinds, roles = set(things), len(machine.roles)
    trails = behaviour.trails & behaviour.stays
    riders = kinds - trails
    if roles > 1 and trails and riders == behaviour.moves and len(riders) == roles:
        return "dark"
    if len(behaviour.turns) == roles > 1 and kinds - behaviour.turns <= behaviour.stays - behaviour.comes:
        return "green"
    sides = [len({square[i] for square in squares}) for i in (1, 2)]
    stones = len(kinds) == roles == 2 and not (behaviour.first or kinds & behaviour.moves)
    crosses = {term.name for thing in things for term in thing} & {"x", "o"}
    if not stones or crosses or min(sides) < _FEWEST_LINES or sides[0] * sides[1] > len(squares):
        return ""
    # Stones that fall, or may not be laid everywhere, stand in squares.
    return "lines" if max(map(len, machine.options(machine.initial_state()))) >= len(squares) else ""


def blocks_of(
    statics: Statics, squares: Collection[Square], sides: Sequence[Sequence[Term]], alone: bool, sure: bool
) -> tuple[frozenset[Square], ...]:
    """Blocks that share out a board, as a relation of the rules names them before or behind column and row:
    of as many squares each, unless a role plays ``alone``. Those of a block touch, or have all rows of its
    columns if it is not ``sure`` which columns and rows touch; not all blocks are straight. Empty for other
    boards."""
    at: dict[Square, tuple[int, int]] = {
        ((), x, y): (i, j) for i, x in enumerate(sides[0]) for j, y in enumerate(sides[1])
    }
    for signature in statics.signatures((3, 4)):
        rows = statics.rows(signature, len(squares))
        for x in range(signature[1] - 1):
            blocks: dict[tuple[Term, ...], set[Square]] = defaultdict(set)
            for row in rows if len(rows) == len(squares) else ():
                blocks[row[:x] + row[x + 2 :]].add(((), row[x], row[x + 1]))
            sizes = {len(block) for block in blocks.values()}
            if not 1 < len(blocks) < len(squares) or set[Square]().union(*blocks.values()) != set(squares):
                continue
            places = [{at[square] for square in block} for block in blocks.values()]
            spans = [[len(set(side)) for side in zip(*block, strict=True)] for block in places]
            whole = all(map(_connected, places)) if sure else all(map(eq, map(prod, spans), map(len, places)))
            if max(map(min, spans)) > 1 and (alone or len(sizes) == 1) and whole:
                return tuple(frozenset(block) for _, block in sorted(blocks.items()))
    return ()


def _connected(places: set[tuple[int, int]]) -> bool:
    """Whether steps to neighbours lead from any place to all others."""
    rest = set(places)
    waiting = [rest.pop()]
    while waiting:
        x, y = waiting.pop()
        near = rest & {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)}
        rest -= near
        waiting += near
    return not rest
