"""Which squares are goals, by probes: the best goal value holds when all boxes are on them."""

from __future__ import annotations

import numpy as np

from players.puzzles.sokoban.recognition.encoding import BOX, EMPTY
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
    status = np.full((squares + 1, squares), BOX, np.uint8)
    status[np.arange(squares), np.arange(squares)] = EMPTY
    good = _is_best(probe, _with_all_kinds(probe, status), best)
    return np.flatnonzero(~good[:-1]).tolist() or None if good[-1] else None


def _every_box_is_on_a_goal(probe: Probe, best: int) -> list[int] | None:
    """There are no boxes; the best value is lost where there is one that is not on a goal."""
    squares = probe.encoding.squares
    found: list[list[int]] = []
    for kind in range(len(probe.encoding.kinds)):
        status = np.zeros((squares + 1, squares), np.uint8)
        status[np.arange(squares), np.arange(squares)] = BOX + kind
        good = _is_best(probe, probe.encoding.bits(status), best)
        if not good[-1]:
            return None
        found.append(np.flatnonzero(good[:-1] & probe.encoding.can_hold).tolist())
    return _the_same(found)


def _every_kind_is_on_a_goal(probe: Probe, best: int) -> list[int] | None:
    """Boxes of all kinds but one are everywhere, and one of that kind on each square in turn."""
    squares = probe.encoding.squares
    found: list[list[int]] = []
    for kind in range(len(probe.encoding.kinds)):
        bits = _with_all_kinds(probe, np.full((squares, squares), BOX, np.uint8))
        content, _ = probe.encoding.rows[1 + kind]
        bits[:, content.bases] = content.squares == np.arange(squares)[:, None]
        found.append(np.flatnonzero(_is_best(probe, bits, best)).tolist())
    return _the_same(found)


def _the_same(found: list[list[int]]) -> list[int] | None:
    """The goals of all kinds of boxes, if they are the same."""
    return found[0] or None if all(goals == found[0] for goals in found) else None


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
