"""Worlds as packed records of a machine with lanes, and the kernels that grow a belief: they play joint moves
in many states, and keep the successors in which a role has the given percepts.

A *pair* is one of the states and a joint move in it. Pairs of any states fill 512 lanes. The lanes with the
given percepts are read back as records and go into a hash table, each record once, with the sum of the
weights of all pairs that lead to it. Other records never leave the lanes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.machine import State
from gdl.terms import Term
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
from propnet.jit.arrays import Floats, Index, Int32s, Ints, Offsets, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.random_numbers import next_random
from propnet.jit.vector512 import LANES, WORDS, aligned, count_bits, item, lowest_bit, put, raw, splat, store
from propnet.kernels.gates import read_wire
from propnet.kernels.kernel_args import KernelArgs, sizes_of
from propnet.kernels.plan import Plan
from propnet.kernels.record_table import mix
from propnet.kernels.records import (
    collect,
    get_lane,
    list_lanes,
    pack,
    read_lanes,
    record_words,
    set_lane,
    spread,
)
from propnet.kernels.step import clear_moves, evaluate_moves, evaluate_play, load_records, terminal_lanes
from propnet.machine import PropnetMachine

SEED = 0x243F6A88


class _FollowScratch(NamedTuple):
    """Scratch arrays of the kernels.

    ``block`` (64, 8) and ``masks`` (1, 8) are vectors. Per lane: ``legal`` (512, move words), the legal moves
    of the current states; ``after`` (512, words), records that fit; ``states`` (512), the state of each pair;
    ``moves`` (512 * roles), its joint move; ``lanes`` (512) lists lanes. For one state: ``listed`` (moves),
    its legal moves, role r's at the places ``listed_from[r]`` to before ``listed_from[r + 1]``; ``places``
    (roles), the places of its next joint move.
    """

    block: Words
    masks: Words
    legal: Words
    after: Words
    states: Ints
    moves: Int32s
    lanes: Ints
    listed: Int32s
    listed_from: Ints
    places: Ints


class Wanted(NamedTuple):
    """The percepts to match: the wires at ``offsets``, negated where ``signs`` is -1, are all 1 in the lanes
    that fit. Without wires every lane fits."""

    offsets: Offsets
    signs: Ints


class Found(NamedTuple):
    """The records found so far: ``records`` (rows, words) and ``sums`` (rows,) of weights.

    ``table`` is as :mod:`propnet.kernels.record_table` says, at least twice as long. ``at`` (4,) holds the
    next state, its next pair, the number of records, and the number of pairs played.
    """

    table: Int32s
    records: Words
    sums: Floats
    at: Ints


def new_follow_scratch(plan: Plan) -> _FollowScratch:
    """Scratch arrays for a plan."""
    roles = len(plan.role_moves) - 1
    return _FollowScratch(
        block=aligned(64),
        masks=aligned(1),
        legal=np.zeros((LANES, record_words(plan.moves)), np.uint64),
        after=np.zeros((LANES, record_words(plan.bases)), np.uint64),
        states=np.zeros(LANES, np.int64),
        moves=np.zeros(LANES * roles, np.int32),
        lanes=np.zeros(LANES, np.int64),
        listed=np.zeros(max(1, plan.moves), np.int32),
        listed_from=np.zeros(roles + 1, np.int64),
        places=np.zeros(roles, np.int64),
    )


@kernel(nogil=True)
def count_joints(
    args: KernelArgs, wires: Words, scratch: _FollowScratch, allowed: Words, records: Words, joints: Floats
) -> None:
    """Fill in the number of joint moves of each of n states (n,), 0 for terminal ones. ``allowed`` (roles,
    move words) selects the moves of each role that count."""
    n = records.shape[0]
    bare, at, legal, masks = raw(args), raw(wires), raw(scratch.legal), raw(scratch.masks)
    rules = raw(allowed)
    roles, width = np.int64(allowed.shape[0]), np.int64(allowed.shape[1])
    for first in range(0, n, LANES):
        count = min(LANES, n - first)
        load_records(wires, records, first, count, sizes_of(args).bases)
        evaluate_play(bare, at)
        store(masks, 0, terminal_lanes(bare, at))
        read_lanes(wires, args.legal_offsets, args.legal_signs, scratch.legal, np.int64(0), count)
        for lane in range(count):
            product = 1.0 - np.float64(get_lane(masks, lane))
            for role in range(roles):
                moves = np.uint64(0)
                for word in range(width):
                    moves += np.uint64(
                        count_bits(item(legal, lane * width + word) & item(rules, role * width + word))
                    )
                product *= np.float64(moves)
            joints[first + lane] = product


DONE, _MORE, TOO_MANY = 0, 1, 2
"""Results of :func:`follow_all`."""


@kernel(nogil=True)
def follow_all(
    args: KernelArgs,
    wires: Words,
    scratch: _FollowScratch,
    wanted: Wanted,
    allowed: Words,
    records: Words,
    weights: Floats,
    joints: Floats,
    shares: Floats,
    times: Ints,
    found: Found,
    effort: int,
    most: int,
) -> int:
    """Play all joint moves of the states in ``records``; keep the records that fit and do not end the match.

    Fills in ``joints`` as :func:`count_joints` does, and ``times`` and ``shares`` as :func:`follow` needs
    them: the pairs of a state share its weight. Returns :data:`TOO_MANY` without playing any if there are
    more than ``effort`` joint moves; :data:`_MORE` if :func:`follow`, and then :func:`keep_open`, must
    continue.
    """
    count_joints(args, wires, scratch, allowed, records, joints)
    total = 0.0
    for state in range(joints.size):
        total += joints[state]
    if total > effort:
        return TOO_MANY
    for state in range(joints.size):
        times[state] = np.int64(joints[state])
        shares[state] = weights[state] / max(1.0, joints[state])
    random = np.zeros(1, np.uint64)
    if not follow(args, wires, scratch, wanted, allowed, records, times, shares, False, random, found, most):
        return _MORE
    found.at[2] = keep_open(args, wires, scratch.masks, found.records, found.sums, found.at[2])
    return DONE


@kernel(nogil=True)
def follow(
    args: KernelArgs,
    wires: Words,
    scratch: _FollowScratch,
    wanted: Wanted,
    allowed: Words,
    records: Words,
    times: Ints,
    shares: Floats,
    drawn: bool,
    random: Words,
    found: Found,
    most: int,
) -> bool:
    """Play pairs of the states in ``records`` (n, words), beginning at the position ``found.at``.

    State s has ``times[s]`` pairs, each of weight ``shares[s]``: its first joint moves, with the last role's
    move changing first, or if ``drawn`` uniformly random ones from ``random``, uint64 (1,). Returns True when
    all are played; False if the rows may not suffice for the next lanes, or this call has played somewhat
    more than ``most`` pairs.
    """
    n, words = records.shape[0], np.int64(records.shape[1])
    roles, width = np.int64(allowed.shape[0]), np.int64(allowed.shape[1])
    bare, at, work = raw(args), raw(wires), raw(scratch)
    looked, goal, hits = raw(allowed), raw(wanted), raw(found)
    percepts = np.int64(wanted.offsets.size)
    start, weights = raw(records), raw(shares)
    rows = np.int64(found.records.shape[0])
    mask = np.uint64(found.table.size - 1)
    state, skip, played = item(hits.at, 0), item(hits.at, 1), np.int64(0)
    from_state, from_skip = state, skip
    while state < n:
        count = min(np.int64(LANES), n - state)
        load_records(wires, records, state, count, sizes_of(args).bases)
        evaluate_play(bare, at)
        read_lanes(wires, args.legal_offsets, args.legal_signs, scratch.legal, np.int64(0), count)
        lane = np.int64(0)
        for row in range(count):
            number = state + row
            upto = times[number]
            if skip < upto and _list_moves(work, looked, row, roles, width):
                if not drawn:
                    _begin(work, roles, skip)
                for pair in range(skip, upto):
                    if lane == 0:
                        from_state, from_skip = number, np.int64(pair)
                    put(work.states, lane, number)
                    for role in range(roles):
                        low, high = item(work.listed_from, role), item(work.listed_from, role + 1)
                        if drawn:
                            bits = next_random(random) >> np.uint64(32)
                            place = low + np.int64((bits * np.uint64(high - low)) >> np.uint64(32))
                        else:
                            place = low + item(work.places, role)
                        put(work.moves, lane * roles + role, item(work.listed, place))
                    if not drawn:
                        _next(work, roles)
                    lane += 1
                    if lane == LANES:
                        if item(hits.at, 2) + lane > rows or played >= most:
                            put(hits.at, 0, from_state)
                            put(hits.at, 1, from_skip)
                            return False
                        _play(bare, at, work, goal, percepts, start, weights, words, roles, lane, hits, mask)
                        played += lane
                        lane = np.int64(0)
            skip = np.int64(0)
        if lane > 0:
            if item(hits.at, 2) + lane > rows or played >= most:
                put(hits.at, 0, from_state)
                put(hits.at, 1, from_skip)
                return False
            _play(bare, at, work, goal, percepts, start, weights, words, roles, lane, hits, mask)
            played += lane
        state += count
    put(hits.at, 0, n)
    put(hits.at, 1, 0)
    return True


@inner
def _list_moves(work: _FollowScratch, allowed: Words, lane: Index, roles: Index, width: Index) -> bool:
    """List the allowed legal moves of a lane's state by role. Returns whether each role has some."""
    listed = np.int64(0)
    for role in range(roles):
        put(work.listed_from, role, listed)
        before = listed
        for word in range(width):
            left = item(work.legal, lane * width + word) & item(allowed, role * width + word)
            while left != 0:
                put(work.listed, listed, 64 * word + lowest_bit(left))
                left &= left - np.uint64(1)
                listed += 1
        if listed == before:
            return False
    put(work.listed_from, roles, listed)
    return True


@inner
def _begin(work: _FollowScratch, roles: Index, pair: Index) -> None:
    """Make joint move ``pair`` of the listed moves the next one."""
    for back in range(roles):
        role = roles - 1 - back
        count = item(work.listed_from, role + 1) - item(work.listed_from, role)
        put(work.places, role, pair % count)
        pair //= count


@inner
def _next(work: _FollowScratch, roles: Index) -> None:
    """Advance to the next joint move; the first follows the last."""
    for back in range(roles):
        role = roles - 1 - back
        place = item(work.places, role) + 1
        if place < item(work.listed_from, role + 1) - item(work.listed_from, role):
            put(work.places, role, place)
            return
        put(work.places, role, np.int64(0))


@inner
def _play(
    args: KernelArgs,
    wires: Words,
    work: _FollowScratch,
    wanted: Wanted,
    percepts: Index,
    records: Words,
    shares: Floats,
    words: Index,
    roles: Index,
    count: Index,
    found: Found,
    mask: np.uint64,
) -> None:
    """Play the pairs of the first ``count`` lanes, and keep the records that fit."""
    bases = sizes_of(args).bases
    block = work.block
    for lane in range(count, LANES):
        put(work.states, lane, item(work.states, np.int64(0)))
    for word in range(words):
        for row in range(64):
            for column in range(WORDS):
                state = item(work.states, 64 * column + row)
                put(block, WORDS * row + column, item(records, state * words + word))
        spread(block, wires, 1 + 64 * word, min(64, bases - 64 * word))
    evaluate_play(args, wires)
    clear_moves(args, wires)
    for lane in range(count):
        for role in range(roles):
            set_lane(wires, LANES * (1 + bases + item(work.moves, lane * roles + role)) + lane)
    evaluate_moves(args, wires)
    fits = ~splat(0)
    for percept in range(percepts):
        fits = fits & read_wire(wires, wanted.offsets, wanted.signs, percept)
    number = list_lanes(fits, work.masks, work.lanes)
    while number > 0 and item(work.lanes, number - 1) >= count:
        number -= 1
    put(found.at, 3, item(found.at, 3) + count)
    if number == 0:
        return
    for word in range(words):
        collect(wires, args.next_offsets, args.next_signs, 64 * word, min(64, bases - 64 * word), block)
        for i in range(number):
            lane = item(work.lanes, i)
            put(work.after, i * words + word, item(block, WORDS * (lane & 63) + (lane >> 6)))
    filled = item(found.at, 2)
    for i in range(number):
        share = item(shares, item(work.states, item(work.lanes, i)))
        filled = _add(found, mask, filled, work.after, i * words, words, share)
    put(found.at, 2, filled)


@inner
def _add(
    found: Found, mask: np.uint64, filled: Index, after: Words, first: Index, words: Index, share: float
) -> Index:
    """Add the record at ``after[first]``, or only its weight if it is in the table. Returns the number of
    records."""
    h = np.uint64(SEED)
    for word in range(words):
        h = mix(h, item(after, first + word))
    slot = h & mask
    while True:
        number = np.int64(item(found.table, slot)) - 1
        if number < 0:
            for word in range(words):
                put(found.records, filled * words + word, item(after, first + word))
            put(found.sums, filled, share)
            put(found.table, slot, filled + 1)
            return filled + 1
        same = True
        for word in range(words):
            same = same and item(found.records, number * words + word) == item(after, first + word)
        if same:
            put(found.sums, number, item(found.sums, number) + share)
            return filled
        slot = (slot + np.uint64(1)) & mask


@kernel(nogil=True)
def place_records(table: Int32s, records: Words, count: int) -> None:
    """Put the first ``count`` records, all different, into an empty table."""
    mask = np.uint64(table.size - 1)
    for number in range(count):
        h = np.uint64(SEED)
        for word in range(records.shape[1]):
            h = mix(h, records[number, word])
        slot = h & mask
        while table[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = number + 1


@kernel(nogil=True)
def keep_open(args: KernelArgs, wires: Words, masks: Words, records: Words, sums: Floats, count: int) -> int:
    """Move the records whose states are not terminal, among the first ``count``, to the front with their
    weights, in their order. Returns their number."""
    bare, at, over = raw(args), raw(wires), raw(masks)
    moved = 0
    for first in range(0, count, LANES):
        some = min(LANES, count - first)
        load_records(wires, records, first, some, sizes_of(args).bases)
        evaluate_play(bare, at)
        store(over, 0, terminal_lanes(bare, at))
        for lane in range(some):
            if get_lane(over, lane) == 0:
                if moved < first + lane:
                    for word in range(records.shape[1]):
                        records[moved, word] = records[first + lane, word]
                    sums[moved] = sums[first + lane]
                moved += 1
    return moved


_BYTES = 1 << 28
"""The most memory for the worlds found in a turn, in bytes."""
_FEW = 1 << 10
"""Number of worlds for which there always is memory and time."""
_PAIRS = 1 << 15
"""Joint moves between two checks of the clock."""


class _Pairs(NamedTuple):
    """Joint moves to be played: see :func:`players.belief.lane_worlds.follow`."""

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

    def options(self, worlds: Worlds, move: int | None = None) -> Options:
        """The options of each world; of the own role only ``move`` if it is given."""
        evaluation = self._lanes.evaluate(worlds)
        legal = evaluation.legal
        if move is not None:
            legal = legal & np.bitwise_or.reduce(self._of_move(move), axis=0)
        counts, moves = unpack_moves(legal, self._lanes.role_moves)
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

    def fitting(self, seen: Words, percepts: frozenset[Term]) -> NDArray[np.bool_]:
        """Whether the role's share of each row of all percepts (n, words) is this."""
        bits = np.zeros((1, 64 * len(self._mask)), np.bool_)
        bits[0, [self._own.start + self._places[percept] for percept in percepts]] = True
        fits: NDArray[np.bool_] = ((seen & self._mask) == pack(bits)[0, : len(self._mask)]).all(axis=1)
        return fits

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
