"""A naive reference evaluator: rules as they are written, by substitution, nothing else.

It shares no code with the machines but the terms and the parsed rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules
from gdl.terms import Term

Binding = dict[Term, Term]


def model(rules: Rules, given: Iterable[Term] = ()) -> set[Term]:
    """All atoms that hold where the given ones (``true``, ``does``) do.

    Negation is read on the relations of earlier passes: passes over all rules are repeated
    relation by relation, in an order in which each relation comes after those it negates.
    """
    atoms: dict[tuple[str, int], set[Term]] = {}
    for atom in given:
        atoms.setdefault(atom.signature, set()).add(atom)
    for group in _layers(rules):
        changed = True
        while changed:
            changed = False
            for rule in rules:
                if rule.head.signature in group:
                    for binding in list(_all(list(rule.body), {}, atoms)):
                        head = rule.head.substitute(binding)
                        known = atoms.setdefault(head.signature, set())
                        if head not in known:
                            known.add(head)
                            changed = True
    return set().union(*atoms.values()) if atoms else set()


def first_state(rules: Rules) -> set[Term]:
    """The ``true`` atoms of the initial state."""
    return {Term("true", a.args[0]) for a in model(rules) if a.name == "init"}


def answers(atoms: Iterable[Term]) -> set[Term]:
    """The atoms that a machine is asked for in a state: ``legal`` and ``terminal``."""
    return {a for a in atoms if a.name in ("legal", "terminal")}


def as_rule(
    head: Term, positives: Iterable[Term], negatives: Iterable[Term], distincts: Iterable[Formula]
) -> Rule:
    """The literals of a clause as a rule again."""
    return Rule(head, (*map(Literal, positives), *(Not(Literal(n)) for n in negatives), *distincts))


def _layers(rules: Rules) -> list[set[tuple[str, int]]]:
    """Relations by levels: a negated one is on a lower level."""
    level: dict[tuple[str, int], int] = {r.head.signature: 0 for r in rules}
    for _ in range(len(level) + 1):
        changed = False
        for rule in rules:
            for atom, negative in _atoms(And(rule.body), False):
                if atom.signature in level:
                    least = level[atom.signature] + negative
                    changed = changed or level[rule.head.signature] < least
                    level[rule.head.signature] = max(level[rule.head.signature], least)
        if not changed:
            return [{s for s in level if level[s] == n} for n in sorted(set(level.values()))]
    raise ValueError("not stratified")


def _atoms(formula: Formula, negative: bool) -> Iterator[tuple[Term, bool]]:
    match formula:
        case Literal(atom):
            yield atom, negative
        case Not(inner):
            yield from _atoms(inner, True)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _atoms(part, negative)


def _all(body: list[Formula], binding: Binding, atoms: dict[tuple[str, int], set[Term]]) -> Iterator[Binding]:
    """All ways to satisfy a body: what binds variables first, then what only tests."""
    if not body:
        yield binding
        return
    rank = sorted(range(len(body)), key=lambda i: _tests(body[i]))
    formula = body[rank[0]]
    rest = [body[i] for i in rank[1:]]
    match formula:
        case And(parts):
            yield from _all([*parts, *rest], binding, atoms)
        case Or(parts):
            for part in parts:
                yield from _all([part, *rest], binding, atoms)
        case Not(inner):
            if next(_all([inner], binding, atoms), None) is None:
                yield from _all(rest, binding, atoms)
        case Literal(atom) if atom.name == "distinct":
            left, right = (a.substitute(binding) for a in atom.args)
            if left is not right:
                yield from _all(rest, binding, atoms)
        case Literal(atom):
            for known in list(atoms.get(atom.signature, ())):
                extended = dict(binding)
                if all(_matches(a, k, extended) for a, k in zip(atom.args, known.args, strict=True)):
                    yield from _all(rest, extended, atoms)


def _tests(formula: Formula) -> int:
    match formula:
        case Not():
            return 2
        case Literal(atom) if atom.name == "distinct":
            return 1
        case _:
            return 0


def _matches(pattern: Term, ground: Term, binding: Binding) -> bool:
    if pattern.is_variable:
        return binding.setdefault(pattern, ground) is ground
    if not pattern.args:
        return pattern is ground
    return pattern.signature == ground.signature and all(
        _matches(p, g, binding) for p, g in zip(pattern.args, ground.args, strict=True)
    )
