"""From rules to what playing them shows: on the lanes of a network, or on the prover where there is none.

>>> from gdl.syntax.parser import parse_rules
>>> rules = parse_rules("(role a) (init p) (<= (legal a go) (true p)) (<= (next q) (does a go))")
>>> [finding.code for finding in rehearse(rules) if finding.severity == 2]
['stuck-role']
"""

from __future__ import annotations

from dataclasses import dataclass

from gdl.checks.diagnostic import Diagnostic
from gdl.errors import TooLargeError
from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.terms import BASE, INPUT
from players.rehearsal.declared import declared
from players.rehearsal.findings import Findings, GoalBounds
from players.rehearsal.walks import MOST_STEPS, walk

GROUND_BYTES = 1 << 30
GROUND_RULES = 500_000
"""More ground rules are not made into a network: that takes longer than the prover takes to play."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """How rules are tried.

    Attributes:
        playouts: how many.
        seconds: CPU time for grounding, and again wall time for the playouts.
        seed: of the moves.
    """

    playouts: int = 512
    seconds: float = 10.0
    seed: int = 1


def rehearse(rules: Rules, how: Rehearsal = Rehearsal()) -> list[Diagnostic]:
    """Play rules that have no errors, and say what went wrong.

    What it reports has happened in a match (the finding's ``evidence``), or follows from the ground rules;
    what it does not report may still be: these are random playouts.

    Raises:
        GdlError: the rules cannot be played at all.
    """
    machine, bounds = _machine(rules, how.seconds)
    walks = walk(machine, how.playouts, how.seconds, how.seed)
    findings = Findings(rules, walks)
    told = [*findings.of_play(), *findings.of_ends(bounds, walks.longest >= MOST_STEPS)]
    for signature, outside in (((BASE, 1), findings.outside_base), ((INPUT, 2), findings.outside_input)):
        try:
            facts = declared(rules, signature)
        except TooLargeError:
            continue  # more facts than a prover holds: the question stays open
        if facts is not None:
            told += outside(facts)
    return told


def _machine(rules: Rules, seconds: float) -> tuple[Machine, GoalBounds | None]:
    """A machine with lanes and what its ground rules say of the end; else the prover."""
    from gdl.grounding.pipeline import GroundLimits, ground
    from propnet.build import build
    from propnet.machine import PropnetMachine

    try:
        limits = GroundLimits(max_rules=GROUND_RULES, memory_bytes=GROUND_BYTES, cpu_seconds=seconds)
        network = build(ground(rules, limits))
    except TooLargeError:
        return ProverMachine(rules), None
    goals: list[int | None] = [None] * len(network.roles)
    for role, value, literal in network.goals.tolist():
        if literal != 1:
            goals[role] = max(value, goals[role] or 0)
    return PropnetMachine(rules, network), GoalBounds(tuple(goals), network.terminal_literal != 1)
