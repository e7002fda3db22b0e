"""Parts that are compiled side by side: each once, those that others work on last. Notes of them lie beside
the kernels, wherever numba keeps these, and are read without it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from propnet.jit.parts import compile_together, folder_of_parts, missing, program_stamp
from propnet.storage.process_lock import ProcessLock
from tests.places import ROOT

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
