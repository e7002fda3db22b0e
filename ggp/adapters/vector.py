"""Vector environments of Gymnasium: a lane for each, one compiled step for all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError, MoveError
from gdl.machine import State
from ggp.adapters.adapted_game import RENDER_MODES, AdaptedGame, missing
from ggp.game import Game
from propnet.environments.vector_match import MEMORY_LIMIT, VectorMatch
from propnet.jit.arrays import Flags

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError:
    raise missing("gymnasium", "vector environments") from None

_MODES = {
    AutoresetMode.NEXT_STEP: "next-step",
    AutoresetMode.SAME_STEP: "same-step",
    AutoresetMode.DISABLED: "disabled",
}
_SINGLE = {"action_space": "single_action_space", "observation_space": "single_observation_space"}


class GdlVectorEnv(VectorEnv[dict[str, Any], NDArray[Any], NDArray[Any]]):
    """Many matches of a game, in which one role acts; the other roles move at random.

    A step is one joint move in each match. If the role can only wait, its mask has that one move. After a
    match's last step the mask may be all zeros, and the action is ignored. For all roles at once, with
    nothing unpacked, see ``match``.

    Games that hide information are refused: observations are states. :class:`.GdlAEC` plays them.

    Args:
        game: as for :class:`AdaptedGame`, or one to share.
        num_envs: the number of matches; multiples of 512 leave no lane empty.
        role: the role that acts; the first by default.
        observation: one of :data:`ggp.adapters.adapted_game.OBSERVATIONS`.
        autoreset_mode: when a match that is over restarts, an ``AutoresetMode`` or its value. With
            ``SameStep`` the last observations are ``final_obs`` in the info; with ``Disabled``
            ``reset(options={"reset_mask": ...})`` restarts some of them.
        max_steps: joint moves after which a match is truncated; 0 for never.
        memory_limit: bytes, as for :class:`VectorMatch`.
        machine: as for :class:`AdaptedGame`.
        render_mode: ``ansi``, ``svg``, ``rgb_array`` or None.

    Attributes:
        match: the :class:`VectorMatch`.
    """

    METHODS: ClassVar = ("action_masks", "render")
    """The methods that :meth:`call` can call."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012 (as gymnasium has it)

    def __init__(
        self,
        game: str | Path | Game | AdaptedGame,
        num_envs: int = 1,
        role: str | None = None,
        observation: str = "bits",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_steps: int = 0,
        memory_limit: int = MEMORY_LIMIT,
        machine: str = "auto",
        render_mode: str | None = None,
    ) -> None:
        adapted = AdaptedGame.of(game, observation, machine, render_mode)
        modes = [mode.value for mode in _MODES]
        if not isinstance(autoreset_mode, AutoresetMode) and autoreset_mode not in modes:
            raise GdlError(
                f"there is no autoreset mode {autoreset_mode!r}", remedy=f"choose {', '.join(modes)}"
            )
        mode = self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.render_mode = render_mode
        if adapted.senses:
            raise GdlError(
                f"{adapted.name} hides information ('sees'), and a vector of matches shows whole states",
                remedy="GdlAEC, GdlParallel and GdlEnv show an agent only what it may know",
            )
        self.adapted = adapted
        self.num_envs = num_envs
        self.role = adapted.agents[0] if role is None else role
        self._role = adapted.role(self.role)
        self.metadata = {**type(self).metadata, "autoreset_mode": mode}
        self.match = VectorMatch(
            adapted.machine, num_envs, autoreset=_MODES[mode], max_steps=max_steps, memory_limit=memory_limit
        )
        self._actions = self.match.random_actions()
        self._all = np.ones(num_envs, np.bool_)
        self._same_step = mode is AutoresetMode.SAME_STEP
        actions = adapted.actions(self.role)
        self.single_action_space = spaces.Discrete(actions)
        self.single_observation_space = spaces.Dict(
            {
                "observation": spaces.Box(0, adapted.highest, adapted.shape, np.uint8),
                "action_mask": spaces.Box(0, 1, (actions,), np.int8),
            }
        )
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin all matches, or those of ``options["reset_mask"]``, bool (num_envs,). Only the first seed is
        used."""
        first = seed[0] if isinstance(seed, list) else seed
        which = None if options is None else options.get("reset_mask")
        self.match.reset(which, seed=first)
        return self._seen({})

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[dict[str, Any], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Make a joint move in each match, from action ids (num_envs,). Rewards are float32, terminated and
        truncated bool (num_envs,); later steps do not change the returned arrays. Raises MoveError for an
        action that is not legal; nothing has changed then."""
        match = self.match
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise MoveError(
                f"actions of shape {actions.shape} and type {actions.dtype}",
                remedy=f"give integers of shape ({self.num_envs},)",
            )
        if match.roles > 1:
            match.random_actions(self._actions)
        self._actions[:, self._role] = actions
        match.step(self._actions)
        info: dict[str, Any] = {}
        if self._same_step and match.done.any():
            last = self.adapted.observe(match.final_bits.copy())
            masks = np.zeros((self.num_envs, self.adapted.actions(self.role)), np.int8)
            info = {
                "final_obs": {"observation": last, "action_mask": masks},
                "_final_obs": match.done.copy(),
            }
        seen, info = self._seen(info)
        rewards = match.rewards[:, self._role].copy()
        return seen, rewards, match.terminated.copy(), match.truncated.copy(), info

    def action_masks(self) -> Flags:
        """The legal actions of each match, bool (num_envs, actions)."""
        return self.match.legal(self._role)

    def render(self) -> tuple[Any, ...] | None:
        """Each match's state in the chosen render mode; None without a mode."""
        mode, machine = self.render_mode, self.adapted.machine
        if mode is None:
            return None
        return tuple(self.adapted.render(State(machine, row.tobytes()), mode) for row in self.match.bits)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The result for each match, as in :meth:`gymnasium.vector.SyncVectorEnv.call`: of the methods
        ``action_masks`` and ``render``, or of attributes, which all matches share. Raises AttributeError if a
        match has nothing of this name."""
        if name in self.METHODS:
            answers = getattr(self, name)(*args, **kwargs)
            return (None,) * self.num_envs if answers is None else tuple(answers)
        if name.startswith("_") or callable(value := getattr(self, _SINGLE.get(name, name))):
            raise AttributeError(
                f"matches in lanes have no {name!r} of their own: call {' or '.join(self.METHODS)}"
            )
        return (value,) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of each match, as :meth:`call` returns it."""
        return self.call(name)

    def random_actions(self) -> NDArray[np.int32]:
        """A uniformly random legal action for each match, int32 (num_envs,)."""
        return self.match.random_actions()[:, self._role]

    def _seen(self, info: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The observations, and the info with the masks."""
        masks = self.action_masks().view(np.int8)
        info = {"action_mask": masks, "_action_mask": self._all, **info}
        return {"observation": self.adapted.observe(self.match.bits.copy()), "action_mask": masks}, info


def make_vec(game: str | Path | Game, num_envs: int = 1, **settings: Any) -> GdlVectorEnv:
    """A vector environment by id (``gdl/connectfour-v0``), name or path, or of a game; settings as for
    :class:`GdlVectorEnv`."""
    if game in gymnasium.registry:
        return GdlVectorEnv(num_envs=num_envs, **{**gymnasium.spec(game).kwargs, **settings})
    name = game.removeprefix("gdl/").removesuffix("-v0") if isinstance(game, str) else game
    return GdlVectorEnv(name, num_envs, **settings)
