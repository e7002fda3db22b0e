"""What a startclock teaches is tested before it is used, for one match, and only where that makes sense."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from players.knowledge.canonical_rules import canonical_names
from players.knowledge.knowledge import GameKnowledge, Record
from players.knowledge.store import KnowledgeStore
from players.knowledge.training import Training
from players.uct import player as player_module
from players.uct.player import UctPlayer
from players.uct.training import duel, startclock
from players.uct.training.duel import Series
from players.uct.training.startclock import learn_apart
from players.uct.tuning import Tuning
from propnet.machine import PropnetMachine
from tests.machines import network


@pytest.fixture(autouse=True)
def _short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(player_module, "_LEAST_STARTCLOCK", 0.01)
    monkeypatch.setattr(player_module, "_SEARCHED", 0.1)


def _player(asked: list[object], monkeypatch: pytest.MonkeyPatch, **options: object) -> UctPlayer:
    """A player whose requests for lessons are noted."""
    monkeypatch.setattr(player_module, "learn_apart", lambda *given: asked.append(given))
    return UctPlayer(**options)  # type: ignore[arg-type]


def _start(player: UctPlayer, machine: PropnetMachine, seconds: float = 1.0) -> None:
    player.start(machine, 0, machine.initial_state(), seconds, time.monotonic() + seconds)


@pytest.mark.parametrize("game", ["lightsout", "tictactoe"])
def test_one_role_and_what_a_search_proves_at_once_are_not_learnt(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player_module, "_SEARCHED", 0.5)
    asked: list[object] = []
    player = _player(asked, monkeypatch)
    _start(player, network(game), 60.0 if game == "tictactoe" else 1.0)
    player.stop()
    assert not asked


def test_a_player_that_is_not_to_learn_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = network("connectfour")
    asked: list[object] = []
    for options, learns in (({"knowledge": "off"}, False), ({"playouts": 100}, False), ({}, True)):
        player = _player(asked, monkeypatch, **options)
        _start(player, machine)
        player.stop()
        assert bool(asked) == learns


def test_what_searches_know_already_is_not_learnt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = network("tictactoe")
    known = Training(machine, canonical_names(machine.rules)).knowledge("tictactoe")
    KnowledgeStore().put(replace(known, share=0.5))
    monkeypatch.delattr(startclock, "launch_linked")
    assert learn_apart(machine, tmp_path / "learnt", 1, 1, time.monotonic() + 9) is None


def test_a_process_that_learns_is_ended_in_time(tmp_path: Path) -> None:
    began = time.monotonic()
    assert learn_apart(network("tictactoe"), tmp_path / "learnt", 1, 2, began + 0.2) is None
    assert time.monotonic() - began < 5.0


@pytest.mark.slow
def test_a_process_learns(tmp_path: Path) -> None:
    machine, path = network("tictactoe"), tmp_path / "learnt"
    learnt = learn_apart(machine, path, 1, 2, time.monotonic() + 60.0)
    # Perfect play draws: no use can be better.
    assert learnt is not None and learnt.moves > 0 and learnt.share == 0.0 and path.exists()
    assert learnt.fingerprint == canonical_names(machine.rules).fingerprint


@pytest.mark.parametrize(
    ("pairs", "better"),
    [
        ([(1, 1)] * 3, True),
        ([(1, 1)] * 2, False),
        ([(1, 1)] * 3 + [(1, 0)], True),
        ([(1, 1)] * 3 + [(0, 0)], False),
        ([(1, 0)] * 9, False),
        ([(0, 0), (0, 0), (1, 1)], False),
    ],
)
def test_values_that_win_short_matches_have_to_win_longer_ones(
    pairs: list[tuple[float, float]], better: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks: list[float] = []
    left = list(pairs)

    def play(_: object, __: object, ___: object, move_seconds: float, *____: object) -> tuple[float, float]:
        clocks.append(move_seconds)
        if len(left) == 1:
            monkeypatch.setattr(startclock.time, "monotonic", lambda: 1e18)
        return left.pop(0)

    monkeypatch.setattr(duel, "play_pair", play)
    series = Series(network("tictactoe"), (Tuning(), Tuning()), 1)
    until = time.monotonic() + 60
    assert startclock._is_better(series, until, until) == better and clocks == sorted(clocks)
    assert (clocks[-1] > startclock._MOVE_SECONDS) == (len(pairs) == 4)


def test_a_player_uses_what_was_better_for_one_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = network("connectfour")
    training = Training(machine, canonical_names(machine.rules))
    training.round()
    learnt = replace(training.knowledge("connectfour"), record=Record(6, 0, 0, 0.02))
    lessons = [replace(learnt, share=1.0), learnt, None]
    paths: list[Path] = []

    def teach(_: object, path: Path, *__: object) -> GameKnowledge | None:
        paths.append(path)
        lesson = lessons.pop(0)
        path.write_bytes((lesson or learnt).to_bytes())
        return lesson

    monkeypatch.setattr(player_module, "learn_apart", teach)
    player = UctPlayer()
    said: list[str] = []
    player.found_out = said.append
    used = []
    for _ in range(3):
        _start(player, machine)
        assert player._search is not None and ("learnt before (100%)" in player._search.news) is (not used)
        used.append(player._tuning.knowledge)
        state = machine.initial_state()
        for seconds in (0.2, 0.6):
            player.choose(state, time.monotonic() + seconds)
            assert (player._tuning.knowledge != "auto") == (used[-1] != "auto" and seconds < 0.4)
        player.stop()
    assert used == [str(paths[0]), "auto", "auto"]
    assert not any(path.exists() for path in paths)
    lines = [line for line in said if "startclock" in line]
    assert len(lines) == 2 and lines[0].endswith("used (100%)") and lines[1].endswith("not used")


def test_where_no_file_can_be_written_nothing_is_learnt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    machine = network("connectfour")
    player = UctPlayer()
    said: list[str] = []
    player.found_out = said.append
    _start(player, machine)
    state = machine.initial_state()
    assert player.choose(state, time.monotonic() + 0.3).move in machine.legal_moves(state, 0)
    player.stop()
    assert any("nothing is learnt in the startclock" in line for line in said)


def test_an_interrupted_player_learns_when_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    machine, asked = network("connectfour"), list[object]()
    player = _player(asked, monkeypatch)
    player.interrupted = lambda: True
    deadline = time.monotonic() + 3.0
    player.start(machine, 0, machine.initial_state(), 3.0, deadline)
    assert not asked
    player.interrupted = lambda: False
    player.choose(machine.initial_state(), deadline)
    player.choose(machine.initial_state(), deadline)
    assert len(asked) == 1
    player.stop()
