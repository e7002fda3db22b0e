"""Records, boolean rows and sliced arrays turn into one another without loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from propnet.kernels.records import pack, record_words, unpack
from tests.propnet.sliced import to_records, to_sliced, transposed

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


@settings(deadline=None)
@given(boolean_rows)
def test_records_come_back_from_the_sliced_form(values):
    n, bits = values.shape
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
