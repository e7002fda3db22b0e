"""States and machines for a guest: whose turn it is, moves in every form, what is refused, who is stuck."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gdl.ends import LONGEST, in_state, no_goal, no_move, stuck_in_play, stuck_roles
from gdl.errors import GdlError, MoveError, StateError
from gdl.grounding.pipeline import ground
from gdl.machine import MOST_PLAYOUTS, Machine, State
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules, parse_term
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from propnet.build import build
from propnet.machine import PropnetMachine

RULES = parse_rules(
    """(role black) (role white) (role clock) (init (at 0)) (after 0 1) (after 1 2) (after 2 3)
    (<= (legal black (step ?n)) (true (at 0)) (after ?n ?m)) (<= (legal black wait) (not (true (at 0))))
    (<= (legal white (step ?n)) (true (at ?k)) (not (true (at 1))) (after ?n ?m))
    (<= (legal white wait) (true (at 1))) (legal clock tick)
    (<= (next (at ?m)) (true (at ?n)) (after ?n ?m)) (<= terminal (true (at 3)))
    (goal black 100) (goal white 0) (goal clock 0)""",
    "clockwork",
)


@pytest.fixture(params=["prover", "propnet"])
def machine(request: pytest.FixtureRequest) -> Machine:
    return ProverMachine(RULES) if request.param == "prover" else PropnetMachine(RULES, build(ground(RULES)))


def test_the_turn_is_of_those_who_have_a_choice(machine: Machine) -> None:
    state = machine.initial_state()
    turns = [state.turn]
    while not state.terminal:
        state = state.play({role: moves[0] for role, moves in state.legal.items()})
        turns.append(state.turn)
    assert turns == [["black", "white"], [], ["white"], []]


def test_a_joint_move_is_taken_in_every_form(machine: Machine) -> None:
    start = machine.initial_state()
    texts = ["(step 0)", "(step 1)", "tick"]
    ids = [machine.move_id(role, parse_term(text)) for role, text in enumerate(texts)]
    forms: list[Any] = [texts, tuple(texts), texts[:2], ids, np.array(ids).tolist(), list(np.array(ids))]
    forms += [[parse_term(text) for text in texts], [texts[0], ids[1], np.int32(ids[2])]]
    forms += [dict(zip(machine.role_names, texts, strict=True)), {"white": ids[1], "black": "( STEP 0 )"}]
    assert {start.play(form) for form in forms} == {start.play(*texts)} == {start.play(*texts[:2])}
    third = start.play(texts).play()
    assert third.play("(step 1)") == third.play(np.int64(ids[1])) == third.play(ids[1])


@pytest.mark.parametrize(
    "move",
    [None, 1.0, True, np.bool_(True), b"x", object(), {1}, [], ["(step 0)"], {"white": 1}, np.zeros(3)],
)
def test_what_is_no_move_is_refused_by_name(machine: Machine, move: Any) -> None:
    start = machine.initial_state()
    for moves in ((move, "(step 0)", "tick"), ([move, "(step 0)"],), ({"black": move, "white": "(step 0)"},)):
        with pytest.raises(
            MoveError, match=r"black cannot play .*its text, a term or its id \(it has 3 legal"
        ):
            start.play(*moves)


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ((), "0 moves given for 3 roles .*choice are black, white"),
        (("(step 0)",), "1 move given for 3 roles"),
        (([],), "0 moves given"),
        ((None,), "1 move given"),
        ((["(step 0)"] * 4,), "4 moves given for 3 roles"),
        (({},), "black has 3 legal moves here, and none is given"),
        (({"black": "(step 0)"},), "white has 3 legal moves"),
        (({"red": "(step 0)"},), "no role red.*black, white, clock"),
        (({None: 0},), "no role None"),
        (("(step 7)", "(step 0)"), r"black cannot play '\(step 7\)': .*such as \("),
        (("wait", "(step 0)"), "black cannot play 'wait': not legal here"),
        (("step 0", "(step 0)"), "'step 0': expected one term, found 2"),
        (("((", "(step 0)"), "never closed"),
        (("", "(step 0)"), "expected one term, found 0"),
        ((-1, 0), "black cannot play -1: not legal here"),
        ((10**30, 0), "not legal here"),
    ],
)
def test_wrong_joint_moves_are_refused_with_what_would_be_right(
    machine: Machine, moves: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(MoveError, match=message) as caught:
        machine.initial_state().play(*moves)
    assert len(str(caught.value)) < 500


def test_a_long_text_is_no_long_message(machine: Machine) -> None:
    with pytest.raises(MoveError) as caught:
        machine.initial_state().play("x" * 100_000, "(step 0)")
    assert len(str(caught.value)) < 500


def test_nothing_follows_the_end(machine: Machine) -> None:
    state = machine.initial_state().play("(step 0)", "(step 0)").play().play("(step 0)")
    assert state.terminal
    for moves in ((), ("tick",), ({},), ("wait", "(step 0)", "tick")):
        with pytest.raises(MoveError, match=r"the match is over \(state.goals"):
            state.play(*moves)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"n": n} for n in (-1, MOST_PLAYOUTS + 1, 10**12, 1.5, "x", None, True, float("nan"))),
        *({"n": 2, "seed": seed} for seed in (-1, "x", None, 1.5, 2**64)),
        *({"n": 2, "max_steps": most} for most in (-1, "x", None, 1.5, 2**40)),
    ],
)
def test_numbers_of_playouts_are_checked(machine: Machine, wrong: dict[str, Any]) -> None:
    name = list(wrong)[-1]
    with pytest.raises(GdlError, match=rf"^{name} is .* \(give a whole number from 0 to [\d,]+\)$"):
        machine.playouts(**wrong)


def test_playouts_begin_in_states_of_any_machine(machine: Machine) -> None:
    later = ProverMachine(RULES).initial_state().play("(step 0)", "(step 0)")
    assert machine.playouts(3, np.int64(2**63 - 1), later).lengths.tolist() == [2, 2, 2]
    assert machine.playouts(0).goals.shape == (0, 3)
    for state in (3, "init", RULES):
        with pytest.raises(StateError, match=r"is not a state \(game.initial"):
            machine.playouts(3, state=state)  # type: ignore[arg-type]
    assert isinstance(machine.own_state(later), State)


def test_a_machine_is_shown_by_its_game_and_level(machine: Machine) -> None:
    assert repr(machine) == f"<Machine clockwork: {machine.level}>"


# --- A role without a legal move, and an end without a goal, in words
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
