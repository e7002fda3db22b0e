"""Each slow test is run in one of three commits, none is lost, and a run without a word leaves all out."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings

from tests.conftest import chosen, commit
from tests.examples import FEWEST, TURNS, USUAL, examples, share

ITEMS: list[Any] = [SimpleNamespace(nodeid=f"tests/test_{n % 7}.py::test_it[{n}]") for n in range(300)]


@pytest.mark.slow
def test_each_slow_test_has_its_turn_once() -> None:
    taken = Counter(item.nodeid for number in range(TURNS) for item in chosen(ITEMS, "turn", number))
    assert taken == Counter(item.nodeid for item in ITEMS)


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1, 2, int("f" * 40, 16)])
def test_a_turn_is_about_a_third(number: int) -> None:
    assert 0.2 * len(ITEMS) < len(chosen(ITEMS, "turn", number)) < 0.5 * len(ITEMS)


def test_all_are_taken_by_all_and_none_by_none() -> None:
    assert chosen(ITEMS, "all", 0) == ITEMS
    assert not chosen(ITEMS, "none", 0)


@pytest.mark.parametrize("number", [1, FEWEST, FEWEST + 1, 25, 100, 2000])
def test_three_runs_try_as_many_examples_as_one_that_tries_all(number: int) -> None:
    assert share(number, "all") == number
    for which in ("none", "turn"):
        assert TURNS * share(number, which) >= number
        assert min(number, FEWEST) <= share(number, which) <= number


def test_properties_with_and_without_a_number_are_tried_with_the_share_of_this_run(
    request: pytest.FixtureRequest,
) -> None:
    which = request.config.getoption("--slow")
    assert settings.default.max_examples == share(USUAL, which)
    assert examples(2000).max_examples == share(2000, which)
    assert examples(2000).deadline is None
    assert not examples(2000).derandomize, "each run draws others"


def test_the_commit_is_a_number_of_this_checkout() -> None:
    try:
        assert 0 < commit() < 16**40
    except pytest.UsageError:
        pytest.skip("this checkout has no commit")
