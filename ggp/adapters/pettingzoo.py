"""PettingZoo environments: `GdlAEC` (one agent after the other) and `GdlParallel` (all at once)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.errors import MoveError, whole_number
from gdl.machine import State
from ggp.adapters.adapted_game import RENDER_MODES, AdaptedGame, action_id, missing
from ggp.game import Game

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils.env_logger import EnvLogger
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError:
    raise missing("pettingzoo", "PettingZoo environments") from None

_METADATA = {"render_modes": list(RENDER_MODES), "is_parallelizable": False}


class _Agents:
    """The spaces, observations and rendering that both environments share."""

    metadata: dict[str, Any]

    def __init__(
        self,
        game: str | Path | Game | AdaptedGame,
        observation: str = "bits",
        render_mode: str | None = None,
        max_steps: int = 0,
        machine: str = "auto",
    ) -> None:
        super().__init__()
        self.adapted = game = AdaptedGame.of(game, observation, machine, render_mode)
        self.render_mode = render_mode
        self.max_steps = whole_number(max_steps, "max_steps")
        self.metadata = {**_METADATA, "name": f"gdl_{game.name}_v0"}
        self.possible_agents = list(game.agents)
        self._agent_of = dict(zip(game.players, game.agents, strict=True))
        self.agents: list[str] = []
        self.state_space = spaces.Box(0, game.highest, game.shape, np.uint8)
        self.action_spaces = {agent: spaces.Discrete(game.actions(agent)) for agent in game.agents}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, game.highest, game.shape_of(agent), np.uint8),
                    "action_mask": spaces.Box(0, 1, (game.actions(agent),), np.int8),
                }
            )
            for agent in game.agents
        }
        self.gdl_state: State = game.machine.initial_state()
        self.options: tuple[tuple[int, ...], ...] = ()
        self.histories: list[bytes] = []
        self.steps = 0
        self._numbers = np.random.default_rng()

    def observation_space(self, agent: str) -> Any:
        """The space of an agent's ``observation`` and ``action_mask``."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """An agent's action ids; :meth:`AdaptedGame.action_names` names them."""
        return self.action_spaces[agent]

    def render(self) -> Any:
        """The state in the chosen render mode; None without a mode."""
        return None if self.render_mode is None else self.adapted.render(self.gdl_state, self.render_mode)

    def state(self) -> NDArray[np.uint8]:
        """The whole state, in ``state_space``, for critics that know more than their agents. If every agent
        sees everything, it is the observation without a mask. If information is hidden, it is not an
        observation."""
        return self.adapted.observe_state(self.gdl_state)

    def close(self) -> None:
        """Do nothing: the environment holds no resources."""

    def _seen(self, role: int, moves: Sequence[int]) -> dict[str, Any]:
        observation = self.adapted.observe_role(role, self.gdl_state, self.histories)
        return {"observation": observation, "action_mask": self.adapted.mask(role, moves)}

    def _begin(self, seed: int | None) -> None:
        """Begin a match; a seed decides what chance draws."""
        if seed is not None:
            self._numbers = np.random.default_rng(whole_number(seed, "seed"))
        self.steps, self.histories = 0, []

    def _stepped(self, state: State, joint: list[int]) -> State:
        """The state after a joint move, which is added to the agents' histories."""
        self.histories = self.adapted.next_histories(self.histories, state, joint)
        return self.adapted.machine.next_state(state, joint)

    def _legal(self, role: int, action: Any) -> int:
        """The action as a legal move's id. Raises MoveError."""
        move = action_id(action)
        if move not in self.options[role]:
            machine, names = self.adapted.machine, self.adapted.machine.network.moves[role]
            agent = machine.rules.spell(machine.roles[role])
            text = machine.rules.spell(names[move]) if 0 <= move < len(names) else "no move"
            raise MoveError(
                f"action {move} ({text}) is not legal for {agent}", remedy="choose by the action_mask"
            )
        return move

    def _cut(self) -> bool:
        """Whether the match is truncated: it cannot or may not go on, though the state is not terminal."""
        if self.gdl_state.terminal:
            return False
        return not all(self.options) or 0 < self.max_steps <= self.steps


class _RawAEC(_Agents, AECEnv):  # type: ignore[misc]
    """The environment that :class:`GdlAEC` wraps: calls must come in order."""

    _info_of: dict[str, dict[str, Any]]
    _acting: Sequence[int]
    _role: int

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match. The only randomness is the moves of chance."""
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._select(self.adapted.players[0])
        self._begin(seed)
        self._settle(self.adapted.machine.initial_state())

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """The masks of all agents, for frameworks that look there. They are computed on access."""
        return {agent: self.info(agent) for agent in self.agents}

    def info(self, agent: str) -> dict[str, Any]:
        """The info of one agent, the same until a step is made."""
        info = self._info_of.get(agent)
        if info is None:
            role = self.adapted.role(agent)
            info = self._info_of[agent] = {"action_mask": self.adapted.mask(role, self._open(role))}
        return info

    def last(self, observe: bool = True) -> tuple[Any, ...]:
        """The selected agent's observation, its rewards since it acted, terminated, truncated and info."""
        agent = self.agent_selection
        info = self._info_of.get(agent) or self.info(agent)
        seen = None
        if observe:
            adapted, state = self.adapted, self.gdl_state
            if adapted.senses:
                observation = adapted.observe_role(adapted.role(agent), state, self.histories)
            else:
                observation = adapted.observe_state(state)
            seen = {"observation": observation, **info}
        return (
            seen,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            info,
        )

    def observe(self, agent: str) -> dict[str, Any]:
        """An agent's observation of the present state."""
        role = self.adapted.role(agent)
        seen = self.adapted.observe_role(role, self.gdl_state, self.histories)
        return {"observation": seen, **self.info(agent)}

    def step(self, action: Any) -> None:
        """Take the selected agent's action; None for an agent whose match is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        # Rewards come only at the end, so before it there are none to clear or to add up.
        role = self._role
        move = self._legal(role, action)
        if len(self._acting) > 1:
            self._chosen[role] = move
            self._info_of = {}
            waiting = [other for other in self._acting if other not in self._chosen]
            if waiting:
                self._select(waiting[0])
                return
        joint = [moves[0] for moves in self.options]
        for other, chosen in self._chosen.items():
            joint[other] = chosen
        joint[role] = move
        if self.adapted.chance is not None:
            joint[self.adapted.chance] = self.adapted.draw(self.options, self._numbers)
        self.steps += 1
        self._settle(self._stepped(self.gdl_state, joint))

    def _settle(self, state: State) -> None:
        """Go on to the next state in which an agent acts."""
        turns = self.adapted.turns
        most = self.max_steps - self.steps if self.max_steps else 10_000
        if self.adapted.chance is None and not self.adapted.senses:
            self.gdl_state, self.options, self._acting, passed = turns.settle(state, max(0, most))
            self.steps += passed
        else:
            self._settle_by_chance(state, max(0, most))
        self._chosen: dict[int, int] = {}
        self._info_of = {}
        if self._acting and not 0 < self.max_steps <= self.steps:
            self._select(self._acting[0])
            return
        self._acting = ()
        if self.gdl_state.terminal:
            self.rewards = dict(zip(self.possible_agents, self.adapted.rewards(self.gdl_state), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self.truncations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()

    def _settle_by_chance(self, state: State, most: int) -> None:
        """Do the same if chance draws, or if agents learn from steps in which none of them acts."""
        adapted, machine = self.adapted, self.adapted.machine
        for passed in range(most + 1):
            options = machine.options(state)
            self.gdl_state, self.options, self._acting = state, options, ()
            if state.terminal or not all(options):
                return
            self._acting = [role for role in adapted.turns.acting(options) if role != adapted.chance]
            if self._acting or passed == most:
                return
            joint = [moves[0] for moves in options]
            if adapted.chance is not None:
                joint[adapted.chance] = adapted.draw(options, self._numbers)
            self.steps += 1
            state = self._stepped(state, joint)

    def _select(self, role: int) -> None:
        self._role, self.agent_selection = role, self._agent_of[role]

    def _open(self, role: int) -> Sequence[int]:
        """A role's legal moves; none if it does not act or has already chosen."""
        return () if role not in self._acting or role in self._chosen else self.options[role]


class GdlAEC(OrderEnforcingWrapper):  # type: ignore[misc]
    """A game whose agents act one after the other.

    Agents are the roles. An agent whose only move is to wait is skipped. If several act in one state, they
    act in role order without seeing each other's choice, and then the joint move is made. Rewards are goals /
    100 at the end, 0 before. An agent that does not act sees a mask of zeros. The infos have the masks, too.

    Args:
        game: as for :meth:`ggp.game.Game.load`, or a game, or an :class:`AdaptedGame` to share.
        observation: one of :data:`ggp.adapters.adapted_game.OBSERVATIONS`.
        render_mode: ``ansi``, ``svg``, ``rgb_array`` or None.
        max_steps: joint moves after which a match is truncated; 0 for never.
        machine: as for :class:`AdaptedGame`.

    Raises:
        MoveError: from ``step``, for an action that is not legal; nothing has changed then.
        AssertionError, AttributeError: a call or an attribute needs a ``reset`` first, as in PettingZoo's own
            environments.
    """

    def __init__(
        self,
        game: str | Path | Game | AdaptedGame,
        observation: str = "bits",
        render_mode: str | None = None,
        max_steps: int = 0,
        machine: str = "auto",
    ) -> None:
        super().__init__(_RawAEC(game, observation, render_mode, max_steps, machine))

    def last(self, observe: bool = True) -> tuple[Any, ...]:
        """The selected agent's observation, its rewards since it acted, terminated, truncated and info."""
        if not self.agents:
            raise AssertionError("reset() needs to be called before last: the match is over for all agents.")
        last: tuple[Any, ...] = self.env.last(observe)
        return last

    # The wrapper looks up each of these names in its environment at every access, which takes longer than a
    # step.
    @property
    def agents(self) -> list[str]:
        """The agents whose match is not over. Raises AttributeError before ``reset``."""
        if not self._has_reset:
            raise AttributeError("agents cannot be accessed before reset")
        agents: list[str] = self.env.agents
        return agents

    @property
    def agent_selection(self) -> str:
        """The agent that acts next. Raises AttributeError before ``reset``."""
        if not self._has_reset:
            raise AttributeError("agent_selection cannot be accessed before reset")
        agent: str = self.env.agent_selection
        return agent

    def step(self, action: Any) -> None:
        """Take the selected agent's action; None for an agent whose match is over."""
        if self._has_reset and self.env.agents:
            self._has_updated = True
            self.env.step(action)
        else:
            super().step(action)  # which raises the error

    def __str__(self) -> str:
        return str(self.env)


class GdlParallel(_Agents, ParallelEnv):  # type: ignore[misc]
    """A game whose agents act at once: one step is one joint move.

    Arguments are those of :class:`GdlAEC`. ``step`` takes an action for each agent; one with a single legal
    move may be left out. It raises MoveError for an action that is not legal, and for unknown agents; nothing
    has changed then. Before ``reset`` it raises AssertionError. After the end it warns and returns empty
    dictionaries, as PettingZoo's own environments do.
    """

    _begun = False

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a match. The only randomness is the moves of chance."""
        self.agents = self.possible_agents[:]
        self._begin(seed)
        self.gdl_state = self.adapted.machine.initial_state()
        self.options = self.adapted.machine.options(self.gdl_state)
        self._begun = True
        observations = self._observations()
        return observations, _infos(observations)

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Make a joint move. Returns observations, rewards, terminations, truncations and infos."""
        if not self._begun:
            EnvLogger.error_step_before_reset()
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return {}, {}, {}, {}, {}
        for agent in actions:
            self.adapted.role(agent)
        joint = [moves[0] if moves else -1 for moves in self.options]
        for role, agent in zip(self.adapted.players, self.possible_agents, strict=True):
            if agent in actions:
                joint[role] = self._legal(role, actions[agent])
            elif len(self.options[role]) != 1:
                raise MoveError(f"{agent} has {len(self.options[role])} legal moves, and no action")
        if self.adapted.chance is not None:
            joint[self.adapted.chance] = self.adapted.draw(self.options, self._numbers)
        self.gdl_state = self._stepped(self.gdl_state, joint)
        self.options = self.adapted.machine.options(self.gdl_state)
        self.steps += 1
        over = self.gdl_state.terminal
        rewards = self.adapted.rewards(self.gdl_state) if over else [0.0] * len(self.possible_agents)
        observations, cut = self._observations(), self._cut()
        if over or cut:
            self.agents = []
        agents = self.possible_agents
        return (
            observations,
            dict(zip(agents, rewards, strict=True)),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, cut),
            _infos(observations),
        )

    def state(self) -> NDArray[np.uint8]:
        """The whole state, in ``state_space``. Raises AssertionError before ``reset``."""
        if not self._begun:
            EnvLogger.error_state_before_reset()
        return super().state()

    def render(self) -> Any:
        """The state in the chosen render mode; None without a mode. Raises AssertionError before
        ``reset``."""
        if not self._begun:
            EnvLogger.error_render_before_reset()
        return super().render()

    def _observations(self) -> dict[str, Any]:
        """Each agent's observation."""
        roles = zip(self.adapted.players, self.possible_agents, strict=True)
        return {agent: self._seen(role, self.options[role]) for role, agent in roles}


def _infos(observations: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The infos with the masks, for frameworks that look there."""
    return {agent: {"action_mask": seen["action_mask"]} for agent, seen in observations.items()}
