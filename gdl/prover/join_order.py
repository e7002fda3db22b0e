"""Join order, greedy: of the literals of a body always the one with the fewest expected matches comes next.

Parts of a body that share no unbound variable are independent.
"""

from __future__ import annotations

from dataclasses import dataclass

from gdl.compile.program import Build, FlatAtom, FlatClause
from gdl.errors import RulesError
from gdl.prover.access_path import variables
from gdl.prover.table_slots import Relations


@dataclass(frozen=True, slots=True)
class Item:
    """A part of a body that has no place in the order yet.

    Attributes:
        what: a literal, a build, or the two sides of a distinct.
        negative: whether a literal is negated.
        variables: all variables in it.
        first: whether it is the literal that the outermost loop must go over.
    """

    what: FlatAtom | Build | tuple[tuple[int, ...], tuple[int, ...]]
    negative: bool
    variables: frozenset[int]
    first: bool = False


def body_items(clause: FlatClause, first: FlatAtom | None = None) -> list[Item] | None:
    """The parts of a body, of which the positive literal ``first`` must come first; None where one of its
    distincts can never hold."""
    items = [Item(atom, False, variables(atom.args), atom is first) for atom in clause.positives]
    items += [Item(atom, True, variables(atom.args)) for atom in clause.negatives]
    for left, right in clause.distincts:
        open_pairs = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
        if any(a >= 0 and b >= 0 for a, b in open_pairs):
            continue
        if not open_pairs:
            return None
        pair = tuple(a for a, _ in open_pairs), tuple(b for _, b in open_pairs)
        items.append(Item(pair, False, variables(pair[0] + pair[1])))
    items += [Item(build, False, variables((build.value, *build.args))) for build in clause.builds]
    return items


def components(items: list[Item], bound: frozenset[int]) -> list[list[Item]]:
    """Items grouped so that different groups share no unbound variable, in a fixed order."""
    groups: list[tuple[set[int], list[Item]]] = []
    for item in items:
        free = set(item.variables - bound)
        joined: tuple[set[int], list[Item]] = (free, [item])
        separate = []
        for group in groups:
            if group[0] & free:
                joined = (joined[0] | group[0], group[1] + joined[1])
            else:
                separate.append(group)
        groups = [*separate, joined]
    return [g[1] for g in groups]


def single(part: list[Item], bound: frozenset[int]) -> bool:
    """Whether a part is one literal without a variable that would have to be compared."""
    atom = part[0].what
    if len(part) > 1 or not isinstance(atom, FlatAtom) or part[0].first:
        return False
    free = [a for a in atom.args if a < 0 and a not in bound]
    return len(set(free)) == len(free)


def share(items: list[Item], bound: frozenset[int], relations: Relations) -> float:
    """In which share of all cases positive literals are expected to have a match."""
    matches = 1.0
    left = [i.what for i in items if isinstance(i.what, FlatAtom) and not i.negative]
    while left:
        fans = [relations.fan(atom.predicate, atom.bound_columns(bound)) for atom in left]
        best = fans.index(min(fans))
        matches *= fans[best]
        bound |= variables(left.pop(best).args)
    return min(1.0, max(matches, 0.02))


def choose(items: list[Item], bound: frozenset[int], relations: Relations) -> Item:
    """The positive literal to go over next. Raises RulesError where there is none, so that a variable of the
    rule can get no value."""
    fans: list[tuple[float, int, Item]] = []
    for number, item in enumerate(items):
        if isinstance(item.what, FlatAtom) and not item.negative:
            if item.first:
                return item
            fans.append((relations.fan(item.what.predicate, item.what.bound_columns(bound)), number, item))
    if not fans:
        raise RulesError("a rule has a variable that no positive literal of its body binds")
    return min(fans)[2]
