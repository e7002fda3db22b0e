"""Where tests find what is not theirs: the project's folders, and public games and levels beside it."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = "gdl", "propnet", "players", "ggp"
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
"""All files of our packages."""
GAMES = ROOT / "games"
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
