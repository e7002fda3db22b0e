"""The evaluator's knowledge of each predicate (arity, stratum, level, static rows), the form of rows, and the
access paths by which generated code reads relations.

Arguments are coded as in :class:`~gdl.compile.program.FlatAtom`: constants >= 0, variables < 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gdl.compile.program import Program
from gdl.compile.stratify import Dependence, Stratum
from gdl.terms import DOES, TRUE

Rows = Any
"""A relation: a bool for arity 0, else a set of ints (arity 1) or of tuples."""

Tables = list[Any]
"""The relations of one state or joint move, by slot; None for a relation that was not computed yet."""


class Schema:
    """The predicates of a program and those that the evaluator adds.

    Attributes:
        program: the flat clauses.
        strata: all strata in order.
        arity: columns of each predicate.
        level: the dependence of each predicate. Static relations that are too large to be
            computed whole count as depending on the state.
        chain: the longest chain of strata that each predicate depends on.
        given: whether a predicate is ``true`` or ``does``.
        static: the rows of the static predicates, once they are computed.
    """

    def __init__(self, program: Program, strata: list[Stratum]) -> None:
        self.program = program
        self.strata = strata
        count = len(program.predicates)
        self.arity = [p.arity for p in program.predicates]
        self.level = [Dependence.STATIC] * count
        self.chain = [0] * count
        self.given = [p.name in (TRUE, DOES) for p in program.predicates]
        self.static: dict[int, Rows] = {}
        self._stratum: dict[int, Stratum] = {}
        for stratum in strata:
            chain = 1 + max((self.chain[p] for p in reads(stratum)), default=0)
            for p in stratum.predicates:
                self.level[p] = stratum.dependence
                self._stratum[p] = stratum
                self.chain[p] = chain

    def stratum(self, predicate: int) -> Stratum:
        """The stratum of one of the program's predicates."""
        return self._stratum[predicate]

    def moves(self, predicate: int) -> bool:
        """Whether a predicate depends on the roles' moves."""
        return self.level[predicate] is Dependence.MOVE

    def every(self, predicate: int) -> tuple[int, ...]:
        """All columns of a predicate."""
        return tuple(range(self.arity[predicate]))

    def facts(self, predicate: int) -> set[tuple[int, ...]]:
        """The rows of a predicate that hold unconditionally."""
        return self.program.facts.get(predicate, set())

    def relation(self, predicate: int, facts: Iterable[tuple[int, ...]]) -> Rows:
        """Tuples as a relation of the predicate."""
        arity = self.arity[predicate]
        if arity == 0:
            return bool(facts)
        return {r[0] for r in facts} if arity == 1 else set(facts)

    def new_predicate(self, like: int, arity: int) -> int:
        """A new predicate for generated clauses alone, with the level of the predicate ``like``."""
        self.arity.append(arity)
        self.level.append(self.level[like])
        self.given.append(False)
        return len(self.arity) - 1


def reads(stratum: Stratum) -> set[int]:
    """The predicates that the clauses of a stratum read."""
    return {a.predicate for c in stratum.clauses for a in (*c.positives, *c.negatives)}


def project(rows: Rows, columns: Sequence[int]) -> list[Any]:
    """Each row's values in some columns: a plain value for one column, else a tuple."""
    if isinstance(rows, bool):
        return [()] if rows else []
    if rows and isinstance(next(iter(rows)), int) and columns:
        return list(rows)
    if len(columns) == 1:
        column = columns[0]
        return [r[column] for r in rows]
    if not columns:
        return [()] * len(rows)
    return [tuple([r[c] for c in columns]) for r in rows]


def plain(row: tuple[int, ...]) -> Any:
    """A row as relations store it: a plain value for one column, else a tuple."""
    return row[0] if len(row) == 1 else row


def full(row: Any) -> tuple[int, ...]:
    """A row of a relation as a tuple, for any number of columns."""
    return (row,) if isinstance(row, int) else row


def each(rows: Rows) -> Any:
    """The rows of a relation as an iterable. A relation without columns that holds has one empty row."""
    if isinstance(rows, bool):
        return [()] if rows else []
    return rows


Key = tuple[int, tuple[int, ...], tuple[int, ...]]
"""An access: a predicate, its bound columns, and the wanted columns."""


@dataclass(frozen=True, slots=True)
class AccessPath:
    """A variable of the generated code through which it reads a relation.

    Without keys the variable holds a set of rows: tuples, plain values for one column, or a bool if no
    column is left. With keys it holds a dict from key to the list of the rows with that key. In a lazy path
    the dict's values are sets of rows or bools.

    Attributes:
        name: the variable.
        loader: the statement that gives it its value at the start of a function; empty for globals.
        maker: the expression that computes the value if the loader gave None; empty if the loader always
            gives a value.
        call: for a lazy path, the start of the call that computes the rows of a missing key.
        local: whether it exists only in the function that computes the relation.
        single: whether the dict maps each key to its only row.
    """

    name: str
    loader: str = ""
    maker: str = ""
    call: str = ""
    local: bool = False
    single: bool = False

    def load(self) -> list[str]:
        """The statements that give the variable its value."""
        return [self.loader, *([f"if {self.name} is None: {self.name} = {self.maker}"] if self.maker else [])]


def value(arg: int) -> str:
    """The source of an argument: a number or a local variable."""
    return str(arg) if arg >= 0 else f"v{-1 - arg}"


def row(args: Sequence[int]) -> str:
    """The source of a row or key: plain for one column."""
    if len(args) == 1:
        return value(args[0])
    return f"({', '.join(map(value, args))})"


def split_row(access: Key, arity: int) -> tuple[str, str, str]:
    """The source that takes a row apart for an access: loop targets, key, and wanted values."""
    _, keys, values = access
    targets = ", ".join(f"v{c}" if c in keys or c in values else "_" for c in range(arity))
    return targets, row([-1 - c for c in keys]), row([-1 - c for c in values])
