"""The search for a coding: groups that samples of states do not refute, by the propositions' names first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain, combinations

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

_EVIDENCE = 16.0
"""The expected number of pairs of members that are true together in the samples, if members were independent.
With fewer, the absence of such pairs means little."""

MANY = 5_000
"""In relations with more propositions only groups that differ in one argument, or in all, are tested."""

_CELLS = 2_000_000
"""The values of propositions in samples that are visited, roughly."""

ROOM = 55
"""Bits of a key that leave a byte of a word, and a bit, for data stored with the key."""

_WORD = 64

_PART = 1024

ATTEMPTS = 5
"""The number of searches for groups that the samples not used before do not refute."""


def find_coding(machine: PropnetMachine, samples: Words, counterexamples: Words | None = None) -> Coding:
    """A coding that neither the samples, uint64 (n, words), at least one, nor the ``counterexamples`` refute.

    Counterexamples are states, uint64 (m, words), that another coding did not fit. Large games are tested on
    only a part of the samples, but on all counterexamples.

    Groups are searched among propositions of one relation that differ in only some arguments, as in
    ``(cell 1 2 ?)``. If groups overlap, the one that saves most bits comes first.

    Propositions that never change are left out. Propositions that may change, but do so in no sample, are
    left out if there are no counterexamples yet and if that makes records shorter, or makes keys of more than
    :data:`ROOM` bits fit into these.

    The most significant groups of the key are those in which most samples agree with the initial state.
    """
    refuting = np.zeros((0, machine.words), np.uint64) if counterexamples is None else counterexamples
    step = max(1, -(-len(samples) * len(machine.network.bases) // _CELLS))
    changed = unpack(_changes(np.concatenate([refuting, samples]), machine), len(machine.network.bases))[0]
    tested = np.concatenate([refuting, samples[::step]])
    coding = _coding(machine, tested, changed, bool(len(refuting)))
    for _ in range(ATTEMPTS if step > 1 else 0):
        wrong, broken = _refuted(coding, samples)
        if not wrong:
            return coding
        tested = np.concatenate([tested, broken])
        coding = _coding(machine, tested, changed, bool(len(refuting)))
    wrong = _refuted(coding, samples)[0] if step > 1 else set()
    return Coding(
        coding.bases, _dissolved(coding.groups, wrong), _dissolved(coding.clocks, wrong), coding.left_out
    )


def _dissolved(groups: Iterable[ExclusiveGroup], wrong: set[ExclusiveGroup]) -> tuple[ExclusiveGroup, ...]:
    """The groups, with single propositions in place of the wrong ones."""
    single = ([ExclusiveGroup((base,)) for base in group.members] for group in groups if group in wrong)
    return (*chain(*single), *(group for group in groups if group not in wrong))


def _changes(samples: Words, machine: PropnetMachine) -> Words:
    """The bits, uint64 (1, words), in which some sample differs from the initial state."""
    initial = machine.records([machine.initial_state()])
    changes: Words = np.bitwise_or.reduce(samples ^ initial, axis=0)[None, :]
    return changes


def _refuted(coding: Coding, samples: Words) -> tuple[set[ExclusiveGroup], Words]:
    """The groups that some sample does not fit, and a limited number of such samples."""
    groups = [group for group in coding.all_groups if len(group.members) > 1]
    starts = np.cumsum([0, *(len(group.members) for group in groups)])[:-1]
    order = [base for group in groups for base in group.members]
    fewest = np.array([group.exact for group in groups], np.int64)
    refuted = np.zeros(len(groups), np.bool_)
    found = [samples[:0]]
    for at in range(0, len(samples) if groups else 0, _PART):
        part = samples[at : at + _PART]
        values = unpack(part, coding.bases)[:, order].view(np.uint8)
        count = np.add.reduceat(values, starts, axis=1, dtype=np.uint16)
        bad = (count > 1) | (count < fewest)
        refuted |= bad.any(axis=0)
        found.append(part[bad.any(axis=1)])
    return {groups[i] for i in np.flatnonzero(refuted).tolist()}, np.concatenate(found)[:_PART]


def _coding(machine: PropnetMachine, samples: Words, changed: Flags, all_kept: bool) -> Coding:
    """A coding that no sample refutes. It leaves out propositions that never change, and, unless
    ``all_kept``, those that have not ``changed``, if that makes records shorter."""
    network = machine.network
    bits = unpack(samples, len(network.bases))
    initial = np.asarray(network.initial, np.bool_)
    clock = step_clocks(network)
    ticks = unpack(clock_states(machine), len(network.bases))
    # These are all the states of the clocks, so that nothing in them is accidental.
    clocks = groups_of(network.bases, ticks, np.flatnonzero(clock & (ticks != ticks[0]).any(axis=0)), 0.0)
    candidates = np.flatnonzero(~constant_bases(network) & ~clock)
    wide = _key(network.bases, bits, candidates, initial)
    narrow = _key(network.bases, bits, candidates[changed[candidates]], initial)
    spent = 1 + sum(group.width for group in clocks)

    def cost(groups: Iterable[ExclusiveGroup]) -> tuple[bool, int]:
        key = sum(group.width for group in groups)
        return key > ROOM, -(-(spent + key) // _WORD)

    groups = wide if all_kept or cost(wide) <= cost(narrow) else narrow
    coded = {base for group in (*groups, *clocks) for base in group.members}
    left_out = tuple(base for base in range(len(initial)) if base not in coded)
    return Coding(len(initial), tuple(groups), tuple(clocks), left_out)


def _key(
    names: Sequence[Term], bits: Flags, candidates: NDArray[np.int64], initial: Flags
) -> list[ExclusiveGroup]:
    """Groups of the candidates, the one that changes least last."""
    groups = groups_of(names, bits, candidates)

    def steadiness(group: ExclusiveGroup) -> float:
        members = list(group.members)
        return float((bits[:, members] == initial[members]).all(axis=1).mean())

    return sorted(groups, key=steadiness)


def groups_of(
    names: Sequence[Term], bits: Flags, candidates: NDArray[np.int64], evidence: float = _EVIDENCE
) -> list[ExclusiveGroup]:
    """The candidates (ids) in groups, singles included, in the order of their first members."""
    if not len(candidates):
        return []
    values = np.ascontiguousarray(bits[:, candidates].T).view(np.uint8)
    table = _Samples([names[base] for base in candidates.tolist()], values, evidence)
    places = table.named()
    taken = {place for members, _ in places for place in members}
    places += [((place,), False) for place in range(len(candidates)) if place not in taken]
    chosen = [(tuple(int(candidates[place]) for place in members), exact) for members, exact in places]
    return [ExclusiveGroup(members, exact) for members, exact in sorted(chosen)]


Places = tuple[tuple[int, ...], bool]
"""Places among the candidates, and whether exactly one of them is true."""


class _Samples:
    """The values of some propositions in samples of states: uint8, shape (propositions, samples)."""

    def __init__(self, names: Sequence[Term], values: NDArray[np.uint8], evidence: float) -> None:
        self.names, self.values, self.evidence = names, values, evidence
        self.share = values.mean(axis=1)

    def named(self) -> list[Places]:
        """Groups by the propositions' names, those that save most bits first."""
        heap: list[tuple[int, list[int], bool]] = []
        for order, starts in self._by_name():
            heap += self._exclusive(order, starts)
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
            # The rest of a group is a smaller group; it waits until the groups that save more are chosen.
            exact = exact and bool((self.values[left].sum(axis=0) == 1).all())
            if len(left) > 1 and _saved(len(left), exact) > 0:
                heappush(heap, (-_saved(len(left), exact), left, exact))
        return chosen

    def _by_name(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Propositions of one relation in groups that differ in only some arguments, for all choices of
        these: their places, group after group, and the places at which groups begin."""
        relations: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
        for place, name in enumerate(self.names):
            relations[name.signature].append(place)
        for (_, arity), places in relations.items():
            numbers: dict[Term, int] = {}
            arguments = np.array(
                [[numbers.setdefault(x, len(numbers)) for x in self.names[place].args] for place in places],
                np.int64,
            )
            sizes = set(range(1, arity + 1)) if arity <= 4 else {1, 2, arity}
            for size in sorted(sizes if len(places) <= MANY else sizes & {1, arity}):
                for varying in combinations(range(arity), size):
                    fixed = arguments[:, [i for i in range(arity) if i not in varying]]
                    order = np.lexsort((*fixed.T, np.zeros(len(places), np.int64)))
                    differ = (fixed[order[1:]] != fixed[order[:-1]]).any(axis=1)
                    yield np.array(places, np.int64)[order], np.append(0, 1 + np.flatnonzero(differ))

    def _exclusive(
        self, order: NDArray[np.int64], starts: NDArray[np.int64]
    ) -> Iterator[tuple[int, list[int], bool]]:
        """The groups of which at most one member is true in all samples, unless that may be accidental: the
        negated number of bits saved, the members, and whether exactly one is true."""
        count = np.add.reduceat(self.values[order], starts, axis=0, dtype=np.uint16)
        most, exact = count.max(axis=1), count.min(axis=1) == 1
        share = self.share[order]
        total, squares = np.add.reduceat(share, starts), np.add.reduceat(share**2, starts)
        sure = exact | ((total**2 - squares) / 2 * self.values.shape[1] >= self.evidence)
        ends = np.append(starts[1:], len(order))
        for group in np.flatnonzero((most <= 1) & sure & (ends - starts > 1)).tolist():
            members = sorted(order[starts[group] : ends[group]].tolist())
            if (saved := _saved(len(members), bool(exact[group]))) > 0:
                yield -saved, members, bool(exact[group])


def _saved(members: int, exact: bool) -> int:
    """The bits that a group saves."""
    return members - (members + (not exact) - 1).bit_length()
