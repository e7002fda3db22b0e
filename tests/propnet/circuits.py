"""Networks made by hand or by chance, and a plain evaluator to hold the kernels against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gdl.rules import Rules
from gdl.terms import Term
from propnet.jit.arrays import Index, Ints, Offsets, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import BYTES, LANES, aligned
from propnet.kernels.records import read_lanes, record_words, transpose, write_lanes
from propnet.machine import PropnetMachine
from propnet.network import Network


class Circuit:
    """Gates one after another: gates of bases first, then :meth:`moves_from_here`."""

    def __init__(self, bases: Sequence[Term], moves: Sequence[Sequence[Term]]) -> None:
        self.bases = tuple(bases)
        self.moves = tuple(map(tuple, moves))
        self.first_gate = 1 + len(bases) + sum(map(len, moves))
        self.start = [0]
        self.inputs: list[int] = []
        self.base_gates: int | None = None

    def base(self, name: Term) -> int:
        return 2 * (1 + self.bases.index(name))

    def move(self, role: int, name: Term) -> int:
        before = sum(len(moves) for moves in self.moves[:role])
        return 2 * (1 + len(self.bases) + before + self.moves[role].index(name))

    def all_of(self, literals: Iterable[int]) -> int:
        self.inputs += literals
        self.start.append(len(self.inputs))
        return 2 * (self.first_gate + len(self.start) - 2)

    def any_of(self, literals: Iterable[int]) -> int:
        return self.all_of(literal ^ 1 for literal in literals) ^ 1

    def moves_from_here(self) -> None:
        self.base_gates = len(self.start) - 1

    def network(
        self,
        following: Sequence[int],
        legal: Sequence[int],
        goals: Sequence[tuple[int, int, int]],
        terminal: int,
        initial: Sequence[bool],
        loops: Sequence[tuple[int, int]] = (),
        loop_init: Sequence[int] = (),
    ) -> Network:
        gates = len(self.start) - 1
        return Network(
            roles=tuple(Term(f"role{r}") for r in range(len(self.moves))),
            bases=self.bases,
            moves=self.moves,
            gate_start=np.array(self.start, np.int32),
            gate_inputs=np.array(self.inputs, np.int32),
            base_gates=gates if self.base_gates is None else self.base_gates,
            loops=np.array(loops, np.int32).reshape(-1, 2),
            loop_init=np.array(loop_init, np.uint8) if len(loop_init) else np.zeros(gates, np.uint8),
            next_literals=np.array(following, np.int32),
            legal_literals=np.array(legal, np.int32),
            goals=np.array(goals, np.int32).reshape(-1, 3),
            terminal_literal=terminal,
            initial=np.array(initial, np.bool_),
        )


def term(name: str, *args: int | str) -> Term:
    return Term(name, *(Term(str(arg)) for arg in args))


CELLS = tuple(product((1, 2, 3), repeat=2))
LINES = (
    *(tuple((r, c) for c in (1, 2, 3)) for r in (1, 2, 3)),
    *(tuple((r, c) for r in (1, 2, 3)) for c in (1, 2, 3)),
    ((1, 1), (2, 2), (3, 3)),
    ((1, 3), (2, 2), (3, 1)),
)


def tic_tac_toe() -> Network:
    """X (role 0) and O take turns; who does not move says noop."""
    marked = [term("cell", *cell, mark) for mark in "xo" for cell in CELLS]
    noop = term("noop")
    moves = (*(term("mark", *cell) for cell in CELLS), noop)
    c = Circuit([*marked, term("control")], [moves, moves])
    turn = c.base(term("control"))  # true while X is to move
    full = [c.any_of(c.base(term("cell", *cell, mark)) for mark in "xo") for cell in CELLS]
    wins = [
        c.any_of([c.all_of([c.base(term("cell", *cell, mark)) for cell in line]) for line in LINES])
        for mark in "xo"
    ]
    draw = c.all_of([c.all_of(full), wins[0] ^ 1, wins[1] ^ 1])
    terminal = c.any_of([*wins, draw])
    legal = [
        *(c.all_of([turn, taken ^ 1]) for taken in full),
        turn ^ 1,
        *(c.all_of([turn ^ 1, taken ^ 1]) for taken in full),
        turn,
    ]
    c.moves_from_here()
    following = [
        c.any_of([c.base(term("cell", *cell, mark)), c.move(role, term("mark", *cell))])
        for role, mark in enumerate("xo")
        for cell in CELLS
    ]
    goals = [
        (role, value, literal)
        for role in (0, 1)
        for value, literal in ((100, wins[role]), (50, draw), (0, wins[1 - role]))
    ]
    return c.network([*following, turn ^ 1], legal, goals, terminal, [False] * 18 + [True])


def random_network(
    rng: Generator, bases: int, moves: Sequence[int], gates: int, widest: int = 6, loops: int = 0
) -> Network:
    """Gates of any width and polarity over any earlier nodes, some of them in positive loops."""
    names = [term("b", i) for i in range(bases)]
    c = Circuit(names, [[term("m", i) for i in range(n)] for n in moves])
    below = [2 * (1 + b) for b in range(bases)]
    spans: list[tuple[int, int]] = []
    init: list[int] = []

    def pick(pool: list[int], most: int) -> list[int]:
        width = int(rng.integers(0, most + 1))
        return [int(rng.choice(pool)) ^ int(rng.integers(0, 2)) for _ in range(width)]

    def grow(count: int, loops: int) -> None:
        for _ in range(count):
            below.append(c.all_of(pick(below, widest)))
            init.append(0)
        for _ in range(loops):
            _add_loop(rng, c, below, spans, init)

    grow(gates // 2, loops)
    ready = [*below, 0]
    c.moves_from_here()
    below.extend(2 * (1 + bases + m) for m in range(sum(moves)))
    grow(gates - gates // 2, loops)

    def outputs(pool: list[int], count: int) -> list[int]:
        return [int(rng.choice(pool)) ^ int(rng.integers(0, 2)) for _ in range(count)]

    rows = [(role, value) for role in range(len(moves)) for value in (0, 50, 100)]
    goals = [(*row, literal) for row, literal in zip(rows, outputs(ready, len(rows)), strict=True)]
    return c.network(
        outputs([*below, 0], bases),
        outputs(ready, sum(moves)),
        goals,
        outputs(ready, 1)[0],
        list(rng.integers(0, 2, size=bases) > 0),
        spans,
        init,
    )


def _add_loop(
    rng: Generator, c: Circuit, below: list[int], spans: list[tuple[int, int]], init: list[int]
) -> None:
    """Reachability on a random graph: ``r_i = seed_i or (edge_ij and r_j) ...``, so that the
    loop's gates come as negated ORs that start at 1 and ANDs that start at 0."""
    n = int(rng.integers(2, 7))
    first = len(c.start) - 1
    node = 2 * c.first_gate
    edges = [[int(j) for j in range(n) if rng.random() < 0.4] for _ in range(n)]
    ands: dict[tuple[int, int], int] = {}
    at = first
    for i, targets in enumerate(edges):
        for j in targets:
            ands[i, j] = node + 2 * at
            at += 1
    ors = [(node + 2 * (at + i)) ^ 1 for i in range(n)]
    for _, j in ands:
        c.all_of([ors[j], int(rng.choice(below))])
        init.append(0)
    for i, targets in enumerate(edges):
        c.any_of([int(rng.choice(below)) ^ int(rng.integers(0, 2)), *(ands[i, j] for j in targets)])
        init.append(1)
    spans.append((first, len(c.start) - 1))
    below.extend(ors)


def network_words(network: Network, bases: Sequence[int], does: Sequence[int], full: int = 1) -> list[int]:
    """The word of every node of a network, gate by gate as its docstring tells, for as many assignments as
    words have bits; ``full`` is true in all. Checks that base gates read no moves."""
    values = [full, *bases, *does] + [0] * network.gates
    first = network.first_gate
    reads = [
        network.gate_inputs[network.gate_start[g] : network.gate_start[g + 1]].tolist()
        for g in range(network.gates)
    ]
    past = {int(a): int(b) for a, b in network.loops}

    def literal(x: int) -> int:
        return values[x >> 1] ^ (full if x & 1 else 0)

    def evaluate(gate: int) -> bool:
        word = full
        for x in reads[gate]:
            word &= literal(x)
        changed = values[first + gate] != word
        values[first + gate] = word
        return changed

    gate = 0
    while gate < network.gates:
        end = past.get(gate)
        if end is None:
            for x in reads[gate]:
                node = x >> 1
                assert node < first + gate
                assert gate >= network.base_gates or node < 1 + len(bases) or node >= first
            evaluate(gate)
            gate += 1
            continue
        assert not gate < network.base_gates < end
        for g in range(gate, end):
            values[first + g] = full if network.loop_init[g] else 0
        while sum(evaluate(g) for g in range(gate, end)):
            pass
        gate = end
    return values


def naive(network: Network, bases: NDArray[np.bool_], joint: Sequence[int] | None = None) -> list[bool]:
    """The value of every literal of a network in one state."""
    does, at = [0] * network.move_count, 0
    for role, moves in enumerate(network.moves):
        if joint is not None:
            does[at + joint[role]] = 1
        at += len(moves)
    words = network_words(network, [int(bit) for bit in bases], does)
    return [bool(word) != negated for word in words for negated in (False, True)]


@cache
def exact(x: frozenset, o: frozenset) -> dict[tuple[int, int], Fraction]:
    """Chance of each (goal of X, length still to go) under uniformly random play."""
    for mine, goal in ((x, 100), (o, 0)):
        if any(mine.issuperset(line) for line in LINES):
            return {(goal, 0): Fraction(1)}
    free = {cell for line in LINES for cell in line} - x - o
    if not free:
        return {(50, 0): Fraction(1)}
    chances: dict[tuple[int, int], Fraction] = {}
    for cell in free:
        after = exact(x | {cell}, o) if len(x) == len(o) else exact(x, o | {cell})
        for (goal, length), chance in after.items():
            chances[goal, length + 1] = chances.get((goal, length + 1), Fraction(0)) + chance / len(free)
    return chances


def countdown(bits: int = 6) -> PropnetMachine:
    """A binary counter: each step subtracts 1; ends at 0 with the goal that the low bits of a
    label, which no step changes, say. One playout from a record has one possible result."""
    names = [term("bit", i) for i in range(bits)] + [term("label", i) for i in range(6)]
    c = Circuit(names, [[term("tick"), term("tock")]])
    count = [c.base(name) for name in names[:bits]]
    label = [c.base(name) for name in names[bits:]]
    zero = c.all_of(x ^ 1 for x in count)
    goals = []
    for value in range(64):
        wanted = [x if value >> i & 1 else x ^ 1 for i, x in enumerate(label)]
        goals.append((0, value, c.all_of(wanted)))
    following = []
    for i, x in enumerate(count):
        borrow = c.all_of(y ^ 1 for y in count[:i])
        differ = c.any_of([c.all_of([x, borrow ^ 1]), c.all_of([x ^ 1, borrow])])
        following.append(differ)
    return PropnetMachine(
        Rules(()), c.network([*following, *label], [0, 0], goals, zero, [True] * bits + [False] * 6)
    )


# --- Records to their sliced form and back, as tests want it
@kernel
def transposed(block: Words) -> None:
    """:func:`propnet.kernels.records.transpose`, which only kernels call."""
    transpose(block)


@kernel
def _write(records: Words, n: Index, wires: Words, bits: Index) -> None:
    write_lanes(records, np.int64(0), n, wires, np.int64(0), bits)


@kernel
def _read(wires: Words, offsets: Offsets, signs: Ints, records: Words, n: Index) -> None:
    read_lanes(wires, offsets, signs, records, np.int64(0), n)


def to_sliced(records: Words, bits: int) -> Words:
    """The sliced form (bits, 8) of up to 512 records (n, words); lanes past the n-th are 0."""
    if len(records) > LANES:
        raise ValueError(f"{len(records)} records, but a sliced array has {LANES} lanes")
    sliced = aligned(bits)
    _write(np.ascontiguousarray(records, np.uint64), len(records), sliced, bits)
    return sliced


def to_records(sliced: Words, n: int) -> Words:
    """Records (n, words) of the first n lanes of a sliced array (bits, 8)."""
    if n > LANES:
        raise ValueError(f"{n} records, but a sliced array has {LANES} lanes")
    bits = len(sliced)
    records = np.zeros((n, record_words(bits)), np.uint64)
    offsets = np.arange(bits, dtype=np.uint32) * np.uint32(BYTES)
    _read(np.ascontiguousarray(sliced), offsets, np.zeros(bits, np.int64), records, n)
    return records
