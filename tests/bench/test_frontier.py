"""The bench of the frontier; a search in a process of its own keeps to its memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.frontier import GOALS, search_tiles
from players.puzzles.frontier.outcome import SearchLimits
from tests.players.puzzles.frontier.plain import PLENTY


def tiles(memory: int, scratch: Path | None) -> subprocess.CompletedProcess[str]:
    """Four million states of the 3x4 puzzle, in so many MB."""
    command = [sys.executable, "-m", "bench.frontier", "tiles", "--json", "--states", "4e6", "--workers", "2"]
    command += ["--memory", f"{memory}M"]
    if scratch is not None:
        command += ["--scratch", str(scratch)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("scratch", [False, True])
def test_a_process_takes_no_more_memory_than_it_may(scratch: bool, tmp_path: Path) -> None:
    memory = 225 if scratch else 270
    # A first run has kernels compiled, which takes memory of its own.
    tiles(memory, tmp_path / "first" if scratch else None)
    process = tiles(memory, tmp_path / "second" if scratch else None)
    assert process.returncode == 0, process.stderr
    seen = json.loads(process.stdout)
    assert seen["states"] >= 4_000_000
    assert seen["layers"][:12] == [1, 2, 4, 9, 20, 37, 63, 122, 232, 431, 781, 1392]
    assert seen["peak_rss"] <= memory << 20
    assert seen["seconds_cpu"] >= sum(seen["stages"].values()) - seen["stages"]["disk"]


@pytest.mark.slow
@pytest.mark.parametrize("depth", [10, 20])
def test_positions_are_as_far_away_as_the_list_says(depth: int) -> None:
    *_, last = search_tiles(3, 4, GOALS[depth], float("inf"), SearchLimits(PLENTY, symmetry=False))
    assert last.depth == depth == len(last.moves)
