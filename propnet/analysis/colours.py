"""Colour refinement (B. Weisfeiler and A. Leman, 1968) with hashes for colours; individualisation (B. McKay:
Practical graph isomorphism, 1981), for searches for automorphisms and canonical forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.simplify import mixed

Colours = NDArray[np.uint64]
"""A hash per node: nodes of one colour look alike."""

_UP = np.uint64(0x7F4A7C15F39CC060)


def classes(colour: Colours) -> int:
    """The number of different colours."""
    ranked = np.sort(colour)
    return int(np.count_nonzero(ranked[1:] != ranked[:-1])) + min(1, len(ranked))


class ColourGraph:
    """A graph whose edges have a source, a target and a kind (a small number): arrays of shape (edges,).
    Colours spread both ways along edges."""

    def __init__(self, nodes: int, source: NDArray[Any], target: NDArray[Any], kind: NDArray[Any]) -> None:
        self.nodes = nodes
        self.edges = len(source)
        tags = kind.astype(np.uint64) * np.uint64(2)
        both = np.concatenate([source, target]).astype(np.int64)
        by_node = np.argsort(both, kind="stable")
        self._other = np.concatenate([target, source]).astype(np.int64)[by_node]
        self._tag = mixed(np.concatenate([tags, tags + _UP])[by_node])
        ranked = both[by_node]
        self._start = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
        self._start = self._start[: len(ranked)]
        self._node = ranked[self._start]

    def refine(self, colour: Colours) -> tuple[Colours, int]:
        """The coarsest refinement of some colours, shape (nodes,), in which nodes of one colour have the same
        number of neighbours of each colour by each kind of edges; and the number of rounds. Equal graphs with
        equal colours get equal colours, however nodes are numbered. (A collision of hashes may leave it
        too coarse.)"""
        count, rounds = classes(colour), 0
        while True:
            rounds += 1
            following = mixed(colour)
            if len(self._start):
                reached = mixed(colour[self._other] ^ self._tag)
                following[self._node] += np.add.reduceat(reached, self._start)
            colour, before = mixed(following), count
            count = classes(colour)
            if count <= before or count == self.nodes:
                return colour, rounds


class Individualisation:
    """Refines colours of a graph in which the nodes ``low <= node < high`` are told apart one by one.

    Attributes:
        effort: the number of visits of edges and nodes that are still allowed; callers end their search when
            it is below 0.
    """

    def __init__(self, graph: ColourGraph, low: int, high: int, effort: int) -> None:
        self._graph, self._low, self._high = graph, low, high
        self.effort = effort

    def refined(self, colour: Colours) -> Colours:
        """The refinement of these colours."""
        refined, rounds = self._graph.refine(colour)
        self.effort -= rounds * (self._graph.edges + self._graph.nodes)
        return refined

    def individual(self, colour: Colours, node: int) -> Colours:
        """The refinement of these colours in which the node has a colour of its own."""
        changed = colour.copy()
        mark(changed, node, 0)
        return self.refined(changed)

    def cell(self, colour: Colours) -> list[int]:
        """The nodes of the colour that the fewest nodes have, but several (of these the smallest colour),
        ascending; none if all differ."""
        own = colour[self._low : self._high]
        looks, counts = np.unique(own, return_counts=True)
        several = np.flatnonzero(counts > 1)
        if not len(several):
            return []
        look = looks[several[np.argmin(counts[several])]]
        nodes: list[int] = (self._low + np.flatnonzero(own == look)).tolist()
        return nodes


def mark(colour: Colours, node: int, number: int) -> None:
    """Mark a node with a number: nodes of one colour with different marks differ."""
    colour[node : node + 1] += mixed(np.array([number + 1], np.uint64))


def orbit(nodes: Iterable[int], permutations: Sequence[NDArray[np.int64]]) -> set[int]:
    """The images of some nodes under products of permutations."""
    reached, waiting = set(nodes), list(nodes)
    while waiting:
        node = waiting.pop()
        for permutation in permutations:
            image = int(permutation[node])
            if image not in reached:
                reached.add(image)
                waiting.append(image)
    return reached
