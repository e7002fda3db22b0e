"""A quicker comparison of numba's compiler flags.

numba looks up overloads by a key that holds its flags, ten thousand times for a larger kernel. Its own
comparison lists all flags with their defaults each time, which was a sixth of the time to compile.
"""

# mypy: disallow-untyped-calls=False
# (numba has no types)

from __future__ import annotations

from typing import Any

from numba.core.targetconfig import TargetConfig


def compare_quickly() -> None:
    """Have numba use it in this process."""
    flags: Any = TargetConfig
    flags.__eq__, flags.__hash__ = _equal, _hash


def _equal(flags: Any, other: object) -> Any:
    """Whether all flags have the same values. A default counts the same whether it was set or left out."""
    if not isinstance(other, TargetConfig):
        return NotImplemented
    if type(flags) is not type(other):
        return flags.values() == other.values()
    return flags._values == other._values or _chosen(flags) == _chosen(other)


def _chosen(flags: Any) -> dict[str, Any]:
    options = flags.options
    return {name: value for name, value in flags._values.items() if value != options[name].default}


def _hash(flags: Any) -> int:
    """The same for all: the types of the arguments, which are in numba's keys too, tell these apart."""
    return 0
