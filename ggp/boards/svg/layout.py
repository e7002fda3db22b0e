"""Positions of a board's squares in a drawing: squares, hexagons, rings, dots, disks on pegs; one board or
several."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from gdl.hints import board_hint
from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.layers import Square, Thing, is_number
from ggp.boards.shapes import RING_PLACES, BoardShape, indents
from ggp.boards.svg.markup import clipped, number

UNIT = 40.0
"""Side of a square, in the drawing's own units."""
_GAP = 26.0
_CLOSE = 7.0
_LABEL = 20.0
NO_NUMBERS: Mapping[Square, int] = {}
GROUNDS = ("dark", "green", "lines")
"""Grounds with colours of their own."""


class SpotKind(Enum):
    """The look of an empty square."""

    SQUARE = "square"
    HEXAGON = "hexagon"
    POINT = "point"
    CROSSING = "crossing"
    """A crossing of lines that are drawn already."""
    BOX = "box"
    EDGE = "edge"
    """A place for a line between two dots."""
    DISK = "disk"
    """A disk on a peg, of the width in its spot."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A square in the drawing.

    Attributes:
        key: ``panel,column,row`` by number from 0, the row from the bottom.
        name: its coordinates as the rules call them, or its number.
        x, y: its middle.
        dark: whether it is a dark square of a chequered board.
        wide, high: its width and height, if these are not the side of a square.
        number: the number in its corner; empty for none.
    """

    key: str
    name: str
    x: float
    y: float
    kind: SpotKind = SpotKind.SQUARE
    dark: bool = False
    wide: float = UNIT
    high: float = UNIT
    number: str = ""

    def said(self, meanings: Iterable[str]) -> str:
        """Its name, and what is there."""
        what = ", ".join(meanings)
        return f"{self.name}: {what}" if what else self.name


@dataclass(frozen=True, slots=True)
class Label:
    """A name next to a board: its middle, its text and its class; ``turn`` is what keeps it readable on a
    board that is turned."""

    x: float
    y: float
    text: str
    cls: str = "gb-axis"
    turn: str = ""


@dataclass(frozen=True, slots=True)
class BoardLayout:
    """A board in a drawing.

    Attributes:
        width, height: of everything.
        spots: the position of each square.
        lines: lines between places, behind them; ends as x1, y1, x2, y2.
        loops: the same for lines that go round a corner of the board, whose room is ``aside``.
        dots: points between squares, over them.
        labels: names of columns, rows and boards.
        edges: sides that belong to roles: lines over the squares, and the number of the role.
        turn: the transformation that turns the drawing for who sits at its top; empty if none does.
        ground: one of GROUNDS; empty for other grounds.
    """

    width: float
    height: float
    spots: dict[Square, Spot]
    lines: tuple[tuple[float, float, float, float], ...] = ()
    loops: tuple[tuple[float, float, float, float], ...] = ()
    aside: float = 0.0
    dots: tuple[tuple[float, float], ...] = ()
    labels: tuple[Label, ...] = ()
    edges: tuple[tuple[float, float, float, float, int], ...] = ()
    turn: str = ""
    ground: str = ""

    @property
    def middle(self) -> tuple[float, float]:
        """The middle of all squares."""
        xs, ys = ([getattr(spot, side) for spot in self.spots.values()] for side in "xy")
        return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2


def square_name(rules: Rules, square: Square) -> str:
    """A square's coordinates as the rules call them."""
    panel, x, y = square
    words = [rules.spell(term) for term in (*panel, x, y) if term.name]
    return " ".join(words)


def lay_out(
    board: Grid, rules: Rules, margin: float | None = None, numbers: Mapping[Square, int] = NO_NUMBERS
) -> BoardLayout:
    """The layout of a board. If ``margin`` is given, it replaces the names of columns and rows around the
    squares, and the board cannot be turned. Numbers of squares replace these names too."""
    match board.shape:
        case BoardShape.STRAIGHT:
            layout = _straight(board, rules, margin, numbers)
        case BoardShape.RINGS:
            layout = _rings(board, rules)
        case _:
            layout = _hexagons(board, rules)
    if margin is not None or not layout.spots or (len(board.panels) > 1 and not board.places):
        return layout
    square = board.shape is BoardShape.STRAIGHT
    x, y = layout.middle if square else (layout.width / 2, layout.height / 2)
    turn = f"rotate(180 {number(x)} {number(y)})"
    return replace(
        layout, turn=turn, labels=tuple(_turning(label, layout, x, y, square) for label in layout.labels)
    )


def _turning(label: Label, layout: BoardLayout, x: float, y: float, square: bool) -> Label:
    """A name with its own turn, which keeps it readable. Names at the sides of square boards stay at their
    side, others go with the squares to the opposite one."""
    if square and label.y > max(spot.y for spot in layout.spots.values()):
        return replace(label, turn=f"rotate(180 {number(label.x)} {number(y)})")
    return replace(label, turn=f"rotate(180 {number(x if square else label.x)} {number(label.y)})")


def _is_chequered(board: Grid, rules: Rules) -> bool:
    """Whether light and dark squares alternate: true for boards of pieces, unless a hint says otherwise."""
    if ground := board_hint(rules.hints) or board.ground:
        return ground == "chequered"
    numbers = board.things and all(map(is_number, board.things))
    if len(board.things) > 2 and set(board.things) <= board.behaviour.laid:
        return False  # These are areas, which have colours of their own.
    fixed = {thing for things in board.fixed.values() for thing in things}
    marked = fixed and (not board.behaviour.moves or fixed & (board.solid | board.sides.keys()))
    other = marked or board.clues or board.blocks or board.dotted
    return min(len(board.columns), len(board.rows)) >= 4 and not (other or numbers)


def _straight(board: Grid, rules: Rules, margin: float | None, numbers: Mapping[Square, int]) -> BoardLayout:
    (columns, wide), (rows, high) = (_tracks(len(side), board) for side in (board.columns, board.rows))
    several = len(board.panels) > 1 or bool(board.panels and board.panels[0])
    ground = board_hint(rules.hints) or board.ground
    points = ground == "points" or (bool(board.lines) and ground != "lines")
    squares = SpotKind.CROSSING if ground == "lines" and not several else SpotKind.SQUARE
    kind = SpotKind.POINT if points else squares
    chequered = _is_chequered(board, rules) and not points
    # Parts of one whole board stand close together, without names.
    parts = bool(board.places)
    named = not (parts or numbers) and margin is None
    left = margin or (_margin(rules, board.rows) if named and not board.strip else 0.0)
    title = margin or (_LABEL if several and not parts else 0.0)
    gap_x, gap_y = (_CLOSE, _CLOSE) if parts else (_GAP, _GAP / 2)
    aside = _aside(board) if kind is SpotKind.CROSSING else 0.0
    pitch_x = left + wide + gap_x + (margin or 2 * aside)
    pitch_y = title + high + gap_y + (_LABEL if named else margin or 0.0) + 2 * aside
    spots: dict[Square, Spot] = {}
    labels: list[Label] = []
    place = _panel_places(board, pitch_x, pitch_y)
    for p, panel in enumerate(board.panels):
        column, row = place(p)
        x0, y0 = column * pitch_x + left + aside, row * pitch_y + title + aside
        if several and not parts:
            whole = clipped(" ".join(map(rules.spell, panel)), max(6, len(board.columns) * 5))
            labels.append(Label(x0 + wide / 2, y0 - _LABEL / 2, whole, "gb-title"))
        for i, x in enumerate(board.columns):
            middle = x0 + columns[i]
            if named:
                labels.append(Label(middle, y0 + high + aside + _LABEL / 2, clipped(rules.spell(x), 5)))
            for j, y in enumerate(board.rows):
                square = (panel, x, y)
                if square in board.squares:
                    corner, dark = str(numbers.get(square, "")), chequered and (i + j) % 2 == 0
                    name, at = corner or square_name(rules, square), y0 + high - rows[j]
                    spot = Spot(f"{p},{i},{j}", name, middle, at, kind, dark, number=corner)
                    spot = (
                        replace(spot, kind=SpotKind.BOX)
                        if square in board.clues and kind is squares
                        else spot
                    )
                    spots[square] = _among_dots(spot, i % 2, j % 2) if board.dotted else spot
        if named and not board.strip:
            for j, y in enumerate(board.rows):
                labels.append(Label(x0 - aside - left / 2, y0 + high - rows[j], clipped(rules.spell(y), 8)))
    across = 1 + max(place(p)[0] for p in range(len(board.panels)))
    down = 1 + max(place(p)[1] for p in range(len(board.panels)))
    lines, loops = (
        tuple((spots[a].x, spots[a].y, spots[b].x, spots[b].y) for a, b in pairs if {a, b} <= spots.keys())
        for pairs in (board.lines, board.loops)
    )
    dots = ((left + x, title + high - y) for x in columns[::2] for y in rows[::2])
    return BoardLayout(
        across * pitch_x - gap_x,
        down * pitch_y - gap_y,
        spots,
        lines,
        loops,
        aside,
        tuple(dots) if board.dotted else (),
        labels=tuple(labels),
        edges=tuple(_straight_edges(board, left, title)),
        ground=ground if ground in GROUNDS else "",
    )


def _aside(board: Grid) -> float:
    """Room beside a board of lines for its largest loop."""
    _, columns, _ = board.numbers
    return max(((abs(columns[a[1]] - columns[b[1]]) - 0.2) * UNIT for a, b in board.loops), default=0.0)


_THIN = 10.0
"""Width of a column of dots."""


def _tracks(many: int, board: Grid) -> tuple[list[float], float]:
    """The middles of columns or rows, and the width of all; those of dots are thin."""
    sizes = [_THIN if board.dotted and i % 2 == 0 else UNIT for i in range(many)]
    return [sum(sizes[:i]) + size / 2 for i, size in enumerate(sizes)], sum(sizes)


def _among_dots(spot: Spot, across: int, up: int) -> Spot:
    """The place of a dot, a line or a box, by the parity of its column and row."""
    kind = (SpotKind.POINT, SpotKind.EDGE, SpotKind.BOX)[across + up]
    return replace(spot, kind=kind, wide=across * UNIT + _THIN, high=up * UNIT + _THIN)


def _straight_edges(board: Grid, left: float, top: float) -> Iterator[tuple[float, float, float, float, int]]:
    right, bottom = left + len(board.columns) * UNIT, top + len(board.rows) * UNIT
    ends = {
        "left": (left, top, left, bottom),
        "right": (right, top, right, bottom),
        "bottom": (left, bottom, right, bottom),
        "top": (left, top, right, top),
    }
    for side, role in board.edges.items():
        yield *ends[side], role


def _panel_places(board: Grid, pitch_x: float, pitch_y: float) -> Callable[[int], tuple[int, int]]:
    """Column from the left and row from the top of each panel, by its number."""
    if board.places:
        top = max(row for _, row in board.places.values())
        return lambda p: (board.places[board.panels[p]][0], top - board.places[board.panels[p]][1])
    # The layout is about half as wide again as high.
    across = max(1, min(len(board.panels), round(math.sqrt(1.5 * len(board.panels) * pitch_y / pitch_x))))
    return lambda p: (p % across, p // across)


_ASIDE = 0.8
"""Distance of a column's name from its hexagon, in steps between hexagons."""


def _hexagons(board: Grid, rules: Rules) -> BoardLayout:
    centred = board.shape is BoardShape.CENTRED
    whole: list[list[Square]] = [[((), x, y) for x in board.columns] for y in board.rows]
    rows = [[square for square in row if square in board.squares] for row in whole]
    offsets = indents(board.shape, list(map(len, rows)))
    step = UNIT * math.sqrt(3) / 2
    left = _margin(rules, board.rows)
    spots: dict[Square, Spot] = {}
    labels: list[Label] = []
    above = board.shape is BoardShape.RIGHT
    for j, row in enumerate(rows):
        y = (len(rows) - 1 - j) * step + UNIT * 0.6 + (_LABEL if above else 0)
        begin = left + offsets[j] * UNIT / 2
        for n, square in enumerate(row):
            i = board.columns.index(square[1])
            x = begin + ((n if centred else i) + 0.5) * UNIT
            name = square_name(rules, square)
            spots[square] = Spot(f"0,{i},{j}", name, x, y, SpotKind.HEXAGON)
        if row:
            x = spots[row[0]].x - UNIT / 2 - left / 2
            labels.append(Label(x, y, clipped(rules.spell(board.rows[j]), 8)))
    height = (len(rows) - 1) * step + UNIT * 1.2
    if not centred:
        # A column's name stands at its right end, above or below, because the names of rows stand on the
        # left.
        for x_name in board.columns:
            column = [spot for square, spot in spots.items() if square[1] == x_name]
            if column:
                last = min(column, key=lambda spot: spot.y if above else -spot.y)
                y = last.y + (-1 if above else 1) * _ASIDE * (step + _LABEL / 3)
                labels.append(Label(last.x + _ASIDE * UNIT / 2, y, clipped(rules.spell(x_name), 5)))
        height += _LABEL
    width = max((spot.x for spot in spots.values()), default=UNIT) + UNIT / 2
    return BoardLayout(width, height, spots, labels=tuple(labels), edges=tuple(_hexagon_edges(board, spots)))


def hexagon(spot: Spot) -> list[tuple[float, float]]:
    """The corners of a hexagon, from the lowest one counter-clockwise."""
    side = UNIT / math.sqrt(3)
    return [
        (spot.x + side * math.sin(i * math.pi / 3), spot.y + side * math.cos(i * math.pi / 3))
        for i in range(6)
    ]


def _hexagon_edges(
    board: Grid, spots: dict[Square, Spot]
) -> Iterator[tuple[float, float, float, float, int]]:
    """Sides of hexagons at the sides of a board; side i runs from corner i to the next one."""
    leans_right = board.shape is BoardShape.RIGHT
    border = {
        "left": (4, 3) if leans_right else (4, 5),
        "right": (1, 0) if leans_right else (1, 2),
        "bottom": (5, 0),
        "top": (2, 3),
    }
    ends = {
        "left": board.columns[0],
        "right": board.columns[-1],
        "bottom": board.rows[0],
        "top": board.rows[-1],
    }
    for side, role in board.edges.items():
        place = 1 if side in ("left", "right") else 2
        for square, spot in spots.items():
            if square[place] == ends[side]:
                corners = hexagon(spot)
                for i in border[side]:
                    yield *corners[i], *corners[(i + 1) % 6], role


def _rings(board: Grid, rules: Rules) -> BoardLayout:
    rings = len(board.columns)
    middle = (rings + 0.5) * UNIT + _LABEL

    def at(ring: int, place: int) -> tuple[float, float]:
        x, y = RING_PLACES[place]
        return middle + (ring + 1) * x * UNIT, middle + (ring + 1) * y * UNIT

    spots: dict[Square, Spot] = {}
    lines: list[tuple[float, float, float, float]] = []
    labels: list[Label] = []
    for i, ring in enumerate(board.columns):
        for j, place in enumerate(board.rows):
            square = ((), ring, place)
            x, y = at(i, j)
            spots[square] = Spot(f"0,{i},{j}", square_name(rules, square), x, y, SpotKind.POINT)
            lines.append((x, y, *at(i, (j + 1) % len(RING_PLACES))))
            if j % 2 == 0 and i + 1 < rings:
                lines.append((x, y, *at(i + 1, j)))
    for j, place in enumerate(board.rows):
        x, y = at(rings - 1, j)
        way = RING_PLACES[j]
        text = clipped(rules.spell(place), 5)
        labels.append(Label(x + way[0] * UNIT * 0.7, y + way[1] * UNIT * 0.7, text))
    size = 2 * middle
    return BoardLayout(size, size, spots, tuple(lines), labels=tuple(labels))


def _margin(rules: Rules, names: tuple[Term, ...]) -> float:
    """Room for names at the left of rows."""
    return 10 + 7.5 * min(8, max((len(rules.spell(name)) for name in names), default=1))


_GROWTH = 0.32
"""Extra width of each disk over the one above, in squares."""


def has_towers(board: Grid, rules: Rules) -> bool:
    """Whether a board is drawn as towers, because of its observed behaviour or a hint."""
    strip = len(board.layers) == 1 and board.layers[0].strip and len(board.panels) == 1
    if not strip or len(board.things) < 2:
        return False
    return bool(board.behaviour.towers) or board_hint(rules.hints) == "towers"


def lay_out_towers(board: Grid, rules: Rules, on: Mapping[Square, list[Thing]]) -> BoardLayout:
    """The positions of the disks in a state; a disk that is on no peg has no position."""
    disks = list(board.columns)
    if board.behaviour.towers < 0:
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
