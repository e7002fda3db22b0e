"""How self-play by searches goes on, and what it brings to learn from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from players.uct.training.searched_play import SearchedPlay

STEPS = 12
"""Moves of each match before the next weights."""
LAMBDA = 0.95
"""How much of what a state is worth comes from what came of the next one; its search says the rest."""


@dataclass(frozen=True, eq=False)
class LearntStates:
    """What some steps have brought: states in random order, and what they are worth to role 0.

    Attributes:
        records: uint64, shape (n, words).
        targets: float32, shape (n, 1), 0..1.
        moves: how many were made; ``finished`` matches came to their end, of which role 0 got ``won``.
    """

    records: NDArray[np.uint64]
    targets: NDArray[np.float32]
    moves: int
    finished: int
    won: float


@dataclass(frozen=True)
class PlayTerms:
    """How self-play goes on: matches side by side, paths for each move, how often a move is random."""

    lanes: int = 256
    visits: int = 32
    explored: float = 0.05


def play_and_tell(play: SearchedPlay, steps: int, rng: np.random.Generator) -> LearntStates:
    """Play some steps, and tell what there is to learn from them."""
    finished, won = play.finished, play.won
    played, inner = play.play(steps)
    records = played.records.reshape(-1, played.records.shape[-1])
    targets = played.targets(LAMBDA).reshape(-1, 1)
    order = rng.permutation(len(records) + len(inner.records))
    return LearntStates(
        np.concatenate([records, inner.records])[order],
        np.concatenate([targets, inner.values])[order],
        len(records),
        play.finished - finished,
        play.won - won,
    )
