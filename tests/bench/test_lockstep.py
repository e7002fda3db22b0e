"""Machines go in step on games of every class, and a difference would be seen."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from bench import lockstep
from gdl.errors import GdlError
from ggp.game import Game
from propnet.machine import PropnetMachine
from propnet.single.one_state import OneState


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["tictactoe", "biddingtictactoe", "breakthrough", "hex", "othello", "chinesecheckers", "sokoban"]
)
def test_native_propnet_and_prover_go_in_step(name: str) -> None:
    result = lockstep.compare(Game.load(name), 40 * 512, 10)
    assert result.difference == ""
    assert result.steps == 40 * 512
    assert result.prover_steps == 10
    assert result.compiled == 1.0


@pytest.mark.parametrize("method", ["evaluate", "successors"])
def test_a_machine_that_differs_is_caught(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    right = getattr(PropnetMachine, method)

    def wrong(self, records, *rest):
        answer = right(self, records, *rest)
        if self.level == "native" and rest:
            answer[-1, 0] ^= np.uint64(1)
        elif self.level == "native":
            answer.legal[-1, 0] ^= np.uint64(1)
        return answer

    monkeypatch.setattr(PropnetMachine, method, wrong)
    result = lockstep.compare(Game.load("tictactoe"), 512, 1)
    assert "native and propnet" in result.difference


def test_a_prover_that_differs_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from gdl.prover.machine import ProverMachine

    monkeypatch.setattr(ProverMachine, "is_terminal", lambda self, state: True)
    result = lockstep.compare(Game.load("tictactoe"), 512, 1)
    assert result.difference.startswith("terminal")


@pytest.mark.parametrize("name", ["tictactoe", "biddingtictactoe", "hex", "sokoban"])
def test_single_states_go_in_step_with_lanes(name: str) -> None:
    assert lockstep.compare_single(lockstep.network_machine(Game.load(name)), 600) == ("", 600)


@pytest.mark.slow
def test_single_states_of_public_games_go_in_step_with_lanes_and_with_the_oracle(
    corpus_games: list[Path],
) -> None:
    """All games that ground in 20 s where GGP_CORPUS is set, else every eighth."""
    compared = 0
    for path in corpus_games[:: 1 if os.environ.get("GGP_CORPUS") else 8]:
        try:
            machine = lockstep.network_machine(Game.load(path), 20.0)
        except GdlError:
            continue
        assert lockstep.compare_single(machine, 500)[0] == "", path.stem
        fault, states = lockstep.replay(machine, path)
        # Some rules are not those of their trace, others spell a symbol in two ways.
        assert fault == "" or fault == lockstep.replay(Game.load(path).machine("prover"), path)[0], path.stem
        compared += states > 0
    assert compared >= 20


@pytest.mark.parametrize("answer", ["terminal", "legal", "goal", "play"])
def test_a_single_state_that_differs_is_caught(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    class Wrong(OneState):
        def _wrong(self) -> bool:
            return int.from_bytes(self.key, "little").bit_count() > 9  # some states

        def go(self, key):
            super().go(key)
            self._spoil()

        def play(self, key, joint):
            after = super().play(key, joint)
            self._spoil()
            return bytes(len(after)) if answer == "play" and self._wrong() else after

        def _spoil(self):
            if answer == "terminal" and self._wrong():
                self.terminal ^= 1
            if answer == "legal" and self._wrong():
                self.legal = ((), *self.legal[1:])

        def goal(self, role):
            return 55 if answer == "goal" and self._wrong() else super().goal(role)

    monkeypatch.setattr(lockstep, "OneState", Wrong)
    difference, _ = lockstep.compare_single(lockstep.network_machine(Game.load("tictactoe")), 600)
    assert difference.startswith("the state after" if answer == "play" else "what holds in")
