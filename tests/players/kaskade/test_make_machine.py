"""The budget for native code can be set from outside, and the machine says what came of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdl.errors import GdlError
from ggp.game import Game
from players.kaskade.make_machine import LEVELS, compile_budget, make_machine
from propnet.native.machine import NativeMachine


def test_the_budget_for_native_code_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GGP_COMPILE_SECONDS", raising=False)
    assert compile_budget(7.0) == 7.0
    monkeypatch.setenv("GGP_COMPILE_SECONDS", "2.5")
    assert compile_budget(7.0) == 2.5


@pytest.mark.parametrize("text", ["soon", "-1", "inf", "nan"])
def test_a_budget_that_is_no_time_is_told(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("GGP_COMPILE_SECONDS", text)
    with pytest.raises(GdlError, match="GGP_COMPILE_SECONDS"):
        compile_budget(1.0)


def test_no_budget_means_that_the_network_is_interpreted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GGP_COMPILE_SECONDS", "0")
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))  # what was compiled before is native at once
    machine = make_machine(Game.load("nim").rules, "native")
    assert isinstance(machine, NativeMachine)
    assert machine.compiled == 0.0
    assert machine.playouts(100, seed=1).lengths.min() > 0


def test_every_level_makes_a_machine_that_knows_its_level() -> None:
    rules = Game.load("tictactoe").rules
    levels = {level: make_machine(rules, level).level for level in LEVELS}
    assert levels == {"prover": "prover", "propnet": "propnet", "native": "native", "auto": "native"}
