"""Worlds as packed records of a machine with lanes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from gdl.machine import State
from gdl.terms import Term
from players.belief.worlds import Joints, Options, WorldMachine, Worlds
from players.move_lists import unpack_moves
from propnet.kernels.records import pack
from propnet.machine import PropnetMachine


class LaneWorlds(WorldMachine):
    """Worlds as records of a machine with lanes."""

    def __init__(self, machine: PropnetMachine, role: int) -> None:
        super().__init__(machine, role)
        self._lanes = machine
        bounds = machine.role_percepts.tolist()
        self._first, self._past = bounds[role], bounds[role + 1]
        own = machine.network.percepts[role] if machine.network.percepts else ()
        self._places = {percept: self._first + place for place, percept in enumerate(own)}
        bits = np.zeros((1, max(1, bounds[-1])), np.bool_)
        bits[0, self._first : self._past] = True
        self.mask = pack(bits)[0]

    def of_states(self, states: Iterable[State]) -> Worlds:
        return np.array(self._lanes.records(list(states)))

    def state(self, worlds: Worlds, number: int) -> State:
        return self._lanes.states(worlds[number : number + 1])[0]

    def options(self, worlds: Worlds, move: int | None = None) -> Options:
        evaluation = self._lanes.evaluate(worlds)
        legal = evaluation.legal
        if move is not None:
            columns = np.arange(int(self._lanes.role_moves[-1]))
            first, past = self._lanes.role_moves[self.role : self.role + 2].tolist()
            others = (columns < first) | (columns >= past) | (columns == first + move)
            legal = legal & pack(others[None, :])[0]
        counts, moves = unpack_moves(legal, self._lanes.role_moves)
        return Options(evaluation.terminal, counts.astype(np.int64), moves)

    def terminal(self, worlds: Worlds) -> NDArray[np.bool_]:
        return self._lanes.ends(worlds)[0]

    def step(self, worlds: Worlds, joints: Joints) -> tuple[Worlds, NDArray[Any]]:
        after, seen = self._lanes.perceive(worlds, joints)
        return after, seen & self.mask

    def seen(self, percepts: frozenset[Term]) -> Any:
        places = [self._places.get(percept, -1) for percept in percepts]
        if -1 in places:
            return None
        bits = np.zeros((1, 64 * len(self.mask)), np.bool_)
        bits[0, places] = True
        return pack(bits)[0]

    def same(self, seen: NDArray[Any], wanted: Any) -> NDArray[np.bool_]:
        return cast(NDArray[np.bool_], (seen == wanted).all(axis=1))

    def goals(self, worlds: Worlds) -> NDArray[np.float64]:
        values = self._lanes.evaluate(worlds).goals[:, self.role]
        return np.where(values < 0, 50, values).astype(np.float64)

    def unique(self, worlds: Worlds) -> tuple[Worlds, NDArray[np.int64]]:
        return _unique_rows(worlds)

    def codes(self, seen: NDArray[Any]) -> NDArray[np.int64]:
        return _unique_rows(seen)[1]


def _unique_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Each row once, ascending, and the place of each row among them."""
    if len(rows) < 2:
        return rows, np.zeros(len(rows), np.int64)
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.ones(len(rows), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    places = np.empty(len(rows), np.int64)
    places[order] = np.cumsum(new) - 1
    return ordered[new], places
