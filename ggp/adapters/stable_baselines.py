"""Matches in lanes for Stable-Baselines3 and sb3-contrib: `GdlVecEnv`, and `make_sb3_vec`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp.adapters.adapted_game import missing
from ggp.adapters.vector import GdlVectorEnv, make_vec

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    raise missing("stable_baselines3", "environments of Stable-Baselines3", "sb3") from None

Seen = dict[str, NDArray[Any]]


class GdlVecEnv(VecEnv):  # type: ignore[misc]
    """A :class:`ggp.adapters.vector.GdlVectorEnv` as a vector environment of Stable-Baselines3.

    ``env_method("action_masks")`` returns the legal actions, as MaskablePPO expects them. A match that is
    over restarts within the step: its last observation is ``terminal_observation`` in its info, and
    ``TimeLimit.truncated`` says whether it was truncated.

    Args:
        envs: in the autoreset mode ``SameStep``.
    """

    def __init__(self, envs: GdlVectorEnv) -> None:
        self.envs = envs
        self._actions: NDArray[Any] = np.zeros(0, np.int64)
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> Seen:
        """Begin all matches, seeded by the first seed that ``seed`` has set."""
        seen, _ = self.envs.reset(seed=self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        return seen

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions (num_envs,) of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[Seen, NDArray[Any], NDArray[Any], list[dict[str, Any]]]:
        """Make the step: observations, rewards, which matches are over, and an info for each."""
        seen, rewards, terminated, truncated, info = self.envs.step(self._actions)
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(self.num_envs)]
        over = terminated | truncated
        for match in np.flatnonzero(over).tolist():
            last = {name: rows[match].copy() for name, rows in info["final_obs"].items()}
            infos[match] = {"terminal_observation": last, "TimeLimit.truncated": bool(truncated[match])}
        return seen, rewards, over, infos

    def close(self) -> None:
        """Close the matches."""
        self.envs.close()

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """The results of ``action_masks`` or ``render`` for some matches."""
        return self._some(self.envs.call(method_name, *method_args, **method_kwargs), indices)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute or method, once for each of some matches. Raises AttributeError if there is none."""
        if attr_name in self.envs.METHODS:
            return self._some([getattr(self.envs, attr_name)] * self.num_envs, indices)
        return self._some(self.envs.get_attr(attr_name), indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raises AttributeError: matches in lanes have nothing of their own to set."""
        raise AttributeError(f"matches in lanes have no attribute {attr_name!r} to set: make new ones")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No match is wrapped."""
        return self._some([False] * self.num_envs, indices)

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Each match as pixels if the render mode is ``rgb_array``."""
        return self.envs.call("render")

    def _some(self, answers: Sequence[Any], indices: Any) -> list[Any]:
        return [answers[match] for match in self._get_indices(indices)]


def make_sb3_vec(game: str, num_envs: int = 1, **settings: Any) -> GdlVecEnv:
    """Matches in lanes by id, name or path; settings as for :class:`ggp.adapters.vector.GdlVectorEnv`."""
    return GdlVecEnv(make_vec(game, num_envs, autoreset_mode="SameStep", **settings))
