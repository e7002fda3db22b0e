"""A belief: the states that a role may hold for possible, each with its weight.

It begins with the initial state and grows turn by turn: every joint move that the role did not see is played
in every world, and the worlds stay in which the role would have perceived what it did. While they are few
they are all there, with exact weights: chance draws all its moves alike, and so are the others taken to do.
Beyond that worlds are drawn, as particles. Where too few fit the percepts, the belief goes some turns back
and draws anew (HyperPlay: Schofield, Cerexhe and Thielscher, AAAI 2012).
"""

from __future__ import annotations

import math
import random
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.terms import Term
from players.belief.worlds import Options, StateWorlds, WorldMachine, Worlds, all_joints, drawn_joints
from propnet.capabilities import lane_machine

Weights = NDArray[np.float64]

LANE_WORLDS = 100_000
LANE_EFFORT = 1_000_000
STATE_WORLDS = 2_000
STATE_EFFORT = 8_000
"""Worlds of a belief, and joint moves that are played in a turn, at most: with lanes and without."""
ENOUGH = 32
"""Particles of which a belief must not have fewer, if more can be drawn."""
BACK = (1, 2, 4, 8)
"""How many turns it goes back, one after the other, to draw anew."""
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Observed:
    """What a role learnt of one turn: its own move, None where it is not known, and its percepts."""

    move: Term | None
    percepts: frozenset[Term]


class Belief:
    """What a role holds for possible in a match that is not over.

    Args:
        machine: any machine of the game.
        role: whose belief it is.
        worlds: how many states it holds at most; by default what the machine allows for.
        effort: how many joint moves it plays in a turn, at most.
        seed: of what is drawn.

    Attributes:
        history: what the role learnt, turn by turn.
        exact: whether it holds every possible state, with exact weights.
        weights: float64, shape (n,): of its states; they add up to 1.
    """

    def __init__(
        self,
        machine: Machine,
        role: int,
        *,
        worlds: int | None = None,
        effort: int | None = None,
        seed: int = 0,
    ) -> None:
        lanes = lane_machine(machine) is not None
        self.machine, self.role = machine, role
        self.history: list[Observed] = []
        self.exact = True
        self._most = worlds or (LANE_WORLDS if lanes else STATE_WORLDS)
        self._effort = effort or (LANE_EFFORT if lanes else STATE_EFFORT)
        self._asked = worlds, effort, seed
        self._numbers = np.random.default_rng([seed, role])
        self.world_machine = world_machine(machine, role)
        self._worlds = self.world_machine.of_states([machine.initial_state()])
        self.weights: Weights = np.ones(1)
        self._past: deque[tuple[Worlds, Weights]] = deque(maxlen=max(BACK))

    def __len__(self) -> int:
        """How many states it holds."""
        return len(self._worlds)

    @property
    def worlds(self) -> Worlds:
        """Its states, as :attr:`world_machine` takes them."""
        return self._worlds

    def states(self) -> list[State]:
        """Its states."""
        return [self.world_machine.state(self._worlds, number) for number in range(len(self))]

    def draw(self, rng: random.Random) -> State:
        """One of its states, by weight."""
        number = rng.choices(range(len(self)), self.weights.tolist())[0]
        return self.world_machine.state(self._worlds, number)

    @property
    def likeliest(self) -> State:
        """The state with the largest weight."""
        return self.world_machine.state(self._worlds, int(self.weights.argmax()))

    def legal_moves(self) -> list[int]:
        """Ids of the role's legal moves, ascending: those of its likeliest state. In sound games the role has
        the same moves in all of its states."""
        return self.machine.legal_moves(self.likeliest, self.role)

    def known(self, state: State) -> Belief:
        """A belief in one state alone, of this belief's machine."""
        other = Belief(self.machine, self.role)
        other._worlds = other.world_machine.of_states([state])
        return other

    def goes_on(self, other: Belief) -> bool:
        """Whether what the role learnt here begins with what it learnt there."""
        return self.history[: len(other.history)] == other.history

    def on(self, machine: Machine) -> Belief:
        """The belief after the same history on another machine of the game."""
        worlds, effort, seed = self._asked
        other = Belief(machine, self.role, worlds=worlds, effort=effort, seed=seed)
        for seen in self.history:
            other.update(seen)
        return other

    def update(self, seen: Observed, deadline: float = math.inf) -> bool:
        """Take in what the role learnt of a turn, after which the match goes on; whether it fits any state.

        What fits none is taken for a mistake of who told it: the belief goes on with all states that may
        follow, whatever was perceived. After ``deadline``, seconds of :func:`time.monotonic`, it draws no
        more worlds anew. Raises GdlError where no state can follow at all.
        """
        self._past.append((self._worlds, self.weights))
        self.history.append(seen)
        worlds, weights, exact = self._grown(self._worlds, self.weights, seen)
        exact = exact and self.exact
        if not exact and len(worlds) < ENOUGH:
            worlds, weights = self._drawn_anew(worlds, weights, deadline)
        fits = len(worlds) > 0
        if not fits:
            blank = Observed(seen.move, frozenset())
            worlds, weights, _ = self._grown(self._worlds, self.weights, blank, blind=True)
            if not len(worlds):
                worlds, weights, _ = self._grown(
                    self._worlds, self.weights, Observed(None, frozenset()), blind=True
                )
            exact = False
        if not len(worlds):
            self._past.pop()
            self.history.pop()
            raise GdlError("no state follows from what was possible: the match should be over")
        self._worlds, self.weights = worlds, weights / weights.sum()
        self.exact = exact
        return fits

    def _drawn_anew(self, worlds: Worlds, weights: Weights, deadline: float) -> tuple[Worlds, Weights]:
        """More worlds that fit, drawn from those of earlier turns, last of all from the initial state."""
        machine = self.world_machine
        for back in (*[back for back in BACK if back <= len(self._past)], len(self.history)):
            if (back > 1 and len(worlds) >= ENOUGH) or (back > max(BACK) and len(worlds)):
                break
            first = machine.of_states([self.machine.initial_state()]), np.ones(1)
            redrawn, theirs = first if back == len(self.history) else self._past[-back]
            for seen in self.history[-back:]:
                if time.monotonic() > deadline:
                    return worlds, weights
                # Only at the end few of them are enough.
                redrawn, theirs, _ = self._grown(redrawn, theirs, seen, most=self._effort)
                if not len(redrawn):
                    break
            worlds, weights = machine.merged(
                np.concatenate([worlds, redrawn]), np.concatenate([weights, theirs])
            )
        return self._thinned(worlds, weights, self._most)

    def _thinned(self, worlds: Worlds, weights: Weights, most: int) -> tuple[Worlds, Weights]:
        """At most so many of these worlds, drawn by weight."""
        if len(worlds) <= most:
            return worlds, weights
        chosen = self._numbers.choice(len(worlds), most, replace=False, p=weights / weights.sum())
        return worlds[chosen], np.full(most, 1 / most)

    def _grown(
        self,
        worlds: Worlds,
        weights: Weights,
        seen: Observed,
        *,
        blind: bool = False,
        most: int | None = None,
    ) -> tuple[Worlds, Weights, bool]:
        """The worlds that follow and fit, with weights that add up to what share of all fits, and whether
        they are all of these. ``blind``: whatever was perceived. ``most``: how many are kept."""
        move = self._own_move(seen.move)
        wanted = None if blind else self.world_machine.seen(seen.percepts)
        if move == -1 or (wanted is None and not blind):
            return worlds[:0], weights[:0], True
        options = self.world_machine.options(worlds, move)
        rows = options.open
        if not len(rows):
            return worlds[:0], weights[:0], True
        counts = options.counts[rows].astype(np.float64)
        total = counts.prod(axis=1).sum()
        if total <= self._effort:
            of, joints = all_joints(options, rows)
            shares = (weights[rows] / counts.prod(axis=1))[np.searchsorted(rows, of)]
            complete = True
        else:
            chances = weights[rows] / weights[rows].sum()
            of = rows[self._numbers.choice(len(rows), self._effort, p=chances)]
            joints = drawn_joints(options, of, self._numbers)
            shares = np.full(len(of), 1 / len(of))
            complete = False
        found, sums = self._kept(worlds, options, of, joints, shares, wanted)
        thinned, theirs = self._thinned(found, sums, most or self._most)
        return thinned, theirs, complete and len(thinned) == len(found)

    def _kept(
        self, worlds: Worlds, options: Options, of: Any, joints: Any, shares: Weights, wanted: Any
    ) -> tuple[Worlds, Weights]:
        """What of these successors fits, and is not the end of the match, each once."""
        machine = self.world_machine
        parts: list[tuple[Worlds, Weights]] = []
        for first in range(0, len(of), _CHUNK):
            part = slice(first, first + _CHUNK)
            after, perceived = machine.step(worlds[of[part]], joints[part])
            weights = shares[part]
            if wanted is not None:
                fits = machine.same(perceived, wanted)
                after, weights = after[fits], weights[fits]
            after, weights = machine.merged(after, weights)
            if len(after):
                goes_on = ~machine.terminal(after)
                parts.append((after[goes_on], weights[goes_on]))
        if not parts:
            return worlds[:0], shares[:0]
        return machine.merged(
            np.concatenate([after for after, _ in parts]), np.concatenate([weights for _, weights in parts])
        )

    def _own_move(self, move: Term | None) -> int | None:
        """The id of the role's own move; None for any, -1 for one that it never has."""
        if move is None:
            return None
        try:
            return self.machine.move_id(self.role, move)
        except GdlError:
            return -1


def world_machine(machine: Machine, role: int) -> WorldMachine:
    """The fastest that a machine allows for."""
    lanes = lane_machine(machine)
    if lanes is None:
        return StateWorlds(machine, role)
    from players.belief.lane_worlds import LaneWorlds

    return LaneWorlds(lanes, role)
