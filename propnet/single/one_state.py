"""`OneState`: the network settled on one state, asked and moved on from Python."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any, cast

import numpy as np
from numba import types
from numpy.typing import NDArray

from gdl.errors import MoveError
from propnet.jit.intrinsics import entry, python_object
from propnet.kernels.records import record_words
from propnet.network import Network
from propnet.single.kernels import Wires, WireSizes, answer, worth
from propnet.single.wiring import Wiring, wire_up


class OneState:
    """What holds in one state of a network, and what follows a joint move.

    States are keys: the bytes of their records (:mod:`propnet.kernels.records`). Going to a state costs what
    changes from the one before, so questions about a state and its successors are cheap, those about a state
    far away cost up to a whole evaluation. Only one thread at a time may use it.

    Attributes:
        key: of the state that it is at; None before the first question.
        terminal: whether that one is terminal, 0 or 1.
        legal: per role the ids of the moves that it may make there, ascending.
    """

    __slots__ = (
        "_address", "_answer", "_arrays", "_marks", "_target", "_valued", "_worth",
        "key", "legal", "terminal",
    )  # fmt: skip

    def __init__(self, network: Network) -> None:
        wiring = wire_up(network)
        roles, bases = len(network.roles), len(network.bases)
        record = record_words(bases)
        # Python's own hash of each proposition: a state's hash is that of its propositions, on any machine.
        marks = np.array([*map(hash, network.bases), 0], np.int64)
        sizes = WireSizes(roles, bases, record, len(wiring.answers), *wiring.level_ends, wiring.goal_bits)
        arrays: dict[str, NDArray[Any]] = {
            field.name: getattr(wiring, field.name) for field in dataclasses.fields(Wiring)
        }
        arrays |= {
            "current": np.zeros(record, np.uint64),
            "target": np.zeros(record, np.uint64),
            "joint": np.zeros(roles, np.int64),
            "made": np.full(roles, -1, np.int64),
            "marks": marks,
            "role_moves": np.cumsum([0, *map(len, network.moves)]).astype(np.int32),
            "legal": np.zeros(network.move_count, np.int32),
            "worth": np.zeros(2 * roles, np.int64),
            "sizes": np.array(sizes, np.int64),
        }
        self._arrays = [np.ascontiguousarray(arrays[name]) for name in Wires._fields]
        self._arrays.append(np.array([array.ctypes.data for array in self._arrays], np.int64))
        self._address = int(self._arrays[-1].ctypes.data)
        views = [memoryview(cast(Any, array)) for array in self._arrays]
        view = dict(zip(Wires._fields, views, strict=False))
        self._target, self._marks, self._worth = view["target"], view["marks"], view["worth"]
        self._answer = entry(answer, types.int64, python_object)
        self._valued = False
        self.key: Hashable = None
        self.terminal = 0
        self.legal: tuple[tuple[int, ...], ...] = ()

    def go(self, key: Hashable) -> None:
        """Go to the state with this key."""
        self.key = None
        self._target.cast("B")[:] = cast(bytes, key)
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
        return int(self._marks[-1])

    def _value(self, place: int) -> int | None:
        if not self._valued:
            worth(self._address)
            self._valued = True
        value = self._worth[place]
        return None if value < 0 else int(value)
