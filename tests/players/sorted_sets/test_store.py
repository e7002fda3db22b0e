"""Blobs come back as they went in, whatever is killed or stopped when; budgets hold; damage is told."""

from __future__ import annotations

import errno
import itertools
import linecache
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from gdl.errors import GdlError
from players.puzzles.frontier.frontier import FrontierSearch
from players.puzzles.frontier.outcome import SearchLimits
from players.sorted_sets.files import LOCK, MANIFEST, OutOfRoomError, ScratchError, as_size, sealed
from players.sorted_sets.keys import Keys
from players.sorted_sets.runs import Run, RunWriter, coded
from players.sorted_sets.store import BlobStore, BlobWriter
from propnet.machine import PropnetMachine
from tests.examples import examples
from tests.machines import network
from tests.mutations import refusals
from tests.players.puzzles.frontier.far_tiles import far_tiles
from tests.players.sorted_sets import committing

RULES = "(role you)"


def append_all(writer: BlobWriter, blocks: Sequence[bytes]) -> None:
    for data in blocks:
        writer.append(data)


def filled(store: BlobStore, name: str, *blocks: bytes) -> None:
    writer = store.writer(name)
    append_all(writer, blocks)
    writer.close()


def reopened(
    scratch: Path, memory: int, disk: int | None = None, rules: str = ""
) -> tuple[BlobStore, dict[str, Any]]:
    """A store that goes on from the last commit in a directory, and the state that was committed."""
    store = BlobStore(memory, scratch, disk, rules)
    return store, store.state


steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.booleans(), st.lists(st.binary(max_size=300), max_size=6)),
        st.tuples(st.just("drop"), st.integers(0, 99), st.none()),
        st.tuples(st.just("spill"), st.integers(0, 2000), st.none()),
        st.tuples(st.just("commit"), st.integers(0, 2**64 - 1), st.none()),
        st.tuples(st.just("abandon"), st.booleans(), st.lists(st.binary(max_size=300), max_size=6)),
        st.tuples(st.just("reopen"), st.none(), st.none()),
    ),
    max_size=30,
)


@pytest.mark.slow
@examples(120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps, st.integers(0, 2500))
def test_it_is_a_dict_with_a_memory_of_its_commits(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[object, ...]], memory: int
) -> None:
    folder = tmp_path_factory.mktemp("scratch")
    store = BlobStore(memory, folder, rules=RULES)
    wanted: dict[str, list[bytes]] = {}
    committed: tuple[int, dict[str, list[bytes]]] | None = None
    for number, (kind, one, two) in enumerate(steps):
        if kind in ("write", "abandon"):
            assert isinstance(two, list)
            writer = store.writer(f"b{number}", cold=bool(one))
            assert [writer.append(data) for data in two] == list(range(len(two)))
            if kind == "abandon":
                writer.abandon()
                continue
            blob = writer.close()
            wanted[blob.name] = two
            assert list(blob.sizes) == list(map(len, two)) and blob.total == sum(map(len, two))
            assert blob.path is not None or not one or not two
        elif kind == "drop" and wanted:
            assert isinstance(one, int)
            name = sorted(wanted)[one % len(wanted)]
            store.blobs[name].drop()
            del wanted[name]
        elif kind == "spill":
            assert isinstance(one, int)
            before = store.room.used_memory
            assert store.spill(one) == before - store.room.used_memory
            assert store.room.used_memory <= one
        elif kind == "commit":
            assert isinstance(one, int)
            store.commit({"number": one}, store.blobs.values())
            committed = one, dict(wanted)
        elif kind == "reopen" and committed is not None:
            store.close()
            assert store.room.used_memory == 0
            store, state = reopened(folder, memory, rules=RULES)
            assert state == {"number": committed[0]}
            wanted = dict(committed[1])
            files = {path.name for path in folder.glob("*.blob")}
            assert files == {blob.path.name for blob in store.blobs.values() if blob.path}
        assert store.room.used_memory <= memory
        assert store.room.used_disk == sum(path.stat().st_size for path in folder.glob("*.blob"))
        found = {
            name: [blob.read(block) for block in range(len(blob.sizes))] for name, blob in store.blobs.items()
        }
        assert found == wanted
    store.erase()
    assert [path.name for path in folder.iterdir()] == [LOCK]
    assert store.room.used_disk == store.room.used_memory == 0


def test_memory_alone_is_bounded_and_the_error_says_what_to_do() -> None:
    store = BlobStore(10_000)
    filled(store, "whole", bytes(5000))
    writer = store.writer("much", cold=True)
    with pytest.raises(OutOfRoomError, match=r"9\.77K.*--memory.*--scratch"):
        append_all(writer, [bytes(1000)] * 10)
    assert store.room.used_memory <= 10_000
    assert store.spill(0) == 0
    store.commit({}, store.blobs.values())
    assert store.blobs["whole"].read(0) == bytes(5000)
    writer.abandon()
    assert store.room.used_memory < 5100


def test_the_disk_is_bounded_and_what_was_committed_stays(tmp_path: Path) -> None:
    store = BlobStore(0, tmp_path, 10_000, RULES)
    filled(store, "whole", bytes(5000))
    store.commit({"depth": 1}, store.blobs.values())
    with pytest.raises(OutOfRoomError, match=r"9\.77K.*--disk"):
        filled(store, "more", *[bytes(1000)] * 6)
    assert store.room.used_disk <= 10_000
    store.close()
    store, state = reopened(tmp_path, 0, rules=RULES)
    assert state == {"depth": 1} and store.room.used_disk == 5000
    assert store.blobs["whole"].read(0) == bytes(5000)
    store.close()


def test_a_full_disk_is_an_error_that_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = BlobStore(1 << 20, tmp_path, rules=RULES)
    filled(store, "first", b"abc" * 1000)
    store.commit({"depth": 1}, store.blobs.values())
    filled(store, "second", b"def" * 1000)
    written, plain = 0, os.pwrite

    def full(file: int, data: bytes, at: int) -> int:
        nonlocal written
        if written >= 2000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written += (done := plain(file, data[:1000], at))  # in parts, as a disk that is nearly full does
        return done

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        for attempt in (
            lambda: store.commit({"depth": 2}, store.blobs.values()),
            lambda: store.spill(0),
            lambda: store.writer("third", cold=True).append(bytes(5000)),
        ):
            with pytest.raises(OutOfRoomError, match=r"No space left.*the same command"):
                attempt()
    assert store.blobs["second"].read(0) == b"def" * 1000
    store.commit({"depth": 3}, store.blobs.values())
    store.close()
    store, state = reopened(tmp_path, 0, rules=RULES)
    assert state == {"depth": 3}
    assert store.blobs["second"].read(0) == b"def" * 1000
    store.close()


def test_a_manifest_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = BlobStore(0, tmp_path, rules=RULES)
    filled(store, "one", b"1")
    store.commit({"depth": 1}, store.blobs.values())
    store.blobs["one"].drop()
    filled(store, "two", b"2")

    def full(old: str, new: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OutOfRoomError, match="manifest"):
            store.commit({"depth": 2}, store.blobs.values())
    store.close()
    store, state = reopened(tmp_path, 0, rules=RULES)
    assert state == {"depth": 1} and store.blobs["one"].read(0) == b"1" and len(store.blobs) == 1
    store.close()


def committed(folder: Path) -> Path:
    """A directory with one commit; its blob's file."""
    store = BlobStore(0, folder, rules=RULES)
    filled(store, "layer", bytes(range(200)), b"x" * 300)
    store.commit({"depth": 7}, store.blobs.values())
    store.close()
    [file] = folder.glob("*.blob")
    return file


@pytest.mark.parametrize("at", [0, 199, 200, 499])
def test_a_byte_that_changed_is_found_when_it_is_read(tmp_path: Path, at: int) -> None:
    file = committed(tmp_path)
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)
    store, _ = reopened(tmp_path, 0, rules=RULES)
    store.blobs["layer"].read(0 if at >= 200 else 1)
    with pytest.raises(ScratchError, match=rf"{file.name} is damaged"):
        store.blobs["layer"].read(1 if at >= 200 else 0)
    store.close()


def test_files_that_are_shorter_or_gone_are_found_at_once(tmp_path: Path) -> None:
    file = committed(tmp_path)
    file.write_bytes(file.read_bytes()[:-1])
    for _ in range(2):
        with pytest.raises(ScratchError, match=rf"{file.name} is damaged"):
            reopened(tmp_path, 0, rules=RULES)
        file.unlink(missing_ok=True)


def test_a_manifest_that_changed_is_found(tmp_path: Path) -> None:
    committed(tmp_path)
    manifest = tmp_path / MANIFEST
    whole = manifest.read_bytes()
    damages = [whole[:size] for size in range(0, len(whole), 41)]
    damages += [whole.replace(b'"depth":7', b'"depth":8'), b"[]", b"7", whole + b"x"]
    for text in damages:
        manifest.write_bytes(text)
        with pytest.raises(ScratchError, match=r"manifest\.json is damaged"):
            reopened(tmp_path, 0, rules=RULES)
    manifest.write_bytes(whole.replace(b'"version":3', b'"version":4'))
    with pytest.raises(ScratchError, match="version 4 of the format"):
        reopened(tmp_path, 0, rules=RULES)
    manifest.write_bytes(whole)
    assert reopened(tmp_path, 0, rules=RULES)[1] == {"depth": 7}


def test_directories_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "one"
    committed(folder)
    with pytest.raises(ScratchError, match="other rules"):
        reopened(folder, 0, rules="(role me)")
    (tmp_path / "mine.txt").touch()
    with pytest.raises(ScratchError, match="not a scratch directory"):
        BlobStore(0, tmp_path, rules=RULES)
    with pytest.raises(ScratchError, match=r"Not a directory|File exists"):
        BlobStore(0, tmp_path / "mine.txt")
    assert {path.name for path in tmp_path.iterdir()} == {"new", "mine.txt"}


def test_a_search_that_committed_nothing_leaves_nothing_to_resume(tmp_path: Path) -> None:
    BlobStore(0, tmp_path, rules=RULES).close()
    (tmp_path / "remains-3.blob").write_bytes(b"x")
    store = BlobStore(0, tmp_path, rules=RULES)
    assert store.state == {}
    assert not list(tmp_path.glob("*.blob"))
    with pytest.raises(ScratchError, match=rf"process {os.getpid()} works in"):
        BlobStore(0, tmp_path, rules=RULES)
    store.close()


def test_threads_write_and_read_while_blobs_move(tmp_path: Path) -> None:
    store = BlobStore(60_000, tmp_path, rules=RULES)
    faults: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            for number in range(40):
                writer = store.writer(f"t{thread}-{number}", cold=number % 3 == 0)
                blocks = [bytes([thread, number, block]) * 300 for block in range(5)]
                for data in blocks:
                    writer.append(data)
                blob = writer.close()
                assert [blob.read(block) for block in range(5)] == blocks
                if number % 4 == 1:
                    blob.drop()
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        store.spill(20_000)
    assert not faults
    store.commit({}, store.blobs.values())
    assert store.room.used_disk == sum(path.stat().st_size for path in tmp_path.glob("*.blob"))
    assert store.room.used_memory == sum(
        blob.memory for blob in store.blobs.values() if blob.parts is not None
    )
    store.close()


def test_names_and_sizes() -> None:
    store = BlobStore(1000)
    writer = store.writer("a")
    for name in ("a", "../a", "", "a/b", ".a"):
        with pytest.raises(ValueError, match="blob"):
            store.writer(name)
    writer.close()
    with pytest.raises(ValueError, match="there is a blob"):
        store.writer("a")
    assert [as_size(size) for size in (5, 2048, 500 << 20, 20 << 30)] == ["5 bytes", "2K", "500M", "20G"]


# --- A process that is killed at any moment loses at most what it had not committed
def begin(scratch: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, committing.__file__, str(scratch)], stdout=subprocess.PIPE, text=True
    )


def test_what_was_committed_is_whole_after_each_of_20_kills(tmp_path: Path) -> None:
    randomness = random.Random(19)
    reached = 0
    for _ in range(20):
        process = begin(tmp_path)
        assert process.stdout is not None
        said = [process.stdout.readline()]
        time.sleep(randomness.uniform(0, 0.03))
        process.kill()
        said += process.stdout.readlines()
        process.wait()
        told = int([line for line in said if line.endswith("\n")][-1])
        store, state = reopened(tmp_path, 0, rules="(role you)")
        layer = state["layer"]
        assert layer in (told, told + 1) and layer > reached
        assert sorted(store.blobs) == state["names"]
        assert set(state["names"]) == {
            f"layer{number}" for number in range(1, layer + 1) if (number + 1) % 3 or number + 1 > layer
        }
        for name, blob in store.blobs.items():
            number = int(name.removeprefix("layer"))
            assert [blob.read(block) for block in range(3)] == [
                committing.content(number, block) for block in range(3)
            ]
        files = {blob.path.name for blob in store.blobs.values() if blob.path}
        assert {path.name for path in tmp_path.iterdir()} == files | {LOCK, MANIFEST}
        store.close()
        reached = layer


# --- Ctrl-C may come at any line of the storage: what was committed is whole, and nothing else goes wrong
def interrupting(line: int) -> Callable[[FrameType, str, object], Any]:
    """A trace that is Ctrl-C at so many lines of the storage."""
    lines = itertools.count(1)

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if Path(frame.f_code.co_filename).name not in ("files.py", "store.py"):
            return None
        source = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        # Signals are not looked at when a block of "with" ends: its line, traced again, is left out.
        if event == "line" and not source.lstrip().startswith("with ") and next(lines) == line:
            raise KeyboardInterrupt
        return trace

    return trace


@contextmanager
def interrupted(line: int) -> Iterator[None]:
    """Ctrl-C after so many lines of the storage, passed on unless work is over before."""
    traced = sys.gettrace()
    sys.settrace(interrupting(line))
    try:
        yield
    finally:
        sys.settrace(traced)


def test_ctrl_c_at_any_line_of_a_commit_leaves_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    found: list[int] = []
    for line in itertools.count(1):
        scratch = tmp_path / str(line)
        store = BlobStore(0, scratch, rules=RULES)
        filled(store, "one", b"1")
        store.commit({"depth": 1}, store.blobs.values())
        store.blobs["one"].drop()
        filled(store, "two", b"2")
        try:
            with interrupted(line):
                store.commit({"depth": 2}, store.blobs.values())
            break
        except KeyboardInterrupt:
            pass
        store.close()
        store, state = reopened(scratch, 0, rules=RULES)
        assert {blob.name: blob.read(0) for blob in store.blobs.values()} in ({"one": b"1"}, {"two": b"2"})
        assert len(store.blobs) == 1 and state == {"depth": 2 if "two" in store.blobs else 1}
        found.append(state["depth"])
        store.close()
    assert found == sorted(found) and set(found) == {1, 2}


@pytest.mark.parametrize("cold", [False, True])
def test_ctrl_c_at_any_line_of_a_writer_is_no_error_when_it_is_abandoned(tmp_path: Path, cold: bool) -> None:
    for line in itertools.count(1):
        store = BlobStore(100, tmp_path / str(line), rules=RULES)
        writer = store.writer("one", cold)
        try:
            with interrupted(line):
                append_all(writer, [b"1", b"2"])
                writer.close()
            break
        except KeyboardInterrupt:
            pass
        writer.abandon()
        store.close()
        BlobStore(100, tmp_path / str(line), rules=RULES).close()
    assert line > 20


# --- Checkpoints whose manifests have a right digest and wrong contents: refused, or gone on with
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
