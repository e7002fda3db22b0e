"""A `Network` levelled, sorted and laid out in arrays for the gate kernel.

Gates are sorted by level (longest path from the inputs) and, inside a level, by the numbers of plain
and of negated inputs that they read. Gates of one shape form *runs*: the kernel decides once per
run, not once per gate, and the processor predicts its branches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gdl.errors import TooLargeError
from propnet.jit.arrays import Flags, Goals, Index, Int32s, Ints, Octets, Offsets
from propnet.jit.vector512 import BYTES
from propnet.network import Network

PLAY, GOALS, MOVES = range(3)
"""Sections of a plan, in their order."""

LISTED = -1
"""The ``first_wire`` of a block of scattered gates: each gate's inputs follow the offset of its own wire."""


class GateRun(NamedTuple):
    """Gates of one shape that are evaluated one after another: a row of :attr:`Plan.runs`.

    Each gate has ``plain`` and ``negated`` inputs. Those of the first gate begin at ``inputs_at`` in
    :attr:`Plan.inputs`. Its wire is ``first_wire``; the wires of the others follow."""

    plain: Index
    negated: Index
    gates: Index
    inputs_at: Index
    first_wire: Index


class GateBlock(NamedTuple):
    """Runs that are evaluated together: a row of :attr:`Plan.blocks`. A loop has the wires from
    ``first_wire`` to before ``end_wire``. Other blocks have an ``end_wire`` of 0 and a ``first_wire`` of 0 or
    :data:`LISTED`."""

    first_run: Index
    end_run: Index
    first_wire: Index
    end_wire: Index


RUN, BLOCK = len(GateRun._fields), len(GateBlock._fields)
"""Numbers per row of :attr:`Plan.runs` and :attr:`Plan.blocks`."""


@dataclass(frozen=True)
class Plan:
    """The arrays that the kernels read. Wire w is row w of a ``(wires, 8)`` array: the constant true, the
    base propositions, the moves of all roles (these as in the network), then the gates in plan order. A *wire
    offset* is a wire's byte offset, 64 * w.

    Attributes:
        wires: the number of wires.
        bases, moves: the numbers of base propositions and moves among them.
        inputs: uint32: wire offsets, gate after gate, the plain inputs of a gate before the negated.
        runs: int32, shape (runs, 5): rows of :class:`GateRun`.
        blocks: int32, shape (blocks, 4): rows of :class:`GateBlock`.
        base_blocks: the number of blocks at the start that need no move.
        play_blocks: the number of these before the blocks that only goals need.
        goal_inputs, step_inputs: the numbers of inputs of the gates that only goals need, and of the others.
        init: uint8, shape (wires,): the initial values of the gates of loops.
        next_offsets, next_signs: uint32 and int64 (bases,): wire offset of each base proposition's next
            value, and -1 if it must be negated (else 0).
        legal_offsets, legal_signs: the same, (moves,).
        role_moves: int32 (roles + 1,): the number of each role's first move among all moves.
        goal_offsets, goal_signs: the same as for moves, (goals,), sorted by role.
        goal_values: int16 (goals,).
        role_goals: int32 (roles + 1,): the number of each role's first goal.
        terminal: int64 (2,): wire offset and sign of ``terminal``.
        initial: bool (bases,).
        percept_offsets, percept_signs: like those of next, (percepts of all roles,).
    """

    wires: int
    bases: int
    moves: int
    inputs: Offsets
    runs: Int32s
    blocks: Int32s
    base_blocks: int
    play_blocks: int
    goal_inputs: int
    step_inputs: int
    init: Octets
    next_offsets: Offsets
    next_signs: Ints
    legal_offsets: Offsets
    legal_signs: Ints
    role_moves: Int32s
    goal_offsets: Offsets
    goal_signs: Ints
    goal_values: Goals
    role_goals: Int32s
    terminal: Ints
    initial: Flags
    percept_offsets: Offsets
    percept_signs: Ints


def plan(network: Network) -> Plan:
    """The layout of a network for the kernels. Raises TooLargeError past the reach of wire offsets."""
    if network.nodes * BYTES >= 2**32:
        raise TooLargeError(f"the network has {network.nodes:,} nodes, more than the interpreter can address")
    gates, first = network.gates, network.first_gate
    # An AND of nothing is true: it reads the constant, literal 0.
    empty = np.flatnonzero(np.diff(network.gate_start) == 0)
    literals = np.insert(network.gate_inputs, network.gate_start[empty], 0)
    widths = np.maximum(np.diff(network.gate_start), 1).astype(np.int64)
    start = np.concatenate(([0], np.cumsum(widths)))
    read = literals.astype(np.int64) >> 1
    owner = np.repeat(np.arange(gates), widths)
    negations = np.bincount(owner[literals & 1 == 1], minlength=gates)
    plain = widths - negations
    loop_of = np.full(gates, -1, np.int64)
    for i, (low, high) in enumerate(network.loops):
        loop_of[low:high] = i

    section = sections(network, start, read)
    play_gates = int(np.count_nonzero(section == PLAY))
    level = levels(network, start, read, loop_of)
    # Inside a loop the network's own order remains: it settles fastest.
    shape = np.where(loop_of >= 0, 0, plain), np.where(loop_of >= 0, 0, negations)
    order = np.lexsort((np.arange(gates), *shape, loop_of, level, section))
    runs, blocks, edges = _runs(
        plain[order], negations[order], loop_of[order], (play_gates, network.base_gates), first
    )
    wire, inputs = _inputs(order, first, start, read, literals & 1)

    init = np.zeros(first + gates, np.uint8)
    init[wire[first:]] = network.loop_init
    return complete_plan(
        network,
        wire,
        network.next_literals,
        network.legal_literals,
        wires=first + gates,
        inputs=inputs,
        runs=runs,
        blocks=blocks,
        base_blocks=int(np.count_nonzero(edges < network.base_gates)),
        play_blocks=int(np.count_nonzero(edges < play_gates)),
        goal_inputs=int(widths[section == GOALS].sum()),
        step_inputs=int(widths[section != GOALS].sum()),
        init=init,
    )


def complete_plan(
    network: Network,
    wire: Ints,
    next_literals: Int32s | Ints,
    legal_literals: Int32s | Ints,
    *,
    wires: int,
    inputs: Offsets,
    runs: Int32s,
    blocks: Int32s,
    base_blocks: int,
    play_blocks: int,
    goal_inputs: int,
    step_inputs: int,
    init: Octets,
) -> Plan:
    """The plan of gates that are laid out, from each node's ``wire`` and the remaining fields of the plan."""

    def places(literals: Int32s | Ints) -> tuple[Offsets, Ints]:
        wide = literals.astype(np.int64)
        return (wire[wide >> 1] * BYTES).astype(np.uint32), -(wide & 1)

    goals = network.goals.reshape(-1, 3)
    goals = goals[np.argsort(goals[:, 0], kind="stable")]
    next_offsets, next_signs = places(next_literals)
    legal_offsets, legal_signs = places(legal_literals)
    goal_offsets, goal_signs = places(goals[:, 2])
    percept_offsets, percept_signs = places(network.percept_literals)
    return Plan(
        wires=wires,
        bases=len(network.bases),
        moves=network.move_count,
        inputs=inputs,
        runs=runs,
        blocks=blocks,
        base_blocks=base_blocks,
        play_blocks=play_blocks,
        goal_inputs=goal_inputs,
        step_inputs=step_inputs,
        init=init,
        next_offsets=next_offsets,
        next_signs=next_signs,
        legal_offsets=legal_offsets,
        legal_signs=legal_signs,
        role_moves=np.cumsum([0, *map(len, network.moves)]).astype(np.int32),
        goal_offsets=goal_offsets,
        goal_signs=goal_signs,
        goal_values=goals[:, 1].astype(np.int16),
        role_goals=np.searchsorted(goals[:, 0], np.arange(len(network.roles) + 1)).astype(np.int32),
        terminal=np.concatenate(places(np.array([network.terminal_literal]))).astype(np.int64),
        initial=np.asarray(network.initial, np.bool_),
        percept_offsets=percept_offsets,
        percept_signs=percept_signs,
    )


def sections(network: Network, start: Ints, read: Ints) -> Ints:
    """The section of each gate: PLAY (every step needs it), GOALS (only goals do) or MOVES."""
    first, base_gates = network.first_gate, network.base_gates
    needed = np.zeros(network.nodes, np.bool_)
    for literals in (network.legal_literals, network.next_literals, network.percept_literals):
        needed[literals >> 1] = True
    needed[network.terminal_literal >> 1] = True
    needed[read[start[base_gates] :]] = True
    begins = start.tolist()
    nodes = read.tolist()
    is_needed = needed.tolist()
    loop_ending = {int(high): int(low) for low, high in network.loops}
    gate = base_gates
    while gate > 0:
        # The gates of a loop need each other.
        low = loop_ending.get(gate, gate - 1)
        if any(is_needed[first + low : first + gate]):
            is_needed[first + low : first + gate] = [True] * (gate - low)
            for node in nodes[begins[low] : begins[gate]]:
                is_needed[node] = True
        gate = low
    section = np.where(np.array(is_needed[first:], np.bool_), PLAY, GOALS)
    section[base_gates:] = MOVES
    return section


def _inputs(order: Ints, first: int, start: Ints, read: Ints, negated: Int32s) -> tuple[Ints, Offsets]:
    """Each node's wire, and :attr:`Plan.inputs`, for this order of gates."""
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    wire = np.concatenate((np.arange(first), first + rank))
    by_gate = np.lexsort((wire[read], negated, np.repeat(rank, np.diff(start))))
    return wire, (wire[read[by_gate]] * BYTES).astype(np.uint32)


def levels(network: Network, start: Ints, read: Ints, loop_of: Ints) -> Ints:
    """Per gate the longest path from the inputs; the gates of a loop share one level."""
    first = network.first_gate
    begins = start.tolist()
    nodes = read.tolist()
    loops = network.loops.tolist()
    entered = loop_of.tolist()
    level = [0] * network.nodes
    gate = 0
    while gate < network.gates:
        end = loops[entered[gate]][1] if entered[gate] >= 0 else gate + 1
        below = 0
        for node in nodes[begins[gate] : begins[end]]:
            if level[node] > below:
                below = level[node]
        level[first + gate : first + end] = [below + 1] * (end - gate)
        gate = end
    return np.array(level[first:], np.int64)


def _runs(
    plain: Ints, negated: Ints, loop: Ints, bounds: tuple[int, ...], first_wire: int
) -> tuple[Int32s, Int32s, Ints]:
    """Runs and blocks of gates in plan order, and each block's first gate; no block straddles a bound."""
    gates = len(plain)
    if gates == 0:
        return np.zeros((0, RUN), np.int32), np.zeros((0, BLOCK), np.int32), np.zeros(0, np.int64)
    number = np.arange(gates)
    block_edge = np.diff(loop, prepend=-2) != 0
    block_edge[[b for b in bounds if b < gates]] = True
    run_edge = block_edge | (np.diff(plain, prepend=-1) != 0) | (np.diff(negated, prepend=-1) != 0)
    heads = np.flatnonzero(run_edge)
    begins = np.concatenate(([0], np.cumsum(plain + negated)))[heads]
    runs = np.stack(
        (plain[heads], negated[heads], np.diff(heads, append=gates), begins, first_wire + heads), axis=1
    )
    edges = np.flatnonzero(block_edge)
    ends = np.append(edges[1:], gates)
    run_at = np.append(np.cumsum(run_edge) - 1, len(heads))
    looping = loop[edges] >= 0
    blocks = np.stack(
        (
            run_at[edges],
            run_at[ends],
            np.where(looping, first_wire + number[edges], 0),
            np.where(looping, first_wire + ends, 0),
        ),
        axis=1,
    )
    return runs.astype(np.int32), blocks.astype(np.int32), edges
