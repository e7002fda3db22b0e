"""Bottom-up evaluation of flat Datalog on demand, by generated Python functions.

Relations are sets of rows. Static ones are computed once. Those that depend on the state (and the moves)
are computed when a rule needs them, whole or key by key, and stored in the tables of that state (move).

A depth charge is one generated function that plays a game at random to its end. It works on the tables of the
evaluator alone: it numbers no propositions and caches no states, and computes nothing that a random playout
does not need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gdl.compile.program import Program
from gdl.compile.stratify import Dependence, Stratum
from gdl.errors import TooLargeError
from gdl.prover.estimates import Estimates
from gdl.prover.limits import CyclicError, Guard, MoreRowsError, ProverLimits
from gdl.prover.schema import Rows, Schema, Tables, reads
from gdl.prover.strata_code import StrataCode
from gdl.terms import DOES

MAX_CHAIN = 100  # longer chains of relations that depend on each other are computed from the bottom
STATIC_ROWS = 150_000  # a static stratum beyond this becomes a dynamic one
STATIC_SECONDS = 1.0  # so does one that takes longer

RECOVERABLE = (MoreRowsError, CyclicError, RecursionError, IndexError, MemoryError, TooLargeError)
"""The exceptions of generated code that :meth:`Evaluator.recover` handles."""


class Evaluator:
    """Evaluates the strata of a program on demand.

    Args:
        program: the flat clauses.
        strata: all its strata in order.
        limits: of each question, and of the static relations.
        large: names of relations that are known to be too large to be computed whole.

    Attributes:
        schema: what is known of the predicates.
        relations: the access paths and the code of the relations.
        begin: to be called before each direct call of generated code.

    Raises:
        TooLargeError: the static relations go beyond the limits.
    """

    def __init__(
        self, program: Program, strata: list[Stratum], limits: ProverLimits, large: frozenset[str]
    ) -> None:
        self.schema = schema = Schema(program, strata)
        self._guard = Guard(schema, limits)
        self._guard.demanded.update(p.index for p in program.predicates if p.name in large)
        self._estimates = Estimates(schema, self._guard)
        self._code = StrataCode(schema, self._estimates, self._guard)
        self.relations = self._code.relations
        self.begin = self._guard.begin
        for stratum in strata:
            if stratum.dependence is Dependence.STATIC:
                self._try_static(stratum)
        for predicate in range(len(program.predicates)):
            if schema.level[predicate] is not Dependence.STATIC:
                self.relations.path(predicate, (), schema.every(predicate))

    @property
    def large_relations(self) -> list[str]:
        """The names of relations that were found to be too large to be computed whole."""
        return sorted({self.schema.program.predicates[p].name for p in self._guard.demanded})

    def state_tables(self) -> Tables:
        """Tables of a state in which nothing is true."""
        return self.relations.slots[0].copy()

    def move_tables(self) -> Tables:
        """Tables of a joint move that consists of nothing."""
        return self.relations.slots[1].copy()

    def rows(self, predicate: int, state: Tables, move: Tables | None = None) -> Rows:
        """The relation in this state (and move), from the tables or computed now. Raises TooLargeError where
        it goes beyond the limits."""
        level = self.schema.level[predicate]
        if level is Dependence.STATIC:
            return self.schema.static[predicate]
        if move is None and level is Dependence.MOVE:
            move = self.move_tables()
        tables = state if level is Dependence.STATE else move
        assert tables is not None
        slot = self.relations.slot(predicate)
        while True:
            try:
                rows = tables[slot]
                if rows is None:
                    self.begin()
                    if self.schema.chain[predicate] > MAX_CHAIN:
                        self._in_order(predicate, state, move)
                    rows = self._call(predicate, state, move)
                return rows
            except RECOVERABLE as error:
                self.recover(error, state, move)

    def recover(self, error: BaseException, state: Tables, move: Tables | None) -> None:
        """Prepare a second call after generated code has raised one of RECOVERABLE. Raises TooLargeError
        where a second call would not help."""
        grown = False
        for tables, slots, at_once in zip(
            (state, move), self.relations.slots, self.relations.at_once, strict=True
        ):
            if tables is not None:
                grown = grown or len(tables) < len(slots)
                tables.extend(slots[len(tables) :])
                for slot, first in enumerate(slots):
                    if first is None and slot not in at_once:  # it may be incomplete
                        tables[slot] = None
        match error:
            case MoreRowsError(predicates=predicates):
                self.relations.forget(predicates)
            case CyclicError(call=call):
                self._estimates.cyclic.add(call)
                self.relations.forget_call(call)
            case RecursionError() if not self._estimates.shallow:
                self._estimates.shallow = True
                self.relations.forget()
            case RecursionError():
                raise TooLargeError("the rules are nested too deeply to be evaluated") from None
            case IndexError() if grown:  # tables from before some slots were made
                pass
            case MemoryError():
                raise TooLargeError("the rules need more memory than there is") from None
            case _:
                raise error

    def _call(self, predicate: int, state: Tables, move: Tables | None) -> Rows:
        tables = move if self.schema.moves(predicate) else state
        assert tables is not None
        rows = tables[self.relations.slot(predicate)]
        if rows is None:
            maker = self.relations.namespace[f"g{predicate}"]
            rows = maker(state) if tables is state else maker(state, move)
        return rows

    def _in_order(self, predicate: int, state: Tables, move: Tables | None) -> None:
        """Evaluate from the bottom all that a predicate depends on, so that calls stay shallow."""
        cone = {predicate}
        for stratum in reversed(self.schema.strata):
            if not cone.isdisjoint(stratum.predicates):
                cone.update(reads(stratum))
        for stratum in self.schema.strata:
            for p in stratum.predicates:
                if p in cone and not self.schema.given[p] and p not in self.schema.static:
                    self._call(p, state, move)

    def measure(self, samples: list[Tables]) -> None:
        """Plan anew by the sizes that relations have in some states."""
        for predicate in range(len(self.schema.program.predicates)):
            if self.schema.level[predicate] is Dependence.STATE:
                self._estimates.measure(predicate, samples, self.relations.slot(predicate))
        self.relations.forget()

    def count_calls(self) -> None:
        """From now until :meth:`measure_calls` compute all relations key by key, to count the keys."""
        self._estimates.counting = True
        self.relations.forget()

    def measure_calls(self, samples: list[Tables]) -> None:
        """Plan anew by the numbers of keys that some states needed."""
        self._estimates.counting = False
        self.relations.forget()
        for key in self.relations.lazy:
            if self.schema.level[key[0]] is Dependence.STATE:
                self._estimates.measure_calls(key[:2], samples, self.relations.lazy_slot(key))

    def _try_static(self, stratum: Stratum) -> None:
        """Compute the relations of a static stratum; one that is too large, or reads one that is,
        becomes dynamic."""
        schema = self.schema
        if all(p in schema.static or p in stratum.predicates for p in reads(stratum)):
            before = self._guard.rows
            self._guard.restrict(STATIC_ROWS, STATIC_SECONDS)
            try:
                self._compute_static(stratum)
                return
            except TooLargeError:
                self._guard.demanded.update(stratum.predicates)
                self._guard.rows = before
            finally:
                self._guard.restrict(None, 0.0)
        for p in stratum.predicates:
            schema.static.pop(p, None)
            self._estimates.forget_static(p)
            schema.level[p] = Dependence.STATE

    def _compute_static(self, stratum: Stratum) -> None:
        schema = self.schema
        for p in stratum.predicates:
            schema.static[p] = schema.relation(p, schema.facts(p))
        relations = None
        while stratum.clauses and relations is None:
            try:
                relations = self._code.static(stratum)
            except MoreRowsError:
                continue
            except (RecursionError, MemoryError):
                raise TooLargeError("the rules need more memory than there is") from None
            for p, rows in zip(stratum.predicates, relations, strict=True):
                schema.static[p] = rows
                self._estimates.forget_static(p)
        for p in stratum.predicates:
            self._guard.rows += len(schema.static[p]) if schema.arity[p] else 1
        self._guard.tick(0, -1)


Charge = Callable[[Tables, Callable[[], float], int], tuple[int, bool, Tables]]
"""(state, random number in [0, 1), most steps) -> (steps made, whether cut, last state)."""


@dataclass(frozen=True, slots=True)
class ChargePlan:
    """The relations that the function reads, predicates by their indexes.

    Attributes:
        terminal: predicates of ``terminal``.
        legal: per role the predicates of its moves, and the numbers of their rows.
        next: pairs of a predicate of ``next`` and its twin of ``true``; -1 where it has none.
        does: per role, move -> slot and row of ``does``; slot -1 where no rule reads it.
    """

    terminal: Sequence[int]
    legal: Sequence[Sequence[tuple[int, Any]]]
    next: Sequence[tuple[int, int]]
    does: Sequence[Mapping[int, tuple[int, Any]]]


def generate(evaluator: Evaluator, plan: ChargePlan) -> Charge | None:
    """The function for one game; None where it does not cover the rules (``legal`` or ``terminal`` that
    depends on ``does``, roles inside other terms)."""
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
    """The lines that list a role's legal moves, ascending; they cut a playout where it has none."""
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
