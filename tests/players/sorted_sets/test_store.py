"""Blobs come back as they went in, whatever moves where; budgets hold; what is damaged is said to be."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from players.sorted_sets.files import (
    LOCK,
    MANIFEST,
    OutOfRoomError,
    ScratchError,
    as_size,
)
from players.sorted_sets.store import BlobStore
from tests.examples import examples
from tests.players.sorted_sets.filling import RULES, append_all, filled, reopened

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
