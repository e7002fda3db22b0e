"""Fixtures that several packages share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.places import CORPUS, LEVELS


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiled games are kept for these tests only, in subprocesses too."""
    os.environ["GGP_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session", autouse=True)
def _heeds_ctrl_c() -> None:
    """What a script runs in the background ignores Ctrl-C, and so do its subprocesses; tests stop some so."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder with the public games (``games/``) and their traces (``traces/``)."""
    if not (CORPUS / "games").is_dir():
        pytest.skip(f"no corpus at {CORPUS}: set GGP_CORPUS")
    return CORPUS


@pytest.fixture(scope="session")
def corpus_games(corpus: Path) -> list[Path]:
    """The rules files of all public games, sorted by name."""
    return sorted((corpus / "games").glob("*.kif"))


@pytest.fixture(scope="session")
def levels() -> Path:
    """The folder with public levels of Sokoban, beside the corpus."""
    if not LEVELS.is_dir():
        pytest.skip(f"no levels at {LEVELS}: they are looked for beside $GGP_CORPUS")
    return LEVELS


@pytest.fixture(scope="session")
def microban(levels: Path) -> Path:
    """155 small levels that people made."""
    return levels / "Microban_I.xsb"
