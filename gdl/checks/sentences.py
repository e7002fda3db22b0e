"""Findings within one sentence: safety, misuse of keywords, formulas that say nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from gdl.checks.diagnostic import Diagnostic, error, info, warning
from gdl.checks.foreign import one_slip_from
from gdl.errors import Place
from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules, body_literals, subterms
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
