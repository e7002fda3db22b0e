"""Plain breadth-first search, and a frontier search that is checked as far as its result alone tells."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from players.puzzles.frontier.frontier import FrontierSearch
from players.puzzles.frontier.outcome import FrontierResult, SearchLimits
from propnet.analysis.cones import step_clocks
from propnet.expander import Expander
from propnet.jit.arrays import Words
from propnet.kernels.records import pack
from propnet.machine import PropnetMachine
from tests.machines import network

PLENTY = 2 << 30


machine_of = cache(network)
"""The network machine of one of our games, or of some rules."""


def begun(machine: PropnetMachine, options: SearchLimits | None = None) -> FrontierSearch:
    """A search from the initial state."""
    start = machine.records([machine.initial_state()])
    return FrontierSearch(machine, start, options or SearchLimits(PLENTY, symmetry=False))


def searched(machine: PropnetMachine, options: SearchLimits | None = None) -> FrontierResult:
    """What the frontier finds; its lines are replayed."""
    search = begun(machine, options)
    try:
        while not search.step(time.monotonic() + 1.0):
            pass
        result = search.result()
    finally:
        search.close()
    assert result.proven
    assert_lines(machine, result)
    return result


def replay(prover: Machine, machine: Machine, moves: list[int]) -> State:
    """The last state of a line that begins at the start, on the prover."""
    state = prover.initial_state()
    for move in moves:
        assert not prover.is_terminal(state)
        there = prover.move_id(0, machine.move(0, move))
        assert there in prover.legal_moves(state, 0)
        state = prover.next_state(state, [there])
    return state


def assert_lines(machine: PropnetMachine, result: FrontierResult) -> None:
    """Each line, replayed on the prover, ends with the goal it is for."""
    prover = ProverMachine(machine.rules)
    assert result.value == max(result.lines, default=-1)
    assert result.moves == result.lines.get(result.value, [])
    for value, line in result.lines.items():
        state = replay(prover, machine, line)
        assert prover.is_terminal(state)
        assert (prover.result(state, 0) or 0) == value


@dataclass
class Visited:
    """What plain breadth-first search finds: states by depth, goal values with the depth of the nearest end,
    whether a state was met again at a greater depth."""

    layers: list[int] = field(default_factory=list)
    ends: dict[int, int] = field(default_factory=dict)
    merged: bool = False


def breadth_first(machine: PropnetMachine, mask: Words, perfect: int) -> Visited:
    """Visit the states, told apart by the bits of the mask (words,), until the highest goal is found."""
    expander = Expander(machine)
    layer = machine.records([machine.initial_state()])
    seen = {(layer[0] & mask).tobytes(): 0}
    found = Visited()
    while len(layer) and perfect not in found.ends:
        depth = len(found.layers)
        found.layers.append(len(layer))
        terminal, goals = machine.ends(layer)
        for value in np.maximum(goals[terminal, 0], 0).tolist():
            found.ends.setdefault(value, depth)
        following = []
        for chunk in expander.stream(layer):
            for record, key in zip(chunk.records.copy(), chunk.records & mask, strict=True):
                name = key.tobytes()
                if name not in seen:
                    seen[name] = depth + 1
                    following.append(record)
                elif seen[name] <= depth:
                    found.merged = True
        layer = np.array(following, np.uint64).reshape(-1, machine.words)
    return found


def passes(machine: PropnetMachine) -> Visited:
    """What the frontier is to find in games whose clocks only end the match after some steps: all again, with
    clocks, where only they may have ended a line."""
    goals = machine.network.goals.tolist()
    perfect = max(value for _, value, _ in goals)
    clock = pack(step_clocks(machine.network)[None, :])[0]
    first = breadth_first(machine, ~clock, perfect)
    if perfect in first.ends or not first.merged or not clock.any():
        return first
    return breadth_first(machine, np.full_like(clock, ~np.uint64(0)), perfect)
