"""Magic sets (Bancilhon, Maier, Sagiv and Ullman 1986): recursive clauses that derive only what is asked for.

Each way of calling a recursive predicate (its bound columns) gets a predicate of the keys that are asked
and one of the answers. A clause derives answers to asked keys only, and asks for the keys that its own
recursive literals need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gdl.compile.program import Build, FlatAtom, FlatClause

Call = tuple[int, tuple[int, ...]]
"""A predicate and its bound columns."""


@dataclass(frozen=True, slots=True)
class Magic:
    """Rewritten clauses.

    Attributes:
        clauses: each reads at least one of the new predicates.
        answers: call -> the predicate of its answers (whole rows).
        keys: call -> the predicate of its keys.
    """

    clauses: list[FlatClause]
    answers: dict[Call, int]
    keys: dict[Call, int]


def rewrite(
    clauses: Sequence[FlatClause],
    members: frozenset[int],
    call: Call,
    fan: Callable[[int, tuple[int, ...]], float],
    new_predicate: Callable[[int, int], int],
) -> Magic:
    """Rewrite the clauses of a recursive stratum for one call.

    Args:
        clauses: the stratum's clauses; facts as clauses without a body.
        members: the stratum's predicates.
        call: the question.
        fan: expected matches of a literal with bound columns.
        new_predicate: makes a predicate like another one, of some arity.
    """
    rewriter = _Rewriter(clauses, members, fan, new_predicate)
    rewriter.names(call)
    while rewriter.waiting:
        call = rewriter.waiting.pop()
        for clause in clauses:
            if clause.head.predicate == call[0]:
                rewriter.rewrite(clause, call)
    return rewriter.magic


class _Rewriter:
    """Rewrites clauses and collects the calls that they lead to (see :func:`rewrite`)."""

    def __init__(
        self,
        clauses: Sequence[FlatClause],
        members: frozenset[int],
        fan: Callable[[int, tuple[int, ...]], float],
        new_predicate: Callable[[int, int], int],
    ) -> None:
        self.members = members
        self.fan = fan
        self.new_predicate = new_predicate
        self.arity = {c.head.predicate: len(c.head.args) for c in clauses}
        self.magic = Magic([], {}, {})
        self.waiting: list[Call] = []

    def names(self, call: Call) -> tuple[int, int]:
        """The predicates of the answers and of the keys of a call; a new call starts to wait."""
        magic = self.magic
        if call not in magic.answers:
            magic.answers[call] = self.new_predicate(call[0], self.arity[call[0]])
            magic.keys[call] = self.new_predicate(call[0], len(call[1]))
            self.waiting.append(call)
        return magic.answers[call], magic.keys[call]

    def rewrite(self, clause: FlatClause, call: Call) -> None:
        """Write one clause for one call, and the clauses for the keys that its literals ask."""
        answers, keys = self.names(call)
        placed = [FlatAtom(keys, tuple([clause.head.args[c] for c in call[1]]))]
        used: list[Build] = []
        bound = {a for a in placed[0].args if a < 0}
        left = list(clause.positives)
        builds = list(clause.builds)
        while left:
            _run_builds(builds, used, bound)
            atom = min(left, key=lambda a: self._cost(a, bound))
            left.remove(atom)
            if atom.predicate in self.members:
                if atom.predicate not in self.arity:
                    return  # no clause derives it
                columns = atom.bound_columns(bound)
                inner_answers, inner_keys = self.names((atom.predicate, columns))
                head = FlatAtom(inner_keys, tuple([atom.args[c] for c in columns]))
                if head not in placed:
                    prefix = replace(
                        clause,
                        head=head,
                        positives=tuple(placed),
                        negatives=tuple([n for n in clause.negatives if _known(n.args, bound)]),
                        distincts=tuple([d for d in clause.distincts if _known((*d[0], *d[1]), bound)]),
                        builds=tuple(used),
                    )
                    self.magic.clauses.append(prefix)
                atom = FlatAtom(inner_answers, atom.args)
            placed.append(atom)
            bound.update(a for a in atom.args if a < 0)
        head = FlatAtom(answers, clause.head.args)
        self.magic.clauses.append(replace(clause, head=head, positives=tuple(dict.fromkeys(placed))))

    def _cost(self, atom: FlatAtom, bound: set[int]) -> float:
        columns = atom.bound_columns(bound)
        if atom.predicate not in self.members:
            return self.fan(atom.predicate, columns)
        free = len(atom.args) - len(columns)
        return 10.0**free if columns or not atom.args else 1e12


def _known(args: Sequence[int], bound: set[int]) -> bool:
    return all(a >= 0 or a in bound for a in args)


def _run_builds(builds: list[Build], used: list[Build], bound: set[int]) -> None:
    """Move the builds that can run now to ``used``; their variables become bound."""
    count = -1
    while count != len(builds):
        count = len(builds)
        for build in list(builds):
            if _known((build.value,), bound) or _known(build.args, bound):
                builds.remove(build)
                used.append(build)
                bound.update(a for a in (build.value, *build.args) if a < 0)
