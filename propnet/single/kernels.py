"""The kernels of a single state: flip what changed, settle the gates that it reaches, tell what holds.

Event-driven evaluation in level order, as in logic simulators (Ulrich, "Exclusive simulation of activity in
digital networks", 1969): every gate is looked at no more than once a step, and most are not at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from propnet.jit.addresses import int32s, int64s, octets, words
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import item, lowest_bit, put
from propnet.single.wiring import LEVEL, ROW, RUNS, SINGLES, SINKS

BLOCK = 64
"""Gates of a run that are counted before it is looked which of them changed."""


class Wires(NamedTuple):
    """Where the arrays of a :class:`propnet.single.wiring.Wiring` are, and a few more, in the order of the
    table of addresses.

    ``current`` and ``target`` are the records of the state that the wires are settled on and of the one
    that is wanted. ``joint``, int64 (roles,), is the joint move that is made, ``made`` the one that was.
    ``marks``, int64 (bases + 1,), are hashes of the propositions, the last one that of the current state.
    ``role_moves``, int32 (roles + 1,), is where roles' moves begin; ``legal``, int32, what is told: the moves
    of all roles by their ids, ``bounds``, int32 (roles + 1,), where each role's begin among them.
    ``worth``, int64 (2, roles), are the highest goal of each role, and the only one; -1 for none.
    ``sizes``: see :class:`Sizes`.
    """

    rows: Int32s
    singles: Int32s
    runs: Int32s
    sinks: Int32s
    counts: Int32s
    flags: Octets
    init: Octets
    stacks: Int32s
    stack_starts: Int32s
    waiting: Int32s
    loops: Int32s
    loop_gates: Int32s
    loop_of_level: Int32s
    broken: Octets
    answers: Words
    goal_values: Int32s
    role_goals: Int32s
    role_words: Int32s
    current: Words
    target: Words
    joint: Ints
    made: Ints
    marks: Ints
    role_moves: Int32s
    legal: Int32s
    bounds: Int32s
    worth: Ints
    sizes: Ints


class Sizes(NamedTuple):
    """Numbers that go with the arrays: of roles, base propositions, words of a record, words of the answers;
    past the last level of each section; the bit of the first goal."""

    roles: Index
    bases: Index
    record: Index
    answers: Index
    play_end: Index
    moves_end: Index
    goals_end: Index
    goal_bits: Index


@inner
def _wires(address: Index) -> Wires:
    t = int64s(address)
    return Wires(
        int32s(item(t, 0)), int32s(item(t, 1)), int32s(item(t, 2)), int32s(item(t, 3)), int32s(item(t, 4)),
        octets(item(t, 5)), octets(item(t, 6)), int32s(item(t, 7)), int32s(item(t, 8)), int32s(item(t, 9)),
        int32s(item(t, 10)), int32s(item(t, 11)), int32s(item(t, 12)), octets(item(t, 13)),
        words(item(t, 14)), int32s(item(t, 15)), int32s(item(t, 16)), int32s(item(t, 17)),
        words(item(t, 18)), words(item(t, 19)), int64s(item(t, 20)), int64s(item(t, 21)),
        int64s(item(t, 22)), int32s(item(t, 23)), int32s(item(t, 24)), int32s(item(t, 25)),
        int64s(item(t, 26)), int64s(item(t, 27)),
    )  # fmt: skip


@inner
def _sizes(wires: Wires) -> Sizes:
    n = wires.sizes
    return Sizes(
        item(n, 0), item(n, 1), item(n, 2), item(n, 3), item(n, 4), item(n, 5), item(n, 6), item(n, 7)
    )


@kernel
def answer(address: Index, made: Index) -> Index:
    """Move the wires to the state whose record is the target; or, with ``made``, to the one that follows the
    joint move in the current state, whose record becomes the target. Tells the legal moves of all roles
    there; returns twice their number, plus 1 if the state is terminal, or -1 for a move id out of range."""
    wires = _wires(address)
    sizes = _sizes(wires)
    if made != 0:
        for role in range(sizes.roles):
            count = item(wires.role_moves, role + 1) - item(wires.role_moves, role)
            if item(wires.joint, role) < 0 or item(wires.joint, role) >= count:
                return np.int64(-1)
        _make(wires, sizes)
        _settle(wires, sizes, sizes.play_end, sizes.moves_end)
        for word in range(sizes.record):
            put(wires.target, word, item(wires.answers, word))
    _move_to_target(wires, sizes)
    _settle(wires, sizes, np.int64(0), sizes.play_end)
    terminal = _bit(wires.answers, sizes.goal_bits - 1)
    return 2 * _tell_legal(wires, sizes) + terminal


@kernel
def worth(address: Index) -> Index:
    """Tell the goals of the current state; returns 0."""
    wires = _wires(address)
    sizes = _sizes(wires)
    _settle(wires, sizes, sizes.moves_end, sizes.goals_end)
    for role in range(sizes.roles):
        best, only = np.int64(-1), np.int64(-1)
        held = 0
        for goal in range(item(wires.role_goals, role), item(wires.role_goals, role + 1)):
            if _bit(wires.answers, sizes.goal_bits + goal) != 0:
                held += 1
                only = np.int64(item(wires.goal_values, goal))
                best = max(best, only)
        put(wires.worth, role, best)
        put(wires.worth, sizes.roles + role, only if held == 1 else np.int64(-1))
    return np.int64(0)


@inner
def _bit(answers: Words, bit: Index) -> Index:
    return np.int64(item(answers, bit >> 6) >> np.uint64(bit & 63) & np.uint64(1))


@inner
def _make(wires: Wires, sizes: Sizes) -> None:
    """Make the joint move in place of the one that was made."""
    for role in range(sizes.roles):
        before = item(wires.made, role)
        now = 1 + sizes.bases + item(wires.role_moves, role) + item(wires.joint, role)
        if now != before:
            if before >= 0:
                _flip(wires, sizes, before)
            _flip(wires, sizes, now)
            put(wires.made, role, now)


@inner
def _move_to_target(wires: Wires, sizes: Sizes) -> None:
    """Flip the base propositions in which the current state differs from the target."""
    mark = item(wires.marks, sizes.bases)
    for word in range(sizes.record):
        change = item(wires.current, word) ^ item(wires.target, word)
        put(wires.current, word, item(wires.target, word))
        while change != 0:
            base = 64 * word + lowest_bit(change)
            change &= change - np.uint64(1)
            mark ^= item(wires.marks, base)
            _flip(wires, sizes, 1 + base)
    put(wires.marks, sizes.bases, mark)


@inner
def _settle(wires: Wires, sizes: Sizes, first: Index, end: Index) -> None:
    """Look at the gates that wait in these levels, until none does."""
    for level in range(first, end):
        if item(wires.waiting, level) != 0:
            loop = np.int64(item(wires.loop_of_level, level))
            if loop >= 0 and item(wires.broken, loop) != 0:
                _begin_anew(wires, sizes, loop)
            start = np.int64(item(wires.stack_starts, level))
            while item(wires.waiting, level) != 0:
                left = item(wires.waiting, level) - 1
                put(wires.waiting, level, left)
                gate = np.int64(item(wires.stacks, start + left))
                value = item(wires.flags, gate) & 1
                put(wires.flags, gate, value)
                if (item(wires.counts, gate) == 0) != (value != 0):
                    _flip(wires, sizes, gate)


@inner
def _begin_anew(wires: Wires, sizes: Sizes, loop: Index) -> None:
    """Set the gates of a loop to what they begin from, and have all of them looked at."""
    for i in range(item(wires.loops, loop), item(wires.loops, loop + 1)):
        gate = np.int64(item(wires.loop_gates, i))
        if item(wires.flags, gate) & 1 != item(wires.init, gate):
            _flip(wires, sizes, gate)
    for i in range(item(wires.loops, loop), item(wires.loops, loop + 1)):
        _push(wires, np.int64(item(wires.loop_gates, i)))
    put(wires.broken, loop, 0)


@inner
def _flip(wires: Wires, sizes: Sizes, node: Index) -> None:
    """Flip a node, tell what it gives, and count it in the gates that read it."""
    flags = item(wires.flags, node) ^ 1
    put(wires.flags, node, flags)
    value = np.int32(flags & 1)
    row = ROW * node
    for i in range(item(wires.rows, row + SINKS), item(wires.rows, row + ROW + SINKS)):
        sink = np.int64(item(wires.sinks, i))
        if sink < 64 * sizes.answers:
            word = sink >> 6
            put(wires.answers, word, item(wires.answers, word) ^ np.uint64(1) << np.uint64(sink & 63))
        elif sink & 1 == value:
            put(wires.broken, (sink - 64 * sizes.answers) >> 1, 1)
    for i in range(item(wires.rows, row + SINGLES), item(wires.rows, row + ROW + SINGLES)):
        reader = item(wires.singles, i)
        gate = np.int64(reader >> 1)
        before = item(wires.counts, gate)
        after = before + np.int32(1) - np.int32(2) * (value ^ (reader & np.int32(1)))
        put(wires.counts, gate, after)
        if before == 0 or after == 0:
            _push(wires, gate)
    for i in range(item(wires.rows, row + RUNS), item(wires.rows, row + ROW + RUNS)):
        more = np.int32(1) - np.int32(2) * (value ^ item(wires.runs, 3 * i + 2))
        _count_run(wires, np.int64(item(wires.runs, 3 * i)), np.int64(item(wires.runs, 3 * i + 1)), more)


@inner
def _count_run(wires: Wires, first: Index, end: Index, more: Index) -> None:
    """Add ``more`` to the counts of a run of gates; those that leave or reach 0 have to be looked at."""
    while first < end:
        stop = min(first + BLOCK, end)
        changed = np.int32(0)
        for gate in range(first, stop):
            before = item(wires.counts, gate)
            after = before + more
            put(wires.counts, gate, after)
            changed |= np.int32(before == 0) | np.int32(after == 0)
        if changed != 0:
            for gate in range(first, stop):
                after = item(wires.counts, gate)
                if after == 0 or after == more:
                    _push(wires, gate)
        first = stop


@inner
def _push(wires: Wires, gate: Index) -> None:
    """Have a gate looked at, if it does not wait already."""
    flags = item(wires.flags, gate)
    if flags & 2 == 0:
        put(wires.flags, gate, flags | 2)
        level = np.int64(item(wires.rows, ROW * gate + LEVEL))
        waiting = item(wires.waiting, level)
        put(wires.stacks, np.int64(item(wires.stack_starts, level)) + waiting, gate)
        put(wires.waiting, level, waiting + 1)


@inner
def _tell_legal(wires: Wires, sizes: Sizes) -> Index:
    """Write down each role's legal moves, ascending; their number."""
    told = np.int64(0)
    for role in range(sizes.roles):
        moves = np.int64(item(wires.role_moves, role + 1)) - np.int64(item(wires.role_moves, role))
        first = np.int64(item(wires.role_words, role))
        for word in range((moves + 63) >> 6):
            left = item(wires.answers, first + word)
            while left != 0:
                put(wires.legal, told, 64 * word + lowest_bit(left))
                left &= left - np.uint64(1)
                told += 1
        put(wires.bounds, role + 1, told)
    return told
