"""The order of base propositions and moves: they are sorted as terms, by the ranks of their leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.compile.program import Program
from gdl.compile.shapes import Constant, Function, Leaf, Shape
from gdl.grounding.joins.relation import Relation
from gdl.terms import Term, sort_key

Int = NDArray[np.int64]
Rows = list[tuple[int, Int]]
"""Predicates with the ids of some of their rows."""


class TermOrder:
    """Sorts the rows of relations by one of their arguments."""

    def __init__(self, program: Program, relations: Sequence[Relation]) -> None:
        self.program = program
        self.relations = relations
        terms = program.table.terms
        self._rank = np.empty(len(terms), np.int64)
        self._rank[sorted(range(len(terms)), key=lambda i: sort_key(terms[i]))] = np.arange(len(terms))

    def sort(self, rows: Rows, argument: int) -> tuple[list[Term], list[tuple[int, int]]]:
        """The terms that stand in one argument of rows, ascending, and the (predicate, row id)
        of each. The other arguments must be the same in all rows."""
        blocks: dict[tuple[Any, ...], list[tuple[Term, tuple[int, int]]]] = {}
        for p, ids in rows:
            own = self._sorted_rows(p, ids, argument)
            shape = self.program.predicates[p].shapes[argument]
            if not isinstance(shape, Function):
                for pair in own:
                    blocks.setdefault(sort_key(pair[0]), []).append(pair)
                continue
            # All these terms have one functor: every other term stands before or after them all.
            key = (*sort_key(Term(shape.name))[:-1], len(shape.args))
            if key in blocks:
                own = sorted(blocks[key] + own, key=lambda pair: sort_key(pair[0]))
            blocks[key] = own
        pairs = [pair for key in sorted(blocks) for pair in blocks[key]]
        return [t for t, _ in pairs], [row for _, row in pairs]

    def _sorted_rows(self, predicate: int, ids: Int, argument: int) -> list[tuple[Term, tuple[int, int]]]:
        """The rows of one predicate, with the terms in the argument."""
        relation = self.relations[predicate]
        if relation.arity and len(ids) > 1:
            ranks = [self._rank[relation.column(c)[ids]] for c in range(relation.arity)]
            ids = ids[np.lexsort(ranks[::-1])]
        columns = iter([relation.column(c)[ids].tolist() for c in range(relation.arity)])
        for shape in self.program.predicates[predicate].shapes[: argument + 1]:
            terms = self._terms(shape, columns, len(ids))
        return [(term, (predicate, i)) for term, i in zip(terms, ids.tolist(), strict=True)]

    def _terms(self, shape: Shape, columns: Iterator[list[int]], n: int) -> list[Term]:
        """The terms of one argument of rows, from the columns of its leaves."""
        terms = self.program.table.terms
        if isinstance(shape, Leaf):
            return [terms[i] for i in next(columns)]
        if isinstance(shape, Constant):
            return [terms[shape.term]] * n
        arguments = [self._terms(inner, columns, n) for inner in shape.args]
        return [Term(shape.name, *args) for args in zip(*arguments, strict=True)]


def row_tuples(relation: Relation, ids: Int) -> list[tuple[int, ...]]:
    """Rows of a relation."""
    if not relation.arity:
        return [()] * len(ids)
    return list(zip(*[relation.column(c)[ids].tolist() for c in range(relation.arity)], strict=True))
