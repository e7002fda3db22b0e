"""Automorphisms of a game: found by colour refinement, verified gate by gate, closed to a group.

Permutations of a circuit's inputs that look like automorphisms are found by individualisation and refinement
(B. McKay: Practical graph isomorphism, 1981), the generators level by level of a stabiliser chain (C. Sims,
1970). These are candidates, which are then verified.

The search has a circuit of its own: every atom is the OR of its rules' ANDs. The passes that make a network
small choose between equals (which pair to share, what to factor out), so a network has fewer automorphisms
than its game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.simplify import mixed
from propnet.analysis.cones import observed
from propnet.analysis.ternary import constant_bases
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE, Circuit, CircuitBuilder, Shape, remove_dead, replaced
from propnet.passes.construct import RuleBodies, evaluation_order, prune
from propnet.symmetries.colours import ColourGraph, Colours, Individualisation, mark, orbit


def _form_of_rules(ground: GroundRules, network: Network) -> Circuit:
    """The circuit of ground rules. The network's constants are inserted, also those of
    :func:`_fixed_bases`, as inputs and as outputs. Atoms of positive recursion are cuts."""
    rules, values = prune(ground)
    sequence, recursive = evaluation_order(rules, _cyclic)
    moves = tuple(map(len, ground.moves))
    shape = Shape(rules.bases, moves, len(ground.goal_atoms), len(recursive))
    builder = CircuitBuilder(shape.first_gate)
    literals = [FALSE] * rules.atom_count
    literals[: rules.inputs] = _inputs(network)
    for atom in np.flatnonzero(values >= 0).tolist():
        literals[atom] = TRUE if values[atom] else FALSE
    for number, atom in enumerate(recursive):
        literals[atom] = 2 * (shape.first_cut + number)
    bodies = RuleBodies(rules)
    definitions: dict[int, int] = {}
    cyclic = set(recursive)
    for atom in sequence:
        products = [builder.conjunction(replaced(body, literals)) for body in bodies.of(atom)]
        literal = builder.disjunction(products)
        if atom in cyclic:
            definitions[atom] = literal
        else:
            literals[atom] = literal
    outputs = [literals[atom] if atom >= 0 else FALSE for atom in rules.outputs.tolist()]
    _put_constants(network, outputs)
    outputs.extend(definitions.get(atom, FALSE) for atom in recursive)
    return remove_dead(Circuit(shape, builder.gates, outputs))


def _fixed_bases(network: Network) -> NDArray[np.bool_]:
    """Base propositions that surely keep their initial value or are not observed: shape (bases,)."""
    return constant_bases(network) | ~observed(network)


def _put_constants(network: Network, outputs: list[int]) -> None:
    """Let fixed base propositions keep their initial value, and forbid moves that the network forbids."""
    for base in np.flatnonzero(_fixed_bases(network)).tolist():
        outputs[base] = TRUE if network.initial[base] else FALSE
    for move in np.flatnonzero(network.legal_literals == FALSE).tolist():
        outputs[len(network.bases) + move] = FALSE


def _inputs(network: Network) -> list[int]:
    """The literals of base propositions and moves, or their constants."""
    fixed = _fixed_bases(network).tolist()
    literals = [2 + 2 * base for base in range(len(fixed))]
    for base, value in enumerate(network.initial.tolist()):
        if fixed[base]:
            literals[base] = TRUE if value else FALSE
    legal = network.legal_literals.tolist()
    for mine in network.moves:
        # A role with one move always makes it; a move that is never legal is never made.
        for _ in mine:
            node = 1 + len(literals)
            never = legal[len(literals) - len(fixed)] == FALSE
            literals.append(TRUE if len(mine) == 1 else FALSE if never else 2 * node)
    return literals


def _cyclic(members: list[int], reads: list[list[int]]) -> list[int]:
    """The members of a component that lie on a cycle: all of them, or none."""
    return members if len(members) > 1 or members[0] in reads[members[0]] else []


Nodes = NDArray[np.int64]
"""A permutation of a circuit's nodes up to the first gate: constant, base propositions, moves, cuts."""

_GENERATORS = 24
"""The most generators that are accepted."""

_STAYING = np.uint64(1 << 40)

_NEXT, _LEGAL, _CUT = 2, 4, 6
"""Kinds of edges from a base proposition, a move and a cut to the node that defines it. The edges from a gate
to the nodes that it reads have kind 0. Each kind plus one stands for a negated literal."""


@dataclass
class _Level:
    """A level of the stabiliser chain: colours, and the base propositions from which one was chosen."""

    colour: Colours
    cell: list[int]


class _SymmetrySearch:
    """Looks for automorphisms of a circuit, until the effort is spent."""

    def __init__(
        self,
        circuit: Circuit,
        goals: list[tuple[int, int]],
        fixed: NDArray[np.bool_],
        effort: int,
    ) -> None:
        """``goals`` are the (role, value) of the circuit's goal outputs. ``fixed``, shape (bases,), is true
        for base propositions that may not move."""
        self.circuit = circuit
        shape = circuit.shape
        self._nodes = Individualisation(_graph(circuit), np.arange(1, 1 + shape.bases), effort)
        colour = np.zeros(shape.first_gate + len(circuit.gates), np.uint64)
        colour[0] = 1
        colour[1 : shape.first_move] = 2
        colour[shape.first_cut : shape.first_gate] = 3
        colour[shape.first_gate :] = 4
        for role, start in enumerate(shape.role_starts[:-1]):
            colour[start : shape.role_starts[role + 1]] = 5 + role
        outputs = circuit.outputs[shape.first_goal_output : shape.first_cut_output]
        for (role, value), literal in zip(goals, outputs, strict=False):
            look = 2 * (role << 32) + 2 * value + 1000 + (literal & 1)
            mark(colour, literal >> 1, look)
        mark(colour, outputs[-1] >> 1, 10 + (outputs[-1] & 1))
        staying = np.flatnonzero(fixed)
        colour[1 + staying] = mixed(staying.astype(np.uint64) + _STAYING)
        self._colour = colour

    def run(self, accept: Callable[[Nodes], bool]) -> None:
        """Pass candidates that move base propositions to ``accept``; accepted ones become generators."""
        levels = self._levels()
        found: list[Nodes] = []
        for number in range(len(levels) - 1, -1, -1):
            cell = levels[number].cell
            images = {cell[0]}
            for image in cell[1:]:
                if image in images or self._nodes.effort < 0:
                    continue
                for candidate in self._images(levels, number, levels[number].colour, image):
                    if accept(candidate):
                        found.append(candidate)
                        break
                if len(found) == _GENERATORS:
                    return
                images = orbit(cell[:1], found)

    def _levels(self) -> list[_Level]:
        """Choose base propositions one by one until all differ. After the last level none can be chosen."""
        levels: list[_Level] = []
        colour = self._nodes.refined(self._colour)
        while self._nodes.effort >= 0:
            cell = self._nodes.cell(colour)
            if not cell:
                self._last = colour
                return levels
            levels.append(_Level(colour, cell))
            colour = self._nodes.individual(colour, cell[0])
        return []

    def _images(self, levels: list[_Level], number: int, colour: Colours, image: int) -> Iterator[Nodes]:
        """Candidates that map the node chosen on a level to the image, given the colours of images."""
        if self._nodes.effort < 0:
            return
        last = number + 1 == len(levels)
        target = self._last if last else levels[number + 1].colour
        after = self._nodes.individual(colour, image)
        if not np.array_equal(np.sort(target), np.sort(after)):
            return
        if last:
            yield self._matched(target, after)
            return
        shade = target[levels[number + 1].cell[0]]
        bases = self.circuit.shape.bases
        for other in (1 + np.flatnonzero(after[1 : 1 + bases] == shade)).tolist():
            yield from self._images(levels, number + 1, after, other)

    def _matched(self, left: Colours, right: Colours) -> Nodes:
        """Nodes up to the first gate, matched by colour, and in ascending order within a colour."""
        first = self.circuit.shape.first_gate
        image = np.empty(first, np.int64)
        image[np.argsort(left[:first], kind="stable")] = np.argsort(right[:first], kind="stable")
        return image


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


MOST = 64
"""The default limit of elements of a group."""

EFFORT = 10_000_000
"""Visits of edges by colour refinement: about 0.4 seconds."""

_MOST_LITERALS = 50_000
"""Ground rules with more literals are not searched."""


Renaming = NDArray[np.int32]
"""A renaming of base propositions, shape (bases,): b becomes entry b."""


def automorphisms(
    network: Network,
    ground: GroundRules | None,
    most: int = MOST,
    *,
    effort: int = EFFORT,
) -> list[Renaming]:
    """A group of automorphisms of a game, by their renamings of base propositions, the identity first.

    An automorphism g renames base propositions and moves so that in every state s and for all joint moves m
    ``legal(g(s)) = g(legal(s))`` and ``next(g(s), g(m)) = g(next(s, m))``, and ``terminal`` and the goals are
    those of s. Base propositions with a constant value stay the same, and so do those that are not observed
    (:func:`propnet.analysis.cones.observed`); neither count in ``next``. (Leaving them out is a
    bisimulation.)

    *The initial state need not be mapped to itself.* Let s ~ t if some g maps s to t. If s ~ t, every
    successor of s is ~ some successor of t: g(next(s, m)) = next(t, g(m)), and g(m) is legal in t. So the
    states ~ those that are reachable from s in n moves are the states ~ those that are reachable from t in n
    moves. A search that replaces any state, the initial one too, by any member of its orbit meets the same
    orbits at the same depths, with the same goals. The network's outputs follow the game's rules whenever
    constant base propositions have their values, and that holds in the orbits too.

    The group may be smaller than the game's. A generator that would give more than ``most`` elements is left
    out; the search ends after ``effort`` visits of edges; and automorphisms that the form of the rules hides
    (:mod:`propnet.symmetries.group`) are not found. All returned automorphisms are verified: every gate of
    the form is mapped to a gate that is the AND of the mapped literals, and every output to the mapped
    output's gate. By induction over the gates (for positive recursion: over the rounds that lead to the least
    fixpoint) they are the same functions.

    Args:
        ground: the rules that the network was built from. They have automorphisms that the network's passes
            hide. None, or more than 50,000 literals: the identity alone is found.

    Raises ValueError if the ground rules are those of another network.
    """
    identity = np.arange(len(network.bases), dtype=np.int32)
    if ground is not None and (ground.bases != network.bases or ground.moves != network.moves):
        raise ValueError("these are not the ground rules of this network")
    if ground is None or len(ground.bodies) > _MOST_LITERALS:
        return [identity]
    circuit, fixed = _form_of_rules(ground, network), _fixed_bases(network)
    goals = [(role, value) for role, value, _ in network.goals.tolist()]
    group = [identity]
    generators: list[Renaming] = []
    check = _Check(circuit, fixed)

    def accept(nodes: Nodes) -> bool:
        nonlocal group
        found = check.verified(nodes)
        if found is None:
            return False
        if (found != identity).any():
            closed = closure([*generators, found], most)
            if closed is not None:
                generators.append(found)
                group = closed
        return True

    _SymmetrySearch(circuit, goals, fixed, effort).run(accept)
    return group


def closure(generators: list[Renaming], most: int) -> list[Renaming] | None:
    """All products of generators, the identity first; None if there are more than ``most``."""
    identity = np.arange(len(generators[0]), dtype=np.int32)
    elements = {identity.tobytes(): identity}
    waiting = [identity]
    while waiting:
        element = waiting.pop()
        for generator in generators:
            product = generator[element]
            if elements.setdefault(product.tobytes(), product) is product:
                waiting.append(product)
        if len(elements) > most:
            return None
    return list(elements.values())


class _Check:
    """Verifies renamings of a circuit's inputs and cuts."""

    def __init__(self, circuit: Circuit, fixed: NDArray[np.bool_]) -> None:
        self.fixed = 1 + np.flatnonzero(fixed)
        shape = self.shape = circuit.shape
        self.circuit = circuit
        self.index = {gate: 2 * (shape.first_gate + number) for number, gate in enumerate(circuit.gates)}
        outputs = circuit.outputs
        self.latched = outputs[: shape.first_goal_output] + outputs[shape.first_cut_output :]
        self.terminal = outputs[shape.first_cut_output - 1]
        self.goals = outputs[shape.first_goal_output : shape.first_cut_output - 1]

    def verified(self, nodes: Nodes) -> Renaming | None:
        """The base propositions of the automorphism that renames the nodes up to the first gate in this way;
        None if there is none."""
        shape = self.shape
        kinds = (
            (0, 1),
            (1, shape.first_move),
            *pairwise(shape.role_starts),
            (shape.first_cut, shape.first_gate),
        )
        if (nodes[self.fixed] != self.fixed).any():
            return None
        if any(nodes[low:high].min(initial=low) < low for low, high in kinds):
            return None
        if any(nodes[low:high].max(initial=low) >= max(high, low + 1) for low, high in kinds):
            return None
        image: list[int] = (2 * nodes).tolist()
        for gate in self.circuit.gates:
            literal = self.index.get(tuple(sorted([image[x >> 1] ^ (x & 1) for x in gate])))
            if literal is None:
                return None
            image.append(literal)
        latched = self.latched
        for node, x in enumerate(latched, 1):
            if latched[(image[node] >> 1) - 1] != image[x >> 1] ^ (x & 1):
                return None
        if image[self.terminal >> 1] ^ (self.terminal & 1) != self.terminal:
            return None
        if any(image[x >> 1] ^ (x & 1) != x for x in self.goals):
            return None
        return (nodes[1 : shape.first_move] - 1).astype(np.int32)
