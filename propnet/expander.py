"""Batched expansion: every successor of any number of packed states, for solvers and trees.

An :class:`Expander` streams: it writes successors into a bounded number of rows and returns these again and
again, so that hundreds of millions of states need little memory.

The kernel finds all successors of many records, 512 lanes at a time. It loads and evaluates a block of up to
512 states once. Then pass k plays the k-th joint move of every lane, for which only the gates after the moves
run. If too few lanes have a k-th joint move, such pairs of state and joint move wait. They later fill all
lanes of dense passes, which load the states again. Moves are chosen bit-sliced, by one walk over the legal
moves.

Successors are *rows* of the caller's arrays: states in order, joint moves of a state in the order of
``itertools.product``: the last role's move changes first.

The gates after the moves run several times for each run of those before them. So they must not overwrite the
wires that they read, nor the legality of moves, except in the moves' own wires.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.errors import StateError, TooLargeError
from propnet.jit.arrays import Flags, Goals, Index, Int32s, Ints, Octets, Vector, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import (
    BYTES,
    LANES,
    WORDS,
    any_lane,
    item,
    load,
    lowest_bit,
    put,
    raw,
    splat,
    store,
)
from propnet.kernels.gates import read_wire
from propnet.kernels.kernel_args import KernelArgs, sizes_of
from propnet.kernels.move_counts import add_carry
from propnet.kernels.plan import Plan
from propnet.kernels.records import collect, get_lane, record_words, set_lane, spread, transpose, write_lanes
from propnet.kernels.scratch import BlockScratch, new_block_scratch
from propnet.kernels.step import (
    clear_moves,
    evaluate_goals,
    evaluate_moves,
    evaluate_play,
    read_goals,
    terminal_lanes,
)

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine

_MOST_JOINTS = 1 << 36
"""The most joint moves of one state that are counted; no search gets through as many."""


class Rows(NamedTuple):
    """The arrays for successors: ``parents`` (m,), ``moves`` (m, roles), ``records`` (m, words), and if
    they are judged ``terminal`` (m,), 0 or 1, and ``goals`` (m, roles)."""

    parents: Int32s
    moves: Int32s
    records: Words
    terminal: Octets
    goals: Goals


class _ExpandArgs(NamedTuple):
    """The shared arguments of the parts of the kernel, as bare pointers and numbers: ``words`` of a record,
    ``roles``, and whether successors are ``judged``."""

    args: KernelArgs
    wires: Words
    scratch: BlockScratch
    rows: Rows
    words: Index
    roles: Index
    judged: bool


@inner
def judge(given: _ExpandArgs, wires: Words, count: Index, terminal: Octets, goals: Goals) -> None:
    """Write which of the first ``count`` listed lanes are terminal, and the goals of those, to their rows."""
    scratch = given.scratch
    store(scratch.masks, 0, terminal_lanes(given.args, wires))
    ended = np.int64(0)
    for i in range(count):
        lane = item(scratch.lanes, i)
        row = item(scratch.rows, lane)
        bit = get_lane(scratch.masks, lane)
        put(terminal, row, bit)
        put(scratch.ended, ended, lane)
        ended += np.int64(bit)
        for role in range(given.roles):
            put(goals, row * given.roles + role, -1)
    if ended > 0:
        evaluate_goals(given.args, wires)
        read_goals(given.args, wires, scratch.ended, ended, scratch.rows, scratch.masks, goals)


@inner
def _count_moves(given: _ExpandArgs) -> None:
    """List the moves legal in some lane, and count each role's legal moves in every lane."""
    args, wires, scratch = given.args, given.wires, given.scratch
    block = scratch.block
    live = np.int64(0)
    for role in range(given.roles):
        put(scratch.live_from, role, live)
        for plane in range(64):
            store(block, plane * BYTES, splat(0))
        for move in range(item(args.role_moves, role), item(args.role_moves, role + 1)):
            legal = read_wire(wires, args.legal_offsets, args.legal_signs, move)
            if any_lane(legal):
                put(scratch.live, live, move)
                store(scratch.legal, live * BYTES, legal)
                live += 1
            add_carry(block, np.int64(0), legal)
        transpose(block)
        most = np.uint64(0)
        for row in range(64):
            for word in range(WORDS):
                number = item(block, WORDS * row + word)
                most = max(most, number)
                put(scratch.counts, LANES * role + 64 * word + row, number)
        put(scratch.chooses, role, most > 1)
    put(scratch.live_from, given.roles, live)


@inner
def count_joints(given: _ExpandArgs, count: Index) -> int:
    """Count the joint moves of the first ``count`` lanes, none in terminal states. Returns their sum."""
    scratch = given.scratch
    store(scratch.masks, 0, terminal_lanes(given.args, given.wires))
    for lane in range(LANES):
        ended = np.int64(get_lane(scratch.masks, lane))
        put(scratch.joints, lane, np.int64(1) - ended if lane < count else np.int64(0))
    for back in range(given.roles):
        at = LANES * (given.roles - 1 - back)
        for lane in range(LANES):
            joints = item(scratch.joints, lane)
            put(scratch.strides, at + lane, joints)
            put(scratch.joints, lane, min(joints * item(scratch.counts, at + lane), _MOST_JOINTS))
    total = 0
    for lane in range(LANES):
        total += item(scratch.joints, lane)
    return total


@inner
def share(
    scratch: BlockScratch, count: int, state: int, skip: int, filled: int, capacity: int
) -> tuple[int, int, int]:
    """Assign rows to the joint moves of the lanes, from joint move ``skip`` of lane 0 on, as long as there
    are rows. Lanes from ``count`` on get none. Returns the number of rows that are then filled, and the state
    and joint move to continue with."""
    low = skip
    end, rest = count, 0
    for lane in range(LANES):
        joints: int = item(scratch.joints, lane) if lane < end else 0
        high = min(joints, low + capacity - filled)
        put(scratch.begin, lane, filled - low)
        put(scratch.low, lane, low)
        put(scratch.high, lane, high)
        put(scratch.joints, lane, joints)
        filled += high - low
        low = 0
        if high < joints:
            end, rest = lane, high
    return filled, state + end, rest


@inner
def _name_moves(given: _ExpandArgs, count: Index) -> None:
    """Write the moves of the rows of the first ``count`` lanes."""
    scratch = given.scratch
    store(scratch.masks, 0, splat(0))
    for lane in range(count):
        if item(scratch.high, lane) > item(scratch.low, lane):
            set_lane(scratch.masks, lane)
    lanes_with_rows = load(scratch.masks, 0)
    for role in range(given.roles):
        counts, strides = scratch.counts, scratch.strides
        for lane in range(LANES):
            # If no other role has a choice, each move has one row: the next one.
            joints = item(scratch.joints, lane)
            alone = item(counts, LANES * role + lane) == joints == item(scratch.high, lane)
            alone = alone and item(scratch.low, lane) == 0
            put(scratch.seen, lane, item(scratch.begin, lane) if alone else np.int64(-1))
        for i in range(item(scratch.live_from, role), item(scratch.live_from, role + 1)):
            number = item(scratch.live, i) - item(given.args.role_moves, role)
            store(scratch.masks, 0, load(scratch.legal, i * BYTES) & lanes_with_rows)
            for word in range(WORDS):
                left = item(scratch.masks, word)
                while left != 0:
                    lane = 64 * word + lowest_bit(left)
                    left &= left - np.uint64(1)
                    row = item(scratch.seen, lane)
                    if row >= 0:
                        put(scratch.seen, lane, row + 1)
                        put(given.rows.moves, row * given.roles + role, number)
                    else:
                        put(scratch.seen, lane, row - 1)
                        stride = item(strides, LANES * role + lane)
                        period = stride * item(counts, LANES * role + lane)
                        low, high = item(scratch.low, lane), item(scratch.high, lane)
                        at, step = item(scratch.begin, lane) * given.roles + role, given.roles
                        joint = (-1 - row) * stride
                        _repeat(given.rows.moves, at, step, number, joint, stride, period, low, high)


@inner
def _repeat(
    moves: Int32s,
    at: Index,
    step: Index,
    number: Index,
    joint: Index,
    length: Index,
    period: Index,
    low: Index,
    high: Index,
) -> None:
    """Write a move to ``length`` joint moves from ``joint`` on, and again after every ``period``, limited to
    joint moves from ``low`` to ``high`` - 1. Joint move j stands at ``at + j * step``."""
    if joint < low and joint < high:
        joint += (low - joint) // period * period
    while joint < high:
        for j in range(max(joint, low), min(joint + length, high)):
            put(moves, at + j * step, number)
        joint += period


@kernel(nogil=True)
def expand(
    args: KernelArgs,
    wires: Words,
    scratch: BlockScratch,
    costs: Ints,
    records: Words,
    state: int,
    skip: int,
    judged: bool,
    out: Rows,
) -> tuple[int, int, int]:
    """Write successors of the records (n, words), from joint move ``skip`` of record ``state`` on, until all
    are written or the rows are full. Once half of the rows are full, a block of states begins only if all its
    successors fit.

    ``costs`` (3,), in one unit: of a pass over a block, the addition to that per live move, and of a dense
    pass. Returns the number of rows written, and the state and joint move to continue with.
    """
    sizes = sizes_of(args)
    given = _ExpandArgs(
        raw(args), raw(wires), raw(scratch), raw(out), np.int64(records.shape[1]), sizes.roles, judged
    )
    n = records.shape[0]
    capacity = out.parents.size
    filled = 0
    while state < n and filled < capacity:
        count = min(LANES, n - state)
        write_lanes(records, np.int64(state), np.int64(count), wires, np.int64(1), sizes.bases)
        evaluate_play(given.args, given.wires)
        _count_moves(given)
        total = count_joints(given, count) - skip
        if 2 * filled >= capacity and filled + total > capacity:
            break
        block, first = state, filled
        filled, state, skip = share(given.scratch, count, state, skip, filled, capacity)
        if filled == first:
            continue
        _name_moves(given, state - block + (skip > 0))
        pending = _sparse(given, block, costs)
        for at in range(0, pending, LANES):
            _dense(given, raw(records), at, min(LANES, pending - at))
    return filled, state, skip


@inner
def _sparse(given: _ExpandArgs, state: int, costs: Ints) -> int:
    """Play joint moves 0, 1, ... of all lanes as long as that pays; lane 0 is this state. Writes the parents
    of all rows, lists the rows that remain, and returns their number."""
    scratch = given.scratch
    walked = np.int64(0)
    for role in range(given.roles):
        if item(scratch.chooses, role) != 0:
            walked += item(scratch.live_from, role + 1) - item(scratch.live_from, role)
    cost = LANES * (item(costs, 0) + item(costs, 1) * walked)
    dense = item(costs, 2)
    playing = 0
    for lane in range(LANES):
        # A lane that begins or ends in the middle of its joint moves waits: lanes move in step.
        low, high = item(scratch.low, lane), item(scratch.high, lane)
        put(scratch.lanes, playing, lane)
        playing += high > 0 and low == 0 and high == item(scratch.joints, lane)
    passes = 0
    if playing > 0 and playing * dense >= cost:
        clear_moves(given.args, given.wires)
        for role in range(given.roles):
            _advance(given, role, ~splat(0), splat(0))
        while playing > 0 and playing * dense >= cost:
            evaluate_moves(given.args, given.wires)
            for i in range(playing):
                lane = item(scratch.lanes, i)
                row = item(scratch.begin, lane) + passes
                put(scratch.rows, lane, row)
                put(given.rows.parents, row, state + lane)
            _put(given, playing)
            passes += 1
            left = 0
            for i in range(playing):
                lane = item(scratch.lanes, i)
                put(scratch.lanes, left, lane)
                left += item(scratch.high, lane) > passes
            playing = left
            _next_joint(given)
    pending = 0
    for lane in range(LANES):
        low, high = item(scratch.low, lane), item(scratch.high, lane)
        whole = low == 0 and high == item(scratch.joints, lane)
        for joint in range(max(low, passes if whole else 0), high):
            row = item(scratch.begin, lane) + joint
            put(scratch.waiting, pending, row)
            put(given.rows.parents, row, state + lane)
            pending += 1
    return pending


@inner
def _advance(given: _ExpandArgs, role: Index, looking: Vector, leaving: Vector) -> Vector:
    """Choose a role's first legal move in the lanes that look for one, and the next one in those that leave
    theirs. Returns the lanes that remain without one."""
    scratch, wires = given.scratch, given.wires
    first_move = 1 + sizes_of(given.args).bases
    for i in range(item(scratch.live_from, role), item(scratch.live_from, role + 1)):
        at = (first_move + item(scratch.live, i)) * BYTES
        choosing = load(wires, at)
        left = choosing & leaving
        chosen = load(scratch.legal, i * BYTES) & looking
        store(wires, at, (choosing ^ left) | chosen)
        looking = (looking ^ chosen) | left
    return looking


@inner
def _next_joint(given: _ExpandArgs) -> None:
    """Choose the next joint move in all lanes; after the last one the first follows."""
    leaving = ~splat(0)
    for back in range(given.roles):
        role = given.roles - 1 - back
        if item(given.scratch.chooses, role) != 0:
            leaving = _advance(given, role, splat(0), leaving)
            if not any_lane(leaving):
                return
            _advance(given, role, leaving, splat(0))


@inner
def _dense(given: _ExpandArgs, records: Words, first: Index, count: Index) -> None:
    """Play the joint moves of ``count`` waiting rows, which may belong to different states."""
    scratch, wires = given.scratch, given.wires
    bases = sizes_of(given.args).bases
    block = scratch.block
    for lane in range(count):
        put(scratch.lanes, lane, lane)
        put(scratch.rows, lane, item(scratch.waiting, first + lane))
    for lane in range(count, LANES):
        put(scratch.rows, lane, item(scratch.waiting, first))
    for word in range(given.words):
        for row in range(64):
            for column in range(WORDS):
                parent = item(given.rows.parents, item(scratch.rows, 64 * column + row))
                put(block, WORDS * row + column, item(records, parent * given.words + word))
        spread(block, wires, 1 + 64 * word, min(64, bases - 64 * word))
    evaluate_play(given.args, wires)
    clear_moves(given.args, given.wires)
    for lane in range(count):
        row = item(scratch.rows, lane)
        for role in range(given.roles):
            move = item(given.args.role_moves, role) + item(given.rows.moves, row * given.roles + role)
            set_lane(wires, LANES * (1 + bases + move) + lane)
    evaluate_moves(given.args, wires)
    _put(given, count)


@inner
def _put(given: _ExpandArgs, count: Index) -> None:
    """Write the next states of the first ``count`` lanes in the list to their rows."""
    args, wires, scratch, block = given.args, given.wires, given.scratch, given.scratch.block
    bases = sizes_of(args).bases
    for word in range(given.words):
        bits = min(64, bases - 64 * word)
        collect(wires, args.next_offsets, args.next_signs, 64 * word, bits, block)
        for i in range(count):
            lane = item(scratch.lanes, i)
            true = item(block, WORDS * (lane & 63) + (lane >> 6))
            put(given.rows.records, item(scratch.rows, lane) * given.words + word, true)
    if given.judged:
        for base in range(bases):
            value = read_wire(wires, args.next_offsets, args.next_signs, base)
            store(scratch.after, (1 + base) * BYTES, value)
        evaluate_play(args, scratch.after)
        judge(given, scratch.after, count, given.rows.terminal, given.rows.goals)


ROWS = 1 << 16
"""The default number of successors that an expander holds at once."""

MOST = 1 << 24
"""The default limit of successors in one array."""

_WORD = 400
"""The cost of loading or reading a word of 512 records, in gate inputs."""
_MOVE = 2
"""The cost of passing one move in the walk, in gate inputs."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """Successors of records, in the order of the records; those of one record in the order of
    ``itertools.product`` of its moves: the last role's move changes first.

    Attributes:
        parents: int32, shape (m,): the record from which each successor comes.
        moves: int32, shape (m, roles): the move ids that lead to it.
        records: uint64, shape (m, words).
        terminal: bool, shape (m,); no rows unless judged.
        goals: int16, shape (m, roles): goals 0..100 of terminal successors, the highest that holds;
            -1 for a role without a goal, and in states that are not terminal. No rows unless judged.
    """

    parents: Int32s
    moves: Int32s
    records: Words
    terminal: Flags
    goals: Goals

    def __len__(self) -> int:
        return len(self.parents)

    def copy(self) -> Expansion:
        """A copy in arrays of its own."""
        return Expansion(*(array.copy() for array in _arrays(self)))


def _arrays(chunk: Expansion) -> tuple[NDArray[Any], ...]:
    return chunk.parents, chunk.moves, chunk.records, chunk.terminal, chunk.goals


class Expander:
    """Expands records of one machine, in the machine's scratch arrays: one thread at a time.

    Between two chunks of :meth:`stream` the machine, and other expanders, may be used freely.
    """

    def __init__(self, machine: PropnetMachine, rows: int = ROWS) -> None:
        """``rows``: most successors of a chunk, of 8 * words + 6 * roles + 9 bytes each; ValueError for
        none."""
        if rows < 1:
            raise ValueError(f"{rows} rows: an expander needs at least one")
        self.machine = machine
        self.rows = rows
        self._scratch = new_block_scratch(machine.plan, rows)
        roles = len(machine.roles)
        self._costs = _costs(machine.plan, roles)
        self._out = Rows(
            np.zeros(rows, np.int32),
            np.zeros((rows, roles), np.int32),
            np.zeros((rows, machine.words), np.uint64),
            np.zeros(rows, np.uint8),
            np.zeros((rows, roles), np.int16),
        )

    def stream(self, records: Words, judged: bool = False) -> Iterator[Expansion]:
        """All successors of states by every joint move, at most ``rows`` at a time.

        The arrays of a chunk are overwritten by the next one: copy those that you keep. Terminal
        states, and states that leave a role without a move, have no successors.

        Args:
            records: uint64, shape (n, words), n below 2**31.
            judged: also return which successors are terminal, and the goals of those. This costs
                another pass over their gates.

        Raises StateError for records of another width.
        """
        records = self._checked(records)
        machine, out = self.machine, self._out
        state, skip = 0, 0
        while state < len(records):
            filled, state, skip = expand(
                machine.kernel_args, machine.scratch.wires, self._scratch, self._costs, records, state, skip,
                judged, out,
            )  # fmt: skip
            if filled:
                yield _chunk(out, filled, judged)

    def expand(self, records: Words, judged: bool = False, most: int = MOST) -> Expansion:
        """All successors at once, in arrays of their own (see :meth:`stream`).

        Raises TooLargeError for more than ``most``: simultaneous moves may have too many for the memory.
        """
        chunks = [_chunk(self._out, 0, judged)]
        total = 0
        for chunk in self.stream(records, judged):
            total += len(chunk)
            if total > most:
                raise TooLargeError(
                    f"{len(records):,} states have more than {most:,} successors",
                    remedy="read them in parts by Expander.stream",
                )
            chunks.append(chunk.copy())
        return Expansion(*(np.concatenate(parts) for parts in zip(*map(_arrays, chunks), strict=True)))

    def _checked(self, records: Words) -> Words:
        """The records as the kind of array that the kernel is compiled for."""
        if records.ndim != 2 or records.shape[1] != self.machine.words or len(records) >= 2**31:
            raise StateError(
                f"an array of shape {records.shape} does not hold records of {self.machine.words} words",
                remedy="records are rows of machine.words 64-bit words, less than 2**31 of them",
            )
        return np.require(records, np.uint64, ["C", "A", "W"])


def _chunk(rows: Rows, filled: int, judged: bool) -> Expansion:
    judged_rows = filled if judged else 0
    return Expansion(
        rows.parents[:filled],
        rows.moves[:filled],
        rows.records[:filled],
        rows.terminal[:judged_rows].view(np.bool_),
        rows.goals[:judged_rows],
    )


def _costs(plan: Plan, roles: int) -> Ints:
    """The costs that :func:`propnet.expander.expand` compares, in gate inputs."""
    plain, negated, gates = plan.runs.T.astype(np.int64)[:3]
    upto = np.concatenate(([0], np.cumsum((plain + negated) * gates)))
    ends = np.concatenate(([0], plan.blocks[:, 1]))
    play, moves = upto[ends[plan.play_blocks]], upto[-1] - upto[ends[plan.base_blocks]]
    words = record_words(plan.bases)
    sparse = moves + _WORD * words
    dense = sparse + play + _WORD * words + LANES * roles + plan.moves
    return np.array([sparse, _MOVE, dense], np.int64)
