"""What facts of the rules say about squares: things that never move, and the floor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from gdl.rules import Rule, Rules, literals
from gdl.terms import ARITIES, BASE, INIT, NEXT, TRUE, Term
from ggp.boards.layers import Layer, Square, Thing, named_squares


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
