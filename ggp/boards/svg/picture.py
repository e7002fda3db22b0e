"""`SvgPainter`: states of one game as SVG and as JSON, with changes marked.

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
from dataclasses import dataclass, field
from typing import Any

from gdl.machine import Machine, State
from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.board import Grid, find_board
from ggp.boards.layers import Square, Thing
from ggp.boards.shapes import BoardShape
from ggp.boards.side_panel import TurnFinder, digit_chains, joined_digits
from ggp.boards.snakes import map_of_rules
from ggp.boards.svg.facts import FactBlock, draw_facts, draw_facts_below, fact_blocks
from ggp.boards.svg.layout import BoardLayout, lay_out, square_name
from ggp.boards.svg.looks import PieceLook, PieceShape, looks_of, role_classes
from ggp.boards.svg.markup import element, number, stylesheet, text_of
from ggp.boards.svg.overlay import NO_OVERLAY, BoardOverlay, draw_overlay, has_towers, lay_out_towers
from ggp.boards.svg.scenes import LevelScene, Scene, SnakesScene
from ggp.boards.svg.sprites import SquareStyle, draw_borders, draw_side, draw_square

_EDGE = 12.0
_WIDE = 2.2
"""Facts are drawn below boards whose width is more than this multiple of their height."""
_MOST_LINES = 12
_MOST_LINES_ALONE = 40
_LONGEST_TEXT = 2000
_UNKNOWN = PieceLook("?", PieceShape.TEXT, "gb-other0", "")


class SvgPainter:
    """Draws the states of one game.

    Args:
        board: the board, or None for games without a board: facts are listed by relation.
        name: name of the game, for the drawing's title.
    """

    def __init__(self, board: Grid | None, rules: Rules, roles: tuple[Term, ...], name: str = "") -> None:
        self.board = board
        self.rules = rules
        self.roles = roles
        self.name = name
        self.turns = TurnFinder(rules, roles)
        self._counters = digit_chains(rules)
        self._looks: dict[Thing, PieceLook] = {}
        self._layout: BoardLayout | None = None
        self._scene: Scene | None = None
        self._towers = board is not None and has_towers(board, rules)
        if board is not None:
            self._looks = looks_of(board, rules, roles)
            drawn = map_of_rules(rules)
            if drawn is None:
                self._scene = LevelScene.of_board(board, self._looks)
            else:
                self._scene = SnakesScene.of_map(drawn, board)
            self._layout = lay_out(board, rules, None if self._scene is None else self._scene.margin)

    @classmethod
    def of_machine(cls, machine: Machine, name: str = "") -> SvgPainter:
        """The painter of a machine's game."""
        return cls(find_board(machine), machine.rules, machine.roles, name)

    def draw_state(
        self,
        state: State,
        before: State | None = None,
        alone: bool = False,
        overlay: BoardOverlay = NO_OVERLAY,
        facts: bool = True,
    ) -> str:
        """A state's drawing, in the format of :meth:`draw`."""
        was = None if before is None else before.propositions
        return self.draw(state.propositions, was, alone=alone, facts=facts, overlay=overlay)

    def draw_board(
        self,
        state: State,
        before: State | None = None,
        alone: bool = False,
        overlay: BoardOverlay = NO_OVERLAY,
    ) -> str:
        """The drawing without the facts off the board; games without a board are drawn in full."""
        return self.draw_state(state, before, alone, overlay, facts=False)

    def draw(
        self,
        propositions: Iterable[Term],
        before: Iterable[Term] | None = None,
        *,
        alone: bool = False,
        facts: bool = True,
        overlay: BoardOverlay = NO_OVERLAY,
    ) -> str:
        """The true propositions as one ``<svg>`` element.

        Every square is a group of class ``gb-square`` with ``data-square="panel,column,row"``, by number from
        0, rows from the bottom. Text from the rules is escaped.

        Args:
            before: the propositions true before: squares and facts that have changed since are marked.
            alone: with the namespace's declaration and the stylesheet inside, for files and notebooks.
            facts: whether the facts off the board are drawn too, in panels on the right, or below wide
                boards. Games without a board always have them.
            overlay: rings and arrows over the board.
        """
        placed = self._sorted(propositions, before)
        height = _EDGE
        width = 2 * _EDGE
        parts: list[str] = []
        if placed.layout is not None:
            shift = f"translate({number(_EDGE)} {number(_EDGE)})"
            parts.append(element("g", *self._on_board(placed, overlay), transform=shift))
            width += placed.layout.width
            height += placed.layout.height
        blocks = self._blocks(placed)
        if blocks and (facts or self._layout is None):
            alone_here = self._layout is None
            lines = sum(min(len(block.rows), _MOST_LINES_ALONE) + 2 for block in blocks)
            room = max(200.0, 18 * math.sqrt(7 * lines)) if alone_here else max(160.0, height - _EDGE)
            most = _MOST_LINES_ALONE if alone_here else max(_MOST_LINES, int(room / 18) - 3)
            if not alone_here and width > _WIDE * height:
                # To the right of a row of squares, facts would take the width that the row needs.
                drawn, wide, high = draw_facts_below(blocks, _EDGE, height + _EDGE, width - 2 * _EDGE, most)
                width, height = max(width, wide + 2 * _EDGE), height + _EDGE + high
            else:
                left = width if not alone_here else _EDGE
                drawn, wide, high = draw_facts(blocks, left, _EDGE, room, most)
                width, height = left + wide + _EDGE, max(height, high + _EDGE)
            parts.append(drawn)
        height += _EDGE
        return self._whole(parts, width, height, self._spoken(placed.on, blocks), alone)

    def draw_over(self, overlay: BoardOverlay) -> str:
        """The overlay alone, to be put behind the squares of a drawing of this board; empty for games without
        a board."""
        spots = {} if self._layout is None else self._layout.spots
        return draw_overlay(overlay, {spot.key: spot for spot in spots.values()})

    def lines_beside(self, propositions: Iterable[Term]) -> list[str]:
        """The facts that :meth:`draw` shows next to the board, a line for each relation; empty for games
        without a board, whose drawing consists of these facts."""
        if self.board is None:
            return []
        blocks = self._blocks(self._sorted(propositions, None))
        return [f"{block.name} {', '.join(' '.join(row) for row in block.rows)}".strip() for block in blocks]

    def describe(self, propositions: Iterable[Term], before: Iterable[Term] | None = None) -> dict[str, Any]:
        """The data of the drawing, ready for JSON.

        ``shape``, ``width``, ``height``, and names of ``columns``, ``rows`` and ``panels`` describe the
        board. ``squares`` has for each square its ``square`` (as in the drawing), ``name``, middle ``x`` and
        ``y``, the ``things`` on it, and whether they have ``changed``. ``beside`` has the facts off the board
        as relations with their rows, counters as one number, without the one that shows the turn. ``turn`` is
        the role whose turn it is, null if the state names no role.
        """
        propositions = list(propositions)
        placed = self._sorted(propositions, before)
        blocks: list[dict[str, Any]] = [
            {"name": block.name, "rows": block.rows, "fresh": block.fresh}
            for block in self._facts_beside(placed)
        ]
        role = self.turns.role(propositions)
        turn = None if role is None else self.rules.spell(self.roles[role])
        if self.board is None or placed.layout is None:
            return {"shape": None, "squares": [], "beside": blocks, "turn": turn}
        spell = self.rules.spell
        squares = [
            {
                "square": spot.key,
                "name": spot.name,
                "x": round(spot.x + _EDGE, 2),
                "y": round(spot.y + _EDGE, 2),
                "things": [" ".join(map(spell, thing)) for thing in placed.on.get(square, ())],
                "changed": square in placed.changed,
            }
            for square, spot in placed.layout.spots.items()
        ]
        return {
            "shape": self.board.shape.value,
            "width": round(placed.layout.width + 2 * _EDGE, 2),
            "height": round(placed.layout.height + 2 * _EDGE, 2),
            "columns": list(map(spell, self.board.columns)),
            "rows": list(map(spell, self.board.rows)),
            "panels": [" ".join(map(spell, panel)) for panel in self.board.panels],
            "squares": squares,
            "beside": blocks,
            "turn": turn,
        }

    def legend(self) -> list[dict[str, str]]:
        """Each thing's sign, shape, class of colours and meaning."""
        return [
            {"sign": look.sign, "shape": look.shape.value, "colour": look.colour, "meaning": look.meaning}
            for look in self._looks.values()
        ]

    def colour(self, thing: Thing) -> str:
        """The class of colours in which a thing is drawn."""
        return self._look(thing).colour

    def _sorted(self, propositions: Iterable[Term], before: Iterable[Term] | None) -> _Placed:
        """The propositions sorted into those on the board and those off it."""
        now = sorted(propositions)
        then = None if before is None else sorted(before)
        if self.board is None or self._layout is None:
            return _Placed(now, {}, now, was=then)
        on, others = self._placed(self.board, now)
        layout = lay_out_towers(self.board, self.rules, on) if self._towers else self._layout
        if then is None:
            return _Placed(now, on, others, layout)
        old, was = self._placed(self.board, then)
        changed = {square for square in old.keys() | on.keys() if old.get(square) != on.get(square)}
        few = changed if 2 * len(changed) <= len(self._layout.spots) + 2 else set[Square]()
        return _Placed(now, on, others, layout, few, old, was)

    def _placed(self, board: Grid, propositions: list[Term]) -> tuple[dict[Square, list[Thing]], list[Term]]:
        """The things on squares that are drawn, and the remaining propositions."""
        assert self._layout is not None
        on: dict[Square, list[Thing]] = defaultdict(list)
        others: list[Term] = []
        drawn = self._layout.spots.keys() | (self._layout.joins or {}).keys()
        for term in propositions:
            layer = next((layer for layer in board.layers if layer.fits(term)), None)
            square = None if layer is None else layer.square(term)
            if layer is None or square not in drawn:
                others.append(term)
            elif layer.thing(term) not in board.blanks:
                on[square].append(layer.thing(term))
        return dict(on), others

    def _blocks(self, placed: _Placed) -> list[FactBlock]:
        """The text next to the board: whose turn it is, in words, and the facts that the drawing does not
        show."""
        role = self.turns.role(placed.propositions)
        turn = [] if role is None else [f"{self.rules.spell(self.roles[role])} to move"]
        return [FactBlock(line, ((),), (False,)) for line in turn] + self._facts_beside(placed)

    def _facts_beside(self, placed: _Placed) -> list[FactBlock]:
        """The facts that the drawing does not show, except for whose turn it is; the digits of counters
        become one number."""
        role = self.turns.role(placed.propositions)
        others = [
            term
            for term in placed.off_board
            if not (self._scene is not None and self._scene.shows(term))
            and not (role is not None and self.turns.tells(term))
        ]
        counters = joined_digits(self._counters, others)
        digits = {term for _, terms in counters for term in terms}
        rest = [term for term in others if term not in digits]
        counted = [FactBlock("count", ((str(value),),), (False,)) for value, _ in counters]
        return counted + fact_blocks(self.rules, rest, placed.was)

    def _on_board(self, placed: _Placed, overlay: BoardOverlay) -> list[str]:
        layout, on, changed = placed.layout, placed.on, placed.changed
        assert layout is not None and self.board is not None
        drawn: list[str] = []
        if self._scene is not None:
            drawn.append(self._scene.behind(layout, on, placed.propositions))
        drawn += [
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
        above: list[str] = []
        areas: dict[Square, str] = {}
        style = SquareStyle.PAPER if self._scene is None else SquareStyle.CLEAR
        # A scene shows changes without a frame.
        framed = changed if self._scene is None else set[Square]()
        for square, spot in layout.spots.items():
            if self._scene is not None and self._scene.far and square not in on:
                continue
            looks = [self._look(thing) for thing in (*on.get(square, ()), *self.board.fixed.get(square, ()))]
            above += [draw_side(look.sign, spot) for look in looks if look.shape is PieceShape.SIDE]
            looks = [look for look in looks if look.shape is not PieceShape.SIDE]
            if area := next((look for look in looks if look.shape is PieceShape.AREA), None):
                areas[square] = area.meaning
            pieces = None if self._scene is None else self._scene.pieces(square, layout, on, placed.old)
            drawn.append(draw_square(spot, looks, square in framed, style, pieces))
        classes = role_classes(self.roles)
        edges = [
            element("line", cls=f"gb-edge {classes[role]}", x1=x1, y1=y1, x2=x2, y2=y2)
            for x1, y1, x2, y2, role in layout.edges
        ]
        over = draw_overlay(overlay, {spot.key: spot for spot in layout.spots.values()})
        return [*drawn, draw_borders(layout, areas), *above, *edges, over]

    def _look(self, thing: Thing) -> PieceLook:
        return self._looks.get(thing) or PieceLook(
            "?", PieceShape.TEXT, _UNKNOWN.colour, " ".join(map(self.rules.spell, thing))
        )

    def _spoken(self, on: dict[Square, list[Thing]], blocks: list[FactBlock]) -> str:
        """The state in words."""
        phrases: list[str] = []
        if self.board is not None and self._layout is not None:
            kind = {BoardShape.STRAIGHT: "Board", BoardShape.RINGS: "Rings", BoardShape.DOTS: "Dots"}
            word = kind.get(self.board.shape, "Board of hexagons")
            phrases.append(f"{word}, {len(self.board.columns)} by {len(self.board.rows)}")
            for square, things in on.items():
                what = " and ".join(self._look(thing).meaning for thing in things)
                phrases.append(f"{what} on {square_name(self.rules, square)}")
                if len(phrases) > _LONGEST_TEXT // 8:
                    break
        phrases += [" ".join((block.name, *row)) for block in blocks for row in block.rows[:_MOST_LINES]]
        text = ". ".join(phrases)
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


@dataclass(frozen=True, slots=True)
class _Placed:
    """The propositions of a state and of the one before, on squares and off the board.

    Attributes:
        propositions: all true propositions, in order.
        on, off_board: the things on squares, and the propositions off the board.
        layout: layout of the board in this state.
        changed: the squares whose things have changed; empty if these are many.
        old, was: ``on`` and ``off_board`` of the state before.
    """

    propositions: list[Term]
    on: dict[Square, list[Thing]]
    off_board: list[Term]
    layout: BoardLayout | None = None
    changed: set[Square] = field(default_factory=set)
    old: dict[Square, list[Thing]] | None = None
    was: list[Term] | None = None


class SvgDrawing:
    """Draws the states of one game as SVG that includes its stylesheet; the first state shows the board."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._painter: SvgPainter | None = None

    def __call__(self, state: State) -> str:
        """The drawing."""
        if self._painter is None:
            self._painter = SvgPainter.of_machine(state.machine, self._name)
        return self._painter.draw_state(state, alone=True)
