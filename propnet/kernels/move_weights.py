"""A playout policy: a weight for every move, as the weighted choice takes it."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inner
from propnet.jit.vector512 import raw

HEAVIEST = 7
"""The largest exponent of a weight."""


class Policy(NamedTuple):
    """Weights of moves, by classes of moves that weigh the same.

    ``order``, int32 (moves,), holds the moves of all roles, role by role, those of a role sorted by
    weight. ``classes``, int32 (classes, 3), has the first and the past-the-last place in that order,
    and the exponent: such a move weighs 2**exponent. ``role_classes``, int32 (roles + 1,), tells
    where each role's classes begin. Without classes the choice is uniform.
    """

    order: NDArray[np.int32]
    classes: NDArray[np.int32]
    role_classes: NDArray[np.int32]


def policy_of(exponents: NDArray[np.uint8], role_moves: NDArray[np.int32]) -> Policy:
    """The policy by which a role makes each of its legal moves with a chance in proportion to the
    move's weight, 2**exponent.

    Args:
        exponents: uint8, shape (moves,), 0 to :data:`HEAVIEST`; moves count on from role to role.
        role_moves: int32, shape (roles + 1,): where each role's moves begin.

    Raises:
        ValueError: there is not one exponent for each move, or one is too large.
    """
    if exponents.shape != (role_moves[-1],):
        raise ValueError(f"{exponents.shape} exponents for {role_moves[-1]} moves")
    if exponents.size and exponents.max() > HEAVIEST:
        raise ValueError(f"an exponent is {exponents.max()}, but the largest allowed is {HEAVIEST}")
    roles = len(role_moves) - 1
    owner = np.repeat(np.arange(roles), np.diff(role_moves))
    kind = owner * (HEAVIEST + 1) + exponents
    order = np.argsort(kind, kind="stable")
    kinds, first = np.unique(kind[order], return_index=True)
    bounds = np.append(first, len(order))
    classes = [
        (low, high, k % (HEAVIEST + 1)) for (low, high), k in zip(pairwise(bounds), kinds, strict=True)
    ]
    begins = np.searchsorted(kinds, np.arange(roles + 1) * (HEAVIEST + 1))
    return Policy(order.astype(np.int32), np.array(classes, np.int32).reshape(-1, 3), begins.astype(np.int32))


UNIFORM = Policy(np.zeros(0, np.int32), np.zeros((0, 3), np.int32), np.zeros(0, np.int32))
"""Every legal move with the same chance."""


@inner
def uncounted_policy(policy: Policy) -> Policy:
    """The same with bare pointers (:func:`propnet.jit.vector512.raw`); ``policy`` must outlive it."""
    return Policy(raw(policy.order), raw(policy.classes), raw(policy.role_classes))
