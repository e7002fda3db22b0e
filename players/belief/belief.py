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
from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import replace

import numpy as np

from gdl.errors import GdlError
from gdl.machine import Machine, State
from players.belief.worlds import (
    Following,
    Limits,
    StateWorlds,
    Weights,
    WorldMachine,
    Worlds,
    thinned,
)
from players.belief.worlds import Observed as Observed
from propnet.capabilities import lane_machine

LANE_WORLDS = 1_000_000
LANE_EFFORT = 4_000_000
STATE_WORLDS = 2_000
STATE_EFFORT = 8_000
"""Worlds of a belief, and joint moves that are played in a turn, at most: with lanes and without."""
ENOUGH = 32
"""Particles of which a belief must not have fewer, if more can be drawn."""
BACK = (1, 2, 4, 8)
"""How many turns it goes back, one after the other, to draw anew."""
SHARE = 0.3
"""What share of a turn's time a belief may take to grow."""
_PAST = 1 << 15
"""Worlds that are kept of an earlier turn."""
_ASTRAY = 256
"""Worlds that are held, and joint moves that are played, after percepts that fit none."""


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
        self._ends: Weights | None = None
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
        if self._ends is None:
            self._ends = np.cumsum(self.weights)
        number = int(np.searchsorted(self._ends, rng.random() * self._ends[-1], "right"))
        return self.world_machine.state(self._worlds, min(number, len(self) - 1))

    def few(self, most: int) -> tuple[Worlds, Weights]:
        """Its worlds with their weights; where there are more than ``most``, so many are drawn by weight,
        the same ones each time."""
        numbers = np.random.default_rng([len(self.history), self.role])
        return thinned(self._worlds, self.weights, most, numbers)

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

    def rebuilt(self, machine: Machine) -> Belief:
        """The same states after the same history on another machine of the game, which may hold as many as
        that machine allows for."""
        other = Belief(machine, self.role)
        states = [machine.state_of(state.propositions) for state in self.states()]
        other._worlds, other.weights = other.world_machine.of_states(states), self.weights
        other.history, other.exact = [*self.history], self.exact
        return other

    def goes_on(self, other: Belief) -> bool:
        """Whether what the role learnt here begins with what it learnt there."""
        return self.history[: len(other.history)] == other.history

    def on(self, machine: Machine, deadline: float = math.inf) -> Belief:
        """The belief after the same history on another machine of the game; for ``deadline`` see
        :meth:`update`."""
        worlds, effort, seed = self._asked
        other = Belief(machine, self.role, worlds=worlds, effort=effort, seed=seed)
        for seen in self.history:
            other.update(seen, deadline)
        return other

    def update(
        self,
        seen: Observed,
        deadline: float = math.inf,
        first: Callable[[State], None] | None = None,
    ) -> bool:
        """Take in what the role learnt of a turn, after which the match goes on; whether it fits any state.
        Without lanes ``first`` gets the first state that fits, long before all are found.

        What fits none is taken for a mistake of who told it: the belief goes on with some of the states that
        may follow, whatever was perceived. It takes no more than a share of the time to ``deadline``, seconds
        of :func:`time.monotonic`: then it draws no more worlds than it needs. Raises GdlError where no state
        can follow at all.
        """
        before = self._worlds, self.weights
        now = time.monotonic()
        share = SHARE * (deadline - now)
        limits = Limits(self._effort, self._most, now + share, now + 2 * share, first)
        grown = self._follow(*before, seen, limits)
        worlds, weights, exact = grown.worlds, grown.weights, grown.complete and self.exact
        self.history.append(seen)
        self._past.append(thinned(*before, _PAST, self._numbers))
        if not exact and len(worlds) < ENOUGH and self.world_machine.can_be(seen):
            worlds, weights = self._drawn_anew(worlds, weights, limits)
        fits = len(worlds) > 0
        for move in () if fits else (seen.move, None):
            astray = Limits(_ASTRAY, _ASTRAY)
            few = thinned(*before, _ASTRAY, self._numbers)
            grown = self._follow(*few, Observed(move, frozenset()), astray, blind=True)
            worlds, weights, exact = grown.worlds, grown.weights, False
            if len(worlds):
                break
        if not len(worlds):
            self._past.pop()
            self.history.pop()
            raise GdlError("no state follows from what was possible: the match should be over")
        self._worlds, self.weights, self._ends = worlds, weights / weights.sum(), None
        self.exact = exact
        return fits

    def copy(self) -> Belief:
        """The same belief, which goes on by itself."""
        other = copy(self)
        other.history, other._past = [*self.history], self._past.copy()
        other._numbers = deepcopy(self._numbers)
        return other

    def _follow(
        self, worlds: Worlds, weights: Weights, seen: Observed, limits: Limits, *, blind: bool = False
    ) -> Following:
        return self.world_machine.follow(worlds, weights, seen, limits, self._numbers, blind=blind)

    def _drawn_anew(self, worlds: Worlds, weights: Weights, limits: Limits) -> tuple[Worlds, Weights]:
        """More worlds that fit, drawn from those of earlier turns, last of all from the initial state."""
        machine = self.world_machine
        # Only at the end few of them are enough.
        sooner = replace(limits, worlds=limits.effort, end=limits.deadline, first=None)
        for back in (*[back for back in BACK if back <= len(self._past)], len(self.history)):
            if (back > 1 and len(worlds) >= ENOUGH) or (back > max(BACK) and len(worlds)):
                break
            first = machine.of_states([self.machine.initial_state()]), np.ones(1)
            redrawn, theirs = first if back == len(self.history) else self._past[-back]
            for seen in self.history[-back:]:
                if time.monotonic() > limits.deadline:
                    return worlds, weights
                grown = self._follow(redrawn, theirs, seen, sooner)
                redrawn, theirs = grown.worlds, grown.weights
                if not len(redrawn):
                    break
            worlds, weights = machine.merged(
                np.concatenate([worlds, redrawn]), np.concatenate([weights, theirs])
            )
        return thinned(worlds, weights, limits.worlds, self._numbers)


def world_machine(machine: Machine, role: int) -> WorldMachine:
    """The fastest that a machine allows for."""
    lanes = lane_machine(machine)
    if lanes is None:
        return StateWorlds(machine, role)
    from players.belief.lane_worlds import LaneWorlds

    return LaneWorlds(lanes, role)
