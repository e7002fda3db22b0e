"""Expected sizes and costs of relations and calls: the planner's statistics.

Sizes come from the static relations, from measured states, and otherwise from the clauses.
The unit of work is one iteration of a generated loop.
"""

from __future__ import annotations

from collections import Counter

from gdl.compile.magic_sets import Call
from gdl.compile.program import FlatClause, variables_of
from gdl.prover.limits import DEMAND_ROWS, Guard
from gdl.prover.schema import Schema, Tables, project, reads
from gdl.terms import DOES

# Costs.
_CALL_WORK = 12.0  # a call for one key, without its loops
_INDEX_WORK = 6.0  # a row of a relation, without the loops that derive it
_FIXPOINT_WORK = 16.0  # a row of a recursive relation, altogether
_MAGIC_WORK = 50.0  # a call that must run a fixpoint, in addition
_CHAIN = 2.0  # calls of a recursive predicate caused by one call
SHARE = 0.3  # of the cost of a relation: counts for each relation that reads it

# Guesses for relations that were not measured.
_LOCAL_ROWS = 20.0  # of a relation that is being computed
_GIVEN_ROWS = 10.0  # of a predicate of ``true``
_DOES_ROWS = 1.5  # of a predicate of ``does``
_RECURSIVE_FACTOR = 3.0  # rows of a recursive relation for each row of its base clauses
MOST_ROWS = 1e9


class Estimates:
    """Expected sizes and costs.

    Attributes:
        local: the predicates that the code being written computes.
        cyclic: calls that led back to themselves and cannot be evaluated top-down.
        shallow: whether top-down recursion exceeded the stack once and is now avoided.
    """

    def __init__(self, schema: Schema, guard: Guard) -> None:
        self._schema = schema
        self._guard = guard
        self.local: frozenset[int] = frozenset()
        self.cyclic: set[Call] = set()
        self.shallow = False
        self._measured: dict[int, tuple[float, list[float]]] = {}
        self._distinct: dict[int, list[float]] = {}
        self._guesses: dict[int, float] = {}
        self._whole: dict[int, float] = {}
        self._constants: Counter[Call] = Counter(
            (a.predicate, tuple([c for c, arg in enumerate(a.args) if arg >= 0]))
            for clause in schema.program.clauses
            for a in clause.positives
        )

    def fan(self, predicate: int, keys: tuple[int, ...]) -> float:
        """The expected number of rows of a key of these columns."""
        schema = self._schema
        if predicate in schema.static:
            size, distinct = self.size(predicate), self._static_distinct(predicate)
        elif predicate in self._measured and predicate not in self.local:
            size, distinct = self._measured[predicate]
        else:
            arity = schema.arity[predicate]
            size = _LOCAL_ROWS if predicate in self.local else self.size(predicate)
            return float(size ** (1 - len(keys) / arity)) if arity else min(1.0, size)
        groups = 1.0
        for column in keys:
            groups *= max(distinct[column], 1.0)
        return size / groups

    def size(self, predicate: int) -> float:
        """The expected number of rows of a relation."""
        schema = self._schema
        if predicate in schema.static:
            return float(len(schema.static[predicate])) if schema.arity[predicate] else 1.0
        if predicate in self._measured:
            return self._measured[predicate][0]
        if schema.given[predicate]:
            return _DOES_ROWS if schema.program.predicates[predicate].name == DOES else _GIVEN_ROWS
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
        rows *= _RECURSIVE_FACTOR if members else 1.0
        return min(rows, MOST_ROWS) if schema.arity[predicate] else min(rows, 0.5)

    def _static_distinct(self, predicate: int) -> list[float]:
        if predicate not in self._distinct:
            rows, columns = self._schema.static[predicate], self._schema.every(predicate)
            self._distinct[predicate] = [float(len(set(project(rows, (c,))))) for c in columns]
        return self._distinct[predicate]

    def most(self, predicate: int, keys: tuple[int, ...]) -> int:
        """The most rows that a key of these columns can have."""
        schema = self._schema
        if predicate in schema.static:
            return len(schema.static[predicate]) if schema.arity[predicate] else 1
        return self._guard.most if not keys else self._guard.most // 4

    def scanned(self, predicate: int, keys: tuple[int, ...]) -> bool:
        """Whether to scan all rows rather than build an index on constant columns."""
        if predicate in self._schema.static:
            return False
        return not keys or self._constants[predicate, keys] <= 2

    def work(self, clause: FlatClause, bound: frozenset[int]) -> tuple[float, float]:
        """Expected loop iterations and matches of a clause, given the values of some variables."""
        rows = work = 1.0
        left = list(clause.positives)
        while left:
            fans = [self.fan(atom.predicate, atom.bound_columns(bound)) for atom in left]
            least = min(fans)
            rows = min(rows * least, MOST_ROWS)
            work += rows
            bound |= variables_of(left.pop(fans.index(least)).args)
        return work, rows

    def cheaper(self, predicate: int, keys: tuple[int, ...], calls: float) -> bool:
        """Whether ``calls`` calls are expected to cost less than the whole relation."""
        if predicate in self._guard.demanded:
            return True
        recursive = self._schema.stratum(predicate).recursive
        if recursive and self.size(predicate) > DEMAND_ROWS:
            return True
        work = calls * (_CHAIN if recursive else 1.0) * (self.once(predicate, keys) + _CALL_WORK)
        return work < self.whole(predicate)

    def once(self, predicate: int, keys: tuple[int, ...]) -> float:
        """The expected cost of computing the rows of one key."""
        stratum = self._schema.stratum(predicate)
        once = _MAGIC_WORK if stratum.recursive and not self.top_down(predicate, keys) else 0.0
        for clause in stratum.clauses:
            if clause.head.predicate == predicate:
                once += self.work(clause, variables_of([clause.head.args[c] for c in keys]))[0]
        return once

    def top_down(self, predicate: int, keys: tuple[int, ...]) -> bool:
        """Whether a recursive relation may be computed by calls that call themselves."""
        return not self.shallow and (predicate, keys) not in self.cyclic

    def whole(self, predicate: int) -> float:
        """The expected cost of a whole relation, with a share of the relations that it reads."""
        schema = self._schema
        if predicate in schema.static or schema.given[predicate]:
            return 0.0
        if predicate not in self._whole:
            stratum = schema.stratum(predicate)
            self._whole[predicate] = 0.0
            if stratum.recursive:
                work = _FIXPOINT_WORK * self.size(predicate)
            else:
                work = _INDEX_WORK * self.size(predicate)
                work += sum(self.work(c, frozenset())[0] for c in stratum.clauses)
            work += SHARE * sum(map(self.whole, sorted(reads(stratum))))
            self._whole[predicate] = min(work, MOST_ROWS)
        return self._whole[predicate]

    def measure(self, predicate: int, samples: list[Tables], slot: int) -> None:
        """Measure a relation's size in the states in which it was computed, if any."""
        relations = [t[slot] for t in samples if len(t) > slot and t[slot] is not None]
        if not relations:
            return
        if self._schema.arity[predicate] == 0:
            self._measured[predicate] = (sum(relations) / len(relations), [])
            return
        distinct = []
        for column in self._schema.every(predicate):
            counts = [len(set(project(rows, (column,)))) for rows in relations]
            distinct.append(max(1.0, sum(counts) / len(counts)))
        self._measured[predicate] = (sum(map(len, relations)) / len(relations), distinct)

    def forget(self) -> None:
        """Drop conclusions drawn from sizes that may have changed."""
        self._guesses.clear()
        self._whole.clear()

    def forget_static(self, predicate: int) -> None:
        """Drop the statistics of a static relation that has changed."""
        self._distinct.pop(predicate, None)
