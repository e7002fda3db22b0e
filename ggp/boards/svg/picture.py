"""`SvgPainter`: states of one game as SVG and as JSON, with changes marked.

>>> from ggp.game import Game
>>> machine = Game.load("tictactoe").machine("prover")
>>> painter = SvgPainter.of_machine(machine, "tictactoe")
>>> painter.draw(machine.initial_state().propositions).count('class="gb-square"')
9

Facts off the board are listed in panels, grouped by relation, counters on one line.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gdl.information import playing
from gdl.machine import Machine, State
from gdl.rules import Rules
from gdl.syntax.writer import OwnNotation
from gdl.terms import Term, sort_key
from ggp.boards.board import Grid, find_board
from ggp.boards.layers import Square, Thing
from ggp.boards.looks import PieceLook, PieceShape, looks_of, owners_of, role_classes, square_looks
from ggp.boards.race import Race
from ggp.boards.scene import Onlooker, Scene, SceneFinder
from ggp.boards.shapes import BoardShape
from ggp.boards.snakes import map_of_rules
from ggp.boards.svg.grounds import draw_lines
from ggp.boards.svg.layout import UNIT, BoardLayout, has_towers, lay_out, lay_out_towers, square_name
from ggp.boards.svg.level_pictures import LevelPicture, SnakesPicture, SokobanPicture
from ggp.boards.svg.markup import clipped, element, number, stylesheet, text_of
from ggp.boards.svg.overlay import NO_OVERLAY, BoardOverlay, draw_overlay
from ggp.boards.svg.pegs import PegsPicture
from ggp.boards.svg.pits import PitsPicture
from ggp.boards.svg.race import RacePicture
from ggp.boards.svg.rows import RowPicture
from ggp.boards.svg.seas import SeasPicture
from ggp.boards.svg.sprites import draw_borders, draw_side, draw_square
from ggp.boards.svg.table import DrawnTable, TablePicture

LINE = 18.0
"""Height of a line of text."""
_LETTER = 7.2
_WIDEST = 34
_PADDING = 8.0
_GAP = 12.0
_HEIGHTS = (2, 3, 4, 6, 9, 13, 20, 1000)
"""Lines in a column below a board, tried in this order."""


_FactLine = tuple[str, bool]
"""A line of text, and whether it is new."""


@dataclass(frozen=True, slots=True)
class _FactBlock:
    """The true propositions of one relation.

    Attributes:
        name: the relation's name.
        rows: the arguments of each proposition, spelled; a relation without arguments has one row without
            any.
        fresh: for each row, whether it was false before.
    """

    name: str
    rows: tuple[tuple[str, ...], ...]
    fresh: tuple[bool, ...]

    @property
    def single(self) -> bool:
        """Whether it is one line, such as a counter or whose turn it is."""
        return len(self.rows) == 1

    def lines(self, most: int) -> list[_FactLine]:
        """At most ``most`` lines for the panel; a single row includes the relation's name. If lines are left
        out, the last line counts them."""
        if self.single:
            words = (self.name, *self.rows[0])
            return [(clipped(" ".join(words), _WIDEST), self.fresh[0])]
        lines: list[_FactLine] = [
            (clipped(" ".join(row), _WIDEST), new)
            for row, new in zip(self.rows[:most], self.fresh, strict=False)
        ]
        if len(self.rows) > most:
            lines[-1] = f"… {len(self.rows) - most + 1} more", False
        return lines


def _fact_blocks(
    rules: Rules, facts: Iterable[Term], before: Iterable[Term] | None = None
) -> list[_FactBlock]:
    """Facts grouped by relation, single lines first."""
    groups: dict[tuple[str, int], list[Term]] = defaultdict(list)
    for term in sorted(facts, key=sort_key):
        groups[term.signature].append(term)
    earlier = None if before is None else set(before)
    own = OwnNotation(rules)
    blocks = [
        _FactBlock(
            own.name(name),
            tuple(tuple(map(own.term, term.args)) for term in terms),
            tuple(earlier is not None and term not in earlier for term in terms),
        )
        for (name, _), terms in groups.items()
    ]
    return sorted(blocks, key=lambda block: (not block.single, block.name))


def _draw_facts(
    blocks: list[_FactBlock], x: float, y: float, height: float, most: int
) -> tuple[str, float, float]:
    """Panels that start at a point, in columns of about this height. Returns markup, width and height of all
    panels.

    Args:
        most: lines of one relation that are shown.
    """
    drawn: list[str] = []
    left, top, widest, lowest = x, y, 0.0, y
    singles = [line for block in blocks if block.single for line in block.lines(1)]
    panels: list[tuple[str, list[_FactLine]]] = [("", singles)] if singles else []
    panels += [(block.name, block.lines(most)) for block in blocks if not block.single]
    for name, lines in panels:
        tall = (bool(name) + len(lines)) * LINE + 2 * _PADDING
        if top > y and top + tall > y + height:
            left, top, widest = left + widest + _GAP, y, 0.0
        letters = max(8, len(clipped(name, _WIDEST)), *(len(line) for line, _ in lines))
        wide = _LETTER * letters + 2 * _PADDING
        drawn.append(_panel(name, lines, left, top, wide, tall))
        top += tall + _GAP
        widest, lowest = max(widest, wide), max(lowest, top - _GAP)
    return "".join(drawn), left + widest - x, lowest - y


def _draw_facts_below(
    blocks: list[_FactBlock], x: float, y: float, width: float, most: int
) -> tuple[str, float, float]:
    """Panels in as many columns as fit this width, as low as possible. Returns the same as
    :func:`_draw_facts`."""
    for lines in _HEIGHTS:
        drawn = _draw_facts(blocks, x, y, lines * LINE, most)
        if drawn[1] <= width:
            break
    return drawn


def _panel(name: str, lines: list[_FactLine], x: float, y: float, width: float, height: float) -> str:
    inside = [element("rect", cls="gb-panel", x=x, y=y, width=width, height=height, rx=6)]
    at = y + _PADDING + LINE / 2
    if name:
        title = text_of(clipped(name, _WIDEST))
        inside.append(element("text", title, cls="gb-head", x=x + _PADDING, y=at))
        at += LINE
    at -= LINE / 2
    for text, new in lines:
        if new:
            inside.append(element("rect", cls="gb-fresh", x=x + 2, y=at, width=width - 4, height=LINE, rx=3))
        inside.append(element("text", text_of(text), cls="gb-fact", x=x + _PADDING, y=at + LINE / 2))
        at += LINE
    return element("g", *inside)


_EDGE = 12.0
_WIDE = 2.2
"""Facts are drawn below boards whose width is more than this multiple of their height."""
_MOST_LINES = 12
_MOST_LINES_ALONE = 40
_LONGEST_TEXT = 2000


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
        self._layout: BoardLayout | None = None
        self._level: LevelPicture | None = None
        self._picture: RacePicture | PitsPicture | None = None
        self._towers = board is not None and has_towers(board, rules)
        self.pegs: PegsPicture | None = None
        self._marks: dict[Square, PieceLook] = {}
        self._rows: RowPicture | None = None
        if board is not None:
            self._looks = looks_of(board, rules, roles)
            self._marks = square_looks(board, rules)
            drawn = map_of_rules(rules)
            if board.seas:
                self._level = SeasPicture(board)
            elif drawn is None:
                self._level = SokobanPicture.of_board(board, self._looks)
            else:
                self._level = SnakesPicture.of_map(drawn, board)
            margin = None if self._level is None else self._level.margin
            if board.shape in (BoardShape.HEAPS, BoardShape.ROW):
                self._rows = RowPicture(board, rules, self._look)
            self._layout = lay_out(board, rules, margin) if self._rows is None else self._rows.layout
            self.pegs = PegsPicture.of_board(board, rules)
        layout = self._layout
        race = Race.of_board(board, rules)
        whole = layout is None or race is not None or self.pegs is not None
        drawn_squares = None if layout is None or whole else layout.spots.keys() | (layout.joins or {}).keys()
        self._finder = SceneFinder(board, rules, roles, drawn_squares)
        if race is not None:
            self._picture = RacePicture(race, rules, self._looks, self._finder.turns.role)
        elif board is not None and board.pits is not None:
            self._picture = PitsPicture(board, board.pits, rules)
        if self._picture is not None:
            self._layout = self._picture.layout
        self._table = TablePicture(rules, roles, self._finder.turns, self._on_picture)

    @property
    def quiet(self) -> bool:
        """Whether likelihoods are shown on request only, as for pegs and seas."""
        return self.pegs is not None or (self.board is not None and self.board.seas)

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

    def draw_board(
        self,
        state: State,
        before: State | None = None,
        alone: bool = False,
        overlay: BoardOverlay = NO_OVERLAY,
        by: Onlooker = Onlooker(),
    ) -> str:
        """The drawing without the facts off the board; games without a board are drawn in full."""
        return self.draw_state(state, before, alone, overlay, facts=False, by=by)

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
                drawn, wide, high = _draw_facts_below(blocks, _EDGE, height + _EDGE, width - 2 * _EDGE, most)
                width, height = max(width, wide + 2 * _EDGE), height + _EDGE + high
            else:
                left = width if not alone_here else _EDGE
                drawn, wide, high = _draw_facts(blocks, left, _EDGE, room, most)
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
            return [role in playing(self.roles)[1:2] for role in range(len(self.roles))]
        heights: dict[int, list[float]] = {}
        if self.board is not None and self._layout is not None and self.turns:
            owners = owners_of(list(self.board.things), self.rules, self.roles)
            middle = self._layout.middle[1]
            for square, things in self._finder.scene(propositions).on.items():
                for thing in things if square in self._layout.spots else ():
                    height = middle - self._layout.spots[square].y
                    heights.setdefault(owners.get(thing, (-1, ()))[0], []).append(height)
        return [sum(own := heights.get(role, [0.0])) > UNIT * len(own) for role in range(len(self.roles))]

    def draw_over(self, overlay: BoardOverlay) -> str:
        """The overlay alone, to be put behind the squares of a drawing of this board, or behind its signs;
        empty for games without either and for codes of pegs."""
        spots = self._table.choices if self._layout is None else self._layout.spots.values()
        return draw_overlay(overlay, {} if self.pegs is not None else {spot.key: spot for spot in spots})

    def lines_beside(self, propositions: Iterable[Term]) -> list[str]:
        """The facts that :meth:`draw` shows next to the board, a line for each relation; empty for games
        without a board, whose drawing consists of these facts."""
        if self.board is None:
            return []
        blocks = self._blocks(self._finder.scene(propositions))
        return [f"{block.name} {', '.join(' '.join(row) for row in block.rows)}".strip() for block in blocks]

    def describe(self, propositions: Iterable[Term], before: Iterable[Term] | None = None) -> dict[str, Any]:
        """The data of the drawing, ready for JSON.

        ``shape``, ``width``, ``height``, and names of ``columns``, ``rows`` and ``panels`` describe the
        board. ``squares`` has for each square its ``square`` (as in the drawing), ``name``, middle ``x`` and
        ``y``, the ``things`` on it, and whether they have ``changed``. ``beside`` has the facts off the board
        as relations with their rows, counters as one number, without the one that shows the turn. ``turn`` is
        the role whose turn it is, null if the state names no role.
        """
        scene = self._finder.scene(propositions, before)
        layout = self._placed(scene)
        table = self._around(scene, layout)
        blocks: list[dict[str, Any]] = [
            {"name": block.name, "rows": block.rows, "fresh": block.fresh}
            for block in self._facts_beside(scene)
        ]
        turn = None if scene.turn is None else self.rules.spell(self.roles[scene.turn])
        if self.board is None or layout is None:
            return {"shape": None, "squares": [], "beside": blocks, "turn": turn}
        spell = self.rules.spell
        held = {} if self._picture is None else self._picture.contents(scene)
        squares = [
            {
                "square": spot.key,
                "name": spot.name,
                "x": round(spot.x + _EDGE + (table.width - layout.width) / 2, 2),
                "y": round(spot.y + _EDGE + table.high, 2),
                "things": [" ".join(map(spell, thing)) for thing in scene.on.get(square, ())]
                if self._picture is None
                else held.get(spot.key, []),
                "changed": square in scene.changed,
            }
            for square, spot in layout.spots.items()
        ]
        return {
            "shape": self.board.shape.value,
            "width": round(table.width + 2 * _EDGE, 2),
            "height": round(table.high + layout.height + table.deep + 2 * _EDGE, 2),
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

    def _placed(self, scene: Scene) -> BoardLayout | None:
        """The layout of the board in a state."""
        if self.pegs is not None:
            return self.pegs.layout(scene.by.past)
        if self.board is not None and self._towers:
            return lay_out_towers(self.board, self.rules, scene.on)
        return self._layout

    def _blocks(self, scene: Scene) -> list[_FactBlock]:
        """The text next to the board: whose turn it is, in words, and the facts that the drawing does not
        show."""
        seated = scene.turn is None or bool(self._table.seats)
        turn = [] if seated else [f"{self.rules.spell(self.roles[scene.turn or 0])} to move"]
        rest = self._facts_beside(scene, besides_table=True)
        return [_FactBlock(line, ((),), (False,)) for line in turn] + rest

    def _on_picture(self, proposition: Term) -> bool:
        """Whether a proposition off the grid is drawn on the board all the same."""
        return any(one is not None and one.shows(proposition) for one in (self._level, self._picture))

    def _around(self, scene: Scene, layout: BoardLayout | None) -> DrawnTable:
        """The table around the board."""
        return self._table.draw(scene, 0.0 if layout is None else layout.width, layout is not None)

    def _facts_beside(self, scene: Scene, besides_table: bool = False) -> list[_FactBlock]:
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
        blocks: list[_FactBlock] = []
        for name, value in scene.counters:
            said = note(Term(name, Term(str(value))))
            blocks.append(_FactBlock(said or "count", ((),) if said else ((str(value),),), (False,)))
        notes = {term: words for term in rest if (words := note(term))}
        for term, words in notes.items():
            blocks.append(_FactBlock(words, ((),), (was is not None and term not in was,)))
        return blocks + _fact_blocks(self.rules, [term for term in rest if term not in notes], was)

    def _on_board(self, scene: Scene, layout: BoardLayout, overlay: BoardOverlay) -> list[str]:
        on, changed = scene.on, scene.changed
        assert self.board is not None
        over = draw_overlay(overlay, {spot.key: spot for spot in layout.spots.values()})
        if self.pegs is not None:
            return [self.pegs.draw(layout, on, scene.by.past)]
        drawn: list[str] = []
        names: dict[str, str] = {}
        if self.board.seas and scene.by.role is not None:
            said = ("mine" if role == scene.by.role else "theirs" for role in range(len(self.roles)))
            names = dict(zip(map(self.rules.spell, self.roles), said, strict=True))
        if self._level is not None:
            drawn.append(self._level.behind(layout, on, scene.propositions, scene.by.past))
        if layout.ground == "lines":
            drawn.append(draw_lines(layout))
        drawn += [
            element("line", cls="gb-line", x1=x1, y1=y1, x2=x2, y2=y2) for x1, y1, x2, y2 in layout.lines
        ]
        drawn += [
            element(
                "text",
                text_of(names.get(label.text, label.text) if label.title else label.text),
                cls="gb-title" if label.title else "gb-axis",
                x=label.x,
                y=label.y,
                **({"data_turn": label.turn} if label.turn else {}),
            )
            for label in layout.labels
        ]
        if self._picture is not None:
            return [*drawn, *self._picture.draw(scene), over]
        for square, (x1, y1, x2, y2) in (layout.joins or {}).items():
            if square in on:
                cls = "gb-join gb-new" if square in changed else "gb-join"
                drawn.append(element("line", cls=cls, x1=x1, y1=y1, x2=x2, y2=y2))
        above: list[str] = []
        areas: dict[Square, str] = {}
        bars: dict[Square, str] = {}
        # A scene shows changes without a frame.
        framed = changed if self._level is None else set[Square]()
        drawn += self._rows.draw(scene) if self._rows is not None else []
        for square, spot in layout.spots.items() if self._rows is None else ():
            if self._level is not None and self._level.far and square not in on:
                continue
            looks = [self._look(thing, square) for thing in on.get(square, ())]
            looks += [self._look(thing) for thing in self.board.fixed.get(square, ())]
            if any(look.shape is PieceShape.CHOCOLATE for look in looks):
                bars[square] = ""
            looks += [self._marks[square]] if square in self._marks else []
            above += [draw_side(look.sign, spot) for look in looks if look.shape is PieceShape.SIDE]
            looks = [look for look in looks if look.shape is not PieceShape.SIDE]
            if area := next((look for look in looks if look.shape is PieceShape.AREA), None):
                areas[square] = area.meaning
            pieces = None if self._level is None else self._level.pieces(square, layout, on, scene.on_before)
            drawn.append(draw_square(spot, looks, square in framed, self._level is None, pieces))
        classes = role_classes(self.roles)
        edges = [
            element("line", cls=f"gb-edge {classes[role]}", x1=x1, y1=y1, x2=x2, y2=y2)
            for x1, y1, x2, y2, role in layout.edges
        ]
        blocks = {square: str(n) for n, block in enumerate(self.board.blocks) for square in sorted(block)}
        borders = draw_borders(layout, bars, "gb-bite") + draw_borders(layout, areas or blocks)
        return [*drawn, borders, *above, *edges, over]

    def _look(self, thing: Thing, square: Square | None = None) -> PieceLook:
        look = self._looks.get(thing) or PieceLook(
            "?", PieceShape.TEXT, "gb-other0", " ".join(map(self.rules.spell, thing))
        )
        given = self.board.given if self.board is not None and square is not None else None
        return replace(look, colour="gb-pen") if given and (square, thing) not in given else look

    def _spoken(self, scene: Scene, blocks: list[_FactBlock], lying: Iterable[str]) -> str:
        """The state in words."""
        phrases: list[str] = []
        if self._picture is not None:
            held = self._picture.contents(scene)
            spots = self._picture.layout.spots.values()
            for spot in (spot for spot in spots if spot.key in held):
                counted = Counter(held[spot.key]).items()
                phrases.append(
                    f"{spot.name}: {' and '.join(what if n < 2 else f'{n} {what}' for what, n in counted)}"
                )
        elif self.board is not None and self._layout is not None:
            kind = {BoardShape.STRAIGHT: "Board", BoardShape.RINGS: "Rings", BoardShape.DOTS: "Dots"}
            kind |= {BoardShape.HEAPS: "Heaps", BoardShape.ROW: "A row"}
            word = kind.get(self.board.shape, "Board of hexagons")
            phrases.append(f"{word}, {len(self.board.columns)} by {len(self.board.rows)}")
            for square, things in scene.on.items():
                what = " and ".join(self._look(thing).meaning for thing in things)
                phrases.append(f"{what} on {square_name(self.rules, square)}")
                if len(phrases) > _LONGEST_TEXT // 8:
                    break
        phrases += lying
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


def _shifted(drawn: str, x: float, y: float, **attributes: str) -> str:
    return element("g", drawn, transform=f"translate({number(x)} {number(y)})", **attributes)


def svg_drawing(machine: Machine, name: str) -> Callable[[State], str]:
    """Draws the states of one game as SVG that includes its stylesheet."""
    return partial(SvgPainter.of_machine(machine, name).draw_state, alone=True)
