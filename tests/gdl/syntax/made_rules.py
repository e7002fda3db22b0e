"""Rules made at random, and rules compared whatever their variables are called."""

from __future__ import annotations

from hypothesis import strategies as st

from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules, literals
from gdl.syntax.notation import FORMS
from gdl.terms import Term

names = st.sampled_from(["p", "q", "cell", "1", "17", "xPlayer", "a_b", "a-b", "+", "it's", "\\", "true"])
variables = st.sampled_from(["?x", "?X1", "?a-b", "?a_b", "?1", "?_", "?über"])


def name(text: str) -> Term:
    return Term(text)


terms = st.recursive(
    st.one_of(names, variables).map(name),
    lambda inner: st.builds(lambda f, args: Term(f, *args), names, st.lists(inner, min_size=1, max_size=3)),
    max_leaves=6,
)
relations = terms.filter(lambda term: not term.is_variable)
formulas: st.SearchStrategy[Formula] = st.recursive(
    relations.map(Literal),
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, max_size=3).map(tuple).map(And),
        st.lists(inner, max_size=3).map(tuple).map(Or),
    ),
    max_leaves=6,
)
games = st.lists(
    st.builds(Rule, relations, st.lists(formulas, max_size=3).map(tuple)), min_size=1, max_size=4
)


def renamed(rules: Rules) -> list[Rule]:
    """The rules with the variables of each numbered: notations differ in how they can be called."""

    def term(part: Term, known: dict[Term, Term]) -> Term:
        return part.substitute(known)

    def formula(part: Formula, known: dict[Term, Term]) -> Formula:
        match part:
            case Literal(atom):
                return Literal(term(atom, known))
            case Not(inner):
                return Not(formula(inner, known))
            case And(parts):
                return And(tuple(formula(p, known) for p in parts))
            case Or(parts):
                return Or(tuple(formula(p, known) for p in parts))

    out = []
    for rule in rules:
        atoms = [rule.head, *(found.atom for part in rule.body for found, _ in literals(part))]
        order = dict.fromkeys(v for atom in atoms for v in atom.variables())
        known = {variable: Term(f"?{i}") for i, variable in enumerate(order)}
        out.append(Rule(term(rule.head, known), tuple(formula(part, known) for part in rule.body)))
    return out


def written(rules: Rules, notation: str) -> str:
    """The rules in a notation, a sentence after the other."""
    return "".join(f"{FORMS[notation].write(rule, rules.spelling)}\n" for rule in rules)
