"""`OneState`: the network settled on one state, for questions and steps from Python.

The kernels of a single state flip the nodes that changed, settle the gates that these reach, and return the
results.

Event-driven evaluation in level order, as in logic simulators (Ulrich, "Exclusive simulation of activity in
digital networks", 1969): every gate is evaluated at most once a step, and most are not evaluated at all.
"""

from __future__ import annotations

import random
import time
from collections.abc import Hashable, Sequence
from typing import Any, cast

import numpy as np
from numba import types
from numpy.typing import NDArray

from gdl.errors import MoveError
from propnet.jit.arrays import Index, Int32s, Ints, Words
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
from propnet.kernels.records import pack, unpack
from propnet.network import Network
from propnet.single.wiring import (
    BREAK,
    EXTRA,
    EXTRAS,
    LEVEL_SHIFT,
    MOST_HUBS,
    ROW,
    SINGLES,
    SINK,
    TELL,
    VALUE_SHIFT,
    WAITS_SHIFT,
    Wires,
    WireSizes,
    wire_up,
)

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
