"""Limits that stop hostile rules: rows, time, depth and number of terms."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gdl.compile.magic_sets import Call
from gdl.errors import TooLargeError
from gdl.prover.schema import Schema
from gdl.terms import Term

DEMAND_ROWS = 3000  # a dynamic relation with more rows is computed key by key if possible
_FIRST_MOST = 1000  # the first bound on the rows for which code is generated; it grows with the relations
_TICKS = 16  # from one check of the limits to the next


@dataclass(frozen=True, slots=True)
class ProverLimits:
    """The limits beyond which rules are refused with a TooLargeError.

    Attributes:
        rows: rows of all relations that one question needs.
        seconds: for one question (legal, next, ...), or for all static relations.
        depth: nesting of function terms.
        terms: different terms that the rules may build.
    """

    rows: int = 2_000_000
    seconds: float = 60.0
    depth: int = 200
    terms: int = 1_000_000


class MoreRowsError(Exception):
    """Relations have more rows than their code allows: those of ``predicates``, or unknown ones if None."""

    def __init__(self, predicates: Sequence[int] | None = None) -> None:
        super().__init__(predicates)
        self.predicates = predicates


class CyclicError(Exception):
    """A key was needed again while it was being computed."""

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self.call = call


class Busy:
    """The entry of a lazy path for a key that is being computed: any use of it is a cycle."""

    def __init__(self, call: Call) -> None:
        self.call = call

    def __bool__(self) -> bool:
        raise CyclicError(self.call)

    def __iter__(self) -> Iterator[Any]:
        raise CyclicError(self.call)


class Guard:
    """Counts the rows and the time of questions; generated code calls it.

    Attributes:
        most: the bound on the rows of a relation for which code is generated.
        demanded: predicates whose relations are too large to be computed whole.
        rows: rows of the present question.
        outgrown: called with predicates that have become too large for their present code.
    """

    outgrown: Callable[[Sequence[int]], None]

    def __init__(self, schema: Schema, limits: ProverLimits) -> None:
        self._schema = schema
        self._table = schema.program.table
        self._limits = limits
        self._seconds = limits.seconds
        self._row_limit = limits.rows
        self._deadline = 0.0
        self._functors: list[str] = []
        self.most = _FIRST_MOST
        self.demanded: set[int] = set()
        self.rows = 0

    def begin(self) -> None:
        """Begin a question: reset the time and the count of rows."""
        self.rows = 0
        self._deadline = 0.0

    def restrict(self, rows: int | None, seconds: float) -> None:
        """Stop after ``rows`` more rows, or ``seconds`` from now; ``rows=None`` lifts the restriction."""
        self._deadline = 0.0
        self._row_limit = self._limits.rows if rows is None else min(self._limits.rows, self.rows + rows)
        self._seconds = self._limits.seconds if rows is None else min(self._limits.seconds, seconds)

    def tick(self, rows: int, predicate: int) -> int:
        """Check the limits; return the number of ticks until the next check. ``rows`` are those of the
        relation that is being computed, ``predicate`` its predicate (-1 if it must be computed whole).

        Raises:
            TooLargeError: a limit is reached.
            MoreRowsError: the relation must be computed key by key from now on.
        """
        now = time.monotonic()
        if not self._deadline:
            self._deadline = now + self._seconds
        if rows > DEMAND_ROWS and predicate >= 0 and predicate not in self.demanded:
            members = self._schema.stratum(predicate).predicates
            self.demanded.update(members)
            raise MoreRowsError(members)
        if now > self._deadline:
            raise TooLargeError(
                f"a question took more than {self._seconds:g} seconds", remedy="use smaller relations"
            )
        if rows + self.rows > self._row_limit:
            raise TooLargeError(f"the relations have more than {self._row_limit} rows")
        return _TICKS

    def threshold(self, predicate: int) -> int:
        """The number of rows beyond which generated code calls :meth:`many`."""
        if predicate < 0 or predicate in self.demanded:
            return self.most
        return min(self.most, DEMAND_ROWS)

    def done(self, rows: int, predicate: int) -> None:
        """Count a relation beyond the threshold that was computed whole. It may be used this time, but is
        computed key by key from now on. Otherwise raises as :meth:`many` does."""
        if rows > DEMAND_ROWS and predicate >= 0 and predicate not in self.demanded:
            members = self._schema.stratum(predicate).predicates
            self.demanded.update(members)
            self.outgrown(members)
        self.many(rows, predicate)

    def many(self, rows: int, predicate: int) -> None:
        """Count a relation, or a round of a fixpoint, beyond the threshold. Raises as :meth:`tick` does, and
        MoreRowsError if the code must be generated for more rows."""
        self.tick(rows, predicate)
        self.rows += rows
        if rows > self.most:
            while self.most < rows:
                self.most *= 8
            raise MoreRowsError

    def functor(self, name: str) -> int:
        """The number of a functor in generated code."""
        if name not in self._functors:
            self._functors.append(name)
        return self._functors.index(name)

    def build(self, functor: int, args: tuple[int, ...]) -> int:
        """The number of a function term. Raises TooLargeError if terms grow without end."""
        table = self._table
        term = Term(self._functors[functor], *[table.terms[a] for a in args])
        if term.depth > self._limits.depth or len(table) > self._limits.terms:
            raise TooLargeError("the rules build terms without end", remedy="bound the recursion")
        return table.id(term)

    def take(self, functor: int, arity: int, number: int) -> tuple[int, ...] | None:
        """The arguments of a function term; None if it has another functor or arity."""
        term = self._table.terms[number]
        if len(term.args) != arity or term.name != self._functors[functor]:
            return None
        return tuple([self._table.id(a) for a in term.args])
