"""The margin before the end of a clock follows what is measured, within bounds."""

from __future__ import annotations

import socket
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp.server.margin import LEAST, MOST, NEAR_LEAST, Margin, round_trip

delays = st.floats(0.0, 100.0)


def test_the_configured_margin_counts_at_first_and_at_most_a_quarter_of_the_clock() -> None:
    margin = Margin(0.8)
    assert margin.spare_time(10) == 0.8
    assert margin.spare_time(1) == 0.25


@pytest.mark.parametrize(
    ("seconds", "least", "most"), [(0.0001, NEAR_LEAST, NEAR_LEAST + 0.02), (0.002, LEAST, LEAST + 0.03)]
)
def test_a_quick_connection_gets_a_smaller_margin_turn_by_turn_and_keeps_more_over_a_network(
    seconds: float, least: float, most: float
) -> None:
    margin = Margin(0.8)
    margins = []
    for _ in range(60):
        margin.round_trip(seconds)
        margin.overshoot(0.002)
        margins.append(margin.spare_time(10))
    assert margins == sorted(margins, reverse=True)
    assert least < margins[-1] < most


def test_a_slow_connection_gets_a_larger_one_at_once() -> None:
    margin = Margin(0.8)
    margin.round_trip(0.3)
    assert margin.spare_time(10) == pytest.approx(LEAST + 1.2)
    assert margin.spare_time(2) == 1.0, "half of the clock at most"


def test_a_delay_is_forgotten_in_time() -> None:
    margin = Margin(0.3)
    margin.lag(0.8)
    assert margin.spare_time(60) > 1.5
    for _ in range(60):
        margin.round_trip(0.0)
        margin.overshoot(0.0)
    assert margin.spare_time(60) == pytest.approx(NEAR_LEAST, abs=1e-3)


def test_without_round_trips_the_configured_margin_stays() -> None:
    margin = Margin(0.8)
    for _ in range(60):
        margin.round_trip(None)
        margin.overshoot(0.0)
    assert margin.spare_time(10) == 0.8


@given(
    st.floats(0.0, 10.0),
    st.lists(st.tuples(st.sampled_from(["round_trip", "lag", "overshoot"]), delays)),
    st.integers(1, 10_000),
)
def test_whatever_is_measured_half_of_the_clock_is_left(
    configured: float, noted: list[tuple[str, float]], clock: int
) -> None:
    margin = Margin(configured)
    for kind, seconds in noted:
        getattr(margin, kind)(seconds)
    assert 0.0 <= margin.spare_time(clock) <= clock / 2
    assert margin.delay <= 3 * MOST


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux tells round trips")
def test_the_round_trip_of_a_connection_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)), server.accept()[0] as ours:
            seconds = round_trip(ours)
            assert seconds is not None
            assert 0.0 < seconds < 10.0
    assert round_trip(ours) is None, "it is closed"
    assert round_trip(None) is None
