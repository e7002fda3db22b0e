"""How tests are run: which slow ones, how many examples, and what becomes of one that hangs."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings

from tests.conftest import SLOW_TURNS, chosen
from tests.examples import FEWEST, TURNS, USUAL, examples, share
from tests.places import ROOT

ITEMS: list[Any] = [SimpleNamespace(nodeid=f"tests/test_{n % 7}.py::test_it[{n}]") for n in range(300)]


def test_each_slow_test_has_its_turn_once_and_all_or_none_are_taken_if_one_says_so() -> None:
    taken = Counter(item.nodeid for number in range(SLOW_TURNS) for item in chosen(ITEMS, "turn", number))
    assert taken == Counter(item.nodeid for item in ITEMS)
    assert chosen(ITEMS, "all", 0) == ITEMS and not chosen(ITEMS, "none", 0)
    assert 0.1 * len(ITEMS) < len(chosen(ITEMS, "turn", int("f" * 40, 16))) < 0.25 * len(ITEMS)


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


FILES = {
    "hangs": ["def test_first(): pass", "def test_hangs(): time.sleep(600)", "def test_last(): pass"],
    "ends": ["def test_first(): pass", "def test_ends(): os._exit(1)"],
    "passes": ["def test_first(): pass", "def test_second(): time.sleep(1)", "def test_third(): pass"],
}


@pytest.mark.slow
def test_what_hangs_and_what_ends_its_process_fails_once_and_the_rest_is_run(tmp_path: Path) -> None:
    for name, tests in FILES.items():
        (tmp_path / f"test_it_{name}.py").write_text("\n".join(["import os, time", *tests]))
    options = ["-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest", "-o", "faulthandler_timeout=5"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", *options, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "2 failed, 6 passed" in run.stdout, run.stdout
    assert "crashed while running" in run.stdout and "in test_hangs" in run.stderr
