"""The prover against a naive evaluator, known games, recorded traces and hostile rules."""

from __future__ import annotations

import gzip
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given

from gdl.ends import RandomGames
from gdl.errors import MoveError, RulesError, StateError, TooLargeError
from gdl.machine import Machine, State
from gdl.prover import conditions, evaluator
from gdl.prover.estimates import Estimates
from gdl.prover.limits import DEMAND_ROWS, ProverLimits
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import Term
from tests.gdl.naive import examples, first_state, games, model
from tests.places import CORPUS, GAME_FILES

TIC_TAC_TOE = (GAME_FILES["tictactoe"]).read_text(encoding="utf-8")


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


GAME = "(role you) (init start) (next start) (legal you noop) (goal you 0) (<= terminal (true never))"


def moves(machine: Machine, state: State, role: int = 0) -> set[Term]:
    return {machine.move(role, m) for m in machine.legal_moves(state, role)}


def assert_answers_are_those_of_the_naive_evaluator(machine: Machine) -> None:
    state = machine.initial_state()
    expected = model(machine.rules, {Term("true", p) for p in state.propositions})
    assert moves(machine, state) == {a.args[1] for a in expected if a.name == "legal"}
    assert machine.is_terminal(state) == (Term("terminal") in expected)


# --- Relations that outgrow the code that was made for them cost only the code that reads them
ALIKE = 12
"""Groups of relations that have nothing to do with each other."""


def growing_rules() -> str:
    """A counter to 60, and groups of relations; of the first group one grows with the square of the
    counter."""
    lines = ["(role r)", "(init (step 0))", "(<= terminal (true (step 60)))", "(goal r 100)", "(atmost 0 0)"]
    lines += [f"(succ {n} {n + 1})" for n in range(60)]
    lines += ["(<= (atmost ?a ?c) (succ ?b ?c) (atmost ?a ?b))", "(<= (atmost ?c ?c) (succ ?b ?c))"]
    lines += ["(<= (next (step ?b)) (true (step ?a)) (succ ?a ?b))"]
    for group in range(ALIKE):
        most = "?s" if group == 0 else "7"
        lines += [
            f"(<= (low{group} ?a) (true (step ?s)) (atmost ?a {most}) (atmost ?s 60))",
            f"(<= (pair{group} ?a ?b) (low{group} ?a) (low{group} ?b))",
            f"(<= (legal r (go{group} ?a)) (pair{group} ?a ?b) (distinct ?a ?b))",
            f"(<= (legal r (come{group} ?b)) (pair{group} ?a ?b) (distinct ?a ?b))",
        ]
    return "\n".join(lines)


def test_a_relation_that_grows_leaves_the_code_of_others_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = ProverMachine(parse_rules(growing_rules()))
    state = machine.initial_state()
    compiled: list[int] = []
    execute = machine._evaluator.relations.execute

    def counted(lines: list[str]) -> None:
        compiled[-1] += 1
        execute(lines)

    monkeypatch.setattr(machine._evaluator.relations, "execute", counted)
    while True:
        compiled.append(0)
        moves = machine.legal_moves(state, 0)
        assert len(moves) >= 2 * 8 * (ALIKE - 1)
        state = machine.next_state(state, moves[:1])
        if machine.is_terminal(state):
            break
    assert DEMAND_ROWS < 60 * 60
    assert compiled[0] > 2 * ALIKE  # everything, at first
    assert 0 < sum(compiled[1:]) < ALIKE  # what reads the relation that grew, and nothing else


LARGE_GAMES = sorted(CORPUS.rglob("*.kif"), key=lambda path: -path.stat().st_size)[:20]
STEPS = 60
"""Of the random games before, and of those that are watched."""


@pytest.mark.slow
@pytest.mark.skipif(not LARGE_GAMES, reason="the corpus of public games is not beside the project")
@pytest.mark.parametrize("path", LARGE_GAMES, ids=lambda path: path.stem)
def test_no_question_of_a_long_random_game_waits_for_much_code(path: Path) -> None:
    """What takes long in a question is code that is written anew: at most a quarter of it at once."""
    machine = ProverMachine(parse_rules(path.read_text(encoding="utf-8"), path.name))
    games = RandomGames(machine, seed=1)
    for _ in range(STEPS):
        games.step()
    written = machine.functions_written
    draw = random.Random(2)
    state = machine.initial_state()
    for _ in range(STEPS):
        before = machine.functions_written
        if state.terminal:
            state = machine.initial_state()
        joint = [draw.choice(machine.legal_moves(state, role)) for role in range(len(machine.roles))]
        state = machine.next_state(state, joint)
        assert machine.functions_written - before <= written / 4


def test_who_is_told_which_relations_are_large_writes_no_code_twice_and_says_the_same() -> None:
    rules = parse_rules(growing_rules())
    first, games = ProverMachine(rules), 130
    told = RandomGames(first, 1)
    for _ in range(games):
        told.step()
    assert "pair0" in first.large_relations
    second, third = ProverMachine(rules, large=first.large_relations), ProverMachine(rules)
    states = [machine.initial_state() for machine in (second, third)]
    while not states[1].terminal:
        assert states[0].legal == states[1].legal
        moves = third.legal_moves(states[1], 0)[:1]
        states = [third.next_state(states[1], moves)] * 2
        states[0] = second.state_of(third.true_propositions(states[1].key))
    assert third.functions_written > second.functions_written


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sorted((CORPUS / "games").glob("[a-c]*.kif"))[::6], ids=lambda path: path.stem
)
def test_relations_of_any_names_may_be_said_to_be_large(path: Path) -> None:
    """What is not large is computed key by key all the same; what cannot be, whole."""
    rules = parse_rules(path.read_text(encoding="utf-8"), path.name)
    plain = ProverMachine(rules)
    every = {p.name for p in plain._program.predicates} | {"no such relation"}
    told = ProverMachine(rules, large=every)
    draw, state = random.Random(3), plain.initial_state()
    for _ in range(12):
        other = told.state_of(plain.true_propositions(state.key))
        assert other.terminal == state.terminal
        if state.terminal:
            break
        assert {r: set(m) for r, m in other.legal.items()} == {r: set(m) for r, m in state.legal.items()}
        joint = [draw.choice(plain.legal_moves(state, role)) for role in range(len(plain.roles))]
        state = plain.next_state(state, joint)


# --- Bodies with more loops and conditions than Python nests: the rest goes into helper functions
LOOPS = [20, 34, 50]
CONDITIONS = [150, 390]


def shown_twice(text: str) -> set[str]:
    """The moves in the first state, as text, besides ``noop``; the same when the machine has measured."""
    machine = ProverMachine(parse_rules(GAME + text))
    state = machine.initial_state()
    first = machine.legal_moves(state, 0)
    machine.playouts(2, seed=1, max_steps=2)
    assert machine.legal_moves(machine.state_of(state.propositions), 0) == first
    return {str(machine.move(0, m)) for m in first} - {"noop"}


def numbered(literal: str, n: int, start: int = 0) -> str:
    """A literal for each number; ``#`` stands for the number, ``+`` for the next one."""
    return " ".join(literal.replace("#", str(i)).replace("+", str(i + 1)) for i in range(start, n))


def walks(n: int) -> str:
    """Rules for what a chain of edges leads to, one edge a rule; the edges."""
    return (
        "(init (edge a b)) (init (edge b a)) (init (edge b c)) (init (edge c d)) (init (edge d d))"
        "(<= (walk0 ?x ?y) (true (edge ?x ?y)))"
        + numbered("(<= (walk+ ?x ?z) (walk# ?x ?y) (true (edge ?y ?z)))", n)
    )


@pytest.mark.parametrize("kind", ["(init (a# 1))", "(a# 1)"], ids=["state", "static"])
@pytest.mark.parametrize("n", LOOPS)
def test_a_product_of_many_relations_has_all_its_rows(n: int, kind: str) -> None:
    relation = "(true (a# ?x#))" if "init" in kind else "(a# ?x#)"
    twice = [0, 17, n - 1]  # in the outermost function and in its helpers
    text = numbered(kind, n) + "".join(kind.replace("#", str(i)).replace(" 1)", " 2)") for i in twice)
    moves = shown_twice(f"{text} (<= (legal you (m {numbered('?x#', n)})) {numbered(relation, n)})")
    assert len(moves) == 8
    for number in range(8):
        row = ["1"] * n
        for bit, at in enumerate(twice):
            row[at] = str(1 + (number >> bit & 1))
        assert f"(m {' '.join(row)})" in moves


@pytest.mark.parametrize("n", LOOPS)
def test_a_chain_of_edges_leads_where_walking_edge_by_edge_does(n: int) -> None:
    chain = numbered("(true (edge ?x# ?x+))", n)
    deep = shown_twice(f"{walks(n)} (<= (legal you (m ?x0 ?x{n})) {chain})")
    assert deep == shown_twice(f"{walks(n)} (<= (legal you (m ?x ?y)) (walk{n - 1} ?x ?y))")
    assert len(deep) == 7  # all numbers are even


@pytest.mark.parametrize("n", LOOPS)
def test_one_match_of_a_deep_part_that_the_head_does_not_read_is_enough(n: int) -> None:
    text = walks(n) + "(init (edge 1 2)) (init (edge 2 3))"
    chain = numbered("(true (edge ?x# ?x+))", n)
    assert shown_twice(f"{text} (<= (legal you go) {chain})") == {"go"}
    assert shown_twice(f"{text} (<= (legal you go) {chain} (true (edge ?x{n} b)))") == {"go"}
    assert shown_twice(f"{text} (<= (legal you go) {chain} (true (edge ?x{n} 2)))") == set()
    assert shown_twice(f"{text} (<= (legal you (m ?y)) (true (edge d ?y)) {chain})") == {"(m d)"}


@pytest.mark.parametrize("n", LOOPS)
def test_relations_made_in_a_helper_and_after_it_are_the_same(n: int) -> None:
    """The inner loops read derived relations that the outer function has not made yet, and a
    later clause reads them again."""
    derived = "(<= (near ?x ?y) (true (edge ?x ?y)) (distinct ?y none))"
    chain = numbered("(true (edge ?x# ?x+))", n)
    text = f"{walks(n)} {derived} (<= (legal you (m ?x0 ?z)) {chain} (near ?x{n} ?z) (not (near ?z a)))"
    again = "(<= (legal you (last ?z)) (near c ?z) (not (near ?z a)))"
    shallow = f"{walks(n)} {derived} (<= (legal you (m ?x ?z)) (walk{n} ?x ?z) (not (near ?z a)))"
    assert shown_twice(text + again) == shown_twice(shallow + again) > {"(last d)"}


@pytest.mark.parametrize("way", ["whole", "top-down", "magic sets"])
@pytest.mark.parametrize("n", [*LOOPS, 19])
def test_a_recursive_relation_is_read_in_a_helper(monkeypatch: pytest.MonkeyPatch, n: int, way: str) -> None:
    if way != "whole":
        monkeypatch.setattr(Estimates, "cheaper", lambda *_: True)
    if way == "magic sets":
        monkeypatch.setattr(Estimates, "top_down", lambda *_: False)
    base = walks(n) + "(<= (path ?x ?y) (true (edge ?x ?y)))"
    end = "(<= (legal you (m ?x ?y)) (path ?x ?y))"
    chain = numbered("(true (edge ?x# ?x+))", n)
    deep = shown_twice(f"{base} (<= (path ?x0 ?z) (path ?w ?x0) {chain} (path ?x{n} ?z)) {end}")
    shallow = f"{base} (<= (path ?x0 ?z) (path ?w ?x0) (walk{n - 1} ?x0 ?y) (path ?y ?z)) {end}"
    assert deep == shown_twice(shallow)
    assert len(deep) == (10 if n % 2 else 7)


@pytest.mark.parametrize("n", LOOPS)
def test_members_of_a_mutual_recursion_read_each_other_in_helpers(n: int) -> None:
    base = (
        walks(n) + "(<= (even ?x ?x) (true (edge ?x ?y))) (<= (even ?x ?z) (odd ?x ?y) (true (edge ?y ?z)))"
    )
    end = "(<= (legal you (m ?x ?y)) (odd ?x ?y) (not (even ?x ?y)))"
    chain = numbered("(true (edge ?x# ?x+))", n)
    deep = f"{base} (<= (odd ?x0 ?z) {chain} (even ?x0 ?x{n}) (even ?x{n} ?y) (true (edge ?y ?z))) {end}"
    shallow = (
        f"{base} (<= (odd ?x ?z) (walk{n - 1} ?x ?y) (even ?x ?y) (even ?y ?w) (true (edge ?w ?z))) {end}"
    )
    assert shown_twice(deep) == shown_twice(shallow) != set()


@pytest.mark.slow
@pytest.mark.parametrize("fails", [False, True], ids=["all hold", "the last fails"])
@pytest.mark.parametrize(
    "literal",
    ["(b# ?x)", "(not (c# ?x))", "(b# ?y#)", "b#", "(b# ?x) (not (c# ?x)) (b# ?y#) (true (a# ?y#))"],
)
@pytest.mark.parametrize("n", CONDITIONS)
def test_a_body_has_hundreds_of_conditions_on_derived_relations(n: int, literal: str, fails: bool) -> None:
    n //= literal.count(") (") + 1
    facts = numbered("(init (a# 1)) (init (a# 2))", n - fails) + f"(init (a0 1)) (init (a{n - 1} 0))"
    facts += f"(init (no{n - 1} 1)) (init (no{n - 1} 2))" if fails else ""
    one = "(<= (b# ?x) (true (a# ?x)) (distinct ?x 0)) (<= b# (true (a# 1))) (<= (c# ?x) (true (no# ?x)))"
    body = "(true (a0 ?x)) " + numbered(literal, n)
    expected = set() if fails else {"(m 1)", "(m 2)"}
    assert shown_twice(f"{facts} {numbered(one, n)} (<= (legal you (m ?x)) {body})") == expected


@pytest.mark.slow
def test_a_body_takes_apart_many_terms() -> None:
    n = 150
    lists = (
        "(init (of nil)) (<= (list ?x) (true (of ?x))) (<= (list (s ?x)) (list ?x) (short ?x))"
        "(<= (short ?x) (true (of ?x))) (<= (short (s ?x)) (true (of ?x)))"
    )
    same = numbered("(list (s ?x#)) (distinct ?x# ?x+)", n - 1, 1)
    moves = shown_twice(
        f"{lists} (<= (legal you (m ?x0)) (list (s ?x0)) (distinct ?x0 ?x1) {same} (list (s ?x{n - 1})))"
    )
    assert moves == {"(m nil)", "(m (s nil))"}


@pytest.mark.parametrize("n", CONDITIONS)
def test_hundreds_of_conditions_stand_in_a_recursive_rule(n: int) -> None:
    facts = walks(1) + numbered("(init (ok# a)) (init (ok# b))", n) + numbered("(init (ok# c))", n - 1)
    rules = numbered("(<= (fine# ?x) (true (ok# ?x)) (distinct ?x none))", n)
    body = f"(path ?x ?y) {numbered('(fine# ?y)', n)} (path ?y ?z)"
    text = f"{facts} {rules} (<= (path ?x ?y) (true (edge ?x ?y))) (<= (path ?x ?z) {body})"
    moves = shown_twice(f"{text} (<= (legal you (m ?x ?y)) (path ?x ?y))")
    assert len(moves) == 8  # of 10, less those that lead over c
    assert not moves & {"(m a d)", "(m b d)"}


@pytest.mark.parametrize("check", ["", "(not (pair ?x0 ?x33))"], ids=["too many rows", "too much time"])
def test_a_deep_product_without_end_is_refused_in_time(check: str) -> None:
    n = 34
    facts = "".join(numbered(f"(init (a# {value}))", n) for value in range(6))
    facts += "(<= (pair ?x ?y) (true (a0 ?x)) (true (a33 ?y)))"
    body = f"{numbered('(true (a# ?x#))', n)} {check}"
    machine = ProverMachine(
        parse_rules(f"{GAME} {facts} (<= (legal you (m {numbered('?x#', n)})) {body})"),
        ProverLimits(rows=100_000, seconds=1.0 if check else 300.0),
    )
    with pytest.raises(TooLargeError, match="1 seconds" if check else "100000 rows"):
        machine.legal_moves(machine.initial_state(), 0)


def test_a_rule_with_too_many_variables_is_refused_before_it_is_planned() -> None:
    n = evaluator.MAX_VARIABLES + 1
    facts = numbered("(init (a# 0))", n)
    rule = f"(<= (legal you (m {numbered('?x#', n)})) {numbered('(true (a# ?x#))', n)})"
    with pytest.raises(TooLargeError, match=f"{n} variables.*make several rules"):
        shown_twice(f"{facts} {rule}")


@pytest.fixture(
    scope="module", params=[("loops", 1, 80), ("indentation", 16, 4), ("both", 1, 3)], ids=lambda p: p[0]
)
def small_functions(request: pytest.FixtureRequest) -> Iterator[None]:
    """Even ordinary bodies are cut into helpers, and look at the limits everywhere."""
    _, loops, indent = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "MAX_NESTED_LOOPS", loops)
        patch.setattr(conditions, "MAX_INDENT", indent)
        patch.setattr(evaluator, "WORK_BETWEEN_TICKS", 1)
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("small_functions")
@pytest.mark.parametrize("way", ["as planned", "top-down", "magic sets"])
@examples(60)
@given(text=games())
def test_answers_of_rules_cut_into_helpers_are_those_of_the_naive_evaluator(way: str, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if way != "as planned":
            patch.setattr(Estimates, "cheaper", lambda *_: True)
        machine = ProverMachine(parse_rules(text))
        machine._evaluator._estimates.shallow = way == "magic sets"
        assert_answers_are_those_of_the_naive_evaluator(machine)


def test_relations_of_facts_that_explode_share_the_time_of_one_question() -> None:
    wide = " ".join(f"(n ?v{i})" for i in range(8))
    more = "".join(f"(<= (next (a{i} ?v0 ?v1 ?v2 ?v3 ?v4 ?v5 ?v6 ?v7)) {wide})" for i in range(60))
    facts = "".join(f"(n {i})" for i in range(60))
    rules = parse_rules(f"(role r) (legal r m) (<= terminal (true x)) (goal r 0) {facts} {more}")
    began = time.process_time()
    ProverMachine(rules, ProverLimits(seconds=0.2))
    assert time.process_time() - began < 20
