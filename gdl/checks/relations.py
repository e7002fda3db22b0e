"""Findings about names: relations and functions defined, used, spelled and repeated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import count

from gdl.checks.diagnostic import Diagnostic, Kind, first_each, info, warning
from gdl.checks.foreign import close_to, is_foreign
from gdl.errors import Place
from gdl.rules import And, Formula, Literal, Not, Or, Rules, Signature, atoms_of, body_literals, subterms
from gdl.syntax.writer import OwnNotation
from gdl.terms import ARITIES, BASE, CONNECTIVES, DISTINCT, DOES, INIT, INPUT, LEGAL, NEXT, TRUE, Term
from gdl.words import counted

UNDEFINED_RELATION = warning("undefined-relation", "define it, or check its spelling and arguments")
STATE_WITHOUT_TRUE = warning("state-without-true", "write (true ...) around it")
MOVE_WITHOUT_DOES = warning("move-without-does", "write (does ...) around it")
STATE_WITHOUT_NEXT = warning("state-without-next", "write (next ...) or (init ...) around it")
RELATION_AS_VALUE = warning(
    "relation-as-value", "ask for the relation in the body, and write its last argument"
)
UNUSED_RELATION = info("unused-relation", "remove its rules, or use it")
ARITY_MISMATCH = warning("arity-mismatch", "use it with the same number of arguments everywhere")
FUNCTION_ARITY_MISMATCH = warning(
    "function-arity-mismatch", "use it with the same number of arguments everywhere"
)
RELATION_AS_FUNCTION = info("relation-used-as-function", "give the relation or the function another name")
DUPLICATE_RULE = warning("duplicate-rule", "remove one of the two")
UNREACHABLE_RULE = warning("unreachable-rule", "remove the rule, or make what it asks for possible")
NEVER_TRUE = warning("proposition-never-true", "write an init or next rule for it")
NEVER_LEGAL = warning("move-never-legal", "write a legal rule for it")


def check_relations(rules: Rules) -> Iterator[Diagnostic]:
    """Findings that take all rules of a game together, by the names in them."""
    own = OwnNotation(rules)
    defined: dict[Signature, Place] = {}
    read: dict[Signature, Place] = {}
    functions: dict[Signature, Place] = {}
    for rule in rules:
        defined.setdefault(rule.head.signature, rule.place)
        for literal, _ in body_literals(rule):
            read.setdefault(literal.atom.signature, literal.place)
        for atom, place in atoms_of(rule):
            for term in subterms(atom):
                if term.args:
                    functions.setdefault(term.signature, place)
    yield from _definitions(rules, dict(defined))
    yield from _arities({**read, **defined}, ARITY_MISMATCH, "relation", own)
    yield from _arities(functions, FUNCTION_ARITY_MISMATCH, "function", own)
    values = {
        (name, arity) for name, arity in functions if (name, arity + 1) in defined and name not in ARITIES
    }
    for (name, arity), place in functions.items():
        if (name, arity) in values:
            asked = own.term(Term(name, *[Term(f"?x{i}") for i in range(1, arity + 1)], Term("?y")))
            message = f"{own.name(name)!r} is a relation, and has no value that a term could hold"
            remedy = f"ask for {asked} in the body, and write {own.term(Term('?y'))} here"
            yield RELATION_AS_VALUE.at(place, message, remedy=remedy)
    relations = {name for name, _ in defined} - ARITIES.keys() - set(CONNECTIVES)
    yield from first_each(
        (
            name,
            RELATION_AS_FUNCTION.at(place, f"{own.name(name)!r} is a function here and a relation elsewhere"),
        )
        for (name, arity), place in functions.items()
        if name in relations and (name, arity) not in values
    )
    yield from _duplicates(rules)
    yield from _unreachable(rules, defined)


def _definitions(rules: Rules, defined: dict[Signature, Place]) -> Iterator[Diagnostic]:
    """Relations that are asked for and not defined, or defined and not asked for."""
    own = OwnNotation(rules)
    read: dict[Signature, Literal] = {}
    for rule in rules:
        for literal, _ in body_literals(rule):
            read.setdefault(literal.atom.signature, literal)
    state, moves = _subjects(rules, (TRUE, INIT, NEXT, BASE)), _subjects(rules, (DOES, LEGAL, INPUT))
    names = {name for name, _ in defined}
    for (name, arity), literal in read.items():
        if name in (TRUE, DOES, DISTINCT) or (name, arity) in defined:
            continue
        atom, place, spelled = literal.atom, literal.place, own.name(name)
        if (name, arity) in state:
            message = f"{spelled!r} is a fact of the state, and is asked for without 'true'"
            yield STATE_WITHOUT_TRUE.at(place, message, remedy=f"write {own.term(Term(TRUE, atom))}")
        elif (name, arity) in moves:
            message = f"{spelled!r} is a move, and is asked for without 'does'"
            remedy = f"write {own.term(Term(DOES, Term('?player'), atom))}"
            yield MOVE_WITHOUT_DOES.at(place, message, remedy=remedy)
        elif name in names or not is_foreign(name):
            arities = [a for n, a in defined if n == name]
            meant = close_to(name, (n for n, a in defined if a == arity))
            but = (
                f", only one with {arities[0]}"
                if arities
                else f": did you mean {own.name(meant)!r}?"
                if meant
                else ""
            )
            yield UNDEFINED_RELATION.at(place, f"no rule defines {spelled!r} with {_arguments(arity)}{but}")
    for rule in rules:
        name, arity = rule.head.signature
        if name in ARITIES or (name, arity) in read or defined.pop((name, arity), None) is None:
            continue
        spelled = own.name(name)
        if (name, arity) in state:
            around = Term(NEXT if rule.body else INIT, rule.head)
            message = f"{spelled!r} is a fact of the state, but this defines a relation that no rule asks for"
            yield STATE_WITHOUT_NEXT.at(rule.place, message, remedy=f"write {own.term(around)}")
        else:
            yield UNUSED_RELATION.at(rule.place, f"no rule asks for {spelled!r} with {_arguments(arity)}")


def _subjects(rules: Rules, keywords: tuple[str, ...]) -> set[Signature]:
    """Names and arities of the propositions, or moves, in literals and heads of these keywords."""
    return {
        atom.args[-1].signature
        for rule in rules
        for atom, _ in atoms_of(rule)
        if atom.name in keywords and len(atom.args) == ARITIES[atom.name] and not atom.args[-1].is_variable
    }


def _arguments(arity: int) -> str:
    return counted(arity, "argument")


def _arities(uses: dict[Signature, Place], kind: Kind, what: str, own: OwnNotation) -> Iterator[Diagnostic]:
    arities: dict[str, int] = {}
    for (name, arity), place in sorted(uses.items(), key=lambda use: (use[1].line, use[1].column)):
        first = arities.setdefault(name, arity)
        if first != arity and name not in ARITIES:
            yield kind.at(
                place, f"the {what} {own.name(name)!r} has {_arguments(arity)} here, but {first} before"
            )


def _duplicates(rules: Rules) -> Iterator[Diagnostic]:
    """Rules that are the same but for the names of their variables."""
    first: dict[tuple[Term, tuple[Formula, ...]], Place] = {}
    for rule in rules:
        names: dict[Term, Term] = {}
        numbers = count()

        def rename(atom: Term, names: dict[Term, Term] = names, numbers: Iterator[int] = numbers) -> Term:
            for variable in atom.variables():
                if variable not in names:
                    names[variable] = Term(f"?{next(numbers)}")
            return atom.substitute(names)

        key = rename(rule.head), tuple([_map_atoms(formula, rename) for formula in rule.body])
        known = first.setdefault(key, rule.place)
        if known is not rule.place:
            what = "rule" if rule.body else "fact"
            yield DUPLICATE_RULE.at(rule.place, f"the same {what} stands at {known} already")


def _map_atoms(formula: Formula, change: Callable[[Term], Term]) -> Formula:
    match formula:
        case Literal(atom, place):
            return Literal(change(atom), place)
        case Not(inner, place):
            return Not(_map_atoms(inner, change), place)
        case And(parts, place):
            return And(tuple([_map_atoms(p, change) for p in parts]), place)
        case Or(parts, place):
            return Or(tuple([_map_atoms(p, change) for p in parts]), place)


def _unreachable(rules: Rules, defined: dict[Signature, Place]) -> Iterator[Diagnostic]:
    """Rules whose body can never hold: a least fixpoint. A relation needs a rule that can fire, a proposition
    an init or next rule for its functor, a move a legal rule."""
    possible: set[object] = set()
    readers: dict[object, list[int]] = defaultdict(list)
    for number, rule in enumerate(rules):
        for literal, _ in body_literals(rule):
            readers[_subject(literal.atom)].append(number)
            if literal.atom.name in (TRUE, DOES):
                readers[literal.atom.name, "any"].append(number)
    waiting = dict(enumerate(rules))
    todo = list(reversed(waiting))
    while todo:
        number = todo.pop()
        if number in waiting and all(_can_hold(formula, possible) for formula in waiting[number].body):
            for fact in _facts_of(waiting.pop(number).head):
                if fact not in possible:
                    possible.add(fact)
                    todo.extend(readers[fact])
    missing: set[object] = set()
    own = OwnNotation(rules)
    for rule in waiting.values():
        blockers = (_blocker(formula, possible) for formula in rule.body)
        blocker = next((literal for literal in blockers if literal), None)
        if blocker is None:
            continue
        atom, place, subject = blocker.atom, blocker.place, _subject(blocker.atom)
        if atom.signature in _SUBJECTS:
            if subject not in missing and atom.name == TRUE:
                yield NEVER_TRUE.at(place, f"no init or next rule can make {own.term(atom.args[0])} true")
            elif subject not in missing:
                yield NEVER_LEGAL.at(place, f"no legal rule can allow the move {own.term(atom.args[1])}")
        elif atom.signature in defined:
            yield UNREACHABLE_RULE.at(place, f"{own.term(atom)} can never hold, so this rule never fires")
        missing.add(subject)


_SUBJECTS = (TRUE, 1), (DOES, 2)
"""Atoms whose last argument decides what must be possible for them to hold."""


def _subject(atom: Term) -> object:
    """What must be possible for an atom to hold."""
    if atom.signature not in _SUBJECTS:
        return atom.signature
    return atom.name, None if atom.args[-1].is_variable else atom.args[-1].signature


def _facts_of(head: Term) -> Iterator[object]:
    """What becomes possible when a rule with this head can fire."""
    yield head.signature
    twin = {(NEXT, 1): TRUE, (INIT, 1): TRUE, (LEGAL, 2): DOES}.get(head.signature)
    if twin is not None:
        subject = head.args[-1]
        yield twin, None
        yield twin, "any" if subject.is_variable else subject.signature


def _can_hold(formula: Formula, possible: set[object]) -> bool:
    match formula:
        case Literal(atom):
            return _possible(atom, possible)
        case Not():
            return True
        case And(parts):
            return all(_can_hold(p, possible) for p in parts)
        case Or(parts):
            return any(_can_hold(p, possible) for p in parts)


def _possible(atom: Term, possible: set[object]) -> bool:
    if atom.name == DISTINCT:
        return len(atom.args) != 2 or atom.args[0] is not atom.args[1]
    return _subject(atom) in possible or (atom.name in (TRUE, DOES) and (atom.name, "any") in possible)


def _blocker(formula: Formula, possible: set[object]) -> Literal | None:
    """A positive literal because of which a formula can never hold."""
    if _can_hold(formula, possible):
        return None
    match formula:
        case Literal():
            return formula
        case And(parts) | Or(parts):
            return next((b for p in parts if (b := _blocker(p, possible)) is not None), None)
        case Not():
            return None
