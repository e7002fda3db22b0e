"""Checkpoints whose manifests have a right digest and wrong contents: refused, or gone on with."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import orjson
import pytest

from gdl.errors import GdlError
from players.puzzles.frontier.frontier import FrontierSearch
from players.puzzles.frontier.outcome import SearchLimits
from players.sorted_sets.files import LOCK, MANIFEST, sealed
from players.sorted_sets.keys import Keys
from players.sorted_sets.runs import Run, RunWriter, coded
from players.sorted_sets.store import BlobStore
from propnet.machine import PropnetMachine
from tests.machines import network
from tests.mutations import refusals
from tests.players.puzzles.frontier.far_tiles import far_tiles

MUTATIONS = 100


@pytest.fixture(scope="module")
def machine() -> PropnetMachine:
    return network(far_tiles().rules)


def search(machine: PropnetMachine, scratch: Path) -> FrontierSearch:
    start = machine.records([machine.initial_state()]).copy()
    return FrontierSearch(machine, start, SearchLimits(1 << 30, scratch, symmetry=False))


def advance(one: FrontierSearch, layers: int) -> None:
    """A slice of time never ends before a step, so this is as many steps."""
    for _ in range(layers):
        if one.step(time.monotonic() + 1e-6):
            break


@pytest.fixture
def checkpoint(machine: PropnetMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(os, "fsync", lambda file: None)
    one = search(machine, tmp_path / "whole")
    advance(one, 40)
    one.close()
    return tmp_path / "whole"


@pytest.mark.slow
def test_a_manifest_with_a_right_digest_and_wrong_contents_is_refused_or_gone_on_with(
    machine: PropnetMachine, checkpoint: Path, tmp_path: Path
) -> None:
    body = orjson.loads((checkpoint / MANIFEST).read_bytes())["body"]
    here = tmp_path / "mutated"

    def go_on(manifest: bytes) -> None:
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(checkpoint, here)
        (here / MANIFEST).write_bytes(manifest)
        one = search(machine, here)
        try:
            advance(one, 4)
        finally:
            one.close()

    told = refusals(body, sealed, go_on, MUTATIONS)
    assert len(told) > MUTATIONS // 3
    assert not any("\n" in text for text in told)


def test_a_run_whose_blocks_do_not_ascend_is_refused() -> None:
    """A search that was spread over computers once wrote such runs."""
    kind, store = Keys(20), BlobStore(1 << 20, None, None, "")
    writer = RunWriter(kind, store, "run", tags=False)
    for key in (5, 3):
        for block in coded(kind, kind.array([key]), None, 0):
            writer.add(block)
    with pytest.raises(GdlError, match="do not ascend"):
        Run.from_json(writer.close().as_json(), kind, store.blobs)


@pytest.mark.parametrize("name", ["../secret-1.blob", "/etc/passwd", "..", "a\0.blob", "folder/x.blob", 7])
def test_files_of_a_checkpoint_lie_in_its_directory(
    machine: PropnetMachine, checkpoint: Path, tmp_path: Path, name: object
) -> None:
    (tmp_path / "secret-1.blob").write_bytes(b"mine")
    body = orjson.loads((checkpoint / MANIFEST).read_bytes())["body"]
    body["blobs"][0]["file"] = name
    (checkpoint / MANIFEST).write_bytes(sealed(body))
    with pytest.raises(GdlError, match=r"blobs\[0\]\.file"):
        search(machine, checkpoint)
    assert (tmp_path / "secret-1.blob").read_bytes() == b"mine"


def test_a_lock_that_is_a_link_empties_no_other_file(
    machine: PropnetMachine, checkpoint: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("mine")
    (checkpoint / LOCK).unlink()
    (checkpoint / LOCK).symlink_to(tmp_path / "mine")
    with pytest.raises(GdlError, match="cannot lock"):
        search(machine, checkpoint)
    assert (tmp_path / "mine").read_text() == "mine"
