"""The program as people run it, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.places import ROOT


def ggp(
    *words: str, text: str = "", timeout: float = 300, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """``ggp`` with these words, given ``text`` to read, and with more in its environment; what came of it."""
    return subprocess.run(
        [sys.executable, "-m", "ggp", *words],
        input=text,
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=cwd,
        env=os.environ | environment,
        check=False,
    )
