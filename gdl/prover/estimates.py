"""What relations and calls are expected to cost: the planner's statistics.

Sizes come from the static relations, from measured states, and for the rest from the clauses.
The unit of work is one iteration of a generated loop.
"""

from __future__ import annotations

from collections import Counter

from gdl.compile.magic_sets import Call
from gdl.compile.program import FlatClause
from gdl.prover.access_path import variables
from gdl.prover.limits import DEMAND_ROWS, Guard
from gdl.prover.schema import Schema, Tables, project, reads
from gdl.terms import DOES

CALL_WORK = 12.0
"""What a call for one key costs besides its loops."""

INDEX_WORK = 6.0
"""What a row of a relation costs besides the loops that find it."""

FIXPOINT_WORK = 16.0
"""What a row of a recursive relation costs altogether."""

SHARE = 0.3
"""How much of the cost of the relations that a relation reads is put down to it."""

MAGIC_WORK = 50.0
"""What a call costs in addition where it must run a fixpoint."""

CHAIN = 2.0
"""Calls of a recursive predicate that one call leads to."""

LOCAL_ROWS = 20.0
GIVEN_ROWS = 10.0
DOES_ROWS = 1.5
RECURSIVE_FACTOR = 3.0
"""Guesses where nothing was measured: rows of a relation that is being computed, of one of
``true``, of ``does``; rows of a recursive relation for each that its base clauses give."""

MOST_ROWS = 1e9


class Estimates:
    """Expected sizes and costs.

    Attributes:
        local: predicates that are being computed while code for them is written.
        cyclic: calls that led back to themselves: top-down evaluation does not do for them.
        shallow: whether top-down recursion needed too deep a stack.
        counting: whether all relations are computed key by key, to see how many are asked.
    """

    def __init__(self, schema: Schema, guard: Guard) -> None:
        self._schema = schema
        self._guard = guard
        self.local: frozenset[int] = frozenset()
        self.cyclic: set[Call] = set()
        self.shallow = False
        self.counting = False
        self._measured: dict[int, tuple[float, list[float]]] = {}
        self._distinct: dict[int, list[float]] = {}
        self._asked: dict[int, float] = {}
        self._guesses: dict[int, float] = {}
        self._whole: dict[int, float] = {}
        self._constants: Counter[Call] = Counter(
            (a.predicate, tuple([c for c, arg in enumerate(a.args) if arg >= 0]))
            for clause in schema.program.clauses
            for a in clause.positives
        )

    # --- sizes -----------------------------------------------------------------------------
    def fan(self, predicate: int, keys: tuple[int, ...]) -> float:
        """How many rows a key of these columns is expected to have."""
        schema = self._schema
        if predicate in schema.static:
            size, distinct = self.size(predicate), self._static_distinct(predicate)
        elif predicate in self._measured and predicate not in self.local:
            size, distinct = self._measured[predicate]
        else:
            arity = schema.arity[predicate]
            size = LOCAL_ROWS if predicate in self.local else self.size(predicate)
            return float(size ** (1 - len(keys) / arity)) if arity else min(1.0, size)
        groups = 1.0
        for column in keys:
            groups *= max(distinct[column], 1.0)
        return size / groups

    def size(self, predicate: int) -> float:
        """How many rows a relation is expected to have."""
        schema = self._schema
        if predicate in schema.static:
            return float(len(schema.static[predicate])) if schema.arity[predicate] else 1.0
        if predicate in self._measured:
            return self._measured[predicate][0]
        if schema.given[predicate]:
            return DOES_ROWS if schema.program.predicates[predicate].name == DOES else GIVEN_ROWS
        if not self._guesses:
            self._guesses[-1] = 0.0
            for stratum in schema.strata:  # from the bottom, so that this does not recur deeply
                for p in stratum.predicates:
                    self.size(p)
                    self.whole(p)
        if predicate not in self._guesses:
            self._guesses[predicate] = self._guess(predicate)
        return self._guesses[predicate]

    def _guess(self, predicate: int) -> float:
        schema = self._schema
        stratum = schema.stratum(predicate)
        members = frozenset(stratum.predicates if stratum.recursive else ())
        rows = float(len(schema.facts(predicate)))
        for clause in stratum.clauses:
            if members.isdisjoint(a.predicate for a in clause.positives):
                rows += self.work(clause, frozenset())[1]
        rows *= RECURSIVE_FACTOR if members else 1.0
        return min(rows, MOST_ROWS) if schema.arity[predicate] else min(rows, 0.5)

    def _static_distinct(self, predicate: int) -> list[float]:
        found = self._distinct.get(predicate)
        if found is None:
            rows = self._schema.static[predicate]
            found = [float(len(set(project(rows, (c,))))) for c in range(self._schema.arity[predicate])]
            self._distinct[predicate] = found
        return found

    def most(self, predicate: int, keys: tuple[int, ...]) -> int:
        """How many rows a key of these columns has at most."""
        schema = self._schema
        if predicate in schema.static:
            return len(schema.static[predicate]) if schema.arity[predicate] else 1
        return self._guard.most if not keys else self._guard.most // 4

    def scanned(self, predicate: int, keys: tuple[int, ...]) -> bool:
        """Whether to scan all rows rather than to make an index on constant columns."""
        if predicate in self._schema.static:
            return False
        return not keys or self._constants[predicate, keys] <= 2

    # --- costs -----------------------------------------------------------------------------
    def work(self, clause: FlatClause, bound: frozenset[int]) -> tuple[float, float]:
        """Loop iterations and matches that evaluating a clause is expected to take, given the
        values of some variables."""
        rows = work = 1.0
        left = list(clause.positives)
        while left:
            best = 0
            least = 0.0
            for i, atom in enumerate(left):
                keys = tuple([c for c, a in enumerate(atom.args) if a >= 0 or a in bound])
                fan = self.fan(atom.predicate, keys)
                if i == 0 or fan < least:
                    best, least = i, fan
            rows = min(rows * least, MOST_ROWS)
            work += rows
            bound |= variables(left.pop(best).args)
        return work, rows

    def cheaper(self, predicate: int, keys: tuple[int, ...], calls: float) -> bool:
        """Whether so many calls are expected to be cheaper than the whole relation."""
        if predicate in self._guard.demanded or self.counting:
            return True
        recursive = self._schema.stratum(predicate).recursive
        if recursive and self.size(predicate) > DEMAND_ROWS:
            return True
        work = self._asked.get(predicate)
        if work is None:
            work = calls * (CHAIN if recursive else 1.0) * (self.once(predicate, keys) + CALL_WORK)
        return work < self.whole(predicate)

    def once(self, predicate: int, keys: tuple[int, ...]) -> float:
        """What computing the rows of one key is expected to cost."""
        stratum = self._schema.stratum(predicate)
        once = MAGIC_WORK if stratum.recursive and not self.top_down(predicate, keys) else 0.0
        for clause in stratum.clauses:
            if clause.head.predicate == predicate:
                once += self.work(clause, variables([clause.head.args[c] for c in keys]))[0]
        return once

    def top_down(self, predicate: int, keys: tuple[int, ...]) -> bool:
        """Whether a recursive relation may be computed by calls that call themselves."""
        return not self.shallow and (predicate, keys) not in self.cyclic

    def whole(self, predicate: int) -> float:
        """What computing a whole relation is expected to cost, with a share of what it reads."""
        schema = self._schema
        if predicate in schema.static or schema.given[predicate]:
            return 0.0
        if predicate not in self._whole:
            stratum = schema.stratum(predicate)
            self._whole[predicate] = 0.0
            if stratum.recursive:
                work = FIXPOINT_WORK * self.size(predicate)
            else:
                work = INDEX_WORK * self.size(predicate)
                work += sum(self.work(c, frozenset())[0] for c in stratum.clauses)
            work += SHARE * sum(map(self.whole, sorted(reads(stratum))))
            self._whole[predicate] = min(work, MOST_ROWS)
        return self._whole[predicate]

    # --- measuring -------------------------------------------------------------------------
    def measure(self, predicate: int, samples: list[Tables], slot: int) -> None:
        """Take a relation's size from the states in which it was computed, if any."""
        found = [t[slot] for t in samples if len(t) > slot and t[slot] is not None]
        if not found:
            return
        if self._schema.arity[predicate] == 0:
            self._measured[predicate] = (sum(found) / len(found), [])
            return
        distinct = []
        for column in range(self._schema.arity[predicate]):
            values = [len(set(project(rows, (column,)))) for rows in found]
            distinct.append(max(1.0, sum(values) / len(values)))
        self._measured[predicate] = (sum(map(len, found)) / len(found), distinct)

    def measure_calls(self, call: Call, samples: list[Tables], slot: int) -> None:
        """Add up what the keys that were asked for in some states cost a predicate."""
        predicate, keys = call
        calls = sum(len(t[slot]) for t in samples if len(t) > slot and t[slot] is not None)
        if calls:
            work = calls / len(samples) * (self.once(predicate, keys) + CALL_WORK)
            self._asked[predicate] = self._asked.get(predicate, 0.0) + work

    def forget(self) -> None:
        """Drop what was concluded from sizes that may have changed."""
        self._guesses.clear()
        self._whole.clear()

    def forget_static(self, predicate: int) -> None:
        """A static relation has changed."""
        self._distinct.pop(predicate, None)
