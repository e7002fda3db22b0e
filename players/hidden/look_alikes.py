"""Finds states that a role cannot distinguish although its legal moves or its goals differ there.

A role of a game of hidden information should know its legal moves, and at the end its goal, from its
observations (Thielscher, AAAI 2010). This module plays random matches. In each it follows all states that a
role considers possible, each with the joint moves of one way to it, as long as there are not too many.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gdl.information import playing
from gdl.machine import JointMove, Machine, State
from players.belief.belief import world_machine
from players.belief.worlds import Joints, Options, Rows, WorldMachine, Worlds, all_joints
from players.walks import Trail
from propnet.capabilities import lane_machine

_LANE_PAIRS, _PAIRS = 20_000, 400
"""The most joint moves that are played for one role in a turn: with lanes and without."""
_LONGEST = 60
"""Number of turns of a match that are followed."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Two states that a role cannot distinguish, and their difference.

    Attributes:
        role: its index.
        ways: the ways to the first and to the second state.
        move: the id of a move that is legal in the first state alone; None if the goals at the end differ.
        goals: the goals at the end in the first and in the second state.
    """

    role: int
    ways: tuple[Trail, Trail]
    move: int | None = None
    goals: tuple[int, int] = (0, 0)


class _Layer(NamedTuple):
    """Worlds after a turn; the world before each, and the joint move that led to it."""

    worlds: Worlds
    before: Rows
    joints: Joints


def doubts(machine: Machine, seconds: float, seed: int, matches: int = 64) -> list[Doubt]:
    """The first doubt of each role about its moves, and the first about its goal, found in at most
    ``matches`` random matches and about ``seconds`` of wall time."""
    deadline = time.monotonic() + seconds
    rng = random.Random(f"{seed} doubts")
    found: dict[tuple[int, bool], Doubt] = {}
    machines = {role: world_machine(machine, role) for role in playing(machine.roles)}
    for number in range(matches):
        followed = [_Followed(worlds, rng) for worlds in machines.values()]
        state = machine.initial_state()
        for _ in range(_LONGEST):
            if machine.is_terminal(state) or (number and time.monotonic() > deadline):
                break
            options = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
            if not all(options):
                break
            joint = [rng.choice(moves) for moves in options]
            for one in followed:
                for doubt in one.turn(state, joint):
                    found.setdefault((doubt.role, doubt.move is None), doubt)
            state = machine.next_state(state, joint)
    return [found[key] for key in sorted(found)]


class _Followed:
    """The states that one role considers possible in a match, turn by turn."""

    def __init__(self, machine: WorldMachine, rng: random.Random) -> None:
        self._machine, self._rng = machine, rng
        first = machine.of_states([machine.machine.initial_state()])
        nothing = np.zeros((1, len(machine.machine.roles)), np.int32)
        self._layers = [_Layer(first, np.zeros(1, np.int64), nothing)]
        self._most = _PAIRS if lane_machine(machine.machine) is None else _LANE_PAIRS

    def turn(self, state: State, joint: list[int]) -> Iterator[Doubt]:
        """Play the joint move of the match in ``state``; yields the doubts before and after it."""
        machine, role, layer = self._machine, self._machine.role, self._layers[-1]
        if not len(layer.worlds):
            return
        options = machine.options(layer.worlds)
        pair = _different_moves(options, role)
        if pair is not None:
            one, other, move = pair
            yield Doubt(role, (self._way(layer, one), self._way(layer, other)), move)
        of, joints = all_joints(options, options.open)
        fits = np.flatnonzero(joints[:, role] == joint[role])
        if len(fits) > self._most:
            fits = np.sort(np.array(self._rng.sample(fits.tolist(), self._most)))
        of, joints = of[fits], joints[fits]
        # The role's percepts in the possible states are compared with those in the match, the last row.
        everything = np.concatenate([layer.worlds[of], machine.of_states([state])])
        after, seen = machine.step(everything, np.concatenate([joints, np.array([joint], np.int32)]))
        codes = machine.codes(seen)
        same = np.flatnonzero(codes[:-1] == codes[-1])
        once, places = machine.unique(after[same])
        firsts = np.full(len(once), len(same), np.int64)
        np.minimum.at(firsts, places, np.arange(len(same)))
        chosen = same[firsts]
        reached = _Layer(once, of[chosen], joints[chosen])
        over = machine.terminal(once)
        ends = np.flatnonzero(over)
        goals = machine.goals(once[ends])
        if len(ends) and (goals != goals[0]).any():
            other = int(np.flatnonzero(goals != goals[0])[0])
            ways = self._way(reached, int(ends[0])), self._way(reached, int(ends[other]))
            yield Doubt(role, ways, None, (int(goals[0]), int(goals[other])))
        self._layers.append(_Layer(once[~over], reached.before[~over], reached.joints[~over]))

    def _way(self, layer: _Layer, number: int) -> Trail:
        """The way to a world of the layer ``layer`` or of the one after it."""
        state = self._machine.state(layer.worlds, number)
        moves: list[JointMove] = []
        before = self._layers if layer is not self._layers[-1] else self._layers[:-1]
        for earlier in reversed(before):
            moves.append(tuple(layer.joints[number].tolist()))
            number, layer = int(layer.before[number]), earlier
        return Trail(tuple(reversed(moves)), state)


def _different_moves(options: Options, role: int) -> tuple[int, int, int] | None:
    """Two worlds that go on, and a move of the role that is legal in the first alone; None for none."""
    worlds = np.flatnonzero(~options.terminal)
    starts = options.starts
    first: set[int] | None = None
    usual = options.counts[worlds, role]
    for number, count in zip(worlds.tolist(), usual.tolist(), strict=True):
        begin = int(starts[number, role])
        own = set(options.moves[begin : begin + count].tolist())
        if first is None:
            first, one = own, number
        elif own != first:
            return (one, number, min(first - own)) if first - own else (number, one, min(own - first))
    return None
