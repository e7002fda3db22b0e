"""The first kernel imports no SciPy, and functions of linear algebra still compile after it."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import propnet.machine
assert "numba.np.arraymath" in sys.modules
assert "scipy.linalg" not in sys.modules
import numba, numpy as np
from numba.np import arraymath, linalg
assert arraymath._HAVE_BLAS
product = numba.njit(lambda a, b: np.dot(a, b))
square = np.arange(4.0).reshape(2, 2)
assert (product(square, square) == square @ square).all()
assert "scipy.linalg" in sys.modules
"""


def test_linear_algebra_is_imported_where_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
