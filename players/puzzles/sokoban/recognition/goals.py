"""Which squares are goals, by probes: the best goal value holds when every goal has a box, or every box a goal."""

from __future__ import annotations

import numpy as np

from players.puzzles.sokoban.recognition.encoding import BOX, KEEPER
from players.puzzles.sokoban.recognition.probes import Probe
from propnet.jit.arrays import Flags, Octets
from propnet.kernels.records import pack
from propnet.network import Network
from propnet.passes.circuit import FALSE


def best_goal(network: Network) -> int:
    """The highest goal value that the network can have; 0 where it has none."""
    return max((value for _, value, literal in network.goals.tolist() if literal != FALSE), default=0)


def goal_squares(probe: Probe, best: int) -> list[int] | None:
    """The goals, ascending; None where the best goal value does not depend on the boxes in one of the ways
    that are known here. What they are is still to be checked."""
    for every in (_every_goal_has_a_box, _every_box_is_on_a_goal, _every_kind_is_on_a_goal):
        goals = every(probe, best)
        if goals is not None:
            return goals
    return None


def _every_goal_has_a_box(probe: Probe, best: int) -> list[int] | None:
    """Boxes of all kinds are everywhere; the best value is lost where those on a goal are missing."""
    squares = probe.encoding.squares
    keepers = [0, 1]
    status = np.full((2, squares), BOX, np.uint8)
    status[[0, 1], keepers] = KEEPER
    kept = _is_best(probe, _with_all_kinds(probe, status), best)
    status = np.full((squares, squares), BOX, np.uint8)
    status[np.arange(squares), np.arange(squares)] = KEEPER
    alone = _is_best(probe, _with_all_kinds(probe, status), best)
    if not kept.any() and not alone.any():
        return None
    return np.flatnonzero(~alone).tolist() or None


def _every_box_is_on_a_goal(probe: Probe, best: int) -> list[int] | None:
    """There are no boxes; the best value is lost where there is one that is not on a goal."""
    squares, kinds = probe.encoding.squares, len(probe.encoding.kinds)
    found: list[int] | None = None
    for kind in range(kinds):
        goals = np.zeros(squares, np.bool_)
        for keeper in (0, 1):
            status = np.zeros((squares + 1, squares), np.uint8)
            status[np.arange(squares), np.arange(squares)] = BOX + kind
            status[:, keeper] = KEEPER
            good = _is_best(probe, probe.encoding.bits(status), best)
            if not good[-1]:
                return None
            good[keeper] = False
            goals |= good[:-1]
        mine = np.flatnonzero(goals).tolist()
        if found is not None and mine != found:
            return None
        found = mine
    return found or None


def _every_kind_is_on_a_goal(probe: Probe, best: int) -> list[int] | None:
    """Boxes of all kinds but one are everywhere, and one of that kind on each square in turn."""
    squares, kinds = probe.encoding.squares, len(probe.encoding.kinds)
    found: list[int] | None = None
    for kind in range(kinds):
        goals = np.zeros(squares, np.bool_)
        for keeper in (0, 1):
            status = np.full((squares, squares), BOX, np.uint8)
            status[:, keeper] = KEEPER
            bits = _with_all_kinds(probe, status)
            content, _ = probe.encoding.rows[1 + kind]
            bits[:, content.bases] = content.squares == np.arange(squares)[:, None]
            good = _is_best(probe, bits, best)
            good[keeper] = False
            goals |= good
        mine = np.flatnonzero(goals).tolist()
        if found is not None and mine != found:
            return None
        found = mine
    return found or None


def _with_all_kinds(probe: Probe, status: Octets) -> Flags:
    """Propositions of statuses; where a box is, boxes of all kinds are."""
    encoding = probe.encoding
    bits = encoding.bits(status)
    for content, _ in encoding.rows[1 : 1 + len(encoding.kinds)]:
        bits[:, content.bases] = status[:, content.squares] >= BOX
    return bits


def _is_best(probe: Probe, bits: Flags, best: int) -> Flags:
    """Whether states have the best goal value."""
    good: Flags = probe.machine.evaluate(pack(bits)).goals[:, 0] == best
    return good
