"""The pipeline from ground rules to a network: prune, construct, constant_latches, :data:`PASSES`, finish.

To add a pass, write a module in :mod:`propnet.passes` and a row in :data:`PASSES`.

Percepts are outputs next to those of the next state: while the passes run they are base propositions that
nothing reads. So a pass treats them like everything on which the next state depends, and needs no knowledge
of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.errors import TooLargeError
from gdl.grounding.ground_rules import GroundRules
from gdl.terms import SEES, Term
from propnet.network import Network
from propnet.passes.circuit import Circuit, remove_dead
from propnet.passes.construct import construct, prune
from propnet.passes.extract import extract
from propnet.passes.finish import finish
from propnet.passes.onehot import constant_latches, one_move_per_role, select_once
from propnet.passes.simplify import simplify

Rewrite = Callable[[Circuit], Circuit]


class Pass(NamedTuple):
    """A row of the pipeline.

    Attributes:
        name: prefix of its counts in the network's ``stats``; unique.
        rewrite: keeps every output's function, given that each role makes exactly one move.
        cost: CPU seconds per gate input, roughly.
    """

    name: str
    rewrite: Rewrite
    cost: float


PASSES: tuple[Pass, ...] = (
    Pass("simplify", simplify, 2e-6),
    Pass("select_once", select_once, 2.5e-6),
    Pass("one_move_per_role", one_move_per_role, 1.5e-6),
    Pass("extract", extract, 4.5e-6),
    Pass("remove_dead", remove_dead, 3e-7),
)
"""The passes that rewrite the circuit, in order (costs: see docs/measurements.md)."""


@dataclass(frozen=True)
class BuildLimits:
    """The cost that a build may have: body ``literals`` of the ground rules, and CPU ``seconds`` of the
    passes, roughly. The seconds are estimated, so that a game always gets the same network. A pass that would
    exceed them is left out."""

    literals: int = 20_000_000
    seconds: float = 6.0


def build(ground: GroundRules, limits: BuildLimits = BuildLimits()) -> Network:
    """Build the network of a game.

    Its outputs are right in every state that legal moves lead to from the initial state. In other states a
    base proposition or a move's legality that is constant in all reachable states may keep its constant
    value.

    ``stats`` of the network holds, in the order of the passes, ``<pass>.gates``, ``<pass>.inputs`` (gate
    inputs after the pass) and ``<pass>.cpu_s``.

    Raises TooLargeError if the rules exceed ``limits``, RulesError if an atom depends on its own negation.
    """
    if len(ground.bodies) > limits.literals:
        raise TooLargeError(
            f"the ground rules have {len(ground.bodies):,} literals, more than {limits.literals:,}",
            remedy="play with the prover, or raise the limit",
        )
    log = _PassLog()
    seen, ground = ground, _percepts_as_bases(ground)
    rules, values = prune(ground)
    log.note("prune", rules=len(rules.heads))
    circuit = construct(rules, values, tuple(map(len, ground.moves)), len(ground.goal_atoms))
    log.note_circuit("construct", circuit)
    circuit = constant_latches(circuit, ground.initial)
    log.note_circuit("constant_latches", circuit)
    circuit = _run_passes(circuit, limits.seconds, log)
    network = finish(circuit, ground, [(role, value) for role, value, _ in ground.goal_atoms], log.stats)
    log.note("finish", gates=network.gates, inputs=len(network.gate_inputs))
    log.stats["build.cpu_s"] = log.last - log.start
    return _percepts_as_outputs(network, seen)


def _run_passes(circuit: Circuit, seconds: float, log: _PassLog) -> Circuit:
    """Run the passes, except those beyond the estimated time."""
    spent = 0.0
    for name, rewrite, cost in PASSES:
        if spent + cost * circuit.gate_inputs <= seconds:
            spent += cost * circuit.gate_inputs
            circuit = rewrite(circuit)
            log.note_circuit(name, circuit)
    return circuit


class _PassLog:
    """Records the counts that each pass left and the CPU time since the previous record."""

    def __init__(self) -> None:
        self.start = self.last = time.process_time()
        self.stats: dict[str, float] = {}

    def note(self, name: str, **counts: int) -> None:
        for count_name, count in counts.items():
            self.stats[f"{name}.{count_name}"] = count
        before, self.last = self.last, time.process_time()
        self.stats[f"{name}.cpu_s"] = self.last - before

    def note_circuit(self, name: str, circuit: Circuit) -> None:
        self.note(name, gates=len(circuit.gates), inputs=circuit.gate_inputs)


def _percepts_as_bases(ground: GroundRules) -> GroundRules:
    """The rules with a base proposition ``(sees ROLE PERCEPT)`` for each percept, after the others. It is
    true in the states after which the role has that percept. The rules themselves if there are no
    percepts."""
    more = len(ground.percept_atoms)
    if not more:
        return ground
    bases = len(ground.bases)
    number = np.arange(ground.atom_count, dtype=np.int64)
    number[bases:] += more

    def moved(atoms: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.where(atoms >= 0, number[atoms], -1).astype(np.int32)

    def atom(old: int) -> int:
        return int(number[old]) if old >= 0 else -1

    named = [
        Term(SEES, role, percept)
        for role, own in zip(ground.roles, ground.percepts, strict=True)
        for percept in own
    ]
    return replace(
        ground,
        bases=(*ground.bases, *named),
        atom_count=ground.atom_count + more,
        heads=moved(ground.heads),
        bodies=(2 * number[ground.bodies >> 1] + (ground.bodies & 1)).astype(np.int32),
        next_atoms=np.concatenate([moved(ground.next_atoms), moved(ground.percept_atoms)]),
        legal_atoms=moved(ground.legal_atoms),
        goal_atoms=tuple([(role, value, atom(old)) for role, value, old in ground.goal_atoms]),
        terminal_atom=atom(ground.terminal_atom),
        initial=np.concatenate([ground.initial, np.zeros(more, np.bool_)]),
        names={atom(old): name for old, name in ground.names.items()},
    )


def _percepts_as_outputs(network: Network, ground: GroundRules) -> Network:
    """The network of :func:`_percepts_as_bases` of these rules, without those base propositions; their next
    functions become its percepts."""
    more, bases = len(ground.percept_atoms), len(ground.bases)
    if not ground.percepts:
        return network
    node = np.arange(network.nodes, dtype=np.int64)
    node[1 + bases + more :] -= more
    network = network.renumbered(node)
    return replace(
        network,
        bases=ground.bases,
        next_literals=network.next_literals[:bases],
        initial=ground.initial,
        percepts=ground.percepts,
        percept_literals=network.next_literals[bases:],
    )
