"""The pipeline from ground rules to a network: named passes, each with its counts and its time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from gdl.errors import TooLargeError
from gdl.grounding.ground_rules import GroundRules
from propnet.network import Network
from propnet.passes.circuit import Circuit
from propnet.passes.constant_latches import constant_latches
from propnet.passes.construct import construct
from propnet.passes.dead import remove_dead
from propnet.passes.extract import extract
from propnet.passes.finish import finish
from propnet.passes.onehot import one_move_per_role
from propnet.passes.overlap import share_overlaps
from propnet.passes.prune import atom_rules, constants, reachable, without_moves
from propnet.passes.select import select_once
from propnet.passes.simplify import simplify

Pass = Callable[[Circuit], Circuit]

PASSES: tuple[tuple[str, Pass, float], ...] = (
    ("simplify", simplify, 2e-6),
    ("select_once", select_once, 2.5e-6),
    ("one_move_per_role", one_move_per_role, 1.5e-6),
    ("share_overlaps", share_overlaps, 1.2e-6),
    ("extract", extract, 4.5e-6),
    ("simplify_again", simplify, 2e-6),
    ("extract_again", extract, 4.5e-6),
    ("remove_dead", remove_dead, 3e-7),
)
"""What rewrites the circuit, in order: name, pass, and about how many CPU seconds it takes per
gate input. A pass keeps every output's function, given that each role makes exactly one move."""

LARGE = 50_000
"""In circuits with more gate inputs a pass is not run again if it brought little before, and
none is if extraction did."""

LITTLE = 0.02
"""Part of the gate inputs."""


@dataclass(frozen=True)
class BuildLimits:
    """What a build may cost.

    Attributes:
        literals: most body literals of the ground rules, and most gate inputs.
        seconds: about how many CPU seconds the passes may take. They are estimated, so that a
            game always gets the same network; a pass that would go on past that is left out
            (it would only make the network smaller).
    """

    literals: int = 20_000_000
    seconds: float = 6.0


def build(ground: GroundRules, limits: BuildLimits = BuildLimits()) -> Network:
    """Make the network of a game.

    Its outputs are right in every state that legal moves lead to from the initial state;
    elsewhere it may say that a base proposition, or a move's legality, is what it is in all
    of these.

    ``stats`` of the network holds, in the order of the passes, ``<pass>.gates``,
    ``<pass>.inputs`` (gate inputs after the pass) and ``<pass>.cpu_s``.

    Raises:
        TooLargeError: the rules are larger than ``limits`` allow.
        RulesError: an atom depends on its own negation.
    """
    if len(ground.bodies) > limits.literals:
        raise TooLargeError(
            f"the ground rules have {len(ground.bodies):,} literals, more than {limits.literals:,}",
            remedy="play with the prover, or raise the limit",
        )
    began = time.process_time()
    stats: dict[str, float] = {}
    rules = reachable(without_moves(atom_rules(ground)))
    rules, values = constants(rules)
    rules = reachable(rules)
    stats |= {"prune.rules": len(rules.heads), "prune.cpu_s": time.process_time() - began}
    start = time.process_time()
    circuit = construct(rules, values, tuple(map(len, ground.moves)), len(ground.goal_atoms))
    _note(stats, "construct", circuit, start)
    start = time.process_time()
    circuit = constant_latches(circuit, ground.initial)
    _note(stats, "constant_latches", circuit, start)
    vain: set[Pass] = set()
    spent = 0.0
    for name, rewrite, rate in PASSES:
        start = time.process_time()
        before = circuit.gate_inputs
        again = name.endswith("_again")
        if rewrite in vain or (again and extract in vain) or spent + rate * before > limits.seconds:
            continue
        spent += rate * before
        circuit = rewrite(circuit)
        if before > LARGE and circuit.gate_inputs > (1 - LITTLE) * before:
            vain.add(rewrite)
        _note(stats, name, circuit, start)
    start = time.process_time()
    network = finish(circuit, ground, [(role, value) for role, value, _ in ground.goal_atoms], stats)
    stats |= {
        "finish.gates": network.gates,
        "finish.inputs": len(network.gate_inputs),
        "finish.cpu_s": time.process_time() - start,
        "build.cpu_s": time.process_time() - began,
    }
    return network


def _note(stats: dict[str, float], name: str, circuit: Circuit, start: float) -> None:
    """Record what a pass left and took."""
    stats[f"{name}.gates"] = len(circuit.gates)
    stats[f"{name}.inputs"] = circuit.gate_inputs
    stats[f"{name}.cpu_s"] = time.process_time() - start
