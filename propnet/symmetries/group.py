"""Automorphisms of a game: found by colour refinement, verified gate by gate, closed to a group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.ground_rules import GroundRules
from propnet.network import Network
from propnet.passes.circuit import Circuit
from propnet.symmetries.search import Nodes, SymmetrySearch, fixed_bases, form_of_network, form_of_rules

MOST = 64
"""Elements of a group unless told otherwise."""

EFFORT = 10_000_000
"""Visits of edges by colour refinement: about 0.4 seconds."""

MOST_INPUTS = 50_000
"""Ground rules with more literals are not looked at, only their network; nor is a form with more inputs."""


@dataclass(frozen=True, eq=False)
class Automorphism:
    """A renaming of a game's base propositions and moves that the game does not notice.

    Attributes:
        bases: int32, shape (bases,): base proposition b becomes ``bases[b]``.
        moves: int32, shape (moves of all roles,): the same for moves, counted on in role order.
        roles: role r becomes ``roles[r]``; the identity unless roles may be exchanged.
    """

    bases: NDArray[np.int32]
    moves: NDArray[np.int32]
    roles: tuple[int, ...]

    @staticmethod
    def identity(network: Network) -> Automorphism:
        """The one that renames nothing."""
        bases = np.arange(len(network.bases), dtype=np.int32)
        moves = np.arange(network.move_count, dtype=np.int32)
        return Automorphism(bases, moves, tuple(range(len(network.roles))))

    @property
    def trivial(self) -> bool:
        """Whether every base proposition stays what it is."""
        return bool((self.bases == np.arange(len(self.bases))).all())

    def then(self, other: Automorphism) -> Automorphism:
        """The product: first this one, then the other."""
        return Automorphism(
            other.bases[self.bases], other.moves[self.moves], tuple(other.roles[r] for r in self.roles)
        )


def automorphisms(
    network: Network,
    ground: GroundRules | None = None,
    most: int = MOST,
    *,
    exchange: bool = False,
    effort: int = EFFORT,
    inputs: int = MOST_INPUTS,
) -> list[Automorphism]:
    """A group of automorphisms of a game, the identity first; no two move base propositions alike.

    An automorphism g renames base propositions and moves so that in every state s and for all joint moves m
    ``legal(g(s)) = g(legal(s))`` and ``next(g(s), g(m)) = g(next(s, m))``, and ``terminal`` and the goals are
    those of s. Base propositions with a constant value stay what they are, and so do those that are not
    observed (:func:`propnet.analysis.cones.observed`): neither do these count in ``next``. (Leaving them
    out is a bisimulation.)

    *The initial state need not be mapped to itself.* Let s ~ t if some g maps s to t. If s ~ t, every
    successor of s is ~ some successor of t: g(next(s, m)) = next(t, g(m)), and g(m) is legal in t. So the
    states ~ those that are reachable from s in n moves are the states ~ those that are reachable from t in n
    moves; a search that puts any member of its orbit in the place of any state, the initial one too, meets
    the same orbits at the same depths, with the same goals. The network's outputs are what its game's rules
    say wherever constant base propositions have their values, and that holds in the orbits too.

    The group may be smaller than the game's: where more than ``most`` elements would come of a generator it
    is left out, the search ends after ``effort`` visits of edges, and what the form of the rules hides
    (:mod:`propnet.symmetries.search`) is not found. What is returned is verified: every gate of the form is
    mapped to a gate that is the AND of the mapped literals, and every output to the mapped output's gate;
    by induction over the gates (for positive recursion: over the rounds that lead to the least fixpoint)
    they are the same functions.

    Args:
        ground: the rules that the network was built of. They have automorphisms that passes hide; where
            none is found in them, the network is looked at.
        exchange: whether roles may be exchanged: g maps role r to role s, r's moves and goals to s's.
        inputs: forms with more gate inputs, and ground rules with more literals, are not looked at.

    Raises ValueError if the ground rules are those of another network.
    """
    identity = Automorphism.identity(network)
    if ground is not None and (ground.bases != network.bases or ground.moves != network.moves):
        raise ValueError("these are not the ground rules of this network")
    fixed = fixed_bases(network)
    forms: list[Callable[[], Circuit]] = []
    if ground is not None and len(ground.bodies) <= inputs:
        forms.append(lambda: form_of_rules(ground, network))
    if len(network.gate_inputs) <= inputs:
        forms.append(lambda: form_of_network(network))
    group = [identity]
    for form in forms:
        if len(group) == 1 and (circuit := form()).gate_inputs <= inputs:
            group = _group_of(circuit, network, fixed, identity, most, effort, exchange)
    return group


def _group_of(
    circuit: Circuit,
    network: Network,
    fixed: NDArray[np.bool_],
    identity: Automorphism,
    most: int,
    effort: int,
    exchange: bool,
) -> list[Automorphism]:
    """The group of a network's form."""
    goals = [(role, value) for role, value, _ in network.goals.tolist()]
    group = [identity]
    generators: list[Automorphism] = []
    check = _Check(circuit, goals, fixed)

    def accept(nodes: Nodes) -> bool:
        nonlocal group
        found = check.verified(nodes)
        if found is None:
            return False
        if not found.trivial:
            closed = closure([*generators, found], identity, most)
            if closed is not None:
                generators.append(found)
                group = closed
        return True

    SymmetrySearch(circuit, goals, fixed, effort, exchange).run(accept)
    return group


def closure(generators: list[Automorphism], identity: Automorphism, most: int) -> list[Automorphism] | None:
    """All products of generators, one for each way to move base propositions, the identity first; None if
    they are more than ``most``."""
    elements = {identity.bases.tobytes(): identity}
    waiting = [identity]
    while waiting:
        element = waiting.pop()
        for generator in generators:
            product = element.then(generator)
            if elements.setdefault(product.bases.tobytes(), product) is product:
                waiting.append(product)
        if len(elements) > most:
            return None
    return list(elements.values())


class _Check:
    """Verifies renamings of a circuit's inputs and cuts."""

    def __init__(self, circuit: Circuit, goals: list[tuple[int, int]], fixed: NDArray[np.bool_]) -> None:
        self.fixed = 1 + np.flatnonzero(fixed)
        shape = self.shape = circuit.shape
        self.circuit = circuit
        self.index = {gate: 2 * (shape.first_gate + number) for number, gate in enumerate(circuit.gates)}
        outputs = circuit.outputs
        self.latched = outputs[: shape.first_goal_output] + outputs[shape.first_cut_output :]
        self.terminal = outputs[shape.first_cut_output - 1]
        self.goals = dict(zip(goals, outputs[shape.first_goal_output :], strict=False))

    def verified(self, nodes: Nodes) -> Automorphism | None:
        """The automorphism that renames the nodes up to the first gate so, or None if that is none."""
        shape = self.shape
        roles = self._roles(nodes)
        kinds = ((0, 1), (1, shape.first_move), (shape.first_cut, shape.first_gate))
        if roles is None or (nodes[self.fixed] != self.fixed).any():
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
        for (role, value), x in self.goals.items():
            if self.goals.get((roles[role], value)) != image[x >> 1] ^ (x & 1):
                return None
        bases = (nodes[1 : shape.first_move] - 1).astype(np.int32)
        moves = (nodes[shape.first_move : shape.first_cut] - shape.first_move).astype(np.int32)
        return Automorphism(bases, moves, roles)

    def _roles(self, nodes: Nodes) -> tuple[int, ...] | None:
        """Where each role goes, of which all moves go there."""
        starts = self.shape.role_starts
        ends = np.array(starts[1:])
        roles: list[int] = []
        for low, high in pairwise(starts):
            images = set(np.searchsorted(ends, nodes[low:high], side="right").tolist())
            if len(images) != 1:
                return None
            roles += images
        if sorted(roles) != list(range(len(roles))):
            return None
        return tuple(roles)
