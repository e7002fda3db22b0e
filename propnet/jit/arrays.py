"""Types of arrays and numbers in kernels, for readers and type checkers; numba infers its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
"""Vectors, shape (n, 8), or records, shape (n, words)."""
Offsets = NDArray[np.uint32]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]
Goals = NDArray[np.int16]
Octets = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

Index = int | np.int64
"""Counters and indices in kernels."""
Vector = int
"""A value of 512 bits, one per lane (:mod:`propnet.jit.vector512`): it has the operations of an integer."""
