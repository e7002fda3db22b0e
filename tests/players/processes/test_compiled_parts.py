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


def test_notes_lie_beside_the_kernels_where_these_are_kept_in_the_program(program: Path) -> None:
    assert told(program) == ["True", "False", "True", f"{program}/propnet/kernels/__pycache__"]


@pytest.mark.slow
def test_notes_follow_the_kernels_to_the_folder_that_is_chosen(program: Path, tmp_path: Path) -> None:
    same, before, after, folder = told(program, NUMBA_CACHE_DIR=f"{tmp_path}/chosen")
    assert (same, before, after) == ("True", "False", "True")
    assert folder.startswith(f"{tmp_path}/chosen/kernels_")


def test_notes_stay_out_of_a_folder_to_which_others_can_write(program: Path, tmp_path: Path) -> None:
    chosen = told(program, NUMBA_CACHE_DIR=f"{tmp_path}/chosen")[3]
    Path(chosen).chmod(0o777)
    same, before, after, folder = told(program, NUMBA_CACHE_DIR=f"{tmp_path}/chosen")
    assert (same, before, after) == ("True", "False", "True")
    assert folder == f"{program}/propnet/kernels/__pycache__"


def test_notes_go_to_the_user_s_folder_where_the_program_can_only_be_read(
    program: Path, tmp_path: Path
) -> None:
    (program / "propnet" / "kernels" / "__pycache__").touch()  # not even root can make a folder of that name
    same, before, after, folder = told(program, XDG_CACHE_HOME=f"{tmp_path}/home")
    assert (same, before, after) == ("True", "False", "True")
    assert folder.startswith(f"{tmp_path}/home/kaskade-ggp/kernels/kernels_")
