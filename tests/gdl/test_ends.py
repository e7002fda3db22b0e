"""A role without a legal move, and an end without a goal, in words."""

from __future__ import annotations

import pytest

from gdl.ends import LONGEST, in_state, no_goal, no_move, stuck_in_play, stuck_roles
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.kaskade.make_machine import make_machine

AT_FIRST = """(role x) (role y) (init (step 1)) (legal x a) (legal x b) (<= (next (step 2)) (true (step 1)))
(<= terminal (true (step 2))) (goal x 100) (goal y 0)"""
LATER = """(role x) (role y) (init (step 1)) (legal x a) (legal x b) (<= (legal y ?m) (true (step 1)) (m ?m))
(m c) (m d) (<= (next (step 2)) (true (step 1))) (<= (next (step 3)) (true (step 2)))
(<= terminal (true (step 3))) (goal x 100) (goal y 0)"""
ALONE = """(role x) (init (step 1)) (init q) (<= (legal x a) (true (step 9)))
(<= (next (step 2)) (true (step 1))) (<= (next q) (true q)) (<= terminal (true (step 2))) (goal x 50)"""
NOBODY = "(role x) (role y) (init (step 1)) (<= terminal (true (step 2))) (goal x 50) (goal y 50)"


@pytest.mark.parametrize("level", ["prover", "propnet", "native"])
@pytest.mark.parametrize(
    ("text", "where", "who"),
    [
        (AT_FIRST, "(step 1)", "y has"),
        (LATER, "(step 2)", "y has"),
        (ALONE, "q (step 1)", "x has"),
        (NOBODY, "(step 1)", "x and y have"),
    ],
)
def test_random_play_tells_which_role_is_stuck_in_which_state(
    level: str, text: str, where: str, who: str
) -> None:
    machine = make_machine(parse_rules(text), level)
    assert stuck_in_play(machine) == f"{who} no legal move in the state {where}, which is not terminal"


def test_nobody_is_stuck_in_a_game_that_ends() -> None:
    assert stuck_in_play(Game.load("tictactoe").machine("prover")) == ""


def test_a_large_state_is_cut_and_says_so() -> None:
    facts = " ".join(f"(init (cell {i} empty))" for i in range(100))
    state = ProverMachine(parse_rules(f"(role x) {facts} (<= terminal (true no))")).initial_state()
    text = in_state(state)
    assert len(text) < LONGEST + 40
    shown = text.count("(cell ")
    assert text.endswith(f" and {100 - shown} more")
    assert no_move(state, stuck_roles(state)).startswith("x has no legal move in the state (cell 0 empty)")


@pytest.mark.parametrize("level", ["prover", "propnet", "native"])
def test_the_reason_for_no_goal_is_the_same_on_all_machines(level: str) -> None:
    rules = "(role x) (role y) (init p) (legal x a) (legal y a) (<= terminal (true p)) (goal x 10) (goal x 0)"
    state = make_machine(parse_rules(rules), level).initial_state()
    assert no_goal(state, 0) == "the goal values 0 and 10 hold for x at once in the state p"
    assert no_goal(state, 1) == "no goal rule of y holds in the state p"
