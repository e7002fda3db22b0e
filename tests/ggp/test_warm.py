"""``ggp warm``: afterwards nothing is left to be compiled, in no process of a match."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from numba.core.caching import UserProvidedCacheLocator

from gdl.errors import GdlError
from ggp.warm import compile_all
from tests.ggp.program import python
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
