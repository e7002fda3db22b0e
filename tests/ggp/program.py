"""The program as people run it, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from ggp.cli import build
from tests.places import ROOT


def python(
    *words: str | Path, text: str = "", timeout: float = 300, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Python with these words, given ``text`` to read, and with more in its environment; what came of it."""
    return subprocess.run(
        [sys.executable, *words],
        input=text,
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT)} | os.environ | environment,
        check=False,
    )


def ggp(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """``ggp`` with these words, as ``python`` runs it."""
    return python("-m", "ggp", *words, **more)


def started(*words: str, **more: Any) -> subprocess.Popen[str]:
    """``ggp`` with these words, which goes on; its output is read from pipes if ``more`` names no other."""
    streams = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    place = {"cwd": ROOT, "env": {"PYTHONPATH": str(ROOT)} | os.environ}
    return subprocess.Popen([sys.executable, "-m", "ggp", *words], **{**streams, **place, **more})


def play(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return ggp("play", *words, text=text, timeout=120)


def invoke(command: str, *words: object) -> tuple[int, str]:
    """The exit status of a command in this process, and what it prints; its errors are raised."""
    done = CliRunner().invoke(build(command), [command, *map(str, words)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout
