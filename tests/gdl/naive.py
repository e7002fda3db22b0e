"""A naive reference evaluator, by substitution and nothing else, and random small games to try it on.

It shares no code with the machines but the terms and the parsed rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

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


# --- Random small games for differential tests: stratified, safe, with functions and recursion
CONSTANTS = ("a", "b", "c", "1")
VARIABLES = ("?x", "?y", "?z")
ARITY = {"p": 1, "q": 2, "r": 2, "s": 3, "t": 0}
ORDER = tuple(ARITY)
"""A relation may negate earlier ones, and read these and itself without negation."""


def examples(count: int) -> settings:
    """Settings for tests on that many games."""
    return settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def _argument(draw: st.DrawFn) -> str:
    kind = draw(st.integers(0, 9))
    if kind < 6:
        return draw(st.sampled_from(VARIABLES))
    if kind < 9:
        return draw(st.sampled_from(CONSTANTS))
    return f"(f {draw(st.sampled_from(VARIABLES + CONSTANTS))})"


@st.composite
def _atom(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    name = draw(st.sampled_from((*names, "edge", "fact", "fact")))
    arity = {"edge": 2, "fact": 2}.get(name, ARITY.get(name, 0))
    if arity == 0:
        return draw(st.sampled_from((name, f"({name})")))
    text = f"({name} {' '.join(draw(_argument()) for _ in range(arity))})"
    return f"(true {text})" if name == "fact" else text


@st.composite
def _formula(draw: st.DrawFn, names: tuple[str, ...], earlier: tuple[str, ...], depth: int) -> str:
    kind = draw(st.integers(0, 9 if depth else 5))
    if kind < 5:
        return draw(_atom(names))
    if kind == 5:
        return f"(distinct {draw(_argument())} {draw(_argument())})"
    if kind < 8:
        return f"(not {draw(_formula(earlier, earlier, depth - 1))})"
    parts = [draw(_formula(names, earlier, depth - 1)) for _ in range(draw(st.integers(1, 3)))]
    return f"({'or' if kind == 8 else 'and'} {' '.join(parts)})"


@st.composite
def games(draw: st.DrawFn) -> str:
    """The text of a game whose legal moves show the extension of every relation."""
    lines = ["(role you)", "(<= terminal (true (fact a a)) t)", "(next nothing)"]
    for _ in range(draw(st.integers(1, 5))):
        lines.append(f"(edge {draw(st.sampled_from(CONSTANTS))} {draw(st.sampled_from(CONSTANTS))})")
    lines.append("(edge (f a) b)")
    for _ in range(draw(st.integers(1, 4))):
        lines.append(f"(init (fact {draw(st.sampled_from(CONSTANTS))} {draw(st.sampled_from(CONSTANTS))}))")
    for position, name in enumerate(ORDER):
        earlier = ORDER[:position]
        for _ in range(draw(st.integers(1, 3))):
            body = [draw(_formula((*earlier, name), earlier, 2)) for _ in range(draw(st.integers(1, 3)))]
            used = {v for v in VARIABLES if any(v in part for part in body)}
            body += [f"(edge {v} {draw(st.sampled_from(VARIABLES))})" for v in sorted(used)]
            bound = [*sorted({v for v in VARIABLES if any(v in part for part in body)}), "a"]
            head = " ".join(draw(st.sampled_from(bound)) for _ in range(ARITY[name]))
            lines.append(
                f"(<= ({name} {head}) {' '.join(body)})" if head else f"(<= {name} {' '.join(body)})"
            )
        shown = " ".join(VARIABLES[: ARITY[name]])
        move, asked = (f"(show {name} {shown})", f"({name} {shown})") if shown else (f"(show {name})", name)
        lines.append(f"(<= (legal you {move}) {asked})")
    lines.append("(legal you noop)")
    return "\n".join(lines)
