"""Builders take turns: one builds what several want, and no more compile than there are processors."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from players.kaskade import stages
from players.kaskade.stages import BuildTurn, build_propnet
from tests.places import GAME_FILES

HOLD = """
import sys
from players.kaskade.stages import BuildTurn
turn = BuildTurn(sys.argv[1])
assert turn.come()
print("has it", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    monkeypatch.setattr(stages, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(stages, "PATIENCE_SECONDS", (600.0, 600.0))
    return tmp_path


def test_one_at_a_time_builds_a_thing_and_others_are_not_kept_waiting() -> None:
    with BuildTurn("chess") as first, BuildTurn("chess") as second, BuildTurn("checkers") as other:
        assert first.come()
        assert not second.come()
        assert other.come()
        assert first.come()
        first.__exit__()
        assert second.come()


@pytest.mark.parametrize("processors", [1, 2, 3])
def test_no_more_build_at_a_time_than_there_are_processors(processors: int) -> None:
    with ExitStack() as stack:
        several = [stack.enter_context(BuildTurn(f"{n}", range(processors))) for n in range(5)]
        assert [turn.come() for turn in several] == [n < processors for n in range(5)]
        several[0].__exit__()
        assert [turn.come() for turn in several[processors:]].count(True) == 1


def test_nobody_waits_for_ever_for_one_that_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    with BuildTurn("chess", range(1)) as first, BuildTurn("chess", range(1)) as second:
        assert first.come()
        monkeypatch.setattr(stages, "PATIENCE_SECONDS", (0.0, 0.0))
        assert second.come()


def test_the_turn_of_a_builder_that_is_killed_is_free() -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, "chess"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "has it\n"
    with BuildTurn("chess") as turn:
        assert not turn.come()
        holder.kill()
        holder.communicate()
        assert turn.come()


def test_without_a_folder_everybody_builds(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    (cache / "file").write_text("")
    monkeypatch.setenv("GGP_CACHE", str(cache / "file"))
    with BuildTurn("chess", range(1)) as first, BuildTurn("chess", range(1)) as second:
        assert first.come()
        assert second.come()


def _noting(built: list[object]) -> Callable[[object], bytes]:
    def network(rules: object) -> bytes:
        built.append(rules)
        return b"network"

    return network


def test_builders_of_the_same_rules_ground_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four matches of one game: the first builder builds, the others take what it has stored."""
    monkeypatch.setattr(stages, "KEEP_SECONDS", -1.0)
    built: list[object] = []
    monkeypatch.setattr(stages, "_network", _noting(built))
    text = (GAME_FILES["tictactoe"]).read_text()
    waits = threading.Event()

    class Watched(BuildTurn):
        def come(self) -> bool:
            mine = super().come()
            if not mine:
                waits.set()
            return mine

    monkeypatch.setattr(stages, "BuildTurn", Watched)
    first = build_propnet(text, b"")
    assert next(first) == b"network"
    others: list[bytes] = []
    second = threading.Thread(target=lambda: others.extend(build_propnet(text, b"")))
    second.start()
    assert waits.wait(60.0)
    assert list(first) == []
    second.join(60.0)
    assert others == [b"network"]
    assert len(built) == 1
