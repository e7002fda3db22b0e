"""Observations of random play: whether roles move one at a time, which moves the others make meanwhile, and
whether roles are rivals.

Guides are checked as they play; no player relies on other facts that were only observed.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine

_ROWS, _STEPS = 32, 64
_ENDS, _LONGEST = 512, 1000


def forced_moves(machine: PropnetMachine) -> list[int] | None:
    """Per role the move it is forced to make when another role has a choice; -1 if that was not observed.
    None if two roles had a choice in one state, if one role was forced to different moves, or if one has no
    moves."""
    rng = np.random.default_rng(0)
    initial = np.repeat(machine.records([machine.initial_state()]), _ROWS, axis=0)
    bounds = list(pairwise(machine.role_moves.tolist()))
    if any(low == high for low, high in bounds):
        return None
    seen = [np.zeros(high - low, np.int64) for low, high in bounds]
    records = initial
    for _ in range(_STEPS):
        outputs = machine.evaluate(records)
        legal = unpack(outputs.legal, machine.network.move_count)
        counts = np.stack([legal[:, low:high].sum(axis=1) for low, high in bounds], axis=1)
        going = ~outputs.terminal & (counts > 0).all(axis=1)
        choosing = (counts > 1) & going[:, None]
        if (choosing.sum(axis=1) > 1).any():
            return None
        busy = choosing.any(axis=1)
        moves = np.zeros((_ROWS, len(bounds)), np.int32)
        for role, (low, high) in enumerate(bounds):
            mine = legal[:, low:high]
            moves[:, role] = np.argmax(np.where(mine, rng.random(mine.shape, np.float32), -1), axis=1)
            waits = busy & ~choosing[:, role]
            seen[role] += np.bincount(moves[waits, role], minlength=high - low)
        records = machine.successors(records, moves)
        records = np.where(going[:, None], records, initial)
    if any(np.count_nonzero(times) > 1 for times in seen):
        return None
    return [int(np.argmax(times)) if times.any() else -1 for times in seen]


def final_goals(
    machine: PropnetMachine, matches: int = _ENDS, seed: int = 0, longest: int = _LONGEST
) -> NDArray[np.integer]:
    """The goals of the roles at the end of random matches, shape (n, roles); -1 for a role without a goal.
    Matches that last ``longest`` moves or more are left out."""
    played = machine.playouts(matches, seed, max_steps=longest)
    goals: NDArray[np.integer] = played.goals[played.lengths < longest]
    return goals


def is_constant_sum(goals: NDArray[np.integer]) -> bool:
    """Whether there are :func:`final_goals`, every role has one in each match, and they add up to 100."""
    return len(goals) > 0 and not (goals < 0).any() and bool((goals.sum(axis=1) == 100).all())


def rivals(machine: PropnetMachine) -> bool:
    """Whether in random play no two roles got their best goals together, and with two roles one lost what
    the other won."""
    goals = final_goals(machine)
    best = np.zeros(len(machine.roles), np.int64)
    np.maximum.at(best, machine.network.goals[:, 0], machine.network.goals[:, 1])
    if ((goals >= best).sum(axis=1) > 1).any():
        return False
    sure = goals[(goals >= 0).all(axis=1)]
    return len(machine.roles) != 2 or not len(sure) or is_constant_sum(sure)
