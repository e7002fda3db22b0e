"""Disks on pegs: a strip whose columns are disks and whose things are pegs, as towers that grow and
shrink."""

from __future__ import annotations

from collections.abc import Mapping

from gdl.rules import Rules
from ggp.boards.board import Grid
from ggp.boards.layers import Square, Thing
from ggp.boards.svg.layout import UNIT, BoardLayout, Label, Spot, SpotKind, hint_for_board, square_name
from ggp.boards.svg.markup import clipped

_GROWTH = 0.32
"""How much wider each disk is than the one above, in squares."""


def has_towers(board: Grid, rules: Rules) -> bool:
    """Whether a board is drawn as towers: it was seen to behave so, or a hint says it."""
    strip = len(board.layers) == 1 and board.layers[0].strip and len(board.panels) == 1
    if not strip or len(board.things) < 2:
        return False
    return bool(board.habits.towers) or hint_for_board(rules) == "towers"


def lay_out_towers(board: Grid, rules: Rules, on: Mapping[Square, list[Thing]]) -> BoardLayout:
    """Where the disks lie in a state; a disk that is on no peg lies on none."""
    disks = list(board.columns)
    if board.habits.towers < 0:
        disks.reverse()
    widest = (1.0 + _GROWTH * len(disks)) * UNIT
    pitch = widest + UNIT * 0.3
    high = (len(disks) + 0.6) * UNIT
    middles = {peg: (n + 0.5) * pitch for n, peg in enumerate(board.things)}
    count = dict.fromkeys(board.things, 0)
    spots: dict[Square, Spot] = {}
    for rank, disk in reversed(list(enumerate(disks))):
        square = (board.panels[0], disk, board.rows[0])
        pegs = [peg for peg in on.get(square, ()) if peg in middles]
        if square not in board.squares or not pegs:
            continue
        peg = pegs[0]
        y = high - (count[peg] + 0.5) * UNIT * 0.88
        count[peg] += 1
        key = f"0,{board.columns.index(disk)},0"
        wide = (1.0 + _GROWTH * rank) * UNIT
        name = square_name(rules, square)
        spots[square] = Spot(key, name, middles[peg], y, SpotKind.DISK, wide=wide)
    lines = [(x, UNIT * 0.2, x, high) for x in middles.values()]
    lines.append((0.0, high, pitch * len(middles), high))
    labels = [Label(x, high + 12, clipped(" ".join(map(rules.spell, peg)), 10)) for peg, x in middles.items()]
    ordered = {square: spots[square] for square in sorted(spots, key=lambda s: board.columns.index(s[1]))}
    return BoardLayout(pitch * len(middles), high + 22, ordered, tuple(lines), labels=tuple(labels))
