"""Samples of a game's states: random matches, and some of their states' successors."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from propnet.analysis.cones import clocks, step_clocks
from propnet.expander import Expander
from propnet.jit.arrays import Flags, Int32s, Words
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine

_MATCHES = 128
"""Random matches that are played at once."""

STEPS = 400
"""The most steps of them; matches that end start again."""

_BITS = 16_000_000
"""The bits of propositions and moves that are visited, roughly; large games get fewer steps."""


def sample_states(
    machine: PropnetMachine, count: int = 4096, seed: int = 0, matches: int = _MATCHES
) -> Words:
    """About ``count`` reachable states that are not all near the start: uint64, shape (n, words).

    They come from random matches, which choose moves uniformly, evenly thinned out and with the initial
    state; from the successors of some of them by every joint move; and, a quarter of ``count``, from the
    states with the fewest moves. The same seed gives the same states. Fewer ``matches`` get further in large
    games.
    """
    rng = np.random.default_rng(seed)
    start = machine.records([machine.initial_state()])
    records = np.repeat(start, matches, axis=0)
    steps = min(STEPS, _BITS // (matches * max(1, machine.network.move_count + len(machine.network.bases))))
    layers = [start]
    for _ in range(max(8, steps)):
        evaluation = machine.evaluate(records)
        moves, stuck = _choose(machine, unpack(evaluation.legal, machine.network.move_count), rng)
        going = ~(evaluation.terminal | stuck)
        following = np.repeat(start, matches, axis=0)
        following[going] = machine.successors(records[going], moves[going])
        layers.append(records := following)
    states = np.concatenate(layers)
    states = states[np.linspace(0, len(states) - 1, min(count, len(states))).astype(np.int64)]
    parents = states[rng.integers(0, len(states), max(1, count // 16))]
    following = next((chunk.records.copy() for chunk in Expander(machine, count).stream(parents)), start)
    return np.concatenate([states, following, _nearest(machine, start, count // 4)])


def _nearest(machine: PropnetMachine, start: Words, most: int) -> Words:
    """The ``most`` states that take the fewest moves, or all if there are fewer."""
    found = [start]
    seen = {start.tobytes()}
    expander = Expander(machine, 8 * most)
    while len(found[-1]) and len(seen) < most:
        chunk = next(expander.stream(found[-1]), None)
        fresh: list[bytes] = []
        for record in chunk.records if chunk is not None else ():
            key = record.tobytes()
            if key not in seen and len(seen) < most:
                seen.add(key)
                fresh.append(key)
        found.append(np.frombuffer(b"".join(fresh), np.uint64).reshape(-1, machine.words))
    return np.concatenate(found)


def _choose(machine: PropnetMachine, legal: Flags, rng: np.random.Generator) -> tuple[Int32s, Flags]:
    """A legal move of each role in each state, given the legal moves, shape (n, moves); and the states that
    leave a role without one."""
    bounds = machine.role_moves.tolist()
    chosen = np.zeros((len(legal), len(bounds) - 1), np.int32)
    stuck = np.zeros(len(legal), np.bool_)
    for role, (low, high) in enumerate(pairwise(bounds)):
        rows, moves = np.nonzero(legal[:, low:high])
        counts = np.bincount(rows, minlength=len(legal))
        able = np.flatnonzero(counts)
        places = (np.cumsum(counts) - counts)[able] + (rng.random(len(able)) * counts[able]).astype(np.int64)
        chosen[able, role] = moves[places]
        stuck |= counts == 0
    return chosen, stuck


def clock_states(machine: PropnetMachine, most: int = 1 << 12, start: Words | None = None) -> Words:
    """The states of the step clocks from the initial state on, or from ``start``, uint64, shape (1, words),
    until they repeat, at most ``most``; they do not depend on the moves. uint64, shape (n, words), all other
    propositions false. Only the first one if a role has no moves, because nothing can then be played."""
    mask, counters = (pack(kind(machine.network)[None, :])[0] for kind in (clocks, step_clocks))
    moves = np.zeros((1, len(machine.roles)), np.int32)
    record = (machine.records([machine.initial_state()]) if start is None else start) & mask
    seen: dict[bytes, None] = {}
    rows: list[Words] = []
    while record.tobytes() not in seen and len(rows) < most:
        seen[record.tobytes()] = None
        rows.append(record & counters)
        if not np.diff(machine.role_moves).all():
            break
        record = machine.successors(record, moves) & mask
    return np.concatenate(rows)
