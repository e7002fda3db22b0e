"""`OneState`: the network settled on one state, asked and moved on from Python."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Hashable, Sequence
from typing import Any, cast

import numpy as np
from numba import types
from numpy.typing import NDArray

from gdl.errors import MoveError
from propnet.jit.intrinsics import entry, python_object
from propnet.kernels.records import pack, record_words, unpack
from propnet.network import Network
from propnet.single.kernels import COPIED, Wires, WireSizes, answer, worth
from propnet.single.wiring import Wiring, wire_up

MOST_HUBS = 4
"""Bases that choose the copy of the wires to which a state goes."""
OFTEN = 0.3
"""The share of steps in which a hub flips, at least."""
SHARE = 0.05
"""The share of all that flips cost in which a hub has part, at least."""
WALK = 64
"""States of the walk that finds the hubs."""
WORTH_IT = 0.85
"""Copies are kept where the walk takes at most this share of the time that it takes without."""
TRIALS = 5
"""How often the walk is timed with and without copies; the fastest counts."""
MOST_TRIED = 0.02
"""Seconds of a walk after which it is not timed again."""
MOST_COPIED = 64 << 20
"""Bytes of the wires that are copied."""


class OneState:
    """What holds in one state of a network, and what follows a joint move.

    States are keys: the bytes of their records (:mod:`propnet.kernels.records`). Going to a state costs what
    changes from the last one with the same role in turn (:func:`hubs_of`), so questions about a state and its
    successors are cheap, those about a state far away cost up to a whole evaluation. Only one thread at a
    time may use it.

    Attributes:
        key: of the state that it is at; None before the first question.
        terminal: whether that one is terminal, 0 or 1.
        legal: per role the ids of the moves that it may make there, ascending.
    """

    __slots__ = (
        "_address", "_answer", "_arrays", "_target", "_there", "_valued", "_worth",
        "key", "legal", "terminal",
    )  # fmt: skip

    def __init__(self, network: Network) -> None:
        wiring = wire_up(network)
        roles, bases = len(network.roles), len(network.bases)
        record = record_words(bases)
        sizes = WireSizes(roles, bases, record, len(wiring.answers), *wiring.level_ends, wiring.goal_bits, 0)
        arrays: dict[str, NDArray[Any]] = {
            field.name: getattr(wiring, field.name) for field in dataclasses.fields(Wiring)
        }
        arrays |= {
            "current": np.zeros(record, np.uint64),
            "target": np.zeros(record, np.uint64),
            "joint": np.zeros(roles, np.int64),
            "made": np.full(roles, -1, np.int64),
            # Python's own hash of each proposition: a state's is that of its propositions, on any machine.
            "marks": np.array([*map(hash, network.bases)], np.int64),
            "role_moves": np.cumsum([0, *map(len, network.moves)]).astype(np.int32),
            "legal": np.zeros(network.move_count, np.int32),
            "worth": np.zeros(2 * roles, np.int64),
            "sizes": np.array(sizes, np.int64),
            "mark": np.zeros(1, np.int64),
            "hubs": np.zeros(MOST_HUBS, np.int32),
            "copies": np.zeros(1 << MOST_HUBS, np.int64),
            "here": np.zeros(1, np.int64),
        }
        arrays = {name: np.ascontiguousarray(arrays[name]) for name in Wires._fields}
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
        """Give each value of the hubs that is met on a walk a copy of its own, if the walk is faster so."""
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
            copy = _Copy({name: array.copy() if name in COPIED else array for name, array in arrays.items()})
            self._arrays[copy.address] = copy
            arrays["copies"][value] = copy.address
        fastest = dict.fromkeys((0, len(hubs)), float("inf"))
        for _ in range(TRIALS):
            for count in fastest:
                arrays["sizes"][-1] = count
                began = time.perf_counter()
                for key, joint in way:
                    self.play(key, joint)
                fastest[count] = min(fastest[count], time.perf_counter() - began)
            if fastest[0] > MOST_TRIED:
                break
        self.key = None  # the next question may find the wires on another copy
        if fastest[len(hubs)] > WORTH_IT * fastest[0]:
            arrays["sizes"][-1] = 0
            self._arrays = {self._address: self._arrays[self._address]}
            arrays["here"][0] = self._address

    def _walk(self, initial: bytes) -> list[tuple[bytes, list[int]]]:
        """States on a random way, over and over from the initial one to an end, and the legal joint moves
        made there."""
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
        """Make a joint move, a move id per role, in the state with this key; the key of the state that it
        goes to. Raises MoveError for ids that no move has; legality is the caller's business."""
        if key is not self.key and key != self.key:
            self.go(key)
        told = self._answer(self._address, joint_move)
        if not told[0]:
            raise MoveError("a move id is out of range", remedy="ids are places in network.moves[role]")
        self.key, self.terminal, self.legal = told
        self._valued = False
        return cast(bytes, told[0])

    def goal(self, role: int) -> int | None:
        """The role's goal value there; None where not exactly one holds."""
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
    """What wires are while they settle, and the table of addresses by which kernels find it."""

    __slots__ = ("_arrays", "_mark", "address", "weight")

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        table = np.array([arrays[name].ctypes.data for name in Wires._fields], np.int64)
        self._arrays = [*arrays.values(), table]
        self._mark = memoryview(cast(Any, arrays["mark"]))
        self.weight = sum(arrays[name].nbytes for name in COPIED)
        self.address = int(table.ctypes.data)

    @property
    def mark(self) -> int:
        """The hash of the state on which they are settled."""
        return int(self._mark[0])


def hubs_of(records: NDArray[np.bool_], readers: NDArray[np.int64]) -> list[int]:
    """The bases, :data:`MOST_HUBS` at most, whose flips cost a walk most.

    Where roles take turns, nearly all that they may do hangs on whose turn it is. A copy of the wires for
    each turn sees only what both have changed since, and nothing of the turn itself.

    Args:
        records: bool (states, bases), the states of a walk.
        readers: int (bases,), the gates that read each base.
    """
    if len(records) < 2:
        return []
    often = (records[1:] != records[:-1]).mean(axis=0)
    cost = often * readers
    order = np.argsort(-cost, kind="stable")[:MOST_HUBS]
    return [int(base) for base in order if often[base] >= OFTEN and cost[base] >= SHARE * cost.sum()]
