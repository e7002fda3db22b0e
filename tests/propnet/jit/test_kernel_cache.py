"""Kernels on disk: compiled again when needed, by one of several processes, in parts side by side."""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from propnet.jit import decorators
from propnet.jit.decorators import _imported, checksum, kernel
from propnet.jit.parts import compile_together, folder_of_parts, missing, program_stamp
from propnet.storage.process_lock import ProcessLock
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
print(outer(np.ones((3, 4))), Counter.count, int("numba.np.polynomial" in sys.modules))
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


def end(process: subprocess.Popen[str]) -> tuple[float, int, bool]:
    """The result, how many kernels were compiled, and whether all that compiling needs was loaded."""
    out, _ = process.communicate("\n")
    assert process.returncode == 0
    value, count, loaded = out.split()
    return float(value), int(count), loaded == "1"


@pytest.mark.slow
def test_of_processes_that_need_a_kernel_at_the_same_time_one_compiles_it(tmp_path: Path) -> None:
    processes = [begin(tmp_path) for _ in range(3)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    results = [end(process) for process in processes]
    assert [value for value, _, _ in results] == [24.0] * 3
    assert sum(count for _, count, _ in results) == 1


def test_a_cache_that_can_only_be_read_is_read(tmp_path: Path) -> None:
    assert end(begin(tmp_path))[:2] == (24.0, 1)
    assert end(begin(tmp_path, "read-only"))[:2] == (24.0, 0)


def test_a_process_that_reads_its_kernels_does_not_load_what_compiling_needs(tmp_path: Path) -> None:
    assert end(begin(tmp_path)) == (24.0, 1, True)
    assert end(begin(tmp_path)) == (24.0, 0, False)


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
    assert end(begin(tmp_path, "read-only"))[:2] == (24.0, 1)


# --- Kernels on disk are compiled again when a file of those that they call changes
INNER = "from numba import njit\n\n@njit\ndef inner(x):\n    return x + {number}\n"
OUTER = """
from propnet.jit.decorators import kernel
from inside import inner

@kernel
def outer(x):
    return inner(x)

print(outer(1), sum(outer.stats.cache_hits.values()))
"""


def run(folder: Path) -> list[int]:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import outside", str(folder)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return [int(word) for word in done.stdout.split()]


@pytest.mark.slow
def test_a_kernel_is_compiled_anew_when_one_that_it_calls_has_changed(tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text(OUTER)
    (tmp_path / "inside.py").write_text(INNER.format(number=1))
    assert run(tmp_path) == [2, 0]
    assert run(tmp_path) == [2, 1]
    (tmp_path / "inside.py").write_text(INNER.format(number=20))
    assert run(tmp_path) == [21, 0]


@pytest.mark.slow
def test_a_kernel_is_compiled_anew_when_one_in_another_folder_has_changed(tmp_path: Path) -> None:
    deep = tmp_path / "house" / "floor" / "room"
    deep.mkdir(parents=True)
    for folder in (deep, *deep.parents[:2]):
        (folder / "__init__.py").write_text("")
    (tmp_path / "outside.py").write_text(OUTER.replace("from inside", "from house.floor.between"))
    (deep.parent / "between.py").write_text("from house.floor.room.inside import (\n    inner,\n)\n")
    (deep / "inside.py").write_text(INNER.format(number=1))
    assert run(tmp_path) == [2, 0]
    assert run(tmp_path) == [2, 1]
    (deep / "inside.py").write_text(INNER.format(number=20))
    assert run(tmp_path) == [21, 0]


def test_the_checksum_is_of_what_a_module_imports_and_of_nothing_else(tmp_path: Path) -> None:
    def sum_now() -> str:
        checksum.cache_clear()
        _imported.cache_clear()
        return checksum(tmp_path / "one.py")

    (tmp_path / "one.py").write_text("import numba\nfrom inside import CONSTANT\n")
    (tmp_path / "inside.py").write_text("CONSTANT = 1\n")
    first = sum_now()
    (tmp_path / "two.py").write_text("import numba\n")
    assert sum_now() == first
    (tmp_path / "inside.py").write_text("CONSTANT = 2\n")
    assert sum_now() != first


def test_what_the_kernels_of_this_house_import_is_followed() -> None:
    root = ROOT
    kernels = [path for path in root.glob("p*/**/*.py") if "@kernel" in path.read_text()]
    assert len(kernels) > 10
    for path in kernels:
        imported = {
            node.module
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("propnet", "players"))
        }
        files = {
            ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            for file in _imported(path, (root,))
        }
        assert imported <= files


def test_a_function_that_encloses_values_is_refused() -> None:
    value = 3
    with pytest.raises(ValueError, match="enclose"):
        kernel(lambda x: x + value)


# --- Parts that are compiled side by side
SAME = """
import sys
from propnet.jit.parts import _note, folder_of_parts, is_compiled
ours = folder_of_parts()
before = is_compiled("some")
_note(ours, "some")
after = is_compiled("some")
assert not {"numba", "llvmlite"} & set(sys.modules)
from propnet.kernels.playouts import playouts
print(str(ours) == playouts._cache.cache_path, before, after, ours)
"""


def told(folder: Path, **environment: str) -> list[str]:
    """Whether both name one folder, whether a part was compiled before and after its note, and the folder."""
    usual = {name: text for name, text in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-B", "-c", SAME],
        cwd=folder,
        env={**usual, "PYTHONPATH": str(folder), **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().split(maxsplit=3)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A copy of what kernels need, in which nothing is compiled."""
    unwanted = shutil.ignore_patterns("__pycache__")
    for package in ("gdl", "propnet"):
        shutil.copytree(ROOT / package, tmp_path / "program" / package, ignore=unwanted)
    return tmp_path / "program"


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("as usual", "program/propnet/kernels/__pycache__"),
        ("a folder that is chosen", "chosen/kernels_"),
        ("a folder to which others can write", "program/propnet/kernels/__pycache__"),
        ("a program that can only be read", "home/kaskade-ggp/kernels/kernels_"),
    ],
)
def test_notes_lie_beside_the_kernels(where: str, found: str, program: Path, tmp_path: Path) -> None:
    environment = {"XDG_CACHE_HOME": f"{tmp_path}/home"}
    if "folder" in where:
        environment = {"NUMBA_CACHE_DIR": f"{tmp_path}/chosen"}
    if "others" in where:
        Path(told(program, **environment)[3]).chmod(0o777)
    if "read" in where:  # not even root can make a folder of that name
        (program / "propnet" / "kernels" / "__pycache__").touch()
    same, before, after, folder = told(program, **environment)
    assert (same, before, after) == ("True", "False", "True")
    assert folder.startswith(f"{tmp_path}/{found}")


def test_a_part_that_another_process_has_taken_is_left_for_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    done: list[str] = []
    parts = [(name, lambda name=name: done.append(name)) for name in "abc"]
    folder = folder_of_parts()
    assert folder is not None and folder.is_relative_to(tmp_path)
    theirs = ProcessLock(f"{folder}/part-a.lock")
    assert theirs.take(0.0)
    compile_together(parts)
    assert done == ["b", "c", "a"]
    theirs.leave()


def test_a_part_is_missing_until_it_was_compiled_and_again_for_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    version = ["before"]
    monkeypatch.setattr("propnet.jit.parts._processor", lambda: list(version))
    program_stamp.cache_clear()
    parts = [("a", lambda: version.append("changed")), ("b", lambda: None)]
    assert missing(parts) == parts
    compile_together(parts[:1])
    assert missing(parts) == parts[1:]  # the note is of the program that was there when compiling began
    program_stamp.cache_clear()  # another process, which sees the changed program
    assert missing(parts) == parts
    compile_together(parts)
    assert missing(parts) == []
    assert len(list(tmp_path.rglob("part-b.*.done"))) == 1
    monkeypatch.undo()
    program_stamp.cache_clear()
