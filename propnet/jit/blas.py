"""numba's first kernel without SciPy's linear algebra.

To find a BLAS, numba imports all of SciPy's linear algebra, which takes as long as numba itself. That SciPy
is installed proves the same; a function that uses the BLAS imports it later.
"""

# mypy: disallow-untyped-calls=False
# (numba has no types)

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec

from numba.np import linalg


def spare_import() -> None:
    """Let numba import its functions on arrays now, without SciPy's linear algebra."""
    if "numba.np.arraymath" in sys.modules or "scipy.linalg" in sys.modules:
        return
    whole = linalg.ensure_blas
    linalg.ensure_blas = _ensure_scipy
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = whole


def _ensure_scipy() -> None:
    if find_spec("scipy") is None:
        raise ImportError("SciPy is not installed")
