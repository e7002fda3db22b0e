"""Permutations of a circuit's inputs that look like automorphisms: individualisation and refinement
(B. McKay: Practical graph isomorphism, 1981), with the generators found level by level of a stabiliser chain
(C. Sims, 1970).

What is found here are candidates: :mod:`propnet.symmetries.group` verifies them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from propnet.analysis.colours import ColourGraph, Colours, mixed
from propnet.passes.circuit import Circuit

Nodes = NDArray[np.int64]
"""A permutation of a circuit's nodes up to the first gate: constant, base propositions, moves, cuts."""

_GENERATORS = 24
"""So many are accepted at most."""

_STAYING = np.uint64(1 << 40)

_NEXT, _LEGAL, _CUT = 2, 4, 6
"""Kinds of edges from a base proposition, a move and a cut to the node that defines it; those of a gate to
what it reads are of kind 0. Each kind plus one stands for a negated literal."""


@dataclass
class _Level:
    """A level of the stabiliser chain: colours, and the base propositions from which one was chosen."""

    colour: Colours
    cell: list[int]


class SymmetrySearch:
    """Looks for automorphisms of a circuit.

    Attributes:
        effort: how many visits of edges are still allowed; the search ends when it is below 0.
    """

    def __init__(
        self,
        circuit: Circuit,
        goals: list[tuple[int, int]],
        fixed: NDArray[np.bool_],
        effort: int,
        exchange: bool,
    ) -> None:
        """``goals`` are the (role, value) of the circuit's goal outputs; ``fixed``, shape (bases,), says
        which base propositions stay. With ``exchange`` roles may be exchanged."""
        self.circuit = circuit
        self.effort = effort
        shape = circuit.shape
        self._graph = _graph(circuit)
        colour = np.zeros(shape.first_gate + len(circuit.gates), np.uint64)
        colour[0] = 1
        colour[1 : shape.first_move] = 2
        colour[shape.first_cut : shape.first_gate] = 3
        colour[shape.first_gate :] = 4
        for role, start in enumerate(shape.role_starts[:-1]):
            colour[start : shape.role_starts[role + 1]] = 5 + (0 if exchange else role)
        outputs = circuit.outputs[shape.first_goal_output : shape.first_cut_output]
        for (role, value), literal in zip(goals, outputs, strict=False):
            look = (2 * (role << 32 if not exchange else 0) + 2 * value) + 1000 + (literal & 1)
            _add(colour, literal >> 1, look)
        _add(colour, outputs[-1] >> 1, 10 + (outputs[-1] & 1))
        staying = np.flatnonzero(fixed)
        colour[1 + staying] = mixed(staying.astype(np.uint64) + _STAYING)
        self._colour = colour

    def run(self, accept: Callable[[Nodes], bool]) -> None:
        """Offer candidates that move base propositions; those that are accepted count as generators."""
        levels = self._levels()
        found: list[Nodes] = []
        for number in range(len(levels) - 1, -1, -1):
            cell = levels[number].cell
            orbit = {cell[0]}
            for image in cell[1:]:
                if image in orbit or self.effort < 0:
                    continue
                for candidate in self._images(levels, number, levels[number].colour, image):
                    if accept(candidate):
                        found.append(candidate)
                        break
                if len(found) == _GENERATORS:
                    return
                orbit = _orbit(cell[0], found)

    def _levels(self) -> list[_Level]:
        """Choose base propositions one by one until all differ; the last level has nothing to choose."""
        levels: list[_Level] = []
        colour = self._refined(self._colour)
        while self.effort >= 0:
            cell = self._cell(colour)
            if not cell:
                self._last = colour
                return levels
            levels.append(_Level(colour, cell))
            colour = self._refined(self._individual(colour, cell[0]))
        return []

    def _cell(self, colour: Colours) -> list[int]:
        """The base propositions of a colour that several have, ascending: the fewest; none if all differ."""
        bases = self.circuit.shape.bases
        _, inverse, counts = np.unique(colour[1 : 1 + bases], return_inverse=True, return_counts=True)
        several = np.flatnonzero(counts > 1)
        if not len(several):
            return []
        chosen = several[np.argmin(counts[several])]
        nodes: list[int] = (1 + np.flatnonzero(inverse.ravel() == chosen)).tolist()
        return nodes

    def _images(self, levels: list[_Level], number: int, colour: Colours, image: int) -> Iterator[Nodes]:
        """Candidates that map what was chosen on a level to the image, given the colours of images."""
        if self.effort < 0:
            return
        last = number + 1 == len(levels)
        wanted = self._last if last else levels[number + 1].colour
        after = self._refined(self._individual(colour, image))
        if not np.array_equal(np.sort(wanted), np.sort(after)):
            return
        if last:
            yield self._matched(wanted, after)
            return
        shade = wanted[levels[number + 1].cell[0]]
        bases = self.circuit.shape.bases
        for other in (1 + np.flatnonzero(after[1 : 1 + bases] == shade)).tolist():
            yield from self._images(levels, number + 1, after, other)

    def _matched(self, left: Colours, right: Colours) -> Nodes:
        """Nodes up to the first gate by colour; those of one colour in ascending order."""
        first = self.circuit.shape.first_gate
        image = np.empty(first, np.int64)
        image[np.argsort(left[:first], kind="stable")] = np.argsort(right[:first], kind="stable")
        return image

    def _individual(self, colour: Colours, node: int) -> Colours:
        changed = colour.copy()
        _add(changed, node, 0)
        return changed

    def _refined(self, colour: Colours) -> Colours:
        refined, rounds = self._graph.refine(colour)
        self.effort -= rounds * (self._graph.edges + self._graph.nodes)
        return refined


def _add(colour: Colours, node: int, mark: int) -> None:
    """Mark a node: nodes of one colour with different marks differ."""
    colour[node : node + 1] += mixed(np.array([mark + 1], np.uint64))


def _graph(circuit: Circuit) -> ColourGraph:
    shape, first = circuit.shape, circuit.shape.first_gate
    lengths = [len(gate) for gate in circuit.gates]
    read = np.fromiter(chain.from_iterable(circuit.gates), np.int64, sum(lengths))
    outputs = np.array(circuit.outputs, np.int64)
    latched = np.concatenate([outputs[: shape.first_goal_output], outputs[shape.first_cut_output :]])
    kinds = np.repeat([_NEXT, _LEGAL, _CUT], [shape.bases, sum(shape.moves), shape.cuts])
    source = np.concatenate([np.repeat(first + np.arange(len(lengths)), lengths), np.arange(1, first)])
    literals = np.concatenate([read, latched])
    kind = np.concatenate([np.zeros(len(read), np.int64), kinds]) + (literals & 1)
    return ColourGraph(first + len(lengths), source, literals >> 1, kind)


def _orbit(start: int, generators: list[Nodes]) -> set[int]:
    """The images of a node under products of permutations."""
    orbit, waiting = {start}, [start]
    while waiting:
        node = waiting.pop()
        for generator in generators:
            image = int(generator[node])
            if image not in orbit:
                orbit.add(image)
                waiting.append(image)
    return orbit
