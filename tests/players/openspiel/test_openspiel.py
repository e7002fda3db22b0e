"""Our games pass OpenSpiel's own tests, and its bots play matches of ours."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys

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
    assert (str(back), same.get_type().short_name) == (
        str(state),
        game.get_type().short_name,
    )
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
