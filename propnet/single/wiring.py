"""A `Network` laid out for single states: from each node to the gates that read it, and to its bits of the
answers.

Gates count their false inputs. A flip of a node adds one to, or takes one from, the counts of the gates that
read it. A gate is evaluated again only if its count leaves or reaches 0. For nodes that very many gates read
(the player to move) these gates have consecutive numbers, in *runs*, which are counted as vectors.

The *answers* are the values that can be asked of a state, bits of a few words: a flip of a node toggles its
bits. They are in this order, each part beginning a word: the bases' next values, each role's legal moves, and
last whether the state is terminal, and the goals.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.kernels.plan import GOALS, MOVES, PLAY, levels, sections
from propnet.kernels.records import record_words
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
