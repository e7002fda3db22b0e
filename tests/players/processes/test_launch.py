"""A process at the other end of a socket has what it was given; nothing stays open where there is none."""

from __future__ import annotations

import os
import sys

import pytest

from players.processes import launch
from players.processes.lines import shared_bytes
from tests.players.processes import fork_jobs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def _open() -> set[int]:
    """The descriptors of this process; that of the list itself is closed by now."""
    return {int(name) for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")}


def test_a_process_at_the_other_end_of_a_socket_has_the_files_and_the_words_that_it_was_given() -> None:
    before = _open()
    # It stands at its end: whoever reads it has to go back.
    ours, process = launch.launch_linked(fork_jobs.__name__, [shared_bytes(b"abc")], ["def"])
    with ours, ours.makefile("rb") as told:
        assert told.read() == b"abcdef"
    assert process.wait(60) == 0
    assert _open() - before <= set(launch.lifeline._pipe)


def test_where_there_are_no_more_processes_files_and_socket_are_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(11, "no more processes")

    monkeypatch.setattr(launch, "launch", refused)
    before = _open()
    with pytest.raises(OSError, match="no more processes"):
        launch.launch_linked(fork_jobs.__name__, [shared_bytes(b"abc"), shared_bytes(b"def")])
    assert _open() == before
