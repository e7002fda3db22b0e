"""Gymnasium environments: `GdlEnv`, and the bundled games registered as ``gdl/NAME-v0``.

Importing this module registers the bundled games. ``gymnasium.make("gdl/eightpuzzle-v0")`` works from then
on, and ``gymnasium.make("ggp.adapters.gymnasium:gdl/eightpuzzle-v0")`` without an import.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError, MoveError, real_number, whole_number
from ggp.adapters.adapted_game import RENDER_MODES, AdaptedGame, action_id, missing
from ggp.game import Game
from ggp.rule_files import find_rules_file, generated_rules, installed_games
from players.belief.belief import Belief, Observed, observed
from players.player import LONGEST_CLOCK, Player
from players.registry import check_name, fitting, make_player

try:
    import gymnasium
    from gymnasium import spaces
except ImportError:
    raise missing("gymnasium", "Gymnasium environments") from None

_NAMESPACE = "gdl"
_START_SECONDS = 0.1
_BELIEF = {"worlds": 20_000, "effort": 200_000}
"""The limits of an opponent's belief, so that a step takes at most tenths of a second."""


class GdlEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """One role of a game; built-in players have the others.

    A step makes the role's move and the others' moves, and goes on while the role can only wait. The reward
    is its goal / 100 at the end, 0 before. The observation is a dictionary with ``observation`` and
    ``action_mask``; the info has the mask, too. A copy of an environment, pickled or deep, has opponents of
    its own, which start from the beginning.

    Args:
        game: as for :meth:`ggp.game.Game.load`, or a game, or an :class:`AdaptedGame` to share.
        role: the role that acts; the first by default.
        opponents: a player for each other role, ``{"o": "uct:playouts=200"}``, or one name for all;
            ``random`` by default.
        observation: one of :data:`ggp.adapters.adapted_game.OBSERVATIONS`.
        render_mode: ``ansi``, ``svg``, ``rgb_array`` or None.
        max_steps: joint moves after which a match is truncated; 0 for never.
        illegal: the effect of an illegal action: ``end`` ends the match with reward 0 and ``illegal`` in the
            info, as if it was lost; ``error`` raises MoveError.
        seconds: for each move of an opponent, at most.
        machine: as for :class:`AdaptedGame`.

    Raises:
        GdlError: there is no such game, role or player.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012 (as gymnasium has it)

    def __init__(
        self,
        game: str | Path | Game | AdaptedGame,
        role: str | None = None,
        opponents: str | Mapping[str, str] = "random",
        observation: str = "bits",
        render_mode: str | None = None,
        max_steps: int = 0,
        illegal: str = "end",
        seconds: float = 1.0,
        machine: str = "auto",
    ) -> None:
        if illegal not in ("end", "error"):
            raise GdlError(f"illegal={illegal!r}", remedy="choose end or error")
        self.adapted = adapted = AdaptedGame.of(game, observation, machine, render_mode)
        self.role = adapted.agents[0] if role is None else role
        self._role = adapted.role(self.role)
        self.opponents = _opponents(adapted, self.role, opponents)
        self.render_mode = render_mode
        self.max_steps = whole_number(max_steps, "max_steps")
        self.illegal = illegal
        self.seconds = real_number(seconds, "seconds", 0, LONGEST_CLOCK)
        self.action_space = spaces.Discrete(adapted.actions(self.role))
        self.observation_space = spaces.Dict(
            {
                "observation": spaces.Box(0, adapted.highest, adapted.shape_of(self.role), np.uint8),
                "action_mask": spaces.Box(0, 1, (adapted.actions(self.role),), np.int8),
            }
        )
        self._players: dict[int, Player] = {}
        self._begin()
        self._ready = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a match; the opponents get new random numbers."""
        super().reset(seed=seed)
        self.close()
        self._begin()
        self._go_on()
        self._ready = True
        return self._seen({})

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Make the role's move. Returns observation, reward, terminated, truncated and info. Raises
        ResetNeeded before the first reset. Raises MoveError after the end, for an action that is not an
        integer, and for an illegal action if ``illegal`` is ``error``."""
        self._need_reset("step")
        move = action_id(action)
        mine = self._options[self._role]
        if self._over():
            raise MoveError("the match is over", remedy="call reset")
        if move not in mine:
            if self.illegal == "error":
                raise MoveError(f"action {move} is not legal here", remedy="choose by the action_mask")
            self._ended = True
            seen, info = self._seen({"illegal": True})
            return seen, 0.0, True, False, info
        self._make(move)
        self._go_on()
        terminated = self.gdl_state.terminal
        reward = (self.adapted.machine.result(self.gdl_state, self._role) or 0) / 100 if terminated else 0.0
        seen, info = self._seen({})
        return seen, reward, terminated, not terminated and self._over(), info

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool (actions,), under the name that MaskablePPO of sb3-contrib asks for."""
        self._need_reset("action_masks")
        return self.adapted.mask(self._role, self._options[self._role]).view(np.bool_)

    def render(self) -> Any:
        """The state in the chosen render mode; None without a mode."""
        self._need_reset("render")
        return None if self.render_mode is None else self.adapted.render(self.gdl_state, self.render_mode)

    def close(self) -> None:
        """Stop the opponents."""
        for player in self._players.values():
            player.stop()
        self._players.clear()

    def __getstate__(self) -> dict[str, Any]:
        # Players hold processes and callbacks. Beliefs are rebuilt from the percepts of their roles.
        return {**self.__dict__, "_players": {}, "_beliefs": {}}

    def _need_reset(self, call: str) -> None:
        """Raise ResetNeeded before the first reset."""
        if not self._ready:
            raise gymnasium.error.ResetNeeded(f"call reset before {call}")

    def _begin(self) -> None:
        self.gdl_state = self.adapted.machine.initial_state()
        self._options = self.adapted.machine.options(self.gdl_state)
        self.steps = 0
        self._ended = False
        self._histories: list[bytes] = []
        self._beliefs: dict[int, Belief] = {}

    def _over(self) -> bool:
        if self._ended or self.gdl_state.terminal or not all(self._options):
            return True
        return 0 < self.max_steps <= self.steps

    def _go_on(self) -> None:
        """Make moves until the role acts, or the match is over."""
        begun = self.steps
        while not self._over():
            if self._role in self.adapted.turns.acting(self._options):
                return
            if self.steps - begun >= 10_000:
                self._ended = True  # no role will ever act again
                return
            self._make(self._options[self._role][0])

    def _make(self, move: int) -> None:
        """Make a joint move from this move and the opponents' moves."""
        joint = [
            move if role == self._role else moves[0] if len(moves) == 1 else self._ask(role)
            for role, moves in enumerate(self._options)
        ]
        self._learn(joint)
        self.gdl_state = self.adapted.machine.next_state(self.gdl_state, joint)
        self._options = self.adapted.machine.options(self.gdl_state)
        self.steps += 1

    def _learn(self, joint: list[int]) -> None:
        """Add a joint move to the roles' histories and the opponents' beliefs if information is hidden."""
        machine, state = self.adapted.machine, self.gdl_state
        self._histories = self.adapted.next_histories(self._histories, state, joint)
        if self._beliefs and not machine.is_terminal(machine.next_state(state, joint)):
            learnt = observed(state, joint)
            for role, belief in self._beliefs.items():
                belief.update(learnt[role])

    def _belief(self, role: int) -> Belief:
        """An opponent's belief about the state, created when it is first used."""
        if role not in self._beliefs:
            belief = self._beliefs[role] = Belief(self.adapted.machine, role, **_BELIEF)
            senses, machine = self.adapted.senses[role], self.adapted.machine
            for move, percepts in senses.read(self._histories[role] if self._histories else b""):
                belief.update(Observed(machine.move(role, move), percepts))
        return self._beliefs[role]

    def _ask(self, role: int) -> int:
        """An opponent's move, or one of chance."""
        if role == self.adapted.chance:
            return self.adapted.draw(self._options, self.np_random)
        player = self._players.get(role)
        if player is None:
            name = self.opponents[self.adapted.agents[self.adapted.players.index(role)]]
            name = fitting(name, self.adapted.machine)
            player = self._players[role] = make_player(name, int(self.np_random.integers(1 << 62)))
            until = time.monotonic() + _START_SECONDS
            player.start(self.adapted.machine, role, self.gdl_state, _START_SECONDS, until)
        until = time.monotonic() + self.seconds
        if self.adapted.senses:
            return player.choose_from(self._belief(role), until).move
        return player.choose(self.gdl_state, until).move

    def _seen(self, info: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The observation, and the info with the mask."""
        mask = self.adapted.mask(self._role, self._options[self._role])
        observation = self.adapted.observe_role(self._role, self.gdl_state, self._histories)
        return {"observation": observation, "action_mask": mask}, {"action_mask": mask, **info}


def _opponents(adapted: AdaptedGame, role: str, given: str | Mapping[str, str]) -> dict[str, str]:
    """A player's name for each other role. Raises GdlError for roles and players that do not exist."""
    others = [agent for agent in adapted.agents if agent != role]
    if isinstance(given, str):
        named = dict.fromkeys(others, given)
    else:
        for agent in given:
            if agent not in others:
                raise GdlError(
                    f"{agent} is not an opponent of {role}",
                    remedy=f"opponents are {', '.join(others) or 'none'}",
                )
        named = {agent: given.get(agent, "random") for agent in others}
    for name in named.values():
        check_name(name)
    return named


def register_game(source: str | Path, name: str | None = None) -> str:
    """Register a .kif file, or a bundled game, as ``gdl/NAME-v0``; NAME is the file's stem by default, and
    ``hex-11`` in another size. Returns the id. Raises GdlError if there is no such file."""
    made = generated_rules(str(source))
    path = source if made else find_rules_file(str(source))
    stem = made[0].replace(":", "-") if made else Path(path).stem
    identifier = f"{_NAMESPACE}/{name or stem}-v0"
    if identifier not in gymnasium.registry:
        gymnasium.register(
            identifier,
            entry_point=f"{__name__}:{GdlEnv.__name__}",
            vector_entry_point=f"{__package__}.vector:GdlVectorEnv",
            kwargs={"game": str(path)},
            disable_env_checker=True,
        )
    return identifier


def register_games() -> list[str]:
    """Register the bundled games. Returns their ids."""
    return [register_game(path) for path in installed_games()]


register_games()
