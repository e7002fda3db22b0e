"""Coded keys come back; damaged ones are refused, or give other keys, and nothing else is written to."""

from __future__ import annotations

import contextlib
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.sorted_sets.codes import DamagedKeysError
from tests.examples import examples
from tests.players.sorted_sets.test_keys import TaggedSample, ints, samples, tagged_array

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
