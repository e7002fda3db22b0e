"""What never moves on a board: walls and holes, which nothing enters, and walls between two squares; sides of
a board that belong to a role, as in Hex, where a chain of its stones between two opposite sides wins; and
what facts of the rules say about squares: things that never move, and the floor.

For walls and sides the rules are asked about states that we make: a whole row of one role's stones, the same
with a gap, a whole column. Names play no part.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from gdl.errors import GdlError
from gdl.machine import Machine
from gdl.rules import Rule, Rules, literals
from gdl.terms import ARITIES, BASE, INIT, NEXT, TRUE, Term
from ggp.boards.layers import Layer, Square, Thing, named_squares
from ggp.boards.shapes import BoardShape

if TYPE_CHECKING:
    from ggp.boards.board import Grid


_WALL = re.compile(r"wall|hole|block|limit|obstacle|rock|stone|void|border|forbidden")
_WAYS = ("north", "south", "east", "west")
_MUCH = 0.25
"""Part of all squares that a thing without such a name fills which is a wall."""
_LIKELY = 4
"""Squares that hold a thing without such a name before it is taken for a wall."""


def still_things(layers: tuple[Layer, ...], states: Sequence[frozenset[Term]]) -> dict[Thing, set[Square]]:
    """The things that stand on the same squares in all states, and these squares."""
    still: dict[Thing, set[Square]] = {}
    for i, state in enumerate(states):
        here: dict[Thing, set[Square]] = defaultdict(set)
        for square, thing in _standing(layers, state):
            here[thing].add(square)
        if not i:
            still = dict(here)
        else:
            still = {thing: squares for thing, squares in still.items() if here.get(thing) == squares}
        if not still:
            break
    return still if len(states) > 1 else {}


def floor_things(layers: tuple[Layer, ...], states: Sequence[frozenset[Term]], squares: int) -> set[Thing]:
    """What a relation without contents says of most squares in every state, on a board that has other
    things too: that they are there."""
    plain: set[Thing] = {(Term(layer.name),) for layer in layers if not layer.contents}
    still = still_things(tuple(layer for layer in layers if not layer.contents), states)
    found = {thing for thing in plain & still.keys() if 2 * len(still[thing]) > squares}
    return found if len(layers) > len(found) else set()


def walls(
    layers: tuple[Layer, ...],
    states: Sequence[frozenset[Term]],
    fixed: dict[Square, list[Thing]],
    blanks: set[Thing],
) -> tuple[frozenset[Thing], dict[Thing, str]]:
    """The things that fill their squares, since nothing else ever stands there, and the walls beside squares,
    each with its side, ``north``, ``south``, ``east`` or ``west``: those need their names."""
    still = still_things(layers, states)
    sides = {
        thing: way
        for thing, squares in still.items()
        if len(squares) > 1 and (way := _way(thing)) and not _numbers(thing)
    }
    entered: dict[Square, set[Thing]] = defaultdict(set)
    for state in states:
        for square, thing in _standing(layers, state):
            if thing not in blanks and thing not in sides:
                entered[square].add(thing)
    solid: set[Thing] = set()
    for thing, squares in still.items():
        alone = all(entered[square] <= {thing} for square in squares)
        many = len(squares) >= max(2 * _LIKELY, _MUCH * len(entered)) and not _numbers(thing)
        if alone and thing not in blanks and thing not in sides and (many or _named(thing)):
            solid.add(thing)
    count = Counter(thing for things in fixed.values() for thing in things)
    sides |= {thing: way for thing in count if (way := _way(thing)) and not _numbers(thing)}
    for thing, number in count.most_common():
        if thing in sides:
            continue
        squares = {square for square, things in fixed.items() if thing in things}
        if any(entered[square] - solid for square in squares):
            continue
        most = number >= _LIKELY and all(other == thing or n < number for other, n in count.items())
        if most or _named(thing):
            solid.add(thing)
    return frozenset(solid), sides


def _standing(layers: tuple[Layer, ...], state: frozenset[Term]) -> Iterator[tuple[Square, Thing]]:
    by_functor = {(layer.name, layer.arity): layer for layer in layers}
    for term in state:
        layer = by_functor.get(term.signature)
        if layer is not None:
            yield layer.square(term), layer.thing(term)


def _named(thing: Thing) -> bool:
    return any(_WALL.search(term.name) for term in thing)


def _numbers(thing: Thing) -> bool:
    return any(term.name.isdecimal() for term in thing)


def _way(thing: Thing) -> str:
    """The side that a thing's name has in it, if it is one only."""
    text = " ".join(term.name for term in thing)
    found = [way for way in _WAYS if way in text]
    return found[0] if len(found) == 1 else ""


def without_holes(squares: set[Square], columns: Sequence[Term], rows: Sequence[Term]) -> set[Square]:
    """The squares with those between them: where walls stand beside squares, some have none and may never be
    named."""
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
"""Columns and rows of a board on which a chain may have to go from side to side."""
_SHAPES = (BoardShape.STRAIGHT, BoardShape.RIGHT, BoardShape.LEFT)
_SIDES = (("left", "right"), ("bottom", "top"))


def edges_of(machine: Machine, board: Grid, possible: Iterable[Term]) -> dict[str, int]:
    """The role of each side, where the one role wins by a chain from left to right and the other by one from
    bottom to top; empty for other games.

    Args:
        possible: base propositions, those seen at least.
    """
    whole = len(board.squares) == len(board.columns) * len(board.rows)
    if len(machine.roles) != 2 or board.shape not in _SHAPES or not whole or len(board.panels) != 1:
        return {}
    if min(len(board.columns), len(board.rows)) < _FEWEST or board.fixed:
        return {}
    stones = [_stones(board, role, possible) for role in machine.roles]
    first = frozenset(machine.initial_state().propositions)
    if any(len(own) != len(board.squares) for own in stones) or any(own & first for own in stones):
        return {}
    try:
        winners = [
            [role for role, own in enumerate(stones) if _wins(machine, board, first, role, own, axis)]
            for axis in (0, 1)
        ]
    except GdlError:  # hostile rules, beyond the limits
        return {}
    if sorted(map(len, winners)) != [1, 1] or winners[0] == winners[1]:
        return {}
    return {side: winners[axis][0] for axis in (0, 1) for side in _SIDES[axis]}


def _stones(board: Grid, role: Term, possible: Iterable[Term]) -> frozenset[Term]:
    """The propositions that say that a stone of a role stands on a square."""
    layers = {(layer.name, layer.arity): layer for layer in board.layers if layer.x != layer.y}
    return frozenset(
        term
        for term in possible
        if term.signature in layers and layers[term.signature].thing(term) == (role,)
    )


def _wins(
    machine: Machine, board: Grid, first: frozenset[Term], role: int, own: frozenset[Term], axis: int
) -> bool:
    """Whether a chain of stones across the board wins for a role, and needs all of its stones."""
    layers = {(layer.name, layer.arity): layer for layer in board.layers}
    at: dict[Square, Term] = {layers[term.signature].square(term): term for term in own}
    middle = board.columns[len(board.columns) // 2], board.rows[len(board.rows) // 2]
    panel = board.panels[0]
    chain: list[Square] = (
        [(panel, x, middle[1]) for x in board.columns]
        if axis == 0
        else [(panel, middle[0], y) for y in board.rows]
    )
    broken = [chain[:-1], chain[1:], chain[:2] + chain[3:]]
    return _won(machine, first, role, [at[square] for square in chain], layers) and not any(
        _won(machine, first, role, [at[square] for square in part], layers) for part in broken
    )


def _won(
    machine: Machine,
    first: frozenset[Term],
    role: int,
    stones: Sequence[Term],
    layers: dict[tuple[str, int], Layer],
) -> bool:
    taken = {layers[term.signature].square(term) for term in stones}
    rest = (
        term
        for term in first
        if term.signature not in layers or layers[term.signature].square(term) not in taken
    )
    state = machine.state_of([*rest, *stones])
    return machine.is_terminal(state) and machine.goal(state, role) == 100


def facts_on_squares(
    rules: Rules, layers: tuple[Layer, ...], used: set[Square]
) -> tuple[dict[Square, list[Thing]], set[Square]]:
    """What facts say about squares: things on some of them, and the floor (facts about most). A relation is
    about squares if a rule uses two variables as its arguments and also, in order, as coordinates."""
    if all(layer.x == layer.y for layer in layers):
        return {}, named_squares(rules, used)
    if any(layer.panel or layer.split or layer.strip or layer.x == layer.y for layer in layers):
        return {}, set()
    xs = {x for _, x, _ in used}
    ys = {y for _, _, y in used}
    pairs = {(layer.name, layer.arity, layer.x, layer.y) for layer in layers}
    facts: dict[tuple[str, int], list[Term]] = defaultdict(list)
    for rule in rules:
        if not rule.body and rule.head.ground and rule.head.name not in ARITIES:
            facts[rule.head.signature].append(rule.head)
    bodies = [list(atoms_of_state(rule)) for rule in rules if rule.body and rule.head.name != INIT]
    while True:
        before = len(pairs)
        for atoms in bodies:
            known = {(a.args[x], a.args[y]) for a in atoms for n, k, x, y in pairs if a.signature == (n, k)}
            for a in atoms:
                for x, y in combinations(range(len(a.args)), 2):
                    pair = a.args[x], a.args[y]
                    if len(a.args) <= 3 and pair in known and all(v.is_variable for v in pair):
                        pairs.add((*a.signature, x, y))
        if len(pairs) == before:
            break
    fixed: dict[Square, list[Thing]] = defaultdict(list)
    floor: set[Square] = set()
    for name, arity, x, y in sorted(pairs):
        terms = facts.get((name, arity), [])
        layer = Layer(name, arity, x, y)
        if not any(t.args[x] in xs and t.args[y] in ys for t in terms):
            continue
        if arity == 3 and any(thing.name.isdecimal() for t in terms for thing in layer.thing(t)):
            continue
        squares = {layer.square(t) for t in terms}
        if arity == 2 and len(squares & used) > 0.6 * len(used):
            floor |= squares
            continue
        for t in sorted(terms):
            # The relation's name tells a camp of red from a piece of red.
            thing = layer.thing(t)
            fixed[layer.square(t)].append((Term(name), *thing) if arity > 2 else thing)
    return dict(fixed), floor


def atoms_of_state(rule: Rule) -> Iterator[Term]:
    """The atoms of a rule, what stands inside ``true``, ``next`` and so on without that word."""
    for atom in [rule.head, *(lit.atom for f in rule.body for lit, _ in literals(f))]:
        if atom.name in (TRUE, NEXT, INIT, BASE) and len(atom.args) == 1:
            yield atom.args[0]
        elif atom.name not in ARITIES:
            yield atom


def is_turned(rules: Rules, layers: tuple[Layer, ...]) -> bool:
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
