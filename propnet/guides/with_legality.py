"""A network with other rules for what is legal: new gates put in, made small by the passes of the build."""

from __future__ import annotations

from itertools import pairwise

from propnet.network import Network
from propnet.passes.circuit import Circuit, Shape
from propnet.passes.dead import remove_dead
from propnet.passes.extract import extract
from propnet.passes.finish import finish
from propnet.passes.overlap import share_overlaps
from propnet.passes.simplify import simplify
from propnet.substitute import EffortError, Remake

PASSES = (simplify, share_overlaps, extract, simplify, extract, remove_dead)

GROWTH = 4
"""Before the passes there may be so many times the allowed gate inputs (see docs/measurements.md)."""


def with_legality(gates: Remake, legal: list[int], most_inputs: int) -> Network:
    """The network with these literals for the legality of its moves.

    Args:
        gates: a network without positive recursion, and new gates.
        legal: per move of all roles a literal over gates that need no move, and new ones.
        most_inputs: how many gate inputs there may be in the end.

    Raises:
        EffortError: there would be more, or there is recursion.
    """
    network = gates.network
    if len(network.loops):
        raise EffortError("positive recursion")
    circuit = remove_dead(_circuit(gates, legal))
    if circuit.gate_inputs > GROWTH * most_inputs:
        raise EffortError("too many gates")
    for rewrite in PASSES:
        circuit = rewrite(circuit)
    if circuit.gate_inputs > most_inputs:
        raise EffortError("too many gates")
    goals = [(role, value) for role, value, _ in network.goals.tolist()]
    return finish(circuit, network, goals, dict(network.stats))


def _circuit(gates: Remake, legal: list[int]) -> Circuit:
    """The gates that need no move, then the new ones, then those that need moves."""
    network, new, end = gates.network, gates.new_gates, gates.end
    start, inputs = network.gate_start.tolist(), network.gate_inputs.tolist()

    def shifted(x: int) -> int:
        return x if x >> 1 < end else x + 2 * len(new)

    old = [tuple(inputs[a:b]) for a, b in pairwise(start)]
    edge = network.base_gates
    moved = [tuple(map(shifted, gate)) for gate in old[edge:]]
    outputs = [*map(shifted, network.next_literals.tolist()), *legal]
    outputs += [*network.goals[:, 2].tolist(), int(network.terminal_literal)]
    shape = Shape(len(network.bases), tuple(map(len, network.moves)), len(network.goals), 0)
    return Circuit(shape, [tuple(sorted(gate)) for gate in (*old[:edge], *new, *moved)], outputs)
