"""Machines made in a process of their own arrive whole, or as a clear error."""

from __future__ import annotations

import pytest

from gdl.errors import TooLargeError
from gdl.parser import parse_rules
from gdl.prover import ProverMachine
from ggp.machine_builder import Builder

GAME = (
    "(role me) (init (n 0)) (legal me go) (legal me wait) (<= (next (n 1)) (does me go))"
    " (<= (next (n 0)) (does me wait)) (<= terminal (true (n 1))) (goal me 100)"
)


def test_a_machine_comes_back_that_means_the_same() -> None:
    builder = Builder("propnet")
    builder.begin(GAME)
    assert builder.wait(120)
    machine = builder.machine()
    assert machine.level == "propnet"
    state = machine.initial_state()
    prover = ProverMachine(parse_rules(GAME)).initial_state()
    assert state == prover
    assert state.legal == prover.legal
    assert state.play("go") == prover.play("go")


def test_rules_that_cannot_be_built_are_told() -> None:
    builder = Builder("prover")
    builder.begin("(<=)")
    assert builder.wait(60)
    with pytest.raises(TooLargeError, match="has no head"):
        builder.machine()


def test_a_process_that_dies_is_told() -> None:
    builder = Builder("prover")
    builder.close()
    builder.begin(GAME)
    assert builder.wait(60)
    with pytest.raises(TooLargeError):
        builder.machine()
