"""Results depend neither on memory, nor on threads, nor on files, nor on a first guess at the coding."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from players.puzzles.frontier import frontier, search
from players.puzzles.frontier.budget import MemoryPlan
from players.puzzles.frontier.frontier import FrontierSearch
from players.puzzles.frontier.outcome import FrontierResult, SearchLimits
from players.sorted_sets import keys
from players.sorted_sets.runs import FreshRun
from propnet.jit.arrays import Words
from propnet.machine import PropnetMachine
from propnet.recoding.coding import Coding
from propnet.recoding.find import find_coding
from tests.players.puzzles.frontier.plain import PLENTY, begun, machine_of, searched


def cramp(patch: pytest.MonkeyPatch, room: int = 512, scale: int = 1, kept: int = PLENTY) -> None:
    """Tiny buffers, blocks and ranges: many of each."""
    patch.setattr(keys, "_MOST", 256 * scale)
    patch.setattr(search, "_ROWS", 256)
    patch.setattr(search, "_SOURCES", 64 * scale)
    patch.setattr(search, "_RECORDS", 64 * scale)

    def of(cls: type[MemoryPlan], memory: int, workers: int, *more: int) -> MemoryPlan:
        return cls(room, 300 * scale, kept, workers)

    def balance(one: FrontierSearch) -> None:
        one._store.room.memory = kept
        one._store.spill()

    patch.setattr(MemoryPlan, "of", classmethod(of))
    patch.setattr(FrontierSearch, "_balance", balance)


def assert_same(result: FrontierResult, other: FrontierResult) -> None:
    assert result.layers == other.layers
    assert result.lines == other.lines
    assert (result.value, result.states, result.complete) == (other.value, other.states, other.complete)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("scratch", [False, True])
def test_small_buffers_many_ranges_and_threads_find_the_same(
    workers: int, scratch: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = machine_of("eightpuzzle")
    plenty = searched(machine)
    cramp(monkeypatch, kept=20_000 if scratch else PLENTY)
    options = SearchLimits(PLENTY, tmp_path if scratch else None, workers=workers, symmetry=False)
    assert_same(searched(machine, options), plenty)


def test_ranges_are_about_as_large_as_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    successors = search.Merging._successors

    def noted(self: search.Merging, runs: Sequence[FreshRun], number: int) -> Words:
        sizes.append(sum(int(run.counts[number]) for run in runs))
        return successors(self, runs, number)

    cramp(monkeypatch, room=4096, scale=4)
    monkeypatch.setattr(search.Merging, "_successors", noted)
    searched(machine_of("eightpuzzle"), SearchLimits(PLENTY, symmetry=False))
    assert len(sizes) > 50
    assert max(sizes) < 1.9 * 300 * 4


def parents_of(options: SearchLimits) -> list[bytes]:
    """What each layer of a search keeps of parents."""
    one = begun(machine_of("eightpuzzle"), options)
    while not one.step(time.monotonic() + 1.0):
        pass
    assert one._search is not None
    layers = one._search.found.layers
    tags = [b"".join(layer.read_tags(block).tobytes() for block in layer.blocks) for layer in layers]
    one.close()
    return tags


def test_the_parent_of_a_state_is_the_same_whoever_finds_it_first(monkeypatch: pytest.MonkeyPatch) -> None:
    plenty = parents_of(SearchLimits(PLENTY, symmetry=False))
    cramp(monkeypatch)
    assert parents_of(SearchLimits(PLENTY, workers=3, symmetry=False)) == plenty


def test_a_coding_that_does_not_fit_is_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = machine_of("eightpuzzle")
    start = machine.records([machine.initial_state()])
    codings = []

    def few_samples(machine: PropnetMachine) -> Words:
        return start

    def find(machine: PropnetMachine, samples: Words, refuting: Words | None = None) -> Coding:
        codings.append(find_coding(machine, samples, refuting))
        return codings[-1]

    plenty = searched(machine)
    monkeypatch.setattr(frontier, "sample_states", few_samples)
    monkeypatch.setattr(frontier, "find_coding", find)
    for workers in (1, 2):
        codings.clear()
        result = searched(machine, SearchLimits(PLENTY, workers=workers, symmetry=False))
        assert len(codings) > 1
        assert result.layers == plenty.layers
        assert {value: len(line) for value, line in result.lines.items()} == {100: 18}
