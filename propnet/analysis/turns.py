"""What random play shows: whether roles move one at a time, what the others do meanwhile, whether they are
rivals."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine

_ROWS, _STEPS = 32, 64
_ENDS, _LONGEST = 512, 1000


def forced_moves(machine: PropnetMachine, seed: int = 0) -> list[int] | None:
    """Per role the move it is forced to make when another role has a choice; -1 if that was not seen. None
    if two roles had a choice in one state, if one role was forced to different moves, or if one has none."""
    rng = np.random.default_rng(seed)
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


def rivals(machine: PropnetMachine, seed: int = 0) -> bool:
    """Whether in random play no two roles got their best goals together, and of two roles one lost what
    the other won."""
    ends = machine.playouts(_ENDS, seed, max_steps=_LONGEST)
    goals = ends.goals[ends.lengths < _LONGEST]
    best = np.zeros(len(machine.roles), np.int64)
    np.maximum.at(best, machine.network.goals[:, 0], machine.network.goals[:, 1])
    if ((goals >= best).sum(axis=1) > 1).any():
        return False
    sure = goals[(goals >= 0).all(axis=1)]
    return len(machine.roles) != 2 or bool((sure.sum(axis=1) == 100).all())
