"""PettingZoo environments: `GdlAEC` (one agent after the other) and `GdlParallel` (all at once)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gdl.errors import MoveError
from gdl.machine import State
from ggp.adapters.adapted_game import RENDER_MODES, AdaptedGame
from ggp.adapters.missing import missing
from ggp.game import Game

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv, ParallelEnv
except ImportError:
    raise missing("pettingzoo", "PettingZoo environments") from None

_METADATA = {"render_modes": list(RENDER_MODES), "is_parallelizable": False}


class _Agents:
    """What both kinds share: spaces, observations, rendering."""

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
        if not isinstance(game, AdaptedGame):
            game = AdaptedGame(game, observation=observation, machine=machine)
        self.adapted = game
        self.render_mode = render_mode
        self.max_steps = max_steps
        self.metadata = {**_METADATA, "name": f"gdl_{game.name}_v0"}
        self.possible_agents = list(game.agents)
        self.agents: list[str] = []
        self.action_spaces = {agent: spaces.Discrete(game.actions(agent)) for agent in game.agents}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, game.highest, game.shape, np.uint8),
                    "action_mask": spaces.Box(0, 1, (game.actions(agent),), np.int8),
                }
            )
            for agent in game.agents
        }
        self.gdl_state: State = game.machine.initial_state()
        self.options: list[list[int]] = []
        self.steps = 0

    def observation_space(self, agent: str) -> Any:
        """What an agent sees: ``observation`` and ``action_mask``."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """An agent's action ids; :meth:`AdaptedGame.action_names` names them."""
        return self.action_spaces[agent]

    def render(self) -> Any:
        """The state in the mode that was asked for; None without a mode."""
        return None if self.render_mode is None else self.adapted.render(self.gdl_state, self.render_mode)

    def close(self) -> None:
        """Nothing is held outside."""

    def _seen(self, role: int, moves: list[int]) -> dict[str, Any]:
        observation = self.adapted.observe_state(self.gdl_state)
        return {"observation": observation, "action_mask": self.adapted.mask(role, moves)}

    def _legal(self, role: int, action: Any) -> int:
        """The action as a legal move's id. Raises MoveError."""
        move = int(action)
        if move not in self.options[role]:
            agent, names = self.possible_agents[role], self.adapted.machine.network.moves[role]
            text = self.adapted.machine.rules.spell(names[move]) if 0 <= move < len(names) else "no move"
            raise MoveError(
                f"action {move} ({text}) is not legal for {agent}", remedy="choose by the action_mask"
            )
        return move

    def _cut(self) -> bool:
        """Whether the match cannot or may not go on, though it is not over."""
        if self.gdl_state.terminal:
            return False
        return not all(self.options) or 0 < self.max_steps <= self.steps


class GdlAEC(_Agents, AECEnv):  # type: ignore[misc]
    """A game whose agents act one after the other.

    Agents are the roles. An agent with nothing but a waiting move is skipped; where several act in one state,
    they act in role order without seeing what the others chose, and then the joint move is made. Rewards are
    goals / 100 at the end, 0 before. An agent that does not act sees a mask of zeros.

    Args:
        game: as for :meth:`ggp.game.Game.load`, or a game, or an :class:`AdaptedGame` to share.
        observation: one of :data:`ggp.adapters.adapted_game.OBSERVATIONS`.
        render_mode: ``ansi``, ``svg``, ``rgb_array`` or None.
        max_steps: joint moves after which a match is truncated; 0 for never.
        machine: as for :class:`AdaptedGame`.

    Raises:
        MoveError: from ``step``, for an action that is not legal; nothing has changed then.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match. Nothing in it is random."""
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self.steps = 0
        self._settle(self.adapted.machine.initial_state())
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, Any]:
        """What an agent sees of the present state."""
        role = self.adapted.role(agent)
        waits = role not in self._acting or role in self._chosen
        return self._seen(role, [] if waits else self.options[role])

    def step(self, action: Any) -> None:
        """Take the selected agent's action; None for one whose match is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        role = self.adapted.role(agent)
        self._chosen[role] = self._legal(role, action)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        waiting = [other for other in self._acting if other not in self._chosen]
        if waiting:
            self.agent_selection = self.possible_agents[waiting[0]]
        else:
            joint = [self._chosen.get(r, moves[0]) for r, moves in enumerate(self.options)]
            self.steps += 1
            self._settle(self.adapted.machine.next_state(self.gdl_state, joint))
        self._accumulate_rewards()

    def _settle(self, state: State) -> None:
        """Go on to the next state in which somebody acts."""
        turns = self.adapted.turns
        most = self.max_steps - self.steps if self.max_steps else 10_000
        self.gdl_state, self.options, self._acting, passed = turns.settle(state, max(0, most))
        self.steps += passed
        self._chosen: dict[int, int] = {}
        if self.gdl_state.terminal:
            self._acting = []
            self.rewards = dict(zip(self.possible_agents, self.adapted.rewards(self.gdl_state), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
        elif self._cut() or not self._acting:
            self._acting = []
            self.truncations = dict.fromkeys(self.agents, True)
        if self._acting:
            self.agent_selection = self.possible_agents[self._acting[0]]


class GdlParallel(_Agents, ParallelEnv):  # type: ignore[misc]
    """A game whose agents act at once: one step is one joint move.

    Arguments are those of :class:`GdlAEC`. ``step`` takes an action for each agent; one with a single legal
    move may be left out. Raises MoveError for an action that is not legal; nothing has changed then.
    """

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a match. Nothing in it is random."""
        self.agents = self.possible_agents[:]
        self.gdl_state, self.steps = self.adapted.machine.initial_state(), 0
        self.options = self.adapted.turns.options(self.gdl_state)
        return self._observations(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Make a joint move: observations, rewards, terminations, truncations, infos."""
        joint = []
        for role, agent in enumerate(self.possible_agents):
            if agent in actions:
                joint.append(self._legal(role, actions[agent]))
            elif len(self.options[role]) == 1:
                joint.append(self.options[role][0])
            else:
                raise MoveError(f"{agent} has {len(self.options[role])} legal moves, and no action")
        self.gdl_state = self.adapted.machine.next_state(self.gdl_state, joint)
        self.options = self.adapted.turns.options(self.gdl_state)
        self.steps += 1
        over = self.gdl_state.terminal
        rewards = self.adapted.rewards(self.gdl_state) if over else [0.0] * len(joint)
        observations, cut = self._observations(), self._cut()
        infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.possible_agents}
        if over or cut:
            self.agents = []
        agents = self.possible_agents
        return (
            observations,
            dict(zip(agents, rewards, strict=True)),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, cut),
            infos,
        )

    def _observations(self) -> dict[str, Any]:
        """What each agent sees."""
        return {a: self._seen(role, self.options[role]) for role, a in enumerate(self.possible_agents)}
