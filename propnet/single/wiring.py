"""A `Network` laid out for single states: from each node to the gates that read it, and to what it tells.

Gates count their false inputs. A flip of a node adds one to, or takes one from, the counts of the gates that
read it; a gate is looked at again only where its count leaves or reaches 0. Nodes that very many gates read
(whose turn it is) have these in *runs* of one number after the other, which are counted as vectors.

What is asked of a state are *answers*, bits of a few words: a flip of a node toggles the bits that it gives.
They are in this order, each part beginning a word: the bases' next values, each role's legal moves, and last
whether the state is terminal, and the goals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propnet.jit.arrays import Flags, Int32s, Ints, Octets, Words
from propnet.kernels.plan import GOALS, MOVES, PLAY, levels, sections
from propnet.kernels.records import record_words
from propnet.network import Network

HEAVY = 64
"""A node that so many gates read has runs."""
LEAST_RUN = 16
"""Gates of a run, at least."""
SINGLES, RUNS, SINKS, LEVEL = range(4)
"""Columns of :attr:`Wiring.rows`."""
ROW = 4


@dataclass(frozen=True)
class Wiring:
    """What the kernels read and, where it says so, write. Node numbers are the network's, but its gates stand
    in another order.

    Attributes:
        rows: int32, shape (nodes + 1, 4): where a node's entries begin in ``singles``, ``runs`` and ``sinks``
            (they end where the next node's begin), and its level.
        singles: int32: ``2 * gate node + negated`` of the gates that read a node.
        runs: int32, shape (runs, 3): first node, past-the-last node, negated.
        sinks: int32: a bit of the answers that is the node's value or its negation; from ``64 * words of
            answers`` on, ``2 * loop + value``: where the node flips to this value, the loop has to begin anew.
        counts: int32, shape (nodes,), written: a gate's false inputs.
        flags: uint8, shape (nodes,), written: bit 0 is the node's value, bit 1 whether it is to be looked at.
        init: uint8, shape (nodes,): the value a gate of a loop begins from.
        stacks: int32, shape (gates,), written: gates to be looked at, each level's from ``stack_starts`` on.
        stack_starts: int32, shape (levels,).
        waiting: int32, shape (levels,), written: how many gates of a level are to be looked at.
        loops: int32, shape (loops + 1,): where each loop's gates begin in ``loop_gates``.
        loop_gates: int32: the nodes of the gates of loops.
        loop_of_level: int32, shape (levels,): -1 for none.
        broken: uint8, shape (loops,), written: whether a loop has to begin anew.
        answers: uint64, written.
        level_ends: past the last level of what every step needs before moves, of what needs the moves, and
            of what only goals need.
        goal_bits: bit of the answers of the first goal; ``terminal_bit`` is the one before.
        goal_values: int32, shape (goals,), sorted by role.
        role_goals: int32, shape (roles + 1,): where each role's goals begin.
        role_words: int32, shape (roles,): word of the answers at which a role's legal moves begin.
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
    level_ends: tuple[int, int, int]
    goal_bits: int
    goal_values: Int32s
    role_goals: Int32s
    role_words: Int32s

    @property
    def terminal_bit(self) -> int:
        """The bit of the answers that says whether the state is terminal."""
        return self.goal_bits - 1


def wire_up(network: Network) -> Wiring:
    """Lay a network out: the state without true propositions, no move made, every gate yet to be looked at."""
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
    rows = np.zeros((nodes + 1, ROW), np.int32)
    rows[node_of[first:], LEVEL] = level
    read_by = node_of[first + owner]
    rows[:, SINGLES], singles, rows[:, RUNS], runs = _readers(node_of[read], literals & 1, read_by, nodes)

    values = np.zeros(nodes, np.uint8)
    init = np.zeros(nodes, np.uint8)
    init[node_of[first:]] = np.where(loop_of >= 0, network.loop_init, 0)
    values |= init
    values[0] = 1
    false = values[node_of[read]] == (literals & 1)
    counts = np.bincount(read_by, weights=false, minlength=nodes).astype(np.int32)

    places = _AnswerPlaces(network)
    breaks = _breaks(network, node_of, owner, literals, loop_of, 64 * places.words)
    told = np.concatenate((np.stack((node_of[places.literals >> 1], places.bits), axis=1), breaks))
    told = told[np.argsort(told[:, 0], kind="stable")]
    rows[:, SINKS] = _starts(told[:, 0], nodes)
    answers = np.zeros((places.words, 64), np.bool_)
    set_now = values[node_of[places.literals >> 1]] != (places.literals & 1)
    answers.reshape(-1)[places.bits] = set_now

    sizes = np.bincount(level, minlength=max(1, level_ends[-1]))
    order = np.argsort(level, kind="stable")
    loop_gates = np.flatnonzero(loop_of >= 0)
    loop_of_level = np.full(len(sizes), -1, np.int32)
    loop_of_level[level[loop_gates]] = loop_of[loop_gates]
    flags = values.copy()
    flags[first:] |= 2
    goals = network.goals.reshape(-1, 3)
    goals = goals[np.argsort(goals[:, 0], kind="stable")]
    return Wiring(
        rows=rows,
        singles=singles,
        runs=runs,
        sinks=told[:, 1].astype(np.int32),
        counts=counts,
        flags=flags,
        init=init,
        stacks=node_of[first + order].astype(np.int32),
        stack_starts=(np.cumsum(sizes) - sizes).astype(np.int32),
        waiting=sizes.astype(np.int32),
        loops=np.searchsorted(loop_of[loop_gates], np.arange(len(network.loops) + 1)).astype(np.int32),
        loop_gates=node_of[first + loop_gates].astype(np.int32),
        loop_of_level=loop_of_level,
        broken=np.zeros(max(1, len(network.loops)), np.uint8),
        answers=np.packbits(answers, axis=1, bitorder="little").view("<u8").astype(np.uint64).reshape(-1),
        level_ends=level_ends,
        goal_bits=places.goal_bits,
        goal_values=goals[:, 1].astype(np.int32),
        role_goals=np.searchsorted(goals[:, 0], np.arange(len(network.roles) + 1)).astype(np.int32),
        role_words=np.array(places.role_words, np.int32),
    )


class _AnswerPlaces:
    """Which literal each bit of the answers shows.

    Attributes:
        literals, bits: int64: a literal, and the bit that is its value.
        words, goal_bits, role_words: as in :class:`Wiring`.
    """

    def __init__(self, network: Network) -> None:
        goals = network.goals.reshape(-1, 3)
        goals = goals[np.argsort(goals[:, 0], kind="stable")]
        ends = np.concatenate(([network.terminal_literal], goals[:, 2]))
        role_moves = np.cumsum([0, *map(len, network.moves)])
        legal = [network.legal_literals[a:b] for a, b in zip(role_moves, role_moves[1:], strict=False)]
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
    """Per gate its level, counted on over the sections in the order PLAY, MOVES, GOALS, a loop having one to
    itself; and past the last level of each section."""
    section = sections(network, start, read)
    place = np.zeros(3, np.int64)
    place[[PLAY, MOVES, GOALS]] = range(3)
    depth = levels(network, start, read, loop_of)
    keys = np.stack((place[section], depth, loop_of), axis=1)
    distinct, level = np.unique(keys, axis=0, return_inverse=True)
    ends = np.searchsorted(distinct[:, 0], range(3), side="right").tolist()
    return level.reshape(-1), (ends[0], ends[1], ends[2])


def _ranks(gates: int, owner: Ints, literals: Ints, nodes: int) -> Ints:
    """A number for each gate: those that read the same much-read literals get numbers one after the other."""
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


def _readers(
    read: Ints, negated: Ints, read_by: Ints, nodes: int
) -> tuple[Int32s, Int32s, Int32s, Int32s]:
    """Where each node's single readers begin, these, where its runs begin, and these."""
    order = np.lexsort((read_by, negated, read))
    node, sign, gate = read[order], negated[order], read_by[order]
    edge = (np.diff(node, prepend=-1) != 0) | (np.diff(sign, prepend=-1) != 0) | (np.diff(gate, prepend=-9) != 1)
    heads = np.flatnonzero(edge)
    lengths = np.diff(heads, append=len(node))
    run = lengths >= LEAST_RUN
    heads, in_run = heads[run], np.repeat(run, lengths)
    runs = np.stack((gate[heads], gate[heads] + lengths[run], sign[heads]), axis=1).astype(np.int32)
    singles = (2 * gate[~in_run] + sign[~in_run]).astype(np.int32)
    return _starts(node[~in_run], nodes), singles, _starts(node[heads], nodes), runs


def _breaks(
    network: Network, node_of: Ints, owner: Ints, literals: Ints, loop_of: Ints, first_bit: int
) -> Ints:
    """Rows (node, sink): what reads it from a loop would have to fall back, where this node, which is none of
    the loop, flips to the value. A loop cannot fall by itself: its gates hold each other up."""
    loop = loop_of[owner]
    looped = np.flatnonzero(loop >= 0)
    read = literals[looped] >> 1
    inner = read - network.first_gate
    inside = (inner >= 0) & (loop_of[np.maximum(inner, 0)] == loop[looped])
    looped, read = looped[~inside], read[~inside]
    # A gate that begins false falls with an input that becomes false, one that begins true with one true.
    begins = network.loop_init[owner[looped]].astype(np.int64)
    value = begins ^ (literals[looped] & 1)
    pairs = np.stack((node_of[read], first_bit + 2 * loop[looped] + value), axis=1)
    return np.unique(pairs, axis=0).astype(np.int64).reshape(-1, 2)


def _starts(numbers: Ints, nodes: int) -> Int32s:
    """Where each node's entries begin among entries sorted by node, and where the last ones end."""
    return np.searchsorted(numbers, np.arange(nodes + 1)).astype(np.int32)
