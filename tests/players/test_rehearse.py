"""Playing finds what is wrong with rules, and shows the match in which it was."""

from __future__ import annotations

import pytest

from gdl.checks.diagnostic import Diagnostic
from gdl.checks.run import check_text
from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import BASE, INPUT
from players import rehearse as rehearse_module
from players.rehearse import PLAYED_KINDS, Rehearsal, declared, rehearse
from players.walks import Trail, walk
from tests.places import GAMES

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

BROKEN = {
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
        monkeypatch.setattr(rehearse_module, "GROUND_RULES", 0)
    return str(request.param)


def findings_of(text: str, playouts: int = 64, seconds: float = 60.0) -> list[Diagnostic]:
    return rehearse(parse_rules(text), Rehearsal(playouts, seconds))


def test_rules_that_are_right_have_no_findings(level: str) -> None:
    assert not findings_of(CLEAN)


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
        if code == "stuck-role":
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


def test_time_is_kept_and_said(level: str) -> None:
    codes = [d.code for d in findings_of(ENDLESS, 64, 0.02)]
    assert codes == ["played-short"]


def test_a_playout_on_lanes_follows_the_rules_step_by_step() -> None:
    from players.kaskade.make_machine import make_machine

    rules = parse_rules((GAMES / "tictactoe.kif").read_text())
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
    text = (GAMES / f"{name}.kif").read_text()
    rules, static = check_text(text)
    assert rules is not None
    assert not [d for d in [*static, *rehearse(rules, Rehearsal(128, 5.0))] if d.severity > 0]
