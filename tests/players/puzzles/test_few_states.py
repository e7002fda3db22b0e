"""Puzzles of few states: the values that the solvers on the network find, lines as short, honest ends."""

from __future__ import annotations

import pytest

from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from players.portfolio import solve
from players.puzzles.few_states import solve_few_states
from players.puzzles.sokoban.levels.gdl import level_to_gdl
from players.puzzles.sokoban.levels.level import Level
from players.solvers import replayed
from tests.players.puzzles.test_solve import HOPELESS

ENOUGH = 600.0
"""Seconds, kernels that may have to be compiled included."""
STEPS = level_to_gdl(Level(("######", "#@ $.#", "#    #", "######")), steps=5)
TOO_FEW = level_to_gdl(Level(("######", "#@ $.#", "#.$  #", "#    #", "######")), steps=3)
NO_END_ON_ONE_SIDE = """(role you) (init (at 0)) (legal you left) (legal you right)
(<= (next (at 1)) (true (at 0)) (does you left)) (<= (next (at 2)) (true (at 0)) (does you right))
(<= (next (at 1)) (true (at 1))) (<= terminal (true (at 2))) (goal you 30)"""


@pytest.mark.parametrize(
    "rules",
    [STEPS, TOO_FEW, NO_END_ON_ONE_SIDE, Game.load("hanoi").text, Game.load("queens").text],
    ids=["steps", "too few steps", "no end on one side", "hanoi", "queens"],
)
def test_the_value_and_the_length_are_those_of_a_search_of_all_states(rules: str) -> None:
    parsed = parse_rules(rules)
    found = solve_few_states(parsed, ENOUGH)
    known = solve(make_machine(parsed, "propnet"), ENOUGH, only="frontier")
    assert found is not None and found.proven and known.proven
    assert (found.value, len(found.moves)) == (known.value, len(known.moves))
    assert replayed(parsed, found).terminal


@pytest.mark.parametrize("rules", HOPELESS.values(), ids=HOPELESS)
def test_that_no_line_comes_to_an_end_is_proven(rules: str) -> None:
    found = solve_few_states(parse_rules(rules), ENOUGH)
    assert found is not None and (found.value, found.moves, found.proven) == (-1, (), True)


def test_a_start_that_is_the_end_has_an_empty_line() -> None:
    found = solve_few_states(parse_rules("(role you) (legal you go) terminal (goal you 40)"))
    assert found is not None and (found.value, found.moves, found.proven, found.solver) == (40, (), True, "")


@pytest.mark.parametrize(
    "rules",
    [
        Game.load("eightpuzzle").text,
        Game.load("tictactoe").text,
        "(role you) (<= (p ?x) (q ?x) (not (p ?x))) (q 1) (legal you go) (<= terminal (p 1))",
    ],
    ids=["too many states", "two roles", "not stratified"],
)
def test_others_are_left_to_the_solvers(rules: str) -> None:
    assert solve_few_states(parse_rules(rules), 0.05) is None
