"""Makes the machine of a level for some rules; `auto` is the furthest that the game allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gdl.errors import GdlError, TooLargeError
from gdl.machine import Machine
from gdl.rules import Rules

if TYPE_CHECKING:
    from gdl.ground import GroundLimits

LEVELS: Final = ("prover", "propnet", "auto")
"""What ``--machine`` accepts."""


def make_machine(rules: Rules, level: str = "auto", limits: GroundLimits | None = None) -> Machine:
    """The machine of a level.

    Args:
        rules: the game.
        level: one of :data:`LEVELS`. ``auto`` is the propnet, or the prover where the
            game does not ground within the limits.
        limits: bounds on the grounder's memory, time and rules; its defaults if None.

    Raises:
        GdlError: no such level.
        RulesError: the rules cannot be played.
        TooLargeError: ``propnet`` was asked for and the game exceeds the limits.
    """
    if level not in LEVELS:
        raise GdlError(f"there is no machine {level!r}", remedy=f"choose {', '.join(LEVELS)}")
    if level != "prover":
        try:
            return _propnet(rules, limits)
        except TooLargeError:
            if level == "propnet":
                raise
    from gdl.prover import ProverMachine

    return ProverMachine(rules)


def _propnet(rules: Rules, limits: GroundLimits | None) -> Machine:
    from gdl.ground import GroundLimits, ground
    from propnet.build import build
    from propnet.interpret import PropnetMachine

    return PropnetMachine(rules, build(ground(rules, limits or GroundLimits())))
