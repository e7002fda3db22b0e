"""`Expert`: who says what states are worth by knowledge of the game, and how the tree asks about the children
of new nodes, all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from players.batch_machine import BatchMachine, Records
from players.uct.tree.arrays import Arrays
from players.uct.tree.guesses import count_children, list_children, set_guesses


class Expert(Protocol):
    """Says what states are worth, in games of two roles in which one gets what the other does not."""

    def over(self, records: Records) -> tuple[NDArray[np.bool_], NDArray[np.int16]]:
        """Whether the match is over in some states, bool, shape (n,), and the goals there, int16, shape (n,
        roles)."""

    def look(self, records: Records) -> tuple[NDArray[np.float32], NDArray[np.int16]]:
        """What some states are worth to role 0, 0..1, float32, shape (n,), and its results where the match is
        over and they are to be taken for proven, int16, shape (n,), else -1."""


def guess_children(
    arrays: Arrays,
    batched: BatchMachine,
    expert: Expert,
    pass_over: Callable[[Records], Records] | None,
    nodes: NDArray[np.int32],
) -> None:
    """Give the moves of some nodes that are open now what the states they lead to are worth. ``pass_over``
    finds the states that take the place of these, as in the tree."""
    count = count_children(arrays, nodes)
    if not count:
        return
    parents = np.empty(count, np.int32)
    joints = np.empty((count, arrays.counts.shape[1]), np.int32)
    list_children(arrays, nodes, parents, joints)
    records = batched.successors(arrays.records[parents], joints)
    if pass_over is not None:
        records = pass_over(records)
    set_guesses(arrays, nodes, *expert.look(records))


def warm_up_guesses(arrays: Arrays) -> None:
    """Compile or load the kernels, with a tree whose node 0 is open."""
    nodes = np.zeros(1, np.int32)
    count = count_children(arrays, nodes)
    joints = np.empty((count, arrays.counts.shape[1]), np.int32)
    list_children(arrays, nodes, np.empty(count, np.int32), joints)
    set_guesses(arrays, nodes, np.full(count, 0.5, np.float32), np.full(count, -1, np.int16))
