"""The moves of the root, in an order that every search process agrees on, and their statistics.

A tree that leaves out moves that lose at once may lack some of the root's edges, if the root was a node below
another root before. What is left out is known to lose.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gdl.machine import Machine, State
from gdl.terms import sort_key
from players.uct.tree.tree import Tree


class RootMoves:
    """The moves of all roles at the root, role by role, each role's in the order of their text.

    Attributes:
        counts: how many moves each role has.
        places: int64, shape (moves,): where each move's edge is, counted from the root's first; -1 for
            those that were left out. Edges keep their order when the tree is moved to the front.
    """

    def __init__(self, tree: Tree, machine: Machine, state: State) -> None:
        first = int(tree.arrays.nodes["first_edge"][tree.root])
        places: list[int] = []
        counts: list[int] = []
        numbers: list[int] = []
        for role in range(len(machine.roles)):
            edges = tree.edges(tree.root, role)
            listed: list[int] = tree.arrays.edges["move"][edges].tolist()
            place = {move: i for i, move in enumerate(listed, edges.start - first)}
            legal = machine.legal_moves(state, role)
            moves = sorted(legal, key=lambda move: sort_key(machine.move(role, move)))
            places += (place.get(move, -1) for move in moves)
            counts.append(len(moves))
            numbers += moves
        self._numbers = np.array(numbers, np.int64)
        self.places: NDArray[np.int64] = np.array(places, np.int64)
        self.counts = tuple(counts)
        self._whole = bool((self.places >= 0).all())

    def edge(self, role: int, place: int) -> int:
        """Where the edge of a role's move is, counted from the root's first; -1 if it was left out."""
        return int(self.places[sum(self.counts[:role]) + place])

    def numbered(self, role: int, move: int) -> int:
        """The place of a role's move among the moves of all roles, by its number."""
        low = sum(self.counts[:role])
        return low + int(np.flatnonzero(self._numbers[low : low + self.counts[role]] == move)[0])

    def statistics(self, tree: Tree) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int16]]:
        """Visits, total and proven result of each move: see :mod:`players.uct.root_statistics`."""
        first = int(tree.arrays.nodes["first_edge"][tree.root])
        edges = tree.arrays.edges[first + np.maximum(self.places, 0)]
        visits, totals = edges["visits"].astype(np.int64), edges["total"].astype(np.float64)
        proven = edges["proven"].copy()
        # The tree holds what role 0 gets.
        second = proven[self.counts[0] :]
        second[second >= 0] = 100 - second[second >= 0]
        if self._whole:
            return visits, totals, proven
        low = 0
        for role, count in enumerate(self.counts):
            own = slice(low, low + count)
            listed = self.places[own] >= 0
            if listed.sum() == 1 < count:
                # The tree saw no choice here, and booked the visits for role 0.
                only = tree.arrays.edges[first]
                visits[own] = max(1, int(only["visits"]))
                totals[own] = only["total"] if role == 0 else only["visits"] - only["total"]
                proven[own] = 100 - tree.proven if role and tree.proven >= 0 else tree.proven
            proven[own][~listed] = 0
            visits[own][~listed] = 0
            totals[own][~listed] = 0.0
            low += count
        return visits, totals, proven
