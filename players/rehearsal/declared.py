"""What base and input rules declare: the propositions and moves that they say there can be."""

from __future__ import annotations

from gdl.prover.machine import ProverMachine
from gdl.rules import Literal, Rule, Rules, body_literals
from gdl.terms import BASE, DOES, GOAL, INIT, INPUT, LEGAL, NEXT, TERMINAL, TRUE, Term

_STATEFUL = (TRUE, 1), (DOES, 2), (INIT, 1)
_LEFT_OUT = (INIT, 1), (NEXT, 1), (LEGAL, 2), (GOAL, 2), (TERMINAL, 0)


def declared(rules: Rules, signature: tuple[str, int]) -> frozenset[Term] | None:
    """The facts of ``base`` (propositions), or of ``input`` (pairs as terms with the role and the move).

    None where there are no such rules, or where they ask for what is true or done, which they must not. Takes
    time and memory as there are facts: bound both.

    Raises:
        GdlError: the rules cannot be evaluated.
    """
    assert signature in ((BASE, 1), (INPUT, 2))
    if all(rule.head.signature != signature for rule in rules):
        return None
    kept = [rule for rule in rules if rule.head.signature not in _LEFT_OUT]
    if any(
        rule.head.signature in ((BASE, 1), (INPUT, 2)) and literal.atom.signature in _STATEFUL
        for rule in kept
        for literal, _ in body_literals(rule)
    ):
        return None
    # Declared facts become the initial state of a game without moves.
    variables = [Term(f"?{i}") for i in range(signature[1])]
    fact = variables[0] if signature[1] == 1 else Term("pair", *variables)
    kept.append(Rule(Term(INIT, fact), (Literal(Term(signature[0], *variables)),)))
    return ProverMachine(Rules(tuple(kept), rules.spelling, rules.name)).initial_state().propositions
