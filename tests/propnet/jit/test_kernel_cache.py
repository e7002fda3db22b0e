"""Kernels on disk: compiled by one of several processes, read where nothing can be written."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from propnet.jit import decorators
from tests.places import ROOT

KERNEL = """
import os, sys, tempfile
from numba.core import event

if "read-only" in sys.argv:
    def refused(*arguments, **options):
        raise OSError(30, "Read-only file system")
    tempfile.TemporaryFile = tempfile.NamedTemporaryFile = os.replace = refused

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

@kernel
def other(x):
    return x.sum() * 3

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
        stderr=(folder / "errors").open("w"),
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "NUMBA_CACHE_DIR": str(folder / "c"),
            "XDG_CACHE_HOME": str(folder / "user"),
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


@pytest.mark.slow
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


class Here:
    """Runs the kernels of the script in this process, as a new one would: what is compiled is forgotten."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.script = folder / "script.py"
        self.script.write_text(KERNEL)
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "c"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "user"))
        decorators._tell.cache_clear()

    def __call__(self, *names: str) -> tuple[list[float], int]:
        """What these kernels return, and how many of them were compiled."""
        text = KERNEL[KERNEL.index("from propnet") : KERNEL.index("class Counter")]
        text += KERNEL[KERNEL.index("@inner") : KERNEL.index("import numpy")]
        module: dict[str, Any] = {"__name__": "script"}
        exec(compile(text, str(self.script), "exec"), module)
        kernels = [module[name] for name in names or ("outer",)]
        results = [kernel(np.ones((3, 4))) for kernel in kernels]
        return results, sum(not kernel.stats.cache_hits for kernel in kernels)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(tmp_path, monkeypatch)


def files(folder: Path) -> list[Path]:
    """What is kept of the kernels of the script."""
    return sorted(folder.rglob("script.*.nb*"))


@pytest.mark.parametrize("read_only", [False, True])
def test_damaged_files_break_nothing_and_are_replaced_where_that_is_possible(
    here: Here, tmp_path: Path, read_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here() == ([24.0], 1)
    assert here() == ([24.0], 0)
    (kept,) = files(tmp_path / "c")
    whole = kept.read_bytes()
    gone = b"cgone.module\nClass\n."
    signed = hashlib.sha256(kept.name.encode() + b"\0" + gone).digest() + gone

    def refused(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    if read_only:
        for module, name in ((tempfile, "TemporaryFile"), (tempfile, "NamedTemporaryFile"), (os, "replace")):
            monkeypatch.setattr(module, name, refused)
    for damaged in (b"", whole[:40], whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1]), signed):
        kept.write_bytes(damaged)
        (kept.parent / f"{kept.name.split('.py')[0]}.py311.nbi").write_bytes(b"")  # numba's own index
        assert here() == ([24.0], 1)
        assert here() == ([24.0], int(read_only))


def test_a_kernel_under_the_name_of_another_is_not_run(here: Here, tmp_path: Path) -> None:
    assert here("outer", "other") == ([24.0, 36.0], 2)
    other, kept = files(tmp_path / "c")
    kept.write_bytes(other.read_bytes())
    assert here("outer", "other") == ([24.0, 36.0], 1)


def test_of_one_kernel_so_many_files_are_kept(here: Here, tmp_path: Path) -> None:
    assert here() == ([24.0], 1)
    (kept,) = files(tmp_path / "c")
    for number in range(30):
        old = kept.with_name(kept.name.replace(".nbc", f"{number}.nbc"))
        old.write_bytes(b"")
        os.utime(old, (number, number))
    kept.unlink()
    assert here() == ([24.0], 1)
    assert kept.exists()
    assert len(files(tmp_path / "c")) == 16


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files on this platform")
def test_where_others_can_write_no_kernel_is_loaded(
    here: Here, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert here() == ([24.0], 1)
    (kept,) = files(tmp_path / "c")
    kept.chmod(0o666)
    assert here() == ([24.0], 1)  # and replaced
    assert kept.stat().st_mode & 0o777 == 0o644
    assert here() == ([24.0], 0)
    assert not caplog.records
    kept.parent.chmod(0o777)
    assert here() == ([24.0], 1)
    assert ["$NUMBA_CACHE_DIR" in record.message for record in caplog.records] == [True], "said once"
    assert len(files(tmp_path)) == 2, "the other place is beside the script"
    for folder in tmp_path.rglob("__pycache__"):
        folder.chmod(0o777)
    assert here() == ([24.0], 1)
    assert here() == ([24.0], 0)
    assert len(files(tmp_path / "user")) == 1


def test_without_any_place_for_them_kernels_are_compiled_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("a file, where the folder should be\n")
    assert end(begin(tmp_path, "read-only")) == (24.0, 1)
