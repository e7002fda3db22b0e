"""Draws a board as text: a sign for each thing, in colours if the terminal has them, changes in brackets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from string import ascii_letters

from gdl.machine import State
from gdl.rules import Rules
from gdl.syntax.writer import OwnNotation
from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.layers import Square, Thing
from ggp.boards.looks import EMPTY, PieceLook, PieceShape, Span, hint_for, link_look, looks_of
from ggp.boards.scene import SceneFinder
from ggp.boards.shapes import RING_PLACES, BoardShape, indents

_Cell = tuple[list[Span], Span | None]
"""The things on a square, and the sign behind it for something fixed below them."""
_GAP = 4
_NARROWEST = 20
_STEPS = (1, 0), (-1, 0), (0, -1), (0, 1)
_BETWEEN = {PieceShape.LESS: "<>^v", PieceShape.LINE: "--||", PieceShape.GROUND: "||--"}
"""Signs between two squares, by the step from the first one to the second."""
_BOLD, _DIM = "bold", "dim"


class TextCanvas:
    """Characters on lines. Text can be put anywhere, over earlier text."""

    def __init__(self) -> None:
        self._signs: dict[tuple[int, int], Span] = {}
        self.height = self.width = 0

    def put(self, line: int, column: int, text: str, style: str = "") -> int:
        """Write one line of text from a column on. Returns the column after it."""
        for at, sign in enumerate(text, column):
            self._signs[line, at] = sign, style
        self.height = max(self.height, line + 1)
        self.width = max(self.width, column + len(text))
        return column + len(text)

    def put_spans(self, line: int, column: int, spans: Iterable[Span]) -> None:
        """Write several texts, one after the other."""
        for text, style in spans:
            column = self.put(line, column, text, style)

    def join(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Draw a line between two places (line and column) on one line or in one column."""
        (first, left), (last, right) = sorted((start, end))
        if first == last:
            self.put(first, left, "-" * (right - left), _DIM)
        for line in range(first + 1, last):
            self.put(line, left, "|", _DIM)

    def bracket(self, line: int, column: int, room: int) -> None:
        """Put a square's text of a width in brackets, and a stroke between two squares in brackets."""
        for at, bracket, other in ((column - 1, "[", "]"), (column + room, "]", "[")):
            known = self._signs.get((line, at), ("", ""))[0]
            self.put(line, at, "|" if known in (other, "|") else bracket, _BOLD)

    def paste(self, block: TextCanvas, line: int, column: int) -> None:
        """Copy all text of another canvas."""
        for (y, x), sign in block._signs.items():
            self.put(line + y, column + x, *sign)

    def lines(self) -> tuple[tuple[Span, ...], ...]:
        """The lines from top to bottom; neighbours of one style are one span."""
        rows: list[dict[int, Span]] = [{} for _ in range(self.height)]
        for (line, column), sign in self._signs.items():
            rows[line][column] = sign
        return tuple(tuple(_spans(row)) for row in rows)


def _spans(row: dict[int, Span]) -> Iterator[Span]:
    signs = [row.get(column, (" ", "")) for column in range(max(row, default=-1) + 1)]
    for style, same in groupby(signs, key=lambda sign: sign[1]):
        yield "".join(text for text, _ in same), style


@dataclass(frozen=True, slots=True)
class DrawnState:
    """A state as text.

    Attributes:
        lines: rows from top to bottom, each in spans.
        beside: the true propositions that are not on the board.
    """

    lines: tuple[tuple[Span, ...], ...]
    beside: tuple[str, ...]

    def plain(self) -> str:
        """The lines without colours."""
        return "\n".join("".join(text for text, _ in line).rstrip() for line in self.lines)


class Painter:
    """Draws the states of one game.

    Attributes:
        board: the board, or None for games without a board: their states are drawn as lists of propositions.
        legend: letter, meaning and style of each kind of piece.
    """

    def __init__(self, board: Grid | None, rules: Rules, roles: tuple[Term, ...]) -> None:
        self.board = board
        self.rules = rules
        self._shown = OwnNotation(rules).term
        self._finder = SceneFinder(board, rules, roles)
        self._looks: dict[Thing, PieceLook] = {}
        self.legend: list[tuple[str, str, str]] = []
        self._links: dict[tuple[Square, bool], str] = {}
        if board is None:
            return
        self._looks = looks_of(board, rules, roles)
        self._links = dict(self._links_of(board, roles))
        for thing, look in self._looks.items():
            meaning = " ".join(map(self._shown, thing))
            hint = hint_for(thing, rules)
            if hint is not None and hint.sign and hint.look != "letter":
                continue  # A number from the author of the rules needs no explanation.
            letter, style = look.span
            if hint is not None and hint.one_area:
                meaning = " ".join(hint.words)
            known = (letter, meaning, style) in self.legend
            if not known and letter not in (meaning, meaning.lstrip(ascii_letters)):
                self.legend.append((letter, meaning, style))

    def draw_state(self, state: State, width: int = 80, before: State | None = None) -> DrawnState:
        """A state's drawing in ``width`` columns; several boards stand side by side if they fit. Squares that
        have changed since the state ``before`` are in brackets."""
        return self.draw(state.propositions, width, None if before is None else before.propositions)

    def draw(
        self, propositions: Iterable[Term], width: int = 80, before: Iterable[Term] | None = None
    ) -> DrawnState:
        """The same drawing for the propositions that are true."""
        scene = self._finder.scene(propositions, before)
        counted = (f"count {value}" for _, value in scene.counters)
        beside = (*counted, *map(self._shown, scene.beside))
        board = self.board
        if board is None:
            return DrawnState((), beside)
        cells = {square: self._cell(board, square, scene.on) for square in board.squares | scene.on.keys()}
        if board.dotted:
            dots = (((), x, y) for x in board.columns[::2] for y in board.rows[::2])
            cells |= dict.fromkeys(dots, ([("+", _DIM)], None))
        changed = scene.changed
        match board.shape:
            case BoardShape.RINGS:
                canvas = self._rings(board, cells, changed)
            case BoardShape.STRAIGHT | BoardShape.HEAPS | BoardShape.ROW:
                canvas = self._panels(board, cells, changed, max(width, _NARROWEST))
            case shape:
                names = [(x, self._shown(x)) for x in board.columns]
                longest = 0 if shape is BoardShape.CENTRED else max(len(name) for _, name in names)
                pitch = max(_widest(cells), longest) + 1
                canvas = self._block(board, (), names, cells, changed, pitch + pitch % 2)
        return DrawnState(canvas.lines(), beside)

    def _links_of(self, board: Grid, roles: tuple[Term, ...]) -> Iterator[tuple[tuple[Square, bool], str]]:
        """The signs between neighbouring squares that never change, each with the square to its left, or with
        the one above it and True."""
        _, columns, rows = board.numbers
        for fact in board.links:
            if (found := link_look(fact, board, self.rules, roles)) is not None:
                look, (a, b), _ = found
                step = columns[b[1]] - columns[a[1]], rows[b[2]] - rows[a[2]]
                signs = (
                    _BETWEEN.get(look.shape) or (look.sign or ("o" if "white" in look.colour else "*")) * 4
                )
                if step in _STEPS:
                    first = b if step in ((-1, 0), (0, 1)) else a
                    yield (first, step[0] == 0), signs[_STEPS.index(step)]

    def _cell(self, board: Grid, square: Square, on: dict[Square, list[Thing]]) -> _Cell:
        looks = [self._looks.get(thing) for thing in on.get(square, [])]
        here = [("?", "red") if look is None else look.span for look in looks]
        if board.dotted.intersection(on.get(square, ())):
            here = [("|" if board.numbers[1][square[1]] % 2 == 0 else "-", style) for _, style in here]
        fixed = [self._looks[thing].span for thing in board.fixed.get(square, [])]
        if here and fixed:
            return here, fixed[0]
        return here or fixed or [EMPTY], None

    def _panels(
        self, board: Grid, cells: dict[Square, _Cell], changed: set[Square], width: int
    ) -> TextCanvas:
        """All boards with their axes, side by side if they fit. A board that is wider than ``width`` is cut
        into blocks of about the same number of columns."""
        wide = _widest(cells)
        names = [(x, self._shown(x)) for x in board.columns]
        longest = max(len(name) for _, name in names)
        if longest > max(2, wide):
            # Long names of columns would stretch the board, so columns are numbered.
            names = [(x, str(i)) for i, (x, _) in enumerate(names, 1)]
            longest = len(str(len(names)))
        room = width - max(len(self._shown(y)) for y in board.rows) - 2
        # Vertical names of columns keep the columns as narrow as their contents.
        upright = longest > wide and len(names) * (longest + 1) - 1 > room
        pitch = (wide if upright else max(wide, longest)) + 1
        most = max(1, (room + 1) // pitch)
        most = -(-len(names) // -(-len(names) // most))
        panels = list(board.panels)
        if board.places:
            panels.sort(key=lambda panel: (-board.places[panel][1], board.places[panel][0]))
        blocks = [
            self._block(board, panel, names[first : first + most], cells, changed, pitch, upright)
            for panel in panels
            for first in range(0, len(names), most)
        ]
        across = max(1, (width + _GAP) // (blocks[0].width + _GAP)) if most == len(names) else 1
        if board.places:
            across = min(across, 1 + max(column for column, _ in board.places.values()))
        whole = TextCanvas()
        for first in range(0, len(blocks), across):
            line, column = whole.height + (first > 0), 0
            for block in blocks[first : first + across]:
                whole.paste(block, line, column)
                column += block.width + _GAP
        return whole

    def _block(
        self,
        board: Grid,
        panel: tuple[Term, ...],
        columns: Sequence[tuple[Term, str]],
        cells: dict[Square, _Cell],
        changed: set[Square],
        pitch: int,
        upright: bool = False,
    ) -> TextCanvas:
        """Some columns of a board with their names: rows of squares above each other, or offset by half a
        square. ``upright`` writes names of columns from top to bottom."""
        spell = self._shown
        centred = board.shape is BoardShape.CENTRED
        rows = [[(panel, x, y) for x, _ in columns] for y in board.rows]
        if centred:
            rows = [[square for square in row if square in cells] for row in rows]
        offsets = [half * pitch // 2 for half in indents(board.shape, list(map(len, rows)))]
        left = 2 + max(len(spell(y)) for y in board.rows)
        left += 1 + max(len(name) for _, name in columns) if centred else 0
        canvas = TextCanvas()
        if panel:
            canvas.put(0, left, " ".join(map(spell, panel)), _BOLD)
        for row, y, offset in reversed(list(zip(rows, board.rows, offsets, strict=True))):
            line, name, end = canvas.height, spell(y), ""
            if centred and row:
                between = "" if name.isalpha() else " "
                end = name + between + spell(row[-1][1])
                name += between + spell(row[0][1])
            canvas.put(line, offset, f"{name:>{left - 2}}", _DIM)
            canvas.put(line, offset + left - 2, " " * (2 + len(row) * pitch))
            canvas.put(line, offset + left + len(row) * pitch, end, _DIM)
            places = {square: offset + left + i * pitch for i, square in enumerate(row)}
            for (square, lower), link in self._links.items():
                if square in places:
                    canvas.put(line + lower, places[square] + (0 if lower else pitch - 1), link, _BOLD)
            if any(lower for _, lower in self._links) and y != board.rows[0]:
                canvas.put(line + 1, 0, " ")
            for square in row:
                if square in changed:
                    canvas.bracket(line, places[square], pitch - 1)
            for square in cells.keys() & places.keys():
                things, sign = cells[square]
                canvas.put_spans(line, places[square], things)
                if sign is not None:
                    canvas.put(line, places[square] + pitch - 1, *sign)
        below = canvas.height
        for i, (_, name) in enumerate(() if centred else columns):
            for down, text in enumerate(name.rjust(max(len(n) for _, n in columns)) if upright else [name]):
                canvas.put(below + down, left + offsets[0] + i * pitch, text, _DIM)
        return canvas

    def _rings(self, board: Grid, cells: dict[Square, _Cell], changed: set[Square]) -> TextCanvas:
        """A board of rings, and the lines that join its places."""
        spell = self._shown
        rings, around = len(board.columns), [spell(place) for place in board.rows]
        wide = _widest(cells)
        pitch = max(2 * wide, 4)
        left = max(map(len, [*map(spell, board.columns), *around])) + 2
        at = {
            (ring, place): (1 + rings + (ring + 1) * y, left + (rings + (ring + 1) * x) * pitch)
            for ring in range(rings)
            for place, (x, y) in enumerate(RING_PLACES)
        }
        canvas = TextCanvas()
        for ring, place in at:
            canvas.join(at[ring, place], at[ring, (place + 1) % len(RING_PLACES)])
            if place % 2 == 0 and ring + 1 < rings:
                canvas.join(at[ring, place], at[ring + 1, place])
        for (ring, place), (line, column) in at.items():
            square = ((), board.columns[ring], board.rows[place])
            canvas.put(line, column, " " * wide)
            canvas.put_spans(line, column, cells[square][0])
            if square in changed:
                canvas.bracket(line, column, wide)
        for line in range(1, 2 * rings + 2):
            ring = abs(line - 1 - rings) - 1
            name = spell(board.columns[ring]) if ring >= 0 else around[6]
            canvas.put(line, 0, f"{name:>{left - 2}}", _DIM)
        canvas.put(1 + rings, left + 2 * rings * pitch + wide + 2, around[2], _DIM)
        for line, names in ((0, (7, 0, 1)), (2 * rings + 2, (5, 4, 3))):
            for third, place in enumerate(names):
                canvas.put(line, left + third * rings * pitch, around[place], _DIM)
        return canvas


def _length(line: Sequence[Span]) -> int:
    return sum(len(text) for text, _ in line)


def _widest(cells: dict[Square, _Cell]) -> int:
    return max((_length(cell) for cell, _ in cells.values()), default=1)
