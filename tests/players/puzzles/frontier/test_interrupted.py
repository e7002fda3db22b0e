"""A search that is killed or runs out of disk goes on from its last whole layer, to the same result."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from players.puzzles.frontier import frontier
from players.puzzles.frontier.frontier import FrontierSearch
from players.puzzles.frontier.outcome import FrontierResult, SearchLimits
from players.sorted_sets.files import MANIFEST, SUFFIX, OutOfRoomError, ScratchError
from propnet.machine import PropnetMachine
from propnet.recoding.samples import sample_states
from tests.games.tiles import tiles
from tests.players.puzzles.frontier.children import Child
from tests.players.puzzles.frontier.plain import PLENTY, begun, machine_of, searched
from tests.players.puzzles.frontier.test_small_rooms import cramp

FARTHEST = [6, 4, 7, 8, 5, 0, 3, 2, 1]
"""One of the two positions that are farthest, 31 moves, from the tiles in order."""


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> PropnetMachine:
    """The eight puzzle, searched in little memory, and begun faster than usual."""
    machine = machine_of(tiles(3, 3, FARTHEST))
    samples = sample_states(machine, 500)
    monkeypatch.setattr(frontier, "sample_states", lambda machine: samples)
    undisturbed()
    cramp(monkeypatch, room=4096, scale=8, kept=100_000)
    return machine


@cache
def undisturbed() -> tuple[Any, ...]:
    """What comes of a search with all the memory it wants, of the same samples."""
    return told(searched(machine_of(tiles(3, 3, FARTHEST))))


def told(result: FrontierResult) -> tuple[Any, ...]:
    return result.layers, result.moves, result.states, result.proven


def run(machine: PropnetMachine, scratch: Path, workers: int) -> tuple[Any, ...]:
    """Begin or go on, to the end."""
    return told(searched(machine, SearchLimits(PLENTY, scratch, workers=workers, symmetry=False)))


@pytest.mark.slow
def test_after_each_of_20_kills_it_goes_on_to_the_same_result(
    machine: PropnetMachine, tmp_path: Path
) -> None:
    randomness = random.Random(19)
    kills = resumed = searches = 0
    while kills < 20:
        scratch = tmp_path / str(searches)
        searches += 1
        outcome = None
        while outcome is None:
            resumed += (scratch / MANIFEST).exists()
            child = Child(partial(run, machine, scratch, 1 + kills % 2))
            outcome = child.kill(randomness.uniform(0.1, 0.4)) if kills < 20 else child.outcome()
            kills += outcome is None
        assert tuple(outcome) == undisturbed()
    assert resumed >= 10


def test_ctrl_c_loses_at_most_the_layer_that_is_being_made(machine: PropnetMachine, tmp_path: Path) -> None:
    def interrupted() -> list[int]:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        search = begun(machine, SearchLimits(PLENTY, tmp_path, workers=2, symmetry=False))
        sent = False
        try:
            while not search.step(time.monotonic() + 0.001):
                if not sent and len(search.result().layers) > 4:
                    sent = True
                    threading.Timer(0.005, os.kill, (os.getpid(), signal.SIGINT)).start()
        except KeyboardInterrupt:
            return search.result().layers
        finally:
            search.close()
        return []

    layers = Child(interrupted).outcome()
    assert 4 < len(layers) < 32
    search = begun(machine, SearchLimits(PLENTY, tmp_path, symmetry=False))
    while not search.states:
        search.step(time.monotonic() + 0.001)
    # The last of them may not have been committed yet.
    assert search.result().layers[: len(layers) - 1] == layers[:-1]
    search.close()
    assert run(machine, tmp_path, 1) == undisturbed()


def work_off(search: FrontierSearch) -> None:
    while not search.step(time.monotonic() + 1.0):
        pass


def out_of_room(machine: PropnetMachine, options: SearchLimits) -> FrontierResult:
    """What was found when it became too much."""
    search = begun(machine, options)
    with pytest.raises(OutOfRoomError) as error:
        work_off(search)
    assert error.value.remedy
    assert search.step(time.monotonic() + 1.0)
    result = search.result()
    search.close()
    assert not result.proven and not result.complete
    layers = undisturbed()[0]
    assert 1 < len(result.layers) < len(layers)
    assert result.layers == layers[: len(result.layers)]
    return result


def test_with_little_memory_and_no_files_it_keeps_what_it_found(machine: PropnetMachine) -> None:
    out_of_room(machine, SearchLimits(PLENTY, symmetry=False))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_search_that_may_use_little_disk_goes_on_with_more(
    workers: int, machine: PropnetMachine, tmp_path: Path
) -> None:
    disk = 150_000
    out_of_room(machine, SearchLimits(PLENTY, tmp_path, disk, workers, symmetry=False))
    assert sum(path.stat().st_size for path in tmp_path.glob("*" + SUFFIX)) <= disk
    result = out_of_room(machine, SearchLimits(PLENTY, tmp_path, 2 * disk, workers, symmetry=False))
    assert sum(path.stat().st_size for path in tmp_path.glob("*" + SUFFIX)) <= 2 * disk
    assert result.states > 0
    assert run(machine, tmp_path, workers) == undisturbed()


def test_a_search_that_is_closed_in_the_midst_goes_on_without_a_thread_left(
    machine: PropnetMachine, tmp_path: Path
) -> None:
    search = begun(machine, SearchLimits(PLENTY, tmp_path, workers=2, symmetry=False))
    while search.states < 20_000:
        assert not search.step(time.monotonic() + 0.01)
    search.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("frontier")]
    with pytest.raises(ScratchError, match="of other rules"):
        begun(machine_of(tiles(3, 3)), SearchLimits(PLENTY, tmp_path, symmetry=False))
    assert run(machine, tmp_path, 1) == undisturbed()


def test_files_are_gone_when_the_search_is_over(machine: PropnetMachine, tmp_path: Path) -> None:
    assert run(machine, tmp_path, 1) == undisturbed()
    assert not list(tmp_path.glob("*" + SUFFIX)) and not (tmp_path / MANIFEST).exists()
