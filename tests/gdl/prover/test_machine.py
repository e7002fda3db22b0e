"""The prover against a naive evaluator, known games, recorded traces and hostile rules."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given

from gdl.errors import MoveError, RulesError, StateError, TooLargeError
from gdl.machine import State
from gdl.prover.estimates import Estimates
from gdl.prover.limits import ProverLimits
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import Term
from tests.gdl.naive import first_state
from tests.gdl.programs import examples, games
from tests.gdl.prover.answers import GAME, assert_answers_are_those_of_the_naive_evaluator, moves
from tests.places import GAMES

TIC_TAC_TOE = (GAMES / "tictactoe.kif").read_text(encoding="utf-8")


def prover(text: str, limits: ProverLimits | None = None) -> ProverMachine:
    return ProverMachine(parse_rules(text), limits)


def shown(text: str, role: str = "you") -> set[str]:
    """The moves of a role in the first state, as text."""
    machine = prover(text)
    return set(map(str, moves(machine, machine.initial_state(), machine.role_id(Term(role)))))


@pytest.mark.slow
@examples(250)
@given(games())
def test_relations_of_random_programs_are_those_of_the_naive_evaluator(text: str) -> None:
    machine = prover(text)
    assert machine.initial_state().propositions == {t.args[0] for t in first_state(machine.rules)}
    assert_answers_are_those_of_the_naive_evaluator(machine)


@pytest.mark.slow
@pytest.mark.parametrize("shallow", [False, True], ids=["top-down", "magic sets"])
@examples(150)
@given(text=games())
def test_relations_computed_key_by_key_are_those_of_the_naive_evaluator(shallow: bool, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Estimates, "cheaper", lambda *_: True)
        machine = prover(text)
        machine._evaluator._estimates.shallow = shallow
        assert_answers_are_those_of_the_naive_evaluator(machine)


@pytest.mark.slow
@examples(60)
@given(games())
def test_answers_do_not_change_when_relations_are_measured(text: str) -> None:
    machine = prover(text)
    before = moves(machine, machine.initial_state())
    machine.playouts(2, seed=1, max_steps=3)
    fresh = machine.state_of(machine.initial_state().propositions)
    assert moves(machine, fresh) == before == moves(prover(text), machine.initial_state())


def test_tic_tac_toe_has_255168_games_and_5478_states() -> None:
    machine = prover(TIC_TAC_TOE)
    counts: dict[State, int] = {}

    def games_from(state: State) -> int:
        if state not in counts:
            following = [games_from(successor) for _, successor in machine.expand([state])[0]]
            counts[state] = 1 if machine.is_terminal(state) else sum(following)
        return counts[state]

    assert games_from(machine.initial_state()) == 255168
    assert len(counts) == 5478


def test_the_same_seed_gives_the_same_playouts_remembered_or_not() -> None:
    machine = prover(TIC_TAC_TOE)
    walked = machine.playouts(40, seed=7)
    machine._charging = True
    charged = machine.playouts(40, seed=7)
    assert (walked.goals == charged.goals).all()
    assert (walked.lengths == charged.lengths).all()
    assert walked.cut == charged.cut == 0
    assert set(map(tuple, walked.goals.tolist())) <= {(100, 0), (0, 100), (50, 50)}


def test_playouts_are_cut_at_the_step_limit_and_where_a_role_cannot_move() -> None:
    endless = prover(GAME)
    assert endless.playouts(3, max_steps=5).cut == 3
    assert endless.playouts(3, max_steps=5).lengths.tolist() == [5, 5, 5]
    stuck = prover(
        "(role you) (init a) (<= (legal you go) (true a)) (<= (next b) (does you go)) (goal you 7)"
    )
    playouts = stuck.playouts(2)
    assert playouts.cut == 2
    assert playouts.lengths.tolist() == [1, 1]


def test_goal_is_none_where_none_or_several_hold() -> None:
    machine = prover(
        "(role a) (role b) (role c) (legal a n) (legal b n) (legal c n) (goal a 1) (goal a 2) (goal c 30)"
    )
    state = machine.initial_state()
    assert [machine.goal(state, r) for r in range(3)] == [None, None, 30]


def test_mutual_recursion_is_a_fixpoint() -> None:
    text = (
        GAME
        + """
        (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (init (zero 0))
        (<= (even ?x) (true (zero ?x))) (<= (even ?y) (odd ?x) (succ ?x ?y))
        (<= (odd ?y) (even ?x) (succ ?x ?y))
        (<= (legal you (even ?x)) (even ?x)) (<= (legal you (odd ?x)) (odd ?x))"""
    )
    assert shown(text) == {"noop", "(even 0)", "(odd 1)", "(even 2)", "(odd 3)", "(even 4)"}


def test_recursion_builds_and_takes_apart_terms() -> None:
    text = (
        GAME
        + """
        (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8)
        (<= (upto 0 nil) (true start)) (<= (upto ?n (cons ?n ?l)) (succ ?m ?n) (upto ?m ?l))
        (<= (in ?x (cons ?x ?l)) (upto ?n (cons ?x ?l)))
        (<= (legal you (say ?l)) (upto 7 ?l)) (<= (legal you (has ?x)) (upto 8 ?l) (in ?x ?l))"""
    )
    expected = "nil"
    for n in range(1, 8):
        expected = f"(cons {n} {expected})"
    assert shown(text) == {"noop", f"(say {expected})", "(has 8)"}


@pytest.mark.slow
def test_deep_chains_of_relations_are_evaluated() -> None:
    links = "".join(f"(<= (r{i + 1} ?x) (r{i} ?x) (true start))" for i in range(1500))
    assert shown(GAME + "(r0 a)" + links + "(<= (legal you (go ?x)) (r1500 ?x))") == {"noop", "(go a)"}


def test_a_long_walk_down_a_recursive_relation_needs_no_deep_stack() -> None:
    succ = "".join(f"(succ {i} {i + 1})" for i in range(3000))
    text = (
        GAME
        + succ
        + "(<= (down ?x) (true start) (last ?x)) (last 3000) (<= (down ?x) (succ ?x ?y) (down ?y))"
    )
    assert shown(text + "(<= (legal you go) (down 0))") == {"noop", "go"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "rules",
    [
        "(<= (n (s ?x)) (n ?x)) (n z) (<= (legal you (go ?x)) (n ?x))",
        "(<= (n (s ?x)) (n ?x)) (<= (n z) (true start)) (<= (legal you (go ?x)) (n ?x))",
        "(<= (big ?a ?b ?c ?d ?e ?f) (d ?a) (d ?b) (d ?c) (d ?d) (d ?e) (d ?f))"
        "(<= (legal you (go ?a ?b ?c ?d ?e ?f)) (big ?a ?b ?c ?d ?e ?f))",
        "(<= (legal you (go ?a ?b ?c ?d ?e ?f)) (true start) (d ?a) (d ?b) (d ?c) (d ?d) (d ?e) (d ?f))",
        "(<= (legal you go) (true start) (d ?a) (d ?b) (d ?c) (d ?d) (d ?e) (d ?f) (d ?g) (d ?h)"
        " (none ?a ?b ?c ?d ?e ?f ?g ?h)) (none 1 2 3 4 5 6 7 x) (<= (none ?a ?b ?c ?d ?e ?f ?g ?h)"
        " (none ?b ?c ?d ?e ?f ?g ?h ?a))"
        "(<= (legal you stop) (d ?a) (d ?b) (d ?c) (d ?d) (d ?e) (d ?f) (true (x ?a ?b ?c ?d ?e ?f)))"
        "(<= (next (x ?a ?b ?c ?d ?e ?f)) (d ?a) (d ?b) (d ?c) (d ?d) (d ?e) (d ?f))",
    ],
    ids=["static terms", "dynamic terms", "static join", "dynamic join", "huge state"],
)
def test_rules_without_end_are_refused(rules: str) -> None:
    domain = "".join(f"(d {i})" for i in range(40))
    limits = ProverLimits(rows=200_000, seconds=3.0, depth=60, terms=20_000)

    def ask() -> None:
        machine = prover(GAME + domain + rules, limits)
        state = machine.initial_state()
        machine.legal_moves(state, 0)
        machine.next_state(state, [0])

    with pytest.raises(TooLargeError):
        ask()


def test_a_question_that_failed_fails_again() -> None:
    machine = prover(
        GAME + "(<= (n z) (true start)) (<= (n (s ?x)) (n ?x)) (<= (legal you (go ?x)) (n ?x))",
        ProverLimits(rows=1000, seconds=1.0, depth=30, terms=500),
    )
    for _ in range(2):
        with pytest.raises(TooLargeError):
            machine.legal_moves(machine.initial_state(), 0)
    assert not machine.is_terminal(machine.initial_state())


def test_rules_that_cannot_be_played_are_refused() -> None:
    with pytest.raises(RulesError):
        prover("(init a)")
    with pytest.raises(RulesError):
        prover("(role a) (<= (p ?x) (role ?x) (not (p ?x))) (<= terminal (p ?x))")


def test_unknown_propositions_and_moves_are_refused() -> None:
    machine = prover(TIC_TAC_TOE)
    with pytest.raises(StateError):
        machine.state_of([parse_term("(nothing 1)")])
    with pytest.raises(StateError):
        machine.proposition_id(parse_term("?x"))
    with pytest.raises(MoveError):
        machine.move_id(0, parse_term("(jump 1 2)"))
    with pytest.raises(IndexError):
        machine.move(0, -1)


def test_states_are_the_same_from_propositions_as_from_play() -> None:
    machine = prover(TIC_TAC_TOE)
    state = machine.initial_state().play("(mark b 2)")
    again = machine.state_of(state.propositions)
    assert again == state
    assert hash(again) == hash(state)
    assert machine.legal_moves(again, 1) == machine.legal_moves(state, 1)


def test_a_role_may_be_a_compound_term_or_derived() -> None:
    text = (
        "(<= (role (robot ?n)) (number ?n)) (number 1) (number 2) (init a) (<= (legal (robot 1) go) (true a))"
    )
    machine = prover(text)
    assert [str(r) for r in machine.roles] == ["(robot 1)", "(robot 2)"]
    assert [len(machine.legal_moves(machine.initial_state(), r)) for r in (0, 1)] == [1, 0]


@pytest.mark.parametrize(
    "name", ["ticTacToe", "hex", "eightPuzzle", "sudoku", "laikLee_hex", "kitten_escapes_from_fire"]
)
def test_answers_are_those_of_a_recorded_trace(corpus: Path, name: str) -> None:
    machine = prover((corpus / "games" / f"{name}.kif").read_text())
    lines = gzip.decompress((corpus / "traces" / f"{name}.jsonl.gz").read_bytes()).splitlines()
    for line in map(json.loads, lines[:40]):
        if line["type"] == "step":
            state = machine.state_of(map(parse_term, line["state"]))
            assert machine.is_terminal(state) == line["terminal"]
            for role, term in enumerate(machine.roles):
                (recorded,) = (m for r, m in line["legal"].items() if parse_term(r) is term)
                assert moves(machine, state, role) == set(map(parse_term, recorded))
