"""Possible states side by side: what is legal in them, and which of their successors a role could have seen.

A set of *worlds* is an array with a row per state: on machines with lanes packed records, 512 evaluated at
once; on others the states themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from gdl.machine import Machine, State
from gdl.terms import Term

Worlds = NDArray[Any]
Rows = NDArray[np.int64]
Joints = NDArray[np.int32]
_ASKED = 32


@dataclass(frozen=True, slots=True)
class Options:
    """What may be done in each of n worlds.

    Attributes:
        terminal: bool, shape (n,): whether the match is over there.
        counts: int64, shape (n, roles): how many legal moves each role has.
        moves: int32: their ids, world by world, role by role.
    """

    terminal: NDArray[np.bool_]
    counts: NDArray[np.int64]
    moves: NDArray[np.int32]

    @property
    def starts(self) -> NDArray[np.int64]:
        """int64, shape (n, roles): where each role's moves begin in :attr:`moves`."""
        ends = np.cumsum(self.counts.reshape(-1))
        return (ends - self.counts.reshape(-1)).reshape(self.counts.shape)

    @property
    def open(self) -> NDArray[np.int64]:
        """The worlds that go on: the match is not over, and every role has a move."""
        return np.flatnonzero(~self.terminal & (self.counts > 0).all(axis=1))


class WorldMachine(ABC):
    """Questions about many worlds, for one role that sees its share of them."""

    def __init__(self, machine: Machine, role: int) -> None:
        self.machine = machine
        self.role = role

    @abstractmethod
    def of_states(self, states: Iterable[State]) -> Worlds:
        """States of this machine as worlds."""

    @abstractmethod
    def state(self, worlds: Worlds, number: int) -> State:
        """One world as a state."""

    @abstractmethod
    def options(self, worlds: Worlds, move: int | None = None) -> Options:
        """What may be done in each. With a move, the role of the machine makes this one or, where it is not
        legal, none."""

    @abstractmethod
    def terminal(self, worlds: Worlds) -> NDArray[np.bool_]:
        """Whether the match is over in each."""

    @abstractmethod
    def step(self, worlds: Worlds, joints: Joints) -> tuple[Worlds, NDArray[Any]]:
        """The worlds after a joint move in each, int32 (n, roles); and what the role perceives on the way, a
        row or an object per world: equal where the percepts are."""

    @abstractmethod
    def seen(self, percepts: frozenset[Term]) -> Any:
        """Percepts as :meth:`step` has them; None where the role can never have them."""

    @abstractmethod
    def same(self, seen: NDArray[Any], wanted: Any) -> NDArray[np.bool_]:
        """Which rows of what was perceived are what :meth:`seen` has given."""

    @abstractmethod
    def goals(self, worlds: Worlds) -> NDArray[np.float64]:
        """The role's goal in each, 50 where it has none."""

    @abstractmethod
    def unique(self, worlds: Worlds) -> tuple[Worlds, NDArray[np.int64]]:
        """Each world once, in an order that depends on the worlds alone where the machine has lanes; and the
        place of each of the given ones among them."""

    @abstractmethod
    def codes(self, seen: NDArray[Any]) -> NDArray[np.int64]:
        """Numbers for what was perceived: the same ones for the same percepts."""

    def merged(self, worlds: Worlds, weights: NDArray[np.float64]) -> tuple[Worlds, NDArray[np.float64]]:
        """Each world once, with the weights of its copies added up."""
        once, places = self.unique(worlds)
        return once, np.bincount(places, weights, len(once)).astype(np.float64)


class StateWorlds(WorldMachine):
    """Worlds as states, one after another, on any machine."""

    def of_states(self, states: Iterable[State]) -> Worlds:
        return _objects(list(states))

    def state(self, worlds: Worlds, number: int) -> State:
        return cast(State, worlds[number])

    def options(self, worlds: Worlds, move: int | None = None) -> Options:
        machine, roles = self.machine, range(len(self.machine.roles))
        made = [] if move is None else self._made(worlds, move)
        lists = [
            [
                made[number] if made and role == self.role else machine.legal_moves(state, role)
                for role in roles
            ]
            for number, state in enumerate(worlds)
        ]
        counts = np.array([[len(moves) for moves in row] for row in lists], np.int64).reshape(-1, len(roles))
        moves = np.array([move for row in lists for moves in row for move in moves], np.int32)
        return Options(self.terminal(worlds), counts, moves)

    def _made(self, worlds: Worlds, move: int) -> list[list[int]]:
        """The move where it is legal. In sound games a role has the same moves in all states that it may hold
        for possible: of many worlds some are asked, and if all of these say the same, so do the others."""

        def legal(state: State) -> list[int]:
            return [move] if move in self.machine.legal_moves(state, self.role) else []

        asked = [legal(state) for state in worlds[:: max(1, len(worlds) // _ASKED)]]
        if len(asked) < len(worlds) and all(one == asked[0] for one in asked):
            return [asked[0]] * len(worlds)
        return [legal(state) for state in worlds]

    def terminal(self, worlds: Worlds) -> NDArray[np.bool_]:
        return np.array([self.machine.is_terminal(state) for state in worlds], np.bool_)

    def step(self, worlds: Worlds, joints: Joints) -> tuple[Worlds, NDArray[Any]]:
        machine, moves = self.machine, joints.tolist()
        after = [machine.next_state(state, joint) for state, joint in zip(worlds, moves, strict=True)]
        seen = [machine.percepts(state, joint)[self.role] for state, joint in zip(worlds, moves, strict=True)]
        return _objects(after), _objects(seen)

    def seen(self, percepts: frozenset[Term]) -> Any:
        return percepts

    def same(self, seen: NDArray[Any], wanted: Any) -> NDArray[np.bool_]:
        return np.array([one == wanted for one in seen], np.bool_)

    def goals(self, worlds: Worlds) -> NDArray[np.float64]:
        values = [self.machine.result(state, self.role) for state in worlds]
        return np.array([50 if value is None else value for value in values], np.float64)

    def unique(self, worlds: Worlds) -> tuple[Worlds, NDArray[np.int64]]:
        numbers: dict[State, int] = {}
        places = [numbers.setdefault(state, len(numbers)) for state in worlds]
        return _objects(list(numbers)), np.array(places, np.int64)

    def codes(self, seen: NDArray[Any]) -> NDArray[np.int64]:
        numbers: dict[Any, int] = {}
        return np.array([numbers.setdefault(one, len(numbers)) for one in seen], np.int64)


def _objects(items: list[Any]) -> NDArray[Any]:
    """An array with these objects as they are."""
    array = np.empty(len(items), object)
    array[:] = items
    return array


def all_joints(options: Options, rows: Rows) -> tuple[Rows, Joints]:
    """Every joint move of some worlds: the world of each, and the moves. All roles must have a move."""
    totals = options.counts[rows].prod(axis=1)
    of = np.repeat(rows, totals)
    ends = np.cumsum(totals)
    number = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - totals, totals)
    return of, _decoded(options, of, number)


def drawn_joints(options: Options, rows: Rows, numbers: np.random.Generator) -> Joints:
    """A joint move for each of these worlds, drawn at random."""
    totals = options.counts[rows].prod(axis=1)
    number = np.minimum((numbers.random(len(rows)) * totals).astype(np.int64), totals - 1)
    return _decoded(options, rows, number)


def _decoded(options: Options, rows: Rows, number: Rows) -> Joints:
    """The joint moves with these numbers among those of each world."""
    counts, starts = options.counts[rows], options.starts[rows]
    joints = np.empty(counts.shape, np.int32)
    left = number.copy()
    for role in range(counts.shape[1]):
        joints[:, role] = options.moves[starts[:, role] + left % counts[:, role]]
        left //= counts[:, role]
    return joints
