"""The estimate of what is to come is near the truth."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ggp.solving.frontier_search import FrontierView, progress_line, states_to_come
from players.puzzles.frontier.outcome import FrontierProgress
from tests.players.puzzles.frontier.far_tiles import LAYERS

TILES = [
    *(1, 2, 4, 9, 20, 37, 63, 122, 232, 431, 781, 1392, 2494, 4442, 7854, 13899, 24215, 41802, 71167, 119888),
    *(198363, 323206, 515778, 811000, 1248011, 1885279, 2782396, 4009722, 5621354, 7647872, 10065800),
    *(12760413, 15570786, 18171606, 20299876, 21587248, 21841159, 20906905, 18899357, 16058335, 12772603),
    *(9515217, 6583181, 4242753, 2503873, 1350268, 643245, 270303, 92311, 27116, 5390, 1115, 86, 18),
]
"""The layers of sliding tiles on a board of 3x4: 239,500,800 states."""


@pytest.mark.parametrize("layers", [LAYERS, TILES])
def test_the_estimate_is_near_the_truth_from_the_largest_layers_on(layers: list[int]) -> None:
    told = {depth: states_to_come(layers[:depth]) for depth in range(1, len(layers) - 1)}
    largest = layers.index(max(layers)) + 1
    assert all(told[depth] is None for depth in range(1, largest // 2))
    for depth in range(largest, len(layers) - 1):
        estimate = told[depth]
        assert estimate is not None
        last, truth = layers[depth - 1], sum(layers[depth:])
        assert (truth + last) / 2 < estimate + last < 3 * (truth + last)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(0, 10**12), max_size=60))
def test_any_layers_have_an_estimate_or_none(layers: list[int]) -> None:
    estimate = states_to_come(layers)
    assert estimate is None or 0 <= estimate < float("inf")


def test_growth_without_a_bend_tells_nothing() -> None:
    assert states_to_come([2**depth for depth in range(40)]) is None


def progress(layer: int, done: int, seconds: float = 10.0) -> FrontierProgress:
    states = sum(LAYERS[: layer + 1])
    return FrontierProgress(layer, LAYERS[layer], done, states, 2 * states, 300 << 20, 5 << 20, seconds)


def test_progress_says_what_is_asked_for() -> None:
    line = progress_line(progress(24, 9099), LAYERS[:25], progress(24, 99, 1.0))
    assert line.startswith(
        "10 s, depth 24 with 18,197 states, 50% of it, 142,087 states, 1,000/s, 2.00 bytes each"
    )
    assert "300M of memory, 5M of disk, all may be seen in" in line
    assert "all may be seen" not in progress_line(progress(3, 0), LAYERS[:4], progress(2, 0, 1.0))


def test_layers_before_those_it_saw_count_as_none() -> None:
    view = FrontierView("tiles")
    for layer in (5, 5, 6):
        view.watch(progress(layer, 0))
    assert view._layers == [0, 0, 0, 0, 0, LAYERS[5], LAYERS[6]]
    view.watch(progress(1, 0))
    assert view._layers == [0, LAYERS[1]]
