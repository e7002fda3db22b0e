"""Levels written as rules behave as Sokoban does, in both forms, on every machine."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from gdl.checks.diagnostic import Severity
from gdl.checks.run import check_text
from gdl.errors import GdlError
from gdl.machine import Machine
from gdl.syntax.format import format_text
from gdl.syntax.parser import parse_rules
from players.kaskade.make_machine import make_machine
from players.puzzles.sokoban.levels.gdl import (
    assigned_pushes,
    level_of_gdl,
    level_to_gdl,
    push_distances,
    step_limit,
)
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.levels.read import read_levels
from tests.players.puzzles.sokoban.levels.simulator import Sokoban, random_level

FORMS = pytest.mark.parametrize("pushes", [False, True], ids=["steps", "pushes"])
EASY = Level(("#######", "#@ $ .#", "#  *  #", "#######"))
WIDE = Level(("#" * 30, "#@" + " " * 12 + "$" + " " * 13 + ".#", "#" * 30))
SPARE = Level(("########", "#@$ ...#", "########"))
ISLANDS = Level(("  ####  ###", "###  ####*#", "#@ $  .####", "###  ###   ", "  ####     "))


def machine_of(level: Level, pushes: bool, kind: str, steps: int | None = None) -> Machine:
    return make_machine(parse_rules(level_to_gdl(level, pushes=pushes, steps=steps)), kind)


def play_at_random(machine: Machine, level: Level, pushes: bool, limit: int, rng: random.Random) -> None:
    """One match beside the simulator: propositions, counter, legal moves, end and goals are the same."""
    state, truth, steps = machine.initial_state(), Sokoban.begin(level), 0
    while True:
        propositions = {str(p) for p in state.propositions}
        board = {p for p in propositions if p.startswith(("(at ", "(box "))}
        assert board == truth.propositions()
        if limit <= 100:
            counter = {f"(step {steps})"}
        else:
            digits = f"{steps:0{len(str(limit))}}"[::-1]
            counter = {f"({name} {d})" for name, d in zip(("ones", "tens", "hundreds"), digits, strict=False)}
        assert propositions - board == counter
        after = truth.moves(pushes)
        over = truth.solved or steps == limit or not after
        assert machine.is_terminal(state) == over
        assert machine.goal(state, 0) == 100 * truth.on_goals // len(truth.boxes)
        if over:
            return
        legal = {str(machine.move(0, i)): i for i in machine.legal_moves(state, 0)}
        assert legal.keys() == after.keys()
        move = rng.choice(sorted(legal))
        state, truth, steps = machine.next_state(state, [legal[move]]), after[move], steps + 1


@pytest.mark.parametrize("level", [EASY, WIDE, SPARE, ISLANDS])
def test_a_level_is_read_from_the_rules_that_were_written_from_it_and_from_no_others(level: Level) -> None:
    text = level_to_gdl(replace(level, title="A title", author="Somebody"))
    found = level_of_gdl(text)
    assert found is not None and level_to_gdl(found) == level_to_gdl(level)
    for other in (
        text.replace("(init (step 0))", "(init (step 1))").replace("(init (ones 0))", "(init (ones 1))"),
        text + "(wall a 1)\n",
        level_to_gdl(level, pushes=True),
        level_to_gdl(level, steps=7),
        "; Sokoban\n;   1  ####\n",
        "; Sokoban\n;   1  #@$#\n",
        "",
    ):
        assert level_of_gdl(other) is None


@FORMS
@pytest.mark.parametrize("kind", ["prover", "propnet"])
def test_random_play_is_that_of_a_simulator(pushes: bool, kind: str) -> None:
    rng = random.Random(f"{pushes}{kind}")
    played = 0
    while played < 8:
        try:
            (level,) = read_levels(str(random_level(rng)))
        except GdlError:
            continue
        limit = rng.choice([1, 30, 99, 100, 101, 110, 123])
        machine = machine_of(level, pushes, kind, limit)
        for _ in range(3):
            play_at_random(machine, level, pushes, limit, rng)
        played += 1


@FORMS
@pytest.mark.parametrize("level", [EASY, WIDE, SPARE, ISLANDS], ids=["easy", "wide", "spare", "islands"])
def test_rules_have_no_fault_and_the_layout_of_the_house(level: Level, pushes: bool) -> None:
    for steps in (None, 7, 1000):
        text = level_to_gdl(level, pushes=pushes, steps=steps)
        rules, findings = check_text(text)
        assert rules is not None
        assert not [str(d) for d in findings if d.severity > Severity.INFO]
        assert {d.code for d in findings} <= {"singleton-variable"}
        assert format_text(text) == text


@FORMS
def test_special_levels_are_played(pushes: bool) -> None:
    rng = random.Random(5)
    for level in (WIDE, SPARE, ISLANDS):
        machine = machine_of(level, pushes, "propnet", 60)
        for _ in range(3):
            play_at_random(machine, level, pushes, 60, rng)


def test_more_goals_than_boxes_are_solved_with_every_box_on_a_goal() -> None:
    state = machine_of(SPARE, True, "prover").initial_state()
    for _ in range(2):
        assert not state.terminal
        box = next(str(p) for p in state.propositions if p.name == "box")
        state = state.play(f"(push {box[5:-1]} right)")
    assert state.terminal and state.goals == {"keeper": 100}


@FORMS
def test_squares_outside_and_boxes_that_nobody_comes_to_do_not_exist(pushes: bool) -> None:
    machine = machine_of(ISLANDS, pushes, "propnet")
    rules = machine.rules
    names = {str(p) for p in machine.initial_state().propositions}
    assert "(box j 4)" not in names and sum(n.startswith("(box") for n in names) == 1
    network = machine.network  # type: ignore[attr-defined]
    squares = {str(p).split(" ", 1)[1] for p in network.bases if p.name in ("at", "box")}
    inside = {f"{'abcdefghijk'[x]} {5 - y})" for x, y in ISLANDS.inside}
    assert squares <= inside and len(rules) > 20


def test_the_map_stands_in_the_comment_and_what_a_file_says_cannot_leave_it() -> None:
    level = Level(EASY.rows, "Evil\n(role thief)\r\u2028x", "me; (init a)\x00")
    text = level_to_gdl(level)
    for row in EASY.rows:
        assert any(line.startswith(";") and line.endswith(f"  {row}") for line in text.splitlines())
    assert text.startswith("; Sokoban, Evil (role thief) x, by me; (init a): 2 boxes")
    assert [str(r.head) for r in parse_rules(text) if r.head.name == "role"] == ["(role keeper)"]


def test_the_step_limit_is_three_times_a_solution_that_is_known() -> None:
    assert step_limit(EASY, solution=13) == 39
    assert step_limit(EASY, solution=450) == 1400
    assert "(true (step 39))" in level_to_gdl(EASY, solution=13)
    assert "or after 5 moves" in level_to_gdl(EASY, steps=5)
    for bad in (0, -1, 10_000_000):
        with pytest.raises(ValueError, match="cannot end"):
            level_to_gdl(EASY, steps=bad)


def test_the_guess_grows_with_the_way_that_boxes_have_to_go() -> None:
    assert assigned_pushes(EASY) == 2
    assert assigned_pushes(WIDE) == 14
    assert push_distances(WIDE.inside, (28, 1)) == {(x, 1): 28 - x for x in range(2, 29)}
    for pushes in (False, True):
        assert step_limit(WIDE, pushes=pushes) > step_limit(SPARE, pushes=pushes) >= 10
    assert step_limit(WIDE) > step_limit(WIDE, pushes=True)
