"""The quicker comparison of numba's flags says what numba's own says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from numba.core.compiler import Flags

from propnet.jit.decorators import compare_quickly

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
