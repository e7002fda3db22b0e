"""ggp web takes malformed rules, mutated requests, and nothing of other sites' pages."""

from __future__ import annotations

import pytest

from bench.hostile_web import crowds, files, mutated
from bench.hostile_web.attack import Attack

QUICK = [one for one in crowds.ATTACKS if one.name in ("half-closed requests", "no HTTP")]


@pytest.mark.slow
def test_what_is_malformed_is_told_and_the_server_goes_on() -> None:
    assert files.malformed_texts(60, 2).faults == []


@pytest.mark.slow
def test_mutated_requests_to_all_routes_are_answered_without_a_500() -> None:
    assert mutated.mutate(250, 5).faults == []


@pytest.mark.parametrize("attack", QUICK, ids=lambda attack: attack.name)
def test_what_is_no_http_or_half_closed_is_answered(attack: Attack) -> None:
    assert attack.run(1, 1).faults == []


def test_a_neighbour_learns_no_id_and_ends_no_match() -> None:
    assert crowds.foreign_messages(1, 1).faults == []
