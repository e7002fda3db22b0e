"""Where tests find what is not theirs: the project's folders, and public games and levels beside it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import zlib
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = "gdl", "propnet", "players", "ggp"
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
"""All files of our packages."""
GAMES = ROOT / "games"


def _commit() -> int:
    """The number of the commit that is tested; 0 if there is none."""
    told = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return int(told.stdout or "0", 16)


GAME_FILES = {path.stem: path for path in sorted(GAMES.rglob("*.kif"), key=lambda path: path.stem)}
"""The files of our games by their names."""
_TURN = _commit() % 3
_LATER = {game for game in GAME_FILES if zlib.crc32(game.encode()) % 3 != _TURN}


def in_turn(games: Iterable[Any]) -> list[Any]:
    """Parameters of a test that goes through the games, given by name, file or trace: they are marked slow,
    but for a third of them that changes with the commit."""
    return [pytest.param(one, marks=pytest.mark.slow) if _name(one) in _LATER else one for one in games]


def _name(game: Any) -> str:
    return game if isinstance(game, str) else game.stem if isinstance(game, Path) else game.name


CORPUS = Path(os.environ.get("GGP_CORPUS", ROOT.parent / "shared" / "corpus"))
"""Its ``games/`` are public ones, its ``traces/`` what they did elsewhere. It may be absent."""
LEVELS = CORPUS.resolve().parent / "levels"
"""Public levels of Sokoban. They may be absent."""


def module_name(path: Path) -> str:
    """The name of the module of one of :data:`SOURCES`."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def script(path: Path) -> ModuleType:
    """A script outside the packages, as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded
