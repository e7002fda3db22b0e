"""Findings about names: relations and functions defined, used, spelled and repeated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import count

from gdl.checks.diagnostic import Diagnostic, Kind, info, warning
from gdl.errors import Place
from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules, literals
from gdl.terms import ARITIES, CONNECTIVES, DISTINCT, DOES, INIT, LEGAL, NEXT, TRUE, Term

UNDEFINED_RELATION = warning("undefined-relation", "define it, or check its spelling and arguments")
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

Signature = tuple[str, int]


def check_relations(rules: Rules) -> Iterator[Diagnostic]:
    """Findings that take all rules of a game together, by the names in them."""
    defined: dict[Signature, Place] = {}
    asked: dict[Signature, Place] = {}
    for rule in rules:
        defined.setdefault(rule.head.signature, rule.place)
        for literal in _literals(rule):
            asked.setdefault(literal.atom.signature, literal.place)
    yield from _definitions(defined, asked)
    yield from _arities({**asked, **defined}, ARITY_MISMATCH, "relation")
    yield from _functions(rules, defined)
    yield from _duplicates(rules)
    yield from _unreachable(rules, defined)


def _literals(rule: Rule) -> Iterator[Literal]:
    for part in rule.body:
        for literal, _ in literals(part):
            yield literal


def _definitions(defined: dict[Signature, Place], asked: dict[Signature, Place]) -> Iterator[Diagnostic]:
    for (name, arity), place in asked.items():
        if name not in (TRUE, DOES, DISTINCT) and (name, arity) not in defined:
            other = [a for n, a in defined if n == name]
            but = f", only one with {other[0]}" if other else ""
            yield UNDEFINED_RELATION.at(place, f"no rule defines {name!r} with {_arguments(arity)}{but}")
    for (name, arity), place in defined.items():
        if name not in ARITIES and (name, arity) not in asked:
            yield UNUSED_RELATION.at(place, f"no rule asks for {name!r} with {_arguments(arity)}")


def _arguments(arity: int) -> str:
    return f"{arity} argument{'s' * (arity != 1)}"


def _arities(uses: dict[Signature, Place], kind: Kind, what: str) -> Iterator[Diagnostic]:
    arities: dict[str, int] = {}
    for (name, arity), place in sorted(uses.items(), key=lambda use: (use[1].line, use[1].column)):
        first = arities.setdefault(name, arity)
        if first != arity and name not in ARITIES:
            yield kind.at(place, f"the {what} {name!r} has {_arguments(arity)} here, but {first} before")


def _functions(rules: Rules, defined: dict[Signature, Place]) -> Iterator[Diagnostic]:
    functions: dict[Signature, Place] = {}
    for rule in rules:
        _collect_functions(rule.head, rule.place, functions)
        for literal in _literals(rule):
            _collect_functions(literal.atom, literal.place, functions)
    yield from _arities(functions, FUNCTION_ARITY_MISMATCH, "function")
    relations = {name for name, _ in defined}
    told: set[str] = set()
    for (name, _), place in functions.items():
        if name in relations and name not in told and name not in ARITIES and name not in CONNECTIVES:
            told.add(name)
            yield RELATION_AS_FUNCTION.at(place, f"{name!r} is a function here and a relation elsewhere")


def _collect_functions(atom: Term, place: Place, found: dict[Signature, Place]) -> None:
    todo = [a for a in atom.args if a.args]
    while todo:
        term = todo.pop()
        found.setdefault(term.signature, place)
        todo.extend(a for a in term.args if a.args)


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

        head = rename(rule.head)
        key = head, tuple([_map_atoms(part, rename) for part in rule.body])
        known = first.setdefault(key, rule.place)
        if known is not rule.place:
            yield DUPLICATE_RULE.at(rule.place, f"line {known.line} says the same")


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
    """Rules whose body can never hold, whatever is played: a least fixpoint over functors.

    A relation can hold where some rule for it can fire, a proposition where an init or next
    rule for its functor can, a move where a legal rule for its functor can.
    """
    possible: set[object] = set()
    readers: dict[object, list[int]] = defaultdict(list)
    for number, rule in enumerate(rules):
        for asked in _literals(rule):
            readers[_key(asked.atom)].append(number)
            if asked.atom.name in (TRUE, DOES):
                readers[asked.atom.name, "any"].append(number)
    waiting = dict(enumerate(rules))
    todo = list(reversed(waiting))
    while todo:
        number = todo.pop()
        if number in waiting and all(_can_hold(part, possible) for part in waiting[number].body):
            for fact in _facts_of(waiting.pop(number).head):
                if fact not in possible:
                    possible.add(fact)
                    todo.extend(readers[fact])
    told: set[object] = set()
    for rule in waiting.values():
        literal = next((p for p in (_blocker(f, possible) for f in rule.body) if p), None)
        if literal is None:
            continue
        atom = literal.atom
        wanted = _key(atom)
        if atom.name == TRUE and len(atom.args) == 1:
            if wanted not in told:
                yield NEVER_TRUE.at(literal.place, f"no init or next rule can make {atom.args[0]} true")
        elif atom.name == DOES and len(atom.args) == 2:
            if wanted not in told:
                yield NEVER_LEGAL.at(literal.place, f"no legal rule can allow the move {atom.args[1]}")
        elif atom.signature in defined:
            yield UNREACHABLE_RULE.at(literal.place, f"{atom} can never hold, so this rule never fires")
        told.add(wanted)


def _key(atom: Term) -> object:
    """What must be possible for an atom to hold."""
    if atom.name == TRUE and len(atom.args) == 1:
        subject = atom.args[0]
    elif atom.name == DOES and len(atom.args) == 2:
        subject = atom.args[1]
    else:
        return atom.signature
    return atom.name, None if subject.is_variable else subject.signature


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
    return _key(atom) in possible or (atom.name in (TRUE, DOES) and (atom.name, "any") in possible)


def _blocker(formula: Formula, possible: set[object]) -> Literal | None:
    """A positive literal because of which a formula can never hold."""
    if _can_hold(formula, possible):
        return None
    match formula:
        case Literal():
            return formula
        case And(parts) | Or(parts):
            return next((found for p in parts if (found := _blocker(p, possible)) is not None), None)
        case Not():
            return None
