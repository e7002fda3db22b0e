"""Draws a board as text: a sign for each thing, in colours if the terminal has them, changes in brackets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_letters

from gdl.machine import State
from gdl.rules import Rules
from gdl.syntax.writer import OwnNotation
from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.glyphs import EMPTY, Span, glyphs_of, hint_for
from ggp.boards.layers import Square, Thing
from ggp.boards.shapes import BoardShape, indents
from ggp.boards.side_panel import digit_chains, joined_digits

Cell = tuple[list[Span], Span]
"""The things on a square, and the sign behind it for something fixed below them."""
_GROUND: Span = (" ", "")
_GAP = 4
_MARK = "bold"
_NARROWEST = 20
_DRAWN = "bold"
_NEW = "bold yellow"


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
        self._counters = digit_chains(rules)
        self._glyphs: dict[Thing, Span] = {}
        self.legend: list[tuple[str, str, str]] = []
        if board is None:
            return
        self._glyphs = glyphs_of(board, rules, roles)
        for thing, (glyph, style) in self._glyphs.items():
            meaning = " ".join(map(self._shown, thing))
            hint = hint_for(thing, rules)
            if hint is not None and hint.sign and hint.look != "letter":
                continue  # A number from the author of the rules needs no explanation.
            if glyph not in (meaning, meaning.lstrip(ascii_letters)):
                self.legend.append((glyph, meaning, style))

    def draw_state(self, state: State, width: int = 80, before: State | None = None) -> DrawnState:
        """A state's drawing in ``width`` columns; several boards stand side by side if they fit. Squares that
        have changed since the state ``before`` are in brackets."""
        return self.draw(state.propositions, width, None if before is None else before.propositions)

    def draw(
        self, propositions: Iterable[Term], width: int = 80, before: Iterable[Term] | None = None
    ) -> DrawnState:
        """The same drawing for the propositions that are true."""
        if self.board is None:
            return DrawnState((), self._off_board(sorted(propositions)))
        board = self.board
        on, others = board.place(propositions)
        cells = {square: self._cell(square, on) for square in board.squares | on.keys()}
        changed = set[Square]() if before is None else _changed(board.place(before)[0], on, len(cells))
        wide = max((_length(cell) for cell, _ in cells.values()), default=1)
        width = max(width, _NARROWEST)
        if board.shape is not BoardShape.STRAIGHT:
            draws = {BoardShape.RINGS: self._rings, BoardShape.DOTS: self._dots}
            draw = draws.get(board.shape, self._sloping)
            drawn = map(tuple, draw(cells, wide, changed))
            return DrawnState(tuple(drawn), self._off_board(others))
        panels = list(board.panels)
        if board.places:
            panels.sort(key=lambda panel: (-board.places[panel][1], board.places[panel][0]))
        parts = [self._panel(panel, cells, wide, changed, width) for panel in panels]
        if any(len(blocks) > 1 for blocks in parts):
            lines = list(_side_by_side([block for blocks in parts for block in blocks], 1))
        else:
            blocks = [blocks[0] for blocks in parts]
            across = max(1, (width + _GAP) // (_length(blocks[0][0]) + _GAP))
            if board.places:
                across = min(across, 1 + max(column for column, _ in board.places.values()))
            lines = list(_side_by_side(blocks, across))
        return DrawnState(tuple(lines), self._off_board(others))

    def _off_board(self, facts: list[Term]) -> tuple[str, ...]:
        """The facts off the board, as the rules write them; the digits of counters become one number."""
        counters = joined_digits(self._counters, facts)
        digits = {term for _, terms in counters for term in terms}
        return (
            *(f"count {value}" for value, _ in counters),
            *(self._shown(term) for term in facts if term not in digits),
        )

    def _cell(self, square: Square, on: dict[Square, list[Thing]]) -> Cell:
        assert self.board is not None
        here = [self._glyphs.get(thing, ("?", "red")) for thing in on.get(square, [])]
        fixed = [self._glyphs[thing] for thing in self.board.fixed.get(square, [])]
        if here and fixed:
            return here, fixed[0]
        return here or fixed or [EMPTY], _GROUND

    def _rings(self, cells: dict[Square, Cell], wide: int, changed: set[Square]) -> list[list[Span]]:
        """A board of rings."""
        assert self.board is not None
        where: dict[Square, tuple[int, int]] = {
            ((), ring, place): (i, j)
            for i, ring in enumerate(self.board.columns)
            for j, place in enumerate(self.board.rows)
        }
        signs = {where[square]: cells[square][0] for square in where}
        names = [self._shown(name) for name in (*self.board.columns, *self.board.rows)]
        return draw_rings(signs, {where[square] for square in changed}, names, wide)

    def _dots(self, cells: dict[Square, Cell], wide: int, changed: set[Square]) -> list[list[Span]]:
        """A board of dots and lines."""
        assert self.board is not None
        columns = [(x, self._shown(x)) for x in self.board.columns]
        rows = [(y, self._shown(y)) for y in self.board.rows]
        boxes = {square: cell[0] for square, cell in cells.items() if not square[0] and cell[0] != [EMPTY]}
        lines = {square: square in changed for square in cells if square[0]}
        return _draw_dots(columns, rows, boxes, lines)

    def _sloping(self, cells: dict[Square, Cell], wide: int, changed: set[Square]) -> list[list[Span]]:
        """A board of hexagons: rows offset by half a square, each with its name before it."""
        assert self.board is not None
        spell = self._shown
        shape, columns = self.board.shape, self.board.columns
        centred = shape is BoardShape.CENTRED
        pitch = (wide if centred else max(wide, *(len(spell(c)) for c in columns))) + 1
        pitch += pitch % 2
        whole: list[list[Square]] = [[((), c, r) for c in columns] for r in self.board.rows]
        rows = [[square for square in row if square in cells] for row in whole]
        offsets = indents(shape, list(map(len, rows)))
        margin = max(len(spell(r)) for r in self.board.rows)
        margin += 1 + max(len(spell(c)) for c in columns) if centred else 0
        lines: list[list[Span]] = []
        for j in reversed(range(len(rows))):
            squares, name, end = rows[j] if centred else whole[j], spell(self.board.rows[j]), ""
            if centred and squares:
                between = "" if name.isalpha() else " "
                end = name + between + spell(squares[-1][1])
                name += between + spell(squares[0][1])
            line = [(f"{' ' * (offsets[j] * pitch // 2)}{name:>{margin}} ", "dim")]
            line += [*_row(squares, cells, changed, pitch)] if squares else []
            lines.append([*line, (end, "dim")])
        if not centred:
            axis = " " * (margin + 2 + offsets[0] * pitch // 2)
            lines.append([(axis + "".join(f"{spell(c):<{pitch}}" for c in columns), "dim")])
        return lines

    def _panel(
        self,
        panel: tuple[Term, ...],
        cells: dict[Square, Cell],
        wide: int,
        changed: set[Square],
        width: int,
    ) -> list[list[list[Span]]]:
        """One board with its axes, in several blocks of columns if it is wider than ``width``; the lines of a
        block are equally long."""
        assert self.board is not None
        spell = self._shown
        rows = [(r, spell(r)) for r in self.board.rows]
        columns = [(c, spell(c)) for c in self.board.columns]
        margin = max(len(name) for _, name in rows)
        longest = max(len(name) for _, name in columns)
        if longest > max(2, wide):
            # Long names of columns would stretch the board, so columns are numbered.
            columns = [(c, str(i)) for i, (c, _) in enumerate(columns, 1)]
            longest = len(str(len(columns)))
        room = width - margin - 2
        high = 1
        if longest > wide and len(columns) * (longest + 1) - 1 > room:
            # Vertical names of columns keep the columns as narrow as their contents.
            high = longest
        pitch = (wide if high > 1 else max(wide, longest)) + 1
        most = max(1, (room + 1) // pitch)
        if len(columns) > most:
            # All blocks have about the same number of columns.
            most = -(-len(columns) // -(-len(columns) // most))
        blocks: list[list[list[Span]]] = []
        for first in range(0, len(columns), most):
            lines: list[list[Span]] = []
            if panel:
                lines.append([(" " * (margin + 2) + " ".join(map(spell, panel)), "bold")])
            part = columns[first : first + most]
            for row, name in reversed(rows):
                squares = [(panel, column, row) for column, _ in part]
                lines.append([(f"{name:>{margin}} ", "dim"), *_row(squares, cells, changed, pitch)])
            for i in range(high):
                names = [name if high == 1 else f"{name:>{high}}"[i] for _, name in part]
                axis = "".join(f"{name:<{pitch}}" for name in names)
                lines.append([(" " * (margin + 2) + axis[:-1], "dim")])
            length = max(_length(line) for line in lines)
            for line in lines:
                line.append((" " * (length - _length(line)), ""))
            blocks.append(lines)
        return blocks


def _row(
    squares: list[Square], cells: dict[Square, Cell], changed: set[Square], pitch: int
) -> Iterator[Span]:
    """A row, from the gap before its first square to the gap after its last one."""
    missing: Cell = [("", "")], _GROUND
    yield ("[", _MARK) if squares[0] in changed else (" ", "")
    for i, square in enumerate(squares):
        cell, sign = cells.get(square, missing)
        yield from cell
        yield " " * (pitch - 1 - _length(cell)), ""
        after = i + 1 < len(squares) and squares[i + 1] in changed
        if sign != _GROUND:
            yield sign
        elif square in changed:
            yield ("|" if after else "]"), _MARK
        else:
            yield ("[", _MARK) if after else _GROUND


def _changed(before: dict[Square, list[Thing]], on: dict[Square, list[Thing]], squares: int) -> set[Square]:
    """The squares whose things have changed; empty if these are most squares."""
    changed = {square for square in before.keys() | on.keys() if before.get(square) != on.get(square)}
    return changed if 2 * len(changed) <= squares else set()


def _length(line: Sequence[Span]) -> int:
    return sum(len(text) for text, _ in line)


def _side_by_side(blocks: list[list[list[Span]]], across: int) -> Iterator[tuple[Span, ...]]:
    for first in range(0, len(blocks), across):
        if first:
            yield ()
        for row in zip(*blocks[first : first + across], strict=True):
            line: list[Span] = []
            for spans in row:
                line += [*spans, (" " * _GAP, "")]
            yield tuple(line[:-1])


def _draw_dots(
    columns: Sequence[tuple[Term, str]],
    rows: Sequence[tuple[Term, str]],
    boxes: Mapping[Square, Sequence[Span]],
    lines: Mapping[Square, bool],
) -> list[list[Span]]:
    """Dots with the lines between them.

    Args:
        columns, rows: coordinates of the dots, and their names.
        boxes: the signs in the boxes, by the dot at their lower left.
        lines: the lines that are drawn, and whether they are new: new ones are made of ``#``.
    """
    margin = max(len(name) for _, name in rows)
    wide = max([3, *(2 + _length(signs) for signs in boxes.values()), *(len(name) for _, name in columns)])

    def joined(a: tuple[Term, Term], b: tuple[Term, Term], sign: str, length: int) -> Span:
        for (x1, y1), (x2, y2) in ((a, b), (b, a)):
            new = lines.get(((x2, y2), x1, y1))
            if new is not None:
                return ("#" if new else sign) * length, _NEW if new else _DRAWN
        return " " * length, ""

    drawn: list[list[Span]] = []
    for j in reversed(range(len(rows))):
        y, name = rows[j]
        line: list[Span] = [(f"{name:>{margin}}  ", "dim")]
        for i, (x, _) in enumerate(columns):
            line.append(("+", "dim"))
            if i + 1 < len(columns):
                line.append(joined((x, y), (columns[i + 1][0], y), "-", wide))
        drawn.append(line)
        if not j:
            break
        below = rows[j - 1][0]
        line = [(" " * (margin + 2), "")]
        for x, _ in columns:
            line.append(joined((x, below), (x, y), "|", 1))
            signs = boxes.get(((), x, below), ())
            space = wide - _length(signs)
            line += [(" " * (space // 2), ""), *signs, (" " * (space - space // 2), "")]
        drawn.append(line)
    axis = "".join(f"{name:<{wide + 1}}" for _, name in columns)
    drawn.append([(" " * (margin + 2) + axis.rstrip(), "dim")])
    return drawn


_WAYS = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))


def draw_rings(
    signs: Mapping[tuple[int, int], Sequence[Span]],
    marked: set[tuple[int, int]],
    names: Sequence[str],
    wide: int,
) -> list[list[Span]]:
    """Rings as lines of text.

    Args:
        signs: the signs on each place, by ring from the inside and place clockwise from the top.
        marked: the places to be drawn in brackets.
        names: names of the rings, from the inside, and then of the eight places.
        wide: width of the widest sign.
    """
    rings = 1 + max(ring for ring, _ in signs)
    size, pitch = 2 * rings + 1, max(2 * wide, 4)
    margin = max(map(len, names)) + 2
    where = {
        (rings + (ring + 1) * x, rings + (ring + 1) * y): (ring, place)
        for ring in range(rings)
        for place, (x, y) in enumerate(_WAYS)
    }
    spoken = [names[rings + place] for place in range(len(_WAYS))]
    lines = [_header(margin, pitch, rings, (spoken[7], spoken[0], spoken[1]))]
    for y in range(size):
        ring = abs(y - rings) - 1
        label = names[ring] if ring >= 0 else spoken[6]
        line: list[Span] = [(f"{label:>{margin - 2}} ", "dim")]
        line.append(("[", "bold") if where.get((0, y)) in marked else (" ", ""))
        for x in range(size):
            spot = where.get((x, y))
            after = where.get((x + 1, y))
            if spot is None:
                # Sides of rings run down or across here.
                down, across = abs(x - rings) > abs(y - rings), abs(x - rings) < abs(y - rings)
                line.append(("-" * wide if across else f"{'|' if down else ' ':<{wide}}", "dim"))
            else:
                line += [*signs[spot], (" " * (wide - sum(len(text) for text, _ in signs[spot])), "")]
            if x + 1 == size:
                line.append(("]", "bold") if spot in marked else (" ", ""))
                continue
            along = _joined(x, y, rings)
            gap = (" -"[along]) * (pitch - wide)
            left = "]" if spot in marked else gap[0]
            right = "[" if after in marked else gap[-1]
            line += [(left, "bold" if spot in marked else "dim"), (gap[1:-1], "dim")]
            line.append((right, "bold" if after in marked else "dim"))
        if ring < 0:
            line.append((f" {spoken[2]}", "dim"))
        lines.append(line)
    lines.append(_header(margin, pitch, rings, (spoken[5], spoken[4], spoken[3])))
    return lines


def _joined(x: int, y: int, rings: int) -> bool:
    """Whether a line runs from a point to the next one on its right."""
    across, down = x - rings, abs(y - rings)
    if down == 0:
        return across not in (-1, 0)
    return -down <= across < down


def _header(margin: int, pitch: int, rings: int, names: Sequence[str]) -> list[Span]:
    step = pitch * rings
    left, middle, right = names
    return [(f"{' ' * margin}{left:<{step}}{middle:<{step}}{right}", "dim")]
