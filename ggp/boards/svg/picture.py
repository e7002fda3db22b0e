"""`SvgPainter`: states of one game as SVG and as JSON, with changes marked.

>>> from ggp.game import Game
>>> machine = Game.load("tictactoe").machine("prover")
>>> painter = SvgPainter.of_machine(machine, "tictactoe")
>>> painter.draw(machine.initial_state().propositions).count('class="gb-square"')
9

A board has squares, or a picture of its own, chosen in `_picture_of`. Pictures of levels lie behind squares.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from gdl.information import playing
from gdl.machine import Machine, State
from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.board import Grid, find_board
from ggp.boards.layers import Square, Thing, amount
from ggp.boards.looks import PieceLook, PieceShape, link_look, looks_of, owners_on, role_classes, square_looks
from ggp.boards.race import Race
from ggp.boards.scene import Onlooker, Scene, SceneFinder
from ggp.boards.shapes import BoardShape
from ggp.boards.snakes import map_of_rules
from ggp.boards.spoken.notations import square_numbers
from ggp.boards.svg.facts import FactBlock, draw_facts, draw_facts_below, fact_blocks
from ggp.boards.svg.layout import (
    UNIT,
    BoardLayout,
    SpotKind,
    has_towers,
    lay_out,
    lay_out_towers,
    square_name,
)
from ggp.boards.svg.level_pictures import LevelPicture, SnakesPicture, SokobanPicture
from ggp.boards.svg.markup import circle, element, line, number, stylesheet, text_of, title, words
from ggp.boards.svg.overlay import NO_OVERLAY, BoardOverlay, draw_overlay
from ggp.boards.svg.pegs import PegsPicture
from ggp.boards.svg.pits import PitsPicture
from ggp.boards.svg.race import RacePicture
from ggp.boards.svg.rows import RowPicture
from ggp.boards.svg.seas import SeasPicture
from ggp.boards.svg.sprites import draw_borders, draw_lines, draw_link, draw_side, draw_square
from ggp.boards.svg.table import DrawnTable, TablePicture
from ggp.boards.svg.whole import WholePicture

_EDGE = 12.0
_WIDE = 2.2
"""Facts are drawn below boards whose width is more than this multiple of their height."""
_MOST_LINES = 12
_MOST_LINES_ALONE = 40
_LONGEST_TEXT, _MOST_LINKS = 2000, 50_000


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
        self._looks: dict[Thing, PieceLook] = {}
        self._marks: dict[Square, PieceLook] = {}
        self._layout: BoardLayout | None = None
        self._level: LevelPicture | None = None
        self._picture: WholePicture | None = None
        self._towers = board is not None and has_towers(board, rules)
        squares = None
        if board is not None:
            self._looks = looks_of(board, rules, roles)
            self._marks = square_looks(board, rules)
            self._picture = _picture_of(board, rules, self._looks, self._look)
            if self._picture is not None:
                self._layout, squares = self._picture.layout, self._picture.squares
            else:
                self._level = _level_of(board, rules, self._looks)
                margin = None if self._level is None else self._level.margin
                self._layout = lay_out(board, rules, margin, square_numbers(board, rules, roles))
                squares = self._layout.spots.keys()
        self._finder = SceneFinder(board, rules, roles, squares)
        self._link = lru_cache(_MOST_LINKS)(self._find_link)
        self._table = TablePicture(rules, roles, self._finder.turns, self._on_picture)

    @property
    def quiet(self) -> bool:
        """Whether likelihoods are shown on request only, as for pegs and seas."""
        return any(one is not None and one.quiet for one in (self._picture, self._level))

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
        by: Onlooker = Onlooker(),
    ) -> str:
        """A state's drawing, in the format of :meth:`draw`."""
        was = None if before is None else before.propositions
        return self.draw(state.propositions, was, alone=alone, facts=facts, overlay=overlay, by=by)

    def draw(
        self,
        propositions: Iterable[Term],
        before: Iterable[Term] | None = None,
        *,
        alone: bool = False,
        facts: bool = True,
        overlay: BoardOverlay = NO_OVERLAY,
        by: Onlooker = Onlooker(),
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
            by: for whom it is drawn.
        """
        scene = self._finder.scene(propositions, before, by)
        layout = self._placed(scene)
        table = self._around(scene, layout)
        height = _EDGE
        width = 2 * _EDGE + table.width
        parts = [_shifted(table.above, _EDGE, _EDGE)] if table.above else []
        height += table.high
        if layout is not None:
            on_board = "".join(self._on_board(scene, layout, overlay))
            bars = any(look.shape is PieceShape.CHOCOLATE for look in self._looks.values())
            attributes = {"data_turn": layout.turn} if self.turns else {}
            if bars or layout.ground:
                attributes["cls"] = f"gb-on{'bars' if bars else layout.ground}"
            parts.append(_shifted(on_board, _EDGE + (table.width - layout.width) / 2, height, **attributes))
            height += layout.height
        if table.below:
            parts.append(_shifted(table.below, _EDGE, height))
            height += table.deep
        blocks = self._blocks(scene)
        if blocks and (facts or self._layout is None):
            alone_here = self._layout is None and not self._table.used
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
        spoken = self._spoken(scene, blocks, table.spoken)
        return self._whole(parts, width, height, spoken, alone)

    @property
    def turns(self) -> bool:
        """Whether drawings can be turned for who sits at their top."""
        return bool(self._layout and self._layout.turn) and not self._towers and len(playing(self.roles)) != 1

    def turned(self, propositions: Iterable[Term]) -> list[bool]:
        """For each role, whether the board turns for it, since its things lie in the upper half of this first
        state. In races and at pits the second role sits there."""
        if self._picture is not None:
            return [self.turns and role in playing(self.roles)[1:2] for role in range(len(self.roles))]
        heights: dict[int, list[float]] = {}
        if self.board is not None and self._layout is not None and self.turns:
            owners = owners_on(self.board, self.rules, self.roles)
            middle = self._layout.middle[1]
            for square, things in self._finder.scene(propositions).on.items():
                for thing in things if square in self._layout.spots else ():
                    height = middle - self._layout.spots[square].y
                    heights.setdefault(owners.get(thing, -1), []).append(height)
        return [sum(own := heights.get(role, [0.0])) > UNIT * len(own) for role in range(len(self.roles))]

    def draw_over(self, overlay: BoardOverlay, layout: BoardLayout | None = None) -> str:
        """The overlay alone, to be put behind the squares of a drawing of this board, or behind its signs;
        empty for games without either and for codes of pegs."""
        layout = layout or self._layout
        spots = self._table.choices if layout is None else layout.spots.values()
        rings = self._picture is None or not self._picture.quiet
        return draw_overlay(overlay, {spot.key: spot for spot in spots} if rings else {})

    def lines_beside(self, propositions: Iterable[Term]) -> list[str]:
        """The facts that :meth:`draw` shows next to the board, a line for each relation; empty for games
        without a board, whose drawing consists of these facts."""
        if self.board is None:
            return []
        blocks = self._blocks(self._finder.scene(propositions))
        return [f"{block.name} {', '.join(' '.join(row) for row in block.rows)}".strip() for block in blocks]

    def describe(self, propositions: Iterable[Term], before: Iterable[Term] | None = None) -> dict[str, Any]:
        """The data of the drawing, ready for JSON.

        ``width`` and ``height`` are those of the board with its table. ``squares`` has for each square its
        ``square`` (as in the drawing), ``name``, middle ``x`` and ``y``, the ``things`` on it, and whether
        they have ``changed``. ``beside`` has the facts off the board as relations with their rows, counters
        as one number, without the one that shows the turn.
        """
        scene = self._finder.scene(propositions, before)
        layout = self._placed(scene)
        table = self._around(scene, layout)
        wide, high = (0.0, 0.0) if layout is None else (layout.width, layout.height)
        blocks: list[dict[str, Any]] = [
            {"name": block.name, "rows": block.rows, "fresh": block.fresh}
            for block in self._facts_beside(scene)
        ]
        spell = self.rules.spell
        held = None if self._picture is None else self._picture.contents(scene)
        squares = [
            {
                "square": spot.key,
                "name": spot.name,
                "x": round(spot.x + _EDGE + (table.width - wide) / 2, 2),
                "y": round(spot.y + _EDGE + table.high, 2),
                "things": [" ".join(map(spell, thing)) for thing in scene.on.get(square, ())]
                if held is None
                else held.get(spot.key, []),
                "changed": square in scene.changed,
            }
            for square, spot in (layout.spots.items() if layout is not None else ())
        ]
        return {
            "width": round(table.width + 2 * _EDGE, 2),
            "height": round(table.high + high + table.deep + 2 * _EDGE, 2),
            "squares": squares,
            "beside": blocks,
        }

    def legend(self) -> list[dict[str, str]]:
        """Each thing's sign, shape, class of colours and meaning."""
        return [
            {"sign": look.sign, "shape": look.shape.value, "colour": look.colour, "meaning": look.meaning}
            for look in self._looks.values()
            if look.shape is not PieceShape.HIDDEN
        ]

    def hides(self, thing: Thing) -> bool:
        """Whether a hint says that a thing is not drawn."""
        return self._look(thing).shape is PieceShape.HIDDEN

    def colour(self, thing: Thing) -> str:
        """The class of colours in which a thing is drawn."""
        return self._look(thing).colour

    def _placed(self, scene: Scene) -> BoardLayout | None:
        """The layout of the board in a state."""
        if self._picture is not None:
            return self._picture.placed(scene)
        if self.board is not None and self._towers:
            return lay_out_towers(self.board, self.rules, scene.on)
        return self._layout

    def _blocks(self, scene: Scene) -> list[FactBlock]:
        """The text next to the board: whose turn it is, in words, and the facts that the drawing does not
        show."""
        seated = scene.turn is None or bool(self._table.seats)
        turn = [] if seated else [f"{self.rules.spell(self.roles[scene.turn or 0])} to move"]
        rest = self._facts_beside(scene, besides_table=True)
        return [*map(FactBlock, turn), *rest]

    def _on_picture(self, proposition: Term) -> bool:
        """Whether a proposition off the grid is drawn on the board all the same."""
        known = any(one is not None and one.shows(proposition) for one in (self._level, self._picture))
        return known or self._link(proposition) is not None

    def _around(self, scene: Scene, layout: BoardLayout | None) -> DrawnTable:
        """The table around the board."""
        return self._table.draw(scene, 0.0 if layout is None else layout.width, layout is not None)

    def _facts_beside(self, scene: Scene, besides_table: bool = False) -> list[FactBlock]:
        """The facts that do not stand on the board, except for whose turn it is; ``besides_table`` leaves out
        what lies on the table."""
        rest = [
            term
            for term in scene.beside
            if not self._on_picture(term)
            and not (scene.turn is not None and self._finder.turns.tells(term))
            and not (besides_table and self._table.shows(term))
        ]
        was, note = scene.off_before, self._table.note
        blocks: list[FactBlock] = []
        for name, value in scene.counters:
            said = note(Term(name, Term(str(value))))
            blocks.append(FactBlock(said) if said else FactBlock("count", ((str(value),),)))
        notes = {term: said for term in rest if (said := note(term))}
        for term, said in notes.items():
            blocks.append(FactBlock(said, fresh=(was is not None and term not in was,)))
        return blocks + fact_blocks(self.rules, [term for term in rest if term not in notes], was)

    def _on_board(self, scene: Scene, layout: BoardLayout, overlay: BoardOverlay) -> list[str]:
        on, changed = scene.on, scene.changed
        assert self.board is not None
        over = self.draw_over(overlay, layout)
        drawn: list[str] = []
        names: dict[str, str] = {}
        if self.board.seas and scene.by.role is not None:
            said = ("mine" if role == scene.by.role else "theirs" for role in range(len(self.roles)))
            names = dict(zip(map(self.rules.spell, self.roles), said, strict=True))
        if self._level is not None:
            drawn.append(self._level.behind(layout, scene))
        if layout.ground == "lines":
            drawn.append(draw_lines(layout))
        else:
            drawn += [line("gb-line", *ends) for ends in layout.lines]
        drawn += [
            words(
                label.cls,
                names.get(label.text, label.text) if label.cls == "gb-title" else label.text,
                label.x,
                label.y,
                **({"data_turn": label.turn} if label.turn else {}),
            )
            for label in layout.labels
        ]
        if self._picture is not None:
            return [*drawn, *self._picture.draw(scene), over]
        above: list[str] = []
        areas: dict[Square, str] = {}
        bars: dict[Square, str] = {}
        # A scene shows changes without a frame.
        framed = changed if self._level is None else set[Square]()
        drawn += [circle("gb-point", x, y, 4) for x, y in layout.dots]
        for square, spot in layout.spots.items():
            if self._level is not None and self._level.far and square not in on:
                continue
            looks = [self._look(thing, square) for thing in on.get(square, ())]
            looks += [self._look(thing) for thing in self.board.fixed.get(square, ())]
            if any(look.shape is PieceShape.CHOCOLATE for look in looks):
                bars[square] = ""
            if spot.kind is SpotKind.POINT and self.board.dotted:
                looks = []
            if square in self._marks:
                looks = [look for look in looks if look.shape is not PieceShape.CORNER] + [
                    self._marks[square]
                ]
            above += [draw_side(look.sign, spot) for look in looks if look.shape is PieceShape.SIDE]
            looks = [look for look in looks if look.shape not in (PieceShape.SIDE, PieceShape.HIDDEN)]
            if area := next((look for look in looks if look.shape is PieceShape.AREA), None):
                areas[square] = area.meaning
            pieces = None if self._level is None else self._level.pieces(square, spot, scene)
            drawn.append(draw_square(spot, looks, square in framed, self._level is None, pieces))
        classes = role_classes(self.roles)
        edges = [line(f"gb-edge {classes[role]}", *ends) for *ends, role in layout.edges]
        blocks = {square: str(n) for n, block in enumerate(self.board.blocks) for square in sorted(block)}
        borders = draw_borders(layout, bars, "gb-bite") + draw_borders(layout, areas or blocks)
        return [*drawn, borders, *above, *self._draw_links(scene, layout), *edges, over]

    def _links(self, scene: Scene) -> Iterator[tuple[Term, PieceLook, list[Square], tuple[Term, ...]]]:
        """The facts that are drawn between two squares, each with its look, the squares and its other
        arguments."""
        for fact in (*(self.board.links if self.board else ()), *scene.beside):
            if (found := self._link(fact)) is not None:
                yield fact, *found

    def _draw_links(self, scene: Scene, layout: BoardLayout) -> Iterator[str]:
        assert self.board is not None
        was = scene.off_before
        for fact, look, ends, rest in self._links(scene):
            held = [square in scene.on or square in self.board.fixed for square in ends]
            new = was is not None and fact not in was and fact not in self.board.links
            a, b = (layout.spots[square] for square in ends)
            yield draw_link(look, a, b, held, amount(rest[-1]) if rest else 1, new)

    def _find_link(self, fact: Term) -> tuple[PieceLook, list[Square], tuple[Term, ...]] | None:
        """The look of a fact between two squares, the squares, and its other arguments."""
        if self.board is None or self._picture is not None or self._layout is None or not self.rules.hints:
            return None
        found = link_look(fact, self.board, self.rules, self.roles)
        return found if found is not None and self._layout.spots.keys() >= set(found[1]) else None

    def _look(self, thing: Thing, square: Square | None = None) -> PieceLook:
        look = self._looks.get(thing) or PieceLook(
            "?", PieceShape.TEXT, "gb-other0", " ".join(map(self.rules.spell, thing))
        )
        given = self.board.given if self.board is not None and square is not None else None
        return replace(look, colour="gb-pen") if given and (square, thing) not in given else look

    def _spoken(self, scene: Scene, blocks: list[FactBlock], lying: Iterable[str]) -> str:
        """The state in words."""
        phrases: list[str] = []
        held = None if self._picture is None else self._picture.contents(scene)
        if self._picture is not None and held is not None:
            spots = self._picture.layout.spots.values()
            for spot in (spot for spot in spots if spot.key in held):
                counted = Counter(held[spot.key]).items()
                phrases.append(
                    f"{spot.name}: {' and '.join(what if n < 2 else f'{n} {what}' for what, n in counted)}"
                )
        elif self.board is not None and self._layout is not None:
            kind = {BoardShape.STRAIGHT: "Board", BoardShape.RINGS: "Rings"}
            kind |= {BoardShape.HEAPS: "Heaps", BoardShape.ROW: "A row"}
            word = kind.get(self.board.shape, "Board of hexagons")
            phrases.append(f"{word}, {len(self.board.columns)} by {len(self.board.rows)}")
            for square, things in scene.on.items():
                what = " and ".join(self._look(thing).meaning for thing in things)
                drawn = self._layout.spots.get(square)
                phrases.append(f"{what} on {drawn.name if drawn else square_name(self.rules, square)}")
                if len(phrases) > _LONGEST_TEXT // 8:
                    break
        phrases += [
            f"{look.meaning}: {' and '.join(square_name(self.rules, square) for square in ends)}"
            for _, look, ends, _ in self._links(scene)
        ]
        phrases += lying
        phrases += [" ".join((block.name, *row)) for block in blocks for row in block.rows[:_MOST_LINES]]
        text = ". ".join(phrases)
        return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"

    def _whole(self, parts: list[str], width: float, height: float, spoken: str, alone: bool) -> str:
        name = f"{self.name}: a state" if self.name else "A state"
        head = [title(name), element("desc", text_of(spoken or "Nothing is true."))]
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
            aria_label=name,
            viewBox=f"0 0 {number(width)} {number(height)}",
            width=width,
            height=height,
        )


def _picture_of(
    board: Grid, rules: Rules, looks: Mapping[Thing, PieceLook], look: Callable[[Thing], PieceLook]
) -> WholePicture | None:
    """The picture of a whole board, for boards that have one."""
    if board.shape in (BoardShape.HEAPS, BoardShape.ROW):
        return RowPicture(board, rules, look)
    if (race := Race.of_board(board, rules)) is not None:
        return RacePicture(race, rules, looks)
    if board.pits is not None:
        return PitsPicture(board, board.pits, rules)
    return PegsPicture.of_board(board, rules)


def _level_of(board: Grid, rules: Rules, looks: Mapping[Thing, PieceLook]) -> LevelPicture | None:
    """The picture behind the squares of a board, for boards that have one."""
    if board.seas:
        return SeasPicture(board)
    drawn = map_of_rules(rules)
    return SokobanPicture.of_board(board, looks) if drawn is None else SnakesPicture.of_map(drawn, board)


def _shifted(drawn: str, x: float, y: float, **attributes: str) -> str:
    return element("g", drawn, transform=f"translate({number(x)} {number(y)})", **attributes)


def svg_drawing(machine: Machine, name: str) -> Callable[[State], str]:
    """Draws the states of one game as SVG that includes its stylesheet."""
    return partial(SvgPainter.of_machine(machine, name).draw_state, alone=True)
