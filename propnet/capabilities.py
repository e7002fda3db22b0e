"""Capabilities of a machine beyond the rules, checked without importing the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from gdl.machine import Machine

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine


def lane_machine(machine: Machine | None) -> PropnetMachine | None:
    """The machine itself if it has a network and evaluates 512 states at once, in lanes; else None."""
    if machine is None or not machine.has_lanes:
        return None
    return cast("PropnetMachine", machine)
