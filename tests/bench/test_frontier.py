"""The bench of the frontier; a search in a process of its own keeps to its memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.frontier.sliding import GOALS, search_tiles
from players.puzzles.frontier.outcome import FrontierOptions
from tests.players.puzzles.frontier.plain import PLENTY


def bench(*options: str) -> Any:
    command = [sys.executable, "-m", "bench.frontier", *options, "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.fixture(scope="module")
def _kernels_are_compiled() -> None:
    """Compiling takes memory of its own."""
    bench("tiles", "--states", "4e6", "--workers", "2", "--memory", "2G")


@pytest.mark.usefixtures("_kernels_are_compiled")
@pytest.mark.parametrize("scratch", [False, True])
def test_a_process_takes_no_more_memory_than_it_may(scratch: bool, tmp_path: Path) -> None:
    """Four million states of the 3x4 puzzle."""
    memory = 220 if scratch else 260
    options = ["--scratch", str(tmp_path)] if scratch else []
    seen = bench("tiles", "--states", "4e6", "--workers", "2", "--memory", f"{memory}M", *options)
    assert seen["states"] >= 4_000_000
    assert seen["layers"][:12] == [1, 2, 4, 9, 20, 37, 63, 122, 232, 431, 781, 1392]
    assert seen["peak_rss"] <= memory << 20
    assert seen["seconds_cpu"] >= sum(seen["stages"].values()) - seen["stages"]["disk"]


@pytest.mark.parametrize("depth", [10, 20])
def test_positions_are_as_far_away_as_the_list_says(depth: int) -> None:
    *_, last = search_tiles(3, 4, GOALS[depth], float("inf"), FrontierOptions(PLENTY, symmetry=False))
    assert last.depth == depth == len(last.moves)
