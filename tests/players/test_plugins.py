"""Plugins: ours are what pyproject.toml says, others come from installed packages, and none replaces ours."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest

from gdl.errors import GdlError
from players import plugins as module
from players import registry
from players.plugins import Kind, plugins
from players.registry import check_public, make_player
from tests.places import ROOT


def test_every_plugin_of_ours_can_be_loaded() -> None:
    for kind in get_args(Kind):
        for plugin in plugins(kind).values():
            assert plugin.load() is not None


def test_solvers_are_called_what_their_entry_points_are_called() -> None:
    assert {name: plugin.load().name for name, plugin in plugins("solvers").items()} == {
        name: name for name in plugins("solvers")
    }


def test_another_package_adds_a_player_and_replaces_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    other = SimpleNamespace(name="patient-players")
    points = [
        EntryPoint("patient", "players.baselines:LegalPlayer", "kaskade.players"),
        EntryPoint("random", "somewhere.evil:Player", "kaskade.players"),
    ]
    for point in points:
        object.__setattr__(point, "dist", other)
    monkeypatch.setattr(module, "entry_points", lambda group: points)
    plugins.cache_clear()
    try:
        found = plugins("players")
        assert found["patient"].load().__name__ == "LegalPlayer"
        assert found["random"].module == "players.baselines"
        assert found["random"].ours and not found["patient"].ours
        monkeypatch.setattr(registry, "_PLUGINS", found)
        assert make_player("patient").name == "legal"
        with pytest.raises(GdlError, match="'patient' is not offered here"):
            check_public("patient")
        check_public("patient", ["patient"])
    finally:
        monkeypatch.undo()
        plugins.cache_clear()


def test_without_a_checkout_the_installed_metadata_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "_of_checkout", lambda group: None)
    ours = SimpleNamespace(name="kaskade-ggp")
    point = EntryPoint("random", "players.baselines:RandomPlayer", "kaskade.players")
    object.__setattr__(point, "dist", ours)
    monkeypatch.setattr(module, "entry_points", lambda group: [point])
    plugins.cache_clear()
    try:
        assert list(plugins("players")) == ["random"]
    finally:
        monkeypatch.undo()
        plugins.cache_clear()


@pytest.mark.parametrize(
    ("door", "specialists"),
    [
        ("players.uct.player", ("players.puzzles", "players.belief", "players.strong", "players.openspiel")),
        ("players.solvers", ("players.puzzles", "players.uct")),
        ("players.registry", ("players.uct", "players.puzzles", "players.belief", "players.strong")),
    ],
)
def test_importing_the_core_brings_no_specialist(door: str, specialists: tuple[str, ...]) -> None:
    code = f"import sys, {door}; print([n for n in sys.modules if n.startswith({specialists!r})])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
