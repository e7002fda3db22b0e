"""A belief: the states that a role considers possible, each with its weight.

It begins with the initial state and grows turn by turn. Every joint move that fits the role's own move is
played in every world, and the worlds stay in which the role would have had its percepts. While there are few
worlds, the belief holds all of them with exact weights: chance, and by assumption the other roles, choose all
moves alike. Beyond that the worlds are drawn as particles. If too few fit the percepts, the belief goes back
some turns and draws again (HyperPlay: Schofield, Cerexhe and Thielscher, AAAI 2012).
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
from gdl.terms import Term
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
from players.belief.worlds import observed as observed
from propnet.capabilities import lane_machine

_LANE_WORLDS = 1_000_000
_LANE_EFFORT = 4_000_000
_STATE_WORLDS = 2_000
_STATE_EFFORT = 8_000
"""The most worlds of a belief, and the most joint moves played in a turn: with lanes and without."""
ENOUGH = 32
"""The fewest particles that a belief should have, if more can be drawn."""
BACK = (1, 2, 4, 8)
"""Numbers of turns to go back, tried one after the other, to draw again."""
SHARE = 0.3
"""Share of a turn's time that a belief may take to grow."""
_PAST = 1 << 15
"""Number of worlds kept from an earlier turn."""
_ASTRAY = 256
"""Number of worlds held, and of joint moves played, after percepts that fit no world."""


class Belief:
    """The states that a role considers possible in a match that is not over.

    Args:
        machine: any machine of the game.
        role: the role that holds the belief.
        worlds: the most states that it holds; by default as many as the machine allows.
        effort: the most joint moves that it plays in a turn.
        seed: seed of its random draws.

    Attributes:
        history: the role's observations, turn by turn.
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
        self._most = worlds or (_LANE_WORLDS if lanes else _STATE_WORLDS)
        self._effort = effort or (_LANE_EFFORT if lanes else _STATE_EFFORT)
        self._asked = worlds, effort, seed
        self._numbers = np.random.default_rng([seed, role])
        self.world_machine = world_machine(machine, role)
        self._worlds = self.world_machine.of_states([machine.initial_state()])
        self.weights: Weights = np.ones(1)
        self._ends: Weights | None = None
        self._past: deque[tuple[Worlds, Weights]] = deque(maxlen=max(BACK))

    def __len__(self) -> int:
        """Number of its states."""
        return len(self._worlds)

    @property
    def worlds(self) -> Worlds:
        """Its states, as :attr:`world_machine` takes them."""
        return self._worlds

    def states(self) -> list[State]:
        """Its states."""
        return [self.world_machine.state(self._worlds, number) for number in range(len(self))]

    def draw(self, rng: random.Random) -> State:
        """One of its states, drawn by weight."""
        if self._ends is None:
            self._ends = np.cumsum(self.weights)
        number = int(np.searchsorted(self._ends, rng.random() * self._ends[-1], "right"))
        return self.world_machine.state(self._worlds, min(number, len(self) - 1))

    def few(self, most: int) -> tuple[Worlds, Weights]:
        """Its worlds with their weights; if there are more than ``most``, that number drawn by weight, the
        same ones each time."""
        numbers = np.random.default_rng([len(self.history), self.role])
        return thinned(self._worlds, self.weights, most, numbers)

    @property
    def likeliest(self) -> State:
        """The state with the largest weight."""
        return self.world_machine.state(self._worlds, int(self.weights.argmax()))

    def legal_moves(self) -> list[int]:
        """Ids of the role's legal moves in its likeliest state, ascending. In sound games the role has the
        same moves in all of its states."""
        return self.machine.legal_moves(self.likeliest, self.role)

    def certain(self, state: State) -> Belief:
        """A belief in this one state of the belief's machine."""
        other = Belief(self.machine, self.role)
        other._worlds = other.world_machine.of_states([state])
        return other

    def rebuilt(self, machine: Machine) -> Belief:
        """The same states after the same history on another machine of the game. The new belief may hold as
        many as that machine allows."""
        other = Belief(machine, self.role)
        states = [machine.state_of(state.propositions) for state in self.states()]
        other._worlds, other.weights = other.world_machine.of_states(states), self.weights
        other.history, other.exact = [*self.history], self.exact
        return other

    def goes_on(self, other: Belief) -> bool:
        """Whether the history here begins with the history of ``other``."""
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
        """Take in the role's observations of a turn after which the match goes on. Returns whether they fit
        any state. Without lanes ``first`` is called with the first state that fits, long before all are
        found.

        Observations that fit no state are taken for an error of the sender: the belief goes on with some of
        the states that may follow, whatever the percepts. The update takes only a share of the time to
        ``deadline``, seconds of :func:`time.monotonic`; after that it draws no more worlds than it needs.
        Raises GdlError if no state can follow at all.
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
            raise GdlError("no state follows from the possible ones: the match should be over")
        self._worlds, self.weights, self._ends = worlds, weights / weights.sum(), None
        self.exact = exact
        return fits

    def copy(self) -> Belief:
        """An independent copy of the belief."""
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
        # Each turn keeps as many worlds as the effort allows; they are thinned at the end.
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
    """The fastest implementation that a machine allows."""
    lanes = lane_machine(machine)
    if lanes is None:
        return StateWorlds(machine, role)
    from players.belief.lane_worlds import LaneWorlds

    return LaneWorlds(lanes, role)


_MOST = 100_000
"""The most states of a belief that are examined."""
SURE = 1 - 1e-9
"""A proposition with at least this likelihood counts as true in all states of a belief."""


def likelihoods(belief: Belief) -> dict[Term, float]:
    """The share of a belief's weight in which each proposition is true, for those that are true in any
    state."""
    lanes = lane_machine(belief.machine)
    if lanes is not None:
        from players.belief.lane_worlds import LaneWorlds

        if isinstance(belief.world_machine, LaneWorlds):
            return _in_lanes(belief, lanes.network.bases)
    found: dict[Term, float] = {}
    for state, weight in zip(belief.states(), belief.weights.tolist(), strict=True):
        for term in state.propositions:
            found[term] = found.get(term, 0.0) + weight
    return found


def _in_lanes(belief: Belief, bases: tuple[Term, ...]) -> dict[Term, float]:
    from propnet.kernels.records import unpack

    worlds, weights = belief.few(_MOST)
    bits = unpack(worlds, len(bases)).view(np.uint8)
    shares = np.zeros(len(bases))
    # A part at a time: as numbers the bits take eight times as much memory.
    for first in range(0, len(bits), 4096):
        shares += weights[first : first + 4096] @ bits[first : first + 4096]
    return {bases[number]: float(shares[number]) for number in np.flatnonzero(shares)}
