"""A depth charge as one generated function that plays a game at random to its end.

It works on the tables of the evaluator alone: it numbers no propositions, caches no states, and computes only
the relations that a random playout needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gdl.prover.evaluator import RECOVERABLE, Evaluator
from gdl.prover.schema import Tables
from gdl.terms import DOES

Charge = Callable[[Tables, Callable[[], float], int], tuple[int, bool, Tables]]
"""(state, random number in [0, 1), most steps) -> (steps made, whether cut, last state)."""


@dataclass(frozen=True, slots=True)
class ChargePlan:
    """The relations that the function reads; predicates are given by their indexes.

    Attributes:
        terminal: predicates of ``terminal``.
        legal: per role the predicates of its moves, and the numbers of their rows.
        next: pairs of a predicate of ``next`` and its twin of ``true`` (-1 for none).
        does: per role, move -> slot and row of ``does``; slot -1 if no rule reads it.
    """

    terminal: Sequence[int]
    legal: Sequence[Sequence[tuple[int, Any]]]
    next: Sequence[tuple[int, int]]
    does: Sequence[Mapping[int, tuple[int, Any]]]


def generate(evaluator: Evaluator, plan: ChargePlan) -> Charge | None:
    """The function for one game. None if it does not cover the rules: ``legal`` or ``terminal`` depends on
    ``does``, or roles occur inside other terms."""
    if not _covered(evaluator, plan):
        return None
    names: dict[str, Any] = {
        "begin": evaluator.begin,
        "recover": evaluator.recover,
        "E": RECOVERABLE,
        "move_tables": evaluator.move_tables,
        "state_tables": evaluator.state_tables,
    }
    roles = range(len(plan.legal))
    lines = ["def charge(M, random, most):", " n = 0", " while True:", "  begin()", "  try:"]
    lines += _terminal(evaluator, plan)
    for role in roles:
        lines += _options(evaluator, plan, role, names)
    lines.append("  except E as e: recover(e, M, None); continue")
    for role in roles:
        names[f"does{role}"] = plan.does[role]
        lines.append(f"  i = o{role}[int(random() * len(o{role}))] if len(o{role}) > 1 else o{role}[0]")
        lines.append(f"  slot{role}, row{role} = does{role}[i]")
    lines.append("  D = move_tables()")
    for role in roles:
        lines += [
            f"  if slot{role} >= 0:",
            f"   if D[slot{role}]: D[slot{role}].add(row{role})",
            f"   else: D[slot{role}] = {{row{role}}}",
        ]
    lines += ["  N = state_tables()", "  while True:", "   try:"]
    for predicate, twin in plan.next:
        value, load = _relation(predicate, evaluator)
        lines += [f"    {line}" for line in (*load, f"N[{evaluator.relations.slot(twin)}] = {value}")]
    lines += ["    break", "   except E as e: recover(e, M, D)", "  M = N", "  n += 1"]
    namespace = evaluator.relations.namespace
    namespace.update(names)
    exec(compile("\n".join(lines), "<charge>", "exec"), namespace)  # numbers only, no rules' text
    charge: Charge = namespace["charge"]
    return charge


def _covered(evaluator: Evaluator, plan: ChargePlan) -> bool:
    schema = evaluator.schema
    legal = [p for relations in plan.legal for p, _ in relations]
    return (
        not any(schema.moves(p) for p in (*plan.terminal, *legal))
        and all(schema.arity[p] for p in legal)
        and all(twin >= 0 for _, twin in plan.next)
        and all(p.arity for p in schema.program.named(DOES, 2))
    )


def _terminal(evaluator: Evaluator, plan: ChargePlan) -> list[str]:
    """The lines that end a playout in a terminal state or at the limit of steps."""
    lines: list[str] = []
    for predicate in plan.terminal:
        value, load = _relation(predicate, evaluator)
        lines += [f"   {line}" for line in (*load, f"if {value}: return n, False, M")]
    return [*lines, "   if n >= most: return n, True, M"]


def _options(evaluator: Evaluator, plan: ChargePlan, role: int, names: dict[str, Any]) -> list[str]:
    """The lines that list a role's legal moves, ascending, and cut a playout if it has none."""
    static = evaluator.schema.static
    lines: list[str] = []
    parts = []
    always: list[int] = []
    for predicate, numbers in plan.legal[role]:
        if predicate in static:
            always += map(numbers.__getitem__, static[predicate])
            continue
        names[f"k{predicate}_{role}"] = numbers.__getitem__
        value, load = _relation(predicate, evaluator)
        lines += [f"   {line}" for line in load]
        parts.append(f"*map(k{predicate}_{role}, {value})")
    names[f"c{role}_"] = sorted(always)
    if parts:
        lines.append(f"   o{role} = [{f'*c{role}_, ' if always else ''}{', '.join(parts)}]")
        lines.append(f"   if len(o{role}) > 1: o{role}.sort()")
        lines.append(f"   elif not o{role}: return n, True, M")
    else:
        lines.append(f"   o{role} = c{role}_")
        lines.append(f"   if not o{role}: return n, True, M")
    return lines


def _relation(predicate: int, evaluator: Evaluator) -> tuple[str, list[str]]:
    """The variable of a relation, and the statements that load it."""
    path = evaluator.relations.path(predicate, (), evaluator.schema.every(predicate))
    return path.name, path.load() if path.loader else []
