"""Fixtures of the tests of kaskades."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from players.kaskade.kaskade import Kaskade
from players.kaskade.stages import Stage
from players.processes import lifeline
from tests.players.kaskade.odd_stages import GAME, LONG, Log, children, open_files, stage
from tests.waiting import runs


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder for what is kept on disk."""
    monkeypatch.setenv("GGP_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def log() -> Log:
    """What the kaskades of a test tell."""
    return Log()


@pytest.fixture
def make(log: Log) -> Iterator[Callable[..., Kaskade]]:
    """Makes kaskades of some stages that tell the log; closes them, and finds nothing left of them."""
    kaskades: list[Kaskade] = []

    def make(*stages: Stage, level: str = "auto") -> Kaskade:
        kaskades.append(Kaskade(level, on_event=log, stages=stages))
        return kaskades[-1]

    descriptor = lifeline.lend()  # the first process that is started opens a pipe, which stays
    if descriptor >= 0:
        os.close(descriptor)
    files, before = open_files(), children()
    yield make
    pids = [builder.pid for kaskade in kaskades for builder in kaskade._builders]
    for kaskade in kaskades:
        kaskade.close(LONG)
    assert not any(map(runs, pids))
    assert open_files() <= files
    assert set(children()) <= set(before)


@pytest.fixture
def gated(tmp_path: Path, make: Callable[..., Kaskade]) -> tuple[Kaskade, Path]:
    """A kaskade whose first machine is there, and the file that its second one waits for."""
    gate = tmp_path / "gate"
    kaskade = make(stage("one", "deliver"), stage("two", "when_told"))
    kaskade.begin(f"{GAME} ;{gate}")
    assert kaskade.wait("one", LONG)
    return kaskade, gate
