"""How a coding is found: groups that samples of states do not refute, by the propositions' names first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term
from propnet.analysis.cones import step_clocks
from propnet.analysis.ternary import constant_bases
from propnet.jit.arrays import Flags, Words
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.recoding.coding import Coding, ExclusiveGroup
from propnet.recoding.samples import clock_states

EVIDENCE = 16.0
"""How many pairs of members would be true together in the samples, were they independent: with fewer, that
none are says little."""

FEW = 64
"""So many candidates for a clique are compared by how many others among them they leave."""

MOST_REST = 1500
"""Propositions without a group among which cliques are looked for, at most."""

_CELLS = 2_000_000
"""Values of propositions in samples that are looked at, about."""

_WORD = 64


def find_coding(machine: PropnetMachine, samples: Words, counterexamples: Words | None = None) -> Coding:
    """A coding that neither the samples, uint64 (n, words), at least one, nor the ``counterexamples`` refute:
    states, uint64 (m, words), that another coding did not fit. Large games are tested on a part of the
    samples only, but on all counterexamples.

    Groups are looked for first among propositions of one relation that differ in some arguments only,
    as in ``(cell 1 2 ?)``, then among the rest as cliques of the graph of those that are never true
    together; where groups overlap the one that saves most bits comes first.

    Propositions that never change are left out. Those that change in no sample, but may, are left out if
    records get shorter by that, and there are no counterexamples yet.

    The most significant groups of the key are those that most samples agree on with the initial state.
    """
    network = machine.network
    known = np.zeros((0, machine.words), np.uint64) if counterexamples is None else counterexamples
    bits = unpack(samples[:: -(-len(samples) * len(network.bases) // _CELLS)], len(network.bases))
    bits = np.concatenate([unpack(known, len(network.bases)), bits])
    initial = np.asarray(network.initial, np.bool_)
    constant = constant_bases(network)
    clock = step_clocks(network)
    ticks = unpack(clock_states(machine), len(network.bases))
    # These are all the states of the clocks, so that nothing is an accident.
    clocks = _groups(network.bases, ticks, np.flatnonzero(clock & (ticks != ticks[0]).any(axis=0)), 0.0)
    clocked = np.zeros(len(initial), np.bool_)
    clocked[[base for group in clocks for base in group.members]] = True
    changed = (bits != initial).any(axis=0)
    candidates = np.flatnonzero(~constant & ~clock)
    wide = _key(network.bases, bits, candidates, changed, initial)
    seen = [base for base in candidates.tolist() if changed[base]]
    narrow = _key(network.bases, bits, np.array(seen, np.int64), changed, initial)
    spent = 1 + sum(group.width for group in clocks)

    def words(groups: Iterable[ExclusiveGroup]) -> int:
        return -(-(spent + sum(group.width for group in groups)) // _WORD)

    groups = wide if len(known) or words(wide) <= words(narrow) else narrow
    kept = {base for group in (*groups, *clocks) for base in group.members}
    return Coding(
        len(initial), tuple(groups), tuple(clocks), tuple(b for b in range(len(initial)) if b not in kept)
    )


def _key(
    names: Sequence[Term], bits: Flags, candidates: NDArray[np.int64], changed: Flags, initial: Flags
) -> list[ExclusiveGroup]:
    """Groups of the candidates, the steadiest last."""
    groups = _groups(names, bits, candidates)

    def steadiness(group: ExclusiveGroup) -> float:
        members = list(group.members)
        return float((bits[:, members] == initial[members]).all(axis=1).mean())

    return sorted(groups, key=steadiness)


def _groups(
    names: Sequence[Term], bits: Flags, candidates: NDArray[np.int64], evidence: float = EVIDENCE
) -> list[ExclusiveGroup]:
    """The candidates (ids) in groups, singles included, in the order of their first members."""
    if not len(candidates):
        return []
    values = np.ascontiguousarray(bits[:, candidates].T).view(np.uint8)
    table = _Samples([names[base] for base in candidates.tolist()], values, evidence)
    places = table.named()
    rest = sorted(set(range(len(candidates))) - {place for members, _ in places for place in members})
    places += table.cliques(rest)
    taken = {place for members, _ in places for place in members}
    places += [((place,), False) for place in range(len(candidates)) if place not in taken]
    chosen = [(tuple(int(candidates[place]) for place in members), exact) for members, exact in places]
    return [ExclusiveGroup(members, exact) for members, exact in sorted(chosen)]


Places = tuple[tuple[int, ...], bool]
"""Places among the candidates, and whether exactly one of them is true."""


class _Samples:
    """Which of some propositions are true in samples of states: uint8, shape (propositions, samples)."""

    def __init__(self, names: Sequence[Term], values: NDArray[np.uint8], evidence: float) -> None:
        self.names, self.values, self.evidence = names, values, evidence
        self.share = values.mean(axis=1)

    def named(self) -> list[Places]:
        """Groups by the propositions' names, those that save most bits first."""
        heap: list[tuple[int, list[int], bool]] = []
        for members in self._by_name():
            exclusive, exact = self._test(members)
            if exclusive:
                heap.append((-_saved(len(members), exact), members, exact))
        heapify(heap)
        chosen: list[Places] = []
        taken: set[int] = set()
        while heap:
            _, members, exact = heappop(heap)
            left = [place for place in members if place not in taken]
            if len(left) == len(members):
                chosen.append((tuple(members), exact))
                taken.update(members)
                continue
            # What is left of a group is a smaller one; it waits for those that save more.
            exact = exact and bool((self.values[left].sum(axis=0) == 1).all())
            if left and _saved(len(left), exact) > 0:
                heappush(heap, (-_saved(len(left), exact), left, exact))
        return chosen

    def _by_name(self) -> Iterator[list[int]]:
        """Propositions of one relation that differ in some arguments only, for all choices of these."""
        relations: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
        for place, name in enumerate(self.names):
            relations[name.signature].append(place)
        for (_, arity), places in relations.items():
            sizes = range(1, arity + 1) if arity <= 4 else (1, 2, arity)
            for size in sizes:
                for varying in combinations(range(arity), size):
                    groups: defaultdict[tuple[Term, ...], list[int]] = defaultdict(list)
                    for place in places:
                        arguments = self.names[place].args
                        groups[tuple(x for i, x in enumerate(arguments) if i not in varying)].append(place)
                    yield from (members for members in groups.values() if len(members) > 1)

    def _test(self, members: list[int]) -> tuple[bool, bool]:
        """Whether at most one of some propositions is true in all samples, and that is no accident; and
        whether exactly one is."""
        count = self.values[members].sum(axis=0, dtype=np.int64)
        most, least = int(count.max()), int(count.min())
        if most > 1:
            return False, False
        share = self.share[members]
        pairs = (share.sum() ** 2 - (share**2).sum()) / 2 * len(count)
        saved = _saved(len(members), least == 1) > 0
        return saved and (least == 1 or float(pairs) >= self.evidence), least == 1

    def cliques(self, rest: Sequence[int]) -> list[Places]:
        """Groups of propositions that no sample has true together, where it would be no wonder if one had;
        greedily, the most frequent ones first."""
        if not 2 <= len(rest) <= MOST_REST:
            return []
        values = self.values[list(rest)].astype(np.float32)
        together = values @ values.T
        share = self.share[list(rest)]
        apart = (together == 0) & (np.outer(share, share) * values.shape[1] >= self.evidence)
        degree = apart.sum(axis=1)
        free = np.ones(len(rest), np.bool_)
        found: list[Places] = []
        for first in np.argsort(-share, kind="stable").tolist():
            if not free[first]:
                continue
            members, open_ = [first], apart[first] & free
            while open_.any():
                # The one that leaves most others.
                options = np.flatnonzero(open_)
                if len(options) <= FEW:
                    best = int(options[np.argmax(apart[np.ix_(options, options)].sum(axis=1))])
                else:
                    best = int(options[np.argmax(degree[options])])
                members.append(best)
                open_ &= apart[best]
            free[members] = False
            places = sorted(rest[i] for i in members)
            exact = bool((self.values[places].sum(axis=0) == 1).all())
            if _saved(len(places), exact) > 0:
                found.append((tuple(places), exact))
        return found


def _saved(members: int, exact: bool) -> int:
    """Bits that a group saves."""
    return members - (members + (not exact) - 1).bit_length()
