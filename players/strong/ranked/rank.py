"""Ranks: a linear function of a state that every move raises, found from samples of moves.

A game with a rank has no cycles, and its states fall into layers: a state's successors are in layers above
its own. If all plays to a state are equally long, the rank is that length: the solution of linear equations.
Otherwise it is the least vector of weights with which each sampled move gains at least 1 (C. Hildreth: A
quadratic programming procedure, 1957). The solver checks a rank for each move. A codec turns a state of any
machine into the word of its image, recoded, and that word's rank.

The kernels work on one-word records with a rank: they file them by rank, remove duplicates, pack them in
groups, and look them up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.json_schema import check_json, record, rows, whole
from players.puzzles.frontier.key_space import BASES, CODING_SCHEMA, coding_as_json, coding_from_json
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import item, put
from propnet.kernels.records import pack
from propnet.recoding.coding import Codec, Coding

SCALE = 20
"""Fractional bits of a scaled rank."""

GROUP = 16
"""Keys of a group that is packed together: the first one in full, the others as gaps."""

MOST_BYTES = 10
"""Most bytes of a gap, in groups of seven bits."""

OUTCOME_BITS = 5
"""Bits of a value for the outcome; the bits above them are the distance."""

FINGERS = 1 << 10
"""Number of groups that :func:`look_up` remembers, about one for each joint move."""

_SEVEN, _MORE, _LOW = np.uint64(7), np.uint64(128), np.uint64(127)


@kernel(nogil=True)
def _rank_of(
    records: Words, shifts: Words, masks: Words, starts: Ints, sums: Ints, offset: int, ranks: Ints
) -> None:
    """Write the ranks (n,) of records (n,) (:class:`players.strong.ranked.rank.Rank`)."""
    for i in range(records.size):
        total = np.int64(offset)
        record = item(records, i)
        for part in range(shifts.size):
            place = item(starts, part) + np.int64((record >> item(shifts, part)) & item(masks, part))
            total += item(sums, place)
        put(ranks, i, total >> SCALE)


@kernel(nogil=True)
def file_successors(
    records: Words, ranks: Ints, parent: int, broken: np.uint64, keys: Words, filed: Int32s, at: int
) -> int:
    """Append successors (n, 1) with ranks (n,) to ``keys`` and ``filed`` from place ``at`` on. Returns -1, or
    the first one that has the ``broken`` bit or a rank that is not above its parent's."""
    for i in range(records.shape[0]):
        record = item(records, i)
        rank = item(ranks, i)
        if record & broken or rank <= parent:
            return i
        put(keys, at + i, record)
        put(filed, at + i, np.int32(rank))
    return -1


@kernel(nogil=True)
def part_by_rank(keys: Words, filed: Int32s, n: int, low: int, counts: Ints, out: Words) -> None:
    """Write the first n keys to ``out``, grouped by rank. ``counts`` (ranks + 1,) becomes the place where
    each of the ranks, counted from ``low``, begins."""
    counts[:] = 0
    for i in range(n):
        counts[item(filed, i) - low + 1] += 1
    for i in range(1, counts.size):
        counts[i] += counts[i - 1]
    places = counts[:-1].copy()
    for i in range(n):
        rank = item(filed, i) - low
        place = places[rank]
        put(out, place, item(keys, i))
        places[rank] = place + 1


@kernel(nogil=True)
def pack_groups(keys: Words, firsts: Words, offsets: Ints, data: Octets) -> int:
    """Pack ascending keys (n,) in groups of GROUP: the first key of each, the place of its gaps in ``data``,
    and the gaps. Returns the number of bytes of all gaps."""
    at = 0
    before = np.uint64(0)
    for i in range(keys.size):
        key = item(keys, i)
        if i % GROUP == 0:
            put(firsts, i // GROUP, key)
            put(offsets, i // GROUP, np.int64(at))
        else:
            gap = key - before
            while gap >= _MORE:
                put(data, at, np.uint8(gap | _MORE))
                gap >>= _SEVEN
                at += 1
            put(data, at, np.uint8(gap))
            at += 1
        before = key
    return at


@inner
def _group(firsts: Words, key: np.uint64, near: Index) -> Index:
    """The last group whose first key is not above this one, by doubling steps from one near it (Bentley and
    Yao 1976); -1 if there is none."""
    n = np.int64(firsts.size)
    step = np.int64(1)
    low: Index
    high: Index
    if item(firsts, near) <= key:
        low = near
        while low + step < n and item(firsts, low + step) <= key:
            low += step
            step *= 2
        high = min(n, low + step)
    else:
        high = near
        while high >= step and item(firsts, high - step) > key:
            high -= step
            step *= 2
        low = max(np.int64(-1), high - step)
    while high - low > 1:
        middle = (low + high) >> 1
        if item(firsts, middle) <= key:
            low = middle
        else:
            high = middle
    return low


@kernel(nogil=True)
def look_up(
    firsts: Words,
    offsets: Ints,
    data: Octets,
    codes: Ints,
    wanted: Words,
    ranks: Ints,
    rank: int,
    moves: Int32s,
    fingers: Ints,
    values: Octets,
    distances: Ints,
) -> int:
    """Write values and distances of those of the wanted records (n, 1), with ranks (n,), that have this rank,
    from a layer's packed groups and its ``codes`` (uint16). Returns the number of missing records.

    The successors of a set by one move lie close to each other, so the search begins where the last one by
    the same joint move, ``moves`` (n, roles), ended. ``fingers`` (FINGERS,) holds these places.
    """
    missing = 0
    groups = np.int64(firsts.size)
    for k in range(wanted.shape[0]):
        if item(ranks, k) != rank:
            continue
        finger = np.int64(0)
        for role in range(moves.shape[1]):
            finger = finger * 61 + moves[k, role]
        finger &= FINGERS - 1
        key = item(wanted, k)
        group = _group(firsts, key, fingers[finger])
        if group < 0:
            missing += 1
            continue
        fingers[finger] = group
        place = group * GROUP
        end = item(offsets, group + 1) if group + 1 < groups else np.int64(data.size)
        here = item(firsts, group)
        at = item(offsets, group)
        while here < key and at < end:
            byte = np.uint64(item(data, at))
            at += 1
            gap = byte & _LOW
            shift = _SEVEN
            while byte >= _MORE:
                byte = np.uint64(item(data, at))
                at += 1
                gap |= (byte & _LOW) << shift
                shift += _SEVEN
            here += gap
            place += 1
        if here != key:
            missing += 1
            continue
        code = item(codes, place)
        values[k] = np.uint8(np.int64(code) & ((1 << OUTCOME_BITS) - 1))
        distances[k] = np.uint16(np.int64(code) >> OUTCOME_BITS)
    return missing


Weights = NDArray[np.float64]
Differences = NDArray[np.int8]

MOST_RANKS = 4000
"""Most ranks of the samples."""

_MOST_KINDS = 3000
"""Most different changes of a state that are considered."""

_SCALE = 20
"""Fractional bits of a weight."""
_SLICE = 12
"""Bits of a record in one table of sums, unless a single group has more."""
_WIDEST = 16
_SWEEPS, _STEPS = 2_000, 300_000
"""Limits on the sweeps over all changes, and on the steps for single ones."""
_MARGIN = 1.001
"""Factor on the weights, to make up for rounding."""


_SCALED = whole(-(1 << 50), 1 << 50)
_RANK_SCHEMA = record(
    shifts=rows(whole(0, 63), most=64),
    masks=rows(whole(0, (1 << _WIDEST) - 1), most=64),
    starts=rows(whole(0, 1 << 24), most=64),
    sums=rows(_SCALED),
    offset=_SCALED,
)


@dataclass(frozen=True, slots=True)
class Rank:
    """A function of records of one word, 0 for the initial state.

    Attributes:
        shifts, masks: uint64, shape (slices,): the place of each slice of bits.
        starts: int64, shape (slices,): the first place of its table in ``sums``.
        sums: int64: for each value of each slice its part of the rank, scaled.
        offset: int: constant part of the rank, scaled.
    """

    shifts: Words
    masks: Words
    starts: Ints
    sums: Ints
    offset: int

    @classmethod
    def of(cls, weights: Weights, even: bool, coding: Coding, start: np.uint64) -> Rank | None:
        """The rank of records of a coding by these weights (bases,); that of ``start`` is 0. With ``even`` it
        is rounded to the nearest number. None if a group of the coding is too wide, or if nothing ever
        changes, so that there is no group."""
        slices: list[tuple[int, int]] = []
        parts: list[NDArray[np.float64]] = []
        for group, first in zip(coding.all_groups, coding.starts, strict=False):
            if group.width > _WIDEST:
                return None
            own = np.zeros(1 << group.width)
            for base, code in group.codes():
                own[code] = weights[base]
            if slices and slices[-1][1] + group.width <= _SLICE:
                slices[-1] = slices[-1][0], slices[-1][1] + group.width
                parts[-1] = (own[:, None] + parts[-1]).ravel()
            else:
                slices.append((first, group.width))
                parts.append(own)
        if not parts:
            return None
        starts = np.cumsum([0, *(len(part) for part in parts)])[:-1].astype(np.int64)
        rank = cls(
            np.array([first for first, _ in slices], np.uint64),
            np.array([(1 << width) - 1 for _, width in slices], np.uint64),
            starts,
            np.rint(np.concatenate(parts) * (1 << _SCALE)).astype(np.int64),
            0,
        )
        half = 1 << _SCALE - 1 if even else 1 << _SCALE - 10
        offset = half - rank.scaled(int(start))
        return cls(rank.shifts, rank.masks, rank.starts, rank.sums, offset)

    def scaled(self, record: int) -> int:
        """The rank of a record, scaled."""
        return self.offset + sum(
            int(self.sums[start + (record >> int(shift) & int(mask))])
            for shift, mask, start in zip(self.shifts, self.masks, self.starts, strict=True)
        )

    def __call__(self, record: int) -> int:
        """The rank of a record."""
        return self.scaled(record) >> _SCALE

    def many(self, records: Words) -> Ints:
        """The ranks of records (n,)."""
        ranks = np.empty(len(records), np.int64)
        _rank_of(records, self.shifts, self.masks, self.starts, self.sums, self.offset, ranks)
        return ranks

    def as_json(self) -> dict[str, Any]:
        """JSON for a manifest or a checkpoint."""
        return {
            "shifts": self.shifts.tolist(),
            "masks": self.masks.tolist(),
            "starts": self.starts.tolist(),
            "sums": self.sums.tolist(),
            "offset": self.offset,
        }

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Rank:
        """The reverse. Raises GdlError if the sizes of the tables do not fit the masks."""
        check_json(body, _RANK_SCHEMA, "rank")
        slices = list(zip(body["masks"], body["starts"], strict=False))
        if not len(body["shifts"]) == len(body["masks"]) == len(body["starts"]) or any(
            start + mask >= len(body["sums"]) for mask, start in slices
        ):
            raise GdlError("the rank has no sums for some states")
        return cls(
            np.array(body["shifts"], np.uint64),
            np.array(body["masks"], np.uint64),
            np.array(body["starts"], np.int64),
            np.array(body["sums"], np.int64),
            body["offset"],
        )


def kinds_of(changes: Differences) -> Differences:
    """The different rows of these (n, bases), in order of appearance."""
    first: dict[bytes, int] = {}
    for number, row in enumerate(changes):
        first.setdefault(row.tobytes(), number)
    return changes[list(first.values())[:_MOST_KINDS]]


def find_weights(kinds: Differences, sources: Sequence[Ints]) -> tuple[Weights, bool] | None:
    """Weights (bases,) with which each change (kinds, bases) of a state gains at least 1, and whether it is
    exactly 1 for all; None if none were found. They are invariant under the automorphisms ``sources``, rows
    of base propositions."""
    changes = kinds.astype(np.float64)
    weights: Weights = np.linalg.lstsq(changes, np.ones(len(changes)), rcond=None)[0].astype(np.float64)
    even = bool(np.abs(changes @ weights - 1).max() < 1e-6)
    if not even:
        found = _least(changes)
        if found is None:
            return None
        weights = found
    images = [weights, *(weights[source] for source in sources)]
    return np.asarray(sum(images) / len(images), np.float64), even


def _least(changes: Weights) -> Weights | None:
    """The least weights with which each change (n, bases) gains at least 1, by Hildreth's method; None if it
    finds none."""
    n, bases = changes.shape
    weights = np.zeros(bases)
    shares = np.zeros(n)
    squares = (changes**2).sum(axis=1)
    if (squares == 0).any():
        return None
    for _ in range(min(_SWEEPS, 1 + _STEPS // n)):
        for i in range(n):
            step = max((1 - changes[i] @ weights) / squares[i], -shares[i])
            if step:
                shares[i] += step
                weights += step * changes[i]
        if (changes @ weights).min() > 1 - 1e-3:
            break
    least = float((changes @ weights).min())
    if least < 0.02:
        return None
    return weights * (_MARGIN / least)


Bits = NDArray[np.bool_]
_CODEC_SCHEMA = record(
    coding=CODING_SCHEMA, initial=BASES, sources=rows(BASES), order=BASES, unobserved=BASES, rank=_RANK_SCHEMA
)


@dataclass(frozen=True)
class StateCodec:
    """The coding by which a table finds a state.

    Attributes:
        coding: of the states that represent their orbits.
        initial: bool (bases,): the initial state that the coding is for.
        sources: for each automorphism except the identity, the base proposition from which each gets its
            value.
        order: base propositions by which images are compared, the most significant first.
        unobserved: base propositions that do not count: they have their initial value.
        rank: of the words.
    """

    coding: Coding
    initial: Bits
    sources: Ints
    order: Ints
    unobserved: Ints
    rank: Rank

    def word_of(self, true: Iterable[int]) -> int | None:
        """The word of the state in which exactly these base propositions are true; None if it has none."""
        bits = np.zeros(self.coding.bases, np.bool_)
        bits[list(true)] = True
        bits[self.unobserved] = self.initial[self.unobserved]
        images = [bits, *bits[self.sources]]
        least = min(images, key=lambda image: image[self.order].tobytes())
        code = self._codec.encode(least[None, :])
        if code[0, self.coding.broken_bit]:
            return None
        return int(pack(code)[0, 0])

    @cached_property
    def _codec(self) -> Codec:
        return Codec(self.coding, self.initial)

    def as_json(self) -> dict[str, Any]:
        """JSON for a manifest or a checkpoint."""
        return {
            "coding": coding_as_json(self.coding),
            "initial": np.flatnonzero(self.initial).tolist(),
            "sources": self.sources.tolist(),
            "order": self.order.tolist(),
            "unobserved": self.unobserved.tolist(),
            "rank": self.rank.as_json(),
        }

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> StateCodec:
        """The reverse. Raises GdlError and ValueError for invalid ones."""
        check_json(body, _CODEC_SCHEMA, "codec")
        coding = coding_from_json(body["coding"])
        if coding.broken_bit > 63:
            raise GdlError("a table's states are longer than a word")
        named = chain(body["initial"], body["order"], body["unobserved"], *body["sources"])
        if any(base >= coding.bases for base in named):
            raise GdlError("a codec names more base propositions than there are")
        if any(len(source) != coding.bases for source in body["sources"]):
            raise GdlError("an automorphism is not of all base propositions")
        initial = np.zeros(coding.bases, np.bool_)
        initial[body["initial"]] = True
        sources = np.array(body["sources"], np.int64).reshape(-1, coding.bases)
        return cls(
            coding,
            initial,
            sources,
            np.array(body["order"], np.int64),
            np.array(body["unobserved"], np.int64),
            Rank.from_json(body["rank"]),
        )
