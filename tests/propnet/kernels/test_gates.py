"""The gate kernel agrees with gate-by-gate evaluation; records and slices turn into one another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numba import njit

from propnet.jit.random_numbers import streams
from propnet.jit.vector512 import aligned, splat, store
from propnet.kernels.gates import evaluate_blocks
from propnet.kernels.plan import plan
from propnet.kernels.records import pack, record_words, unpack
from propnet.kernels.scratch import new_groups, new_planes, new_wires
from propnet.kernels.uniform_choice import choose, copy_legal
from tests.examples import examples
from tests.propnet.circuits import naive, random_network, to_records, to_sliced, transposed


@njit
def evaluate_all(wires, blocks, runs, inputs, init, middle):
    evaluate_blocks(wires, blocks, runs, inputs, init, np.int64(0), np.int64(middle))
    evaluate_blocks(wires, blocks, runs, inputs, init, np.int64(middle), np.int64(blocks.shape[0]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_every_output_of_random_networks_agrees_with_naive_evaluation_in_every_lane(seed):
    rng = np.random.default_rng(seed)
    loops = seed % 3
    network = random_network(rng, 9, [3, 4], 60, widest=9, loops=loops)
    assert len(network.loops) == 2 * loops
    p = plan(network)
    states = rng.integers(0, 2, size=(512, 9)) > 0
    joints = np.stack([rng.integers(0, n, size=512) for n in (3, 4)], axis=1)
    made = np.zeros((512, 7), np.bool_)
    made[np.arange(512), joints[:, 0]] = made[np.arange(512), 3 + joints[:, 1]] = True
    wires = new_wires(p)
    wires[1:17] = to_sliced(pack(np.concatenate((states, made), axis=1)), 16)
    evaluate_all(wires, p.blocks, p.runs, p.inputs, p.init, p.base_blocks)
    got = unpack(wires, 512)

    def outputs(offsets, signs):
        return np.array([got[o // 64] != bool(s) for o, s in zip(offsets, signs, strict=True)])

    following = outputs(p.next_offsets, p.next_signs)
    legal = outputs(p.legal_offsets, p.legal_signs)
    for lane in range(0, 512, 17):
        value = naive(network, states[lane], joints[lane])
        assert following[:, lane].tolist() == [value[x] for x in network.next_literals]
        assert legal[:, lane].tolist() == [value[x] for x in network.legal_literals]


def test_a_plan_keeps_every_gate_and_needs_few_runs():
    network = random_network(np.random.default_rng(2), 20, [5], 400, widest=3)
    p = plan(network)
    shapes, gates = p.runs[:, :2], p.runs[:, 2]
    assert gates.sum() == network.gates
    assert (shapes.sum(axis=1) * gates).sum() == len(p.inputs)
    assert len(p.runs) < network.gates / 2


@njit
def choose_often(times, wires, offsets, signs, first, last, out, planes, groups, state, chosen):
    """Choose again and again; chosen[t] are the wires of the moves, some[t] who could."""
    some = np.empty((times, 8), np.uint64)
    for t in range(times):
        copy_legal(wires, offsets, signs, first, last, out)
        able = choose(wires, out + first, out + last, planes, groups, planes.shape[0] // 3, splat(-1), state)
        store(some, 64 * t, able)
        chosen[t] = wires[out + first : out + last]
    return some


def choices(legal: np.ndarray, times: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """bool (times, moves, 512): what is chosen where ``legal`` (moves, 512) says what may be."""
    moves = len(legal)
    negated = np.arange(moves) % 3 == 1
    before = 2  # moves of another role, which must stay untouched
    wires = aligned(2 * (before + moves))
    wires[before : before + moves] = pack(legal != negated[:, None])
    offsets = (np.arange(before + moves) * 64).astype(np.uint32)
    signs = -np.concatenate((np.zeros(before, np.int64), negated.astype(np.int64)))
    chosen = np.zeros((times, moves, 8), np.uint64)
    out = before + moves
    some = choose_often(
        times,
        wires,
        offsets,
        signs,
        before,
        before + moves,
        out,
        new_planes(moves),
        new_groups(moves),
        streams(seed),
        chosen,
    )
    assert not wires[out : out + before].any()
    return unpack(chosen.reshape(-1, 8), 512).reshape(times, moves, 512), unpack(some, 512)


@pytest.mark.slow
@pytest.mark.parametrize("moves", [1, 2, 3, 4, 5, 8, 9, 17, 30, 31, 44, 45, 46, 60, 64, 100, 300])
def test_each_lane_that_can_chooses_exactly_one_of_its_legal_moves(moves):
    rng = np.random.default_rng(moves)
    legal = rng.random((moves, 512)) < rng.random(512)
    chosen, some = choices(legal, 5, seed=moves)
    assert not (chosen & ~legal).any()
    np.testing.assert_array_equal(chosen.sum(axis=1), np.broadcast_to(legal.any(axis=0), (5, 512)))
    np.testing.assert_array_equal(some, np.broadcast_to(legal.any(axis=0), (5, 512)))


@pytest.mark.slow
@pytest.mark.parametrize("moves", [2, 3, 5, 7, 12, 31, 40, 45, 70, 257])
@pytest.mark.parametrize("share", [0.7, 0.1])
def test_choices_are_uniform_over_the_legal_moves_of_each_lane(moves, share):
    rng = np.random.default_rng(moves)
    legal = rng.random((moves, 512)) < share
    # Some moves are legal in no lane, whole groups of them.
    legal[moves // 3 : moves // 3 + moves // 4] = False
    legal[0] |= ~legal.any(axis=0)
    times = 400
    chosen, _ = choices(legal, times, seed=moves)
    counts = chosen.sum(axis=0)
    options = legal.sum(axis=0)
    expected = times / options
    # Chi-square per lane, summed: its mean is the degrees of freedom, its variance near twice.
    chi = (((counts - expected) ** 2) * legal / expected).sum()
    freedom = (options - 1).sum()
    assert abs(chi - freedom) < 5 * np.sqrt(2 * freedom)
    # And by rank among the legal moves, over all lanes with the commonest number of options.
    common = np.bincount(options).argmax()
    ranks = np.where(legal, np.cumsum(legal, axis=0) - 1, 0)
    alike = options == common
    drawn = (ranks * chosen).sum(axis=1)[:, alike]
    seen = np.bincount(drawn.ravel(), minlength=common)
    mean = drawn.size / common
    assert ((seen - mean) ** 2 / mean).sum() < common - 1 + 5 * np.sqrt(2 * max(1, common - 1))


@pytest.mark.slow
def test_choices_of_neighbouring_lanes_and_of_following_turns_are_independent():
    moves, times = 5, 2000
    chosen, _ = choices(np.ones((moves, 512), np.bool_), times, seed=9)
    drawn = chosen.argmax(axis=1)
    pairs = {
        "next lane": (drawn[:, :-1], drawn[:, 1:]),
        "next word": (drawn[:, :-64], drawn[:, 64:]),
        "next turn": (drawn[:-1], drawn[1:]),
    }
    for name, (a, b) in pairs.items():
        seen = np.bincount((a * moves + b).ravel(), minlength=moves**2)
        mean = a.size / moves**2
        freedom = (moves - 1) ** 2
        assert ((seen - mean) ** 2 / mean).sum() < freedom + 2 * moves + 5 * np.sqrt(2 * moves**2), name


def test_roles_choose_independently_of_one_another():
    # Two roles draw from the same streams, one after the other.
    state = streams(4)
    n, times = 3, 3000
    wires = aligned(4 * n)
    wires[: 2 * n] = np.iinfo(np.uint64).max
    offsets = (np.arange(2 * n) * 64).astype(np.uint32)
    signs = np.zeros(2 * n, np.int64)
    planes = new_planes(n)
    table = np.zeros((n, n), np.int64)
    first = np.zeros((1, n, 8), np.uint64)
    for _ in range(times // 100):
        choose_often(1, wires, offsets, signs, 0, n, 2 * n, planes, new_groups(n), state, first)
        a = unpack(first[0], 512).argmax(axis=0)
        choose_often(1, wires, offsets, signs, n, 2 * n, 2 * n, planes, new_groups(n), state, first)
        b = unpack(first[0], 512).argmax(axis=0)
        np.add.at(table, (a, b), 1)
    mean = table.sum() / n**2
    assert ((table - mean) ** 2 / mean).sum() < 8 + 5 * 4


def test_streams_depend_on_the_seed_alone_and_differ_between_lanes():
    np.testing.assert_array_equal(streams(7), streams(7))
    assert len(np.unique(np.concatenate([streams(s).ravel() for s in range(100)]))) == 3200
    np.testing.assert_array_equal(streams(-1), streams(2**64 - 1))


# --- Records, boolean rows and sliced arrays turn into one another without loss
boolean_rows = st.tuples(st.integers(0, 512), st.integers(0, 200)).flatmap(lambda s: arrays(np.bool_, s))


@given(boolean_rows)
def test_unpack_undoes_pack(values):
    records = pack(values)
    assert records.shape == (len(values), record_words(values.shape[1]))
    assert records.dtype == np.uint64
    np.testing.assert_array_equal(unpack(records, values.shape[1]), values)


@given(boolean_rows)
def test_bit_b_of_a_record_is_column_b(values):
    records = pack(values)
    for row in range(0, len(values), 37):
        number = sum(int(word) << (64 * w) for w, word in enumerate(records[row]))
        assert number == sum(1 << b for b in np.flatnonzero(values[row]).tolist())


@examples(100)
@given(st.integers(0, 1280), st.integers(0, 512), st.integers(0, 2**32))
def test_records_of_up_to_twenty_words_come_back_from_the_sliced_form(bits, n, seed):
    values = np.random.default_rng(seed).integers(0, 2, size=(n, bits)) > 0
    records = pack(values)
    sliced = to_sliced(records, bits)
    np.testing.assert_array_equal(to_records(sliced, n), records)
    lanes = unpack(sliced, 512)
    np.testing.assert_array_equal(lanes[:, :n], values.T)
    assert not lanes[:, n:].any()


def test_transpose_exchanges_rows_and_columns_of_eight_matrices():
    block = np.random.default_rng(1).integers(0, 2**64, size=(64, 8), dtype=np.uint64)
    bits = unpack(block.reshape(-1, 1), 64).reshape(64, 8, 64)
    transposed(block)
    np.testing.assert_array_equal(
        unpack(block.reshape(-1, 1), 64).reshape(64, 8, 64), bits.transpose(2, 1, 0)
    )


def test_more_records_than_lanes_are_refused():
    with pytest.raises(ValueError, match="512 lanes"):
        to_sliced(np.zeros((513, 1), np.uint64), 3)
    with pytest.raises(ValueError, match="512 lanes"):
        to_records(np.zeros((3, 8), np.uint64), 513)
