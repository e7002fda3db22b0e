"""Makes the machine of a level for some rules; `auto` is the furthest that the game allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gdl.errors import GdlError, TooLargeError
from gdl.machine import Machine
from gdl.rules import Rules
from players.kaskade.compile_budget import compile_seconds as budget

if TYPE_CHECKING:
    from gdl.grounding.pipeline import GroundLimits

LEVELS: Final = ("prover", "propnet", "native", "auto")
"""What ``--machine`` accepts."""


COMPILE_SECONDS = 20.0
"""What :func:`make_machine` gives the compiler, unless told otherwise: enough for nearly any game."""

AUTO_COMPILE_SECONDS = 2.0
"""The same for ``auto``, whose user waits for a game and not for a machine."""


def make_machine(
    rules: Rules,
    level: str = "auto",
    limits: GroundLimits | None = None,
    compile_seconds: float | None = None,
) -> Machine:
    """The machine of a level.

    Args:
        rules: the game.
        level: one of :data:`LEVELS`. ``native`` compiles the network, as far as it gets in time;
            the rest is interpreted. ``auto`` is the same in less time, or the prover where the
            game does not ground within the limits.
        limits: bounds on the grounder's memory, time and rules; its defaults if None.
        compile_seconds: wall time for compiling, or what ``$GGP_COMPILE_SECONDS`` says, or what is
            usual for the level if None; what was compiled before is read from disk.

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
    from gdl.grounding.pipeline import GroundLimits, ground
    from propnet.build import build

    try:
        network = build(ground(rules, limits or GroundLimits()))
    except TooLargeError:
        if level != "auto":
            raise
        return make_machine(rules, "prover")
    if level == "propnet":
        from propnet.machine import PropnetMachine

        return PropnetMachine(rules, network)
    from propnet.native.machine import native_machine
    from propnet.native.object_cache import ObjectCache

    if compile_seconds is None:
        compile_seconds = budget(AUTO_COMPILE_SECONDS if level == "auto" else COMPILE_SECONDS)
    return native_machine(rules, network, seconds=compile_seconds, cache=ObjectCache())
