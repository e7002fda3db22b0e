"""Notes of what is compiled lie beside the kernels, wherever numba keeps these, and are read without it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT

SAME = """
import sys
from players.processes.compiled_parts import is_compiled, folder_of_parts, note_compiled
ours = folder_of_parts()
before = is_compiled("some")
note_compiled("some")
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
    shutil.copytree(ROOT / "players" / "processes", tmp_path / "program/players/processes", ignore=unwanted)
    (tmp_path / "program/players/__init__.py").touch()
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
