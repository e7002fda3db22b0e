"""Matrix games are solved exactly, and games of several joint moves backwards from their ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bench.equilibrium import (
    Equilibrium,
    NotConstantSumError,
    TooManyStatesError,
    compare,
    matrix_value,
    reached,
)
from bench.positions import load_game
from players.kaskade.make_machine import make_machine
from tests.examples import examples


def exact(table: list[list[int]]) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in table]


@pytest.mark.parametrize(
    ("table", "value"),
    [
        ([[50, 0, 100], [100, 50, 0], [0, 100, 50]], Fraction(50)),
        ([[100, 0], [25, 50]], Fraction(40)),
        ([[30, 80, 90], [50, 50, 60], [0, 40, 100]], Fraction(50)),
        ([[0, 0], [0, 0]], Fraction(0)),
        ([[7]], Fraction(7)),
    ],
)
def test_known_matrix_games_have_their_known_value(table: list[list[int]], value: Fraction) -> None:
    assert matrix_value(exact(table))[0] == value


@examples(50)
@given(
    table=arrays.arrays(
        np.int64, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.integers(0, 100)
    )
)
def test_neither_side_can_do_better_than_the_value(table: np.ndarray) -> None:
    rows = exact(table.tolist())
    value, played = matrix_value(rows)
    columns = exact((-table.T).tolist())
    lost, answered = matrix_value(columns)
    assert value == -lost
    for strategy, payoffs, worth in ((played, rows, value), (answered, columns, lost)):
        assert sum(strategy) == 1
        assert min(strategy) >= 0
        for j in range(len(payoffs[0])):
            assert sum(p * row[j] for p, row in zip(strategy, payoffs, strict=True)) >= worth


def test_tic_tac_toe_is_a_draw_by_backward_induction_too() -> None:
    machine = make_machine(load_game("tictactoe").rules, "propnet")
    state = machine.initial_state()
    for cell in ("a 1", "b 2", "c 3"):
        state = state.play(f"(mark {cell})")
    assert Equilibrium(machine).value(state) == 50
    with pytest.raises(TooManyStatesError):
        Equilibrium(machine, 5).value(state)


def test_games_that_are_not_of_constant_sum_are_refused() -> None:
    machine = make_machine(load_game("prisonersdilemma").rules, "propnet")
    with pytest.raises(NotConstantSumError):
        Equilibrium(machine).value(machine.initial_state())
    alone = make_machine(load_game("hanoi").rules, "propnet")
    with pytest.raises(NotConstantSumError):
        compare(alone, alone.initial_state(), 0.0, 100)


def test_positions_are_as_deep_as_asked_and_not_over() -> None:
    machine = make_machine(load_game("tictactoe").rules, "propnet")
    for seed in range(20):
        state = reached(machine, 6, seed)
        assert not machine.is_terminal(state)
        assert len(state.propositions) == 7  # six marks, and whose turn it is
    assert reached(machine, 6, 3) == reached(machine, 6, 3)
