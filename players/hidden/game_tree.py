"""The whole tree of a small game of two roles, with the information sets of each role.

If several roles have a choice in one state, they choose one after the other, unseen, chance first. A
*layer* holds the nodes of one role in one turn, so that all nodes of an information set are in one layer.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gdl.information import chance_role, observations, playing
from gdl.machine import Machine, State

_HUGE = 1e15
TERMINAL, CHANCE = -2, -1
"""The value of ``actor`` for nodes without a player (0 or 1)."""

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GameTree:
    """A tree as arrays over its nodes, parents first.

    Attributes:
        layers: the nodes of each layer but the first, from the root down.
        parent: int64, shape (nodes,): -1 for the root.
        actor: int64: the player that moves there, CHANCE or TERMINAL.
        edge: int64: the action that led there, numbered on over all information sets; -1 below chance.
        share: float64: below chance, the probability of the action that led there.
        goals: float64, shape (nodes, 2): 0 except at ends.
        first: int64, shape (information sets + 1,): where the actions of each begin.
        sets_of_player: int64: the player of each information set.
        some_node: int64: a node of each information set.
        moves: the move ids of all actions.
        places: (player, its observations, turn by turn) -> information set.
    """

    layers: list[Numbers]
    parent: Numbers
    actor: Numbers
    edge: Numbers
    share: Floats
    goals: Floats
    first: Numbers
    sets_of_player: Numbers
    some_node: Numbers
    moves: list[int]
    places: dict[tuple[int, tuple[Hashable, ...]], int]


def estimated_nodes(machine: Machine, walks: int, rng: random.Random) -> float:
    """The approximate number of states in the tree of a game, estimated from random matches: each state on a
    path stands for as many states as there were joint moves to choose from on the way (Knuth, Estimating the
    efficiency of backtrack programs, 1975)."""
    total = 0.0
    for _ in range(walks):
        state, alike = machine.initial_state(), 1.0
        total += alike
        while not machine.is_terminal(state) and all(options := machine.options(state)) and alike < _HUGE:
            alike *= math.prod(map(len, options))
            total += alike
            state = machine.next_state(state, [rng.choice(moves) for moves in options])
    return total / walks


class TreeBuilder:
    """Grows the tree of a game of two roles and chance; :meth:`grow` may be called repeatedly."""

    def __init__(self, machine: Machine, most: int) -> None:
        self._machine, self._most = machine, most
        self.roles = playing(machine.roles)
        self._chance = chance_role(machine.roles)
        self._order = [*([] if self._chance is None else [self._chance]), *self.roles]
        self._parent: list[int] = []
        self._actor: list[int] = []
        self._edge: list[int] = []
        self._share: list[float] = []
        self._layer: list[int] = []
        self._goals: dict[int, tuple[float, ...]] = {}
        self._first: list[int] = [0]
        self._whose: list[int] = []
        self._some: list[int] = []
        self._moves: list[int] = []
        self._places: dict[tuple[int, tuple[Hashable, ...]], int] = {}
        self._waiting: list[tuple[State, int, int, float, int, tuple[tuple[Hashable, ...], ...]]] = [
            (machine.initial_state(), -1, -1, 1.0, 0, ((), ()))
        ]

    @property
    def too_large(self) -> bool:
        """Whether there are more nodes than the limit."""
        return len(self._parent) > self._most

    def grow(self, deadline: float) -> GameTree | None:
        """The tree, or None while it is not complete at the deadline, or is too large."""
        while self._waiting:
            if self.too_large or time.monotonic() > deadline:
                return None
            self._expand(*self._waiting.pop())
        return self._finished()

    def _node(self, parent: int, actor: int, edge: int, share: float, layer: int) -> int:
        self._parent.append(parent)
        self._actor.append(actor)
        self._edge.append(edge)
        self._share.append(share)
        self._layer.append(layer)
        return len(self._parent) - 1

    def _expand(
        self,
        state: State,
        parent: int,
        edge: int,
        share: float,
        turn: int,
        seen: tuple[tuple[Hashable, ...], ...],
    ) -> None:
        """Add the nodes of a state, and store its successors for later."""
        machine, layer = self._machine, turn * len(self._order)
        options = machine.options(state)
        if machine.is_terminal(state) or not all(options):
            node = self._node(parent, TERMINAL, edge, share, layer)
            goals = [machine.result(state, role) for role in self.roles]
            self._goals[node] = tuple(50.0 if goal is None else float(goal) for goal in goals)
            return
        choosing = [role for role in self._order if len(options[role]) > 1]
        # The joint moves so far of the choosing roles, and the nodes that they lead to.
        open_: dict[tuple[int, ...], tuple[int, int, float]] = {(): (parent, edge, share)}
        for role in choosing:
            at = layer + self._order.index(role)
            following: dict[tuple[int, ...], tuple[int, int, float]] = {}
            for chosen, (above, by, part) in open_.items():
                moves = options[role]
                if role == self._chance:
                    node = self._node(above, CHANCE, by, part, at)
                    places = [(node, -1, 1 / len(moves))] * len(moves)
                else:
                    player = self.roles.index(role)
                    node = self._node(above, player, by, part, at)
                    start = self._first[self._set(player, seen[player], moves, node)]
                    places = [(node, start + number, 1.0) for number in range(len(moves))]
                following |= {(*chosen, move): place for move, place in zip(moves, places, strict=True)}
            open_ = following
        for chosen in product(*[options[role] for role in choosing]):
            joint = [moves[0] for moves in options]
            for role, move in zip(choosing, chosen, strict=True):
                joint[role] = move
            learnt = observations(machine, state, joint)
            later = tuple((*before, learnt[role]) for before, role in zip(seen, self.roles, strict=True))
            above, by, part = open_[chosen]
            self._waiting.append((machine.next_state(state, joint), above, by, part, turn + 1, later))

    def _set(self, player: int, seen: tuple[Hashable, ...], moves: Iterable[int], node: int) -> int:
        """The information set of a node."""
        number = self._places.setdefault((player, seen), len(self._whose))
        if number == len(self._whose):
            self._whose.append(player)
            self._some.append(node)
            self._moves += moves
            self._first.append(len(self._moves))
        return number

    def _finished(self) -> GameTree:
        layer = np.array(self._layer, np.int64)
        goals = np.zeros((len(layer), 2))
        for node, values in self._goals.items():
            goals[node] = values
        order = np.argsort(layer, kind="stable")
        bounds = np.flatnonzero(np.diff(layer[order], prepend=-1))
        parts = np.split(order, bounds[1:])
        return GameTree(
            layers=parts[1:],
            parent=np.array(self._parent, np.int64),
            actor=np.array(self._actor, np.int64),
            edge=np.array(self._edge, np.int64),
            share=np.array(self._share, np.float64),
            goals=goals,
            first=np.array(self._first, np.int64),
            sets_of_player=np.array(self._whose, np.int64),
            some_node=np.array(self._some, np.int64),
            moves=self._moves,
            places=self._places,
        )
