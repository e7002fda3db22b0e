"""Finds the board of a game: base propositions that say what stands on which square of a grid.

Nothing depends on how symbols are called, so scrambled games have boards too; names only help with
orientation and letters. Two arguments of a functor are *coordinates* if they are a key (in no state do two
propositions agree in both and differ elsewhere), or nearly one.

A board also has parts that never move: walls and holes, which nothing enters; walls between two squares;
things that facts of the rules put on squares; and the floor. In games such as Hex a side of the board belongs
to a role, and a chain of its stones between two opposite sides wins.

Walls and sides are found by asking the rules about constructed states: a whole row of one role's stones, the
same row with a gap, a whole column. Names play no part.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from gdl.errors import GdlError
from gdl.hints import FACTS, LINKS, ROWS, board_hint
from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.terms import Term, sort_key
from ggp.boards.fixed import (
    atoms_of_state,
    by_signature,
    facts_on_squares,
    floor_things,
    hinted_on_squares,
    walls,
)
from ggp.boards.kinds.grounds import blocks_of, ground_of
from ggp.boards.kinds.heaps import Heaps, heaps_of, row_layers
from ggp.boards.kinds.links import between, drawn_lines, hinted_facts, hinted_relations, links_of
from ggp.boards.kinds.seas import with_seas
from ggp.boards.layers import (
    Layer,
    LayerCandidate,
    LayerFinder,
    Square,
    Thing,
    is_number,
    most_side,
    things_on,
    transposed,
    twins,
)
from ggp.boards.piece_behaviour import PieceBehaviour, behaviour_of
from ggp.boards.shapes import (
    BoardShape,
    Pits,
    centred_by_name,
    dots_of,
    lines_between,
    lines_between_dots,
    pits_of,
    places_of_panels,
    ring_of,
    shape_of,
)
from ggp.boards.statics import CoordinateOrder, Statics, listed_propositions

_MOST_RINGS = 4
_MOST_STEPS = 160
_MOST_READ = 60_000
"""Most propositions and legal moves that are examined, over all sampled states."""
_EMPTY = ("b", "blank", "empty", "none", "free")
"""Names of things that mean an empty square; ``b`` is black if there is also ``w``."""
_NO_THINGS: frozenset[Thing] = frozenset({(Term("blank"),), (Term("empty"),)})


@dataclass(frozen=True)
class Grid:
    """The grid of a game.

    Attributes:
        columns, rows, panels: the coordinates in order, columns from left to right, rows from the bottom up.
        layers: the layers that are drawn, from base propositions.
        squares: the squares known to exist.
        things: every thing that may stand on a square, fixed ones included.
        fixed: the things that static facts put on squares.
        blanks: things that mean an empty square.
        shape: how the rows are placed above each other.
        solid: things that fill their squares: nothing else stands there.
        sides: walls at the side of a square, each with its side.
        places: column from the left and row from the bottom of each panel, if panels have such places.
        behaviour: the observed behaviour of things.
        lines: pairs of squares that moves join; the squares are then points on these lines.
        loops: pairs of squares at two sides of the board, joined by a line around the corner between them.
        edges: the role that a side of the board belongs to, by ``left``, ``right``, ``bottom``, ``top``.
        pits: the rows of pits, if seeds are sown on the board.
        ground: its look as hints call it, ``lines``, ``green`` or ``dark``, if the rules show that; else
            empty.
        blocks: blocks of squares that must differ.
        given: the numbers that stand there at first, if others are written beside them.
        heaps: for heaps, how amounts are squares.
        links: facts that never change and name two squares, to be drawn between these.
        clues: squares of a puzzle on which a number stands from the start, and nothing else ever.
        dotted: the things that are lines between dots, if columns and rows are in turn dots and boxes.
    """

    columns: tuple[Term, ...]
    rows: tuple[Term, ...]
    panels: tuple[tuple[Term, ...], ...]
    layers: tuple[Layer, ...]
    squares: frozenset[Square]
    things: tuple[Thing, ...]
    fixed: dict[Square, list[Thing]] = field(default_factory=dict)
    blanks: frozenset[Thing] = _NO_THINGS
    shape: BoardShape = BoardShape.STRAIGHT
    places: dict[tuple[Term, ...], tuple[int, int]] = field(default_factory=dict)
    solid: frozenset[Thing] = frozenset()
    sides: dict[Thing, str] = field(default_factory=dict)
    behaviour: PieceBehaviour = PieceBehaviour()
    lines: tuple[tuple[Square, Square], ...] = ()
    loops: tuple[tuple[Square, Square], ...] = ()
    edges: dict[str, int] = field(default_factory=dict)
    pits: Pits | None = None
    ground: str = ""
    blocks: tuple[frozenset[Square], ...] = ()
    given: frozenset[tuple[Square, Thing]] = frozenset()
    heaps: Heaps | None = None
    links: tuple[Term, ...] = ()
    clues: frozenset[Square] = frozenset()
    dotted: frozenset[Thing] = frozenset()

    @property
    def seas(self) -> bool:
        """Whether each role has a sea."""
        return any(layer.across for layer in self.layers)

    @property
    def strip(self) -> bool:
        """Whether the squares have no rows that are named."""
        return self.rows == (Term(""),)

    @cached_property
    def numbers(self) -> tuple[dict[tuple[Term, ...], int], dict[Term, int], dict[Term, int]]:
        """The number of each panel, column and row."""
        panels = {panel: number for number, panel in enumerate(self.panels)}
        columns, rows = ({x: number for number, x in enumerate(side)} for side in (self.columns, self.rows))
        return panels, columns, rows

    def key(self, square: Square) -> str | None:
        """``panel,column,row`` of a square by number, as used in drawings; None for a square off the
        board."""
        (panels, columns, rows), (panel, x, y) = self.numbers, square
        if panel not in panels or x not in columns or y not in rows:
            return None
        return f"{panels[panel]},{columns[x]},{rows[y]}"

    def layer_of(self, proposition: Term) -> Layer | None:
        """The layer that a proposition belongs to; None if it is not on the board."""
        return next((layer for layer in self.layers if layer.fits(proposition)), None)

    def where(self, proposition: Term) -> tuple[Square, Thing] | None:
        """The square of a proposition and the thing that it puts there; None if it is not on the board."""
        layer = self.layer_of(proposition)
        return None if layer is None else (layer.square(proposition), layer.thing(proposition))

    def between(self, fact: Term) -> tuple[list[Square], tuple[Term, ...]]:
        """The squares that a fact off the board names, at most two, and its other arguments."""
        return between(fact, self.squares, bool(self.layers) and self.layers[0].turned)

    def place(
        self, propositions: Iterable[Term], squares: Container[Square] | None = None
    ) -> tuple[dict[Square, list[Thing]], list[Term]]:
        """The things on each square in a state (blanks left out), and the propositions that are not on the
        board, or not on one of the ``squares``, sorted."""
        on: dict[Square, list[Thing]] = defaultdict(list)
        others: list[Term] = []
        for term in sorted(propositions, key=sort_key):
            square, thing = self.where(term) or (None, ())
            if self.heaps is not None and square is not None:
                on.update({each: [thing] for each in self.heaps.lying(term)})
            elif square is None or not (squares is None or square in squares):
                others.append(term)
            elif thing not in self.blanks:
                on[square].append(thing)
        return on, others


def find_board(machine: Machine) -> Grid | None:
    """The board of the machine's game, or None if no board is recognised. The board depends on the rules
    alone: all machines of a game have the same board."""
    prover = machine if isinstance(machine, ProverMachine) else ProverMachine(machine.rules)
    states = _sample(prover)
    seen = set[Term]().union(*states)
    listed = listed_propositions(machine.rules)
    possible = seen | listed
    board = board_of(machine.rules, machine.roles, states, possible, seen <= listed, prover)
    if board is None:
        return None
    board = replace(board, edges=edges_of(prover, board, possible))
    if board.shape is not BoardShape.STRAIGHT or board.edges:
        return board
    things, behaviour, blocks = board.things, board.behaviour, tuple[frozenset[Square], ...]()
    alone, whole = len(machine.roles) == 1, board.panels == ((),)
    written = alone and behaviour.stays & behaviour.comes and not behaviour.moves
    if whole and (written or not alone) and not board.strip:
        inside, sides = board.squares - board.clues, (board.columns, board.rows)
        sure = all(CoordinateOrder(machine.rules).sure(set(side)) for side in sides)
        blocks = blocks_of(Statics(machine.rules, prover), inside, sides, alone, sure)
    first = things_on(board.layers, states[0] if written and (blocks or all(map(is_number, things))) else ())
    given = frozenset(pair for pair in first if pair[1] not in board.blanks)
    ground = ground_of(prover, things, board.squares, behaviour) if whole else ""
    return replace(board, ground=ground, blocks=blocks, given=given)


def board_of(
    rules: Rules,
    roles: tuple[Term, ...],
    states: list[frozenset[Term]],
    possible: set[Term],
    complete: bool = False,
    prover: ProverMachine | None = None,
) -> Grid | None:
    """Return the board that some states of a game show.

    Args:
        rules, roles: the game.
        states: some states, the initial one first.
        possible: base propositions: all, or those seen.
        complete: whether ``possible`` is all of them.
        prover: the game's prover, if there is one.
    """
    if board_hint(rules.hints) == "none":
        return None
    order = CoordinateOrder(rules)
    groups: dict[tuple[str, int], set[Term]] = defaultdict(set)
    for term in possible:
        groups[term.signature].add(term)
    if (heaps := heaps_of(rules, roles, states, order)) is not None:
        sticks = tuple(amount for amount, number in heaps.amounts.items() if number)
        return _row_of([heaps.layer], sticks, order.sort(set(heaps.sizes))[::-1], heaps)
    if board_hint(rules.hints) in ROWS:
        named, places = row_layers(rules, groups)
        if named:
            return _row_of(named, order.sort(places), (Term(""),))
    finder = LayerFinder(rules, roles, states, order)
    candidates: list[LayerCandidate] = []
    beside = hinted_relations(rules, FACTS | LINKS)
    statics = Statics(rules, prover)
    hinted = list(hinted_facts(rules, statics, hinted_relations(rules) - {name for name, _ in groups}))
    for signature in sorted(groups):
        candidate = None if signature[0] in beside else finder.find(groups[signature])
        if candidate is not None and not candidate.between:
            candidates.append(candidate)
    for signature in sorted(groups):
        if (found := dots_of([term.args for term in groups[signature]], order)) is not None:
            return _board_of_dots(signature[0], *found, candidates, hinted, order)
    candidates = [_laid_over(candidate, candidates, set(roles)) for candidate in candidates]
    overlaid = _overlay(candidates)
    chosen = _distinct(_primary(_without_corners(overlaid) if complete else overlaid))
    chosen = with_seas(chosen, rules, roles)
    bare = not chosen
    if bare:
        # Nothing stands on squares but what never changes, such as the islands that bridges join.
        finder = LayerFinder(rules, roles, [frozenset(hinted)], order)
        each = map(finder.find, (set(same) for same in by_signature(hinted).values()))
        chosen = _primary([c for c in each if c is not None and not c.between])[:1]
    if not chosen:
        return None
    layers = tuple(candidate.layer for candidate in chosen)
    used = set[Square]().union(*(candidate.squares for candidate in chosen))
    links, single = links_of(hinted, rules, used)
    facts = facts_on_squares(rules, layers, used, single, order)
    squares = used | set(facts.on) | facts.floor
    xs = {x for _, x, _ in squares}
    ys = {y for _, _, y in squares}
    panels = tuple(sorted({p for p, _, _ in squares}))
    columns, rows = order.sort(xs), order.sort(ys)
    if (bare or not complete) and not any(layer.x == layer.y for layer in layers):
        columns, rows = order.filled(columns), order.filled(rows)
    shape, turned, columns, rows = _arrangement(rules, layers, squares, columns, rows, statics)
    if turned:
        layers = tuple(layer.transposed() for layer in layers)
        columns, rows = rows, columns
        squares = set(map(transposed, squares))
        panels = tuple(sorted(panel[::-1] for panel in panels))
        facts = replace(facts, on={transposed(square): things for square, things in facts.on.items()})
    if max(len(columns), len(rows)) > most_side(rules) or len(squares) < 4:
        return None
    shown = {hint.words for hint in rules.hints if hint.look != "hidden"}
    blanks = _blanks(layers, states, len(squares), set(roles), shown)
    pits, hint = None, board_hint(rules.hints)
    if hint in ("", "pits") and shape is BoardShape.STRAIGHT and len(chosen) == 1 and not facts.on:
        pits = pits_of(
            squares, layers[0], chosen[0].things, states, roles, order, statics, hinted=hint == "pits"
        )
    blanks = frozenset() if pits else blanks
    if not pits and not (complete or blanks or facts.floor) and shape is not BoardShape.CENTRED:
        squares |= {(p, x, y) for p in panels for x in columns for y in rows}
    spots = {(columns.index(x) + rows.index(y)) % 2 for _, x, y in squares}
    if shape is BoardShape.STRAIGHT and len(spots) == 1 and 2 * len(squares) >= len(columns) * len(rows) - 1:
        # These are all squares of one colour. The squares of the other colour exist, though nothing stands on
        # them.
        squares |= {(p, x, y) for p in panels for x in columns for y in rows}
    blanks |= _NO_THINGS
    blanks |= {candidate.ground for candidate in chosen if candidate.ground is not None}
    blanks |= floor_things(layers, states, len(squares))
    things = set[Thing]().union(*(candidate.things for candidate in chosen)) - blanks
    solid, sides = walls(layers, states, facts.without(facts.goals | facts.hinted), set(blanks))
    kept = facts.goals | facts.hinted | solid | sides.keys()
    fixed = facts.without({thing for things in facts.on.values() for thing in things} - kept)
    if sides and shape is BoardShape.STRAIGHT:
        squares = _without_holes(squares, columns, rows)
    things = things.union(*fixed.values())
    lines, loops = (drawn_lines(links, rules, squares, turned, look) for look in ("line", "loop"))
    if shape is BoardShape.STRAIGHT and not lines:
        lines = lines_between(squares, columns, rows, statics)
    dotted, clues = frozenset[Thing](), frozenset[Square]()
    if shape is BoardShape.STRAIGHT and panels == ((),) and hint in ("", "dots", "plain"):
        may = list(things_on(layers, possible)) + [(s, thing) for s, on in fixed.items() for thing in on]
        clues = _clues(may, states[0], layers, rules) if complete and len(roles) == 1 else clues
        dotted = lines_between_dots(squares, columns, rows, may, hinted=hint == "dots")
    return Grid(
        columns=columns,
        rows=rows,
        panels=panels,
        layers=layers,
        squares=frozenset(squares),
        things=tuple(sorted(things)),
        fixed=fixed,
        dotted=dotted - blanks,
        clues=clues,
        links=() if hint == "lines" else tuple(links),
        blanks=blanks,
        shape=shape,
        places=places_of_panels(panels, squares, order, statics),
        solid=solid,
        sides=sides,
        behaviour=behaviour_of(layers, states, columns, rows, blanks),
        lines=lines,
        loops=loops,
        pits=pits,
    )


def _clues(
    may: Iterable[tuple[Square, Thing]], first: frozenset[Term], layers: Sequence[Layer], rules: Rules
) -> frozenset[Square]:
    """The squares of columns and rows on whose squares a number stands in the first state, and nothing else
    may ever stand."""
    numbers = {hint.words[0] for hint in rules.hints if hint.look == "number"}
    on: dict[Square, set[Thing]] = defaultdict(set)
    for square, thing in may:
        on[square].add(thing)
    still = {square for square, _ in things_on(layers, first)}
    others = [
        square
        for square, (thing, *more) in on.items()
        if more or not (thing[0].name in numbers or (is_number(thing) and square in still))
    ]
    inside = {x for _, x, _ in others}, {y for _, _, y in others}
    return frozenset(square for square in on if square[1] not in inside[0] or square[2] not in inside[1])


def _board_of_dots(
    line: str,
    columns: tuple[Term, ...],
    rows: tuple[Term, ...],
    at: Mapping[tuple[Term, ...], Square],
    candidates: list[LayerCandidate],
    hinted: Sequence[Term],
    order: CoordinateOrder,
) -> Grid:
    """The board of lines that are named by the dots at their ends, and boxes by the dot at their lower
    left."""
    dots: set[Square] = {((), x, y) for x in columns[::2] for y in rows[::2]}
    boxes = _distinct([c for c in candidates if not c.layer.panel and c.squares <= dots])
    layers = Layer(line, 4, 0, 1, (2, 3), at=at), *(replace(box.layer, at=at) for box in boxes)
    facts = hinted_on_squares(hinted, dots, order)
    fixed = {at[x, y]: things for (_, x, y), things in facts.items() if (x, y) in at}
    lines: set[Thing] = {(Term(line),)}
    things = tuple(sorted(lines.union(*fixed.values(), *(box.things for box in boxes))))
    squares = frozenset(at.values())
    return Grid(columns, rows, ((),), layers, squares, things, fixed, dotted=frozenset(lines))


def _row_of(
    layers: Sequence[Layer], columns: tuple[Term, ...], rows: tuple[Term, ...], heaps: Heaps | None = None
) -> Grid:
    """A row of doors or numbers, or heaps above each other, the first one on top: a square is a stick."""
    sizes = {} if heaps is None else heaps.sizes
    squares = (((), x, y) for y in rows for i, x in enumerate(columns) if i < sizes.get(y, i + 1))
    things = tuple((Term(layer.name),) for layer in layers)
    shape = BoardShape.ROW if heaps is None else BoardShape.HEAPS
    return Grid(
        columns, rows, ((),), tuple(layers), frozenset(squares), things, {}, frozenset(), shape, heaps=heaps
    )


def _arrangement(
    rules: Rules,
    layers: tuple[Layer, ...],
    squares: set[Square],
    columns: tuple[Term, ...],
    rows: tuple[Term, ...],
    statics: Statics,
) -> tuple[BoardShape, bool, tuple[Term, ...], tuple[Term, ...]]:
    """The shape of a board, whether columns and rows are to be exchanged, and both in order."""
    if all(layer.x == layer.y for layer in layers):
        centred = centred_by_name(squares)
        return BoardShape.CENTRED if centred else BoardShape.STRAIGHT, centred, columns, rows
    shape = BoardShape.STRAIGHT
    # An author who wants squares has them, even if steps run in six directions.
    squared = board_hint(rules.hints) == "chequered"
    if not squared and not any(layer.strip or layer.panel for layer in layers):
        around = ring_of(columns, statics), ring_of(rows, statics)
        rings = len(rows) if around[0] else len(columns)
        if any(around) and rings <= _MOST_RINGS and len(squares) == 8 * rings:
            return BoardShape.RINGS, bool(around[0]), around[0] or columns, around[1] or rows
        shape, turned = shape_of(squares, columns, rows, statics)
        if shape is BoardShape.CENTRED:
            return shape, turned, columns, rows
    return shape, _is_turned(rules, layers), columns, rows


def _sample(machine: Machine) -> list[frozenset[Term]]:
    """The states of a few random playouts, each from the initial state. The sample does not depend on how
    moves are numbered."""
    rng = random.Random(1)
    state = machine.initial_state()
    states = [state.propositions]
    read = 0
    while len(states) <= _MOST_STEPS and read < _MOST_READ:
        options = machine.options(state)
        read += len(state.propositions) + sum(map(len, options))
        if machine.is_terminal(state) or not all(options):
            state = machine.initial_state()
        else:
            joint = [rng.choice(machine.in_order(role, moves)) for role, moves in enumerate(options)]
            state = machine.next_state(state, joint)
        states.append(state.propositions)
    return states


def _primary(candidates: list[LayerCandidate]) -> list[LayerCandidate]:
    """The candidates without those that only repeat the things of a fuller candidate, or number the squares
    of another."""
    numbering = [all(map(is_number, c.things)) for c in candidates]

    def repeats(i: int, j: int) -> bool:
        a, b = candidates[i], candidates[j]
        smaller = len(a.squares) < len(b.squares) and a.things <= b.things and not twins(a, b)
        return smaller or (numbering[i] and not numbering[j])

    indices = range(len(candidates))
    return [candidates[i] for i in indices if not any(repeats(i, j) for j in indices)]


def _distinct(candidates: list[LayerCandidate]) -> list[LayerCandidate]:
    """The candidates, the largest first. A candidate is named if an earlier one has some of the same
    things."""
    if len(candidates) > 1 and all(twins(candidates[0], other) for other in candidates[1:]):
        return [replace(c, layer=replace(c.layer, split=True)) for c in candidates]
    seen: set[Thing] = set()
    apart: list[LayerCandidate] = []
    for candidate in sorted(candidates, key=lambda c: (-len(c.terms), c.layer.name != "cell", c.layer.name)):
        apart.append(replace(candidate, layer=replace(candidate.layer, named=bool(candidate.things & seen))))
        seen |= candidate.things
    return apart


def _laid_over(c: LayerCandidate, candidates: list[LayerCandidate], roles: set[Term]) -> LayerCandidate:
    """The layer as notes on another board, if it has a board for each role, says only whose a square is, and
    exactly one board has the same squares; otherwise the layer as it is."""
    layer = c.layer
    if len(layer.panel) != 1 or layer.strip or layer.contents:
        return c
    whose = {term.args[layer.panel[0]] for term in c.terms}
    shared = any(
        not other.layer.panel and other.layer.contents and (other.columns, other.rows) == (c.columns, c.rows)
        for other in candidates
        if not other.layer.strip
    )
    return replace(c, layer=replace(layer, panel=())) if shared and whose <= roles else c


def _overlay(candidates: list[LayerCandidate]) -> list[LayerCandidate]:
    """The candidates that share the largest grid."""

    def overlap(a: set[Term], b: set[Term]) -> bool:
        return 2 * len(a & b) > min(len(a), len(b))

    def fits(c: LayerCandidate, base: LayerCandidate) -> bool:
        same_panels = len(c.layer.panel) == len(base.layer.panel)
        return same_panels and overlap(c.columns, base.columns) and overlap(c.rows, base.rows)

    grids = ([c for c in candidates if fits(c, base)] for base in candidates)

    def size(grid: list[LayerCandidate]) -> tuple[bool, bool, int]:
        # A single token may have more possible squares than the board has.
        squares = set[Square]().union(*(c.squares for c in grid))
        return max(c.most for c in grid) > 1, not grid[0].layer.strip, len(squares)

    return max(grids, key=size, default=[])


def _without_corners(grid: list[LayerCandidate]) -> list[LayerCandidate]:
    """The layers of a grid, except those of two small numbers without contents, such as dice: their pairs are
    not squares of a large board."""
    columns = set[Term]().union(*(c.columns for c in grid))
    rows = set[Term]().union(*(c.rows for c in grid))
    return [
        c
        for c in grid
        if c.layer.contents or 2 * len(c.columns) > len(columns) or 2 * len(c.rows) > len(rows)
    ]


def _blanks(
    layers: tuple[Layer, ...],
    states: list[frozenset[Term]],
    squares: int,
    roles: set[Term],
    shown: set[tuple[str, ...]],
) -> frozenset[Thing]:
    """Things that mean an empty square. In a layer that has a proposition for nearly every square in every
    state, the blank is the most frequent thing of the first state. A number is never a blank, nor is a thing
    that an author gives a look (``shown``)."""
    blanks: set[Thing] = set()
    for layer in layers:
        if not layer.contents:
            continue
        seen = {layer.thing(term) for state in states for term in state if layer.fits(term)}
        blanks |= {t for t in seen if len(t) == 1 and t[0].name in _EMPTY and (Term("w"),) not in seen} - {
            (role,) for role in roles
        }
        sizes = [sum(layer.fits(t) for t in state) for state in states]
        # Some games clear the board when they end.
        if sum(size < 0.9 * squares for size in sizes) > 0.1 * len(sizes):
            continue
        first = next((state for state, size in zip(states, sizes, strict=True) if size), states[0])
        count = Counter(
            layer.thing(term) for term in first if layer.fits(term) and not is_number(layer.thing(term))
        )
        if not count:
            continue
        named = {t for t in count if t[0].name in _EMPTY}
        most = max(sorted(named or count), key=lambda t: count[t])
        common = count[most] >= 0.25 * squares and not layer.strip
        looks = tuple(word.name for word in most) in shown
        if not set(most) & roles and (named or common) and not looks:
            blanks.add(most)
    return frozenset(blanks)


def _without_holes(squares: set[Square], columns: Sequence[Term], rows: Sequence[Term]) -> set[Square]:
    """The squares together with those between them. If walls stand at the sides of squares, some squares have
    no walls and may never be named."""
    whole = set(squares)
    for panel in {p for p, _, _ in squares}:
        wide: dict[Term, list[int]] = defaultdict(list)
        high: dict[Term, list[int]] = defaultdict(list)
        for i, x in enumerate(columns):
            for j, y in enumerate(rows):
                if (panel, x, y) in squares:
                    wide[y].append(i)
                    high[x].append(j)
        whole |= {
            (panel, x, y)
            for i, x in enumerate(columns)
            for j, y in enumerate(rows)
            if wide[y] and high[x] and wide[y][0] < i < wide[y][-1] and high[x][0] < j < high[x][-1]
        }
    return whole


_FEWEST = 4
"""Fewest columns and rows of a board whose sides may belong to roles."""
_SHAPES = (BoardShape.STRAIGHT, BoardShape.RIGHT, BoardShape.LEFT)
_SIDES = (("left", "right"), ("bottom", "top"))


def edges_of(machine: Machine, board: Grid, possible: Iterable[Term]) -> dict[str, int]:
    """The role of each side, if one role wins by a chain from left to right and the other by one from bottom
    to top; empty for other games.

    Args:
        possible: base propositions, at least those seen.
    """
    sides = len(board.columns), len(board.rows)
    whole = len(board.squares) == sides[0] * sides[1] and len(board.panels) == 1 and not board.fixed
    if len(machine.roles) != 2 or board.shape not in _SHAPES or not whole or min(sides) < _FEWEST:
        return {}
    if any(layer.x == layer.y for layer in board.layers):
        return {}
    own: list[dict[Square, Term]] = [{} for _ in machine.roles]
    for term in possible:
        square, thing = board.where(term) or (None, ())
        if square is not None and len(thing) == 1 and thing[0] in machine.roles:
            own[machine.roles.index(thing[0])][square] = term
    first = frozenset(machine.initial_state().propositions)
    if any(len(stones) != len(board.squares) or first & set(stones.values()) for stones in own):
        return {}
    try:
        winners = [
            [role for role, stones in enumerate(own) if _wins(machine, board, first, role, stones, axis)]
            for axis in (0, 1)
        ]
    except GdlError:  # The rules are hostile or exceed the limits.
        return {}
    if sorted(map(len, winners)) != [1, 1] or winners[0] == winners[1]:
        return {}
    return {side: winners[axis][0] for axis in (0, 1) for side in _SIDES[axis]}


def _wins(
    machine: Machine,
    board: Grid,
    first: frozenset[Term],
    role: int,
    stones: dict[Square, Term],
    axis: int,
) -> bool:
    """Whether a chain of stones across the board wins for a role, and needs all of its stones. ``stones`` are
    the propositions that say that a stone of the role stands on a square."""
    middle = board.columns[len(board.columns) // 2], board.rows[len(board.rows) // 2]
    panel = board.panels[0]
    chain: list[Square] = (
        [(panel, x, middle[1]) for x in board.columns]
        if axis == 0
        else [(panel, middle[0], y) for y in board.rows]
    )

    def won(part: list[Square]) -> bool:
        rest = (term for term in first if (board.where(term) or (None,))[0] not in part)
        state = machine.state_of([*rest, *(stones[square] for square in part)])
        return machine.is_terminal(state) and machine.goal(state, role) == 100

    return won(chain) and not any(map(won, (chain[:-1], chain[1:], chain[:2] + chain[3:])))


def _is_turned(rules: Rules, layers: tuple[Layer, ...]) -> bool:
    """Whether the rules themselves call the first coordinate a row, or the second a column."""
    votes = 0
    for rule in rules:
        atoms = list(atoms_of_state(rule))
        words = {a.args[0]: a.name for a in atoms if len(a.args) == 1}
        for atom in atoms:
            for layer in layers:
                if layer.fits(atom):
                    first, second = words.get(atom.args[layer.x], ""), words.get(atom.args[layer.y], "")
                    votes += first.startswith("row") + second.startswith("col")
                    votes -= first.startswith("col") + second.startswith("row")
    return votes > 0
