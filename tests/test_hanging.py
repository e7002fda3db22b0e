"""A test that hangs says where, one that ends its process fails alone, and all others are run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT

FILES = {
    "hangs": ["def test_first(): pass", "def test_hangs(): time.sleep(600)", "def test_last(): pass"],
    "ends": ["def test_first(): pass", "def test_ends(): os._exit(1)"],
    "passes": ["def test_first(): pass", "def test_second(): time.sleep(1)", "def test_third(): pass"],
}


@pytest.mark.slow
def test_what_hangs_and_what_ends_its_process_fails_once_and_the_rest_is_run(tmp_path: Path) -> None:
    for name, tests in FILES.items():
        (tmp_path / f"test_it_{name}.py").write_text("\n".join(["import os, time", *tests]))
    options = ["-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest", "-o", "faulthandler_timeout=5"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", *options, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "2 failed, 6 passed" in run.stdout, run.stdout
    assert "crashed while running" in run.stdout and "in test_hangs" in run.stderr
