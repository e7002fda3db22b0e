"""Games of chance and of hidden information are OpenSpiel's too: chance nodes, information states, its
algorithms."""

from __future__ import annotations

import pickle
import random
from typing import Any

import pytest

from gdl.machine import State
from ggp.game import Game

pyspiel = pytest.importorskip("pyspiel", reason="pip install 'kaskade-ggp[rl]'")
from ggp.adapters import load_gdl  # noqa: E402  (needs pyspiel)


def walk(game: Any, seed: int) -> Any:
    """The states of a random match, one after the other."""
    rng, state = random.Random(seed), game.new_initial_state()
    yield state
    while not state.is_terminal():
        state = state.clone()
        if state.is_chance_node():
            state.apply_action(rng.choice(state.chance_outcomes())[0])
        elif state.is_simultaneous_node():
            players = range(game.num_players())
            state.apply_actions([rng.choice(state.legal_actions(player)) for player in players])
        else:
            state.apply_action(rng.choice(state.legal_actions()))
        yield state


@pytest.mark.parametrize("name", ["kuhn", "montyhall", "twentyfortyeight"])
def test_chance_is_no_player_and_draws_all_its_legal_moves_alike(name: str) -> None:
    game = load_gdl(name, max_steps=40)
    machine = game.rules.machine
    kind = game.get_type()
    assert kind.chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    hidden = kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    assert hidden == (name != "twentyfortyeight")
    assert game.num_players() == len(machine.roles) - 1
    drawn = 0
    for state in walk(game, 1):
        if state.is_chance_node():
            moves = machine.legal_moves(State(machine, state.key), game.rules.chance)
            assert state.chance_outcomes() == [(move, 1 / len(moves)) for move in moves]
            drawn += 1
    assert drawn


def test_an_information_state_is_what_a_role_did_and_saw_and_nothing_else() -> None:
    game = load_gdl("kuhn")
    state = game.new_initial_state()
    state.apply_action(state.string_to_action("(deal jack king)"))
    assert state.current_player() == 0
    state.apply_action(state.string_to_action("bet"))
    assert state.information_state_string(1) == "1 noop: (card king)\n2 noop: (move first bet)"
    assert state.observation_string(1) == "2 noop: (move first bet)"
    assert state.information_state_string(0) == "1 noop: (card jack)\n2 bet: (move first bet)"
    again = pickle.loads(pickle.dumps(state))
    assert again.information_state_string(1) == state.information_state_string(1)
    assert len(state.information_state_tensor(1)) == 4 * len(state.observation_tensor(1))


@pytest.mark.parametrize("name", ["kuhn", "montyhall", "blindtictactoe", "numberguessing"])
def test_equal_information_states_have_equal_tensors_and_legal_moves(name: str) -> None:
    game = load_gdl(name, dynamics="sequential", max_steps=20)
    seen: dict[tuple[int, str], tuple[Any, ...]] = {}
    again = 0
    for seed in range(60):
        for state in walk(game, seed):
            if state.is_terminal() or state.is_chance_node():
                continue
            player = state.current_player()
            key = player, state.information_state_string()
            told = (state.legal_actions(), state.information_state_tensor(), state.observation_tensor())
            again += key in seen
            assert seen.setdefault(key, told) == told
    tensors = {(player, *told[1]) for (player, _), told in seen.items()}
    assert again > 10 and len(tensors) == len(seen)


def test_where_roles_choose_at_once_nobody_learns_of_the_others_choice_before_the_joint_move() -> None:
    game = load_gdl("blindtictactoe", dynamics="sequential")
    told = set()
    for action in game.new_initial_state().legal_actions():
        state = game.new_initial_state()
        state.apply_action(action)
        assert state.current_player() == 1
        told.add((state.information_state_string(), state.observation_string(), *state.legal_actions()))
    assert len(told) == 1
    assert load_gdl("blindtictactoe").new_initial_state().is_simultaneous_node()


@pytest.mark.parametrize(
    ("ours", "theirs", "coin", "states"),
    [
        ("kuhn", "kuhn_poker", 25, 12),
        pytest.param("leduc", "leduc_poker", 3, 936, marks=pytest.mark.slow),
    ],
)
def test_openspiel_finds_the_same_in_our_rules_as_in_its_own_game(
    ours: str, theirs: str, coin: int, states: int
) -> None:
    from open_spiel.python.algorithms.exploitability import nash_conv
    from open_spiel.python.policy import TabularPolicy

    game, other = load_gdl(ours), pyspiel.load_game(theirs)
    uniform = TabularPolicy(game)
    assert len(uniform.state_lookup) == len(TabularPolicy(other).state_lookup) == states
    in_coins = nash_conv(game, uniform) * 50 / coin
    assert in_coins == pytest.approx(nash_conv(other, TabularPolicy(other)), abs=1e-9)


@pytest.mark.slow
def test_openspiels_cfr_and_ours_find_the_value_of_kuhn_poker_in_our_rules() -> None:
    from open_spiel.python.algorithms.cfr import CFRPlusSolver
    from open_spiel.python.algorithms.expected_game_score import policy_value
    from open_spiel.python.algorithms.exploitability import nash_conv

    from bench.exploitability import measure

    value, exploitable, _ = measure("kuhn", seconds=5.0, coin=25, rounds=600)
    assert value == pytest.approx(-1 / 18, abs=0.002) and 0 <= exploitable < 0.005
    game = load_gdl("kuhn")
    solver = CFRPlusSolver(game)
    for _ in range(60):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    assert policy_value(game.new_initial_state(), [policy] * 2)[0] * 2 == pytest.approx(-1 / 18, abs=0.01)
    assert nash_conv(game, policy) < 0.05


@pytest.mark.slow
def test_leduc_poker_is_hardly_exploitable_as_openspiel_measures_it() -> None:
    from bench.exploitability import measure

    value, exploitable, _ = measure("leduc", seconds=30.0, coin=3, rounds=400)
    assert 0 <= exploitable < 0.05
    assert value == pytest.approx(-0.0856, abs=0.005)


def test_the_longest_match_of_a_small_game_is_found_by_looking_at_all_its_states() -> None:
    from players.belief.lane_worlds import longest_by_layers

    for name, longest in (("kuhn", 4), ("montyhall", 4)):
        machine = Game.load(name).machine("propnet")
        assert longest_by_layers(machine) == longest
    assert longest_by_layers(Game.load("tictactoe").machine("propnet")) == 9
    assert longest_by_layers(Game.load("connectfour").machine("propnet"), 10_000) is None
