"""Modules that load their names when they are first used show these names, and no others."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import ggp.adapters
from tests.places import ROOT, SOURCES, module_name


def functions(path: Path) -> set[str]:
    return {
        node.name
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }


LAZY = [path for path in SOURCES if path.name == "__init__.py" and "__getattr__" in functions(path)]


def test_some_modules_are_lazy() -> None:
    assert {"ggp", "gdl", "ggp.adapters"} <= set(map(module_name, LAZY))


@pytest.mark.parametrize("path", LAZY, ids=module_name)
def test_a_lazy_module_shows_what_there_is_to_use_and_nothing_else(path: Path) -> None:
    module = importlib.import_module(module_name(path))
    names = dir(module)
    assert "__dir__" in functions(path)
    assert names == sorted(getattr(module, "__all__", names))
    assert all(hasattr(module, name) for name in names)


def test_help_shows_the_names_of_ggp() -> None:
    code = "import pydoc, ggp; print(pydoc.plain(pydoc.render_doc(ggp)))"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout
    assert all(f"    class {name}(" in shown for name in ("Choice", "Game", "Machine", "Player", "State"))
    assert "    load(source" in shown and "import_module" not in shown


@pytest.mark.parametrize("absent", ["pettingzoo", "pyspiel", "stable_baselines3"])
def test_a_star_brings_what_is_installed(absent: str) -> None:
    pytest.importorskip("gymnasium", reason="pip install 'kaskade-ggp[rl]'")
    code = f"import sys; sys.modules[{absent!r}] = None; from ggp.adapters import *; print(*dir())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert not done.stderr
    gone = {
        "pettingzoo": {"GdlAEC", "GdlParallel"},
        "pyspiel": {"load_gdl"},
        "stable_baselines3": {"GdlVecEnv", "make_sb3_vec"},
    }[absent]
    brought = {name for name in done.stdout.split() if not name.startswith("_")} - {"sys"}
    assert brought == set(ggp.adapters.__all__) - gone
