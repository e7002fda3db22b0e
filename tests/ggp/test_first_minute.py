"""What ``make play`` compiles on a fresh checkout: kernels are counted, since times differ."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from ggp.game import Game
from ggp.warm import warm_up
from players.kaskade.make_machine import make_machine
from players.puzzles.sokoban.deadsets import alive, minimal
from players.puzzles.sokoban.fess import search as fess_search
from players.puzzles.sokoban.search import backward
from players.puzzles.sokoban.solver import Sokoban
from players.uct.tree import backup, select
from players.warm_kernels import match_parts, parts_for
from propnet.jit.parts import Part
from propnet.kernels import playouts
from tests.ggp.program import python as runs

MOST_KERNELS = 18
"""That ``ggp play sokoban`` may compile."""


def kernels(folder: Path) -> set[str]:
    """``module.function`` of what is compiled below a folder."""
    return {path.name.split("-")[0] for path in folder.rglob("*.nbc")}


def played(game: str, folder: Path, *options: str, option: str = "-P") -> subprocess.CompletedProcess[str]:
    """``ggp play`` where nothing is compiled; ``option`` is one of Python."""
    places = {"NUMBA_CACHE_DIR": str(folder / "kernels"), "GGP_CACHE": str(folder / "games")}
    for place in places.values():
        Path(place).mkdir(mode=0o700)
    return runs(option, "-m", "ggp", "play", game, *options, **places)


@pytest.mark.slow
def test_a_match_between_searches_begins_before_its_kernels_are_compiled(tmp_path: Path) -> None:
    done = played("tictactoe", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "until then montecarlo moves in its place" in done.stdout
    assert "step 1:" in done.stdout and "result: x (uct)" in done.stdout


def test_the_first_move_of_such_a_match_waits_for_no_import_of_numba(tmp_path: Path) -> None:
    done = played("tictactoe", tmp_path, "--players", "uct,uct", "--max-steps", "2", option="-Ximporttime")
    assert done.returncode == 0, done.stderr
    assert "step 2:" in done.stdout
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "ggp.terminal.setup" in imported
    assert not {name for name in imported if name.partition(".")[0] in ("numba", "llvmlite")}


@pytest.mark.slow
def test_the_first_game_compiles_few_kernels_and_none_of_the_tree(tmp_path: Path) -> None:
    done = played("sokoban", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "compiling what this match needs, once" in done.stdout
    assert "result: keeper (uct) 100" in done.stdout
    compiled = kernels(tmp_path / "kernels")
    # Of a search that a level as easy needs not, of the tree, of dead sets.
    costly = fess_search.run, playouts.playouts, backup.back_up, select.select
    after = alive._spread, minimal._box_sets
    names = {f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}" for kernel in (*costly, *after)}
    assert not compiled & names
    assert 10 < len(compiled) <= MOST_KERNELS


def test_a_match_has_the_parts_compiled_that_its_players_use() -> None:
    def names(game: str, *players: str) -> set[str]:
        machine = make_machine(Game.load(game).rules, "propnet")
        return {name for name, _ in match_parts(machine, players)}

    network = {"evaluate", "states"}
    assert names("tictactoe", "human", "random") == network
    assert names("tictactoe", "montecarlo") == network | {"root", "playouts"}
    assert {"tree-up", "tree-down"} <= names("tictactoe", "uct:playouts=9")
    first = {"sokoban-searches", "sokoban-rooms", "sokoban-optimizer"}
    assert names("sokoban", "uct") == network | {"root"} | first
    knights = names("knightstour", "uct")
    assert not any(name.startswith("sokoban-") for name in knights)


def test_what_ggp_warm_has_compiled_no_match_finds_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: set[str] = set()

    def compile_together(parts: Sequence[Part]) -> None:
        compiled.update(name for name, _ in parts)

    monkeypatch.setattr("ggp.warm.compile_together", compile_together)
    monkeypatch.setattr("ggp.warm._play", lambda *_: None)
    warm_up("uct", "auto")
    assert {name for name, _ in parts_for(["uct"])} <= compiled
    for game in ("sokoban", "knightstour", "hanoi"):
        machine = make_machine(Game.load(game).rules, "propnet")
        assert {name for name, _ in match_parts(machine, ["uct"])} <= compiled
    assert "sokoban-dead-sets" in compiled


def test_an_easy_level_s_searches_are_loaded_before_its_match() -> None:
    dict(Sokoban.warm_up_parts(lambda: None))["sokoban-searches"]()
    assert backward._add_root.signatures and backward._search.signatures
