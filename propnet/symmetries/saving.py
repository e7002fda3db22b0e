"""Whether it pays to keep one state of each orbit: states saved against gate inputs per successor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdl.grounding.ground_rules import GroundRules
from gdl.rules import Rules
from propnet.expander import Expander
from propnet.jit.arrays import Words
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.symmetries.canonical import Orbits, Order
from propnet.symmetries.group import MOST, automorphisms

SAMPLE = 4096
"""States that a sample has about."""

_SIZES = 256
"""States of it whose orbits are counted."""

_FEWEST = 64
"""States that are enough for a sample."""

_STEPS = 200
"""Layers of a sample at most."""

INPUT_COST = 0.004
"""What a gate input costs per successor, in nanoseconds (see docs/measurements.md, Frontier)."""

REST_COST = 60.0
"""What else a successor costs at least: to read, sort, code and merge it, in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Saving:
    """What keeping one state of each orbit brings and costs.

    Attributes:
        met: states per orbit among those that the first layers of a search meet.
        size: the mean size of their orbits. If the initial state is mapped to itself it is about ``met``;
            otherwise images may be met much later, or never.
        inputs: gate inputs of the network, and of the one with canonical states.
    """

    met: float
    size: float
    inputs: tuple[int, int]

    @property
    def states(self) -> float:
        """By what number of states are divided, estimated: the geometric mean of ``met`` and ``size``."""
        return float(np.sqrt(self.met * self.size))

    @property
    def cost(self) -> float:
        """By what the time per successor is multiplied, estimated."""
        plain, canonical = (REST_COST + INPUT_COST * inputs for inputs in self.inputs)
        return canonical / plain

    @property
    def pays(self) -> bool:
        """Whether it saves more than it costs."""
        return self.states > self.cost


def saving(orbits: Orbits, canonical: Network, sample: int = SAMPLE) -> Saving:
    """Estimate what a search over ``canonical``, the network that ``orbits`` made, saves. It meets the same
    orbits as one over the first network, so that this is searched, for about ``sample`` states."""
    states = _first_states(orbits.network, sample)
    rows = unpack(states, orbits.bases)
    rows[:, orbits.unobserved] = orbits.network.initial[orbits.unobserved]
    seen = {row.tobytes() for row in pack(rows)}
    kept = {row.tobytes() for row in orbits.canonical(states)}
    some = rows[np.linspace(0, len(rows) - 1, min(_SIZES, len(rows))).astype(np.int64)]
    images = [pack(some), *(pack(some[:, source]) for source in orbits.sources)]
    sizes = [len({row.tobytes() for row in of_state}) for of_state in zip(*images, strict=True)]
    inputs = len(orbits.network.gate_inputs), len(canonical.gate_inputs)
    return Saving(len(seen) / len(kept), float(np.mean(sizes)), inputs)


def paying_orbits(
    network: Network, ground: GroundRules | None = None, order: Order | None = None, most: int = MOST
) -> tuple[Orbits, Network] | None:
    """The orbits of a game's states and the network that keeps one state of each, or None where there are
    no automorphisms or this costs more than it saves. The arguments are those of
    :func:`~propnet.symmetries.group.automorphisms` and of :class:`~propnet.symmetries.canonical.Orbits`."""
    group = automorphisms(network, ground, most)
    if len(group) == 1:
        return None
    orbits = Orbits(network, group, order)
    canonical = orbits.canonical_network()
    return (orbits, canonical) if saving(orbits, canonical).pays else None


def _first_states(network: Network, most: int) -> Words:
    """The records of the first layers of a breadth-first search, until there are ``most`` states. A layer
    that would make them more than twice as many is left out, unless hardly anything would be left."""
    machine = PropnetMachine(Rules(()), network)
    expander = Expander(machine, rows=1024)
    layer = machine.records([machine.initial_state()])
    seen = {layer[0].tobytes()}
    for _ in range(_STEPS):
        new: set[bytes] = set()
        for chunk in expander.stream(layer):
            new.update(record.tobytes() for record in chunk.records)
            if len(seen) + len(new) > 2 * most:
                break
        if len(seen) + len(new) > 2 * most and len(seen) >= _FEWEST:
            break
        new -= seen
        seen |= new
        if not new or len(seen) >= most:
            break
        layer = np.frombuffer(b"".join(sorted(new)), np.uint64).reshape(-1, machine.words).copy()
    return np.frombuffer(b"".join(sorted(seen)), np.uint64).reshape(-1, machine.words)
