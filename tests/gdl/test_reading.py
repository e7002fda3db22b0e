"""Files that others name are read as far as is of use; files that we write survive a crash."""

from __future__ import annotations

import errno
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from gdl.errors import FileError, MissingFileError
from gdl.reading import open_regular, read_limited
from gdl.writing import NEW, digest_of, replace_file, sealed, unsealed
from tests.examples import examples


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def terminal(path: Path) -> None:
    path.symlink_to("/dev/ptmx")


def service(path: Path) -> None:
    here = os.getcwd()
    try:  # such names have at most 107 bytes
        os.chdir(path.parent)
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


def folder(path: Path) -> None:
    path.mkdir()


def missing(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def circle(path: Path) -> None:
    path.symlink_to(path)


def huge(path: Path) -> None:
    """Two terabytes, all of them a hole."""
    with path.open("wb") as file:
        file.truncate(1 << 41)


ODD: list[Callable[[Path], None]] = [fifo, endless, terminal, service, folder, missing, circle, huge]
"""Make something odd at a path."""


@pytest.mark.parametrize("make", ODD)
def test_what_is_no_file_is_refused_at_once(make: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "odd"
    make(path)
    with pytest.raises(FileError, match=r"^cannot read .*odd: ") as caught:
        read_limited(path, 1000, "name another")
    assert "\n" not in str(caught.value) and str(caught.value).endswith(")")
    assert isinstance(caught.value, MissingFileError) == (make is missing)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "", "\ud800"])
def test_names_that_no_file_has_are_told_like_others(name: str) -> None:
    with pytest.raises(FileError, match=r"^cannot read ") as caught:
        read_limited(name, 1000)
    assert "\n" not in str(caught.value)
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), FileError)


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(size=st.integers(0, 40), most=st.integers(0, 40))
def test_as_many_bytes_are_read_as_may_be(tmp_path: Path, size: int, most: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(range(size)))
    if size <= most:
        assert read_limited(path, most) == bytes(range(size))
    else:
        with pytest.raises(FileError, match=f"is larger than {most} bytes"):
            read_limited(path, most)


@pytest.mark.skipif(os.getuid() == 0, reason="root may read all")
def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch(0)
    with pytest.raises(FileError, match="you may not read it"):
        read_limited(path, 1)


def test_links_to_files_are_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    with open_regular(tmp_path / "link") as file:
        assert file.read() == b"x"


# --- Files that survive a crash: the old one or the new one, damage found, earlier layouts still read
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 80), 1 << 80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
BODIES = st.dictionaries(st.text(), JSON, max_size=4)


@given(BODIES, st.dictionaries(st.sampled_from(["format", "version"]), st.integers(0, 9)))
def test_what_was_sealed_comes_back_with_its_head(body: dict[str, Any], head: dict[str, int]) -> None:
    assert unsealed(sealed(body, **head)) == (head, body)


@given(BODIES, st.data())
def test_a_byte_that_changed_or_is_missing_is_found(body: dict[str, Any], data: st.DataObject) -> None:
    whole = sealed(body, version=1)
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
    for damaged in (changed, whole[:at]):
        try:
            head, found = unsealed(damaged)
        except ValueError:
            continue
        # Only what stands beside the body may have changed: its owner looks at it.
        assert found == body and head != {"version": 1}


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"7", b'{"body": {}}', b"[" * 100_000, b"\xff", b'{"digest": 1}']
)
def test_what_was_never_sealed_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        unsealed(data)


def test_the_layouts_of_earlier_releases_are_read() -> None:
    body = {"b": [1, 2.5], "a": {"z": "é", "c": None}}
    by_order = orjson.dumps(body)
    tables = orjson.dumps({"digest": digest_of(by_order), "body": body}, option=orjson.OPT_INDENT_2)
    assert unsealed(tables) == ({}, body)
    by_key = orjson.dumps(body, option=orjson.OPT_SORT_KEYS)
    checkpoint = {"format": "f", "version": 1, "digest": digest_of(by_key), "body": body}
    assert unsealed(orjson.dumps(checkpoint)) == ({"format": "f", "version": 1}, body)
    saved = {"search": {"count": 1 << 90}, "told": {}}
    assert unsealed(json.dumps(saved).encode(), bare="search") == ({}, saved)
    with pytest.raises(ValueError, match="digest"):
        unsealed(json.dumps(saved).encode())


def test_a_file_that_cannot_be_finished_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    replace_file(path, b"old")

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_a_link_is_replaced_and_its_target_stays(tmp_path: Path) -> None:
    mine, path = tmp_path / "mine", tmp_path / "file"
    mine.write_bytes(b"mine")
    path.symlink_to(mine)
    replace_file(path, b"new", mode=0o640)
    assert not path.is_symlink() and path.read_bytes() == b"new" and path.stat().st_mode & 0o777 == 0o640
    assert mine.read_bytes() == b"mine"


WRITER = """
import sys
from pathlib import Path
from gdl.writing import replace_file
number = 0
while True:
    replace_file(Path(sys.argv[1]), bytes([number % 256]) * 100_000, lasting=False)
    number += 1
    if number == 3:
        print(flush=True)
"""


def test_readers_and_killed_writers_see_whole_files_only(tmp_path: Path) -> None:
    path = tmp_path / "file"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) for _ in range(2)
    ]
    try:
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        for number in range(300):
            data = path.read_bytes()
            assert len(data) == 100_000 and len(set(data)) == 1
            if number == 150:
                writers[0].send_signal(signal.SIGKILL)
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
            assert writer.stdout is not None
            writer.stdout.close()
    assert all(entry == path or entry.name.startswith(NEW) for entry in tmp_path.iterdir())
