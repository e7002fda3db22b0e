"""`SvgPainter`: states of one game as SVG and as JSON, with what has changed marked.

>>> from ggp.game import Game
>>> machine = Game.load("tictactoe").machine("prover")
>>> painter = SvgPainter.of_machine(machine, "tictactoe")
>>> painter.draw(machine.initial_state().propositions).count('class="gb-square"')
9
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from gdl.machine import Machine, State
from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.board import Grid, find_board
from ggp.boards.layers import Square, Thing
from ggp.boards.shapes import BoardShape
from ggp.boards.svg.facts import FactBlock, draw_facts, fact_blocks
from ggp.boards.svg.layout import UNIT, BoardLayout, Spot, SpotKind, lay_out, square_name
from ggp.boards.svg.looks import PieceLook, PieceShape, draw_ground, draw_side, draw_things, looks_of
from ggp.boards.svg.markup import element, number, points, stylesheet, text_of

_EDGE = 12.0
_MOST_LINES = 12
_MOST_LINES_ALONE = 40
_LONGEST_TEXT = 2000
_UNKNOWN = PieceLook("?", PieceShape.TEXT, "gb-other0", "")


class SvgPainter:
    """Draws the states of one game.

    Args:
        board: the board, or None for games without: facts are listed by relation.
        name: of the game, for the drawing's title.
    """

    def __init__(self, board: Grid | None, rules: Rules, roles: tuple[Term, ...], name: str = "") -> None:
        self.board = board
        self.rules = rules
        self.roles = roles
        self.name = name
        self._looks: dict[Thing, PieceLook] = {}
        self._layout: BoardLayout | None = None
        if board is not None:
            self._looks = looks_of(board, rules, roles)
            self._layout = lay_out(board, rules)

    @classmethod
    def of_machine(cls, machine: Machine, name: str = "", seconds: float = 0.3) -> SvgPainter:
        """The painter of a machine's game; random play for so many seconds finds its board."""
        return cls(find_board(machine, seconds), machine.rules, machine.roles, name)

    def draw_state(self, state: State, before: State | None = None, alone: bool = False) -> str:
        """A state's drawing, as :meth:`draw` makes it."""
        was = None if before is None else before.propositions
        return self.draw(state.propositions, was, alone=alone)

    def draw_board(self, state: State, before: State | None = None, alone: bool = False) -> str:
        """The same without what stands beside the board; games without a board have all drawn."""
        if self.board is None:
            return self.draw_state(state, before, alone)
        on, was = (
            None if one is None else one.propositions.difference(self.board.place(one.propositions)[1])
            for one in (state, before)
        )
        return self.draw(on or (), was, alone=alone)

    def draw(
        self, propositions: Iterable[Term], before: Iterable[Term] | None = None, *, alone: bool = False
    ) -> str:
        """The propositions that are true, as one ``<svg>`` element.

        Every square is a group of class ``gb-square`` with ``data-square="panel,column,row"``, by number from
        0, rows from the bottom. Text from the rules is escaped.

        Args:
            before: what was true before: squares and facts that have changed since are marked.
            alone: with the namespace's declaration and the stylesheet inside, for files and notebooks.
        """
        on, beside, changed, was = self._sorted(propositions, before)
        height = _EDGE
        width = 2 * _EDGE
        parts: list[str] = []
        if self._layout is not None:
            layout = self._layout
            shift = f"translate({number(_EDGE)} {number(_EDGE)})"
            parts.append(element("g", *self._on_board(layout, on, changed), transform=shift))
            width += layout.width
            height += layout.height
        blocks = fact_blocks(self.rules, beside, was)
        if blocks:
            alone_here = self._layout is None
            lines = sum(min(len(block.rows), _MOST_LINES_ALONE) + 2 for block in blocks)
            room = max(200.0, 18 * math.sqrt(7 * lines)) if alone_here else max(160.0, height - _EDGE)
            left = width if not alone_here else _EDGE
            most = _MOST_LINES_ALONE if alone_here else max(_MOST_LINES, int(room / 18) - 3)
            drawn, wide, high = draw_facts(blocks, left, _EDGE, room, most)
            parts.append(drawn)
            width, height = left + wide + _EDGE, max(height, high + _EDGE)
        height += _EDGE
        return self._whole(parts, width, height, self._spoken(on, blocks), alone)

    def describe(self, propositions: Iterable[Term], before: Iterable[Term] | None = None) -> dict[str, Any]:
        """The same as JSON has it: ``shape``, ``width``, ``height``, names of ``columns``, ``rows`` and
        ``panels``; ``squares``, each with its ``square`` (as in the drawing), ``name``, middle ``x`` and
        ``y``, what stands there (``things``), and whether that has ``changed``; ``beside``: relations with
        their rows.
        """
        on, beside, changed, was = self._sorted(propositions, before)
        blocks = [
            {"name": block.name, "rows": block.rows, "fresh": block.fresh}
            for block in fact_blocks(self.rules, beside, was)
        ]
        if self.board is None or self._layout is None:
            return {"shape": None, "squares": [], "beside": blocks}
        spell = self.rules.spell
        squares = [
            {
                "square": spot.key,
                "name": spot.name,
                "x": round(spot.x + _EDGE, 2),
                "y": round(spot.y + _EDGE, 2),
                "things": [" ".join(map(spell, thing)) for thing in on.get(square, ())],
                "changed": square in changed,
            }
            for square, spot in self._layout.spots.items()
        ]
        return {
            "shape": self.board.shape.value,
            "width": round(self._layout.width + 2 * _EDGE, 2),
            "height": round(self._layout.height + 2 * _EDGE, 2),
            "columns": list(map(spell, self.board.columns)),
            "rows": list(map(spell, self.board.rows)),
            "panels": [" ".join(map(spell, panel)) for panel in self.board.panels],
            "squares": squares,
            "beside": blocks,
        }

    def legend(self) -> list[dict[str, str]]:
        """Each thing's sign, shape, class of colours and meaning."""
        return [
            {"sign": look.sign, "shape": look.shape.value, "colour": look.colour, "meaning": look.meaning}
            for look in self._looks.values()
        ]

    def _sorted(
        self, propositions: Iterable[Term], before: Iterable[Term] | None
    ) -> tuple[dict[Square, list[Thing]], list[Term], set[Square], list[Term] | None]:
        """What stands where, what stands nowhere, the squares that have changed, and what stood nowhere."""
        if self.board is None or self._layout is None:
            return {}, list(propositions), set(), None if before is None else list(before)
        on, beside = self._placed(self.board, propositions)
        if before is None:
            return on, beside, set(), None
        old, was = self._placed(self.board, before)
        changed = {square for square in old.keys() | on.keys() if old.get(square) != on.get(square)}
        return on, beside, changed if 2 * len(changed) <= len(self._layout.spots) + 2 else set(), was

    def _placed(
        self, board: Grid, propositions: Iterable[Term]
    ) -> tuple[dict[Square, list[Thing]], list[Term]]:
        """What stands on squares that are drawn; the rest stands beside the board."""
        assert self._layout is not None
        on: dict[Square, list[Thing]] = defaultdict(list)
        beside: list[Term] = []
        drawn = self._layout.spots.keys() | (self._layout.joins or {}).keys()
        for term in sorted(propositions):
            layer = next((layer for layer in board.layers if layer.fits(term)), None)
            square = None if layer is None else layer.square(term)
            if layer is None or square not in drawn:
                beside.append(term)
            elif layer.thing(term) not in board.blanks:
                on[square].append(layer.thing(term))
        return dict(on), beside

    def _on_board(
        self, layout: BoardLayout, on: dict[Square, list[Thing]], changed: set[Square]
    ) -> list[str]:
        drawn = [
            element("line", cls="gb-line", x1=x1, y1=y1, x2=x2, y2=y2) for x1, y1, x2, y2 in layout.lines
        ]
        drawn += [
            element(
                "text",
                text_of(label.text),
                cls="gb-title" if label.title else "gb-axis",
                x=label.x,
                y=label.y,
            )
            for label in layout.labels
        ]
        for square, (x1, y1, x2, y2) in (layout.joins or {}).items():
            if square in on:
                cls = "gb-join gb-new" if square in changed else "gb-join"
                drawn.append(element("line", cls=cls, x1=x1, y1=y1, x2=x2, y2=y2))
        sides: list[str] = []
        for square, spot in layout.spots.items():
            things = [self._look(thing) for thing in on.get(square, ())]
            sides += [draw_side(look.sign, spot) for look in things if look.shape is PieceShape.SIDE]
            fixed = [self._look(thing) for thing in (self.board.fixed.get(square, ()) if self.board else ())]
            sides += [draw_side(look.sign, spot) for look in fixed if look.shape is PieceShape.SIDE]
            things = [look for look in things if look.shape is not PieceShape.SIDE]
            fixed = [look for look in fixed if look.shape is not PieceShape.SIDE]
            fixed += [look for look in things if look.shape is PieceShape.GROUND]
            things = [look for look in things if look.shape is not PieceShape.GROUND]
            drawn.append(_square(spot, things, fixed, square in changed))
        return drawn + sides

    def _look(self, thing: Thing) -> PieceLook:
        return self._looks.get(thing) or PieceLook(
            "?", PieceShape.TEXT, _UNKNOWN.colour, " ".join(map(self.rules.spell, thing))
        )

    def _spoken(self, on: dict[Square, list[Thing]], blocks: list[FactBlock]) -> str:
        """The state in words."""
        spell = self.rules.spell
        said: list[str] = []
        if self.board is not None and self._layout is not None:
            kind = {BoardShape.STRAIGHT: "Board", BoardShape.RINGS: "Rings", BoardShape.DOTS: "Dots"}
            word = kind.get(self.board.shape, "Board of hexagons")
            said.append(f"{word}, {len(self.board.columns)} by {len(self.board.rows)}")
            for square, things in on.items():
                what = " and ".join(" ".join(map(spell, thing)) for thing in things)
                said.append(f"{what} on {square_name(self.rules, square)}")
                if len(said) > _LONGEST_TEXT // 8:
                    break
        said += [" ".join((block.name, *row)) for block in blocks for row in block.rows[:_MOST_LINES]]
        text = ". ".join(said)
        return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"

    def _whole(self, parts: list[str], width: float, height: float, spoken: str, alone: bool) -> str:
        title = f"{self.name}: a state" if self.name else "A state"
        head = [element("title", text_of(title)), element("desc", text_of(spoken or "Nothing is true."))]
        if alone:
            head.append(f"<style>{stylesheet()}</style>")
        head.append(element("rect", cls="gb-ground", width=width, height=height, rx=8))
        return element(
            "svg",
            *head,
            *parts,
            xmlns="http://www.w3.org/2000/svg",
            cls="gb",
            role="img",
            aria_label=title,
            viewBox=f"0 0 {number(width)} {number(height)}",
            width=width,
            height=height,
        )


def _square(spot: Spot, things: list[PieceLook], fixed: list[PieceLook], changed: bool) -> str:
    """A square with what stands on it."""
    half = UNIT / 2
    cls = "gb-cell gb-dark" if spot.dark else "gb-cell"
    match spot.kind:
        case SpotKind.HEXAGON:
            side = UNIT / math.sqrt(3)
            corners = [
                (spot.x + side * math.sin(i * math.pi / 3), spot.y + side * math.cos(i * math.pi / 3))
                for i in range(6)
            ]
            ground = [element("polygon", cls=cls, points=points(corners))]
        case SpotKind.POINT:
            ground = [element("circle", cls="gb-point", cx=spot.x, cy=spot.y, r=5)]
            # A finger needs more than a point.
            ground.append(element("circle", cls="gb-reach", cx=spot.x, cy=spot.y, r=half * 0.8))
        case SpotKind.BOX:
            ground = [
                element("rect", cls="gb-reach", x=spot.x - half, y=spot.y - half, width=UNIT, height=UNIT)
            ]
        case _:
            ground = [element("rect", cls=cls, x=spot.x - half, y=spot.y - half, width=UNIT, height=UNIT)]
    if fixed:
        ground.append(draw_ground(fixed, spot.x, spot.y))
    if changed:
        ground.append(
            element(
                "rect",
                cls="gb-new",
                x=spot.x - half + 1.5,
                y=spot.y - half + 1.5,
                width=UNIT - 3,
                height=UNIT - 3,
                rx=3,
            )
            if spot.kind is not SpotKind.HEXAGON
            else element("circle", cls="gb-new", cx=spot.x, cy=spot.y, r=half - 2)
        )
    meanings = ", ".join(look.meaning for look in (*things, *fixed))
    title = element("title", text_of(f"{spot.name}: {meanings}" if meanings else spot.name))
    room = 0.86 if spot.kind is SpotKind.HEXAGON else 1.0
    piece = draw_things(things, spot.x, spot.y, room)
    return element("g", title, *ground, piece, cls="gb-square", data_square=spot.key)
