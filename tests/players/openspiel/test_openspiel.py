"""Our games, hidden ones too, pass OpenSpiel's own tests, and its bots and algorithms play ours."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from typing import Any

import pytest

from gdl.errors import GdlError
from gdl.machine import State
from ggp.game import Game
from players.registry import make_player
from tests.places import ROOT

pyspiel = pytest.importorskip("pyspiel", reason="pip install 'kaskade-ggp[rl]'")
from ggp.adapters import load_gdl  # noqa: E402  (needs pyspiel)
from ggp.adapters.openspiel import board_text  # noqa: E402  (needs pyspiel)

OPEN = "tictactoe", "connectfour", "tron", "rockpaperscissors", "eightpuzzle", "hex"
HIDDEN = "kuhn", "montyhall", "blindtictactoe", "numberguessing", "twentyfortyeight"
"""Games of chance and of hidden information."""
RIVALS = """(role a) (role b) (init (turn a)) (<= (next (turn b)) (true (turn a)))
    (<= (legal ?r go) (true (turn ?r))) (<= (legal ?r stay) (true (turn ?r)))
    (<= (legal ?r wait) (role ?r) (not (true (turn ?r)))) (<= (next (won)) (does b go))
    (<= terminal (not (true (turn a))) (not (true (turn b)))) (<= (goal b 100) (true (won)))
    (<= (goal b 20) (not (true (won)))) (goal a 0)"""

PENNIES = """(role even) (role odd) (init begin)
    (<= (legal ?r (show ?side)) (role ?r) (side ?side)) (side heads) (side tails)
    (<= (next same) (does even (show ?side)) (does odd (show ?side))) (<= (next over) (does even ?move))
    (<= terminal (true over)) (<= (goal even 100) (true same)) (<= (goal even 0) (not (true same)))
    (<= (goal odd 0) (true same)) (<= (goal odd 100) (not (true same)))"""


@pytest.mark.slow
@pytest.mark.parametrize("name", [*OPEN, *HIDDEN])
def test_openspiel_tests_our_games_with_serialisation(name: str) -> None:
    game = load_gdl(name, max_steps=60 if name in OPEN else 40)
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    assert pyspiel.load_game(game.get_type().short_name).num_players() == game.num_players()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["connectfour", "chinesecheckers", "othello", "tron"])
def test_states_and_returns_are_those_of_our_states(name: str) -> None:
    game = load_gdl(name)
    machine = game.rules.machine
    rng = random.Random(4)
    state = game.new_initial_state()
    while not state.is_terminal():
        assert state.returns() == [0.0] * game.num_players()
        ours = State(machine, state.key)
        if state.is_simultaneous_node():
            joint = [rng.choice(state.legal_actions(role)) for role in range(game.num_players())]
            assert [state.legal_actions(role) for role in range(len(joint))] == [
                machine.legal_moves(ours, role) for role in range(len(joint))
            ]
            state.apply_actions(joint)
            assert state.key == machine.next_state(ours, joint).key
            continue
        mover = state.current_player()
        assert state.legal_actions() == machine.legal_moves(ours, mover)
        assert sum(len(machine.legal_moves(ours, role)) > 1 for role in range(game.num_players())) <= 1
        state.apply_action(rng.choice(state.legal_actions()))
    goals = [machine.result(State(machine, state.key), role) for role in range(game.num_players())]
    zero_sum = game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    assert state.returns() == [goal / 50 - 1 if zero_sum else goal / 100 for goal in goals]


def test_games_and_states_are_pickled_and_named_in_serialised_text() -> None:
    game = load_gdl("tictactoe")
    state = game.new_initial_state()
    for _ in range(3):
        state.apply_action(state.legal_actions()[-1])
    again = pickle.loads(pickle.dumps(state))
    assert (str(again), again.history()) == (str(state), state.history())
    copied = state.clone()
    copied.apply_action(copied.legal_actions()[0])
    assert str(copied) != str(state)
    text = pyspiel.serialize_game_and_state(game, state)
    same, back = pyspiel.deserialize_game_and_state(text)
    assert (str(back), same.get_type().short_name) == (str(state), game.get_type().short_name)
    assert state.action_to_string(state.legal_actions()[0]) == "(mark a 1)"
    code = "import sys, pickle; print(pickle.load(sys.stdin.buffer))"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, input=pickle.dumps(state), capture_output=True
    )
    assert run.stdout.decode().strip() == str(state)


def test_states_are_drawn_and_actions_named_as_openspiel_games_do() -> None:
    game = load_gdl("connectfour")
    state = game.new_initial_state()
    state.apply_action(state.string_to_action("(drop d)"))
    drawn = str(state).splitlines()
    assert len(drawn) == 8 and drawn[-1] == "(control yellow)"
    assert drawn[5].split()[:1] == ["1"] and drawn[5].split()[1:].count(".") == 6
    assert drawn[5].split()[4] != "."
    assert state.observation_string(0) == state.observation_string(1) == str(state)
    assert state.information_state_string(0) == state.information_state_string(1) == "3"
    assert game.action_to_string(1, 3) == state.action_to_string(1, 3) == "(drop d)"


@pytest.mark.slow
def test_states_that_differ_are_drawn_differently() -> None:
    from open_spiel.python.algorithms.get_all_states import get_all_states

    # OpenSpiel tells states apart by what str says. So many has tic-tac-toe after at most four moves, and 120
    # in which the fifth has won:
    states = get_all_states(load_gdl("tictactoe"), depth_limit=4, to_string=str)
    assert len(states) == 1 + 9 + 72 + 252 + 756 + 120
    for name in [
        "amazons",
        "checkers",
        "chinesecheckers",
        "kalah",
        "nim",
        "othello",
        "pentominoes",
        "sudoku",
    ]:
        machine = Game.load(name).machine("propnet")
        rng, drawn = random.Random(3), dict[str, object]()
        state = machine.initial_state()
        for _ in range(60):
            assert drawn.setdefault(board_text(state), state.key) == state.key, name
            options = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
            if state.terminal or not all(options):
                break
            state = machine.next_state(state, [rng.choice(moves) for moves in options])


def test_the_longest_match_is_what_the_rules_allow() -> None:
    for name, most in (("tictactoe", 9), ("connectfour", 42), ("rockpaperscissors", 5), ("hex", 81)):
        assert load_gdl(name).max_game_length() == most
    assert load_gdl("connectfour", max_steps=20).max_game_length() == 20
    assert load_gdl("nim", max_steps=500).max_game_length() == 500
    full, rng = load_gdl("tictactoe"), random.Random(1)
    lengths = set()
    for _ in range(50):
        state = full.new_initial_state()
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
        lengths.add(len(state.history()))
        assert State(full.rules.machine, state.key).terminal, "the bound cuts no match"
    assert max(lengths) == 9


def test_algorithms_of_openspiel_run_on_our_games() -> None:
    from open_spiel.python import rl_environment
    from open_spiel.python.algorithms import cfr, exploitability, generate_playthrough, mcts

    pennies = load_gdl(PENNIES)
    turns = pyspiel.convert_to_turn_based(pennies)
    solver = cfr.CFRSolver(turns)
    for _ in range(200):
        solver.evaluate_and_update_policy()
    assert exploitability.exploitability(turns, solver.average_policy()) < 0.02
    tictactoe = load_gdl("tictactoe")
    state = tictactoe.new_initial_state()
    for action in (0, 3, 1, 4):  # x has two in column a, o in column b
        state.apply_action(action)
    bot = mcts.MCTSBot(tictactoe, 2.0, 200, mcts.RandomRolloutEvaluator(1), solve=True)
    state.apply_action(bot.step(state))
    assert state.returns() == [1.0, -1.0]
    text = generate_playthrough.playthrough(tictactoe.get_type().short_name, [0, 1, 2])
    assert "(mark a 2)" in text and "MaxGameLength() = 9" in text
    step = rl_environment.Environment(tictactoe).reset()
    assert step.observations["legal_actions"] == [list(range(9)), []]


def test_a_game_is_of_the_kind_that_it_shows_or_that_is_asked_for() -> None:
    dynamics, utility = pyspiel.GameType.Dynamics, pyspiel.GameType.Utility
    kind = load_gdl("tictactoe", dynamics="simultaneous", utility="general-sum").get_type()
    assert (kind.dynamics, kind.utility) == (dynamics.SIMULTANEOUS, utility.GENERAL_SUM)
    # Whichever is loaded first has no number behind its name.
    names = {kind.short_name, load_gdl("tictactoe").get_type().short_name}
    assert len(names) == 2 and all(name.startswith("gdl_tictactoe") for name in names)
    assert load_gdl("tron").get_type().dynamics == dynamics.SIMULTANEOUS
    assert load_gdl("prisonersdilemma").get_type().utility == utility.GENERAL_SUM
    with pytest.raises(GdlError, match="simultaneous"):
        load_gdl("tron", dynamics="sequential")
    with pytest.raises(GdlError, match="dynamics='now'"):
        load_gdl("tron", dynamics="now")
    game = load_gdl(RIVALS, utility="zero-sum")
    state = game.new_initial_state()
    state.apply_action(0)
    with pytest.raises(GdlError, match="general-sum"):
        state.apply_action(state.legal_actions()[-1])


def test_bots_sit_in_our_matches() -> None:
    game = Game.load("tictactoe")
    match = game.play(["players.openspiel:mcts", "random"], seconds=0.1, startclock=0.1)
    assert match.goals["x"] in (50, 100)
    match = game.play(["players.openspiel:mcts", "players.openspiel:mcts"], seconds=0.05)
    assert sum(filter(None, match.goals.values())) == 100
    early = game.player("players.openspiel:mcts", role="x", machine="prover")
    assert early.choose(game.initial)["x"] in game.initial.legal["x"]
    assert "not grounded" in early.notes["x"]
    with pytest.raises(GdlError, match=r"no player players\.openspiel:deepthought"):
        make_player("players.openspiel:deepthought")
    with pytest.raises(GdlError, match="take turns"):
        Game.load("tron").play(["players.openspiel:mcts", "random"], seconds=0.05)


def test_without_openspiel_the_remedy_is_told() -> None:
    blocked = "import sys; sys.modules['pyspiel'] = None;"
    asks = (
        "from ggp.adapters import load_gdl",
        "import players.registry as r; r.make_player('players.openspiel:mcts')",
    )
    for ask in asks:
        run = subprocess.run(
            [sys.executable, "-c", f"{blocked} {ask}"], cwd=ROOT, capture_output=True, text=True
        )
        assert "pip install 'kaskade-ggp[rl]'" in run.stderr, run.stderr


# --- Games of chance and of hidden information are OpenSpiel's too: chance nodes, information states
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
    [("kuhn", "kuhn_poker", 25, 12), pytest.param("leduc", "leduc_poker", 3, 936, marks=pytest.mark.slow)],
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
