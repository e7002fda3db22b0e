"""Pattern databases (J. Culberson and J. Schaeffer, 1998) made from the network, and a beam search by their
sum, for puzzles of pieces in which every move can be undone: cubes, sliding tiles.

A *piece* is a set of base propositions whose next values depend on no others, apart from *holes*: gates that
are true where none of several propositions is, as on the empty square of sliding tiles. Some pieces with all
holes are a *pattern*. A breadth-first search from the goal finds the fewest moves from each state of a
pattern to the goal. It expands whole states, one for each state of the pattern, so it need not know which
moves concern the pattern. Distances only guide the search: nothing is wrong if moves depend on more.

The beam search keeps the states of each layer with the least sum of distances over many patterns. It starts
over with a wider beam, and more patterns, for as long as it has time.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gdl.errors import TooLargeError
from players.solvers import Certainty, LineSolver, Promise, Task
from propnet.analysis.cones import step_clocks
from propnet.analysis.ternary import constant_bases
from propnet.expander import Expander, Expansion
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import lowest_bit
from propnet.kernels.record_table import hash_record, mix
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.passes.circuit import FALSE
from propnet.recoding.samples import sample_states

_MOST_BASES, _MOST_INPUTS = 4000, 100_000
"""The largest network in which pieces are looked for."""
_MOST_HOLES = 512
_MOST_BITS = 64
"""The most propositions of a piece, and the most holes."""
_MOST_STATES = 1 << 12
"""The most states of a piece, with all of the holes..."""
_SPARSE = 4
"""... and the places of its hash table for each of them."""
_ENTRIES = 1 << 19
"""The most states of a pattern, reached or not."""
_PATTERNS = 8
"""Patterns for the first beams; after a wide one as many more."""
_ROWS = 1 << 13
_TELLING = 8
"""Pieces are compared if they have this many states in the sample."""
_SAMPLES, _TRIED, _UNDONE = 1 << 10, 64, 256
"""States of random matches, how many of them are tried for moves that cannot be undone, and how many of these
moves, about."""
_SEEN, _SEEN_SHARE = 1 << 22, 1 / 8
"""The most places for hashes of states that a beam has met, and their share of the memory. A new state takes
the place of an old one."""
_NARROWEST, _WIDE = 1 << 8, 1 << 12
_WIDER = 4
_MOST_MOVES = 1000
_DEEPEST, _UNKNOWN = 253, 255
"""The largest distance that is measured, and the mark of states without one."""

Pieces = tuple[tuple[tuple[int, int], ...], ...]
"""Each piece: pairs of a base proposition and the number of a bit. The bits of what is true are the code of
the piece's state."""


@dataclass(frozen=True, slots=True)
class _Reads:
    """From what the next value of each base proposition is computed, as sets of bits: base propositions,
    moves, and holes, whose numbers are their places in ``gates``."""

    bases: list[int]
    moves: list[int]
    holes: list[int]
    gates: list[int]


def _reads(network: Network, holes: bool) -> _Reads:
    bases, first = len(network.bases), network.first_gate
    starts, literals = network.gate_start.tolist(), network.gate_inputs.tolist()
    inputs = [literals[low:high] for low, high in pairwise(starts)]
    gates = [
        gate
        for gate, own in enumerate(inputs[: network.base_gates] if holes else ())
        if len(own) > 2 and all(literal & 1 and literal >> 1 <= bases for literal in own)
    ][:_MOST_HOLES]
    below = [0, *(1 << node for node in range(first - 1))]
    bits = {gate: 1 << (first - 1 + number) for number, gate in enumerate(gates)}
    for gate, own in enumerate(inputs):
        value = bits.get(gate, 0)
        for literal in own if not value else ():
            value |= below[literal >> 1]
        below.append(value)
    nexts = [below[literal >> 1] for literal in network.next_literals.tolist()]
    low, moves = (1 << bases) - 1, (1 << network.move_count) - 1
    return _Reads(
        [value & low for value in nexts],
        [value >> bases & moves for value in nexts],
        [value >> (first - 1) for value in nexts],
        gates,
    )


def _closures(network: Network, reads: _Reads) -> list[int]:
    """The largest of the sets that contain a base proposition and all on which they depend, apart from step
    clocks and what never changes. Empty if one is too large for a piece."""
    idle = np.flatnonzero(step_clocks(network) | constant_bases(network)).tolist()
    moving = ~sum(1 << base for base in idle)
    closures = set()
    for base in range(len(network.bases)):
        found, todo = 0, 1 << base & moving
        while todo:
            one = todo & -todo
            found |= one
            todo = (todo | reads.bases[one.bit_length() - 1] & moving) & ~found
            if found.bit_count() + todo.bit_count() > _MOST_BITS:
                return []
        closures.add(found)
    kept: list[int] = []
    holders: dict[int, list[int]] = defaultdict(list)
    for closure in sorted(closures - {0}, key=lambda one: (-one.bit_count(), one)):
        if all(closure & ~other for other in holders[closure.bit_length()]):
            kept.append(closure)
            for base in _members(closure):
                holders[base + 1].append(closure)
    return kept


def find_pieces(network: Network, states: NDArray[np.bool_], holes: bool) -> Pieces:
    """The pieces of a game, and whether the last one of them is the holes. Empty if the game has none.

    Args:
        network: the game, of one role.
        states: bool, shape (n, bases): some states. Propositions that the same moves change, and of which one
            is true in each of these at most, are one piece.
    """
    reads = _reads(network, holes)
    alike: dict[int, int] = defaultdict(int)
    pieces = []
    for closure in _closures(network, reads):
        if closure.bit_count() > 1:
            pieces.append(closure)
        else:
            alike[reads.moves[closure.bit_length() - 1]] |= closure
    for piece in alike.values():
        members = _members(piece)
        exclusive = len(members) <= _MOST_BITS and states[:, members].sum(axis=1).max() < 2
        pieces += [piece] if exclusive else [1 << base for base in members]
    found: list[tuple[tuple[int, int], ...]] = [
        tuple((base, bit) for bit, base in enumerate(_members(piece)))
        for piece in _without_copies(pieces, states)
    ]
    everything = 0
    for read in reads.holes:
        everything |= read
    gates = [reads.gates[number] for number in _members(everything)]
    if len(gates) > _MOST_BITS or bool(gates) != holes:
        return ()
    if gates:
        bounds = [network.gate_start[gate : gate + 2].tolist() for gate in gates]
        inputs = [network.gate_inputs[low:high].tolist() for low, high in bounds]
        found.append(tuple((literal // 2 - 1, bit) for bit, own in enumerate(inputs) for literal in own))
    return tuple(found)


def _without_copies(pieces: list[int], states: NDArray[np.bool_]) -> list[int]:
    """One piece of those of which each tells the states of the others: of the stickers of a cubie one."""
    kept: dict[bytes, int] = {}
    for number, piece in enumerate(pieces):
        bits = np.packbits(states[:, _members(piece)], axis=1)
        _, first, labels = np.unique(bits, axis=0, return_index=True, return_inverse=True)
        ranks = np.argsort(np.argsort(first))[labels.ravel()]
        few = len(first) < _TELLING
        kept.setdefault(number.to_bytes(4) if few else ranks.tobytes(), piece)
    return list(kept.values())


def _members(bits: int) -> list[int]:
    members = []
    while bits:
        members.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return members


def _bases_of_goal(network: Network) -> list[int]:
    """Base propositions that are true wherever the goal is 100; empty if that goal does not exist."""
    todo, found = [int(literal) for _, value, literal in network.goals if value == 100], set[int]()
    while todo:
        literal = todo.pop()
        if literal & 1:
            continue
        gate = (literal >> 1) - network.first_gate
        if gate >= 0:
            todo += network.gate_inputs[network.gate_start[gate] : network.gate_start[gate + 1]].tolist()
        elif literal:
            found.add((literal >> 1) - 1)
    return sorted(found)


class _Codes:
    """Reads the states of pieces from records.

    Attributes:
        first: int32, shape (bases + 1,): base b has the entries from ``first[b]`` to ``first[b + 1]``.
        piece, bit: int32 and uint64, shape (entries,): the piece, and the bit of its code.
        keys, numbers: uint64 and int32, shape (pieces, slots): hash tables of the codes, and the number of
            each among the states of its piece, -1 where there is none.
        sizes: the number of states of each piece, 0 while they are unknown.
    """

    def __init__(self, pieces: Pieces, bases: int) -> None:
        entries = sorted((base, piece, bit) for piece, pairs in enumerate(pieces) for base, bit in pairs)
        counts = np.bincount([base for base, _, _ in entries], minlength=bases)
        self.first: Int32s = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        self.piece: Int32s = np.array([piece for _, piece, _ in entries], np.int32)
        self.bit: Words = np.array([1 << bit for _, _, bit in entries], np.uint64)
        self.keys, self.numbers = np.zeros((0, 0), np.uint64), np.zeros((0, 0), np.int32)
        self.sizes = [0] * len(pieces)
        self._of_piece = np.zeros((len(pieces), bases), np.bool_)
        for base, piece, _ in entries:
            self._of_piece[piece, base] = True

    def mask(self, pieces: list[int]) -> Words:
        """The propositions of some pieces as a record, shape (words,)."""
        mask: Words = pack(np.any(self._of_piece[pieces], axis=0, keepdims=True))[0]
        return mask

    def arguments(self, mask: Words) -> tuple[Words, Int32s, Int32s, Words, Words, Int32s]:
        """The arguments of kernels that read the states of pieces within a mask, shape (words,)."""
        return mask, self.first, self.piece, self.bit, self.keys, self.numbers

    def of(self, records: Words, mask: Words) -> Words:
        """The codes of pieces, shape (n, pieces); only propositions in the mask, shape (words,), count."""
        codes = np.zeros((len(records), len(self.sizes)), np.uint64)
        for row in range(len(records)):
            _read(records, row, mask, self.first, self.piece, self.bit, codes[row])
        return codes

    def number(self, codes: list[Words]) -> None:
        """Number the states of each piece, given by their codes, all different."""
        self.sizes = [len(own) for own in codes]
        slots = 1 << (_SPARSE * max(self.sizes) - 1).bit_length()
        self.keys = np.zeros((len(codes), slots), np.uint64)
        self.numbers = np.full((len(codes), slots), -1, np.int32)
        for piece, own in enumerate(codes):
            _number(self.keys[piece], self.numbers[piece], own)


@kernel
def _read(
    records: Words, row: Index, mask: Words, first: Int32s, piece: Int32s, bit: Words, codes: Words
) -> None:
    """Write the codes of all pieces, shape (pieces,)."""
    codes[:] = 0
    for word in range(mask.size):
        left = records[row, word] & mask[word]
        while left:
            base = 64 * word + lowest_bit(left)
            left &= left - np.uint64(1)
            for entry in range(first[base], first[base + 1]):
                codes[piece[entry]] |= bit[entry]


@inner
def _slot(code: np.uint64, slots: Index) -> Index:
    slot: Index = np.int64(mix(np.uint64(0), code) & np.uint64(slots - 1))
    return slot


@kernel
def _number(keys: Words, numbers: Int32s, codes: Words) -> None:
    for number in range(len(codes)):
        slot = _slot(codes[number], len(keys))
        while numbers[slot] >= 0:
            slot = (slot + 1) & (len(keys) - 1)
        keys[slot], numbers[slot] = codes[number], number


@inner
def _numbered(keys: Words, numbers: Int32s, piece: Index, code: np.uint64) -> Index:
    """The number of a state of a piece, -1 if it was not met."""
    slot = _slot(code, keys.shape[1])
    while numbers[piece, slot] >= 0 and keys[piece, slot] != code:
        slot = (slot + 1) & (keys.shape[1] - 1)
    return np.int64(numbers[piece, slot])


@kernel(nogil=True)
def _claim(
    records: Words, mask: Words, first: Int32s, piece: Int32s, bit: Words, keys: Words, numbers: Int32s,
    members: Ints, strides: Ints, codes: Words, table: Octets, depth: Index,
) -> Index:  # fmt: skip
    """Give each state of a pattern that has none yet this depth, and move its record, the first one, to the
    front. Returns the number of these."""
    new = 0
    for row in range(len(records)):
        _read(records, row, mask, first, piece, bit, codes)
        place: Index = 0
        for i in range(members.size):
            number = _numbered(keys, numbers, members[i], codes[members[i]])
            if number < 0:
                place = -1
                break
            place += strides[i] * number
        if place >= 0 and table[place] == _UNKNOWN:
            table[place] = depth
            records[new] = records[row]
            new += 1
    return new


@kernel(nogil=True)
def _rank(
    records: Words, mask: Words, first: Int32s, piece: Int32s, bit: Words, keys: Words, numbers: Int32s,
    members: Ints, strides: Ints, starts: Ints, tables: Octets, codes: Words, local: Ints, seen: Words,
    ranks: Int32s,
) -> None:  # fmt: skip
    """Write the sum of the distances of each state over all patterns, or -1 if the state was seen before.

    Args:
        members, strides: shape (patterns, pieces of one); -1 and 0 where a pattern has fewer.
        starts, tables: the table of each pattern begins there.
    """
    last = np.uint64(len(seen) - 1)
    for row in range(len(records)):
        h = hash_record(records, row, mask) | np.uint64(1)
        slot = h >> np.uint64(1) & last
        if seen[slot] == h:
            ranks[row] = -1
            continue
        seen[slot] = h
        _read(records, row, mask, first, piece, bit, codes)
        for p in range(codes.size):
            local[p] = _numbered(keys, numbers, p, codes[p])
        total: Index = 0
        for pattern in range(members.shape[0]):
            place: Index = starts[pattern]
            for i in range(members.shape[1]):
                member = members[pattern, i]
                if member < 0:
                    break
                if local[member] < 0:
                    place = -1
                    break
                place += strides[pattern, i] * local[member]
            total += np.int64(tables[place]) if place >= 0 else _UNKNOWN
        ranks[row] = total


class _Distances:
    """The distances of patterns of random pieces, measured in small parts.

    Attributes:
        codes: reads the states of the pieces.
        mask: uint64, shape (words,): all but step clocks.
        tables: of each pattern its pieces, their strides in the table, and the distances.
        states: the number of states that were looked at.
        done: whether there are no more patterns to measure.
    """

    def __init__(self, expander: Expander, pieces: Pieces, holes: bool, goal: Words, seed: int) -> None:
        network = expander.machine.network
        self._expander = expander
        self._goal, self._holes = goal, holes
        self._rng = np.random.default_rng(seed)
        self.codes = _Codes(pieces, len(network.bases))
        self.mask: Words = pack(~step_clocks(network)[None, :])[0]
        self.tables: list[tuple[list[int], list[int], Octets]] = []
        self.states = 0
        self.done = False
        self._work = chain(self._learn(), self._measured())

    def more(self, patterns: int) -> Iterator[None]:
        """Work until this number of patterns is measured, or none are left to measure."""
        while len(self.tables) < patterns and not self.done:
            self.done = next(self._work, self) is self
            yield

    def _explore(self, claim: Callable[[Words, int], Words], deepest: int) -> Iterator[None]:
        """Search breadth-first from the goal, to a depth. ``claim`` gets successors and their depth, and
        returns a copy of those to go on from."""
        front, depth = [self._goal], 0
        while front and depth < deepest:
            depth += 1
            following = []
            for records in front:
                for chunk in self._expander.stream(records):
                    new = claim(chunk.records, depth)
                    if len(new):
                        following.append(new)
                    yield
            front = following

    def _learn(self) -> Iterator[None]:
        """Find the states of each piece, by a search from the goal that tells apart the states of this piece
        and the holes. They stay unknown if they are too many."""
        codes, pieces = self.codes, len(self.codes.sizes)
        known = []
        for piece in range(pieces):
            pair, found = [piece, pieces - 1] if self._holes else [piece], set[tuple[int, ...]]()
            for _ in self._explore(partial(self._unmet, pair, codes.mask(pair), found), 1 + _MOST_STATES):
                if len(found) > _MOST_STATES:
                    return
                yield
            known.append(np.array(sorted({key[0] for key in found}), np.uint64))
        codes.number(known)

    def _unmet(
        self, pair: list[int], mask: Words, found: set[tuple[int, ...]], records: Words, depth: int
    ) -> Words:
        """The states in which these pieces have codes that were not found yet."""
        new = []
        for row, key in enumerate(map(tuple, self.codes.of(records, mask)[:, pair].tolist())):
            if key not in found:
                found.add(key)
                new.append(row)
        return records[new]

    def _measured(self) -> Iterator[None]:
        """Measure pattern after pattern; one is enough if all pieces fit into it."""
        sizes = self.codes.sizes
        if not all(sizes):
            return
        pieces = len(sizes) - self._holes
        always = [pieces] if self._holes else []
        order: list[int] = []
        while True:
            members, entries = list(always), int(np.prod([sizes[piece] for piece in always], dtype=np.int64))
            while len(members) < len(sizes):
                order = order or [
                    piece for piece in self._rng.permutation(pieces).tolist() if piece not in members
                ]
                if entries * sizes[order[-1]] > _ENTRIES:
                    break
                entries *= sizes[order[-1]]
                members.append(order.pop())
            if len(members) == len(always):
                return
            yield from self._measure(members, entries)
            if len(members) == len(sizes):
                return

    def _measure(self, members: list[int], entries: int) -> Iterator[None]:
        codes = self.codes
        sizes = [codes.sizes[piece] for piece in members]
        strides = [1, *np.cumprod(sizes[:-1]).tolist()]
        table = np.full(entries, _UNKNOWN, np.uint8)
        scratch = np.zeros(len(codes.sizes), np.uint64)
        fixed = codes.arguments(codes.mask(members))
        parts = np.array(members, np.int64), np.array(strides, np.int64), scratch, table
        _claim(self._goal.copy(), *fixed, *parts, 0)

        def claim(records: Words, depth: int) -> Words:
            self.states += len(records)
            return records[: _claim(records, *fixed, *parts, depth)].copy()

        yield from self._explore(claim, _DEEPEST)
        known = table != _UNKNOWN
        table[~known] = min(int(table[known].max()) + 1, _DEEPEST)
        self.tables.append((members, strides, table))


class _Ranks:
    """Ranks states that it has not seen before by the sum of their distances."""

    def __init__(self, distances: _Distances, memory: int) -> None:
        codes, tables = distances.codes, distances.tables
        most = max(len(members) for members, _, _ in tables)
        self._members = np.full((len(tables), most), -1, np.int64)
        self._strides = np.zeros((len(tables), most), np.int64)
        for row, (members, strides, _) in enumerate(tables):
            self._members[row, : len(members)] = members
            self._strides[row, : len(strides)] = strides
        sizes = [len(table) for _, _, table in tables]
        self._starts: Ints = np.cumsum([0, *sizes[:-1]]).astype(np.int64)
        self._tables = np.concatenate([table for _, _, table in tables])
        self._fixed = codes.arguments(distances.mask)
        self._codes, self._local = np.zeros(len(codes.sizes), np.uint64), np.zeros(len(codes.sizes), np.int64)
        places = max(1, min(_SEEN, int(memory * _SEEN_SHARE) // 8))
        self._seen = np.zeros(1 << (places.bit_length() - 1), np.uint64)

    def of(self, records: Words) -> Int32s:
        """int32, shape (n,): the sums, -1 for states seen before."""
        ranks = np.empty(len(records), np.int32)
        _rank(
            records, *self._fixed, self._members, self._strides, self._starts, self._tables, self._codes,
            self._local, self._seen, ranks,
        )  # fmt: skip
        return ranks


def _unending(machine: PropnetMachine) -> Expander:
    """An expander for the same game that never ends, so that the goal has successors."""
    network = replace(machine.network, terminal_literal=FALSE)
    return Expander(PropnetMachine(machine.rules, network), _ROWS)


def _can_be_undone(expander: Expander, records: Words, mask: Words) -> bool:
    """Whether from each of some successors of these states, unless it is the same, a move leads back."""
    try:
        first = expander.expand(records)
        before, after = records[first.parents] & mask, first.records & mask
        changed = np.flatnonzero((before != after).any(axis=1))
        changed = changed[:: max(1, len(changed) // _UNDONE)]
        second = expander.expand(first.records[changed])
    except TooLargeError:
        return False
    same = (second.records & mask == before[changed][second.parents]).all(axis=1)
    return 0 < len(np.unique(second.parents[same])) == len(changed)


def _complete(pieces: Pieces, states: NDArray[np.bool_], goal: Words) -> bool:
    """Whether as many propositions of each piece are true in the goal as in some of these states: the goal
    says where each piece is."""
    wanted = unpack(goal, states.shape[1])[0].astype(np.bool_)
    members = [[base for base, _ in piece] for piece in pieces]
    return all((states[:, own].sum(axis=1) == wanted[own].sum()).any() for own in members)


class PatternDatabases(LineSolver):
    """Measures distances, then searches in beams, wider and wider ones, for shorter lines too. It gives up at
    once if there are no pieces, if the goal is not one state, or if some move cannot be undone. The distances
    stay for other starts."""

    name = "patterns"
    shortens = True
    _known: ClassVar[tuple[Network, int, list[_Distances]] | None] = None

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._memory = task.memory
        self._seed, self._rng = task.seed, np.random.default_rng(task.seed)
        self._best = -1
        self._most = _MOST_MOVES  # longer lines are of no interest
        self._work = self._search()

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        network = machine.network
        small = 0 < len(network.bases) <= _MOST_BASES and len(network.gate_inputs) <= _MOST_INPUTS
        if not small or len(network.loops) or not _bases_of_goal(network):
            return None
        found = any(_closures(network, _reads(network, holes)) for holes in (False, True))
        return Promise(Certainty.FINDS) if found else None

    def step(self, deadline: float) -> bool:
        while time.monotonic() < deadline:
            if next(self._work, self) is self:
                return True
        return False

    def _search(self) -> Iterator[None]:
        network, thread = self.machine.network, threading.get_ident()
        known = PatternDatabases._known
        if known is None or known[0] is not network or known[1] != thread:
            known = PatternDatabases._known = network, thread, list(self._ways())
        for distances in known[2]:
            if self._best < 100:
                yield from self._widen(distances)

    def _ways(self) -> Iterator[_Distances]:
        """The ways to divide the game into pieces: with holes, and without. None if the goal is not one
        state, or if some move cannot be undone."""
        machine, network, goal = self.machine, self.machine.network, self._goal()
        states = sample_states(machine, _SAMPLES)
        some = states[:: max(1, len(states) // _TRIED)]
        some = some[~machine.evaluate(some).terminal]
        expander = _unending(machine)
        if goal is None or not _can_be_undone(expander, some, pack(~step_clocks(network)[None, :])[0]):
            return
        bits = unpack(states, len(network.bases)).astype(np.bool_)
        for holes in (True, False):
            pieces = find_pieces(network, bits, holes)
            if len(pieces) - holes > 1 and _complete(pieces, bits, goal):
                yield _Distances(expander, pieces, holes, goal, self._seed)

    def _widen(self, distances: _Distances) -> Iterator[None]:
        """Search in wider and wider beams, with more and more patterns."""
        width, patterns = _NARROWEST, _PATTERNS
        while width * _WIDER * 8 * (self.machine.words + 40) < self._memory:
            yield from distances.more(patterns)
            if not distances.tables:
                return
            yield from self._beam(_Ranks(distances, self._memory), width)
            patterns += _PATTERNS if width >= _WIDE else 0
            width *= _WIDER
        self.states += distances.states

    def _goal(self) -> Words | None:
        """The only state with goal 100, shape (1, words); None if there are several."""
        network = self.machine.network
        bits = np.zeros(len(network.bases), np.bool_)
        bits[_bases_of_goal(network)] = True
        bits |= np.asarray(network.initial, np.bool_) & (constant_bases(network) | step_clocks(network))
        record = pack(bits[None, :])
        evaluation = self.machine.evaluate(record)
        return record if evaluation.terminal[0] and evaluation.goals[0, 0] == 100 else None

    def _beam(self, ranks: _Ranks, width: int) -> Iterator[None]:
        """Search with a beam of this width."""
        expander = Expander(self.machine, _ROWS)
        records = self.machine.records([self.start]).copy()
        trail: list[tuple[Int32s, Int32s]] = []
        ranks.of(records)
        while len(records) and len(trail) < self._most:
            layer = _Layer(width)
            for chunk in expander.stream(records, judged=True):
                self.states += len(chunk)
                self._note_ends(chunk, trail)
                if len(trail) == self._most:
                    return
                sums = ranks.of(chunk.records)
                going = np.flatnonzero((sums >= 0) & ~chunk.terminal)
                layer.add(sums[going] + self._rng.random(len(going)), chunk, going)
                yield
            layer.thin()
            records = layer.records
            trail.append((layer.parents, layer.moves))

    def _note_ends(self, chunk: Expansion, trail: list[tuple[Int32s, Int32s]]) -> None:
        """Report the best end among these successors if it is better than all previous ones, or the goal in
        fewer moves."""
        ends = np.flatnonzero(chunk.terminal)
        if not len(ends) or ((value := int(chunk.goals[ends, 0].max())) <= self._best and value < 100):
            return
        self._best = value
        end = int(ends[np.argmax(chunk.goals[ends, 0])])
        place, moves = int(chunk.parents[end]), [int(chunk.moves[end, 0])]
        for parents, made in reversed(trail):
            moves.append(int(made[place]))
            place = int(parents[place])
        self.report(value, moves[::-1])
        if value == 100:
            self._most = len(trail)

    @classmethod
    def warm_up(cls, machine: PropnetMachine) -> None:
        bases = len(machine.network.bases)
        start = machine.records([machine.initial_state()]).copy()
        expander = _unending(machine)
        _can_be_undone(expander, start, pack(np.ones((1, bases), np.bool_))[0])
        pieces = tuple(((base, 0),) for base in range(min(bases, 4)))
        distances = _Distances(expander, pieces, False, start, 0)
        for _ in distances.more(1):
            pass
        if distances.tables:
            _Ranks(distances, 1 << 20).of(start)


class _Layer:
    """The states of one layer with the lowest ranks: ``records``, and for each its ``parents`` place in the
    layer before and the ``moves`` from there."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._parts: list[tuple[NDArray[np.float64], Int32s, Int32s, Words]] = []
        self._held = 0
        self.parents = self.moves = np.zeros(0, np.int32)
        self.records = np.zeros((0, 1), np.uint64)

    def add(self, ranks: NDArray[np.float64], chunk: Expansion, rows: NDArray[np.intp]) -> None:
        """Add these successors with their ranks."""
        self._parts.append((ranks, chunk.parents[rows], chunk.moves[rows, 0], chunk.records[rows]))
        self._held += len(rows)
        if self._held > 3 * self._width:
            self.thin()

    def thin(self) -> None:
        """Keep the best, as many as the beam is wide."""
        if not self._parts:
            return
        ranks, parents, moves, records = (np.concatenate(arrays) for arrays in zip(*self._parts, strict=True))
        if len(ranks) > self._width:
            best = np.argpartition(ranks, self._width)[: self._width]
            ranks, parents, moves, records = ranks[best], parents[best], moves[best], records[best]
        self._parts, self._held = [(ranks, parents, moves, records)], len(ranks)
        self.parents, self.moves, self.records = parents, moves, np.ascontiguousarray(records)
