"""Every player answers with a legal move, in time; one match, whoever leads it; stuck roles break none."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError, MoveError
from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.kaskade.kaskade import Event, Kaskade
from players.kaskade.make_machine import make_machine
from players.match import Match, MatchStep, MatchView, play_match
from players.player import Choice, IllegalChoiceError, Player
from players.portfolio import solve
from players.registry import NAMES, make_player
from propnet.analysis.random_play import forced_moves, rivals
from propnet.machine import PropnetMachine
from tests.examples import examples
from tests.gdl.test_states import ALONE, AT_FIRST, LATER, NOBODY
from tests.players.random_games import random_game

SLACK = 2.0
"""Seconds of its own computing by which a player may pass a deadline of a fraction of one."""
STALLED = 30.0
"""Seconds for which a busy computer may let nobody compute; a player that waits for longer hangs."""


def machine_of(text: str, level: str = "prover") -> Machine:
    return make_machine(parse_rules(text), level)


def follow(
    machine: Machine, players: list[Player], seconds: float = 5.0, steps: int = 100
) -> list[list[Choice]]:
    """Play a match; every choice is checked to be legal."""
    state = machine.initial_state()
    for role, player in enumerate(players):
        player.start(machine, role, state, seconds, time.monotonic() + seconds)
    turns: list[list[Choice]] = []
    while not machine.is_terminal(state) and len(turns) < steps:
        options = [machine.legal_moves(state, r) for r in range(len(players))]
        if not all(options):
            break
        choices = [player.choose(state, time.monotonic() + seconds) for player in players]
        for choice, moves in zip(choices, options, strict=True):
            assert choice.move in moves
            assert {c.move for c in choice.candidates} <= set(moves)
            assert all(c.visits >= 0 for c in choice.candidates)
            assert all(0 <= c.value <= 100 for c in choice.candidates if c.value is not None)
            if len(choice.candidates) > 1 and any(c.visits for c in choice.candidates):
                assert all((c.value is None) <= (c.visits == 0) for c in choice.candidates)
        turns.append(choices)
        state = machine.next_state(state, [choice.move for choice in choices])
    return turns


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", ["prover", "propnet"])
@examples(12)
@given(seed=st.integers(0, 10**6), roles=st.integers(1, 3), simultaneous=st.booleans())
def test_players_make_legal_moves_in_random_games(
    name: str, level: str, seed: int, roles: int, simultaneous: bool
) -> None:
    machine = machine_of(random_game(seed, roles, simultaneous), level)
    players = [make_player(name, seed) for _ in range(roles)]
    for player in players:
        if hasattr(player, "playouts"):
            player.playouts = 40
    # Players that have no such bound think until their deadline.
    bounded = all(hasattr(player, "playouts") for player in players)
    follow(machine, players, *((5.0, 100) if bounded else (0.05, 10)))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", ["prover", "propnet"])
@pytest.mark.parametrize("game", ["tictactoe", "breakthrough", "sokoban", "tron"])
def test_answers_come_by_the_deadline(name: str, level: str, game: str) -> None:
    machine = Game.load(game).machine(level)
    state = machine.initial_state()
    player = make_player(name, 1)
    player.start(machine, 0, state, 0.05, time.monotonic() + 0.05)
    for clock in (0.05, 0.2, 0.0, -1.0):
        computed, deadline = time.thread_time(), time.monotonic() + clock
        move = player.choose(state, deadline).move
        assert time.thread_time() - computed < max(clock, 0.0) + SLACK
        assert time.monotonic() - deadline < STALLED
        assert move in machine.legal_moves(state, 0)


@pytest.mark.parametrize("level", ["prover", "propnet"])
def test_random_and_legal_players_do_the_same_on_every_machine(level: str) -> None:
    texts = []
    for machine in (Game.load("breakthrough").machine("prover"), Game.load("breakthrough").machine(level)):
        players = [make_player("random", 5), make_player("legal")]
        turns = follow(machine, players, steps=10)
        texts.append([[str(machine.move(r, c.move)) for r, c in enumerate(turn)] for turn in turns])
    assert texts[0] == texts[1]


def test_random_player_makes_every_move_sometime_and_depends_on_its_seed() -> None:
    machine = Game.load("tictactoe").machine("prover")
    first = {
        follow(machine, [make_player("random", s), make_player("legal")], steps=1)[0][0].move
        for s in range(200)
    }
    assert len(first) == 9


def test_a_state_of_another_machine_is_answered_with_a_move_of_that_machine() -> None:
    game = Game.load("tictactoe")
    slow, fast = game.machine("prover"), game.machine("propnet")
    for name in NAMES:
        player = make_player(name, 3)
        player.start(slow, 0, slow.initial_state(), 0.2, time.monotonic() + 0.2)
        player.update_machine(fast)
        state = slow.initial_state().play("(mark b 2)", "noop").play("noop", "(mark a 1)")
        choice = player.choose(state, time.monotonic() + 0.2)
        assert choice.move in slow.legal_moves(state, 0)
        assert {c.move for c in choice.candidates} <= set(slow.legal_moves(state, 0))


def test_a_role_without_a_legal_move_is_an_error() -> None:
    machine = machine_of(
        "(role a) (role b) (legal a x) (init (p)) (<= terminal (true (q))) (goal a 1) (goal b 1)"
    )
    for name in NAMES:
        player = make_player(name)
        player.start(machine, 1, machine.initial_state(), 0.1, time.monotonic() + 0.1)
        with pytest.raises(MoveError, match="b has no legal move"):
            player.choose(machine.initial_state(), time.monotonic() + 0.1)


# --- Rules that leave a role without moves break neither machines nor players nor solvers
def _analysed(rules: Rules) -> object:
    machine = make_machine(rules, "native")
    assert isinstance(machine, PropnetMachine)
    return forced_moves(machine), rivals(machine)


def _kaskade(rules: Rules) -> None:
    events: list[Event] = []
    with Kaskade(on_event=events.append) as kaskade:
        kaskade.begin("\n".join(map(str, rules)), rules)
        kaskade.settle(60.0)
    assert [str(event) for event in events if event.what == "failed"] == []
    assert any(event.what == "ready" for event in events)


def _solved(rules: Rules) -> object:
    machine = make_machine(rules, "propnet")
    return solve(machine, 1.0) if len(machine.roles) == 1 else None


def _player(name: str, level: str) -> Callable[[Rules], object]:
    def play(rules: Rules) -> object:
        machine, player = make_machine(rules, level), make_player(name, 1)
        state = machine.initial_state()
        try:
            player.start(machine, 0, state, 0.1, time.monotonic() + 0.1)
            return player.choose(state, time.monotonic() + 0.2)
        finally:
            player.stop()

    return play


PLACES: dict[str, Callable[[Rules], Any]] = {
    "analysis": _analysed,
    "kaskade": _kaskade,
    "solve": _solved,
    **{
        f"{name} on {level}": _player(name, level)
        for name in NAMES
        for level in ("prover", "propnet", "native")
        if name != "tables"
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", [AT_FIRST, LATER, ALONE, NOBODY])
def test_rules_that_leave_a_role_without_moves_break_nothing(place: str, text: str) -> None:
    try:
        PLACES[place](parse_rules(text))
    except GdlError as error:
        assert "no legal move in the state" in error.message  # noqa: PT017 - no error is right, too


# --- One match, whoever leads it: what counts, what is drawn, where it ends, what is taken back
TOGETHER = """
(role random) (role a) (role b) (init (at 1)) (sign 1) (sign 2)
(<= (legal ?r (show ?x)) (role ?r) (distinct ?r b) (sign ?x)) (legal b wait)
(<= (next (at 2)) (true (at 1))) (<= (next (at 3)) (true (at 2))) (<= terminal (true (at 3)))
(goal a 70) (<= (goal b 1) (true (at 1)))
"""
STUCK_AT_ONCE = "(role x) (init (at 1)) (<= (legal x go) (true (at 1))) (<= (next (at 2)) (true (at 1)))"


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


def test_a_match_that_is_closed_goes_on_once_another_move_is_made() -> None:
    match = Match(Game.load("tictactoe").machine("prover"))
    for _ in range(2):
        match.replace(match.waiting[0], "")
        match.make()
    match.go_to(1)
    match.close("x resigned", [0, 100])
    assert (match.why, match.results, len(match.steps), match.over) == ("x resigned", [0, 100], 1, False)
    match.go_to(0)
    assert match.why == "" and match.closed is None
    match.go_to(1)
    assert match.closed is not None
    match.replace(match.waiting[0], "")
    match.make()
    assert match.why == ""
    match.go_to(1)
    assert match.closed is None


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
    whole, cut, stuck = match_of(TOGETHER), match_of(TOGETHER, max_steps=1), match_of(STUCK_AT_ONCE)
    for match in (whole, cut, stuck):
        while not (match.over or match.why):
            for role in match.waiting:
                match.replace(role, "none")
            match.make()
    assert (whole.over, whole.at, whole.why, whole.results) == (True, 2, "", [0, 70, 0])
    assert len(whole.doubts) == 1 and whole.doubts[0].startswith("no goal rule of b holds")
    assert (cut.over, cut.at, cut.doubts) == (False, 1, [])
    assert cut.why == "cut after 1 step, the limit of steps: the match is not over"
    longer = match_of(TOGETHER, max_steps=0)
    longer.replay(whole.steps[0].joint)
    assert (longer.at, longer.why[:11]) == (1, "cut after 0")
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
