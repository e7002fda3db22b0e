"""`delivered`: solutions out of an engine's buffer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def delivered(found: NDArray[np.int32], ends: NDArray[np.int64]) -> list[NDArray[np.int32]]:
    """Solutions that stand one behind another in `found`, the options of each sorted.

    >>> delivered(np.array([2, 1, 0, 5], np.int32), np.array([2, 4]))
    [array([1, 2], dtype=int32), array([0, 5], dtype=int32)]
    """
    lengths = np.diff(ends, prepend=0)
    if len(ends) and (lengths == lengths[0]).all():
        return list(np.sort(found[: ends[-1]].reshape(len(ends), -1), axis=1))
    return [np.sort(part) for part in np.split(found, ends)[: len(ends)]]
