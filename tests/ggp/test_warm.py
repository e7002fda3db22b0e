"""What is compiled when: by ``ggp warm``, in the first minute of a checkout; and how time is told."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from numba.core.caching import UserProvidedCacheLocator

from gdl.errors import GdlError
from ggp.game import Game
from ggp.stopwatch import Stopwatch
from ggp.warm import compile_all, warm_up
from players.kaskade.make_machine import make_machine
from players.puzzles.sokoban.deadsets import alive, minimal
from players.puzzles.sokoban.fess import search as fess_search
from players.puzzles.sokoban.search import backward
from players.puzzles.sokoban.solver import Sokoban
from players.uct.tree import backup, select
from players.warm_kernels import match_parts, parts_for
from propnet.jit.parts import Part
from propnet.kernels import playouts
from tests.ggp.program import python
from tests.ggp.program import python as runs
from tests.places import ROOT

MATCHES = """
import time
from numba.core import event

compiled = []

class Noter(event.Listener):
    def on_start(self, occurrence):
        compiled.append(occurrence.data["dispatcher"].py_func.__name__)
    def on_end(self, occurrence):
        pass

event.register("numba:compile", Noter())

from ggp.game import Game
from players.kaskade.kaskade import Kaskade
from players.kaskade.player import KaskadePlayer
from players.registry import make_player

for name in ("tictactoe", "knightstour", "rockpaperscissors"):
    for workers in (0, 1):
        game = Game.load(name)
        with Kaskade() as kaskade:
            kaskade.begin(game.text, game.rules)
            assert kaskade.wait("native")
            player = KaskadePlayer(make_player("uct", 1, workers=workers), kaskade)
            state = kaskade.best().initial_state()
            player.start(state.machine, 0, state, 1.0, time.monotonic() + 1.0)
            for _ in range(2):
                choice = player.choose(state, time.monotonic() + 0.5)
                machine = state.machine
                joint = [machine.legal_moves(state, role)[0] for role in range(len(machine.roles))]
                joint[0] = choice.move
                state = machine.next_state(state, joint)
                if machine.is_terminal(state):
                    break
            player.stop()

print("compiled:", *compiled)
"""


def kernel_folders() -> Iterator[tuple[str, str]]:
    """Of each folder with kernels a file in it, and where what is compiled of it is kept."""
    seen: set[Path] = set()
    for path in (*ROOT.glob("propnet/**/*.py"), *ROOT.glob("players/**/*.py")):
        if path.parent in seen or "\n@kernel" not in path.read_text():
            continue
        module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for one in vars(module).values():
            kept = getattr(getattr(one, "_cache", None), "cache_path", None)
            if kept and getattr(one, "__module__", "") == module.__name__:
                seen.add(path.parent)
                yield str(path), kept
                break


run = partial(python, COLUMNS="200")


@pytest.fixture(scope="module")
def _warm() -> None:
    """All is compiled."""
    assert run("-m", "ggp", "warm").returncode == 0


@pytest.mark.slow
@pytest.mark.usefixtures("_warm")
def test_a_second_run_compiles_nothing() -> None:
    done = run("-m", "ggp", "warm")
    assert done.returncode == 0
    assert "nothing was to be compiled" in done.stdout
    assert "nothing was to be compiled" in run("-m", "ggp", "warm").stdout


@pytest.mark.slow
@pytest.mark.usefixtures("_warm")
def test_matches_of_the_usual_player_compile_nothing_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In a copy: other tests may be compiling at the same time.
    for file, cache_path in kernel_folders():
        folder = UserProvidedCacheLocator.get_suitable_cache_subpath(file)
        shutil.copytree(cache_path, tmp_path / folder, ignore=shutil.ignore_patterns("*.pyc*"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
    assert before
    done = run("-c", MATCHES)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["compiled:"]
    # Nor have its processes.
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
    changed = [path.name for path in after if after[path] != before.get(path)]
    assert changed == []


@pytest.mark.slow
@pytest.mark.parametrize("how", ["print('why', file=sys.stderr); sys.exit(1)", "os.kill(os.getpid(), 9)"])
def test_what_cannot_be_compiled_is_told_and_not_raised(
    how: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(module: str, arguments: list[str], files: dict[int, int]) -> subprocess.Popen[bytes]:
        code = f"import os, sys; {how}"
        return subprocess.Popen([sys.executable, "-c", code], stdout=files[1], stderr=files[2])

    monkeypatch.setattr("ggp.warm.anew", fail)
    assert not compile_all("uct", 2)
    printed = capsys.readouterr().out
    assert "not everything could be compiled" in printed
    assert "why" in printed or "status -9" in printed
    assert "Traceback" not in printed


@pytest.mark.slow
def test_where_nothing_can_be_kept_it_says_so_at_once_and_compiles_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ggp.warm.folder_of_parts", lambda: None)
    monkeypatch.setattr("ggp.warm.anew", lambda *_: pytest.fail("a process was started"))
    with pytest.raises(GdlError, match="can be kept") as caught:
        compile_all("uct", 1)
    assert "$NUMBA_CACHE_DIR" in caught.value.remedy


def test_a_player_that_there_is_not_is_wrong_usage() -> None:
    done = run("-m", "ggp", "warm", "--player", "nobody")
    assert done.returncode == 2
    assert done.stderr.startswith("ggp: there is no player")


# --- What ``make play`` compiles on a fresh checkout: kernels are counted, since times differ
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


# --- Both times of a search are those of the same span
def test_the_time_before_counts_in_neither() -> None:
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
    watch = Stopwatch()
    assert re.fullmatch(r"0\.0\d CPU seconds, \d+\.\d\d s by the clock", str(watch))
    assert 0 <= watch.cpu < 0.3


def test_a_thread_uses_no_more_than_what_passes() -> None:
    watch = Stopwatch()
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    cpu = watch.cpu
    assert 0.04 < cpu <= watch.wall + 0.02
