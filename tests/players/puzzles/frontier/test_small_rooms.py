"""Results depend neither on memory, nor on threads, nor on files, nor on a first guess at the coding."""

from __future__ import annotations

from pathlib import Path

import pytest

from players.puzzles.frontier import expansion, merging
from players.puzzles.frontier.budget import Budget
from players.puzzles.frontier.keys import wide
from players.puzzles.frontier.keys.narrow import NarrowKeys
from players.puzzles.frontier.outcome import FrontierOptions, FrontierResult
from tests.players.puzzles.frontier.plain import GAMES, PLENTY, machine_of, searched


def cramp(patch: pytest.MonkeyPatch, room: int = 512, kept: int = PLENTY) -> None:
    """Tiny buffers, blocks and ranges: many of each."""
    patch.setattr(NarrowKeys, "block", 256)
    patch.setattr(wide, "_MOST", 256)
    patch.setattr(expansion, "_ROWS", min(room, 256))
    patch.setattr(expansion, "_SOURCES", 64)
    patch.setattr(merging, "_RECORDS", 64)
    patch.setattr(
        Budget, "of", classmethod(lambda cls, memory, workers, *given: cls(room, 300, kept, workers))
    )


def assert_same(result: FrontierResult, other: FrontierResult) -> None:
    assert result.layers == other.layers
    assert result.lines == other.lines
    assert (result.value, result.states, result.complete) == (other.value, other.states, other.complete)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("scratch", [False, True])
def test_small_buffers_many_ranges_and_threads_find_the_same(
    workers: int, scratch: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = machine_of((GAMES / "eightpuzzle.kif").read_text())
    plenty = searched(machine)
    cramp(monkeypatch, kept=20_000 if scratch else PLENTY)
    options = FrontierOptions(PLENTY, tmp_path if scratch else None, workers=workers, symmetry=False)
    assert_same(searched(machine, options), plenty)
