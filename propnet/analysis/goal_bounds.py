"""Goal bounds: which goals can still be reached from a state, bounded from above by ternary simulation.

What may change opens, step after step, until nothing more does: the least fixpoint above the state (R. Bryant
and C. Seger, 1995). Where that takes too long, only what is latched is taken to stay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propnet.analysis.latches import Latches
from propnet.analysis.ternary import Ternary, unpack_cases

ROUNDS = 24
"""Steps after which what still changes is taken to be open."""

MOST_ROUNDS = 2 * ROUNDS


def reachable(
    ternary: Ternary,
    latched: Latches,
    clocks: NDArray[np.bool_],
    states: NDArray[np.bool_],
    rounds: int = MOST_ROUNDS,
) -> NDArray[np.bool_]:
    """Whether each goal may hold in a state, or in one that follows sooner or later.

    Args:
        ternary: the network's.
        latched: its latches.
        clocks: shape (bases,): propositions taken to be open at once, which only saves time.
        states: shape (n, bases), any n.
        rounds: steps to try; 0 for latches alone.

    Returns:
        shape (n, goals): False where the goal (a row of ``network.goals``) never holds again.
    """
    start = ternary.known(states)
    may = start.copy()
    may[np.repeat(clocks & ~latched.constant, 2)] = ~np.uint64(0)
    for done in range(rounds):
        more = may | ternary.step(may).following
        changed = more != may
        if not changed.any():
            break
        may = more
        if done >= ROUNDS:
            rows = changed.any(axis=1).reshape(-1, 2).any(axis=1)
            may[np.repeat(rows, 2)] = ~np.uint64(0)
    else:
        free = ternary.unknown(start.shape[1])
        free[2 * np.flatnonzero(latched.false)] = 0
        free[2 * np.flatnonzero(latched.true) + 1] = 0
        may = start | free
    return unpack_cases(ternary.state(may)[ternary.network.goals[:, 2]], len(states))


def decided(network_goals: NDArray[np.int32], may: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether no role has more than one goal value left: shape (n,).

    Args:
        network_goals: ``network.goals``.
        may: what :func:`reachable` returned.
    """
    single = np.ones(len(may), np.bool_)
    for role in np.unique(network_goals[:, 0]):
        mine = network_goals[:, 0] == role
        values = np.unique(network_goals[mine, 1])
        left = [may[:, mine & (network_goals[:, 1] == value)].any(axis=1) for value in values]
        single &= np.sum(left, axis=0) <= 1
    return single
