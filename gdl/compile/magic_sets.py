"""Magic sets: recursive clauses rewritten so that only what is asked for is derived.

After Bancilhon, Maier, Sagiv and Ullman (1986). For each way in which a recursive predicate
is called (its bound columns) there is an answer predicate and a predicate of the keys that
are asked; a clause derives answers to asked keys only, and asks for what its own recursive
literals need.
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
        clauses: all of them read at least one of the new predicates.
        answers: call -> the predicate of its answers (whole rows).
        asked: call -> the predicate of its keys.
    """

    clauses: list[FlatClause]
    answers: dict[Call, int]
    asked: dict[Call, int]


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
        call: what is asked.
        fan: expected matches of a literal with bound columns.
        new_predicate: makes a predicate of some arity that is like another one.
    """
    magic = Magic([], {}, {})
    waiting: list[Call] = []

    def names(call: Call) -> tuple[int, int]:
        if call not in magic.answers:
            arity = next(len(c.head.args) for c in clauses if c.head.predicate == call[0])
            magic.answers[call] = new_predicate(call[0], arity)
            magic.asked[call] = new_predicate(call[0], len(call[1]))
            waiting.append(call)
        return magic.answers[call], magic.asked[call]

    derived = {c.head.predicate for c in clauses}
    names(call)
    while waiting:
        call = waiting.pop()
        for clause in clauses:
            if clause.head.predicate != call[0]:
                continue
            asked = FlatAtom(magic.asked[call], tuple([clause.head.args[c] for c in call[1]]))
            placed: list[FlatAtom] = [asked]
            used: list[Build] = []
            bound = {a for a in asked.args if a < 0}
            left = list(clause.positives)
            builds = list(clause.builds)
            while left:
                _run_builds(builds, used, bound)
                atom = min(left, key=lambda a: _cost(a, bound, members, fan))
                left.remove(atom)
                if atom.predicate in members:
                    if atom.predicate not in derived:
                        break
                    columns = tuple([c for c, a in enumerate(atom.args) if a >= 0 or a in bound])
                    answers, keys = names((atom.predicate, columns))
                    head = FlatAtom(keys, tuple([atom.args[c] for c in columns]))
                    tests = [n for n in clause.negatives if _known(n.args, bound)]
                    pairs = [d for d in clause.distincts if _known((*d[0], *d[1]), bound)]
                    if head not in placed:
                        magic.clauses.append(
                            replace(
                                clause,
                                head=head,
                                positives=tuple(placed),
                                negatives=tuple(tests),
                                distincts=tuple(pairs),
                                builds=tuple(used),
                            )
                        )
                    atom = FlatAtom(answers, atom.args)
                placed.append(atom)
                bound.update(a for a in atom.args if a < 0)
            else:
                head = FlatAtom(magic.answers[call], clause.head.args)
                magic.clauses.append(replace(clause, head=head, positives=tuple(dict.fromkeys(placed))))
    return magic


def _known(args: Sequence[int], bound: set[int]) -> bool:
    return all(a >= 0 or a in bound for a in args)


def _run_builds(builds: list[Build], used: list[Build], bound: set[int]) -> None:
    """Move the builds that can run now to ``used``; their variables become bound."""
    moved = True
    while moved:
        moved = False
        for build in list(builds):
            if _known((build.value,), bound) or _known(build.args, bound):
                builds.remove(build)
                used.append(build)
                bound.update(a for a in (build.value, *build.args) if a < 0)
                moved = True


def _cost(
    atom: FlatAtom, bound: set[int], members: frozenset[int], fan: Callable[[int, tuple[int, ...]], float]
) -> float:
    columns = tuple([c for c, a in enumerate(atom.args) if a >= 0 or a in bound])
    if atom.predicate not in members:
        return fan(atom.predicate, columns)
    free = len(atom.args) - len(columns)
    return 10.0**free if columns or not atom.args else 1e12
