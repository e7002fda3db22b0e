"""Files that survive a crash: the old one or the new one, damage found, earlier layouts still read."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.writing import NEW, digest_of, replace_file, sealed, unsealed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 80), 1 << 80) | st.floats(allow_nan=False) | st.text(),
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
