"""Splitting a clause before it is joined, where its bindings would be many.

The same elimination of variables as in :mod:`gdl.grounding.decompose`, but on estimates: sizes follow from
the relations as query planners do it, with values taken to be spread evenly and independently.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from math import prod

from gdl.compile.program import FlatAtom, FlatClause
from gdl.grounding.decompose import eliminations
from gdl.grounding.joins.bindings import variables_of
from gdl.grounding.joins.relation import Relation

SPLIT_FROM = 30_000
"""Clauses that seem to have fewer bindings are joined as they are."""

GAIN = 0.5
"""A split must seem to bring the number of literals below this share."""


class Splitter:
    """Splits clauses; ``dynamic`` says of each predicate whether it depends on the state or the moves."""

    def __init__(self, relations: list[Relation], dynamic: list[bool]) -> None:
        self.relations = relations
        self.dynamic = dynamic

    def split(
        self, clause: FlatClause, auxiliary: int, force: bool = False
    ) -> tuple[FlatClause, FlatClause] | None:
        """A clause for the new predicate with the index ``auxiliary``, and the clause that reads it; None if
        the clause is better left whole. With ``force`` the estimates do not count."""
        if clause.builds:
            return None
        whole = self._rows(clause.positives, self._relevant(clause))
        if whole < SPLIT_FROM and not force:
            return None
        least = (1.0 if force else GAIN) * whole * (1 + len(self._literals(clause)))
        best = None
        edges = [variables_of(atom.args) for atom in (*clause.positives, *clause.negatives)]
        edges += [variables_of(left, right) for left, right in clause.distincts]
        head = variables_of(clause.head.args)
        variables = variables_of(*[p.args for p in clause.positives])
        for bag, interior in eliminations(sorted(variables - head, reverse=True), head, edges):
            clauses = self._cut(clause, bag, interior, auxiliary)
            if clauses is None:
                continue
            inner, outer = clauses
            shared = {
                v: min([self._column(a, v) for a in inner.positives if v in a.args]) for v in inner.head.args
            }
            inside = self._rows(inner.positives, self._relevant(inner))
            atoms = min(inside, prod(shared.values()))
            known = [p for p in outer.positives if p.predicate != auxiliary]
            outside = self._rows(known, self._relevant(outer), (atoms, shared))
            cost = inside * (1 + len(self._literals(inner))) + outside * (1 + len(self._literals(outer)))
            if cost < least:
                best, least = clauses, cost
        return best

    def _cut(
        self, clause: FlatClause, bag: frozenset[int], interior: frozenset[int], auxiliary: int
    ) -> tuple[FlatClause, FlatClause] | None:
        """The two clauses of a split; None where one of them would have nothing to do."""

        def touches(atom: FlatAtom) -> bool:
            return not interior.isdisjoint(atom.args)

        def inside(atom: FlatAtom) -> bool:
            return touches(atom) or (not self.dynamic[atom.predicate] and variables_of(atom.args) <= bag)

        positives = tuple(p for p in clause.positives if inside(p))
        moved = [a for a in (*clause.positives, *clause.negatives) if touches(a)]
        bound = variables_of(*[p.args for p in positives])
        if not any(self.dynamic[a.predicate] for a in moved) or not bag <= bound:
            return None
        head = FlatAtom(auxiliary, tuple(sorted(bag - interior, reverse=True)))
        inner = replace(
            clause,
            head=head,
            positives=positives,
            negatives=tuple(n for n in clause.negatives if inside(n)),
            distincts=tuple(d for d in clause.distincts if variables_of(*d) <= bag),
        )
        outer = replace(
            clause,
            positives=(head, *[p for p in clause.positives if not touches(p)]),
            negatives=tuple(n for n in clause.negatives if not touches(n)),
            distincts=tuple(d for d in clause.distincts if not variables_of(*d) & interior),
        )
        if set(inner.positives) == set(clause.positives) and set(inner.negatives) == set(clause.negatives):
            return None
        return inner, outer

    def _literals(self, clause: FlatClause) -> list[FlatAtom]:
        """The body literals that the ground rules of a clause have."""
        literals = (*clause.positives, *clause.negatives)
        return [a for a in literals if a.predicate >= len(self.dynamic) or self.dynamic[a.predicate]]

    def _relevant(self, clause: FlatClause) -> frozenset[int]:
        """The variables that ground rules of a clause differ in."""
        return variables_of(clause.head.args, *[a.args for a in self._literals(clause)])

    def _column(self, atom: FlatAtom, variable: int) -> int:
        """The number of different values of a variable in a literal."""
        view = self.relations[atom.predicate].view(atom.args)
        order = list(dict.fromkeys(a for a in atom.args if a < 0))
        return max(view.distinct(order.index(variable)), 1)

    def _rows(
        self,
        atoms: Collection[FlatAtom],
        relevant: frozenset[int],
        extra: tuple[float, dict[int, int]] | None = None,
    ) -> float:
        """The estimated number of different bindings of the relevant variables; ``extra`` is
        one more literal, by its rows and different values per variable."""
        rows = 1.0
        values: dict[int, list[int]] = {}
        for atom in atoms:
            rows *= self.relations[atom.predicate].view(atom.args).n
            for v in variables_of(atom.args):
                values.setdefault(v, []).append(self._column(atom, v))
        if extra is not None:
            rows *= extra[0]
            for v, count in extra[1].items():
                values.setdefault(v, []).append(count)
        most = 1.0
        for v, counts in values.items():
            counts.sort()
            for count in counts[1:]:
                rows /= count
            if v in relevant:
                most *= counts[0]
        return min(rows, most)
