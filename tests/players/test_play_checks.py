"""Playing finds what is wrong with rules, and shows the match in which it was."""

from __future__ import annotations

import re

import pytest

from gdl.checks.diagnostic import Diagnostic
from gdl.checks.run import check_text
from gdl.information import hides
from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import BASE, INPUT
from ggp.game import Game
from ggp.rule_files import installed_games
from players import play_checks
from players.play_checks import PLAYED_KINDS, Rehearsal, Trail, declared, doubts, rehearse, walk
from tests.places import GAME_FILES

HIDING = [path.stem for path in installed_games() if hides(Game.load(path.stem).rules)]

CLEAN = """\
(role walker) (role other)
(base (at 1)) (base (at 2)) (base (at 3)) (base (step 1)) (base (step 2)) (base (step 3)) (base (step 4))
(input walker forward) (input walker wait) (input other wait)
(init (at 1)) (init (step 1))
(<= (legal walker forward) (true (at ?x)) (distinct ?x 3))
(legal walker wait)
(legal other wait)
(<= (next (at ?y)) (does walker forward) (true (at ?x)) (after ?x ?y))
(<= (next (at ?x)) (does walker wait) (true (at ?x)))
(<= (next (step ?t)) (true (step ?s)) (after ?s ?t))
(<= terminal (true (at 3)))
(<= terminal (true (step 4)))
(<= (goal walker 100) (true (at 3)))
(<= (goal walker 0) (not (true (at 3))))
(<= (goal other 100) (not (true (at 3))))
(<= (goal other 0) (true (at 3)))
(after 1 2) (after 2 3) (after 3 4)
"""

LONG = f"""\
(role walker) (init (at 1)) (legal walker right) (legal walker left)
(<= (next (at ?y)) (does walker right) (true (at ?x)) (after ?x ?y))
(<= (next lost) (does walker left)) (<= (next lost) (true lost))
(<= (next (at ?y)) (does walker left) (true (at ?x)) (after ?x ?y))
(<= terminal (true (at 40)))
(<= (goal walker 100) (not (true lost))) (<= (goal walker 0) (true lost))
{" ".join(f"(after {i} {i + 1})" for i in range(1, 40))}
"""
"""Forty steps, each of which may be the wrong one."""

ENDLESS = """\
(role walker) (init (at 1)) (legal walker on)
(<= (next (at ?y)) (true (at ?x)) (after ?x ?y))
(<= terminal (true (at 1)) (true (at 2))) (goal walker 100)
(after 1 2) (after 2 3) (after 3 1)
"""

HIDDEN = """\
(role guesser) (role random)
(base (coin heads)) (base (coin tails)) (base (step 0)) (base (step 1)) (base (step 2)) (base right)
(input guesser noop) (input guesser (call heads)) (input guesser (call tails)) (input guesser bow)
(input random noop) (input random (toss heads)) (input random (toss tails))
(side heads) (side tails) (init (step 0)) (succ 0 1) (succ 1 2)
(<= (legal random (toss ?s)) (true (step 0)) (side ?s)) (<= (legal random noop) (true (step 1)))
(<= (legal guesser noop) (true (step 0)))
(<= (legal guesser (call ?s)) (true (step 1)) (side ?s))
(<= (next (coin ?s)) (does random (toss ?s))) (<= (next (coin ?s)) (true (coin ?s)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= (next right) (does guesser (call ?s)) (true (coin ?s)))
(<= (sees guesser well) (does guesser (call ?s)) (true (coin ?s)))
(<= terminal (true (step 2)))
(<= (goal guesser 100) (true right)) (<= (goal guesser 0) (not (true right)))
"""
"""A coin is tossed, and named unseen; then it is seen whether that was right."""

BROKEN = {
    "moves-not-known": HIDDEN + "(<= (legal guesser bow) (true (step 1)) (true (coin tails)))",
    "goal-not-known": HIDDEN.replace("(sees guesser well)", "(sees random well)"),
    "stuck-role": CLEAN.replace("(legal other wait)", "(<= (legal other wait) (not (true (step 3))))"),
    "goal-undefined": CLEAN.replace("(<= (goal walker 0) (not (true (at 3))))", ""),
    "goal-ambiguous": CLEAN + "(<= (goal walker 30) (true (at 3)))",
    "never-terminal": CLEAN.replace("(step 4)))", "(step 9)))").replace(
        "terminal (true (at 3", "terminal (true (at 9"
    ),
    "cannot-win": CLEAN.replace("goal other 100", "goal other 90"),
    "never-won": LONG,
    "state-outside-base": CLEAN.replace("(base (step 3))", ""),
    "move-outside-input": CLEAN.replace("(input walker wait)", ""),
    "played-short": ENDLESS,
}


@pytest.fixture(params=["lanes", "prover"])
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The machine to play on."""
    if request.param == "prover":
        monkeypatch.setattr(play_checks, "GROUND_RULES", 0)
    return str(request.param)


def findings_of(text: str, playouts: int = 64, seconds: float = 60.0) -> list[Diagnostic]:
    return rehearse(parse_rules(text), Rehearsal(playouts, seconds))


def test_rules_that_are_right_have_no_findings(level: str) -> None:
    assert not findings_of(CLEAN)
    assert not findings_of(HIDDEN)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "moves-not-known",
            "guesser cannot know whether bow is legal after 1 step: it learns the same if the match below"
            " went 1. noop (toss heads)",
        ),
        ("goal-not-known", "guesser cannot know whether it gets"),
    ],
)
def test_states_that_a_role_cannot_tell_apart_are_told_with_both_matches(
    code: str, message: str, level: str
) -> None:
    (finding,) = findings_of(BROKEN[code])
    assert finding.code == code and finding.message.startswith(message)
    assert finding.evidence is not None
    assert "(toss heads)" in finding.message or "(toss tails)" in finding.message
    tossed = finding.evidence.moves[0][1]
    assert tossed not in finding.message  # the other match is another one


@pytest.mark.parametrize("name", HIDING)
def test_in_our_own_games_every_role_knows_its_moves_and_its_goal(name: str) -> None:
    assert doubts(Game.load(name).machine("propnet"), 5.0, 3, matches=12) == []


def test_every_kind_has_a_game() -> None:
    assert set(BROKEN) == set(PLAYED_KINDS)


@pytest.mark.parametrize(
    "code", [code for code in BROKEN if code not in ("played-short", "never-won", "cannot-win")]
)
def test_what_is_broken_is_found_with_the_match_that_shows_it(code: str, level: str) -> None:
    text = BROKEN[code]
    rules = parse_rules(text)
    found = [d for d in findings_of(text, 2 if code == "never-terminal" else 64) if d.code == code]
    assert found
    for finding in found:
        assert finding.place.line
        if code == "never-terminal":
            continue
        assert finding.evidence is not None
        machine = ProverMachine(rules)
        state = machine.initial_state()
        for joint in finding.evidence.moves:
            state = state.play(*joint)
        assert sorted(finding.evidence.state) == sorted(map(str, state.propositions))
        role = next((r for r, name in enumerate(machine.roles) if finding.message.startswith(f"{name} ")), 0)
        if code == "moves-not-known":
            (move,) = re.findall(r"whether (.*) is legal", finding.message)
            assert move in state.legal[str(machine.roles[role])]
        elif code == "goal-not-known":
            assert machine.is_terminal(state)
            assert str(machine.goal(state, role)) in finding.message
        elif code == "stuck-role":
            assert not machine.is_terminal(state)
            assert not machine.legal_moves(state, role)
        elif code.startswith("goal"):
            assert machine.is_terminal(state)
            values = machine.goal_values(state, role)
            assert len(values) != 1
            assert all(str(value) in finding.message for value in values)


def test_a_role_that_cannot_win_is_known_from_the_ground_rules() -> None:
    (finding,) = findings_of(BROKEN["cannot-win"])
    assert (finding.code, finding.message) == (
        "cannot-win",
        "other cannot get 100: the most that can hold is 90",
    )


def test_a_goal_that_no_playout_reached_is_only_a_note() -> None:
    (finding,) = findings_of(BROKEN["never-won"])
    assert (finding.code, str(finding.severity)) == ("never-won", "info")


def test_matches_that_all_end_with_the_same_goals_are_one_finding(level: str) -> None:
    goals = "(<= (goal other 100) (not (true lost))) (<= (goal other 0) (true lost))"
    (finding,) = findings_of(f"{LONG} (role other) (legal other wait) {goals}")
    assert finding.message == (
        "walker and other did not get 100 in 64 playouts that ended, 0 and 0 at most;"
        " all ended with the same goals"
    )


def test_time_is_kept_and_said(level: str) -> None:
    codes = [d.code for d in findings_of(ENDLESS, 64, 0.0)]
    assert codes == ["played-short"]


def test_a_playout_on_lanes_follows_the_rules_step_by_step() -> None:
    from players.kaskade.make_machine import make_machine

    rules = parse_rules((GAME_FILES["tictactoe"]).read_text())
    machine: Machine = make_machine(rules, "propnet")
    walks = walk(machine, 200, 60.0)
    assert walks.ended == walks.playouts == 200
    assert not walks.stuck
    assert not walks.cut
    assert walks.best == [100, 100]
    assert len(walks.moves) == 20  # nine marks and a noop for each role
    prover = ProverMachine(rules)
    for (role, move), tell in walks.moves.items():
        trail = tell()
        assert isinstance(trail, Trail)
        state = prover.initial_state()
        for joint in trail.moves:
            state = state.play(*[machine.move(r, m) for r, m in enumerate(joint)])
        assert state == trail.state
        assert prover.move_id(role, machine.move(role, move)) in prover.legal_moves(state, role)


def test_declared_facts_are_those_of_the_rules() -> None:
    rules = parse_rules(
        "(role a) (role b) (legal a x) (index 1) (index 2) (base (step 0))"
        "(<= (base (cell ?x ?y)) (index ?x) (index ?y)) (<= (input ?r (mark ?x)) (role ?r) (index ?x))"
        "(<= (base (last ?x)) (base (cell ?x ?x))) (<= (base (odd a)) (true (cell 1 1)))"
    )
    assert declared(rules, (BASE, 1)) is None  # a base rule asks for the state, which it must not
    rules = Rules(rules.rules[:-1], rules.spelling)
    base, inputs = declared(rules, (BASE, 1)), declared(rules, (INPUT, 2))
    assert base == set(map(parse_term, ["(step 0)", *(f"(cell {x} {y})" for x in (1, 2) for y in (1, 2)),
                                        "(last 1)", "(last 2)"]))  # fmt: skip
    assert inputs == {parse_term(f"(pair {r} (mark {x}))") for r in "ab" for x in (1, 2)}
    assert declared(parse_rules("(role a) (legal a x)"), (BASE, 1)) is None


@pytest.mark.parametrize("name", ["tictactoe", "connectfour", "hanoi", "nim", "rockpaperscissors", "chomp"])
def test_our_own_games_are_accused_of_nothing(name: str) -> None:
    text = (GAME_FILES[name]).read_text()
    rules, static = check_text(text)
    assert rules is not None
    assert not [d for d in [*static, *rehearse(rules, Rehearsal(128, 5.0))] if d.severity > 0]
