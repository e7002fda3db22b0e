"""What is read is what was written, under this name, by nobody else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from propnet.private_files import is_trusted, make_directory, read, write
from propnet.storage.file_store import FileStore
from tests.examples import examples

owners = pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files on this platform")


@examples(50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=100), st.integers(0, 200), st.integers(1, 255))
def test_a_file_with_one_byte_changed_is_not_whole(
    tmp_path: Path, content: bytes, place: int, flip: int
) -> None:
    path = tmp_path / "name"
    write(path, content)
    assert read(path, 1000) == content
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= flip
    path.write_bytes(data)
    with pytest.raises(ValueError, match="damaged"):
        read(path, 1000)


def test_a_file_counts_under_its_own_name_only(tmp_path: Path) -> None:
    write(tmp_path / "one", b"1")
    write(tmp_path / "two", b"2")
    (tmp_path / "one").replace(tmp_path / "two")
    with pytest.raises(ValueError, match="another name"):
        read(tmp_path / "two", 1000)
    assert FileStore(tmp_path, 1000).get("two") is None


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write(tmp_path / "folder", b"")
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


@owners
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o720, 0o702, 0o777, 0o1777])
def test_only_folders_that_nobody_else_writes_are_used(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "kept"
    store = FileStore(folder, 1000)
    assert store.put("name", b"code")
    folder.chmod(mode)
    assert is_trusted(folder) == (not mode & 0o22)
    assert store.get("name") == (b"code" if is_trusted(folder) else None)
    assert store.put("name", b"code") == is_trusted(folder)


@owners
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_only_files_that_nobody_else_writes_are_read_and_others_are_replaced(
    tmp_path: Path, mode: int
) -> None:
    store = FileStore(tmp_path, 1000)
    assert store.put("name", b"code")
    (tmp_path / "name").chmod(mode)
    assert store.get("name") is None
    assert store.put("name", b"code")
    assert store.get("name") == b"code"


@owners
def test_folders_and_files_of_strangers_are_not_used(tmp_path: Path) -> None:
    if os.getuid():
        pytest.skip("only root can give files away")
    store = FileStore(tmp_path / "kept", 1000)
    assert store.put("name", b"code")
    os.chown(tmp_path / "kept" / "name", 12345, 12345)
    assert store.get("name") is None
    assert store.put("name", b"code")
    os.chown(tmp_path / "kept", 12345, 12345)
    assert store.get("name") is None
    assert not store.put("name", b"code")


@owners
def test_whatever_the_umask_nobody_else_can_write_to_what_is_made(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_directory(tmp_path / "a" / "b", 0o777)
        write(tmp_path / "a" / "b" / "file", b"", 0o666)
    finally:
        os.umask(before)
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "a" / "b" / "file").stat().st_mode & 0o777 == 0o644
