"""Files that others name: regular ones are read as far as is of use, all others are refused at once."""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from gdl.errors import FileError, MissingFileError
from gdl.reading import open_regular, read_limited
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
