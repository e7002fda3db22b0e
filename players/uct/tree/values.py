"""Learnt values of states, given to the moves that lead to them, and backed up.

`Values` values all children of a new node at once. They are the priors of PUCT, and minimax keeps
them up to date (M. Lanctot, M. Winands, T. Pepels and N. Sturtevant: Monte Carlo tree search with heuristic
evaluations using implicit minimax backups, 2014). So a role sees at once where each of its moves leads:
best-first minimax (R. Korf and D. Chickering, 1996) if means of results count for nothing. A state in which
chance draws has the mean of its children's values. In self-play, `choose_moves` reads the best moves of many
small searches' roots at once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from players.uct.tree.arrays import OPEN, Arrays, Numbers, Paths
from propnet.jit.decorators import ARENA, inlined, kernel

if TYPE_CHECKING:
    from players.batch_machine import BatchMachine, Records

_ROUNDING = np.float32(1e-6)
"""Values that differ by less are the same."""
_ALIKE = np.float32(0.2)
"""The part of the shares of PUCT that is spread equally over all moves of a node."""
_NARROW = np.float32(1e-4)
"""If values differ by less, moves are alike."""


@kernel(**ARENA)
def count_children(tree: Arrays, nodes: Numbers) -> int:
    """Number of moves of the roles to move in those nodes that are open."""
    count = 0
    for i in range(len(nodes)):
        if tree.nodes[nodes[i]].status == OPEN and tree.nodes[nodes[i]].to_move >= 0:
            count += tree.nodes[nodes[i]].choices
    return count


@kernel(**ARENA)
def _list_children(tree: Arrays, nodes: Numbers, parents: Numbers, joints: Numbers) -> None:
    """The children of these nodes in the order of their edges. Fills in the node before each, shape
    (children,), and the joint move to it, shape (children, roles)."""
    row = 0
    for i in range(len(nodes)):
        node = nodes[i]
        if tree.nodes[node].status != OPEN or tree.nodes[node].to_move < 0:
            continue
        first = np.int64(tree.nodes[node].first_move)
        for edge in range(first, first + tree.nodes[node].choices):
            parents[row] = node
            other = np.int64(tree.nodes[node].first_edge)
            for role in range(joints.shape[1]):
                joints[row, role] = tree.edges[edge if role == tree.nodes[node].to_move else other].move
                other += tree.counts[node, role]
            row += 1


@kernel(**ARENA)
def _set_values(
    tree: Arrays,
    nodes: Numbers,
    values: NDArray[np.float32],
    results: NDArray[np.int16],
    chance: int,
) -> None:
    """Give the moves of these nodes the values of the states they lead to, in the order of
    :func:`_list_children`.

    ``values``: float32, shape (children,), role 0's, 0..1. ``results``: int16, same shape: role 0's result if
    the match is over and the result is to be taken for proven, else -1. ``chance`` is the role whose moves
    are drawn uniformly, -1 for none.

    The shares of PUCT differ by a factor e if values differ by as much as their standard deviation; a part
    of them is spread equally over all moves.
    """
    row = 0
    for i in range(len(nodes)):
        node = nodes[i]
        if tree.nodes[node].status != OPEN or tree.nodes[node].to_move < 0:
            continue
        first, count = np.int64(tree.nodes[node].first_move), np.int64(tree.nodes[node].choices)
        second = tree.nodes[node].to_move == 1
        best, total, squares = np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for edge in range(first, first + count):
            value = values[row]
            if results[row] >= 0:
                value = np.float32(results[row]) / np.float32(100.0)
                tree.edges[edge].proven = results[row]
                tree.edges[edge].limit = 100 - results[row] if second else results[row]
            row += 1
            if second:
                value = np.float32(1.0) - value
            tree.edges[edge].prior = value
            tree.edges[edge].worth = value
            best = max(best, value)
            total += value
            squares += value * value
        if tree.nodes[node].to_move == chance:
            best = total / np.float32(count)
        tree.nodes[node].value = np.float32(1.0) - best if second else best
        tree.nodes[node].prior_visits = np.float32(0.0)
        _set_shares(tree, first, count, best, total, squares)


@inlined
def _set_shares(
    tree: Arrays,
    first: np.int64,
    count: np.int64,
    best: np.float32,
    total: np.float32,
    squares: np.float32,
) -> None:
    """Give a node's moves their shares of PUCT."""
    edges = tree.edges
    mean = total / np.float32(count)
    spread = np.float32(math.sqrt(max(np.float32(0.0), squares / np.float32(count) - mean * mean)))
    scale = np.float32(1.0) / max(spread, _NARROW)
    shares = np.float32(0.0)
    for edge in range(first, first + count):
        edges[edge].share = np.float32(math.exp((edges[edge].prior - best) * scale))
        shares += edges[edge].share
    alike = _ALIKE / np.float32(count)
    rest = (np.float32(1.0) - _ALIKE) / shares
    for edge in range(first, first + count):
        edges[edge].share = alike + edges[edge].share * rest


@inlined
def raise_value(tree: Arrays, paths: Paths, path: int, depth: int, child: int, chance: int) -> bool:
    """Update the value of the node at ``depth`` of a path from its child's. ``chance``: as for
    :func:`_set_values`. Returns whether it has changed."""
    node = np.int64(paths.nodes[path, depth])
    to_move = np.int64(tree.nodes[node].to_move)
    if to_move < 0:
        return False
    edge = np.int64(paths.edges[path, depth, to_move])
    value = np.float32(tree.nodes[child].value)
    if tree.nodes[child].proven >= 0:
        value = np.float32(tree.nodes[child].proven) / np.float32(100.0)
    before = np.float32(tree.nodes[node].value)
    if to_move == 1:
        value, before = np.float32(1.0) - value, np.float32(1.0) - before
    old = tree.edges[edge].prior
    tree.edges[edge].prior = value
    if to_move == chance:
        tree.nodes[node].value += (value - old) / np.float32(tree.nodes[node].choices)
        return True
    best = value
    if value < before:
        if old < before - _ROUNDING:
            return False
        first = np.int64(tree.nodes[node].first_move)
        for other in range(first, first + tree.nodes[node].choices):
            best = max(best, tree.edges[other].prior)
    tree.nodes[node].value = np.float32(1.0) - best if to_move == 1 else best
    return True


class Values(Protocol):
    """Values of states, in games of two roles in which one gets what the other does not.

    Attributes:
        chance: the role whose moves are drawn uniformly, after these two; -1 for none.
    """

    @property
    def chance(self) -> int: ...

    def over(self, records: Records) -> tuple[NDArray[np.bool_], NDArray[np.int16]]:
        """Whether the match is over in some states, bool, shape (n,), and the goals there, int16, shape (n,
        roles)."""

    def look(self, records: Records) -> tuple[NDArray[np.float32], NDArray[np.int16]]:
        """The values of some states to role 0, 0..1, float32, shape (n,); and its results, int16, shape (n,),
        in states where the match is over and the result is to be taken for proven, else -1."""


def value_children(
    arrays: Arrays,
    batched: BatchMachine,
    values: Values,
    nodes: NDArray[np.int32],
) -> None:
    """Give the moves of newly opened nodes the values of the states they lead to."""
    count = count_children(arrays, nodes)
    if not count:
        return
    parents = np.empty(count, np.int32)
    joints = np.empty((count, arrays.counts.shape[1]), np.int32)
    _list_children(arrays, nodes, parents, joints)
    records = batched.successors(arrays.records[parents], joints)
    _set_values(arrays, nodes, *values.look(records), values.chance)


def warm_up_values(arrays: Arrays) -> None:
    """Compile or load the kernels, with a tree whose node 0 is open."""
    nodes = np.zeros(1, np.int32)
    count = count_children(arrays, nodes)
    joints = np.empty((count, arrays.counts.shape[1]), np.int32)
    _list_children(arrays, nodes, np.empty(count, np.int32), joints)
    _set_values(arrays, nodes, np.full(count, 0.5, np.float32), np.full(count, -1, np.int16), -1)
    choose_moves(arrays, nodes, np.zeros(1, np.bool_), np.zeros(1), joints[:1])


_SURE = 1e6
"""Weight of a proven win, compared to visits."""


@kernel(**ARENA)
def choose_moves(
    tree: Arrays,
    roots: Numbers,
    random: NDArray[np.bool_],
    draws: NDArray[np.float64],
    joints: Numbers,
) -> None:
    """Fill in the joint moves, shape (n, roles), of some open nodes: the most visited move, and of equally
    visited ones the best. If ``random``, the move is drawn by ``draws``, 0..1, shape (n,). All roles except
    the one to move make their first move."""
    nodes, edges = tree.nodes, tree.edges
    for i in range(len(roots)):
        node = roots[i]
        if nodes[node].status != OPEN:
            continue
        to_move = max(np.int64(nodes[node].to_move), np.int64(0))
        first = np.int64(nodes[node].first_edge)
        for role in range(joints.shape[1]):
            count = np.int64(tree.counts[node, role])
            chosen = first
            if role == to_move:
                best = -np.inf
                for edge in range(first, first + count):
                    score = edges[edge].visits + np.float64(edges[edge].worth)
                    proven = np.float64(edges[edge].proven)
                    if proven >= 0.0:
                        score = _SURE * ((50.0 - proven if to_move == 1 else proven - 50.0) / 50.0) + score
                    if score > best:
                        best, chosen = score, np.int64(edge)
                if random[i]:
                    chosen = first + min(np.int64(draws[i] * count), count - 1)
            joints[i, role] = edges[chosen].move
            first += count
