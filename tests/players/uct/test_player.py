"""UCT finds what there is to find, proves what it can, follows lines; chance drawn, forced plies passed."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.positions import open_states
from bench.positions.solver import Solver, role_to_move
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.batch_machine import batch_machine_of
from players.kaskade.make_machine import make_machine
from players.player import Choice, Player
from players.uct.player import UctPlayer
from players.uct.root_statistics import RootStatistics, merge, rank
from players.uct.search import Search
from players.uct.tuning import Tuning
from players.uct.workers.channel import Slot, new_memory
from tests.examples import examples
from tests.games.small_sokoban import small_sokoban
from tests.machines import network
from tests.players.random_games import best_result, random_game
from tests.players.uct.searching import run, search_of
from tests.propnet.test_machine import BOTH

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


def test_room_is_made_before_a_batch_is_planned_and_only_if_there_is_time_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search = search_of(Game.load("connectfour").machine("propnet"), Tuning(memory=1 << 20))
    while not search.tree.full:
        assert not search.step(time.monotonic() + LONG)
    events = list[str]()
    make_room, plan = search.tree.make_room, search._sizes.plan
    monkeypatch.setattr(search.tree, "make_room", lambda: (events.append("room"), make_room())[1])
    monkeypatch.setattr(search._sizes, "plan", lambda *given: (events.append("plan"), plan(*given))[1])
    search._room_seconds = LONG + 1
    assert search.step(time.monotonic() + LONG) and not events
    search._room_seconds = 0.0
    assert not search.step(time.monotonic() + LONG) and events == ["room", "plan"]
    assert 0 < search._room_seconds < LONG


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


# --- Proven results: the tree finds them, and they decide the move
def search_until_proven(machine: Machine, role: int, state: State) -> RootStatistics:
    search = Search(role, 1, Tuning(memory=1 << 24))
    search.set_machine(machine)
    search.set_root(state)
    run(search)
    return search.statistics()


def test_a_win_that_is_told_as_100_and_0_is_proven() -> None:
    machine = network(BOTH)
    assert search_until_proven(machine, 0, machine.initial_state()).value == 100


@pytest.mark.parametrize("role", [0, 1])
def test_search_proves_connect_four_endgames_and_plays_a_move_that_keeps_the_value(role: int) -> None:
    machine = network("connectfour")
    solver = Solver(machine, 10**7)
    for state in open_states(machine, 32 + role, 3, seed=4):
        to_move = role_to_move(machine, state)
        value = solver.solve(state, to_move, 100, count=False).value
        found = search_until_proven(machine, role, state)
        assert found.value == (value if to_move == role else 100 - value)
        if to_move == role:
            by_text = sorted(
                machine.legal_moves(state, role), key=lambda m: machine.rules.spell(machine.move(role, m))
            )
            joint = [machine.legal_moves(state, r)[0] for r in range(2)]
            joint[role] = by_text[rank(found, role).best]
            after = machine.next_state(state, joint)
            if machine.is_terminal(after):
                assert machine.result(after, role) == value
            else:
                assert 100 - solver.solve(after, 1 - role, 100, count=False).value == value


def test_one_process_that_has_proven_a_move_decides_for_all() -> None:
    """As the player merges them: through the shared memory of each."""
    counts = (1, 3)
    parts = []
    for proven_by_this in (False, True):
        found = RootStatistics.empty(counts)
        found.visits[:] = [100, 90, 5, 5]
        found.totals[:] = [50.0, 80.0, 1.0, 1.0]
        if proven_by_this:
            found.proven[3] = 100
        value = 100 if proven_by_this else -1
        slot = Slot(new_memory())
        slot.write(1, RootStatistics(counts, found.visits, found.totals, found.proven, 10, 1, 1, value))
        told = slot.read(1)
        assert told is not None
        parts.append(told)
    assert rank(merge(counts, parts[:1]), 1).best == 0
    merged = merge(counts, parts)
    assert merged.value == 100
    assert rank(merged, 1).best == 2


# --- UCT where chance plays: its moves are drawn, all alike, and nothing is taken to be forced by it
# A safe move is worth 60; a risky one 90 in two of three cases, else 10: 63.3 on average. Chance that
# played for itself, or against the player, would make something else of it.
GAMBLE = """
(role player) (role random) (init (turn player))
(<= (legal player safe) (true (turn player)))
(<= (legal player risky) (true (turn player)))
(<= (legal player noop) (not (true (turn player))))
(<= (legal random (draw ?n)) (true (turn random)) (number ?n))
(<= (legal random noop) (not (true (turn random))))
(number 1) (number 2) (number 3)
(<= (next (turn random)) (does player risky))
(<= (next (result 60)) (does player safe))
(<= (next (result 90)) (does random (draw 1)))
(<= (next (result 90)) (does random (draw 2)))
(<= (next (result 10)) (does random (draw 3)))
(<= terminal (true (result ?v)))
(<= (goal player ?v) (true (result ?v)))
(<= (goal player 50) (not over))
(<= over (true (result ?v)))
"""
TOGETHER = GAMBLE.replace("(<= (legal random noop) (not (true (turn random))))", "").replace(
    "(<= (legal random (draw ?n)) (true (turn random)) (number ?n))",
    "(<= (legal random (draw ?n)) (number ?n))",
).replace("(<= (next (turn random)) (does player risky))", "").replace(
    "(does random (draw", "(does player risky) (does random (draw"
)  # fmt: skip

CHANCE_FIRST = GAMBLE.replace("(role player) (role random)", "(role random) (role player)")


def machine_of(text: str, level: str) -> Machine:
    return make_machine(parse_rules(text), level)


@pytest.mark.parametrize("level", ["prover", "propnet"])
@pytest.mark.parametrize("text", [GAMBLE, TOGETHER], ids=["in turn", "together"])
def test_a_gamble_is_worth_its_mean(text: str, level: str) -> None:
    machine = machine_of(text, level)
    player = UctPlayer(seed=3, playouts=1_500 if level == "prover" else 6_000)
    player.start(machine, 0, machine.initial_state(), 0.0, time.monotonic())
    choice = player.choose(machine.initial_state(), time.monotonic() + 60)
    player.stop()
    values = {str(machine.move(0, one.move)): one.value for one in choice.candidates}
    assert values["risky"] == pytest.approx(190 / 3, abs=4)
    assert "proven" not in choice.note
    if text is GAMBLE:
        assert str(machine.move(0, choice.move)) == "risky"


def test_draws_of_chance_are_alike() -> None:
    machine = machine_of(GAMBLE, "propnet")
    state = machine.initial_state().play("risky")
    player = UctPlayer(seed=1, playouts=1_024)
    player.start(machine, 1, state, 0.0, time.monotonic())
    visits = [one.visits for one in player.choose(state, time.monotonic() + 60).candidates]
    player.stop()
    expected = sum(visits) / 3
    assert sum((n - expected) ** 2 / expected for n in visits) < 13.8  # chi square, one in a thousand


def exploration(text: str, role: int) -> float:
    """The exploration constant of a search after 4,000 playouts."""
    machine = machine_of(text, "propnet")
    search = run(search_of(machine, Tuning(knowledge="off"), role=role), 4_000)
    return search.rounds._rules()[0].exploration


def test_moves_are_explored_as_much_where_chance_is_the_first_role() -> None:
    expected = exploration(GAMBLE, 0)
    assert expected > 0.1
    assert exploration(CHANCE_FIRST, 1) == pytest.approx(expected, rel=0.2)


def test_no_time_goes_to_trials_of_policies_in_which_no_game_would_count() -> None:
    search = Search(0, 1, Tuning(knowledge="off"))
    search.set_machine(machine_of(GAMBLE, "propnet"))
    assert search.rounds.rollouts.trials is None and search.rounds.carries
    search.set_machine(machine_of(random_game(1, 2, False), "propnet"))
    assert search.rounds.rollouts.trials is not None
