"""Normal form: every rule becomes clauses of positive, negative and distinct literals.

Negation moves inward, ``or`` is split into clauses (by a chain of auxiliary relations if
the product would be large), and variables that occur only in a negation are projected away.
Rules that no question depends on are dropped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import product

from gdl.errors import Place, RulesError
from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules, literals
from gdl.terms import DISTINCT, DOES, GOAL, INIT, LEGAL, NEXT, ROLE, SEES, TERMINAL, TRUE, Term

_MAX_PRODUCT = 32  # clauses at most from multiplying out the ``or`` of one rule; more become a chain

_UNIVERSE = "universe;"
"""Auxiliary relation of all ground terms in the rules; it binds variables that unsafe rules leave free.
(No name in rules can contain a semicolon.)"""

_ROOTS = ((ROLE, 1), (INIT, 1), (NEXT, 1), (LEGAL, 2), (GOAL, 2), (TERMINAL, 0), (SEES, 2))


@dataclass(frozen=True, slots=True)
class Clause:
    """``head <- positives, not negatives, distincts``; every variable occurs in a positive."""

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
    """The rules as safe clauses.

    Clauses that no role, init, next, legal, goal, terminal or sees depends on are dropped. That includes
    ``base`` and ``input``, which cannot be trusted. Raises RulesError if a rule has ``true``, ``does`` or
    ``distinct`` as its head.
    """
    normalizer = _Normalizer()
    clauses: list[Clause] = []
    for rule in rules:
        clauses.extend(normalizer.clauses(rule))
    clauses = list(_needed(clauses + normalizer.auxiliary))
    if any(p.name == _UNIVERSE for c in clauses for p in c.positives):
        clauses.extend(_universe(clauses))
    return list(dict.fromkeys(clauses))


class _Normalizer:
    """Collects the auxiliary clauses of rules. In bodies, ``not`` stands in front of literals only."""

    def __init__(self) -> None:
        self.auxiliary: list[Clause] = []
        self._count = 0

    def clauses(self, rule: Rule) -> Iterator[Clause]:
        """The clauses of one rule."""
        if rule.head.name in (TRUE, DOES, DISTINCT):
            raise RulesError(
                f"{rule.head.name!r} cannot be the head of a rule",
                rule.place,
                "write next, init or legal instead",
            )
        bound = _positive_variables(rule.body)
        body = [self._negation_normal(part, True, bound, rule.place) for part in rule.body]
        yield from self._split(rule.head, body, rule.place)

    def _negation_normal(self, formula: Formula, positive: bool, bound: set[Term], place: Place) -> Formula:
        """The normal form of a formula if ``positive``, otherwise of its negation."""
        match formula:
            case Literal():
                return formula if positive else Not(formula)
            case Not(inner):
                variables = set(_variables(inner))
                if positive and not variables <= bound and not isinstance(inner, Literal):
                    # not (and (p ?x ?y) (q ?y)) with a ?y found nowhere else means: there is no such ?y.
                    head = self._new_head(sorted(variables & bound))
                    self.auxiliary.extend(self.clauses(Rule(head, (inner,), place)))
                    return Not(Literal(head))
                return self._negation_normal(inner, not positive, bound, place)
            case And(parts) | Or(parts):
                normal = tuple([self._negation_normal(p, positive, bound, place) for p in parts])
                return And(normal) if isinstance(formula, And) is positive else Or(normal)

    def _new_head(self, variables: Iterable[Term]) -> Term:
        self._count += 1
        return Term(f"aux;{self._count}", *variables)

    def _split(self, head: Term, body: list[Formula], place: Place) -> Iterator[Clause]:
        """The clauses of a normal body: its alternatives are multiplied out, or chained if there are many."""
        plain: list[Literal | Not] = []
        choices: list[Or] = []
        todo = body[::-1]
        while todo:
            match todo.pop():
                case And(parts):
                    todo.extend(reversed(parts))
                case Or() as choice:
                    choices.append(choice)
                case literal:
                    plain.append(literal)
        if not choices:
            yield from self._clause(head, plain, place)
        elif len(choices) == 1 or _count(And(tuple(choices))) <= _MAX_PRODUCT:
            for branch in product(*(c.parts for c in choices)):
                yield from self._split(head, [*plain, *branch], place)
        else:
            yield from self._chain(head, plain, choices, place)

    def _chain(
        self, head: Term, plain: list[Literal | Not], choices: list[Or], place: Place
    ) -> Iterator[Clause]:
        """``head <- plain, c1, ..., cn`` as ``a1 <- plain, c1; a2 <- a1, c2; ...; head <- a(n-1), cn``."""
        last = {v: number for number, choice in enumerate(choices) for v in _variables(choice)}
        last.update(dict.fromkeys(head.variables(), len(choices)))
        before: list[Formula] = [*plain]
        for position, choice in enumerate(choices[:-1]):
            bound_so_far = {v for part in [*before, choice] for v in _variables(part)}
            link = self._new_head(sorted(v for v in bound_so_far if last.get(v, -1) > position))
            self.auxiliary.extend(self._split(link, [*before, choice], place))
            before = [Literal(link)]
        yield from self._split(head, [*before, choices[-1]], place)

    def _clause(self, head: Term, body: list[Literal | Not], place: Place) -> Iterator[Clause]:
        """One clause from literals; none if the body can never hold."""
        signed = [(literal.atom, positive) for part in body for literal, positive in literals(part)]
        binding: dict[Term, Term] = {}
        for atom, positive in signed:
            if atom.name == DISTINCT:
                if len(atom.args) != 2:
                    raise RulesError(
                        f"'distinct' takes two terms, not {len(atom.args)}", place, "give it two"
                    )
                # (not (distinct ?x ?y)) means that both are equal.
                if not positive and not _unify(*atom.args, binding):
                    return
        head = resolve(head, binding)
        positives: list[Term] = []
        negatives: list[Term] = []
        pairs: list[tuple[Term, ...]] = []
        for atom, positive in signed:
            atom = resolve(atom, binding)
            if atom.name != DISTINCT:
                (positives if positive else negatives).append(atom)
            elif positive:
                pairs.append(atom.args)
        bound = {v for p in positives for v in p.variables()}
        for variable in dict.fromkeys(head.variables()):
            if variable not in bound:  # only illegal GDL leaves a variable of the head unbound
                is_role = head.name in (LEGAL, GOAL, SEES) and head.args[0] is variable
                positives.append(Term(ROLE if is_role else _UNIVERSE, variable))
                bound.add(variable)
        distincts: list[tuple[Term, Term]] = []
        for left, right in pairs:
            if left is right:
                return
            # A variable that nothing binds differs from everything.
            free = {*left.variables(), *right.variables()}
            if free <= bound and _unify(left, right, {}):
                distincts.append((left, right))
        safe = [self._project(n, bound, place) for n in negatives]
        if any(n in positives for n in safe):
            return
        unique = tuple(dict.fromkeys(positives))
        yield Clause(head, unique, tuple(dict.fromkeys(safe)), tuple(dict.fromkeys(distincts)), place)

    def _project(self, negative: Term, bound: set[Term], place: Place) -> Term:
        """``not p(x, y)`` with an unbound y becomes ``not a(x)`` with ``a(x) <- p(x, y)``."""
        variables = dict.fromkeys(negative.variables())
        if all(v in bound for v in variables):
            return negative
        head = self._new_head(v for v in variables if v in bound)
        self.auxiliary.append(Clause(head, (negative,), (), (), place))
        return head


def _unify(left: Term, right: Term, binding: dict[Term, Term]) -> bool:
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
    """The variables of the literals that are not under a negation (distinct binds nothing)."""
    variables: set[Term] = set()
    todo = list(body)
    while todo:
        match todo.pop():
            case Literal(atom) if atom.name != DISTINCT:
                variables.update(atom.variables())
            case And(parts) | Or(parts):
                todo.extend(parts)
    return variables


def _variables(formula: Formula) -> Iterator[Term]:
    return (v for literal, _ in literals(formula) for v in literal.atom.variables())


def _count(part: Formula) -> int:
    """The number of products that a normal formula multiplies out to, at most _MAX_PRODUCT + 1."""
    match part:
        case And(parts):
            return reduce(lambda total, p: min(total * _count(p), _MAX_PRODUCT + 1), parts, 1)
        case Or(parts):
            return min(sum(map(_count, parts)), _MAX_PRODUCT + 1)
    return 1


def _needed(clauses: list[Clause]) -> Iterator[Clause]:
    """The clauses that the roots depend on, in their order."""
    by_head: dict[tuple[str, int], list[Clause]] = defaultdict(list)
    for clause in clauses:
        by_head[clause.head.signature].append(clause)
    seen: set[tuple[str, int]] = set()
    todo = list(_ROOTS)
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
    ground: dict[Term, None] = {}
    for clause in clauses:
        todo = [clause.head, *clause.positives, *clause.negatives]
        while todo:
            args = todo.pop().args
            ground.update(dict.fromkeys(arg for arg in args if arg.ground))
            todo.extend(args)
    return (Clause(Term(_UNIVERSE, term)) for term in ground)
