"""The compiler: vector operations mean what numpy's mean, flags and imports are the cheaper ones."""

from __future__ import annotations

import os
import subprocess
import sys

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from numba.core.compiler import Flags

from propnet.jit.decorators import compare_quickly
from propnet.jit.vector512 import (
    BYTES,
    aligned,
    any_lane,
    count_lanes,
    item,
    load,
    lowest_bit,
    rotate_left,
    shift_left,
    shift_right,
    splat,
    store,
)


@njit
def every_operation(array, offsets, word, result):
    a = load(array, 0)
    b = load(array, item(offsets, 1))
    store(result, 0, a & b)
    store(result, BYTES, a | b)
    store(result, 2 * BYTES, a ^ b)
    store(result, 3 * BYTES, ~a)
    store(result, 4 * BYTES, a + b)
    store(result, 5 * BYTES, splat(word))
    store(result, 6 * BYTES, shift_left(a, 7))
    store(result, 7 * BYTES, shift_right(a, 9))
    store(result, 8 * BYTES, rotate_left(a, 23))
    store(result, 9 * BYTES, a & ~b)
    return any_lane(a), any_lane(a & ~a), count_lanes(a), lowest_bit(array[0, 0])


def check() -> None:
    rng = np.random.default_rng(5)
    array = aligned(3)
    array[:] = rng.integers(0, 2**64, size=array.shape, dtype=np.uint64)
    array[0, 0] &= np.uint64(2**64 - 2**11)
    array[0, 0] |= np.uint64(2**11)
    a, b = array[0], array[2]
    result = aligned(10)
    answers = every_operation(array, np.array([0, 2 * BYTES], np.uint32), -3, result)
    u = np.uint64
    expected = (
        a & b, a | b, a ^ b, ~a, a + b, np.full(8, 2**64 - 3, np.uint64),
        a << u(7), a >> u(9), (a << u(23)) | (a >> u(41)), a & ~b,
    )  # fmt: skip
    np.testing.assert_array_equal(result, np.array(expected))
    assert answers == (True, False, sum(int(word).bit_count() for word in a), 11)


def test_operations_agree_with_numpy():
    check()


@pytest.mark.slow
@pytest.mark.parametrize(("cpu", "features"), [("generic", ""), ("haswell", "+avx2")])
def test_operations_agree_with_numpy_on_lesser_processors(cpu, features):
    if cpu == "haswell" and not llvm.get_host_cpu_features().get("avx2"):
        pytest.skip("this processor has no AVX2 to try")
    environment = os.environ | {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": features}
    code = f"import runpy; runpy.run_path({__file__!r})['check']()"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=120)


def test_vectors_live_in_512_bit_registers_where_the_processor_has_them():
    if not llvm.get_host_cpu_features().get("avx512f"):
        pytest.skip("this processor has no AVX-512")
    check()
    assembly = next(iter(every_operation.inspect_asm().values()))
    assert "zmm" in assembly
    assert "vprolq" in assembly


def test_new_arrays_are_zero_and_start_on_64_byte_borders():
    for rows in (1, 7, 100):
        array = aligned(rows)
        assert array.shape == (rows, 8)
        assert array.ctypes.data % 64 == 0
        assert not array.any()


# --- The first kernel imports no SciPy, and functions of linear algebra still compile after it
CODE = """
import sys
import propnet.machine
assert "numba.np.arraymath" in sys.modules
assert "scipy.linalg" not in sys.modules
import numba, numpy as np
from numba.np import arraymath, linalg
assert arraymath._HAVE_BLAS
product = numba.njit(lambda a, b: np.dot(a, b))
square = np.arange(4.0).reshape(2, 2)
assert (product(square, square) == square @ square).all()
assert "scipy.linalg" in sys.modules
"""


def test_linear_algebra_is_imported_where_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# --- The quicker comparison of numba's flags says what numba's own says
SWITCHES = sorted(name for name, option in Flags.options.items() if option.type is bool)
settings_of_flags = st.dictionaries(st.sampled_from(SWITCHES), st.booleans(), max_size=6)


def flags_of(values: dict[str, bool]) -> Flags:
    flags = Flags()
    for name, value in values.items():
        setattr(flags, name, value)
    return flags


@given(settings_of_flags, settings_of_flags)
def test_flags_are_equal_if_all_their_values_are_and_then_have_the_same_hash(
    first: dict[str, bool], second: dict[str, bool]
) -> None:
    compare_quickly()
    one, other = flags_of(first), flags_of(second)
    assert (one == other) is (one.values() == other.values())
    assert one != other or hash(one) == hash(other)


@given(settings_of_flags, st.sampled_from(SWITCHES))
def test_a_default_counts_the_same_whether_it_was_set_or_left_out(values: dict[str, bool], name: str) -> None:
    compare_quickly()
    left_out = flags_of({key: value for key, value in values.items() if key != name})
    default = Flags.options[name].default
    assert left_out == flags_of(values | {name: default})
    assert left_out != flags_of(values | {name: not default})
    assert left_out != "flags"
