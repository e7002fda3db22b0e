"""Creates the machine of a level for given rules; `auto` is the furthest that the game allows."""

from __future__ import annotations

import math
import os

from gdl.errors import GdlError, TooLargeError
from gdl.machine import Machine
from gdl.rules import Rules
from players.kaskade import LEVELS

COMPILE_SECONDS = 20.0
"""Default compile time of :func:`make_machine` in seconds, enough for nearly any game."""
_AUTO_COMPILE_SECONDS = 2.0
"""Default compile time for ``auto``, whose user is waiting for the game."""
_KEPT_LITERALS = 50_000
"""Ground rules with more body literals are not stored with their network."""


def compile_budget(usual: float) -> float:
    """Wall time for compiling a game's native code: ``$GGP_COMPILE_SECONDS``, or ``usual`` if it is not set.
    Raises GdlError if the variable is not a number of seconds."""
    chosen = os.environ.get("GGP_COMPILE_SECONDS")
    if not chosen:
        return usual
    try:
        seconds = float(chosen)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise GdlError(
            f"GGP_COMPILE_SECONDS is {chosen!r}", remedy="set it to a number of seconds, 0 for no native code"
        )
    return seconds


def make_machine(rules: Rules, level: str = "auto") -> Machine:
    """The machine of a level.

    Args:
        rules: the game.
        level: one of :data:`LEVELS`. ``native`` compiles as much of the network as it can in time and
            interprets the rest. ``auto`` does the same in less time, or is the prover if the game does not
            ground within its limits.

    Raises:
        GdlError: no such level.
        RulesError: the rules cannot be played.
        TooLargeError: a level above the prover was asked for and the game exceeds the limits.
    """
    if level not in LEVELS:
        raise GdlError(f"there is no machine {level!r}", remedy=f"choose {', '.join(LEVELS)}")
    if level == "prover":
        from gdl.prover.machine import ProverMachine

        return ProverMachine(rules)
    from gdl.grounding.pipeline import ground
    from propnet.build import build

    try:
        grounded = ground(rules)
        network = build(grounded)
    except TooLargeError:
        if level != "auto":
            raise
        return make_machine(rules, "prover")
    if level == "propnet":
        from propnet.machine import PropnetMachine

        machine = PropnetMachine(rules, network)
        if len(grounded.bodies) <= _KEPT_LITERALS:
            machine.ground = grounded
        return machine
    from propnet.native.machine import native_machine
    from propnet.native.object_cache import ObjectCache
    from propnet.recoding.registers import with_registers

    seconds = compile_budget(_AUTO_COMPILE_SECONDS if level == "auto" else COMPILE_SECONDS)
    machine = native_machine(rules, network, seconds=seconds, cache=ObjectCache())
    return machine if level == "auto" else with_registers(machine, seconds=seconds, cache=ObjectCache())
