"""Findings about constants in places that no fact and no head of a rule can give them: misspelt ones,
variables without their question mark, roles under two names.

Which constants can stand at an argument is a least fixpoint over the rules, from
:data:`gdl.compile.stratify.Position` to constants: it may contain too many constants, never too few.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Set

from gdl.checks.diagnostic import Diagnostic, warning
from gdl.checks.foreign import close_to
from gdl.compile.stratify import Position, arguments
from gdl.errors import Place
from gdl.rules import Literal, Rule, Rules, atoms_of, body_literals, literals, subterms
from gdl.syntax.writer import OwnNotation
from gdl.terms import DISTINCT, DOES, GOAL, INPUT, LEGAL, ROLE, SEES, Term

_NO_SUCH_VALUE = warning("no-such-value", "check its spelling, or write a fact or rule that puts it there")
_UNKNOWN_ROLE = warning("unknown-role", "check its spelling, or write (role ...) for it")

_MOST = 100
"""More constants at one argument count as all: what is hostile takes no longer."""
_OF_ROLES = (DOES, 2), (LEGAL, 2), (GOAL, 2), (INPUT, 2), (SEES, 2)
_Values = dict[Position, Set[Term] | None]
"""Constants that can stand at each position; None for all."""


def check_values(rules: Rules) -> Iterator[Diagnostic]:
    """The first constant in the body of each rule that can never stand there; each is reported once."""
    own = OwnNotation(rules)
    values = _possible(rules)
    yield from _role_names(rules, values, own)
    reported: set[tuple[Position, Term]] = set()
    for rule in rules:
        for literal, position, term in _asked(rule):
            possible = values.get(position)
            if possible and term not in possible and (position, term) not in reported:
                reported.add((position, term))
                yield _never(rule, literal, term, possible, own)
                break


def _asked(rule: Rule) -> Iterator[tuple[Literal, Position, Term]]:
    """The constants of a rule's body."""
    for literal, _ in body_literals(rule):
        for position, term in arguments(literal.atom):
            if not term.args and not term.is_variable:
                yield literal, position, term


def _never(rule: Rule, literal: Literal, term: Term, possible: Set[Term], own: OwnNotation) -> Diagnostic:
    variable = Term(f"?{term.name}")
    marked = any(variable in atom.variables() for atom, _ in atoms_of(rule))
    meant = variable.name if marked else close_to(term.name, sorted(each.name for each in possible))
    ask = f": did you mean {own.term(Term(meant))}?" if meant else ""
    message = f"{own.term(literal.atom)} never holds: no fact or head has {own.term(term)} there{ask}"
    remedy = f"check its spelling, or write {own.term(variable)} if it is a variable"
    return _NO_SUCH_VALUE.at(literal.place, message, remedy=remedy if term.name[0].isalpha() else "")


def _possible(rules: Rules) -> _Values:
    """The fixpoint."""
    values: _Values = defaultdict(set)
    copies: list[tuple[list[set[Position]], Position]] = []
    for rule in rules:
        for position, term in arguments(rule.head):
            if term.is_variable:
                copies.append((_sources(rule, term), position))
            elif not term.args:
                values[position] |= {term}  # type: ignore[operator]
    readers: dict[Position, list[int]] = defaultdict(list)
    for number, (sources, _) in enumerate(copies):
        for position in set().union(*sources):
            readers[position].append(number)
    todo = deque(range(len(copies)))
    while todo:
        sources, target = copies[todo.popleft()]
        before = values[target]
        if before is None:
            continue
        found: Set[Term] | None = None
        for source in sources:
            given = [one for position in source if (one := values[position]) is not None]
            if len(given) == len(source):
                union = set().union(*given)
                found = union if found is None else found & union
        after = None if found is None or len(found) > _MOST else before | found
        if after is None or len(after) > len(before):
            values[target] = after
            todo += readers[target]
    return values


def _sources(rule: Rule, variable: Term) -> list[set[Position]]:
    """Sets of positions: the value of a head's variable stands at one of each. Disjunctions count only for
    variables that have no other literal."""
    each: list[set[Position]] = []
    some: set[Position] = set()
    for formula in rule.body:
        for literal, positive in literals(formula):
            if positive and literal.atom.name != DISTINCT:
                at = {place for place, term in arguments(literal.atom) if term is variable}
                each += [{place} for place in at] if literal is formula else []
                some |= at
    return each or ([some] if some else [])


def _role_names(rules: Rules, values: _Values, own: OwnNotation) -> Iterator[Diagnostic]:
    """Names that stand for a role and are none, once each: at the role that stands nowhere else, if any."""
    definitions = [rule for rule in rules if rule.head.signature == (ROLE, 1)]
    if not definitions or any(rule.body or not rule.head.ground for rule in definitions):
        return  # not known without evaluating rules
    roles = {rule.head.args[0]: rule.place for rule in definitions}
    strange: dict[Term, tuple[Place, str]] = {}
    mentioned: set[Term] = set()
    for rule in rules:
        for atom, place in atoms_of(rule):
            if atom.name != ROLE:
                mentioned.update(subterms(atom))
            if atom.signature in _OF_ROLES and atom.args[0].ground and atom.args[0] not in roles:
                strange.setdefault(atom.args[0], (place, atom.name))
    acting = (values.get((DOES, 2, 0)) or set()) | (values.get((GOAL, 2, 0)) or set())
    names = [*strange, *sorted(acting - roles.keys() - strange.keys())]
    for role in [role for role in roles if role not in mentioned][: len(names)]:
        close = close_to(role.name, [name.name for name in names])
        meant = next((name for name in names if name.name == close), names[0])
        names.remove(meant)
        strange.pop(meant, None)
        message = (
            f"the role {own.term(role)} stands nowhere else, but {own.term(meant)} does, which is not a role"
        )
        yield _UNKNOWN_ROLE.at(roles[role], message, remedy=f"name it {own.term(meant)} here, or rename that")
    for name, (place, relation) in strange.items():
        yield _UNKNOWN_ROLE.at(place, f"{own.term(name)} stands for a role in {relation!r}, but is none")
