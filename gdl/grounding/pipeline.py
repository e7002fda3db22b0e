"""The grounder: rules with variables become rules over numbered atoms.

It compiles the rules to flat clauses (:mod:`gdl.compile.pipeline`), then runs the steps that
:mod:`gdl.grounding` lists.
"""

from __future__ import annotations

import time
from dataclasses import replace

from gdl.compile.pipeline import compile_rules
from gdl.errors import TooLargeError
from gdl.grounding.assemble import assemble
from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.instantiate import instantiate
from gdl.grounding.limits import REMEDY, Budget, GroundLimits
from gdl.grounding.reachability import reach
from gdl.rules import Rules
from gdl.terms import ROLE

__all__ = ["GroundLimits", "ground"]


def ground(rules: Rules, limits: GroundLimits | None = None, names: bool = False) -> GroundRules:
    """Ground the rules of a game, by default within 4 GB and a minute of CPU time. With ``names``, also fill
    in :attr:`GroundRules.names`.

    Raises:
        RulesError: the rules have no role or no stratification.
        TooLargeError: a limit was passed; the error names the rule that was being grounded.
    """
    budget = Budget(limits or GroundLimits())
    clock = [time.process_time()]
    try:
        program, strata = compile_rules(rules)
        clock.append(time.process_time())
        reached = reach(program, strata, budget)
        clock.append(time.process_time())
        instances = instantiate(reached)
        clock.append(time.process_time())
        budget.place = None
        written = [rule.head.args[0] for rule in rules if rule.head.signature == (ROLE, 1)]
        result = assemble(reached, instances, written, rules.spell if names else None)
        clock.append(time.process_time())
    except (MemoryError, RecursionError) as error:
        raise TooLargeError("grounding ran out of memory", budget.place, REMEDY) from error
    steps = ("compile", "reach", "instantiate", "assemble")
    stats: dict[str, float] = {f"{s}_s": b - a for s, a, b in zip(steps, clock, clock[1:], strict=False)}
    stats["ground_s"] = clock[-1] - clock[0]
    stats["reachable_atoms"] = sum(r.n for r in reached.relations)
    stats["instances"] = budget.rules
    stats["auxiliary_atoms"] = sum(instances.auxiliary)
    stats["rules"] = len(result.heads)
    stats["literals"] = len(result.bodies)
    stats["atoms"] = result.atom_count
    return replace(result, stats=stats)
