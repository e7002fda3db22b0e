"""What never changes on the squares of a board: walls, floor, goals, and what a hint puts there,
``; draw: clue * as number``."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from gdl.rules import Rule, Rules, Signature, body_literals, literals
from gdl.terms import ARITIES, BASE, DOES, GOAL, INIT, LEGAL, NEXT, TERMINAL, TRUE, Term
from ggp.boards.layers import Layer, Square, Thing, named_squares, split_name, things_on
from ggp.boards.piece_behaviour import places_of
from ggp.boards.statics import CoordinateOrder

_WALL = re.compile(r"wall|hole|block|limit|obstacle|rock|stone|void|border|forbidden")
_WAYS = ("north", "south", "east", "west")
_MUCH = 0.25
"""Share of all squares above which a still thing counts as a wall, even without a wall's name."""
_LIKELY = 4
"""Squares that a thing without a wall's name must fill to count as a wall."""


def _still_things(layers: tuple[Layer, ...], states: Sequence[frozenset[Term]]) -> dict[Thing, set[Square]]:
    """The things that stand on the same squares in all states, and these squares."""
    still = places_of(layers, states[0]) if len(states) > 1 else {}
    for state in states[1:]:
        here = places_of(layers, state) if still else {}
        still = {thing: squares for thing, squares in still.items() if here.get(thing) == squares}
    return still


def floor_things(layers: tuple[Layer, ...], states: Sequence[frozenset[Term]], squares: int) -> set[Thing]:
    """The things of relations without contents that hold of most squares in every state: they only say that
    the squares exist. Empty unless the board has other layers too."""
    plain: set[Thing] = {(Term(layer.name),) for layer in layers if not layer.contents}
    still = _still_things(tuple(layer for layer in layers if not layer.contents), states)
    found = {thing for thing in plain & still.keys() if 2 * len(still[thing]) > squares}
    return found if len(layers) > len(found) else set()


def walls(
    layers: tuple[Layer, ...],
    states: Sequence[frozenset[Term]],
    fixed: dict[Square, list[Thing]],
    blanks: set[Thing],
) -> tuple[frozenset[Thing], dict[Thing, str]]:
    """The things that fill their squares, since nothing else ever stands there, and the walls at the side of
    a square, each with its side: ``north``, ``south``, ``east`` or ``west``. Walls at sides are found by
    name."""
    still = _still_things(layers, states)
    sides = {
        thing: way
        for thing, squares in still.items()
        if len(squares) > 1 and (way := _way(thing)) and not _numbers(thing)
    }
    entered: dict[Square, set[Thing]] = defaultdict(set)
    for state in states:
        for square, thing in things_on(layers, state):
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


def _named(thing: Thing) -> bool:
    return any(_WALL.search(term.name) for term in thing)


def _numbers(thing: Thing) -> bool:
    return any(term.name.isdecimal() for term in thing)


def _way(thing: Thing) -> str:
    """The side that a thing's name contains; empty if it contains none or several."""
    text = " ".join(term.name for term in thing)
    found = [way for way in _WAYS if way in text]
    return found[0] if len(found) == 1 else ""


@dataclass(frozen=True, slots=True)
class FixedFacts:
    """What facts that never change say of squares.

    Attributes:
        on: the things on each square.
        floor: squares of facts about most of them.
        goals: the things at which ends or goals ask what else stands on their squares.
        hinted: the things that a hint puts there.
    """

    on: dict[Square, list[Thing]] = field(default_factory=lambda: defaultdict(list))
    floor: set[Square] = field(default_factory=set)
    goals: set[Thing] = field(default_factory=set)
    hinted: set[Thing] = field(default_factory=set)

    def without(self, wanted: Container[Thing]) -> dict[Square, list[Thing]]:
        """The squares with things other than these."""
        kept = {square: [t for t in things if t not in wanted] for square, things in self.on.items()}
        return {square: things for square, things in kept.items() if things}


def facts_on_squares(
    rules: Rules, layers: tuple[Layer, ...], used: set[Square], hinted: Sequence[Term], order: CoordinateOrder
) -> FixedFacts:
    """The facts about squares. A relation is about squares if a rule uses two variables as its arguments and
    also, in order, as coordinates; or if all its facts are ``hinted`` to be drawn, and two neighbouring
    arguments fit the coordinates of the board best."""
    found = FixedFacts()
    named = all(layer.x == layer.y for layer in layers)
    if named:
        found.floor.update(named_squares(rules, used))
    elif any(layer.panel or layer.split or layer.strip or layer.x == layer.y for layer in layers):
        return found
    hints = {hint.words[0] for hint in rules.hints}
    sides = {x for _, x, _ in used}, {y for _, _, y in used}
    found.on.update(hinted_on_squares(hinted, used, order, named))
    found.hinted.update(thing for things in found.on.values() for thing in things)
    pairs = {(layer.name, layer.arity, layer.x, layer.y) for layer in layers}
    static = {
        rule.head for rule in rules if not rule.body and rule.head.ground and rule.head.name not in ARITIES
    }
    facts = by_signature(sorted(static - set(hinted)))
    bodies = [list(atoms_of_state(rule)) for rule in rules if rule.body and rule.head.name != INIT]
    before = 0 if not named else len(pairs)
    while len(pairs) > before:
        before = len(pairs)
        for atoms in bodies:
            coordinates = {
                (a.args[x], a.args[y]) for a in atoms for n, k, x, y in pairs if a.signature == (n, k)
            }
            for a in atoms:
                for x, y in combinations(range(len(a.args)), 2):
                    pair = a.args[x], a.args[y]
                    if len(a.args) <= 3 and pair in coordinates and all(v.is_variable for v in pair):
                        pairs.add((*a.signature, x, y))
    goals = _asked_by_goals(rules, pairs)
    for name, arity, x, y in sorted(pairs):
        terms = facts.get((name, arity), [])
        layer = Layer(name, arity, x, y)
        if not any(t.args[x] in sides[0] and t.args[y] in sides[1] for t in terms):
            continue
        if arity == 3 and any(thing.name.isdecimal() for t in terms for thing in layer.thing(t)):
            continue
        squares = {layer.square(t) for t in terms}
        if arity == 2 and len(squares & used) > 0.6 * len(used):
            found.floor.update(squares)
            continue
        for t in terms:
            # The relation's name distinguishes a red camp from a red piece.
            thing = (Term(name), *layer.thing(t)) if arity > 2 else layer.thing(t)
            found.on[layer.square(t)].append(thing)
            if (name, arity) in goals:
                found.goals.add(thing)
            if name in hints:
                found.hinted.add(thing)
    return found


def by_signature(terms: Iterable[Term]) -> dict[Signature, list[Term]]:
    """Terms by functor."""
    groups: dict[Signature, list[Term]] = defaultdict(list)
    for term in terms:
        groups[term.signature].append(term)
    return groups


def hinted_on_squares(
    hinted: Iterable[Term], used: set[Square], order: CoordinateOrder, named: bool = False
) -> dict[Square, list[Thing]]:
    """The things that hinted facts put on squares of a board, or next to them; ``named`` if its squares have
    names such as ``a1``."""
    on: dict[Square, list[Thing]] = defaultdict(list)
    sides = {x for _, x, _ in used}, {y for _, _, y in used}
    waiting = list(by_signature(hinted).values())
    for facts in waiting * 2:  # A corner may be in a row and a column that only other facts know.
        layer = _layer_of(facts, used, sides, named, order) if facts in waiting else None
        if layer is not None:
            waiting.remove(facts)
            for fact in facts:
                square = layer.square(fact)
                sides[0].add(square[1])
                sides[1].add(square[2])
                on[square].append(layer.thing(fact))
    return on


def _layer_of(
    facts: list[Term],
    used: set[Square],
    sides: tuple[set[Term], set[Term]],
    named: bool,
    order: CoordinateOrder,
) -> Layer | None:
    """The facts of one relation as things on squares, by the neighbouring arguments that fit best."""
    (name, arity), best = facts[0].signature, (0, -1)
    for i in range(arity if named else arity - 1):
        if named:
            fits = sum(((), *split_name(fact.args[i])) in used for fact in facts)
        else:
            across, up = ({fact.args[i + k] for fact in facts} for k in (0, 1))
            known = all(map(order.sure, (across | sides[0], up | sides[1])))
            fits = known * sum((fact.args[i + k] in sides[k]) for fact in facts for k in (0, 1))
        best = max(best, (fits, -i - 1))
    fits, i = best[0], -best[1] - 1
    return Layer(name, arity, i, i if named else i + 1, named=True) if fits >= len(facts) else None


def _asked_by_goals(rules: Rules, pairs: Container[tuple[str, int, int, int]]) -> set[Signature]:
    """The relations of squares at which a rule asks what is true there, if ends or goals depend on the rule,
    moves do not, and it does not depend on itself."""
    needs: dict[Signature, set[Signature]] = defaultdict(set)
    for rule in rules:
        needs[rule.head.signature] |= {literal.atom.signature for literal, _ in body_literals(rule)}

    def reached(*heads: Signature) -> set[Signature]:
        found, waiting = set[Signature](), list(heads)
        while waiting:
            new = needs.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found

    ends = (TERMINAL, 0), (GOAL, 2)
    looked = {*ends, *reached(*ends)} - reached((LEGAL, 2))
    dynamic = {head for head in needs if reached(head) & {(TRUE, 1), (DOES, 2)}}
    asked: set[Signature] = set()
    for rule in rules:
        if rule.head.signature not in looked or rule.head.signature in reached(rule.head.signature):
            continue
        at: dict[tuple[Term, Term], dict[Signature, bool]] = defaultdict(dict)
        for atom in (literal.atom for literal, _ in body_literals(rule)):
            state = atom.name == TRUE and len(atom.args) == 1
            fact = atom.args[0] if state else atom
            for x, y in combinations(range(len(fact.args)), 2):
                if (*fact.signature, x, y) in pairs:
                    at[fact.args[x], fact.args[y]][fact.signature] = state or fact.signature in dynamic
        for kinds in at.values():
            if any(kinds.values()):
                asked |= {signature for signature, varies in kinds.items() if not varies}
    return asked


def atoms_of_state(rule: Rule) -> Iterator[Term]:
    """The atoms of a rule; an atom inside ``true``, ``next`` and so on is returned without that word."""
    for atom in [rule.head, *(lit.atom for f in rule.body for lit, _ in literals(f))]:
        if atom.name in (TRUE, NEXT, INIT, BASE) and len(atom.args) == 1:
            yield atom.args[0]
        elif atom.name not in ARITIES:
            yield atom
