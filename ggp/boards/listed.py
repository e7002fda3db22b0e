"""`listed_propositions`: the propositions that may ever be true in a game, as its rules list them."""

from __future__ import annotations

from dataclasses import replace

from gdl.errors import GdlError
from gdl.prover.limits import ProverLimits
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.terms import BASE, GOAL, INIT, INPUT, LEGAL, NEXT, SEES, TERMINAL, Term

_LIMITS = ProverLimits(rows=100_000)
_OTHERS = (INIT, NEXT, LEGAL, INPUT, SEES, GOAL, TERMINAL)


def listed_propositions(rules: Rules) -> set[Term]:
    """All base propositions; empty if the rules list none, or too many.

    The prover finds them as the first state of a game that begins with all of them.
    """
    static = [rule for rule in rules if rule.head.name not in _OTHERS]
    begin = [replace(rule, head=Term(INIT, *rule.head.args)) for rule in static if rule.head.name == BASE]
    try:
        machine = ProverMachine(replace(rules, rules=(*static, *begin)), _LIMITS)
    except GdlError:  # The rules are hostile or exceed the limits.
        return set()
    return set(machine.initial_state().propositions)
