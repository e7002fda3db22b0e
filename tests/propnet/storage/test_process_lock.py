"""A lock that one process at a time has."""

from __future__ import annotations

import threading
from pathlib import Path

from propnet.storage.process_lock import ProcessLock


def test_a_lock_is_had_by_one_and_waited_for_no_longer_than_said(tmp_path: Path) -> None:
    one, other = ProcessLock(str(tmp_path / "lock")), ProcessLock(str(tmp_path / "lock"))
    assert one.take()
    assert one.take() and one.locked
    assert not other.take(0.0) and not other.locked
    assert not other.take(0.1)
    freed = threading.Timer(0.2, one.leave)
    freed.start()
    assert other.take()
    freed.join()
    other.leave()
    assert one.take(0.0)
    one.leave()
    assert not one.locked


def test_where_there_can_be_no_lock_nobody_waits(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "no" / "lock")
    assert ProcessLock(nowhere).take()
    lock = ProcessLock(nowhere)
    assert lock.take() and not lock.locked
