"""The ground of a board, found in the rules and in some states: lines for stones that are laid, green for
discs that turn over, dark for riders that close the squares behind them; blocks, as in Sudoku."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

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


def blocks_of(statics: Statics, squares: Collection[Square]) -> tuple[frozenset[Square], ...]:
    """Blocks that share out a board of as many columns as rows, each with as many squares, as a relation of
    the rules names them beside columns and rows; empty for other boards."""
    side = len({x for _, x, _ in squares})
    for signature in statics.signatures((3,)) if side * side == len(squares) else ():
        rows = statics.rows(signature, len(squares))
        for name, x, y in ((0, 1, 2), (1, 0, 2), (2, 0, 1)):
            blocks: dict[Term, set[Square]] = defaultdict(set)
            for row in rows:
                blocks[row[name]].add(((), row[x], row[y]))
            straight = any(len({s[i] for s in block}) == 1 for block in blocks.values() for i in (1, 2))
            whole = set[Square]().union(*blocks.values()) == set(squares)
            if whole and not straight and {len(blocks), *map(len, blocks.values())} == {side}:
                return tuple(frozenset(block) for _, block in sorted(blocks.items()))
    return ()
