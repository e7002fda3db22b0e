"""Arrays of keys of any width, against sets and sorted lists of ints; coded keys come back."""

from __future__ import annotations

import bisect
import contextlib
import random
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.sorted_sets.codes import DamagedKeysError
from players.sorted_sets.keys import Keys
from players.sorted_sets.rows import FINGERS, seek
from propnet.jit.arrays import Words
from tests.examples import examples


@dataclass(frozen=True)
class TaggedSample:
    """Tagged keys, some equal, many with common bits; a kind that holds them."""

    kind: Keys
    rows: list[tuple[int, int]]

    def tagged(self) -> Words:
        """Them as an array."""
        return tagged_array(self.kind, self.rows)

    @property
    def keys(self) -> list[int]:
        """The keys, ascending."""
        return sorted({key for key, _ in self.rows})


def tagged_array(kind: Keys, rows: list[tuple[int, int]]) -> Words:
    tagged = kind.array([key for key, _ in rows])
    tagged[:, 0] |= np.array([tag for _, tag in rows], np.uint64)
    return tagged


def as_rows(kind: Keys, tagged: Words) -> list[tuple[int, int]]:
    mask = (1 << kind.tag_bits) - 1
    return [(kind.key_at(tagged, place), int(row[0]) & mask) for place, row in enumerate(tagged)]


def ints(kind: Keys, keys: Words) -> list[int]:
    return [kind.key_at(keys, place) for place in range(len(keys))]


@st.composite
def samples(draw: st.DrawFn, most: int = 400) -> TaggedSample:
    bits = draw(st.sampled_from([63, 64, 65, 108, 128, 200, 300, 1024]) | st.integers(1, 56))
    tag_bits = draw(st.sampled_from([0, 8, 8]))
    rng = random.Random(draw(st.integers(0, 2**32)))
    count = draw(st.integers(0, most))
    varying = rng.getrandbits(bits) if draw(st.booleans()) else (1 << min(bits, draw(st.integers(1, 70)))) - 1
    common = rng.getrandbits(bits) & ~varying
    pool = [
        common | (rng.getrandbits(bits) & varying) for _ in range(max(1, count // draw(st.integers(1, 3))))
    ]
    rows = [(rng.choice(pool), rng.getrandbits(tag_bits)) for _ in range(count)]
    return TaggedSample(Keys(bits, tag_bits), rows)


@pytest.mark.slow
@given(samples())
@examples(60)
def test_sorted_keys_are_unique_with_their_smallest_tags(sample: TaggedSample) -> None:
    kind, n = sample.kind, len(sample.rows)
    found = kind.as_set(sample.tagged(), kind.new(n), n)
    smallest: dict[int, int] = {}
    for key, tag in sorted(sample.rows):
        smallest.setdefault(key, tag)
    rows = as_rows(kind, found)
    assert [key for key, _ in rows] == sample.keys
    assert dict(rows) == smallest


@pytest.mark.parametrize("bits", [40, 65, 300])
def test_long_arrays_with_long_stretches_of_equal_tops_are_sorted(bits: int) -> None:
    kind, rng = Keys(bits), random.Random(bits)
    tops = [rng.getrandbits(bits) for _ in range(3)]
    rows = [
        (rng.choice(tops) ^ rng.getrandbits(rng.choice([2, 7, 30])), rng.getrandbits(8))
        for _ in range(20_000)
    ]
    tagged = tagged_array(kind, rows)
    least = {key: min(tag for other, tag in rows if other == key) for key, _ in rows[:50]}
    found = dict(as_rows(kind, kind.as_set(tagged, kind.new(len(rows)), len(rows))))
    assert list(found) == sorted({key for key, _ in rows})
    assert {key: found[key] for key in least} == least


@given(samples(), st.integers(0, 2**32))
@examples(60)
def test_known_keys_are_marked_and_the_others_split_off(sample: TaggedSample, seed: int) -> None:
    kind, rng = sample.kind, random.Random(seed)
    rows = [
        (key, rng.getrandbits(kind.tag_bits)) for key in sample.keys if rng.random() < rng.choice([0.05, 0.5])
    ]
    known = [key for key in sample.keys if rng.random() < 0.6]
    dead = np.zeros(len(rows), np.uint8)
    tagged = tagged_array(kind, rows)
    kind.mark_known(tagged, kind.array(known), dead)
    assert dead.tolist() == [int(key in known) for key, _ in rows]
    keys, tags = kind.new(len(rows)), np.zeros(len(rows), np.uint8)
    left = kind.split(tagged, len(rows), dead, keys, tags)
    fresh = [row for row in rows if row[0] not in known]
    assert list(zip(ints(kind, keys[:left]), tags[:left].tolist(), strict=True)) == fresh
    wanted = [rng.choice(sample.keys) + rng.randrange(2) for _ in range(3)] if sample.keys else []
    mine = [key for key, _ in rows]
    assert kind.places(tagged, wanted).tolist() == [bisect.bisect_left(mine, key) for key in wanted]


@given(samples(), st.integers(0, 2**32))
@examples(40)
def test_disjoint_keys_are_merged(sample: TaggedSample, seed: int) -> None:
    kind, rng = sample.kind, random.Random(seed)
    share = rng.random()
    side = [rng.random() < share for _ in sample.keys]
    parts = [
        [key for key, one in zip(sample.keys, side, strict=True) if one == which] for which in (True, False)
    ]
    assert ints(kind, kind.union([kind.array(part) for part in parts])) == sample.keys


@given(samples(), st.integers(0, 2**32))
@examples(40)
def test_keys_are_found_from_any_place(sample: TaggedSample, seed: int) -> None:
    kind, rng = sample.kind, random.Random(seed)
    known = [key for key in sample.keys if rng.random() < 0.6]
    wanted = sample.tagged()
    moves = np.array([[rng.randrange(3)] for _ in sample.rows], np.int32).reshape(-1, 1)
    places, fingers = np.empty(len(wanted), np.int64), np.zeros(FINGERS, np.int64)
    missing = seek(kind.array(known), wanted, moves, kind.tag_bits, fingers, places)
    assert places.tolist() == [bisect.bisect_left(known, key) for key, _ in sample.rows]
    assert missing == sum(key not in known for key, _ in sample.rows)


@given(samples(), st.integers(0, 2**32))
@examples(40)
def test_records_and_keys_are_turned_into_each_other(sample: TaggedSample, seed: int) -> None:
    kind, rng = sample.kind, random.Random(seed)
    keys = kind.array(sample.keys)
    width = kind.words + 1
    template = np.zeros(width, np.uint64)
    template[-1] = rng.getrandbits(64)
    records, own = np.zeros((len(keys), width), np.uint64), np.zeros(len(keys), np.uint64)
    kind.to_records(keys, template, records, own)
    values = [sum(int(word) << 64 * place for place, word in enumerate(record[:-1])) for record in records]
    assert values == sample.keys and (records[:, -1] == template[-1]).all()
    assert ints(kind, kind.of_records(records)) == sample.keys
    parents = np.arange(len(keys), dtype=np.int32)
    tagged = kind.new(len(keys))
    every = kind.gather(records, parents, own, tagged, 0)
    assert as_rows(kind, tagged) == list(zip(sample.keys, own.tolist(), strict=True))
    assert every == (int(template[-1]) if len(keys) else 0)
    for tag in {*own.tolist()[:3], 300} if kind.tag_bits else ():
        fitting = [key for key, mine in zip(sample.keys, own.tolist(), strict=True) if mine == tag]
        assert ints(kind, kind.with_tag(keys, tag)) == fitting
    if sample.keys:
        assert kind.equal(keys, sample.keys[-1]).tolist() == [len(keys) - 1]


# --- Coded keys come back; damaged ones are refused, or give other keys, and nothing else is written to
_GUARD = np.uint64(0xFEEDFACECAFEBEEF)


@given(samples(), st.sampled_from([0, 1]))
@examples(60)
def test_keys_come_back(sample: TaggedSample, level: int) -> None:
    kind = sample.kind
    out = kind.new(len(sample.keys))
    kind.decode(kind.encode(kind.array(sample.keys), level), level > 0, out)
    assert ints(kind, out) == sample.keys


@given(samples(), st.integers(0, 2**32))
@examples(60)
def test_parts_come_back(sample: TaggedSample, seed: int) -> None:
    kind, rng = sample.kind, random.Random(seed)
    tagged = tagged_array(kind, [(key, rng.getrandbits(kind.tag_bits)) for key in sample.keys])
    cuts = sorted(rng.randint(0, len(tagged)) for _ in range(rng.randrange(4)))
    edges = np.array([0, *cuts, len(tagged)], np.int64)
    data, offsets = kind.encode_parts(tagged, edges)
    out = kind.new(len(tagged))
    for part in range(len(edges) - 1):
        low, high = int(edges[part]), int(edges[part + 1])
        kind.decode_part(data[offsets[part] : offsets[part + 1]], high - low, out, low)
    assert (out == tagged).all()


def damaged(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed[: rng.choice([len(changed), rng.randint(0, len(changed))])])


@given(samples(60), st.sampled_from([0, 1]), st.integers(0, 2**32))
@examples(150)
def test_damaged_keys_are_refused_or_give_other_keys(sample: TaggedSample, level: int, seed: int) -> None:
    kind, rng, n = sample.kind, random.Random(seed), len(sample.keys)
    room = kind.new(n + 2)
    room[:] = _GUARD
    with contextlib.suppress(DamagedKeysError):
        kind.decode(damaged(kind.encode(kind.array(sample.keys), level), rng), level > 0, room[1 : n + 1])
    assert (room[0] == _GUARD).all() and (room[-1] == _GUARD).all()
    tagged = tagged_array(kind, [(key, rng.getrandbits(kind.tag_bits)) for key in sample.keys])
    data, _ = kind.encode_parts(tagged, np.array([0, n], np.int64))
    out = kind.new(n + 2)
    out[:] = _GUARD
    with contextlib.suppress(DamagedKeysError):
        kind.decode_part(np.frombuffer(damaged(data.tobytes(), rng), np.uint8), n, out[: n + 1], 1)
    assert (out[0] == _GUARD).all() and (out[-1] == _GUARD).all()


@given(samples(60), st.sampled_from([0, 1]))
@examples(40)
def test_keys_that_are_cut_short_are_refused(sample: TaggedSample, level: int) -> None:
    kind, n = sample.kind, len(sample.keys)
    data = kind.encode(kind.array(sample.keys), level)
    if n == 0:
        return
    with pytest.raises(DamagedKeysError, match="damaged"):
        kind.decode(data[:-1], level > 0, kind.new(n))
