"""States stand on the prover at first and on the network once that is built; what they say stays the same."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import ggp
from gdl.errors import GdlError
from gdl.machine import Machine, State
from players.kaskade import climbing


@pytest.fixture
def nothing_stored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))


def walk(state: State, steps: int, seed: int) -> list[tuple[State, list[str]]]:
    rng = random.Random(seed)
    seen = []
    for _ in range(steps):
        if state.terminal:
            break
        moves = [rng.choice(sorted(options)) for options in state.legal.values()]
        seen.append((state, moves))
        state = state.play(*moves)
    return seen


def test_small_games_stand_on_the_network_at_once(nothing_stored: None) -> None:
    game = ggp.load("tictactoe")
    assert game.initial.machine.level == "propnet"
    assert game.ready(0)


def test_large_ones_go_up_and_say_the_same(nothing_stored: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(climbing, "AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr(climbing, "MOST_RULES_AT_ONCE", 1)
    game = ggp.load("connectfour")
    first = game.initial
    assert first.machine.level == "prover"
    below = walk(first, 8, 3)
    assert game.ready(60)
    assert game.initial.machine.level == "propnet"
    above = walk(game.initial, 8, 3)
    assert [moves for _, moves in below] == [moves for _, moves in above]
    for low, high in zip(below, above, strict=True):
        assert low[0] == high[0] and hash(low[0]) == hash(high[0])
        assert low[0].board() == high[0].board()
    state, moves = below[-1]
    assert state.machine.level == "prover" and state.play(*moves).machine.level == "propnet"


def test_without_a_network_all_goes_on_on_the_prover(
    nothing_stored: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Machine:
        raise GdlError("too large")

    monkeypatch.setattr(climbing, "_network_at_once", lambda rules: None)
    monkeypatch.setattr(climbing, "_load", fails)
    game = ggp.load("tictactoe")
    state = game.initial
    assert not game.ready(60)
    assert state.play("(mark b 2)").machine.level == "prover"
