"""Magic sets (Bancilhon, Maier, Sagiv and Ullman 1986): recursive clauses derive only the rows asked for.

Each way of calling a recursive predicate (its bound columns) gets two predicates: one of the keys asked for
and one of the answers. A clause derives answers to these keys only, and adds the keys that its own recursive
literals need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gdl.compile.program import Build, FlatAtom, FlatClause, all_bound

Call = tuple[int, tuple[int, ...]]
"""A predicate and its bound columns."""


class MagicSets:
    """The clauses of a recursive stratum (facts as clauses without a body), rewritten for one call.

    ``fan`` gives the expected matches of a literal with bound columns; ``new_predicate`` makes a predicate
    like another one, of some arity.

    Attributes:
        clauses: each reads at least one of the new predicates.
        answers: call -> the predicate of its answers (whole rows).
        keys: call -> the predicate of its keys.
    """

    def __init__(
        self,
        clauses: Sequence[FlatClause],
        members: frozenset[int],
        call: Call,
        fan: Callable[[int, tuple[int, ...]], float],
        new_predicate: Callable[[int, int], int],
    ) -> None:
        self.clauses: list[FlatClause] = []
        self.answers: dict[Call, int] = {}
        self.keys: dict[Call, int] = {}
        self._members = members
        self._fan = fan
        self._new_predicate = new_predicate
        self._arity = {c.head.predicate: len(c.head.args) for c in clauses}
        self._waiting: list[Call] = []
        self._predicates(call)
        while self._waiting:
            call = self._waiting.pop()
            for clause in clauses:
                if clause.head.predicate == call[0]:
                    self._rewrite(clause, call)

    def _predicates(self, call: Call) -> tuple[int, int]:
        """The predicates of the answers and of the keys of a call; a new call is queued for rewriting."""
        if call not in self.answers:
            self.answers[call] = self._new_predicate(call[0], self._arity[call[0]])
            self.keys[call] = self._new_predicate(call[0], len(call[1]))
            self._waiting.append(call)
        return self.answers[call], self.keys[call]

    def _rewrite(self, clause: FlatClause, call: Call) -> None:
        """Write one clause for one call, and the clauses for the keys that its literals ask for."""
        answers, keys = self._predicates(call)
        placed = [FlatAtom(keys, tuple([clause.head.args[c] for c in call[1]]))]
        used: list[Build] = []
        bound = {a for a in placed[0].args if a < 0}
        left = list(clause.positives)
        builds = list(clause.builds)
        while left:
            _run_builds(builds, used, bound)
            atom = min(left, key=lambda a: self._cost(a, bound))
            left.remove(atom)
            if atom.predicate in self._members:
                if atom.predicate not in self._arity:
                    return  # no clause derives it
                columns = atom.bound_columns(bound)
                inner_answers, inner_keys = self._predicates((atom.predicate, columns))
                head = FlatAtom(inner_keys, tuple([atom.args[c] for c in columns]))
                if head not in placed:
                    prefix = replace(
                        clause,
                        head=head,
                        positives=tuple(placed),
                        negatives=tuple([n for n in clause.negatives if all_bound(n.args, bound)]),
                        distincts=tuple([d for d in clause.distincts if all_bound((*d[0], *d[1]), bound)]),
                        builds=tuple(used),
                    )
                    self.clauses.append(prefix)
                atom = FlatAtom(inner_answers, atom.args)
            placed.append(atom)
            bound.update(a for a in atom.args if a < 0)
        head = FlatAtom(answers, clause.head.args)
        self.clauses.append(replace(clause, head=head, positives=tuple(dict.fromkeys(placed))))

    def _cost(self, atom: FlatAtom, bound: set[int]) -> float:
        columns = atom.bound_columns(bound)
        if atom.predicate not in self._members:
            return self._fan(atom.predicate, columns)
        free = len(atom.args) - len(columns)
        return 10.0**free if columns or not atom.args else 1e12


def _run_builds(builds: list[Build], used: list[Build], bound: set[int]) -> None:
    """Move the builds that can run now to ``used``; their variables become bound."""
    count = -1
    while count != len(builds):
        count = len(builds)
        for build in list(builds):
            if all_bound((build.value,), bound) or all_bound(build.args, bound):
                builds.remove(build)
                used.append(build)
                bound.update(a for a in (build.value, *build.args) if a < 0)
