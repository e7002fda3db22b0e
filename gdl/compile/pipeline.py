"""From rules to strata of flat clauses: the front half of every machine, in one call."""

from __future__ import annotations

from gdl.compile.flatten import flatten
from gdl.compile.normalize import normalize
from gdl.compile.program import Program
from gdl.compile.specialize import specialize
from gdl.compile.stratify import Stratum, stratify
from gdl.errors import RulesError
from gdl.rules import Rules
from gdl.terms import ROLE


def compile_rules(rules: Rules) -> tuple[Program, list[Stratum]]:
    """Normalize, flatten, specialize and stratify: the program and its strata in evaluation order.

    Raises:
        RulesError: no role, a keyword as a head, or unstratified negation.
        TooLargeError: the rules multiply out beyond the limits.
    """
    program = specialize(flatten(normalize(rules)))
    derived = {c.head.predicate for c in program.clauses}
    if not any(p.index in derived or program.facts.get(p.index) for p in program.named(ROLE, 1)):
        raise RulesError("the rules name no role", remedy="add a fact such as (role player)")
    return program, stratify(program)
