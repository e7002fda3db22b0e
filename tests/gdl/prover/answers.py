"""A small game, and what the prover answers in it and in others."""

from __future__ import annotations

from gdl.machine import Machine, State
from gdl.terms import Term
from tests.gdl.naive import model

GAME = "(role you) (init start) (next start) (legal you noop) (goal you 0) (<= terminal (true never))"


def moves(machine: Machine, state: State, role: int = 0) -> set[Term]:
    return {machine.move(role, m) for m in machine.legal_moves(state, role)}


def assert_answers_are_those_of_the_naive_evaluator(machine: Machine) -> None:
    state = machine.initial_state()
    expected = model(machine.rules, {Term("true", p) for p in state.propositions})
    assert moves(machine, state) == {a.args[1] for a in expected if a.name == "legal"}
    assert machine.is_terminal(state) == (Term("terminal") in expected)
