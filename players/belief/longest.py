"""How long the longest match of a small game is."""

from __future__ import annotations

from players.belief.lane_worlds import LaneWorlds
from players.belief.worlds import all_joints
from propnet.machine import PropnetMachine

_EFFORT = 1_000_000
"""Joint moves that are tried."""


def longest_by_layers(machine: PropnetMachine, effort: int = _EFFORT) -> int | None:
    """The number of joint moves of the longest match, found by all states that stand after one move, after
    two and so on; None where so many joint moves are not enough."""
    worlds = LaneWorlds(machine, 0)
    layer = worlds.of_states([machine.initial_state()])
    steps = 0
    while True:
        options = worlds.options(layer)
        rows = options.open
        if not len(rows):
            return steps
        effort -= int(options.counts[rows].prod(axis=1).sum())
        if effort < 0:
            return None
        of, joints = all_joints(options, rows)
        layer, _ = worlds.unique(machine.successors(layer[of], joints))
        steps += 1
