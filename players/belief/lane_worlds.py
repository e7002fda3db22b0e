"""Worlds as packed records of a machine with lanes."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.machine import State
from gdl.terms import Term
from players.belief.follow_kernel import (
    DONE,
    TOO_MANY,
    Found,
    Wanted,
    follow,
    follow_all,
    keep_open,
    new_follow_scratch,
    place_records,
)
from players.belief.worlds import (
    Following,
    Joints,
    Limits,
    Observed,
    Options,
    Weights,
    WorldMachine,
    Worlds,
    all_joints,
    draws,
    thinned,
)
from players.move_lists import unpack_moves
from propnet.jit.arrays import Ints, Words
from propnet.jit.vector512 import LANES
from propnet.kernels.records import pack
from propnet.machine import PropnetMachine

_BYTES = 1 << 28
"""The most memory for the worlds found in a turn, in bytes."""
_FEW = 1 << 10
"""Number of worlds for which there always is memory and time."""
_PAIRS = 1 << 15
"""Joint moves between two checks of the clock."""


class _Pairs(NamedTuple):
    """Joint moves to be played: see :func:`players.belief.follow_kernel.follow`."""

    worlds: Worlds
    times: Ints
    shares: Weights
    allowed: Words
    percepts: Wanted
    drawn: bool


class LaneWorlds(WorldMachine):
    """Worlds as records of a machine with lanes."""

    def __init__(self, machine: PropnetMachine, role: int) -> None:
        super().__init__(machine, role)
        self._lanes = machine
        bounds = machine.role_percepts.tolist()
        self._own = slice(bounds[role], bounds[role + 1])
        own = machine.network.percepts[role] if machine.network.percepts else ()
        self._places = {percept: place for place, percept in enumerate(own)}
        bits = np.zeros((1, max(1, bounds[-1])), np.bool_)
        bits[0, self._own] = True
        self._mask = pack(bits)[0]
        self._scratch = new_follow_scratch(machine.plan)
        self._small = _new_found(_FEW + LANES, machine.words)
        self._allowed: dict[int | None, Words] = {}
        self._wires_of: dict[frozenset[Term], Wanted] = {}
        row = 8 * machine.words + 24
        self._rows = max(_FEW, _BYTES // row) + LANES

    def of_states(self, states: Iterable[State]) -> Worlds:
        return np.array(self._lanes.records(list(states)))

    def state(self, worlds: Worlds, number: int) -> State:
        return self._lanes.states(worlds[number : number + 1])[0]

    def options(self, worlds: Worlds) -> Options:
        evaluation = self._lanes.evaluate(worlds)
        counts, moves = unpack_moves(evaluation.legal, self._lanes.role_moves)
        return Options(evaluation.terminal, counts.astype(np.int64), moves)

    def follow(
        self,
        worlds: Worlds,
        weights: Weights,
        seen: Observed,
        limits: Limits,
        numbers: np.random.Generator,
        *,
        blind: bool = False,
    ) -> Following:
        move, percepts = self.own_move(seen.move), self._percept_wires(None if blind else seen.percepts)
        if move == -1 or percepts is None:
            return Following(worlds[:0], weights[:0], True)
        lanes, allowed, found = self._lanes, self._of_move(move), self._small
        count = len(worlds)
        joints, times, shares = np.empty(count), np.empty(count, np.int64), np.empty(count)
        pairs = _Pairs(worlds, times, shares, allowed, percepts, False)
        found.table[:] = 0
        found.at[:] = 0
        came_to = follow_all(
            lanes.kernel_args, lanes.scratch.wires, self._scratch, percepts, allowed, worlds, weights, joints,
            shares, times, found, limits.effort, _PAIRS,
        )  # fmt: skip
        complete = came_to != TOO_MANY
        if came_to != DONE:
            drawn = limits.effort
            if complete:
                found, complete = self._played(pairs, found, limits, np.zeros(1, np.uint64))
                drawn = self._fewer(found, limits)
            if not complete:
                found = self._particles(pairs, weights * (joints > 0), drawn, limits, numbers)
            found.at[2] = keep_open(
                lanes.kernel_args, lanes.scratch.wires, self._scratch.masks, found.records, found.sums,
                int(found.at[2]),
            )  # fmt: skip
        count = int(found.at[2])
        after, theirs = found.records[:count], found.sums[:count]
        if found is self._small or count < len(found.records) // 2:
            after, theirs = after.copy(), theirs.copy()
        after, theirs = thinned(after, theirs, limits.worlds, numbers)
        return Following(after, theirs, complete and len(after) == count)

    def _particles(
        self, pairs: _Pairs, weights: Weights, drawn: int, limits: Limits, numbers: np.random.Generator
    ) -> Found:
        """The successors of ``drawn`` random joint moves, in worlds drawn by weight; of fewer if there is not
        enough time or memory."""
        if weights.sum() == 0:
            return _new_found(0, self._lanes.words)
        while True:
            times = draws(weights, drawn, numbers)
            shares = np.full(len(weights), 1 / drawn)
            seed = numbers.integers(1 << 63, size=1, dtype=np.uint64)
            found = _new_found(_FEW + LANES, self._lanes.words)
            some = pairs._replace(times=times, shares=shares, drawn=True)
            found, ended = self._played(some, found, limits, seed, whole=drawn <= _FEW)
            if ended:
                return found
            drawn = self._fewer(found, limits)

    def _fewer(self, found: Found, limits: Limits) -> int:
        """The number of joint moves to draw after time or memory ended before all were played."""
        played = int(found.at[3])
        if time.monotonic() > limits.deadline:
            return max(_FEW, played // 4)
        return max(self._room(limits) - LANES, played * 3 // 4)

    def _room(self, limits: Limits) -> int:
        """The most records to hold: a few lanes' more than the limit of worlds."""
        return min(self._rows, max(_FEW, limits.worlds) + LANES)

    def _played(
        self, pairs: _Pairs, found: Found, limits: Limits, random: Words, *, whole: bool = False
    ) -> tuple[Found, bool]:
        """All records that follow, including terminal ones, and whether all pairs were played. With ``whole``
        all pairs are played in any case."""
        lanes = self._lanes
        rows, limit = len(found.records), self._room(limits)
        while not follow(
            lanes.kernel_args, lanes.scratch.wires, self._scratch, pairs.percepts, pairs.allowed,
            pairs.worlds, pairs.times, pairs.shares, pairs.drawn, random, found, _PAIRS,
        ):  # fmt: skip
            if found.at[2] + LANES > rows:
                if rows >= limit:
                    return found, False
                rows = min(limit, 4 * rows)
                found = _grown(found, rows)
            if not whole and time.monotonic() > limits.deadline:
                return found, False
        return found, True

    def can_be(self, seen: Observed) -> bool:
        return self.own_move(seen.move) != -1 and self._percept_wires(seen.percepts) is not None

    def _of_move(self, move: int | None) -> Words:
        """The moves of all roles (roles, move words); of the own role only ``move`` if it is given."""
        allowed = self._allowed.get(move)
        if allowed is None:
            bounds = self._lanes.role_moves.tolist()
            bits = np.zeros((len(bounds) - 1, bounds[-1]), np.bool_)
            for role, (first, past) in enumerate(pairwise(bounds)):
                bits[role, first:past] = True
            if move is not None:
                bits[self.role] = False
                bits[self.role, bounds[self.role] + move] = True
            allowed = self._allowed[move] = pack(bits)
        return allowed

    def _percept_wires(self, percepts: frozenset[Term] | None) -> Wanted | None:
        """These percepts for the kernel, empty for None (any percepts); None if the role can never have
        them."""
        plan = self._lanes.plan
        if percepts is None:
            return Wanted(plan.percept_offsets[:0], plan.percept_signs[:0])
        wires = self._wires_of.get(percepts)
        if wires is None:
            places = [self._places.get(percept, -1) for percept in percepts]
            if -1 in places:
                return None
            flips = np.full(len(self._places), -1, np.int64)
            flips[places] = 0
            wires = Wanted(plan.percept_offsets[self._own], plan.percept_signs[self._own] ^ flips)
            if len(self._wires_of) < _FEW:
                self._wires_of[percepts] = wires
        return wires

    def terminal(self, worlds: Worlds) -> NDArray[np.bool_]:
        return self._lanes.ends(worlds)[0]

    def step(self, worlds: Worlds, joints: Joints) -> tuple[Worlds, NDArray[Any]]:
        after, seen = self._lanes.perceive(worlds, joints)
        return after, seen & self._mask

    def goals(self, worlds: Worlds) -> NDArray[np.float64]:
        values = self._lanes.evaluate(worlds).goals[:, self.role]
        return np.where(values < 0, 50, values).astype(np.float64)

    def unique(self, worlds: Worlds) -> tuple[Worlds, NDArray[np.int64]]:
        return _unique_rows(worlds)

    def codes(self, seen: NDArray[Any]) -> NDArray[np.int64]:
        return _unique_rows(seen)[1]


def warm_up(machine: PropnetMachine) -> None:
    """Compile the kernels."""
    worlds, numbers = LaneWorlds(machine, 0), np.random.default_rng(0)
    first, certain = worlds.of_states([machine.initial_state()]), np.ones(1)
    seen = Observed(None, frozenset())
    for effort in (1, 1_000):
        worlds.follow(first, certain, seen, Limits(effort, 10), numbers)
    worlds.step(first, np.zeros((1, len(machine.roles)), np.int32))
    worlds.options(first)
    worlds.terminal(first)
    place_records(np.zeros(2, np.int32), first, 1)


def _new_found(rows: int, words: int) -> Found:
    """Empty arrays for ``rows`` records."""
    table = np.zeros(1 << max(1, 2 * rows - 1).bit_length(), np.int32)
    return Found(table, np.empty((rows, words), np.uint64), np.empty(rows), np.zeros(4, np.int64))


def _grown(found: Found, rows: int) -> Found:
    """The same records in arrays of ``rows`` rows."""
    count = int(found.at[2])
    larger = _new_found(rows, found.records.shape[1])
    larger.records[:count], larger.sums[:count] = found.records[:count], found.sums[:count]
    larger.at[:] = found.at
    place_records(larger.table, larger.records, count)
    return larger


def _unique_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Each row once, ascending, and the place of each row among them."""
    if len(rows) < 2:
        return rows, np.zeros(len(rows), np.int64)
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.ones(len(rows), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    places = np.empty(len(rows), np.int64)
    places[order] = np.cumsum(new) - 1
    return ordered[new], places


_EFFORT = 1_000_000
"""The most joint moves that are tried."""


def longest_by_layers(machine: PropnetMachine, effort: int = _EFFORT) -> int | None:
    """The number of joint moves of the longest match, found layer by layer from the initial state; None if
    this needs more than ``effort`` joint moves."""
    worlds = LaneWorlds(machine, 0)
    layer = worlds.of_states([machine.initial_state()])
    steps = 0
    while True:
        options = worlds.options(layer)
        rows = options.open
        if not len(rows):
            return steps
        effort -= int(options.counts[rows].prod(axis=1).sum())
        if effort < 0:
            return None
        of, joints = all_joints(options, rows)
        layer, _ = worlds.unique(machine.successors(layer[of], joints))
        steps += 1
