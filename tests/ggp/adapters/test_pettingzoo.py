"""PettingZoo: agents that act one by one or together, resets, masks, wrappers."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gdl.errors import GdlError
from tests.ggp.adapters.matches import adapted, random_match

pytest.importorskip("gymnasium", reason="pip install 'kaskade-ggp[rl]'")
pytest.importorskip("pettingzoo", reason="pip install 'kaskade-ggp[rl]'")

from ggp.adapters import GdlAEC, GdlParallel

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


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
