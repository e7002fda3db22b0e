"""The kernels of a single state: flip what changed, settle the gates that it reaches, tell what holds.

Event-driven evaluation in level order, as in logic simulators (Ulrich, "Exclusive simulation of activity in
digital networks", 1969): every gate is looked at no more than once a step, and most are not at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.intrinsics import (
    empty_tuple,
    int32s,
    int64s,
    is_sequence,
    make_bytes,
    make_number,
    make_tuple,
    number_at,
    octets,
    set_item,
    words,
)
from propnet.jit.vector512 import item, lowest_bit, put
from propnet.single.wiring import (
    BREAK,
    EXTRA,
    EXTRAS,
    LEVEL_SHIFT,
    ROW,
    SINGLES,
    SINK,
    TELL,
    VALUE_SHIFT,
    WAITS_SHIFT,
)

BLOCK = 16
"""Gates of a run that are counted before it is looked which of them changed."""
COUNT_BITS = 0xFFFFFFFF
"""Of a node's word."""


class Wires(NamedTuple):
    """Where the arrays of a :class:`propnet.single.wiring.Wiring` are, and a few more, in the order of the
    table of addresses.

    ``current`` and ``target`` are the records of the state that the wires are settled on and of the one
    that is wanted. ``joint``, int64 (roles,), is the joint move that is made, ``made`` the one that was.
    ``marks``, int64 (bases,), are hashes of the propositions, ``mark``, int64 (1,), that of ``current``.
    ``role_moves``, int32 (roles + 1,), is where roles' moves begin; ``legal``, int32, has room for all.
    ``worth``, int64 (2, roles), are the highest goal of each role, and the only one; -1 for none.
    ``sizes``: see :class:`WireSizes`.

    There are several copies of what is written while wires settle, each with a table of its own: a state goes
    to the one that ``copies``, the addresses of these tables, has for the values of the bases ``hubs`` in it,
    the first one the lowest bit. ``here``, int64 (1,), is the address of the table that was used last.
    """

    nodes: Ints
    rows: Int32s
    singles: Int32s
    extras: Int32s
    init: Octets
    stacks: Int32s
    stack_starts: Int32s
    stack_ends: Int32s
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
    worth: Ints
    sizes: Ints
    mark: Ints
    hubs: Int32s
    copies: Ints
    here: Ints


COPIED = frozenset({"nodes", "stacks", "stack_ends", "broken", "answers", "current", "made", "mark"})
"""The arrays that each copy has for itself."""


class WireSizes(NamedTuple):
    """Numbers that go with the arrays: of roles, base propositions, words of a record, words of the answers;
    past the last level of each section; the bit of the first goal; of hubs."""

    roles: Index
    bases: Index
    record: Index
    answers: Index
    play_end: Index
    moves_end: Index
    goals_end: Index
    goal_bits: Index
    hubs: Index


@inner
def _wires(t: Ints) -> Wires:
    """The arrays. Functions hand on the table, which is one number, and take from it what they need."""
    return Wires(
        int64s(item(t, 0)), int32s(item(t, 1)), int32s(item(t, 2)), int32s(item(t, 3)), octets(item(t, 4)),
        int32s(item(t, 5)), int32s(item(t, 6)), int32s(item(t, 7)), int32s(item(t, 8)), int32s(item(t, 9)),
        int32s(item(t, 10)), octets(item(t, 11)), words(item(t, 12)), int32s(item(t, 13)),
        int32s(item(t, 14)), int32s(item(t, 15)), words(item(t, 16)), words(item(t, 17)),
        int64s(item(t, 18)), int64s(item(t, 19)), int64s(item(t, 20)), int32s(item(t, 21)),
        int32s(item(t, 22)), int64s(item(t, 23)), int64s(item(t, 24)),
        int64s(item(t, 25)), int32s(item(t, 26)), int64s(item(t, 27)), int64s(item(t, 28)),
    )  # fmt: skip


@inner
def _sizes(wires: Wires) -> WireSizes:
    n = wires.sizes
    return WireSizes(
        item(n, 0), item(n, 1), item(n, 2), item(n, 3), item(n, 4), item(n, 5), item(n, 6), item(n, 7),
        item(n, 8),
    )  # fmt: skip


@kernel
def answer(address: int, joint: object) -> object:
    """Make a joint move, a sequence of a move id per role, in the current state; or, where it is no sequence,
    go to the state whose record is the target.

    Returns the key of the state that it goes to; whether that one is terminal, 0 or 1; and per role the ids
    of its legal moves, ascending. Where a move id is out of range, nothing is done, and the key is ().
    ``address`` is that of any copy's table."""
    table = int64s(item(_wires(int64s(address)).here, 0))
    wires = _wires(table)
    sizes = _sizes(wires)
    result = empty_tuple(np.int64(3))
    if is_sequence(joint):
        for role in range(sizes.roles):
            count = item(wires.role_moves, role + 1) - item(wires.role_moves, role)
            move = number_at(joint, role)
            if move < 0 or move >= count:
                set_item(result, np.int64(0), empty_tuple(np.int64(0)))
                return result
            put(wires.joint, role, move)
        _make(table, sizes)
        _settle(table, sizes, sizes.play_end, sizes.moves_end)
        for word in range(sizes.record):
            put(wires.target, word, item(wires.answers, word))
    there = _copy_of_target(table, sizes)
    _move_to_target(there, sizes)
    _settle(there, sizes, np.int64(0), sizes.play_end)
    set_item(result, np.int64(0), make_bytes(wires.target, 8 * sizes.record))
    set_item(result, np.int64(1), make_number(_bit(_wires(there).answers, sizes.goal_bits - 1)))
    set_item(result, np.int64(2), _legal(there, sizes))
    return result


@kernel
def worth(address: int) -> Index:
    """Tell the goals of the current state; returns 0. ``address`` is that of any copy's table."""
    table = int64s(item(_wires(int64s(address)).here, 0))
    wires = _wires(table)
    sizes = _sizes(wires)
    _settle(table, sizes, sizes.moves_end, sizes.goals_end)
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
def _make(table: Ints, sizes: WireSizes) -> None:
    """Make the joint move in place of the one that was made."""
    wires = _wires(table)
    for role in range(sizes.roles):
        before = item(wires.made, role)
        now = 1 + sizes.bases + item(wires.role_moves, role) + item(wires.joint, role)
        if now != before:
            if before >= 0:
                _flip(table, before)
            _flip(table, now)
            put(wires.made, role, now)


@inner
def _copy_of_target(table: Ints, sizes: WireSizes) -> Ints:
    """The table of the copy to which the target goes."""
    wires = _wires(table)
    which = np.int64(0)
    for i in range(sizes.hubs):
        which |= _bit(wires.target, np.int64(item(wires.hubs, i))) << i
    address = item(wires.copies, which)
    put(wires.here, 0, address)
    return int64s(address)


@inner
def _move_to_target(table: Ints, sizes: WireSizes) -> None:
    """Flip the base propositions in which the current state differs from the target."""
    wires = _wires(table)
    mark = item(wires.mark, 0)
    for word in range(sizes.record):
        change = item(wires.current, word) ^ item(wires.target, word)
        put(wires.current, word, item(wires.target, word))
        while change != 0:
            base = 64 * word + lowest_bit(change)
            change &= change - np.uint64(1)
            mark ^= item(wires.marks, base)
            _flip(table, 1 + base)
    put(wires.mark, 0, mark)


@inner
def _settle(table: Ints, sizes: WireSizes, first: Index, end: Index) -> None:
    """Look at the gates that wait in these levels, until none does."""
    wires = _wires(table)
    for level in range(first, end):
        # A loop has to begin anew also where its gates still hold each other up, so that none waits.
        loop = np.int64(item(wires.loop_of_level, level))
        if loop >= 0 and item(wires.broken, loop) != 0:
            _begin_anew(table, sizes, loop)
        start = item(wires.stack_starts, level)
        while item(wires.stack_ends, level) != start:
            last = item(wires.stack_ends, level) - 1
            put(wires.stack_ends, level, last)
            gate = np.int64(item(wires.stacks, np.int64(last)))
            word = item(wires.nodes, gate) & ~(1 << WAITS_SHIFT)
            put(wires.nodes, gate, word)
            if (word & COUNT_BITS == 0) != (word >> VALUE_SHIFT & 1 != 0):
                _flip(table, gate)


@inner
def _begin_anew(table: Ints, sizes: WireSizes, loop: Index) -> None:
    """Set the gates of a loop to what they begin from, and have all of them looked at."""
    wires = _wires(table)
    for i in range(item(wires.loops, loop), item(wires.loops, loop + 1)):
        gate = np.int64(item(wires.loop_gates, i))
        if item(wires.nodes, gate) >> VALUE_SHIFT & 1 != item(wires.init, gate):
            _flip(table, gate)
    for i in range(item(wires.loops, loop), item(wires.loops, loop + 1)):
        gate = np.int64(item(wires.loop_gates, i))
        put(
            wires.nodes,
            gate,
            _push(wires.stacks, wires.stack_ends, gate, item(wires.nodes, gate), np.int64(1)),
        )
    put(wires.broken, loop, 0)


@inner
def _flip(table: Ints, node: Index) -> None:
    """Flip a node, tell what it gives, and count it in the gates that read it."""
    wires = _wires(table)
    word = item(wires.nodes, node) ^ 1 << VALUE_SHIFT
    put(wires.nodes, node, word)
    value = word >> VALUE_SHIFT & 1
    row = ROW * node
    _tell(wires.answers, np.int64(item(wires.rows, row + SINK)))
    for i in range(item(wires.rows, row + SINGLES), item(wires.rows, row + ROW + SINGLES)):
        reader = np.int64(item(wires.singles, i))
        gate = reader >> 1
        before = item(wires.nodes, gate)
        after = before + 1 - 2 * (value ^ reader & 1)
        crossed = np.int64(before & COUNT_BITS == 0) | np.int64(after & COUNT_BITS == 0)
        put(wires.nodes, gate, _push(wires.stacks, wires.stack_ends, gate, after, crossed))
    for i in range(item(wires.rows, row + EXTRAS), item(wires.rows, row + ROW + EXTRAS)):
        extra = EXTRA * np.int64(i)
        kind, first = item(wires.extras, extra), np.int64(item(wires.extras, extra + 1))
        if kind == TELL:
            _tell(wires.answers, first)
        elif kind == BREAK:
            if item(wires.extras, extra + 2) == value:
                put(wires.broken, first, 1)
        else:
            more = 1 - 2 * (value ^ item(wires.extras, extra + 3))
            _count_run(
                wires.nodes,
                wires.stacks,
                wires.stack_ends,
                first,
                np.int64(item(wires.extras, extra + 2)),
                more,
            )


@inner
def _tell(answers: Words, bit: Index) -> None:
    """Toggle a bit of the answers."""
    put(answers, bit >> 6, item(answers, bit >> 6) ^ np.uint64(1) << np.uint64(bit & 63))


@inner
def _count_run(
    nodes: Ints, stacks: Int32s, stack_ends: Int32s, first: Index, end: Index, more: Index
) -> None:
    """Add ``more`` to the counts of a run of gates; those that leave or reach 0 have to be looked at."""
    while first < end:
        stop = min(first + BLOCK, end)
        crossed = np.int64(0)
        for gate in range(first, stop):
            before = item(nodes, gate)
            after = before + more
            put(nodes, gate, after)
            crossed |= np.int64(before & COUNT_BITS == 0) | np.int64(after & COUNT_BITS == 0)
        if crossed != 0:
            for gate in range(first, stop):
                after = item(nodes, gate)
                if after & COUNT_BITS == 0 or (after - more) & COUNT_BITS == 0:
                    put(nodes, gate, _push(stacks, stack_ends, gate, after, np.int64(1)))
        first = stop


@inner
def _push(stacks: Int32s, stack_ends: Int32s, gate: Index, word: Index, wanted: Index) -> Index:
    """Have a gate looked at if that is ``wanted`` (0 or 1) and it does not wait already; its word then. There
    are no branches: no processor could predict them."""
    level = word >> LEVEL_SHIFT & 0xFFFFFF
    last = np.int64(item(stack_ends, level))
    new = wanted & ~(word >> WAITS_SHIFT)
    put(stacks, last, gate)
    put(stack_ends, level, last + new)
    return word | new << WAITS_SHIFT


@inner
def _legal(table: Ints, sizes: WireSizes) -> object:
    """Per role a tuple of the legal moves, ascending."""
    wires = _wires(table)
    result = empty_tuple(sizes.roles)
    for role in range(sizes.roles):
        moves = np.int64(item(wires.role_moves, role + 1)) - np.int64(item(wires.role_moves, role))
        first = np.int64(item(wires.role_words, role))
        told = np.int64(0)
        for word in range((moves + 63) >> 6):
            left = item(wires.answers, first + word)
            while left != 0:
                put(wires.legal, told, 64 * word + lowest_bit(left))
                left &= left - np.uint64(1)
                told += 1
        set_item(result, role, make_tuple(wires.legal, told))
    return result
