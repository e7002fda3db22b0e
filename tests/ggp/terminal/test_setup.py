"""Which matches begin before their kernels are compiled."""

from __future__ import annotations

import pytest

from ggp.terminal.setup import can_wait


@pytest.mark.parametrize(
    ("names", "can"),
    [
        (["uct", "random"], True),
        (["human", "uct:workers=1"], True),
        (["uct", "uct"], True),
        (["human", "random"], False),  # nothing is to be compiled
        (["uct:playouts=1000", "random"], False),  # the same seed gives the same choices
        (["uct", "montecarlo"], False),  # which would be another one on another machine
        (["mine:Mine", "uct"], False),
    ],
)
def test_only_matches_between_searches_by_the_clock_begin_without_kernels(
    names: list[str], can: bool
) -> None:
    assert can_wait(names) is can
