"""Findings within one sentence (safety, misuse of keywords, formulas that say nothing), and about names:
relations and functions defined, used, spelled and repeated, and constants in places that no fact and no head
of a rule can give them (misspelt ones, variables without their question mark, roles under two names).

Which constants can stand at an argument is a least fixpoint over the rules, from
:data:`gdl.compile.stratify.Position` to constants: it may contain too many constants, never too few.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Set
from itertools import count

from gdl.checks.diagnostic import Diagnostic, Kind, error, first_each, info, warning
from gdl.checks.foreign import close_to, is_foreign, one_slip_from
from gdl.compile.stratify import Position, arguments, components
from gdl.errors import Place
from gdl.rules import (
    And,
    Formula,
    Literal,
    Not,
    Or,
    Rule,
    Rules,
    Signature,
    atoms_of,
    body_literals,
    literals,
    map_atoms,
    subterms,
)
from gdl.syntax.writer import OwnNotation
from gdl.terms import (
    ARITIES,
    BASE,
    CONNECTIVES,
    DISTINCT,
    DOES,
    GOAL,
    INIT,
    INPUT,
    LEGAL,
    NEXT,
    ROLE,
    SEES,
    TERMINAL,
    TRUE,
    Term,
)
from gdl.words import counted

_KEYWORD_AS_HEAD = error(
    "keyword-as-head", "write next, init or legal instead, or the head first: (<= head body...)"
)
_KEYWORD_ARITY = warning("keyword-arity", "give it the number of arguments that GDL fixes")
_DISTINCT_ARITY = error("distinct-arity", "give it two terms")
_KEYWORD_IN_TERM = warning("keyword-in-term", "ask for it as a literal of its own, or rename the function")
_CONNECTIVE_IN_TERM = warning("connective-in-term", "put the connective around the relation, not into it")
_UNSAFE_HEAD = warning("unsafe-head-variable", "bind it in a positive literal of the body")
_UNSAFE_NEGATED = warning("unsafe-negated-variable", "bind it in a positive literal of the same body")
_UNSAFE_DISTINCT = warning("unsafe-distinct", "bind both sides in positive literals of the same body")
_NEXT_IN_BODY = warning("next-in-body", "define a relation and use it in both rules")
_INIT_IN_BODY = warning("init-in-body", "define a relation and use it in both rules")
_EMPTY_CONNECTIVE = warning("empty-connective", "remove it, or give it formulas")
_SINGLE_BRANCH = info("single-branch", "write the formula alone")
_DOUBLE_NEGATION = info("double-negation", "write the formula alone")
_DISTINCT_ON_SAME = warning("distinct-on-same", "rename one side, or remove the rule")
_DISTINCT_ON_CONSTANTS = info("distinct-on-constants", "remove it")
_CONTRADICTORY_BODY = warning("contradictory-body", "remove the rule, or one of the two literals")
_REPEATED_LITERAL = info("repeated-literal", "remove one of the two")
_RULE_IMPLIES_ITSELF = warning("rule-implies-itself", "remove the rule: it adds nothing")
_MISSPELT_VARIABLE = warning("misspelt-variable", "write the same variable, or begin its name with '_'")
_SINGLETON_VARIABLE = info("singleton-variable", "check its spelling; nothing else in the rule mentions it")

_USE = {
    TRUE: "(true proposition), and one for each proposition",
    NEXT: "(next proposition), and a rule for each proposition",
    INIT: "(init proposition), and one for each proposition",
    BASE: "(base proposition), and one for each proposition",
    DOES: "(does role move)",
    LEGAL: "(legal role move)",
    INPUT: "(input role move)",
    GOAL: "(goal role 100)",
    ROLE: "(role name), and one for each player",
    TERMINAL: "terminal alone",
    DISTINCT: "(distinct ?x ?y)",
    SEES: "(sees role percept)",
}
"""The form of each keyword."""


def check_sentences(rules: Rules) -> Iterator[Diagnostic]:
    """Findings that each rule shows by itself."""
    own = OwnNotation(rules)
    for rule in rules:
        yield from _head(rule, own)
        bound = _bound_by_all(rule.body)
        for formula in rule.body:
            yield from _formula(formula, own)
            yield from _unsafe(formula, bound, own)
        yield from _body(rule, own)
        yield from _singletons(rule, own)


def _head(rule: Rule, own: OwnNotation) -> Iterator[Diagnostic]:
    head = rule.head
    if head.name in (TRUE, DOES, DISTINCT):
        remedy = "remove the rule: 'distinct' is built in" if head.name == DISTINCT else ""
        yield _KEYWORD_AS_HEAD.at(rule.place, f"{head.name!r} cannot be the head of a rule", remedy=remedy)
    yield from _term_use(head, rule.place, own, not rule.body)
    bound = _bound_by_all(rule.body)
    free = [own.term(variable) for variable in dict.fromkeys(head.variables()) if variable not in bound]
    names = ", ".join(free)
    noun, it = ("variable", "it") if len(free) == 1 else ("variables", "them")
    if free and not rule.body:
        message = f"the fact has the {noun} {names}: facts hold no variables"
        remedy = f"write a fact for each value of {names}, or a rule whose body says its values"
        yield _UNSAFE_HEAD.at(rule.place, message, remedy=remedy)
    elif free:
        message = f"the head has the {noun} {names}, but no positive literal of the body binds {it}"
        yield _UNSAFE_HEAD.at(rule.place, message)


def _term_use(atom: Term, place: Place, own: OwnNotation, fact: bool = False) -> Iterator[Diagnostic]:
    """Wrong arities of keywords, keywords and connectives inside terms."""
    arity = ARITIES.get(atom.name)
    if arity is not None and len(atom.args) != arity:
        count = counted(len(atom.args), "argument")
        remedy = own.sample(f"write {_USE[atom.name]}")
        kind = _DISTINCT_ARITY if atom.name == DISTINCT else _KEYWORD_ARITY
        yield kind.at(place, f"{atom.name!r} has {count}, but takes {arity or 'none'}", remedy=remedy)
    for term in subterms(atom):
        kind = _CONNECTIVE_IN_TERM if term.name in CONNECTIVES else _KEYWORD_IN_TERM
        if kind is _CONNECTIVE_IN_TERM or (term.args and term.name in ARITIES):
            rule = own.sample("write (<= head body...)") if fact and term in atom.args else ""
            yield kind.at(place, f"{term.name!r} stands inside a term and is only a name there", remedy=rule)


def _formula(formula: Formula, own: OwnNotation) -> Iterator[Diagnostic]:
    """Findings about the shape of a formula, and about its literals one by one."""
    todo = [formula]
    while todo:
        match formula := todo.pop():
            case Literal(atom, place):
                yield from _literal(atom, place, own)
            case Not(inner, place):
                if isinstance(inner, Not):
                    yield _DOUBLE_NEGATION.at(place, "a negation of a negation is the formula itself")
                todo.append(inner)
            case And(parts, place) | Or(parts, place):
                name = "and" if isinstance(formula, And) else "or"
                if not parts:
                    value = "true" if name == "and" else "false"
                    yield _EMPTY_CONNECTIVE.at(place, f"{name!r} without formulas is always {value}")
                elif len(parts) == 1:
                    yield _SINGLE_BRANCH.at(place, f"{name!r} has only one formula")
                todo.extend(reversed(parts))


def _literal(atom: Term, place: Place, own: OwnNotation) -> Iterator[Diagnostic]:
    yield from _term_use(atom, place, own)
    if atom.name == NEXT:
        yield _NEXT_IN_BODY.at(place, "'next' may only stand in heads")
    elif atom.name == INIT:
        yield _INIT_IN_BODY.at(place, "'init' may only stand in heads")
    elif atom.name == DISTINCT and len(atom.args) == 2:
        left, right = atom.args
        if left is right:
            yield _DISTINCT_ON_SAME.at(place, f"{own.term(atom)} never holds: both sides are the same")
        elif left.ground and right.ground:
            yield _DISTINCT_ON_CONSTANTS.at(place, f"{own.term(atom)} always holds: both sides are constants")


def _bound_by(formula: Formula) -> set[Term]:
    """The variables that have a value wherever the formula holds."""
    match formula:
        case Literal(atom):
            return set() if atom.name == DISTINCT else set(atom.variables())
        case And(parts):
            return _bound_by_all(parts)
        case Or(parts):
            return set.intersection(*map(_bound_by, parts)) if parts else set()
        case Not():
            return set()


def _bound_by_all(parts: Iterable[Formula]) -> set[Term]:
    return set().union(*map(_bound_by, parts))


def _unsafe(
    formula: Formula, bound: set[Term], own: OwnNotation, negated: bool = False
) -> Iterator[Diagnostic]:
    """Variables of negations and of ``distinct`` that nothing gives a value."""
    match formula:
        case Literal(atom, place):
            kind = _UNSAFE_DISTINCT if atom.name == DISTINCT else _UNSAFE_NEGATED
            if negated or kind is _UNSAFE_DISTINCT:
                for variable in dict.fromkeys(atom.variables()):
                    if variable not in bound:
                        where = "distinct" if kind is _UNSAFE_DISTINCT else "a negation"
                        yield kind.at(
                            place, f"no positive literal binds {own.term(variable)}, which {where} needs"
                        )
        case Not(inner):
            yield from _unsafe(inner, bound, own, not negated)
        case And(parts):
            # A conjunction that is negated twice over binds its own variables.
            inner_bound = bound if negated else bound | _bound_by_all(parts)
            for part in parts:
                yield from _unsafe(part, inner_bound, own, negated)
        case Or(parts):
            for part in parts:
                yield from _unsafe(part, bound, own, negated)


def _body(rule: Rule, own: OwnNotation) -> Iterator[Diagnostic]:
    """Contradictions and repetitions among the parts of a body."""
    positive = {p.atom for p in rule.body if isinstance(p, Literal)}
    if rule.head in positive:
        yield _RULE_IMPLIES_ITSELF.at(
            rule.place, f"the rule says that {own.term(rule.head)} follows from itself"
        )
    seen: set[Formula] = set()
    for formula in rule.body:
        if formula in seen:
            yield _REPEATED_LITERAL.at(
                formula.place, f"{_short(own.formula(formula))} stands twice in this body"
            )
        seen.add(formula)
        match formula:
            case Not(Literal(atom), place) if atom in positive:
                yield _CONTRADICTORY_BODY.at(
                    place, f"the body asks for both {own.term(atom)} and its negation"
                )


def _singletons(rule: Rule, own: OwnNotation) -> Iterator[Diagnostic]:
    """Variables that occur once, in one finding for the rule. A literal all of whose variables do asks
    whether there is any; a name with a leading ``_`` says that this is meant."""
    count = Counter(rule.head.variables())
    literals = [(list(literal.atom.variables()), literal.place) for literal, _ in body_literals(rule)]
    count.update(variable for variables, _ in literals for variable in variables)
    once: dict[Term, Place] = {}
    for variables, place in literals:
        alone = [v for v in variables if count[v] == 1 and not v.name.startswith("?_")]
        for variable in alone:
            meant = one_slip_from(variable.name, (v.name for v in count if v is not variable))
            if (len(meant) != len(variable.name) or sorted(meant) == sorted(variable.name)) and meant:
                ask = f"did you mean {own.term(Term(meant))}?"
                yield _MISSPELT_VARIABLE.at(
                    place, f"{own.term(variable)} occurs only here in the rule: {ask}"
                )
                return
        if len(alone) < len(variables):
            once.update(dict.fromkeys(alone, place))
    if once:
        names = ", ".join(map(own.term, once))
        message = f"{names} {'occurs' if len(once) == 1 else 'occur'} only here in the rule"
        yield _SINGLETON_VARIABLE.at(next(iter(once.values())), message)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


_NEEDED = frozenset(["role", "init", "next", "legal", "goal", "terminal"])
"""Keywords that are missed by :mod:`gdl.checks.run` if no rule has them."""
_UNDEFINED_RELATION = warning("undefined-relation", "define it, or check its spelling and arguments")
_STATE_WITHOUT_TRUE = warning("state-without-true", "write (true ...) around it")
_MOVE_WITHOUT_DOES = warning("move-without-does", "write (does ...) around it")
_STATE_WITHOUT_NEXT = warning("state-without-next", "write (next ...) or (init ...) around it")
_RELATION_AS_VALUE = warning(
    "relation-as-value", "ask for the relation in the body, and write its last argument"
)
_MISSPELT_RELATION = warning("misspelt-relation", "write the name that rules ask for, or use it")
_UNUSED_RELATION = info("unused-relation", "remove its rules, or use it")
_ARITY_MISMATCH = warning("arity-mismatch", "use it with the same number of arguments everywhere")
_FUNCTION_ARITY_MISMATCH = warning(
    "function-arity-mismatch", "use it with the same number of arguments everywhere"
)
_RELATION_AS_FUNCTION = info("relation-used-as-function", "give the relation or the function another name")
_DUPLICATE_RULE = warning("duplicate-rule", "remove one of the two")
_UNREACHABLE_RULE = warning("unreachable-rule", "remove the rule, or make what it asks for possible")
_NEVER_TRUE = warning("proposition-never-true", "write an init or next rule for it")
_NEVER_LEGAL = warning("move-never-legal", "write a legal rule for it")


def check_relations(rules: Rules) -> Iterator[Diagnostic]:
    """Findings that take all rules of a game together, by the names in them."""
    own = OwnNotation(rules)
    defined: dict[Signature, Place] = {}
    relation_uses, function_uses = Counter[Signature](), Counter[Signature]()
    functions: dict[Signature, Place] = {}
    for rule in rules:
        defined.setdefault(rule.head.signature, rule.place)
        relation_uses.update([rule.head.signature])
        relation_uses.update(literal.atom.signature for literal, _ in body_literals(rule))
        for atom, place in atoms_of(rule):
            for term in subterms(atom):
                if term.args:
                    functions.setdefault(term.signature, place)
                    function_uses.update([term.signature])
    # An undefined relation whose name has another number of arguments is reported as undefined.
    yield from _arities(defined, relation_uses, _ARITY_MISMATCH, "relation", own)
    yield from _arities(functions, function_uses, _FUNCTION_ARITY_MISMATCH, "function", own)
    yield from _definitions(rules, dict(defined))
    values = {
        (name, arity) for name, arity in functions if (name, arity + 1) in defined and name not in ARITIES
    }
    for (name, arity), place in functions.items():
        if (name, arity) in values:
            asked = own.term(Term(name, *[Term(f"?x{i}") for i in range(1, arity + 1)], Term("?y")))
            message = f"{own.name(name)!r} is a relation, and has no value that a term could hold"
            remedy = f"ask for {asked} in the body, and write {own.term(Term('?y'))} here"
            yield _RELATION_AS_VALUE.at(place, message, remedy=remedy)
    relations = {name for name, _ in defined} - ARITIES.keys() - set(CONNECTIVES)
    yield from first_each(
        (
            name,
            _RELATION_AS_FUNCTION.at(
                place, f"{own.name(name)!r} is a function here and a relation elsewhere"
            ),
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
    names, heads = {name for name, _ in defined}, set(defined)
    for (name, arity), literal in read.items():
        if name in (TRUE, DOES, DISTINCT) or (name, arity) in defined or name in _NEEDED:
            continue
        atom, place, spelled = literal.atom, literal.place, own.name(name)
        if (name, arity) in state:
            message = f"{spelled!r} is a fact of the state, and is asked for without 'true'"
            yield _STATE_WITHOUT_TRUE.at(place, message, remedy=f"write {own.term(Term(TRUE, atom))}")
        elif (name, arity) in moves:
            message = f"{spelled!r} is a move, and is asked for without 'does'"
            remedy = f"write {own.term(Term(DOES, Term('?player'), atom))}"
            yield _MOVE_WITHOUT_DOES.at(place, message, remedy=remedy)
        elif name in names or not is_foreign(name):
            arities = [a for n, a in defined if n == name]
            meant = close_to(name, (n for n, a in defined if a == arity))
            but = f", only one with {arities[0]}" if arities else ""
            remedy = ""
            if meant and not arities:
                but = f": did you mean {own.name(meant)!r}?"
                remedy = f"write {own.name(meant)}, as in {defined[meant, arity]}, or mend it there"
            message = f"no rule defines {spelled!r} with {_arguments(arity)}{but}"
            yield _UNDEFINED_RELATION.at(place, message, remedy=remedy)
    stated, asked = _subjects(rules, (INIT, NEXT, LEGAL)), _subjects(rules, (TRUE, DOES))
    yield from _never_stated(rules, own)
    for rule in rules:
        subject = rule.head.args[-1].signature if rule.head.args else ("", 0)
        if rule.head.name not in (INIT, NEXT, LEGAL) or subject not in stated - asked:
            continue
        if meant := one_slip_from(subject[0], (n for n, a in asked if a == subject[1])):
            message = f"no rule asks for {own.name(subject[0])!r}: did you mean {own.name(meant)!r}?"
            yield _MISSPELT_RELATION.at(rule.place, message)
    for rule in rules:
        name, arity = rule.head.signature
        if name in ARITIES or (name, arity) in read or defined.pop((name, arity), None) is None:
            continue
        spelled = own.name(name)
        if (name, arity) in state:
            around = Term(NEXT if rule.body else INIT, rule.head)
            message = f"{spelled!r} is a fact of the state, but this defines a relation that no rule asks for"
            yield _STATE_WITHOUT_NEXT.at(rule.place, message, remedy=f"write {own.term(around)}")
        elif meant := one_slip_from(name, (n for n, a in read if a == arity and (n, a) in heads)):
            message = f"no rule asks for {spelled!r}: did you mean {own.name(meant)!r}?"
            yield _MISSPELT_RELATION.at(rule.place, message)
        else:
            yield _UNUSED_RELATION.at(rule.place, f"no rule asks for {spelled!r} with {_arguments(arity)}")


def _never_stated(rules: Rules, own: OwnNotation) -> Iterator[Diagnostic]:
    """Propositions that are asked for though no rule makes them true, and moves that no rule allows."""
    for asking, stating, kind, what in (
        (TRUE, (INIT, NEXT), _NEVER_TRUE, "no init or next rule can make {} true"),
        (DOES, (LEGAL,), _NEVER_LEGAL, "no legal rule can allow the move {}"),
    ):
        heads = [rule.head for rule in rules if rule.head.name in stating]
        stated, reported = _subjects(rules, stating), set[Signature]()
        if any(head.args and head.args[-1].is_variable for head in heads):
            continue
        for rule in rules:
            for literal, _ in body_literals(rule):
                atom = literal.atom
                if atom.signature in _SUBJECTS and atom.name == asking and not atom.args[-1].is_variable:
                    subject = atom.args[-1].signature
                    if subject not in stated and subject not in reported:
                        reported.add(subject)
                        meant = close_to(subject[0], sorted(n for n, a in stated if a == subject[1]))
                        ask = f": did you mean {own.name(meant)!r}?" if meant else ""
                        yield kind.at(literal.place, what.format(own.term(atom.args[-1])) + ask)


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


def _arities(
    places: dict[Signature, Place], uses: Counter[Signature], kind: Kind, what: str, own: OwnNotation
) -> Iterator[Diagnostic]:
    """A finding for each number of arguments but the one that a name has most often."""
    usual = dict(sorted(places, key=lambda one: uses[one]))
    for (name, arity), place in places.items():
        if usual[name] != arity and name not in ARITIES:
            message = (
                f"the {what} {own.name(name)!r} has {_arguments(arity)} here, but {usual[name]} elsewhere"
            )
            yield kind.at(place, message)


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

        key = rename(rule.head), tuple([map_atoms(formula, rename) for formula in rule.body])
        earlier = first.setdefault(key, rule.place)
        if earlier is not rule.place:
            what = "rule" if rule.body else "fact"
            yield _DUPLICATE_RULE.at(rule.place, f"the same {what} stands at {earlier} already")


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
    blockers: dict[object, list[Literal]] = {}
    needs: dict[object, set[object]] = defaultdict(set)
    for rule in waiting.values():
        for literal in filter(None, (_blocker(formula, possible) for formula in rule.body)):
            blockers.setdefault(_subject(literal.atom), []).append(literal)
            for fact in _facts_of(rule.head):
                needs[fact].add(_subject(literal.atom))
    own = OwnNotation(rules)
    subjects = {subject: number for number, subject in enumerate(blockers)}
    reads = [sorted(subjects[need] for need in needs[subject] if need in subjects) for subject in subjects]
    names = list(subjects)
    for component in components(reads):
        # A component that needs another impossible one follows from that one.
        if all(need in component for number in component for need in reads[number]):
            own_blockers = [literal for number in component for literal in blockers[names[number]]]
            literal = min(
                own_blockers, key=lambda one: (one.atom.signature not in _SUBJECTS, one.atom.name == DOES)
            )
            atom, place = literal.atom, literal.place
            if atom.signature == (TRUE, 1):
                yield _NEVER_TRUE.at(place, f"no init or next rule can make {own.term(atom.args[0])} true")
            elif atom.signature in defined or atom.signature in _SUBJECTS:
                yield _UNREACHABLE_RULE.at(
                    place, f"{own.term(atom)} can never hold, so this rule never fires"
                )


_SUBJECTS = (TRUE, 1), (DOES, 2)
"""Atoms whose last argument decides what must be possible for them to hold."""


def _subject(atom: Term) -> object:
    """The relation, proposition or move that must be possible for an atom to hold."""
    if atom.signature not in _SUBJECTS:
        return atom.signature
    return atom.name, None if atom.args[-1].is_variable else atom.args[-1].signature


def _facts_of(head: Term) -> Iterator[object]:
    """The relations, propositions and moves that become possible when a rule with this head can fire."""
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
    values = _possible_values(rules)
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


def _possible_values(rules: Rules) -> _Values:
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
