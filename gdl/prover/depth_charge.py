"""Depth charges of the prover: one generated function plays a game to its end.

It works on the tables of the evaluator alone, without numbering propositions or remembering
states, and asks for nothing that a random playout does not need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gdl.compile.stratify import Dependence
from gdl.prover.evaluator import RECOVERABLE, Evaluator
from gdl.prover.schema import Tables

Charge = Callable[[Tables, Callable[[], float], int], tuple[int, bool, Tables]]
"""(state, random number in [0, 1), most steps) -> (steps made, whether cut, last state)."""


@dataclass(frozen=True, slots=True)
class ChargePlan:
    """What the function asks, predicates by their indexes.

    Attributes:
        terminal: predicates of ``terminal``.
        legal: per role the predicates of its moves, and the numbers of their rows.
        next: pairs of a predicate of ``next`` and its twin of ``true``.
        does: (role, move) -> slot and row of ``does``; slot -1 where no rule reads it.
    """

    terminal: Sequence[int]
    legal: Sequence[Sequence[tuple[int, Any]]]
    next: Sequence[tuple[int, int]]
    does: Callable[[int, int], tuple[int, Any]]


def generate(evaluator: Evaluator, plan: ChargePlan) -> Charge | None:
    """The function for one game; None where its rules are of a kind that it does not cover
    (``legal`` or ``terminal`` that depends on ``does``, roles inside of other terms)."""
    lines = ["def charge(M, random, most):", " n = 0", " while True:", "  begin()", "  try:"]
    level = evaluator.schema.level
    for predicate in plan.terminal:
        if level[predicate] is Dependence.STATIC:
            if evaluator.schema.static[predicate]:
                lines.append("   return n, False, M")
            continue
        if level[predicate] is Dependence.MOVE:
            return None
        lines += _ask("t", predicate, evaluator, "   ")
        lines.append("   if t: return n, False, M")
    lines.append("   if n >= most: return n, True, M")
    names: dict[str, Any] = {"begin": evaluator.begin, "recover": evaluator.recover, "E": RECOVERABLE}
    for role, relations in enumerate(plan.legal):
        parts = []
        always: list[int] = []
        for number, (predicate, numbers) in enumerate(relations):
            if level[predicate] is Dependence.MOVE or evaluator.schema.arity[predicate] == 0:
                return None
            if level[predicate] is Dependence.STATIC:
                always += map(numbers.__getitem__, evaluator.schema.static[predicate])
                continue
            names[f"k{predicate}_{role}"] = numbers.__getitem__
            lines += _ask(f"a{number}", predicate, evaluator, "   ")
            parts.append(f"*map(k{predicate}_{role}, a{number})")
        names[f"c{role}_"] = sorted(always)
        if parts:
            lines.append(f"   o{role} = [{f'*c{role}_, ' if always else ''}{', '.join(parts)}]")
            lines.append(f"   if len(o{role}) > 1: o{role}.sort()")
            lines.append(f"   elif not o{role}: return n, True, M")
        else:
            lines.append(f"   o{role} = c{role}_")
            lines.append(f"   if not o{role}: return n, True, M")
    lines.append("  except E as e: recover(e, M, None); continue")
    for role in range(len(plan.legal)):
        names[f"does{role}"] = _Memo(plan.does, role)
        lines.append(f"  i = o{role}[int(random() * len(o{role}))] if len(o{role}) > 1 else o{role}[0]")
        lines.append(f"  s{role}, w{role} = does{role}[i]")
    names["move_tables"] = evaluator.move_tables
    names["state_tables"] = evaluator.state_tables
    lines += ["  D = move_tables()"]
    for role in range(len(plan.legal)):
        lines += [
            f"  if s{role} >= 0:",
            f"   if D[s{role}]: D[s{role}].add(w{role})",
            f"   else: D[s{role}] = {{w{role}}}",
        ]
    lines += ["  N = state_tables()", "  while True:", "   try:"]
    for predicate, twin in plan.next:
        if twin < 0:
            return None
        slot = evaluator.slot(twin)
        if level[predicate] is Dependence.STATIC:
            names[f"z{predicate}"] = evaluator.schema.static[predicate]
            lines.append(f"    N[{slot}] = z{predicate}")
        else:
            lines += _ask("t", predicate, evaluator, "    ")
            lines.append(f"    N[{slot}] = t")
    lines += ["    break", "   except E as e: recover(e, M, D)", "  M = N", "  n += 1"]
    for p in evaluator.schema.program.named("does", 2):
        if p.arity == 0:
            return None
    namespace = evaluator.namespace
    namespace.update(names)
    exec(compile("\n".join(lines), "<charge>", "exec"), namespace)  # numbers only, no rules' text
    charge: Charge = namespace["charge"]
    return charge


class _Memo(dict[int, tuple[int, Any]]):
    """Slot and row of ``does`` for the moves of one role, as they are met."""

    def __init__(self, does: Callable[[int, int], tuple[int, Any]], role: int) -> None:
        super().__init__()
        self._does = does
        self._role = role

    def __missing__(self, move: int) -> tuple[int, Any]:
        found = self[move] = self._does(self._role, move)
        return found


def _ask(name: str, predicate: int, evaluator: Evaluator, pad: str) -> list[str]:
    """Lines that put a dynamic relation into a variable."""
    move = evaluator.schema.level[predicate] is Dependence.MOVE
    table = "D" if move else "M"
    parameters = "M, D" if move else "M"
    return [
        f"{pad}{name} = {table}[{evaluator.slot(predicate)}]",
        f"{pad}if {name} is None: {name} = g{predicate}({parameters})",
    ]
