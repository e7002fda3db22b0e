"""The merge: what the runs of a layer hold in one range of keys, less what was visited, is the next layer."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from players.puzzles.frontier.key_space import KeySpace
from players.puzzles.frontier.keys.kinds import KeyKind
from players.puzzles.frontier.runs import CodedKeys, FreshRun, Run, coded
from propnet.jit.arrays import Octets, Words

_LEVEL, _REWRITTEN_LEVEL = 1, 3
"""Of Zstandard: what is written anew is kept for long, and read just as fast."""
_RECORDS = 1 << 14


@dataclass(slots=True)
class Merged:
    """What came of one range.

    Attributes:
        layer: the new states, with tags.
        visited: all states that were visited, the new ones too; empty unless they are written anew.
        known: how many successors had been visited in an earlier layer.
        ends: for each goal value of a terminal state the lowest such key.
    """

    layer: list[CodedKeys] = field(default_factory=list)
    visited: list[CodedKeys] = field(default_factory=list)
    known: int = 0
    ends: dict[int, int] = field(default_factory=dict)


class Merging:
    """What one worker needs to merge."""

    def __init__(self, space: KeySpace) -> None:
        self._space = space
        self._machine = space.new_machine()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._records = np.zeros((_RECORDS, space.words), np.uint64)
        self._own_tags = np.zeros(_RECORDS, np.uint64)
        self._kind = space.kind
        self._block = self._kind.new_keys(self._kind.block)
        self._tagged: Words = self._kind.new_tagged(0)
        self._scratch: Words = self._kind.new_tagged(0)
        self._keys: Words = self._kind.new_keys(0)
        self._tags: Octets = np.empty(0, np.uint8)

    def merge(
        self,
        number: int,
        low: int,
        high: int,
        runs: Sequence[FreshRun],
        visited: Sequence[Run],
        template: Words,
        rewrite: bool,
    ) -> Merged:
        """Merge the keys in ``low .. high - 1``: ``runs`` hold them as their range ``number``. With
        ``rewrite`` the visited runs are written as one."""
        found, kind = Merged(), self._kind
        clock = time.thread_time()
        keys, tags = self._successors(runs, number)
        n = len(keys)
        sorted_at = time.thread_time()
        old: list[Words] = []
        decoding = 0.0
        dead = np.zeros(n, np.uint8)
        for run in visited:
            parts: list[Words] = []
            for block in run.between(low, high):
                first, last = self._within(block.first, block.last, n)
                if first == last and not rewrite:
                    continue
                begun = time.thread_time()
                known = run.read(block, None if rewrite else self._block)
                decoding += time.thread_time() - begun
                if first < last:
                    kind.mark_known(self._tagged[first:last], known, dead[first:last])
                if rewrite:
                    parts.append(run.cut(block, known, low, high))
            if parts:
                old += [np.concatenate(parts)] if run.ascending else parts
        kept = kind.split(self._tagged, n, dead, keys, tags)
        found.known = n - kept
        keys, tags = keys[:kept], tags[:kept]
        merged_at = time.thread_time()
        found.ends = self.judge(keys, template)
        judged_at = time.thread_time()
        found.layer = list(coded(kind, keys, tags, _LEVEL))
        if rewrite:
            found.visited = list(coded(kind, _union(kind, [*old, keys]), None, _REWRITTEN_LEVEL))
        seconds = self.seconds
        seconds["sort"] += sorted_at - clock
        seconds["decode"] += decoding
        seconds["merge"] += merged_at - sorted_at - decoding
        seconds["judge"] += judged_at - merged_at
        seconds["encode"] += time.thread_time() - judged_at
        return found

    def _successors(self, runs: Sequence[FreshRun], number: int) -> tuple[Words, Octets]:
        """Decode a range and sort it into ``self._tagged``, without repetition; room for its keys and
        tags."""
        total = int(sum(run.counts[number] for run in runs))
        if total > len(self._tagged):
            self._new_room(total)
        at = 0
        for run in runs:
            at = run.read(number, self._tagged, at)
        if len(runs) > 1 and self._kind.sort(self._tagged, self._scratch, total):
            self._tagged, self._scratch = self._scratch, self._tagged
        n = self._kind.unique(self._tagged, total)
        return self._keys[:n], self._tags[:n]

    def _new_room(self, room: int) -> None:
        self._tagged, self._scratch = self._kind.new_tagged(room), self._kind.new_tagged(room)
        self._keys, self._tags = self._kind.new_keys(room), np.empty(room, np.uint8)

    def _within(self, first: int, last: int, n: int) -> tuple[int, int]:
        """Which of the n successors lie between two keys."""
        low, high = self._kind.places(self._tagged[:n], (first, last + 1)).tolist()
        return low, high

    def judge(self, keys: Words, template: Words) -> dict[int, int]:
        """For each goal value of a terminal state among these the lowest key; no goal counts as 0."""
        ends: dict[int, int] = {}
        for first in range(0, len(keys), _RECORDS):
            some = keys[first : first + _RECORDS]
            records = self._records[: len(some)]
            self._kind.to_records(some, template, records, self._own_tags)
            terminal, goals = self._machine.ends(records)
            places = np.flatnonzero(terminal)
            values = np.maximum(goals[places, 0], 0)
            for value in np.flatnonzero(np.bincount(values, minlength=1)).tolist():
                ends.setdefault(value, self._kind.key_at(some, int(places[np.argmax(values == value)])))
        return ends


def _union(kind: KeyKind, sets: list[Words]) -> Words:
    """The union of ascending arrays that have no key in common: the smallest are merged first."""
    sets = sorted(sets, key=len)
    while len(sets) > 1:
        first, second = sets[:2]
        out = kind.new_keys(len(first) + len(second))
        kind.merge_disjoint(first, second, out)
        sets = sorted([out, *sets[2:]], key=len)
    return sets[0]
