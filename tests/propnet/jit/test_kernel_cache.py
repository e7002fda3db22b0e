"""Kernels on disk: compiled by one of several processes, read where nothing can be written."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

from propnet.jit.kernel_cache import Lock

ROOT = Path(__file__).parents[3]

KERNEL = """
import sys, tempfile
from numba.core import event

if "read-only" in sys.argv:
    def refused(*arguments, **options):
        raise OSError(30, "Read-only file system")
    tempfile.TemporaryFile = refused

from propnet.jit.decorators import inner, kernel

class Counter(event.Listener):
    count = 0
    def on_start(self, event):
        Counter.count += event.data["dispatcher"].py_func.__name__ == "outer"
    def on_end(self, event):
        pass

event.register("numba:compile", Counter())

@inner
def within(x):
    return x * 2

@kernel
def outer(x):
    total = 0
    for row in x:
        total += within(row.sum())
    return total

import numpy as np
print("begins", flush=True)
sys.stdin.readline()
print(outer(np.ones((3, 4))), Counter.count)
"""


def begin(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    script = folder / "script.py"
    script.write_text(KERNEL)
    process = subprocess.Popen(
        [sys.executable, "-B", str(script), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[3]),
            "NUMBA_CACHE_DIR": str(folder / "c"),
        },
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begins\n"
    return process


def end(process: subprocess.Popen[str]) -> tuple[float, int]:
    out, _ = process.communicate("\n")
    assert process.returncode == 0
    value, count = out.split()
    return float(value), int(count)


def test_of_processes_that_need_a_kernel_at_the_same_time_one_compiles_it(tmp_path: Path) -> None:
    processes = [begin(tmp_path) for _ in range(3)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    results = [end(process) for process in processes]
    assert [value for value, _ in results] == [24.0] * 3
    assert sum(count for _, count in results) == 1


def test_a_cache_that_can_only_be_read_is_read(tmp_path: Path) -> None:
    assert end(begin(tmp_path)) == (24.0, 1)
    assert end(begin(tmp_path, "read-only")) == (24.0, 0)


def test_an_index_that_names_what_is_gone_is_made_anew(tmp_path: Path) -> None:
    assert end(begin(tmp_path)) == (24.0, 1)
    (index,) = (tmp_path / "c").rglob("script.outer*.nbi")
    version = pickle.loads(index.read_bytes())  # the first of two pickles in the file
    index.write_bytes(pickle.dumps(version) + b"cgone.module\nClass\n.")
    assert end(begin(tmp_path)) == (24.0, 1)
    assert end(begin(tmp_path)) == (24.0, 0)


def test_without_any_place_for_them_kernels_are_compiled_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("a file, where the folder should be\n")
    assert end(begin(tmp_path, "read-only")) == (24.0, 1)


def test_a_lock_is_had_by_one_and_waited_for_no_longer_than_said(tmp_path: Path) -> None:
    one, other = Lock(str(tmp_path / "lock")), Lock(str(tmp_path / "lock"))
    assert one.take()
    assert one.take()
    assert not other.take(0.0)
    assert not other.take(0.1)
    freed = threading.Timer(0.2, one.leave)
    freed.start()
    assert other.take()
    freed.join()
    other.leave()
    assert one.take(0.0)
    one.leave()


def test_where_there_can_be_no_lock_nobody_waits(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "no" / "lock")
    assert Lock(nowhere).take()
    assert Lock(nowhere).take()
