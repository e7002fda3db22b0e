"""`OneState`: the network settled on one state, for questions and steps from Python.

The kernels of a single state flip the nodes that changed, settle the gates that these reach, and return the
results.

Event-driven evaluation in level order, as in logic simulators (Ulrich, "Exclusive simulation of activity in
digital networks", 1969): every gate is evaluated at most once a step, and most are not evaluated at all.

Gates count their false inputs: a flip of a node changes the counts of the gates that read it, and a gate is
evaluated again only if its count leaves or reaches 0. For nodes that very many gates read (the player to
move) these gates have consecutive numbers, in *runs*, which are counted as vectors.

The *answers* are the values that can be asked of a state, bits of a few words: a flip of a node toggles its
bits. They are in this order, each part beginning a word: the bases' next values, each role's legal moves, and
last whether the state is terminal, and the goals.
"""

from __future__ import annotations

import random
import time
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np
from numba import types
from numpy.typing import NDArray

from gdl.errors import MoveError
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.intrinsics import (
    empty_tuple,
    entry,
    int32s,
    int64s,
    is_sequence,
    make_bytes,
    make_number,
    make_tuple,
    number_at,
    octets,
    python_object,
    set_item,
    words,
)
from propnet.jit.vector512 import item, lowest_bit, put
from propnet.kernels.plan import GOALS, MOVES, PLAY, levels, sections
from propnet.kernels.records import pack, record_words, unpack
from propnet.network import Network

HEAVY = 32
"""The number of readers from which a node has runs."""
_LEAST_RUN = 8
"""The fewest gates of a run."""
SINGLES, EXTRAS, SINK, _ = range(4)
"""Columns of :attr:`Wires.rows`."""
ROW, EXTRA = 4, 4
"""Numbers per row of :attr:`Wires.rows` and :attr:`Wires.extras`."""
TELL, BREAK, COUNT = range(3)
"""Kinds of extras."""
LEVEL_SHIFT, VALUE_SHIFT, WAITS_SHIFT = 32, 56, 57
"""The places of a node's level, its value and whether it waits, in its word; its count is in the lower
half."""


class Wires(NamedTuple):
    """The arrays that the kernels read and, where marked, write; or their addresses, in this order. Node
    numbers are the network's, but its gates are in another order.

    Attributes:
        nodes: int64, shape (nodes,), written: a word per node. For a gate: its false inputs; its level; its
            value; whether it waits for evaluation.
        rows: int32, shape (nodes + 1, 4): the places at which a node's entries begin in ``singles`` and
            ``extras`` (they end where the next node's begin), and the bit of the answers that holds its value
            or its negation. A node without such a bit has an unused bit of the last word.
        singles: int32: ``2 * gate node + negated`` of the gates that read a node.
        extras: int32, shape (extras, 4): the kind of an extra, and by kind: another bit of the answers; the
            loop that must restart if the node flips to this value, and the value; of a run the first node,
            the past-the-last, whether negated.
        init: uint8, shape (nodes,): the value from which a gate of a loop begins.
        stacks: int32, written: gates that wait, each level's from ``stack_starts`` to before ``stack_ends``.
            Each level has space for one more.
        stack_starts, stack_ends: int32, shape (levels,), the second written.
        loops: int32, shape (loops + 1,): the places at which each loop's gates begin in ``loop_gates``.
        loop_gates: int32: the nodes of the gates of loops.
        loop_of_level: int32, shape (levels,): -1 for none.
        broken: uint8, shape (loops,), written: whether a loop must restart.
        answers: uint64, written.
        goal_values: int32, shape (goals,), sorted by role.
        role_goals: int32, shape (roles + 1,): the number of each role's first goal.
        role_words: int32, shape (roles,): the word of the answers at which a role's legal moves begin.
        current, target: uint64, shape (words,): the records of the state on which the wires are settled, and
            of the state to reach.
        joint: int64, shape (roles,): the joint move to make.
        last_moves: int64, shape (roles,): the nodes of the joint move made before.
        marks: int64, shape (bases,): hashes of the propositions.
        role_moves: int32, shape (roles + 1,): the number of each role's first move.
        legal: int32: space for all moves.
        worth: int64, shape (2 * roles,): the highest goal of each role, then the only one; -1 for none.
        sizes: int64: see :class:`WireSizes`.
        mark: int64, shape (1,): the hash of ``current``.
        hubs: int32: the bases whose values in a state, the first one the lowest bit, give its place in
            ``copies``. The arrays that are written while wires settle have several copies.
        copies: int64: the address of each copy's table of addresses.
        here: int64, shape (1,): the address of the table that was used last.
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
    last_moves: Ints
    marks: Ints
    role_moves: Int32s
    legal: Int32s
    worth: Ints
    sizes: Ints
    mark: Ints
    hubs: Int32s
    copies: Ints
    here: Ints


class WireSizes(NamedTuple):
    """Numbers that belong to the arrays: of roles, base propositions, words of a record, words of the
    answers; past the last level of the gates that every step needs before moves, of those that need the
    moves, and of those that only goals need; the bit of the answers of the first goal (the one before says
    whether the state is terminal); of hubs."""

    roles: Index
    bases: Index
    record: Index
    answers: Index
    play_end: Index
    moves_end: Index
    goals_end: Index
    goal_bits: Index
    hubs: Index


MOST_HUBS = 4
"""The most bases that choose the copy of the wires for a state."""


def wire_up(network: Network) -> Wires:
    """The layout of a network in which no proposition is true, no move is made and every gate waits, without
    hubs and copies."""
    first, gates, nodes = network.first_gate, network.gates, network.nodes
    start = network.gate_start.astype(np.int64)
    literals = network.gate_inputs.astype(np.int64)
    read = literals >> 1
    owner = np.repeat(np.arange(gates), np.diff(start))
    loop_of = np.full(gates, -1, np.int64)
    for i, (low, high) in enumerate(network.loops.tolist()):
        loop_of[low:high] = i
    level, level_ends = _level_numbers(network, start, read, loop_of)

    node_of = np.concatenate((np.arange(first), first + _ranks(gates, owner, literals, nodes)))
    read_by = node_of[first + owner]
    starts, singles, runs = _readers(node_of[read], literals & 1, read_by, nodes)
    places = _AnswerPlaces(network)
    tells = np.stack((node_of[places.literals >> 1], places.bits), axis=1)
    tells = tells[np.argsort(tells[:, 0], kind="stable")]
    is_first = np.diff(tells[:, 0], prepend=-1) != 0
    breaks = _breaks(network, node_of, owner, literals, loop_of)
    extras = np.concatenate((_extra(TELL, tells[~is_first]), _extra(BREAK, breaks), _extra(COUNT, runs)))
    extras = extras[np.argsort(extras[:, 0], kind="stable")]
    rows = np.zeros((nodes + 1, ROW), np.int32)
    rows[:, SINGLES] = starts
    rows[:, EXTRAS] = _starts(extras[:, 0], nodes)
    rows[:, SINK] = 64 * places.words
    rows[tells[is_first, 0], SINK] = tells[is_first, 1]

    init = np.zeros(nodes, np.uint8)
    init[node_of[first:]] = np.where(loop_of >= 0, network.loop_init, 0)
    values = init.astype(np.int64)
    values[0] = 1
    false = values[node_of[read]] == (literals & 1)
    word = np.bincount(read_by, weights=false, minlength=nodes).astype(np.int64)
    word |= values << VALUE_SHIFT
    word[first:] |= 1 << WAITS_SHIFT
    word[node_of[first:]] |= level << LEVEL_SHIFT
    shown = np.zeros((places.words + 1, 64), np.bool_)
    set_now = values[node_of[places.literals >> 1]] != (places.literals & 1)
    shown.reshape(-1)[places.bits] = set_now

    sizes = np.bincount(level, minlength=max(1, level_ends[-1]))
    order = np.argsort(level, kind="stable")
    stack_starts = np.cumsum(sizes + 1) - sizes - 1
    stacks = np.zeros(gates + len(sizes), np.int32)
    stacks[np.arange(gates) + level[order]] = node_of[first + order]
    loop_gates = np.flatnonzero(loop_of >= 0)
    loop_of_level = np.full(len(sizes), -1, np.int32)
    loop_of_level[level[loop_gates]] = loop_of[loop_gates]
    goals = network.goals.reshape(-1, 3)
    goals = goals[np.argsort(goals[:, 0], kind="stable")]
    roles, bases = len(network.roles), len(network.bases)
    record = record_words(bases)
    answers = np.packbits(shown, axis=1, bitorder="little").view("<u8").astype(np.uint64).reshape(-1)
    numbers = WireSizes(roles, bases, record, len(answers), *level_ends, places.goal_bits, 0)
    return Wires(
        nodes=word,
        rows=rows,
        singles=singles,
        extras=extras[:, 1:].astype(np.int32),
        init=init,
        stacks=stacks,
        stack_starts=stack_starts.astype(np.int32),
        stack_ends=(stack_starts + sizes).astype(np.int32),
        loops=np.searchsorted(loop_of[loop_gates], np.arange(len(network.loops) + 1)).astype(np.int32),
        loop_gates=node_of[first + loop_gates].astype(np.int32),
        loop_of_level=loop_of_level,
        broken=np.zeros(max(1, len(network.loops)), np.uint8),
        answers=answers,
        goal_values=goals[:, 1].astype(np.int32),
        role_goals=np.searchsorted(goals[:, 0], np.arange(roles + 1)).astype(np.int32),
        role_words=np.array(places.role_words, np.int32),
        current=np.zeros(record, np.uint64),
        target=np.zeros(record, np.uint64),
        joint=np.zeros(roles, np.int64),
        last_moves=np.full(roles, -1, np.int64),
        # Python's own hash of each proposition: a state's hash comes from its propositions, on any machine.
        marks=np.array([*map(hash, network.bases)], np.int64),
        role_moves=np.cumsum([0, *map(len, network.moves)]).astype(np.int32),
        legal=np.zeros(network.move_count, np.int32),
        worth=np.zeros(2 * roles, np.int64),
        sizes=np.array(numbers, np.int64),
        mark=np.zeros(1, np.int64),
        hubs=np.zeros(MOST_HUBS, np.int32),
        copies=np.zeros(1 << MOST_HUBS, np.int64),
        here=np.zeros(1, np.int64),
    )


class _AnswerPlaces:
    """The literal that each bit of the answers shows.

    Attributes:
        literals, bits: int64: a literal, and the bit that is its value.
        words: of the answers; goal_bits, role_words: as in :class:`Wires` and :class:`WireSizes`.
    """

    def __init__(self, network: Network) -> None:
        goals = network.goals.reshape(-1, 3)
        goals = goals[np.argsort(goals[:, 0], kind="stable")]
        ends = np.concatenate(([network.terminal_literal], goals[:, 2]))
        role_moves = np.cumsum([0, *map(len, network.moves)])
        legal = [network.legal_literals[a:b] for a, b in pairwise(role_moves.tolist())]
        parts = [network.next_literals, *legal, ends]
        first_words = np.cumsum([0, *(record_words(len(part)) for part in parts)])
        self.words = int(first_words[-1])
        self.role_words = first_words[1:-2].tolist()
        self.goal_bits = 64 * int(first_words[-2]) + 1
        self.literals: Ints = np.concatenate(parts).astype(np.int64)
        self.bits: Ints = np.concatenate(
            [64 * word + np.arange(len(part)) for word, part in zip(first_words[:-1], parts, strict=True)]
        ).astype(np.int64)


def _level_numbers(
    network: Network, start: Ints, read: Ints, loop_of: Ints
) -> tuple[Ints, tuple[int, int, int]]:
    """Per gate its level, numbered on over the sections in the order PLAY, MOVES, GOALS; each loop has a
    level of its own. Also the end of the levels of each section."""
    section = sections(network, start, read)
    place = np.zeros(3, np.int64)
    place[[PLAY, MOVES, GOALS]] = range(3)
    depth = levels(network, start, read, loop_of)
    keys = np.stack((place[section], depth, loop_of), axis=1)
    distinct, level = np.unique(keys, axis=0, return_inverse=True)
    ends = np.searchsorted(distinct[:, 0], range(3), side="right").tolist()
    return level.reshape(-1), (ends[0], ends[1], ends[2])


def _ranks(gates: int, owner: Ints, literals: Ints, nodes: int) -> Ints:
    """A number for each gate; gates that read the same much-read literals get consecutive numbers."""
    readers = np.bincount(literals >> 1, minlength=nodes)
    heavy = readers[literals >> 1] >= HEAVY
    by_weight = np.argsort(-readers[literals >> 1][heavy], kind="stable")
    owners, read = owner[heavy][by_weight], literals[heavy][by_weight]
    keys = np.full((2, gates), -1, np.int64)
    for key in keys:
        some, at = np.unique(owners, return_index=True)
        key[some] = read[at]
        rest = np.ones(len(owners), np.bool_)
        rest[at] = False
        owners, read = owners[rest], read[rest]
    order = np.lexsort((np.arange(gates), keys[1], keys[0]))
    ranks = np.empty(gates, np.int64)
    ranks[order] = np.arange(gates)
    return ranks


def _readers(read: Ints, negated: Ints, read_by: Ints, nodes: int) -> tuple[Int32s, Int32s, Ints]:
    """The start of each node's single readers, these readers, and the runs: node, first, past the last,
    negated."""
    order = np.lexsort((read_by, negated, read))
    node, sign, gate = read[order], negated[order], read_by[order]
    edge = (
        (np.diff(node, prepend=-1) != 0) | (np.diff(sign, prepend=-1) != 0) | (np.diff(gate, prepend=-9) != 1)
    )
    heads = np.flatnonzero(edge)
    lengths = np.diff(heads, append=len(node))
    run = lengths >= _LEAST_RUN
    heads, in_run = heads[run], np.repeat(run, lengths)
    runs = np.stack((node[heads], gate[heads], gate[heads] + lengths[run], sign[heads]), axis=1)
    singles = (2 * gate[~in_run] + sign[~in_run]).astype(np.int32)
    return _starts(node[~in_run], nodes), singles, runs


def _breaks(network: Network, node_of: Ints, owner: Ints, literals: Ints, loop_of: Ints) -> Ints:
    """Rows of a node outside a loop, the loop and a value: if the node flips to the value, its readers in the
    loop would have to fall back. A loop cannot do that: its gates hold each other up."""
    loop = loop_of[owner]
    looped = np.flatnonzero(loop >= 0)
    read = literals[looped] >> 1
    inner = read - network.first_gate
    inside = (inner >= 0) & (loop_of[np.maximum(inner, 0)] == loop[looped])
    looped, read = looped[~inside], read[~inside]
    # A gate that begins false falls with an input that becomes false; one that begins true, with one that
    # becomes true.
    begins = network.loop_init[owner[looped]].astype(np.int64)
    value = begins ^ (literals[looped] & 1)
    return np.unique(np.stack((node_of[read], loop[looped], value), axis=1), axis=0).reshape(-1, 3)


def _extra(kind: int, rows: Ints) -> Ints:
    """Rows of extras: a node, the kind, and up to three numbers, from rows of a node and these numbers."""
    extra = np.zeros((len(rows), 1 + EXTRA), np.int64)
    extra[:, 0] = rows[:, 0]
    extra[:, 1] = kind
    extra[:, 2 : 1 + rows.shape[1]] = rows[:, 1:]
    return extra


def _starts(numbers: Ints, nodes: int) -> Int32s:
    """The start of each node's entries among entries sorted by node, and the end of the last ones."""
    return np.searchsorted(numbers, np.arange(nodes + 1)).astype(np.int32)


BLOCK = 16
"""Gates of a run that are counted before the changed ones among them are searched."""
_COUNT_BITS = 0xFFFFFFFF
"""The bits of the count in a node's word."""


_COPIED = frozenset({"nodes", "stacks", "stack_ends", "broken", "answers", "current", "last_moves", "mark"})
"""The arrays of which each copy has its own."""


@inner
def _wires(t: Ints) -> Wires:
    """The arrays. Functions pass on the table, which is one number, and take from it the arrays they need."""
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
    """Make a joint move, a sequence of a move id per role, in the current state. If ``joint`` is not a
    sequence, go to the state whose record is the target.

    Returns the key of the new state; whether it is terminal, 0 or 1; and per role the ids of its legal moves,
    ascending. If a move id is out of range, nothing is done, and the key is (). ``address`` is that of any
    copy's table."""
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
    """Write the goals of the current state to ``worth``; return 0. ``address`` is that of any copy's
    table."""
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
    """Make the joint move instead of the one made before."""
    wires = _wires(table)
    for role in range(sizes.roles):
        before = item(wires.last_moves, role)
        now = 1 + sizes.bases + item(wires.role_moves, role) + item(wires.joint, role)
        if now != before:
            if before >= 0:
                _flip(table, before)
            _flip(table, now)
            put(wires.last_moves, role, now)


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
    """Evaluate the gates that wait in these levels, until none waits."""
    wires = _wires(table)
    for level in range(first, end):
        # A loop must also restart if its gates still hold each other up, so that none waits.
        loop = np.int64(item(wires.loop_of_level, level))
        if loop >= 0 and item(wires.broken, loop) != 0:
            _restart(table, sizes, loop)
        start = item(wires.stack_starts, level)
        while item(wires.stack_ends, level) != start:
            last = item(wires.stack_ends, level) - 1
            put(wires.stack_ends, level, last)
            gate = np.int64(item(wires.stacks, np.int64(last)))
            word = item(wires.nodes, gate) & ~(1 << WAITS_SHIFT)
            put(wires.nodes, gate, word)
            if (word & _COUNT_BITS == 0) != (word >> VALUE_SHIFT & 1 != 0):
                _flip(table, gate)


@inner
def _restart(table: Ints, sizes: WireSizes, loop: Index) -> None:
    """Reset the gates of a loop to their initial values, and let all of them wait."""
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
    """Flip a node, toggle its bits of the answers, and count it in the gates that read it."""
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
        crossed = np.int64(before & _COUNT_BITS == 0) | np.int64(after & _COUNT_BITS == 0)
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
    """Add ``more`` to the counts of a run of gates; gates whose count leaves or reaches 0 then wait."""
    while first < end:
        stop = min(first + BLOCK, end)
        crossed = np.int64(0)
        for gate in range(first, stop):
            before = item(nodes, gate)
            after = before + more
            put(nodes, gate, after)
            crossed |= np.int64(before & _COUNT_BITS == 0) | np.int64(after & _COUNT_BITS == 0)
        if crossed != 0:
            for gate in range(first, stop):
                after = item(nodes, gate)
                if after & _COUNT_BITS == 0 or (after - more) & _COUNT_BITS == 0:
                    put(nodes, gate, _push(stacks, stack_ends, gate, after, np.int64(1)))
        first = stop


@inner
def _push(stacks: Int32s, stack_ends: Int32s, gate: Index, word: Index, wanted: Index) -> Index:
    """Let a gate wait if ``wanted`` is 1 (not 0) and it does not wait already; return its new word. There are
    no branches: no processor could predict them."""
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
        count = np.int64(0)
        for word in range((moves + 63) >> 6):
            left = item(wires.answers, first + word)
            while left != 0:
                put(wires.legal, count, 64 * word + lowest_bit(left))
                left &= left - np.uint64(1)
                count += 1
        set_item(result, role, make_tuple(wires.legal, count))
    return result


_OFTEN = 0.3
"""The least share of steps in which a hub flips."""
SHARE = 0.05
"""The least share of a hub in the cost of all flips."""
WALK = 64
"""The number of states of the walk that finds the hubs."""
WORTH_IT = 0.85
"""Copies are kept if the walk takes at most this share of the time without them."""
_TRIALS = 5
"""The number of times that the walk is timed with and without copies; the fastest counts."""
_MOST_TRIED = 0.02
"""Seconds of a walk after which it is not timed again."""
MOST_COPIED = 64 << 20
"""The most bytes of the wires that are copied."""


class OneState:
    """The values in one state of a network, and its successors.

    States are keys: the bytes of their records (:mod:`propnet.kernels.records`). The cost of going to a state
    grows with the changes from the last state with the same role in turn (:func:`hubs_of`). So questions
    about a state and its successors are cheap; those about a distant state cost up to a whole evaluation.
    Only one thread at a time may use it.

    Attributes:
        key: of the current state; None before the first question.
        terminal: whether the current state is terminal, 0 or 1.
        legal: per role the ids of its legal moves there, ascending.
    """

    __slots__ = (
        "_address", "_answer", "_arrays", "_target", "_there", "_valued", "_worth",
        "key", "legal", "terminal",
    )  # fmt: skip

    def __init__(self, network: Network) -> None:
        arrays: dict[str, NDArray[Any]] = {
            name: np.ascontiguousarray(array) for name, array in wire_up(network)._asdict().items()
        }
        first = _Copy(arrays)
        self._arrays, self._address = {first.address: first}, first.address
        arrays["copies"][:] = arrays["here"][:] = first.address
        view = {name: memoryview(cast(Any, arrays[name])) for name in ("target", "here", "worth")}
        self._target, self._there, self._worth = view["target"].cast("B"), view["here"], view["worth"]
        self._answer = entry(answer, types.int64, python_object)
        self._valued = False
        self.key: Hashable = None
        self.terminal = 0
        self.legal: tuple[tuple[int, ...], ...] = ()
        if first.weight <= MOST_COPIED:
            self._make_copies(network, arrays)

    def _make_copies(self, network: Network, arrays: dict[str, NDArray[Any]]) -> None:
        """Give each value of the hubs on a walk a copy of its own, if that makes the walk faster."""
        initial = pack(np.asarray(network.initial, np.bool_)[None, :]).tobytes()
        way = self._walk(initial)
        self.key = None
        if not way or not network.bases:
            return
        keys = np.frombuffer(b"".join(key for key, _ in way), np.uint64).reshape(len(way), -1)
        records = unpack(keys, len(network.bases))
        readers = np.bincount(network.gate_inputs >> 1, minlength=network.nodes)[1 : 1 + len(network.bases)]
        hubs = hubs_of(records, readers)
        if not hubs:
            return
        arrays["hubs"][: len(hubs)] = hubs
        for value in np.unique(records[:, hubs] @ (1 << np.arange(len(hubs)))).tolist()[1:]:
            copy = _Copy({name: array.copy() if name in _COPIED else array for name, array in arrays.items()})
            self._arrays[copy.address] = copy
            arrays["copies"][value] = copy.address
        fastest = dict.fromkeys((0, len(hubs)), float("inf"))
        for _ in range(_TRIALS):
            for count in fastest:
                arrays["sizes"][-1] = count
                began = time.perf_counter()
                for key, joint in way:
                    self.play(key, joint)
                fastest[count] = min(fastest[count], time.perf_counter() - began)
            if fastest[0] > _MOST_TRIED:
                break
        self.key = None  # the next question may find the wires on another copy
        if fastest[len(hubs)] > WORTH_IT * fastest[0]:
            arrays["sizes"][-1] = 0
            self._arrays = {self._address: self._arrays[self._address]}
            arrays["here"][0] = self._address

    def _walk(self, initial: bytes) -> list[tuple[bytes, list[int]]]:
        """States of a random walk that starts again and again from the initial state, and the legal joint
        moves made there."""
        rng, way = random.Random(0), list[tuple[bytes, list[int]]]()
        self.go(initial)
        while len(way) < WALK:
            if self.terminal or not all(self.legal):
                if self.key == initial:
                    break
                self.go(initial)
            else:
                way.append((cast(bytes, self.key), [rng.choice(moves) for moves in self.legal]))
                self.play(*way[-1])
        return way

    def go(self, key: Hashable) -> None:
        """Go to the state with this key."""
        self.key = None
        self._target[:] = cast(bytes, key)
        self.key, self.terminal, self.legal = self._answer(self._address, None)
        self._valued = False

    def play(self, key: Hashable, joint_move: Sequence[int]) -> bytes:
        """Make a joint move, a move id per role, in the state with this key; return the key of the new state.
        Raises MoveError for ids that no move has. The caller must make sure that moves are legal."""
        if key is not self.key and key != self.key:
            self.go(key)
        answered = self._answer(self._address, joint_move)
        if not answered[0]:
            raise MoveError("a move id is out of range", remedy="ids are places in network.moves[role]")
        self.key, self.terminal, self.legal = answered
        self._valued = False
        return cast(bytes, answered[0])

    def goal(self, role: int) -> int | None:
        """The role's goal value there; None unless exactly one holds."""
        return self._value(len(self._worth) // 2 + role)

    def result(self, role: int) -> int | None:
        """The highest of the role's goal values that hold there; None for none."""
        return self._value(role)

    def hash(self) -> int:
        """A hash of the state's propositions."""
        return self._arrays[self._there[0]].mark

    def _value(self, place: int) -> int | None:
        if not self._valued:
            worth(self._address)
            self._valued = True
        value = self._worth[place]
        return None if value < 0 else int(value)


class _Copy:
    """The arrays that change while wires settle, and the table of addresses by which kernels find them."""

    __slots__ = ("_arrays", "_mark", "address", "weight")

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        table = np.array([arrays[name].ctypes.data for name in Wires._fields], np.int64)
        self._arrays = [*arrays.values(), table]
        self._mark = memoryview(cast(Any, arrays["mark"]))
        self.weight = sum(arrays[name].nbytes for name in _COPIED)
        self.address = int(table.ctypes.data)

    @property
    def mark(self) -> int:
        """The hash of the state on which the wires are settled."""
        return int(self._mark[0])


def hubs_of(records: NDArray[np.bool_], readers: NDArray[np.int64]) -> list[int]:
    """The bases, at most :data:`MOST_HUBS`, whose flips cost most in a walk.

    If roles take turns, nearly all their legal moves depend on the turn. With a copy of the wires for each
    turn, a step costs only the changes of the last moves, and nothing for the turn itself.

    Args:
        records: bool (states, bases), the states of a walk.
        readers: int (bases,), the gates that read each base.
    """
    if len(records) < 2:
        return []
    often = (records[1:] != records[:-1]).mean(axis=0)
    cost = often * readers
    order = np.argsort(-cost, kind="stable")[:MOST_HUBS]
    return [int(base) for base in order if often[base] >= _OFTEN and cost[base] >= SHARE * cost.sum()]
