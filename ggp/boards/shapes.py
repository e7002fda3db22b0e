"""Shapes of boards: hexagons, rings, dots with lines, rows of pits, and the places of several boards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product

from gdl.terms import Term
from ggp.boards.layers import MOST_SIDE, Layer, Square, Thing, split_name, things_on
from ggp.boards.statics import CoordinateOrder, Statics

Point = tuple[int, int]
"""Half columns to the right and rows up."""
_FEW_WRONG = 0.95
_MOST_NEIGHBOURS = 20


class BoardShape(Enum):
    """The placement of rows above each other.

    Rows stand in columns; or each half a square further right, or left, than the row below; or each centred,
    which makes hexagons and stars of rows of different lengths. Rings have a column for each ring and a row
    for each place on it. Heaps have a row of sticks each. A row has doors or numbers.
    """

    STRAIGHT = "straight"
    RIGHT = "right"
    LEFT = "left"
    CENTRED = "centred"
    RINGS = "rings"
    HEAPS = "heaps"
    ROW = "row"


def indents(shape: BoardShape, lengths: list[int]) -> list[int]:
    """Half squares from the leftmost row to the start of each row, given the lengths of all rows, from the
    bottom up."""
    match shape:
        case BoardShape.RIGHT:
            return list(range(len(lengths)))
        case BoardShape.LEFT:
            return list(reversed(range(len(lengths))))
        case BoardShape.CENTRED:
            return [max(lengths) - length for length in lengths]
    return [0] * len(lengths)


def shape_of(
    squares: Iterable[Square], columns: tuple[Term, ...], rows: tuple[Term, ...], statics: Statics
) -> tuple[BoardShape, bool]:
    """The shape of a board, and whether its first coordinate counts rows. Relations between neighbouring
    squares decide: hexagons have six neighbours, in three directions."""
    if min(len(columns), len(rows)) < 3:
        return BoardShape.STRAIGHT, False  # Two rows of pits form a ring, too.
    flat = {(x, y) for _, x, y in squares}
    x_place = {x: i for i, x in enumerate(columns)}
    y_place = {y: j for j, y in enumerate(rows)}
    layouts = [
        (shape, turned, _points(flat, shape, turned, x_place, y_place))
        for turned in (False, True)
        for shape in (BoardShape.RIGHT, BoardShape.LEFT, BoardShape.CENTRED)
        if not turned or shape is BoardShape.CENTRED
    ]
    for signature in statics.signatures((4, 5)):
        touching = _touching(statics.rows(signature, _MOST_NEIGHBOURS * len(flat)), signature[1], flat)
        if len(touching) < len(flat):
            continue
        for shape, turned, points in layouts:
            if _hexagonal([(points[a], points[b]) for a, b in touching]):
                return shape, turned
    return BoardShape.STRAIGHT, False


def centred_by_name(squares: Iterable[Square]) -> bool:
    """Whether squares such as ``a1`` are numbered along rows of different lengths, all from the same number.
    The letters are then rows, each centred."""
    numbers: dict[Term, list[int]] = defaultdict(list)
    for _, letter, number in squares:
        numbers[letter].append(int(number.name))
    lengths = {len(row) for row in numbers.values()}
    first = min(map(min, numbers.values()))
    whole = all(sorted(row) == list(range(first, first + len(row))) for row in numbers.values())
    return whole and len(lengths) > 1


def _points(
    flat: set[tuple[Term, Term]],
    shape: BoardShape,
    turned: bool,
    x_place: dict[Term, int],
    y_place: dict[Term, int],
) -> dict[tuple[Term, Term], Point]:
    """The positions of the squares in the drawing."""
    rows: dict[int, list[tuple[int, tuple[Term, Term]]]] = defaultdict(list)
    for x, y in flat:
        row, column = (x_place[x], y_place[y]) if turned else (y_place[y], x_place[x])
        rows[row].append((column, (x, y)))
    height = len(x_place if turned else y_place)
    offsets = indents(shape, [len(rows[row]) for row in range(height)])
    points: dict[tuple[Term, Term], Point] = {}
    for row, line in rows.items():
        for i, (column, square) in enumerate(sorted(line)):
            points[square] = offsets[row] + 2 * (i if shape is BoardShape.CENTRED else column), row
    return points


def _touching(
    rows: set[tuple[Term, ...]], arity: int, flat: set[tuple[Term, Term]]
) -> set[tuple[tuple[Term, Term], tuple[Term, Term]]]:
    """The pairs of squares in the rows of a relation; none if most rows are about something else."""
    for first in range(arity - 3):
        pairs = {((r[first], r[first + 1]), (r[first + 2], r[first + 3])) for r in rows}
        inside = {(a, b) for a, b in pairs if a in flat and b in flat and a != b}
        if inside and len(inside) >= 0.4 * len(pairs):
            return inside
    return set()


def _hexagonal(pairs: list[tuple[Point, Point]]) -> bool:
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairs]
    ways = {(2, 0): 0, (1, 1): 0, (-1, 1): 0}
    for x, y in steps:
        for step in ((x, y), (-x, -y)):
            if step in ways:
                ways[step] += 1
    return sum(ways.values()) >= _FEW_WRONG * len(steps) and min(ways.values()) > 0.1 * len(steps)


_SPARSE = 0.75
"""Largest share of a grid's places that squares fill if lines join them."""


def lines_between(
    squares: set[Square], columns: tuple[Term, ...], rows: tuple[Term, ...], statics: Statics
) -> tuple[tuple[Square, Square], ...]:
    """The lines along which moves run, as pairs of squares. A relation of the rules joins the pairs by
    straight lines, some of which are longer than a step. Empty for boards whose squares touch."""
    flat = {(x, y): (panel, x, y) for panel, x, y in squares}
    if len(flat) != len(squares) or len(squares) > _SPARSE * len(columns) * len(rows):
        return ()
    column, row = {x: i for i, x in enumerate(columns)}, {y: j for j, y in enumerate(rows)}
    spots = {square: (column[square[0]], row[square[1]]) for square in flat}
    places = set(spots.values())
    for signature in statics.signatures((2, 4, 5)):
        found = statics.rows(signature, _MOST_NEIGHBOURS * len(flat))
        if signature[1] == 2:
            found = {(*split_name(a), *split_name(b)) for a, b in found}
        pairs = _touching(found, max(4, signature[1]), set(flat))
        joined = {tuple(sorted((spots[a], spots[b]))): (flat[a], flat[b]) for a, b in sorted(pairs)}
        if len(pairs) >= len(flat) and all(_free(a, b, places) for a, b in joined):
            lengths = {max(abs(a[0] - b[0]), abs(a[1] - b[1])) for a, b in joined}
            if max(lengths) > 1:
                return tuple(joined.values())
    return ()


def _free(a: Point, b: Point, places: set[Point]) -> bool:
    """Whether a line between two places is straight and passes no other one."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    steps = max(abs(dx), abs(dy))
    if not (dx == 0 or dy == 0 or abs(dx) == abs(dy)):
        return False
    between = ((a[0] + dx // steps * i, a[1] + dy // steps * i) for i in range(1, steps))
    return not any(spot in places for spot in between)


def lines_between_dots(
    squares: set[Square],
    columns: tuple[Term, ...],
    rows: tuple[Term, ...],
    may: Sequence[tuple[Square, Thing]],
    hinted: bool,
) -> frozenset[Thing]:
    """The things that are lines, on a board whose odd columns and rows are those of dots: every square where
    one of both is odd is there; where both are, there is none, or nothing that may stand elsewhere (with a
    hint that does not matter); things stand on lines that never stand in boxes. ``may`` has the things that
    may stand on each square. Empty for other boards."""
    kinds: dict[Square, int] = {
        ((), x, y): i % 2 + j % 2 for i, x in enumerate(columns) for j, y in enumerate(rows)
    }
    dots, lines, boxes = ({thing for square, thing in may if kinds.get(square) == n} for n in range(3))
    whole = all(square in squares for square, kind in kinds.items() if kind == 1)
    bare = not any(kinds.get(square) == 0 for square in squares)
    apart = hinted or bare or (dots and dots.isdisjoint(lines | boxes))
    if min(len(columns), len(rows)) < 3 or not (len(columns) % 2 and len(rows) % 2 and whole and apart):
        return frozenset()
    return frozenset(lines - boxes - dots)


_COMPASS = ("n", "ne", "e", "se", "s", "sw", "w", "nw")
"""Places of a ring, clockwise."""
RING_PLACES = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))
"""Columns to the right and rows down from the middle of rings to their places, clockwise from the top."""


def ring_of(domain: Iterable[Term], statics: Statics) -> tuple[Term, ...]:
    """Eight places in clockwise order from the middle of the top side, by the names of the compass or by
    facts about which place follows which. Empty if the places are not a ring."""
    places = sorted(set(domain))
    if len(places) != len(_COMPASS):
        return ()
    if {place.name for place in places} == set(_COMPASS):
        return tuple(map(Term, _COMPASS))
    for signature in statics.signatures((2,)):
        pairs = statics.rows(signature, len(places))
        after = {row[0]: row[1] for row in pairs}
        if len(pairs) != len(places) or set(after) != set(places):
            continue
        ring = [places[0]]
        while after[ring[-1]] in after and after[ring[-1]] not in ring:
            ring.append(after[ring[-1]])
        if len(ring) == len(places):
            return tuple(ring[1:] + ring[:1]) if _corners(ring, statics) else tuple(ring)
    return ()


def _corners(ring: list[Term], statics: Statics) -> bool:
    """Whether the first place of a ring is a corner: facts give the four corners a property of their own."""
    halves = {frozenset(ring[0::2]): True, frozenset(ring[1::2]): False}
    for signature in statics.signatures((1,)):
        some = frozenset(row[0] for row in statics.rows(signature, len(ring)))
        if some in halves:
            return halves[some]
    return False


Panel = tuple[Term, ...]


def places_of_panels(
    panels: tuple[Panel, ...], squares: set[Square], order: CoordinateOrder, statics: Statics
) -> dict[Panel, tuple[int, int]]:
    """Column from the left and row from the bottom of each panel; empty if the rules only put the panels in a
    line.

    Panels with two coordinates are placed by these. Panels with one coordinate are placed by a relation that
    maps each square of each panel to a column and a row of the whole board, as in Pentago.
    """
    if len(panels) < 2:
        return {}
    if len(panels[0]) == 2:
        return _places({panel: (panel[0], panel[1]) for panel in panels}, order)
    if len(panels[0]) != 1:
        return {}
    for signature in statics.signatures((5,)):
        rows = statics.rows(signature, len(squares))
        whole = {((row[0],), row[1], row[2]): (row[3], row[4]) for row in rows}
        if whole.keys() == squares and len(set(whole.values())) == len(squares):
            corners: dict[Panel, tuple[Term, Term]] = {}
            for panel in panels:
                xs, ys = zip(*(at for square, at in whole.items() if square[0] == panel), strict=True)
                corners[panel] = order.sort(set(xs))[0], order.sort(set(ys))[0]
            places = _places(corners, order)
            if len(set(places.values())) == len(panels):
                return places
    return {}


def _places(at: dict[Panel, tuple[Term, Term]], order: CoordinateOrder) -> dict[Panel, tuple[int, int]]:
    columns = order.sort({x for x, _ in at.values()})
    rows = order.sort({y for _, y in at.values()})
    return {panel: (columns.index(x), rows.index(y)) for panel, (x, y) in at.items()}


def dots_of(
    lines: Iterable[tuple[Term, ...]], order: CoordinateOrder
) -> tuple[tuple[Term, ...], tuple[Term, ...], dict[tuple[Term, ...], Square]] | None:
    """Columns and rows of dots and gaps in turn, if each line names two neighbouring dots by four terms; and
    the squares by what names them: of lines both ends, of boxes the dot at the lower left. None for other
    terms."""
    if any(len(line) != 4 or any(term.args for term in line) for line in lines):
        return None
    sides = [{line[i] for line in lines for i in (n, n + 2)} for n in (0, 1)]
    ways = {line[0] == line[2] for line in lines}
    sizes = sorted(map(len, sides))
    if len(ways) < 2 or not 2 <= sizes[0] <= sizes[1] <= MOST_SIDE or not all(map(order.sure, sides)):
        return None
    columns, rows = (
        tuple(name for dot in order.sort(side) for name in (dot, Term(f"{dot}+")))[:-1] for side in sides
    )
    at: dict[tuple[Term, ...], Square] = {}
    for (i, x), (j, y) in product(enumerate(columns), enumerate(rows)):
        low, high = (columns[i - i % 2], rows[j - j % 2]), (columns[i + i % 2], rows[j + j % 2])
        if (i + j) % 2:
            at[low + high] = at[high + low] = (), x, y
        elif i % 2:
            at[low] = (), x, y
    return (columns, rows, at) if at.keys() >= set(lines) else None


_FEWEST_SOWINGS = 4
"""Fewest ways of lying in pits that seeds must be seen in without a hint."""


@dataclass(frozen=True, slots=True)
class Pits:
    """Pits in two rows that face each other, as of kalah.

    Attributes:
        below, above: the pits of both rows from left to right; one's own row runs to one's own store.
        stores: the stores at the left and at the right; empty if there are none on the board.
        seeds: the number of seeds that each thing means.
    """

    below: tuple[Square, ...]
    above: tuple[Square, ...]
    stores: tuple[Square, ...]
    seeds: Mapping[Thing, int]

    def count(self, things: Sequence[Thing]) -> int:
        """The seeds that some things mean."""
        return sum(self.seeds.get(thing, 0) for thing in things)


def pits_of(
    squares: set[Square],
    layer: Layer,
    things: set[Thing],
    states: Sequence[frozenset[Term]],
    roles: Sequence[Term],
    order: CoordinateOrder,
    statics: Statics,
    hinted: bool,
) -> Pits | None:
    """The pits of a board, if seeds are sown around it: all things are numbers, which are together as many as
    at first or fewer, and a relation leads around all squares. With a hint any numbers in two rows are pits.
    Two squares that are empty at first are stores."""
    seeds: dict[Thing, int] = {
        (term,): n for term, n in order.values({term for thing in things for term in thing}).items()
    }
    if not seeds or not things <= seeds.keys() or layer.panel:
        return None
    lies = [{square: seeds[thing] for square, thing in things_on([layer], state)} for state in states]
    sums = [sum(here.values()) for here in lies]
    ways = {tuple(sorted(here.values())) for here, n in zip(lies, sums, strict=True) if n == sums[0]}
    if not hinted and (len(ways) < _FEWEST_SOWINGS or max(sums) > sums[0]):
        return None
    stores = {square for square in squares if not lies[0].get(square)}
    stores = stores if len(stores) == 2 else set()
    tables = (statics.rows(name, 2 * len(squares) * len(roles)) for name in statics.signatures((2, 3, 4, 5)))
    if around := next(filter(None, (_around(rows, squares, stores, layer, roles) for rows in tables)), []):
        cut = next((n for n in range(1, len(around)) if around[n] in stores), len(around) // 2)
        ends = (around[0], around[cut]) if stores else ()
        return Pits(
            tuple(around[len(ends) // 2 : cut]), tuple(around[: cut + len(ends) // 2 - 1 : -1]), ends, seeds
        )
    if not hinted or len(ys := order.sort({y for _, _, y in squares})) != 2:
        return None
    xs = order.sort({x for _, x, _ in squares})
    below, above = (tuple(((), x, y) for x in xs if ((), x, y) in squares - stores) for y in ys)
    return Pits(below, above, tuple(sorted(stores, key=lambda square: xs.index(square[1]))), seeds)


def _around(
    rows: set[tuple[Term, ...]],
    squares: set[Square],
    stores: set[Square],
    layer: Layer,
    roles: Sequence[Term],
) -> list[Square]:
    """All squares in the order in which a relation leads around them, from the second role's store on. A role
    may stand before or behind the two squares of a row. Empty if the relation does not lead around."""
    follows: dict[Square, set[Square]] = defaultdict(set)
    own = set[Square]()
    for row in rows:
        place = [term for term in row if term not in roles]
        if layer.x == layer.y:
            place = [part for term in place for part in split_name(term)]
        if layer.strip:
            place = [part for term in place for part in (term, Term(""))]
        if len(place) != 4:
            return []
        follows[(), place[0], place[1]].add(((), place[2], place[3]))
        own |= {((), place[2], place[3])} if roles[0] in row else set()
    found = [min(stores or squares, key=lambda square: (bool(stores) and square in own, square))]
    while after := follows[found[-1]] - set(found):
        found.append(min(after, key=lambda square: (square not in stores, square)))
    return found if set(found) == squares and found[0] in follows[found[-1]] else []
