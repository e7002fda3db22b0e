"""A search that is killed at any moment, or runs out of disk, goes on from its last layer to the same end."""

from __future__ import annotations

import errno
import os
import random
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from players.puzzles.frontier.frontier import FrontierSearch
from players.puzzles.frontier.outcome import FrontierOptions, FrontierResult
from players.sorted_sets.files import LOCK, OutOfRoomError, has_commit
from propnet.machine import PropnetMachine
from tests.players.puzzles.frontier.children import Child
from tests.players.puzzles.frontier.far_tiles import LAYERS, far_tiles


@pytest.fixture(scope="module")
def machine() -> PropnetMachine:
    machine = far_tiles().machine("propnet")
    assert isinstance(machine, PropnetMachine)
    return machine


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed leaves what it has written, on the disk or on its way there."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


def search(machine: PropnetMachine, scratch: Path, **options: int) -> FrontierSearch:
    return FrontierSearch(
        machine,
        machine.records([machine.initial_state()]).copy(),
        replace(FrontierOptions(1 << 30, scratch, resume=has_commit(scratch), symmetry=False), **options),  # type: ignore[arg-type]
    )


def finish(one: FrontierSearch) -> FrontierResult:
    while not one.step(time.monotonic() + 1.0):
        pass
    return one.result()


def check(result: FrontierResult, machine: PropnetMachine) -> None:
    assert result.layers == LAYERS
    assert result.value == 100 and result.proven and len(result.moves) == 31
    state = machine.initial_state()
    for move in result.moves:
        assert move in machine.legal_moves(state, 0)
        state = machine.next_state(state, [move])
    assert machine.is_terminal(state)


def work(machine: PropnetMachine, scratch: Path) -> None:
    """Finish a search, and leave its files as they are."""
    finish(search(machine, scratch))


@pytest.mark.slow
def test_it_ends_as_if_it_had_not_been_killed_20_times(machine: PropnetMachine, tmp_path: Path) -> None:
    # Twice: the first loads the kernels.
    for name in ("first", "plain"):
        plain = search(machine, tmp_path / name)
        began = time.process_time()
        wanted = finish(plain)
        seconds = time.process_time() - began
        plain.close()
    check(wanted, machine)
    randomness = random.Random(3)
    kills = resumed = number = 0
    while kills < 20 or not resumed:
        scratch = tmp_path / f"{number}"
        child = Child(partial(work, machine, scratch))
        # Every other one lives until there is something to go on with, however slowly it begins.
        end = time.monotonic() + 60
        while kills % 2 and not has_commit(scratch) and not child.ended():
            assert time.monotonic() < end
            time.sleep(0.005)
        child.kill(randomness.uniform(0.0, seconds))
        kills += 1
        if has_commit(scratch):
            one = search(machine, scratch)
            while not one.states:
                one.step(time.monotonic() + 1e-4)
            assert one.result().layers == LAYERS[: len(one.result().layers)]
            if randomness.random() < 0.3 or one.result().states > 150_000:
                result = finish(one)
                assert result.lines == wanted.lines
                check(result, machine)
                number += 1
                resumed += 1
            one.close()


def test_a_full_disk_costs_a_layer(
    machine: PropnetMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = os.pwrite
    left = 300_000

    def full(file: int, data: bytes, at: int) -> int:
        nonlocal left
        if left < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left -= len(data)
        return plain(file, data, at)

    one = search(machine, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        with pytest.raises(OutOfRoomError, match=r"No space left.*the same command"):
            finish(one)
    known = one.result()
    assert 5 < len(known.layers) < 32 and known.layers == LAYERS[: len(known.layers)]
    one.close()
    again = search(machine, tmp_path)
    check(finish(again), machine)
    again.close()
    assert [path.name for path in tmp_path.iterdir()] == [LOCK]


def test_a_bound_on_the_disk_that_is_too_low_can_be_raised(machine: PropnetMachine, tmp_path: Path) -> None:
    low = search(machine, tmp_path, disk=200_000)
    with pytest.raises(OutOfRoomError, match=r"195K of disk"):
        finish(low)
    assert sum(path.stat().st_size for path in tmp_path.glob("*.blob")) <= 200_000
    low.close()
    again = search(machine, tmp_path, disk=10_000_000)
    check(finish(again), machine)
    again.close()


def test_a_search_that_is_closed_in_the_midst_goes_on(machine: PropnetMachine, tmp_path: Path) -> None:
    one = search(machine, tmp_path, workers=2)
    while one.states < 50_000:
        one.step(time.monotonic() + 1e-4)
    before = one.states
    one.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("frontier")]
    again = search(machine, tmp_path, workers=1)
    again.step(time.monotonic() + 1e-4)
    assert again.states >= before
    check(finish(again), machine)
    again.close()
    assert [path.name for path in tmp_path.iterdir()] == [LOCK]
