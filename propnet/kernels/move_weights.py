"""A playout policy: a weight for every move, in the form for the weighted choice."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from propnet.jit.arrays import Index, Int32s, Octets
from propnet.jit.decorators import inner
from propnet.jit.vector512 import item

HEAVIEST = 7
"""The largest exponent of a weight."""


class Policy(NamedTuple):
    """Weights of moves, by classes of moves that weigh the same.

    ``order``, int32 (moves,), holds the moves of all roles, role by role, those of a role sorted by
    weight. ``classes``, int32 (classes, 3), has rows of :class:`WeightClass`. ``role_classes``, int32
    (roles + 1,), holds the number of each role's first class. Without classes the choice is uniform.
    """

    order: Int32s
    classes: Int32s
    role_classes: Int32s


class WeightClass(NamedTuple):
    """Moves that weigh 2**exponent: those at the places ``first <= i < end`` in :attr:`Policy.order`."""

    first: Index
    end: Index
    exponent: Index


def policy_of(exponents: Octets, role_moves: Int32s) -> Policy:
    """The policy by which a role makes each of its legal moves with a probability proportional to the move's
    weight, 2**exponent. ``exponents``, uint8 (moves,), 0 to :data:`HEAVIEST`, are numbered on from role to
    role. ``role_moves``, int32 (roles + 1,), holds the number of each role's first move. Raises ValueError if
    there is not one exponent for each move, or one is too large."""
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
        WeightClass(low, high, k % (HEAVIEST + 1))
        for (low, high), k in zip(pairwise(bounds), kinds, strict=True)
    ]
    begins = np.searchsorted(kinds, np.arange(roles + 1) * (HEAVIEST + 1))
    return Policy(order.astype(np.int32), np.array(classes, np.int32).reshape(-1, 3), begins.astype(np.int32))


UNIFORM = Policy(np.zeros(0, np.int32), np.zeros((0, 3), np.int32), np.zeros(0, np.int32))
"""Every legal move with the same probability."""


@inner
def class_of(policy: Policy, number: Index) -> WeightClass:
    """A row of the classes."""
    at = 3 * number
    rows = policy.classes
    return WeightClass(item(rows, at), item(rows, at + 1), np.int64(item(rows, at + 2)))
