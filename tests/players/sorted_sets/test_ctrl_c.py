"""Ctrl-C may come at any line of the storage: what was committed is whole, and nothing else goes wrong."""

from __future__ import annotations

import itertools
import linecache
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from players.sorted_sets.store import BlobStore
from tests.players.sorted_sets.filling import RULES, append_all, filled, reopened


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
