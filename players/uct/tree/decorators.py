"""How the loops of the tree are compiled, which go through its arrays step by step, millions a second.

Such a loop makes no arrays of its own, so references to arrays need not be counted, which else costs as
much as the work of a step. And what it calls at each step is copied into it, so that a function may be given
the whole tree: a call proper would hand over all of its arrays (see docs/measurements.md).
"""

# mypy: disallow-untyped-calls=False
# (numba has no types)

from __future__ import annotations

from typing import Any

from numba import njit

ARENA: dict[str, Any] = {"nogil": True, "_nrt": False}
"""Options of a :func:`~propnet.jit.decorators.kernel` that works on the arrays it is given and makes none."""

inlined: Any = njit(inline="always")
"""A function that numba copies into the kernels that call it, before it looks at types."""
