"""Networks whose next state is the smallest of its orbit, and the conversion of lines of such states into
real ones.

Symmetry reduction as in model checking (E. Clarke, R. Enders, T. Filkorn and S. Jha: Exploiting symmetry in
temporal logic model checking, 1996), done by gates: a search over such a network keeps one state of each
orbit without knowing about orbits.

It pays if the states saved outweigh the gate inputs per successor: begin with :func:`paying_orbits`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gdl.errors import StateError
from gdl.grounding.ground_rules import GroundRules
from gdl.machine import JointMove, State
from gdl.rules import Rules
from propnet.analysis.cones import observed, without_dead_gates
from propnet.jit.arrays import Words
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE, CircuitBuilder
from propnet.recoding.samples import sample_states
from propnet.symmetries.group import Renaming, automorphisms


class Orbits:
    """The orbits of states under a group of automorphisms, and the smallest state of each.

    The smaller of two states is the one in which the first base proposition that differs is false.

    Base propositions that are not observed (:func:`propnet.analysis.cones.observed`) are ignored: they have
    their initial value in the smallest states.

    Attributes:
        sources: int64, shape (elements of the group - 1, bases): for each base proposition the one from which
            it gets its value.
        order: the base propositions that automorphisms move, ascending.
    """

    def __init__(self, network: Network, group: Sequence[Renaming]) -> None:
        """``group``: as :func:`~propnet.symmetries.group.automorphisms` returns it for the network. Raises
        ValueError if it is empty."""
        if not group:
            raise ValueError("a group must have at least the identity")
        bases = len(network.bases)
        self.bases = bases
        self.network = network
        self.unobserved = np.flatnonzero(~observed(network))
        # The identity comes first.
        self.sources = np.array([np.argsort(g) for g in group[1:]], np.int64).reshape(-1, bases)
        self.order = np.flatnonzero((self.sources != np.arange(bases)).any(axis=0))

    def canonical(self, records: Words) -> Words:
        """The smallest states of the orbits of states: records, uint64, shape (n, words). Meant for few
        states: it takes about a byte per base proposition and state."""
        bits = unpack(records, self.bases)
        bits[:, self.unobserved] = self.network.initial[self.unobserved]
        place = np.zeros(self.bases, np.int64)
        place[self.order] = np.arange(len(self.order))
        own = bits[:, self.order]
        best = own.copy()
        for source in place[self.sources[:, self.order]]:
            image = own[:, source]
            differ = image != best
            rows = np.flatnonzero(differ.any(axis=1))
            smaller = rows[~image[rows, differ[rows].argmax(axis=1)]]
            best[smaller] = image[smaller]
        bits[:, self.order] = best
        return pack(bits)

    def canonical_network(self) -> Network:
        """The network in which the smallest state of its orbit replaces the next and the initial state. Per
        automorphism and base proposition that can change it has at most 14 more gate inputs.

        All elements of the group are compared, one after the other, each as an image of the same next state.
        So the result is the same for all states of an orbit. A move of the new network is the move of the old
        one followed by a renaming. Each state is replaced by one of its orbit, so the search is
        right (:func:`~propnet.symmetries.group.automorphisms`)."""
        network = self.network
        builder = CircuitBuilder(network.nodes)
        following: list[int] = network.next_literals.tolist()
        for base in self.unobserved.tolist():
            following[base] = TRUE if network.initial[base] else FALSE
        best = following
        for source in self.sources.tolist():
            image = [following[base] for base in source]
            best = _smaller(builder, image, best, self.order.tolist())
        widths = [len(gate) for gate in builder.gates]
        ends = network.gate_start[-1] + np.cumsum([0, *widths])[1:]
        inputs = np.array([x for gate in builder.gates for x in gate], np.int32)
        initial = unpack(self.canonical(pack(network.initial[None, :])), self.bases)[0]
        changed = replace(
            network,
            gate_start=np.concatenate([network.gate_start, ends]).astype(np.int32),
            gate_inputs=np.concatenate([network.gate_inputs, inputs]).astype(np.int32),
            loop_init=np.concatenate([network.loop_init, np.zeros(len(widths), np.uint8)]),
            next_literals=np.array(best, np.int32),
            initial=initial,
            stats=dict(network.stats),
        )
        return without_dead_gates(changed)

    def unfold(self, machine: PropnetMachine, start: State, states: Words) -> list[JointMove]:
        """Joint moves of a line of the machine's game that begins in a state and passes through the orbits of
        other states: records, uint64, shape (length, words), the one after ``start`` first. The states may be
        any of their orbits. Raises StateError if no move leads from one orbit to the next."""
        line: list[JointMove] = []
        targets = self.canonical(states)
        for number, record in enumerate(targets, 1):
            options = machine.expand([start])[0]
            after = self.canonical(machine.records([state for _, state in options]))
            hits = np.flatnonzero((after == record).all(axis=1))
            if not len(hits):
                raise StateError(
                    f"no move leads to state {number} of the line or to an image of it",
                    remedy="unfold lines of a search over the same network and the same automorphisms",
                )
            joint, start = options[hits[0]]
            line.append(joint)
        return line


def _smaller(builder: CircuitBuilder, left: list[int], right: list[int], order: list[int]) -> list[int]:
    """Literals of the smaller of two states given by literals; the right one if they are equal."""
    less = FALSE
    for base in reversed(order):
        a, b = left[base], right[base]
        if a == b:
            continue
        lower = builder.conjunction([a ^ 1, b])
        higher = builder.conjunction([a, b ^ 1])
        less = builder.disjunction([lower, builder.conjunction([higher ^ 1, less])])
    chosen = []
    for a, b in zip(left, right, strict=True):
        if a == b:
            chosen.append(a)
            continue
        chosen.append(
            builder.disjunction([builder.conjunction([less, a]), builder.conjunction([less ^ 1, b])])
        )
    return chosen


_SAMPLE, _MATCHES = 256, 16
"""The states whose orbits are counted, roughly; the random matches that some of them come from."""

_INPUT_COST = 0.004
"""The cost of a gate input per successor, in nanoseconds (see docs/measurements.md, Frontier)."""

_REST_COST = 60.0
"""The least other cost of a successor (to read, sort, code and merge it), in nanoseconds."""


def pays(orbits: Orbits, canonical: Network) -> bool:
    """Whether orbits have more states, in the mean of a sample, than the time per successor grows by in
    ``canonical``, the network of ``orbits``."""
    rows = unpack(
        sample_states(PropnetMachine(Rules(()), orbits.network), _SAMPLE, matches=_MATCHES), orbits.bases
    )
    rows[:, orbits.unobserved] = orbits.network.initial[orbits.unobserved]
    images = [pack(rows), *(pack(rows[:, source]) for source in orbits.sources)]
    sizes = [len({row.tobytes() for row in of_state}) for of_state in zip(*images, strict=True)]
    before, after = (
        _REST_COST + _INPUT_COST * len(network.gate_inputs) for network in (orbits.network, canonical)
    )
    return float(np.mean(sizes)) > after / before


def paying_orbits(network: Network, ground: GroundRules | None) -> tuple[Orbits, Network] | None:
    """The orbits of a game's states and the network that keeps one state of each. None if there are no
    automorphisms, or if this costs more than it saves. The arguments are those of
    :func:`~propnet.symmetries.group.automorphisms` and of :class:`~propnet.symmetries.canonical.Orbits`."""
    group = automorphisms(network, ground)
    if len(group) == 1:
        return None
    orbits = Orbits(network, group)
    canonical = orbits.canonical_network()
    return (orbits, canonical) if pays(orbits, canonical) else None
