"""Our games as environments of Gymnasium and PettingZoo, held against their checks and the machine."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gdl.errors import GdlError, MoveError, TooLargeError
from gdl.information import hides
from ggp.adapters.adapted_game import OBSERVATIONS, AdaptedGame, missing
from ggp.game import Game
from ggp.rule_files import installed_games
from tests.ggp.program import python
from tests.ggp.told import Told
from tests.places import ROOT

pytest.importorskip("gymnasium", reason="pip install 'kaskade-ggp[rl]'")
pytest.importorskip("pettingzoo", reason="pip install 'kaskade-ggp[rl]'")

import gymnasium

from ggp.adapters import GdlAEC, GdlEnv, GdlParallel, VectorMatch, make_vec, register_game

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@cache
def adapted(name: str, observation: str = "bits") -> AdaptedGame:
    return AdaptedGame(name, observation=observation)


def random_match(environment: Any, seed: int) -> list[tuple[str, int, dict[str, float]]]:
    """Every agent, action and the rewards after it."""
    rng = random.Random(seed)
    environment.reset(seed=seed)
    log = []
    for agent in environment.agent_iter():
        seen, _, terminated, truncated, _ = environment.last()
        if terminated or truncated:
            environment.step(None)
            continue
        action = rng.choice(np.flatnonzero(seen["action_mask"]).tolist())
        environment.step(action)
        log.append((agent, action, dict(environment.rewards)))
    return log


def check(game: AdaptedGame, cycles: int, **options: Any) -> None:
    """All checks of the frameworks."""
    from gymnasium.utils.env_checker import check_env
    from pettingzoo.test import api_test, parallel_api_test, seed_test

    api_test(GdlAEC(game, **options), num_cycles=cycles)
    parallel_api_test(GdlParallel(game, **options), num_cycles=cycles)
    seed_test(lambda: GdlAEC(game, **options), num_cycles=min(cycles, 30))
    check_env(GdlEnv(game, **options))


FRAME = "(role r) (init a) (<= (next {}) (true a)) (<= terminal (true b)) (goal r 0) (<= (next b) (true b))\n"
NOBODY = FRAME.format("c")


def test_what_is_not_there_is_one_clear_line() -> None:
    for settings, words in (
        ({"role": "z"}, "no role z"),
        ({"opponents": {"z": "random"}}, "z is not an opponent of x"),
        ({"opponents": "deepthought"}, "no player 'deepthought'"),
        ({"observation": "smell"}, "no observation 'smell'"),
        ({"illegal": "shrug"}, "choose end or error"),
        ({"render_mode": "png"}, "no render mode 'png' .choose ansi, svg, rgb_array"),
    ):
        with pytest.raises(GdlError, match=words):
            GdlEnv("tictactoe", **settings)
    with pytest.raises(GdlError, match="no render mode"):
        adapted("tictactoe").render(adapted("tictactoe").machine.initial_state(), "smoke")
    with pytest.raises(GdlError, match="r has no legal move in the state a"):
        AdaptedGame(NOBODY)
    with pytest.raises(TooLargeError, match="does not ground"):
        AdaptedGame("tictactoe", machine="prover")


@pytest.mark.parametrize("action", ["a", 1.0, None, [1, 2], np.array([0.5]), True])
def test_what_is_no_integer_is_no_action(action: Any) -> None:
    single, turns, together, many = (
        GdlEnv(adapted("tictactoe")),
        GdlAEC(adapted("tictactoe")),
        GdlParallel(adapted("tictactoe")),
        make_vec("tictactoe", 3),
    )
    for environment in (single, turns, together, many):
        environment.reset()
        given = {"x": action, "o": 9} if environment is together else action
        with pytest.raises(MoveError, match=r"give (an )?integer"):
            environment.step(given)
        masks = single.action_masks()
        assert masks.sum() == 9, "nothing has changed"
    single.step(np.array([1]))


@pytest.mark.slow
def test_planes_hold_what_the_state_holds() -> None:
    for name in ("connectfour", "othello", "eightpuzzle", "nim"):
        game = adapted(name, "planes")
        matches = np.unique(_visited(game), axis=0)
        planes = game.observe(matches)
        assert len(np.unique(planes.reshape(len(planes), -1), axis=0)) == len(matches)
        assert planes.shape[1:] == game.shape and len(game.planes.names) == game.shape[0]
    first = adapted("tictactoe", "planes")
    state = first.machine.initial_state().play("(mark a 3)")
    assert first.observe_state(state)[first.planes.names.index("x")].sum() == 1


def _visited(game: AdaptedGame) -> np.ndarray:
    from propnet.environments.vector_match import VectorMatch

    matches = VectorMatch(game.machine, 20)
    return np.concatenate([matches.step(matches.random_actions()).bits.copy() for _ in range(20)])


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_pickled_environments_go_on_as_the_same_game(observation: str) -> None:
    game = adapted("tictactoe", observation)
    again = pickle.loads(pickle.dumps(game))
    assert (again.agents, again.shape) == (game.agents, game.shape)
    assert again.action_names("x") == game.action_names("x")
    assert random_match(GdlAEC(again), 9) == random_match(GdlAEC(game), 9)


def test_a_missing_package_is_told_with_its_remedy() -> None:
    assert "pip install 'kaskade-ggp[rl]'" in str(missing("gymnasium", "Gymnasium environments"))
    blocked = "import sys; sys.modules.update({'gymnasium': None, 'pettingzoo': None, 'pyspiel': None});"
    for name in ("GdlEnv", "GdlAEC", "make_vec"):
        code = (
            f"{blocked} from ggp.adapters import AdaptedGame, VectorMatch; import ggp.adapters as a; a.{name}"
        )
        run = python("-c", code)
        assert run.returncode == 1 and "pip install 'kaskade-ggp[rl]'" in run.stderr.splitlines()[-1]


@pytest.mark.slow
def test_each_module_imports_its_own_framework_only() -> None:
    for module, others in (
        ("gymnasium", ("pettingzoo", "pyspiel")),
        ("vector", ("pettingzoo", "pyspiel")),
        ("pettingzoo", ("pyspiel",)),
        ("adapted_game", ("gymnasium", "pettingzoo", "pyspiel")),
    ):
        code = f"import sys, ggp.adapters.{module}; print([m for m in {others} if m in sys.modules])"
        run = python("-c", code)
        assert run.stdout.strip() == "[]", (module, run.stdout, run.stderr)


def test_vectors_of_matches_are_refused_to_games_of_hidden_information() -> None:
    with pytest.raises(GdlError, match=r"kuhn hides information .*GdlAEC"):
        make_vec("gdl/kuhn-v0", num_envs=2)


@pytest.mark.parametrize("number", [-1, "x", 1.5, True, float("nan"), 2**64])
def test_numbers_of_environments_are_checked(number: Any) -> None:
    game = Game.load("tictactoe")
    calls: list[tuple[str, Callable[[], object]]] = [
        ("environments", lambda: make_vec(game, number)),
        ("environments", lambda: VectorMatch(game.machine("native"), number)),
        ("memory_limit", lambda: make_vec(game, 2, memory_limit=number)),
        ("seed", lambda: make_vec(game, 2).reset(seed=number)),
        ("seed", lambda: GdlAEC(game).reset(seed=number)),
        ("seed", lambda: GdlParallel(game).reset(seed=number)),
    ]
    calls += [
        ("max_steps", lambda kind=kind: kind(game, max_steps=number))
        for kind in (make_vec, GdlAEC, GdlParallel, GdlEnv)
    ]
    for name, call in calls:
        with pytest.raises(GdlError, match=rf"^{name} is .* \(give a whole number from [01] to [\d,]+\)$"):
            call()
    with pytest.raises(GdlError, match=r"^seconds is .* \(give a number from 0 to 86,400\)$"):
        GdlEnv(game, seconds="x" if number == 1.5 else number)
    make_vec(game, 2).reset(seed=np.int64(3))  # type: ignore[arg-type]


def test_a_vector_of_matches_names_what_it_needs() -> None:
    game = Game.load("tictactoe")
    for machine in (game, game.machine("prover"), None):
        with pytest.raises(GdlError, match=r"is not a machine with a network \(give .*'native'"):
            VectorMatch(machine, 2)  # type: ignore[arg-type]


# --- Our games as environments of Gymnasium, held against frameworks' checks and the machine
STUCK = FRAME.format("c") + "(<= (legal r x) (true a))"
ENDLESS = FRAME.format("a") + "(legal r x) (legal r y)"


@pytest.mark.slow
@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize("name", ["tictactoe", "tron", "eightpuzzle", "othello"])
def test_the_checks_of_the_frameworks_pass(
    name: str, observation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    game = adapted(name, observation)
    check(game, 60)


def test_registered_environments_are_made_and_checked_with_every_way_to_draw(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="pip install 'kaskade-ggp[rl]'")
    from gymnasium.utils.env_checker import check_env

    rules = tmp_path / "mine.kif"
    rules.write_text((ROOT / "games" / "tictactoe.kif").read_text())
    for identifier in (register_game("eightpuzzle"), register_game(rules), register_game("queens:5")):
        environment = gymnasium.make(identifier)
        check_env(environment.unwrapped)
        again = pickle.loads(pickle.dumps(environment.spec)).make()
        assert again.observation_space == environment.observation_space
    drawn = gymnasium.make("gdl/mine-v0", render_mode="svg")
    drawn.reset(seed=1)
    assert drawn.render().startswith("<svg")
    pixels = gymnasium.make("gdl/mine-v0", render_mode="rgb_array")
    pixels.reset(seed=1)
    assert len({color.tobytes() for row in pixels.render() for color in row}) > 2  # no blank picture


def test_illegal_actions_are_told_or_end_the_match() -> None:
    turns = GdlAEC("tictactoe")
    turns.reset()
    turns.step(0)
    with pytest.raises(MoveError, match=r"action 0 \(\(mark a 1\)\) is not legal for o"):
        turns.step(0)
    together = GdlParallel("tictactoe")
    together.reset()
    with pytest.raises(MoveError, match="x has 9 legal moves"):
        together.step({})
    together.step({"x": 3})
    single = GdlEnv("eightpuzzle")
    seen, _ = single.reset()
    wrong = int(np.flatnonzero(seen["action_mask"] == 0)[0])
    _, reward, terminated, truncated, info = single.step(wrong)
    assert (reward, terminated, truncated, info["illegal"]) == (0.0, True, False, True)
    strict = GdlEnv("eightpuzzle", illegal="error")
    strict.reset()
    with pytest.raises(MoveError, match="not legal"):
        strict.step(wrong)


def test_masks_are_where_each_framework_looks_for_them() -> None:
    single = gymnasium.make("gdl/tictactoe-v0")
    seen, info = single.reset(seed=1)
    many = gymnasium.vector.SyncVectorEnv([lambda: GdlEnv(adapted("tictactoe")) for _ in range(3)])
    lanes = make_vec("gdl/tictactoe-v0", 3)
    for environment in (many, lanes):
        environment.reset(seed=1)
    for _ in range(3):
        mask = single.get_wrapper_attr("action_masks")()
        assert mask.dtype == np.bool_ and mask.any()
        assert (mask == seen["action_mask"]).all() and (mask == info["action_mask"]).all()
        assert single.observation_space.contains(seen)
        seen, _, _, _, info = single.step(single.action_space.sample(seen["action_mask"]))
    for environment in (many, lanes):
        masks = np.stack(environment.call("action_masks"))
        seen, _, _, _, info = environment.step(masks.argmax(axis=1))
        after = np.stack(environment.call("action_masks"))
        assert masks.dtype == np.bool_ and masks.shape == (3, 10) and (masks != after).any()
        assert (after == seen["action_mask"]).all() and (after == info["action_mask"]).all()
        assert info["_action_mask"].all()
        assert environment.call("role") == environment.get_attr("role") == ("x", "x", "x")
        assert environment.call("action_space")[2] == environment.single_action_space
        with pytest.raises(AttributeError):
            environment.call("deepthought")
    with pytest.raises(AttributeError, match="call action_masks or render"):
        lanes.call("step", 0)


def test_nothing_is_asked_before_the_first_reset() -> None:
    single = GdlEnv(adapted("tictactoe"), render_mode="ansi")
    for call in (lambda: single.step(0), single.render, single.action_masks):
        with pytest.raises(gymnasium.error.ResetNeeded, match="call reset before"):
            call()


def test_copies_of_an_environment_go_on_from_the_same_state() -> None:
    environment = GdlEnv(adapted("tictactoe"), opponents="uct:playouts=20,workers=1")
    environment.reset(seed=1)
    seen, *_ = environment.step(0)
    copied = deepcopy(environment)
    assert copied.adapted is environment.adapted and copied.gdl_state.machine is environment.adapted.machine
    for again in (pickle.loads(pickle.dumps(environment)), copied):
        assert again.gdl_state.propositions == environment.gdl_state.propositions
        assert (again.action_masks() == seen["action_mask"]).all()
        over = False
        while not over:
            _, _, over, _, _ = again.step(int(again.action_masks().argmax()))
        again.close()
    assert (environment.action_masks() == seen["action_mask"]).all()
    environment.close()


def test_matches_without_an_end_are_truncated() -> None:
    stuck = GdlAEC(STUCK)
    stuck.reset()
    stuck.step(0)
    assert all(stuck.truncations.values())
    endless = GdlEnv(ENDLESS, max_steps=3)
    endless.reset()
    assert [endless.step(0)[3] for _ in range(3)] == [False, False, True]


def test_opponents_are_our_players_and_a_seed_repeats_them() -> None:
    def match(opponent: str, seed: int) -> list[bytes]:
        environment = GdlEnv(adapted("tictactoe"), role="o", opponents={"x": opponent})
        seen, _ = environment.reset(seed=seed)
        states, over = [seen["observation"].tobytes()], False
        while not over:
            seen, _, over, _, _ = environment.step(np.flatnonzero(seen["action_mask"])[0])
            states.append(seen["observation"].tobytes())
        environment.close()
        return states

    assert match("random", 3) == match("random", 3)
    assert len({match("random", seed)[0] for seed in range(12)}) > 1
    assert match("greedy", 1)


# --- Vector environments: a lane is a single environment
@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_what_a_step_of_lanes_returned_stays_as_it_was(observation: str, mode: str) -> None:
    from gymnasium.utils.env_checker import data_equivalence

    lanes = make_vec("tictactoe", 64, observation=observation, autoreset_mode=mode)
    lanes.reset(seed=1)
    kept, copies = [], []
    for _ in range(12):
        answer = lanes.step(lanes.random_actions())
        kept.append(answer)
        copies.append(deepcopy(answer))
    assert any(answer[2].any() for answer in kept)
    for answer, copied in zip(kept, copies, strict=True):
        assert data_equivalence(answer, copied)


def test_lanes_are_drawn_as_single_environments_are() -> None:
    lanes = make_vec("gdl/eightpuzzle-v0", 2, render_mode="ansi")
    single = GdlEnv(adapted("eightpuzzle"), render_mode="ansi")
    lanes.reset()
    seen, _ = single.reset()
    moves = np.flatnonzero(seen["action_mask"])[:2]
    lanes.step(moves)
    single.step(moves[1])
    drawn = lanes.render()
    assert drawn is not None and drawn[0] != drawn[1] == single.render()
    assert make_vec("eightpuzzle", 2).render() is None
    with pytest.raises(GdlError, match=r"no autoreset mode 'Sometimes' .choose NextStep, SameStep, Disabled"):
        make_vec("eightpuzzle", 2, autoreset_mode="Sometimes")


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_vector_environments_are_single_ones_side_by_side(mode: str) -> None:
    game = adapted("lightsout")
    many = make_vec("gdl/lightsout-v0", num_envs=3, autoreset_mode=mode, max_steps=7)
    singles = [GdlEnv(game, max_steps=7) for _ in range(3)]
    seen, _ = many.reset(seed=1)
    for single in singles:
        single.reset()
    over = np.zeros(3, np.bool_)
    for _ in range(30):
        if mode == "Disabled" and over.all():
            seen, _ = many.reset(options={"reset_mask": over})
            for single in singles:
                single.reset()
            over[:] = False
        actions = np.array([np.flatnonzero(mask)[0] for mask in seen["action_mask"]])
        actions[1] = np.flatnonzero(seen["action_mask"][1])[-1]
        seen, rewards, terminated, truncated, info = many.step(actions)
        for i, single in enumerate(singles):
            if over[i] and mode == "NextStep":
                expected, reward, ended, cut = single.reset()[0], 0.0, False, False
            else:
                expected, reward, ended, cut, _ = single.step(actions[i])
            if (ended or cut) and mode == "SameStep":
                assert (info["final_obs"]["observation"][i] == expected["observation"]).all()
                expected = single.reset()[0]
            assert all((seen[key][i] == expected[key]).all() for key in expected)
            assert (rewards[i], terminated[i], truncated[i]) == (np.float32(reward), ended, cut)
        over = terminated | truncated
    assert many.observation_space.contains(seen)


# --- PettingZoo: agents that act one by one or together, resets, masks, wrappers
@pytest.mark.slow
@pytest.mark.parametrize("name", ["connectfour", "tron", "othello", "chinesecheckers"])
def test_agents_that_act_one_by_one_play_the_game(name: str) -> None:
    game = adapted(name)
    machine = game.machine
    log = random_match(GdlAEC(game), 5)
    state, waiting = machine.initial_state(), iter(log)
    step: tuple[str, int, dict[str, float]] | None = next(waiting)
    rewards: dict[str, float] = {}
    while not state.terminal:
        joint = []
        for role, agent in enumerate(game.agents):
            moves = machine.legal_moves(state, role)
            if step is not None and step[0] == agent and (len(moves) > 1 or step[1] == moves[0]):
                assert step[1] in moves
                joint.append(step[1])
                rewards = step[2]
                step = next(waiting, None)
            else:
                assert len(moves) == 1
                joint.append(moves[0])
        state = machine.next_state(state, joint)
    assert step is None
    assert rewards == dict(zip(game.agents, game.rewards(state), strict=True))
    if name == "connectfour":
        agents = [agent for agent, _, _ in log]
        assert agents == [game.agents[i % 2] for i in range(len(agents))]


def test_agents_that_act_together_play_the_game() -> None:
    environment = GdlParallel("tron", max_steps=50)
    machine = environment.adapted.machine
    seen, _ = environment.reset()
    state = machine.initial_state()
    rng = random.Random(2)
    while environment.agents:
        actions = {a: rng.choice(np.flatnonzero(seen[a]["action_mask"]).tolist()) for a in environment.agents}
        state = machine.next_state(state, list(actions.values()))
        seen, rewards, _, _, _ = environment.step(actions)
        assert environment.gdl_state == state
    assert list(rewards.values()) == environment.adapted.rewards(state)


def test_agents_are_told_when_a_reset_is_due(caplog: pytest.LogCaptureFixture) -> None:
    turns = GdlAEC(adapted("tictactoe"), render_mode="ansi")
    together = GdlParallel(adapted("tictactoe"), render_mode="ansi")
    for name in (
        "agents",
        "num_agents",
        "rewards",
        "terminations",
        "truncations",
        "infos",
        "agent_selection",
    ):
        with pytest.raises(AttributeError, match=f"{name} cannot be accessed before reset"):
            getattr(turns, name)
    for environment, calls in (
        (turns, {"step": (0,), "observe": ("x",), "agent_iter": (), "state": (), "render": ()}),
        (together, {"step": ({"x": 0},), "state": (), "render": ()}),
    ):
        for call, arguments in calls.items():
            with pytest.raises(AssertionError, match=rf"reset\(\) needs to be called before {call}"):
                getattr(environment, call)(*arguments)
    with pytest.raises(AttributeError, match="before reset"):
        turns.last()
    random_match(turns, 1)
    with pytest.raises(AssertionError, match="the match is over for all agents"):
        turns.last()
    seen, _ = together.reset()
    with pytest.raises(GdlError, match="no role z"):
        together.step({"x": 0, "z": 0})
    while together.agents:
        seen, *_ = together.step({agent: seen[agent]["action_mask"].argmax() for agent in together.agents})
    caplog.clear()
    assert together.step({"x": 0}) == ({},) * 5
    turns.step(0)
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 2
    assert turns.agents == together.agents == []


def test_a_loop_that_forgets_to_step_is_stopped() -> None:
    turns = GdlAEC(adapted("tictactoe"))
    turns.reset()
    agents = iter(turns.agent_iter())
    next(agents)
    turns.last()
    with pytest.raises(AssertionError, match=r"need to call step\(\) or reset\(\)"):
        next(agents)


@pytest.mark.parametrize("name", ["tictactoe", "tron"])
def test_the_infos_of_agents_have_their_masks(name: str) -> None:
    turns, together = GdlAEC(adapted(name)), GdlParallel(adapted(name))
    turns.reset()
    for _ in turns.agent_iter(20):
        seen, _, terminated, _, info = turns.last()
        assert turns.state_space.contains(turns.state())
        if terminated:
            break
        for agent in turns.agents:
            assert (turns.infos[agent]["action_mask"] == turns.observe(agent)["action_mask"]).all()
        assert (info["action_mask"] == seen["action_mask"]).all() and info["action_mask"].any()
        turns.step(turns.action_space(turns.agent_selection).sample(info["action_mask"]))
    seen, infos = together.reset()
    while together.agents:
        assert all((infos[agent]["action_mask"] == seen[agent]["action_mask"]).all() for agent in seen)
        assert (together.state() == seen[together.agents[0]]["observation"]).all()
        seen, _, _, _, infos = together.step({a: infos[a]["action_mask"].argmax() for a in together.agents})


def test_conversions_and_wrappers_of_pettingzoo_take_our_environments() -> None:
    from pettingzoo.utils.conversions import parallel_to_aec, turn_based_aec_to_parallel
    from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, TerminateIllegalWrapper

    wrapped = AssertOutOfBoundsWrapper(TerminateIllegalWrapper(GdlAEC(adapted("tictactoe")), -1))
    wrapped.reset()
    wrapped.step(0)
    wrapped.step(0)
    assert wrapped.rewards == {"x": 0, "o": -1} and all(wrapped.terminations.values())
    for converted in (parallel_to_aec(GdlParallel(adapted("tron"))), wrapped):
        assert random_match(converted, 3)
    observations, _ = turn_based_aec_to_parallel(GdlAEC(adapted("tictactoe"))).reset()
    assert set(observations) == {"x", "o"}


# --- In games of hidden information agents see their own moves and percepts; the environment draws chance
HIDDEN = [path.stem for path in installed_games() if hides(Game.load(path).rules)]
STEPS = 60


def likely_first(rng: random.Random, mask: Any) -> int:
    """A legal action, mostly one of the first, so that histories come again."""
    actions = np.flatnonzero(mask).tolist()
    return int(actions[min(rng.randrange(len(actions)), rng.randrange(len(actions)))])


def note(told: Told, env: Any, agent: str, seen: dict[str, Any]) -> None:
    """Note what an agent sees, by what its role has done and perceived."""
    inner = getattr(env, "env", env)
    role = inner.adapted.role(agent)
    history = inner.histories[role] if inner.histories else b""
    waiting = bool(seen["action_mask"].any())
    bits = seen["observation"].tobytes() + seen["action_mask"].tobytes()
    told.note(type(env).__name__, role, (history, waiting), bits, inner.gdl_state.key)


@pytest.mark.parametrize("name", HIDDEN)
def test_two_histories_that_are_the_same_to_a_role_are_the_same_observation(name: str) -> None:
    game, told, rng = adapted(name), Told(), random.Random(1)
    one, all_ = GdlAEC(game, max_steps=STEPS), GdlParallel(game, max_steps=STEPS)
    for seed in range(400):
        if seed >= 12 and told.compared:  # with many cards a history seldom comes again
            break
        one.reset(seed=seed)
        for agent in one.agent_iter():
            seen, _, terminated, truncated, info = one.last()
            over = terminated or truncated
            if not over:
                note(told, one, agent, seen)
                assert (info["action_mask"] == seen["action_mask"]).all()
            one.step(None if over else likely_first(rng, seen["action_mask"]))
        observations, _ = all_.reset(seed=seed)
        while all_.agents:
            for agent, seen in observations.items():
                note(told, all_, agent, seen)
            actions = {agent: likely_first(rng, seen["action_mask"]) for agent, seen in observations.items()}
            observations = all_.step(actions)[0]
    assert told.compared > 0
    assert told.differences == []


def test_an_observation_has_the_last_turns_the_newest_first() -> None:
    game = adapted("kuhn")
    senses = game.senses[0]
    env = GdlAEC(game)
    env.reset(seed=3)
    seen = env.last()[0]["observation"].reshape(game.turns_seen, senses.width)
    moves = [str(move) for move in senses.moves]
    assert seen[0][0] == 1 and seen[0][1 + moves.index("noop")] == 1 and not seen[1:].any()
    percepts = [str(senses.percepts[i]) for i in np.flatnonzero(seen[0][1 + len(moves) :])]
    assert len(percepts) == 1 and percepts[0].startswith("(card ")
    env.step(moves.index("bet"))
    after = env.observe("first")["observation"].reshape(game.turns_seen, senses.width)
    assert (after[1] == seen[0]).all() and after[0][1 + moves.index("bet")] == 1


@pytest.mark.parametrize("name", ["kuhn", "montyhall", "twentyfortyeight"])
def test_frameworks_find_nothing_wrong_with_games_of_chance(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    game = adapted(name)
    assert "random" not in game.agents
    check(game, 20, max_steps=STEPS)


def test_a_seed_decides_what_chance_draws() -> None:
    env = GdlAEC(adapted("twentyfortyeight"), max_steps=STEPS)
    first = random_match(env, 5)
    end = env.env.gdl_state
    assert random_match(env, 5) == first and env.env.gdl_state == end
    ends = set()
    for seed in range(5):
        random_match(env, seed)
        ends.add(env.env.gdl_state.key)
    assert len(ends) > 1


def test_opponents_know_no_more_than_their_roles_and_copies_of_an_environment_go_on() -> None:
    env = GdlEnv(adapted("kuhn"), role="first", opponents="cfr", seconds=0.2)
    rewards = []
    for seed in range(6):
        seen, _ = env.reset(seed=seed)
        over = False
        while not over:
            copied = deepcopy(env)
            action = int(np.flatnonzero(seen["action_mask"])[0])
            assert copied.step(action)[0]["observation"].shape == seen["observation"].shape
            copied.close()
            seen, reward, over, _, _ = env.step(action)
        rewards.append(reward)
    env.close()
    assert set(rewards) <= {0.0, 0.25, 0.5, 0.75, 1.0}
