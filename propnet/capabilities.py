"""What a machine can do beyond the rules, asked without importing the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from gdl.machine import Machine

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine


def lane_machine(machine: Machine | None) -> PropnetMachine | None:
    """The same machine if it has a network and evaluates 512 states at once, in lanes; else None."""
    if machine is None or not machine.has_lanes:
        return None
    return cast("PropnetMachine", machine)
