"""`RolloutPolicy`: how playouts choose their moves. Every search plays out by one of these policies.

A policy is fixed before a batch of playouts begins: it has a weight for each move. The whole batch is then
one call of a compiled kernel, from whose results the policy may learn.

`AveragePolicy` is move averages with Gibbs sampling (MAST: Finnsson and Bjornsson 2008): the better the
results of the playouts in which a role made a move, wherever that was, the more often the role makes it.
Results are measured in standard deviations of the role's moves, and weights are powers of two
(:mod:`propnet.kernels.weighted_choice`).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from players.batch_machine import Ends, NetworkBatch, Records, Weights
from propnet.kernels.scratch import HEAVIEST


class RolloutPolicy:
    """Uniform choice among all legal moves, and the interface of all other policies.

    Attributes:
        name: the name by which users select it.
    """

    name: ClassVar[str] = "equal"

    @property
    def weights(self) -> Weights | None:
        """uint8, shape (moves,): the binary logarithm of each move's weight, 0 to 7; None for uniform choice.
        The same array is returned until a weight changes, then a new one."""
        return None

    def new_tallies(self) -> NDArray[np.int32] | None:
        """Zeros, int32, shape (moves, 2): empty tallies for :meth:`learn`; None to learn nothing."""
        return None

    def learn(self, tallies: NDArray[np.int32]) -> None:
        """Learn from playouts. ``tallies``: int32, shape (moves, 2), the number of playouts that made each
        move and the sum of its role's goals in them (see
        :meth:`players.batch_machine.BatchMachine.playouts`)."""

    def forget(self, keep: float) -> None:
        """Multiply the weight of everything learnt so far by ``keep`` (0..1): the match has moved on."""


_DOUBT = 16.0
"""The average of all moves of a role counts like this many results of a move."""
_PATIENCE = 1.1
"""Weights are computed again when the number of results has grown by this factor."""
_FEWEST = 1000.0
"""Results before there are any weights."""


class AveragePolicy(RolloutPolicy):
    """Moves weigh more, the better their average results.

    Args:
        columns: int32, shape (roles + 1,): where each role's moves begin among those of all roles.
        temperature: a move whose results are better by this many standard deviations weighs e times as much.
    """

    name = "averages"

    def __init__(self, columns: NDArray[np.int32], temperature: float = 1.0) -> None:
        self._columns: list[int] = columns.tolist()
        self._counts = np.zeros((self._columns[-1], 2))
        self.temperature = temperature
        self._due = _FEWEST
        self._weights: NDArray[np.uint8] | None = None

    def new_tallies(self) -> NDArray[np.int32]:
        return np.zeros_like(self._counts, np.int32)

    def learn(self, tallies: NDArray[np.int32]) -> None:
        self._counts += tallies

    def forget(self, keep: float) -> None:
        self._counts *= keep
        self._due = max(_FEWEST, keep * self._due)

    @property
    def weights(self) -> NDArray[np.uint8] | None:
        """The weights, as those of every policy; None while there are too few results."""
        results = float(self._counts[:, 0].sum())
        if results >= self._due:
            self._due = results * _PATIENCE
            parts = [self._weights_of(*self._counts[low:high].T) for low, high in pairwise(self._columns)]
            self._weights = np.concatenate(parts)
        return self._weights

    def _weights_of(self, number: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.uint8]:
        """The weights of one role's moves, of the number of playouts that made each and their total goals."""
        playouts = number.sum()
        if not playouts:
            return np.zeros(len(number), np.uint8)
        usual = total.sum() / playouts
        better = (total + _DOUBT * usual) / (number + _DOUBT) - usual
        spread = math.sqrt((number * better**2).sum() / playouts)
        if spread == 0.0:
            return np.zeros(len(number), np.uint8)
        exponents = better / (spread * self.temperature * math.log(2.0))
        weights: NDArray[np.uint8] = np.clip(np.rint(exponents + HEAVIEST / 2), 0, HEAVIEST).astype(np.uint8)
        return weights


def roll_out(
    batched: NetworkBatch,
    policy: RolloutPolicy,
    starts: Records,
    seed: int,
    steps: int,
    deadline: float,
    each: int,
    counted: int = 1,
) -> Ends:
    """Playouts by a policy, as :meth:`players.batch_machine.BatchMachine.playouts` makes them. The policy
    learns from ``counted`` of the playouts from each state."""
    tallies, weights = policy.new_tallies(), policy.weights
    ends = batched.playouts(
        starts, seed, steps, deadline, each, weights=weights, tallies=tallies, counted=counted
    )
    if tallies is not None:
        policy.learn(tallies)
    return ends
