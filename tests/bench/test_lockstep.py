"""Machines go in step on games of every class, and a difference would be seen."""

from __future__ import annotations

import numpy as np
import pytest

from bench import lockstep
from ggp.game import Game
from propnet.machine import PropnetMachine


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
