"""One match, whoever leads it: what counts, what is drawn, where it ends, what is taken back."""

from __future__ import annotations

import random

import pytest

from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.match import Match, MatchStep, MatchView, play_match
from players.player import Choice, IllegalChoiceError, Player
from players.registry import make_player

TOGETHER = """
(role random) (role a) (role b) (init (at 1)) (sign 1) (sign 2)
(<= (legal ?r (show ?x)) (role ?r) (distinct ?r b) (sign ?x)) (legal b wait)
(<= (next (at 2)) (true (at 1))) (<= (next (at 3)) (true (at 2))) (<= terminal (true (at 3)))
(goal a 70) (<= (goal b 1) (true (at 1)))
"""
STUCK = "(role x) (init (at 1)) (<= (legal x go) (true (at 1))) (<= (next (at 2)) (true (at 1)))"


def match_of(rules: str, seed: int = 1, **options: int) -> Match:
    return Match(ProverMachine(parse_rules(rules)), random.Random(seed), max_steps=options.get("max_steps"))


def test_roles_with_a_choice_are_waited_for_and_a_forced_move_is_made_by_itself() -> None:
    match = match_of(TOGETHER)
    assert (match.chance, match.waiting, match.stuck, match.why) == (0, [0, 1], [], "")
    match.answer(0, Choice(match.draw(0)))
    match.answer(1, Choice(match.in_order(1)[1], note="the second"))
    match.answer(2, Choice(match.options[2][0]))
    assert match.waiting == []
    step = match.make()
    assert [match.machine.rules.spell(match.machine.move(r, m)) for r, m in enumerate(step.joint)][1:] == [
        "(show 2)",
        "wait",
    ]
    assert (step.number, set(step.choices), step.choices[1].note, step.faults) == (
        1,
        {0, 1},
        "the second",
        {},
    )
    assert (match.at, match.waiting) == (1, [0, 1])


def test_what_does_not_count_is_replaced_by_a_legal_move_of_the_same_draw_on_every_machine() -> None:
    game, played = Game.load("tictactoe"), list[list[str]]()
    for level in ("prover", "propnet"):
        match = Match(game.machine(level), random.Random(3))
        with pytest.raises(IllegalChoiceError, match="the move of x is not legal"):
            match.answer(0, Choice(-1))
        while not match.over:
            for role in match.waiting:
                match.replace(role, "late")
            assert list(match.make().faults.values()) == ["late"]
        names = [match.machine.rules.spell(match.machine.move(0, step.joint[0])) for step in match.steps]
        played.append(names)
    assert played[0] == played[1]


def test_a_match_ends_by_its_rules_where_a_role_is_stuck_or_after_so_many_steps() -> None:
    whole, cut, stuck = match_of(TOGETHER), match_of(TOGETHER, max_steps=1), match_of(STUCK)
    for match in (whole, cut, stuck):
        while not (match.over or match.why):
            for role in match.waiting:
                match.replace(role, "none")
            match.make()
    assert (whole.over, whole.at, whole.why, whole.results) == (True, 2, "", [0, 70, 0])
    assert len(whole.doubts) == 1 and whole.doubts[0].startswith("no goal rule of b holds")
    assert (cut.over, cut.at, cut.doubts) == (False, 1, [])
    assert cut.why == "cut after 1 step, the limit of steps: the match is not over"
    assert stuck.stuck == [0] and stuck.why.endswith("which is not terminal: the match cannot go on")


def test_steps_are_taken_back_and_forgotten_once_another_is_made() -> None:
    match = match_of(TOGETHER)
    for _ in range(2):
        for role in match.waiting:
            match.answer(role, Choice(match.in_order(role)[0]))
        match.make()
    states = match.states
    match.go_to(1)
    assert (match.state, match.over, match.states) == (states[1], False, states)
    match.answer(1, Choice(match.in_order(1)[1]))
    match.forget()
    assert match.waiting == [0, 1]
    assert match.replay(match.steps[1].joint).number == 2
    assert (match.states, len(match.steps)) == (states, 2)
    match.go_to(0)
    match.replay(match.steps[1].joint)
    assert (match.at, len(match.steps)) == (1, 1)


def test_a_role_without_a_choice_is_not_asked_and_a_view_sees_each_state_and_step() -> None:
    machine = Game.load("tictactoe").machine("prover")

    class Noting(MatchView):
        seen: list[object] = []  # noqa: RUF012 - of one test

        def thinking(self, role: int, deadline: float) -> None:
            self.seen.append(role)

        def step(self, step: MatchStep) -> None:
            self.seen.append(sorted(step.choices))

    players: list[Player] = [make_player("random", 1), make_player("random", 2)]
    view = Noting(machine, players)
    match = play_match(machine, players, view, 0.0, 1.0, max_steps=4)
    assert view.seen == [0, [0], 1, [1], 0, [0], 1, [1]]
    assert (match.at, match.over) == (4, False)
