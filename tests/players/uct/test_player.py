"""UCT finds what there is to find, proves what it can, and follows the lines it has found."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.machine import Machine, State
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.batch_machine import batch_machine_of
from players.kaskade.make_machine import make_machine
from players.player import Choice, Player
from players.uct.player import UctPlayer
from players.uct.tuning import Tuning
from tests.examples import examples
from tests.games.small_sokoban import small_sokoban
from tests.players.random_games import best_result, random_game
from tests.players.uct.searching import search_of

LONG = 300.0
"""Seconds that no test needs: what counts there is the number of playouts."""
LEVELS = ["prover", "propnet"]


def ask(machine: Machine, state: State, role: int, iterations: int, seed: int = 0, **options: int) -> Choice:
    player = UctPlayer(seed=seed, playouts=iterations, **options)
    player.start(machine, role, state, 0.0, 0.0)
    return player.choose(state, time.monotonic() + LONG)


def name(machine: Machine, role: int, choice: Choice) -> str:
    return machine.rules.spell(machine.move(role, choice.move))


@pytest.mark.parametrize("level", LEVELS)
def test_wins_in_one_and_blocks_losses_in_one(level: str) -> None:
    machine = Game.load("tictactoe").machine(level)
    state = machine.initial_state()
    for x, o in (("(mark a 1)", "(mark c 3)"), ("(mark a 2)", "(mark c 2)")):
        state = state.play(x).play(o)
    assert name(machine, 0, ask(machine, state, 0, 300)) == "(mark a 3)"
    blocked = state.play("(mark b 1)")
    assert name(machine, 1, ask(machine, blocked, 1, 300)) == "(mark c 1)"
    threatened = machine.initial_state().play("(mark a 1)").play("(mark b 2)").play("(mark a 2)")
    assert name(machine, 1, ask(machine, threatened, 1, 600)) == "(mark a 3)"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("roles", [1, 2])
@examples(15)
@given(seed=st.integers(0, 10**6))
def test_plays_small_games_as_well_as_trying_everything_does(level: str, roles: int, seed: int) -> None:
    machine = make_machine(parse_rules(random_game(seed, roles, simultaneous=False)), level)
    state = machine.initial_state()
    player = UctPlayer(seed=seed, playouts=1500)
    player.start(machine, 0, state, LONG, time.monotonic() + LONG)
    rival = UctPlayer(seed=seed + 1, playouts=1500)
    players: list[Player] = [player, rival][:roles]
    for role, other in enumerate(players[1:], 1):
        other.start(machine, role, state, LONG, time.monotonic() + LONG)
    value = best_result(machine, state)
    while not machine.is_terminal(state):
        joint = [p.choose(state, time.monotonic() + LONG).move for p in players]
        state = machine.next_state(state, joint)
        assert best_result(machine, state) == value


@examples(30)
@given(seed=st.integers(0, 10**6), roles=st.integers(1, 2))
def test_what_it_says_is_proven_is_true(seed: int, roles: int) -> None:
    machine = make_machine(parse_rules(random_game(seed, roles, simultaneous=False, steps=6)), "propnet")
    state = machine.initial_state()
    choice = ask(machine, state, 0, 4000, seed)
    if "proven" in choice.note:
        proven = int(choice.note.rsplit("proven ", 1)[1])
        assert proven == best_result(machine, state)


@pytest.mark.parametrize(
    ("game", "level"),
    [("sokoban", "propnet"), ("sokoban", "prover"), ("knightstour", "propnet"), ("queens", "propnet")],
)
def test_solves_puzzles_and_follows_the_line_to_the_end(game: str, level: str) -> None:
    machine = (small_sokoban() if game == "sokoban" else Game.load(game)).machine(level)
    state = machine.initial_state()
    player = UctPlayer(seed=2, playouts=20_000 if level == "propnet" else 3000)
    player.start(machine, 0, state, LONG, time.monotonic() + LONG)
    while not machine.is_terminal(state):
        state = machine.next_state(state, [player.choose(state, time.monotonic() + LONG).move])
    assert machine.goal(state, 0) == 100


def test_line_is_given_up_when_another_move_was_made() -> None:
    machine = small_sokoban().machine("propnet")
    state = machine.initial_state()
    player = UctPlayer(seed=2, playouts=20_000)
    player.start(machine, 0, state, LONG, time.monotonic() + LONG)
    chosen = player.choose(state, time.monotonic() + LONG).move
    other = next(m for m in machine.legal_moves(state, 0) if m != chosen)
    state = machine.next_state(state, [other])
    while not machine.is_terminal(state):
        choice = player.choose(state, time.monotonic() + LONG)
        assert choice.move in machine.legal_moves(state, 0)
        state = machine.next_state(state, [choice.move])
    assert machine.goal(state, 0) == 100


def test_line_goes_on_when_a_faster_machine_is_ready() -> None:
    game = small_sokoban()
    slow, fast = game.machine("prover"), game.machine("propnet")
    player = UctPlayer(seed=4, playouts=3000)
    state = slow.initial_state()
    player.start(slow, 0, state, LONG, time.monotonic() + LONG)
    state = slow.next_state(state, [player.choose(state, time.monotonic() + LONG).move])
    player.update_machine(fast)
    now = fast.state_of(state.propositions)
    note = player.choose(now, time.monotonic() + LONG).note
    assert note.startswith("goes on with the line found, 100")


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("game", ["tictactoe", "rockpaperscissors", "sokoban", "chinesecheckers"])
def test_same_seed_and_iterations_give_the_same_answer(game: str, level: str) -> None:
    machine = Game.load(game).machine(level)
    state = machine.initial_state()
    iterations = 700 if level == "propnet" else 20
    first, second = (ask(machine, state, 0, iterations, seed=7) for _ in range(2))
    assert (first.move, first.candidates) == (second.move, second.candidates)


def test_a_dominant_simultaneous_move_is_found() -> None:
    text = """(role a) (role b) (init (now)) (<= (legal ?r ?m) (role ?r) (choice ?m))
    (choice take) (choice leave)
    (<= (next (took ?r)) (does ?r take)) (<= (next over) (true (now)))
    (<= terminal (true over))
    (<= (goal ?r 90) (true (took ?r)) (other ?r ?o) (not (true (took ?o))))
    (<= (goal ?r 40) (true (took ?r)) (other ?r ?o) (true (took ?o)))
    (<= (goal ?r 60) (role ?r) (not (true (took a))) (not (true (took b))))
    (<= (goal ?r 10) (role ?r) (not (true (took ?r))) (other ?r ?o) (true (took ?o)))
    (other a b) (other b a)"""
    machine = make_machine(parse_rules(text), "propnet")
    for role in (0, 1):
        choice = ask(machine, machine.initial_state(), role, 20_000)
        assert name(machine, role, choice) == "take"
        assert "proven" not in choice.note


def test_games_that_are_not_zero_sum_are_not_said_to_be_proven() -> None:
    text = """(role a) (role b) (init (turn a)) (<= (legal ?r left) (true (turn ?r)))
    (<= (legal ?r right) (true (turn ?r))) (<= (legal ?r noop) (role ?r) (not (true (turn ?r))))
    (<= (next (turn b)) (true (turn a))) (<= (next (over ?m)) (does b ?m) (true (turn b)))
    (<= (next (first ?m)) (does a ?m) (true (turn a))) (<= (next (first ?m)) (true (first ?m)))
    (<= terminal (true (over ?m)))
    (<= (goal ?r 100) (role ?r) (true (over left)) (true (first left)))
    (<= (goal ?r 0) (role ?r) (true (over right)))
    (<= (goal ?r 50) (role ?r) (true (over left)) (true (first right)))"""
    machine = make_machine(parse_rules(text), "propnet")
    choice = ask(machine, machine.initial_state(), 0, 5000)
    assert name(machine, 0, choice) == "left"
    assert "proven" not in choice.note


def test_a_note_says_what_the_move_is_expected_to_bring() -> None:
    machine = Game.load("connectfour").machine("propnet")
    choice = ask(machine, machine.initial_state(), 0, 2000)
    assert choice.note.endswith(f", expects {choice.candidates[0].value:.0f} of 100")


@pytest.mark.slow
def test_memory_stays_bounded_and_the_search_goes_on_when_the_tree_is_full() -> None:
    machine = Game.load("connectfour").machine("propnet")
    state = machine.initial_state()
    player = UctPlayer(seed=1, playouts=60_000, memory=1 << 20)
    player.start(machine, 0, state, 0.0, 0.0)
    choice = player.choose(state, time.monotonic() + LONG)
    assert sum(c.visits for c in choice.candidates) == 60_000
    tree = player._own_search().tree
    assert tree.nodes <= len(tree.arrays.nodes) < 30_000
    for _ in range(4):
        state = machine.next_state(state, [m[0] for m in (machine.legal_moves(state, r) for r in (0, 1))])
        player.choose(state, time.monotonic() + LONG)


@pytest.mark.parametrize("game", ["connectfour", "tron"])
def test_room_is_made_by_dropping_states_and_not_what_is_known_of_moves(game: str) -> None:
    machine = Game.load(game).machine("propnet")
    search = search_of(machine, Tuning(memory=1 << 20))
    tree = search.tree
    for _ in range(3):
        while not tree.full:
            assert not search.step(time.monotonic() + LONG)
        before, states = search.statistics(), tree.nodes
        tree.make_room()
        after = search.statistics()
        assert tree.nodes < states
        assert not tree.full
        for field in ("visits", "totals", "proven"):
            assert np.array_equal(getattr(before, field), getattr(after, field))


def test_the_subtree_of_the_moves_made_is_kept() -> None:
    machine = Game.load("connectfour").machine("propnet")
    state = machine.initial_state()
    player = UctPlayer(seed=1, playouts=20_000)
    player.start(machine, 0, state, 0.0, 0.0)
    move = player.choose(state, time.monotonic() + LONG).move
    state = machine.next_state(state, [move, machine.legal_moves(state, 1)[0]])
    state = machine.next_state(state, [machine.legal_moves(state, r)[0] for r in (0, 1)])
    player.playouts = 512
    visits = sum(c.visits for c in player.choose(state, time.monotonic() + LONG).candidates)
    assert visits > 512


@pytest.mark.parametrize("level", LEVELS)
def test_playouts_can_be_replayed_move_by_move(level: str) -> None:
    machine = small_sokoban().machine(level)
    batched = batch_machine_of(machine)
    each = 300 if level == "propnet" else 2
    first = machine.initial_state()
    starts = [first, machine.next_state(first, [machine.legal_moves(first, 0)[0]]), first]
    records = np.stack([batched.record(state) for state in starts])
    ends = batched.playouts(records, 5, 100, time.monotonic() + LONG, each)
    count = 3 * each
    for row in {0, 1, each - 1, each, each + 1, 2 * each, count - 1}:
        state = starts[row // each]
        moves = batched.playout_moves(row)
        assert len(moves) == ends.lengths[row]
        for move in moves:
            assert not machine.is_terminal(state)
            assert move in machine.legal_moves(state, 0)
            state = machine.next_state(state, [move])
        assert machine.is_terminal(state)
        assert machine.goal(state, 0) == ends.goals[row, 0]
