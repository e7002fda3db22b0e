"""Normal form: every rule becomes clauses of positive, negative and distinct literals.

Negation is pushed inward, ``or`` is split into clauses (by a chain of auxiliary relations
where the product would be large), variables that only a negation knows are projected away,
and rules that nothing asks for are dropped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from gdl.errors import Place, RulesError
from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules
from gdl.terms import DISTINCT, DOES, GOAL, INIT, LEGAL, NEXT, ROLE, TERMINAL, TRUE, Term

MAX_PRODUCT = 32
"""Clauses that the ``or`` of one rule may be multiplied out to before a chain is built."""

UNIVERSE = "universe;"
"""Auxiliary relation of all ground terms in the rules; binds what unsafe rules leave free.
(The semicolon keeps auxiliary names apart from every name that rules can contain.)"""

ROOTS = ((ROLE, 1), (INIT, 1), (NEXT, 1), (LEGAL, 2), (GOAL, 2), (TERMINAL, 0))


@dataclass(frozen=True, slots=True)
class Clause:
    """``head <- positives, not negatives, distincts``; all variables occur in a positive."""

    head: Term
    positives: tuple[Term, ...] = ()
    negatives: tuple[Term, ...] = ()
    distincts: tuple[tuple[Term, Term], ...] = ()
    place: Place = Place()

    def __str__(self) -> str:
        parts = [str(p) for p in self.positives]
        parts += [f"(not {n})" for n in self.negatives]
        parts += [f"(distinct {a} {b})" for a, b in self.distincts]
        return f"(<= {self.head} {' '.join(parts)})" if parts else str(self.head)


def normalize(rules: Rules) -> list[Clause]:
    """The rules as safe clauses, without those that no role, init, next, legal, goal or
    terminal depends on (``base`` and ``input`` are not to be trusted, so they go too).

    Raises:
        RulesError: a rule has ``true``, ``does`` or ``distinct`` as its head.
    """
    normalizer = _Normalizer()
    clauses: list[Clause] = []
    for rule in rules:
        clauses.extend(normalizer.clauses(rule))
    clauses = list(_needed(clauses + normalizer.auxiliary))
    if any(p.name == UNIVERSE for c in clauses for p in c.positives):
        clauses.extend(_universe(clauses))
    return list(dict.fromkeys(clauses))


# Formulas in negation normal form, for use in this module alone.
@dataclass(frozen=True, slots=True)
class _Leaf:
    atom: Term
    positive: bool


@dataclass(frozen=True, slots=True)
class _Both:
    parts: tuple[_Normal, ...]


@dataclass(frozen=True, slots=True)
class _Either:
    parts: tuple[_Normal, ...]


_Normal = _Leaf | _Both | _Either
_Product = list[_Leaf]


class _Normalizer:
    """Works through rules and collects the auxiliary clauses that they need."""

    def __init__(self) -> None:
        self.auxiliary: list[Clause] = []
        self._count = 0

    def clauses(self, rule: Rule) -> Iterator[Clause]:
        if rule.head.name in (TRUE, DOES, DISTINCT):
            raise RulesError(
                f"{rule.head.name!r} cannot be the head of a rule",
                rule.place,
                "write next, init or legal instead",
            )
        bound = _positive_variables(rule.body)
        body = [self._negation_normal(part, True, bound, rule.place) for part in rule.body]
        yield from self._split(rule.head, body, rule.place)

    def _negation_normal(self, formula: Formula, positive: bool, bound: set[Term], place: Place) -> _Normal:
        match formula:
            case Literal(atom):
                return _Leaf(atom, positive)
            case Not(inner):
                local = set(_variables(inner)) - bound
                if positive and local and not isinstance(inner, Literal):
                    # not (and (p ?x ?y) (q ?y)) with a ?y of its own means: there is no ?y.
                    shared = sorted(set(_variables(inner)) & bound)
                    head = self._new_head(shared)
                    self.auxiliary.extend(self.clauses(Rule(head, (inner,), place)))
                    return _Leaf(head, False)
                return self._negation_normal(inner, not positive, bound, place)
            case And(parts):
                normal = tuple(self._negation_normal(p, positive, bound, place) for p in parts)
                return _Both(normal) if positive else _Either(normal)
            case Or(parts):
                normal = tuple(self._negation_normal(p, positive, bound, place) for p in parts)
                return _Either(normal) if positive else _Both(normal)

    def _new_head(self, variables: Iterable[Term]) -> Term:
        self._count += 1
        return Term(f"aux;{self._count}", *variables)

    def _split(self, head: Term, body: list[_Normal], place: Place) -> Iterator[Clause]:
        """Multiply the alternatives of a body out, or chain them where they are many."""
        plain: _Product = []
        choices: list[_Either] = []
        todo = list(reversed(body))
        while todo:
            part = todo.pop()
            match part:
                case _Leaf():
                    plain.append(part)
                case _Both(parts):
                    todo.extend(reversed(parts))
                case _Either(parts):
                    choices.append(part)
        count = 1
        for choice in choices:
            count = min(count * _count(choice), MAX_PRODUCT + 1)
        if count <= MAX_PRODUCT or len(choices) == 1:
            if not choices:
                yield from self._clause(head, plain, place)
                return
            for branch in product(*(c.parts for c in choices)):
                yield from self._split(head, [*plain, *branch], place)
            return
        # head <- plain, c1, ..., cn  becomes  a1 <- plain, c1;  a2 <- a1, c2; ...; head <- an.
        last = {v: number for number, choice in enumerate(choices) for v in _normal_variables(choice)}
        last.update(dict.fromkeys(head.variables(), len(choices)))
        before: list[_Normal] = list(plain)
        for position, choice in enumerate(choices[:-1]):
            known = {v for part in [*before, choice] for v in _normal_variables(part)}
            link = self._new_head(sorted(v for v in known if last.get(v, -1) > position))
            self.auxiliary.extend(self._split(link, [*before, choice], place))
            before = [_Leaf(link, True)]
        yield from self._split(head, [*before, choices[-1]], place)

    def _clause(self, head: Term, leaves: _Product, place: Place) -> Iterator[Clause]:
        """One clause from literals; nothing where the body can never hold."""
        binding: dict[Term, Term] = {}
        for leaf in leaves:
            if leaf.atom.name == DISTINCT:
                if len(leaf.atom.args) != 2:
                    raise RulesError(
                        f"'distinct' takes two terms, not {len(leaf.atom.args)}", place, "give it two"
                    )
                # (not (distinct ?x ?y)) says that both are the same.
                if not leaf.positive and not unify(*leaf.atom.args, binding):
                    return
        head = resolve(head, binding)
        positives: list[Term] = []
        negatives: list[Term] = []
        pairs: list[tuple[Term, Term]] = []
        for leaf in leaves:
            atom = resolve(leaf.atom, binding)
            if atom.name == DISTINCT:
                if leaf.positive:
                    pairs.append((atom.args[0], atom.args[1]))
            else:
                (positives if leaf.positive else negatives).append(atom)
        self._bind_head(head, positives)
        bound = {v for p in positives for v in p.variables()}
        distincts = []
        for left, right in pairs:
            if left is right:
                return
            # A variable that nothing binds differs from everything.
            free = set(left.variables()) | set(right.variables())
            if free <= bound and unify(left, right, {}):
                distincts.append((left, right))
        safe = [self._project(n, bound, place) for n in negatives]
        if any(n in positives for n in safe):
            return
        unique = tuple(dict.fromkeys(positives))
        yield Clause(head, unique, tuple(dict.fromkeys(safe)), tuple(dict.fromkeys(distincts)), place)

    def _bind_head(self, head: Term, positives: list[Term]) -> None:
        """Bind head variables that the body leaves free (legal GDL has none)."""
        bound = {v for p in positives for v in p.variables()}
        for variable in dict.fromkeys(head.variables()):
            if variable not in bound:
                is_role = head.name in (LEGAL, GOAL) and head.args[0] is variable
                positives.append(Term(ROLE if is_role else UNIVERSE, variable))

    def _project(self, negative: Term, bound: set[Term], place: Place) -> Term:
        """``not p(x, y)`` with an unbound y becomes ``not a(x)`` with ``a(x) <- p(x, y)``."""
        variables = dict.fromkeys(negative.variables())
        if all(v in bound for v in variables):
            return negative
        head = self._new_head(v for v in variables if v in bound)
        self.auxiliary.append(Clause(head, (negative,), (), (), place))
        return head


def unify(left: Term, right: Term, binding: dict[Term, Term]) -> bool:
    """Whether two terms can be made equal; extends ``binding`` on the way."""
    todo = [(left, right)]
    while todo:
        left, right = todo.pop()
        left, right = resolve(left, binding), resolve(right, binding)
        if left is right:
            continue
        if right.is_variable:
            left, right = right, left
        if left.is_variable:
            if left in right.variables():
                return False
            binding[left] = right
        elif left.signature == right.signature and left.args:
            todo.extend(zip(left.args, right.args, strict=True))
        else:
            return False
    return True


def resolve(term: Term, binding: dict[Term, Term]) -> Term:
    """The term with bound variables replaced, through chains of bindings."""
    while binding and not term.ground:
        replaced = term.substitute(binding)
        if replaced is term:
            break
        term = replaced
    return term


def _positive_variables(body: Iterable[Formula]) -> set[Term]:
    """Variables of the literals that stand under no negation (distinct binds nothing)."""
    found: set[Term] = set()
    todo = list(body)
    while todo:
        match todo.pop():
            case Literal(atom):
                if atom.name != DISTINCT:
                    found.update(atom.variables())
            case And(parts) | Or(parts):
                todo.extend(parts)
            case Not():
                pass
    return found


def _variables(formula: Formula) -> Iterator[Term]:
    match formula:
        case Literal(atom):
            yield from atom.variables()
        case Not(inner):
            yield from _variables(inner)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _variables(part)


def _normal_variables(part: _Normal) -> Iterator[Term]:
    match part:
        case _Leaf(atom, _):
            yield from atom.variables()
        case _Both(parts) | _Either(parts):
            for inner in parts:
                yield from _normal_variables(inner)


def _count(part: _Normal) -> int:
    """How many products the part multiplies out to, as far as it matters."""
    match part:
        case _Leaf():
            return 1
        case _Both(parts):
            total = 1
            for inner in parts:
                total = min(total * _count(inner), MAX_PRODUCT + 1)
            return total
        case _Either(parts):
            return min(sum(map(_count, parts)), MAX_PRODUCT + 1)


def _needed(clauses: list[Clause]) -> Iterator[Clause]:
    """The clauses that the roots depend on, in their order."""
    by_head: dict[tuple[str, int], list[Clause]] = defaultdict(list)
    for clause in clauses:
        by_head[clause.head.signature].append(clause)
    seen: set[tuple[str, int]] = set()
    todo = list(ROOTS)
    while todo:
        signature = todo.pop()
        if signature in seen:
            continue
        seen.add(signature)
        for clause in by_head.get(signature, ()):
            todo.extend(a.signature for a in (*clause.positives, *clause.negatives))
    return (c for c in clauses if c.head.signature in seen)


def _universe(clauses: list[Clause]) -> Iterator[Clause]:
    """A fact for every ground term that is an argument somewhere."""
    found: dict[Term, None] = {}
    for clause in clauses:
        todo = [clause.head, *clause.positives, *clause.negatives]
        while todo:
            for arg in todo.pop().args:
                if arg.ground:
                    found[arg] = None
                todo.append(arg)
    return (Clause(Term(UNIVERSE, term)) for term in found)
