"""Possible states in arrays: their legal moves, and the successors that a role could have perceived.

A set of *worlds* is an array with a row per state. On machines with lanes the rows are packed records, 512 of
which are evaluated at once; on others they are the states themselves.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.terms import SEES, Term

Worlds = NDArray[Any]
Weights = NDArray[np.float64]
Rows = NDArray[np.int64]
Joints = NDArray[np.int32]
_ASKED = 32
_LOOK, _LEAST = 16, 1_500
"""Joint moves on machines without lanes between two checks of the clock, and before the first. On a busy
computer a shorter interval does not measure the work done in it."""


@dataclass(frozen=True, slots=True)
class Observed:
    """A role's observations in one turn: its own move, None if it is not known, and its percepts."""

    move: Term | None
    percepts: frozenset[Term]


def observed(state: State, joint: Sequence[int]) -> list[Observed]:
    """The move and the percepts of each role for a joint move."""
    machine = state.machine
    seen = machine.percepts(state, joint)
    return [Observed(machine.move(role, move), seen[role]) for role, move in enumerate(joint)]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a set of worlds that grows in a turn.

    Attributes:
        effort: the most joint moves that are played; if there are more, this number is drawn.
        worlds: the most worlds that are kept.
        deadline: seconds of :func:`time.monotonic` after which only the necessary number is drawn.
        end: a later time, after which little is played on machines without lanes, whether it fits or not.
        first: called on machines without lanes with the first state that fits, as soon as it is found.
    """

    effort: int
    worlds: int
    deadline: float = math.inf
    end: float = math.inf
    first: Callable[[State], None] | None = None


@dataclass(frozen=True, slots=True)
class Following:
    """The worlds that follow and go on, each once. The sum of the weights is the share of these worlds in all
    that may follow; ``complete``: whether they are all of them."""

    worlds: Worlds
    weights: Weights
    complete: bool


@dataclass(frozen=True, slots=True)
class Options:
    """The options of each of n worlds.

    Attributes:
        terminal: bool, shape (n,): whether the match is over there.
        counts: int64, shape (n, roles): numbers of legal moves.
        moves: int32: their ids, world by world, role by role.
    """

    terminal: NDArray[np.bool_]
    counts: NDArray[np.int64]
    moves: NDArray[np.int32]

    @property
    def starts(self) -> NDArray[np.int64]:
        """int64, shape (n, roles): where each role's moves begin in :attr:`moves`."""
        ends = np.cumsum(self.counts.reshape(-1))
        return (ends - self.counts.reshape(-1)).reshape(self.counts.shape)

    @property
    def open(self) -> NDArray[np.int64]:
        """The worlds that go on: the match is not over, and every role has a move."""
        return np.flatnonzero(~self.terminal & (self.counts > 0).all(axis=1))


class WorldMachine(ABC):
    """Operations on many worlds, for one role and its share of the percepts."""

    def __init__(self, machine: Machine, role: int) -> None:
        self.machine = machine
        self.role = role

    @abstractmethod
    def of_states(self, states: Iterable[State]) -> Worlds:
        """States of this machine as worlds."""

    @abstractmethod
    def state(self, worlds: Worlds, number: int) -> State:
        """One world as a state."""

    @abstractmethod
    def options(self, worlds: Worlds) -> Options:
        """The options of each world."""

    @abstractmethod
    def follow(
        self,
        worlds: Worlds,
        weights: Weights,
        seen: Observed,
        limits: Limits,
        numbers: np.random.Generator,
        *,
        blind: bool = False,
    ) -> Following:
        """The successors of these worlds in a turn with these observations; ``blind``: the percepts do not
        count. All random draws come from ``numbers``."""

    @abstractmethod
    def can_be(self, seen: Observed) -> bool:
        """Whether the role can ever make this move and have these percepts, as far as a quick look at the
        rules shows."""

    @abstractmethod
    def terminal(self, worlds: Worlds) -> NDArray[np.bool_]:
        """Whether the match is over in each."""

    @abstractmethod
    def step(self, worlds: Worlds, joints: Joints) -> tuple[Worlds, NDArray[Any]]:
        """The worlds after a joint move in each, int32 (n, roles); and the role's percepts on the way, a row
        or an object per world: equal if the percepts are equal."""

    @abstractmethod
    def goals(self, worlds: Worlds) -> NDArray[np.float64]:
        """The role's goal in each world, 50 if it has none."""

    @abstractmethod
    def unique(self, worlds: Worlds) -> tuple[Worlds, NDArray[np.int64]]:
        """Each world once, on machines with lanes in an order that depends only on the worlds; and the place
        of each given world among them."""

    @abstractmethod
    def codes(self, seen: NDArray[Any]) -> NDArray[np.int64]:
        """Numbers for percepts: equal percepts have equal numbers."""

    def merged(self, worlds: Worlds, weights: Weights) -> tuple[Worlds, Weights]:
        """Each world once, with the weights of its copies added up."""
        once, places = self.unique(worlds)
        return once, np.bincount(places, weights, len(once)).astype(np.float64)

    def own_move(self, move: Term | None) -> int | None:
        """The id of a move of the role; None for any, -1 for one that it never has."""
        if move is None:
            return None
        try:
            return self.machine.move_id(self.role, move)
        except GdlError:
            return -1


class StateWorlds(WorldMachine):
    """Worlds as states, one after another, on any machine."""

    def of_states(self, states: Iterable[State]) -> Worlds:
        return _objects(list(states))

    def state(self, worlds: Worlds, number: int) -> State:
        return cast(State, worlds[number])

    def options(self, worlds: Worlds) -> Options:
        return self._options(worlds, [])

    def _options(self, worlds: Worlds, made: list[list[int]]) -> Options:
        """The options of each world; if ``made`` is not empty, it holds the role's moves in each world."""
        machine, roles = self.machine, range(len(self.machine.roles))
        lists = [
            [
                made[number] if made and role == self.role else machine.legal_moves(state, role)
                for role in roles
            ]
            for number, state in enumerate(worlds)
        ]
        counts = np.array([[len(moves) for moves in row] for row in lists], np.int64).reshape(-1, len(roles))
        moves = np.array([move for row in lists for moves in row for move in moves], np.int32)
        return Options(self.terminal(worlds), counts, moves)

    def follow(
        self,
        worlds: Worlds,
        weights: Weights,
        seen: Observed,
        limits: Limits,
        numbers: np.random.Generator,
        *,
        blind: bool = False,
    ) -> Following:
        move = self.own_move(seen.move)
        nothing = Following(worlds[:0], weights[:0], True)
        if move == -1 or not (blind or self.can_be(seen)):
            return nothing
        options = self._options(worlds, [] if move is None else self._own_moves(worlds, move))
        of, joints, shares, complete = pairs_of(options, weights, limits.effort, numbers)
        if not len(of):
            return nothing
        order = np.arange(len(of)) if math.isinf(limits.deadline) else numbers.permutation(len(of))
        sums: dict[State, float] = {}
        first = limits.first
        for done, place in enumerate(order.tolist()):
            if (
                done >= _LEAST
                and done % _LOOK == 0
                and time.monotonic() > (limits.deadline if sums else limits.end)
            ):
                complete = False
                break
            state, joint = worlds[of[place]], joints[place].tolist()
            if blind or self._perceives(state, joint, seen.percepts):
                after = self.machine.next_state(state, joint)
                sums[after] = sums.get(after, 0.0) + float(shares[place])
                if first is not None and not self.machine.is_terminal(after):
                    first(after)
                    first = None
        going = {state: share for state, share in sums.items() if not self.machine.is_terminal(state)}
        found, theirs = thinned(_objects(list(going)), np.array(list(going.values())), limits.worlds, numbers)
        return Following(found, theirs, complete and len(found) == len(going))

    def _perceives(self, state: State, joint: list[int], percepts: frozenset[Term]) -> bool:
        if isinstance(self.machine, ProverMachine):
            return self.machine.perceives(state, joint, self.role, percepts)
        return self.machine.percepts(state, joint)[self.role] == percepts

    def _own_moves(self, worlds: Worlds, move: int) -> list[list[int]]:
        """Per world ``[move]``, or ``[]`` if it is illegal. In sound games a role has the same moves in all
        states that it considers possible, so only some of many worlds are asked. If all of them agree, the
        result holds for the others, too."""

        def legal(state: State) -> list[int]:
            return [move] if move in self.machine.legal_moves(state, self.role) else []

        asked = [legal(state) for state in worlds[:: max(1, len(worlds) // _ASKED)]]
        if len(asked) < len(worlds) and all(one == asked[0] for one in asked):
            return [asked[0]] * len(worlds)
        return [legal(state) for state in worlds]

    def can_be(self, seen: Observed) -> bool:
        heads = [rule.head.args for rule in self.machine.rules if rule.head.signature == (SEES, 2)]
        role = self.machine.roles[self.role]
        own = [percept for who, percept in heads if who is role or who.is_variable]
        fits = all(any(_matches(pattern, percept) for pattern in own) for percept in seen.percepts)
        return fits and self.own_move(seen.move) != -1

    def terminal(self, worlds: Worlds) -> NDArray[np.bool_]:
        return np.array([self.machine.is_terminal(state) for state in worlds], np.bool_)

    def step(self, worlds: Worlds, joints: Joints) -> tuple[Worlds, NDArray[Any]]:
        machine, moves = self.machine, joints.tolist()
        after = [machine.next_state(state, joint) for state, joint in zip(worlds, moves, strict=True)]
        seen = [machine.percepts(state, joint)[self.role] for state, joint in zip(worlds, moves, strict=True)]
        return _objects(after), _objects(seen)

    def goals(self, worlds: Worlds) -> NDArray[np.float64]:
        values = [self.machine.result(state, self.role) for state in worlds]
        return np.array([50 if value is None else value for value in values], np.float64)

    def unique(self, worlds: Worlds) -> tuple[Worlds, NDArray[np.int64]]:
        numbers: dict[State, int] = {}
        places = [numbers.setdefault(state, len(numbers)) for state in worlds]
        return _objects(list(numbers)), np.array(places, np.int64)

    def codes(self, seen: NDArray[Any]) -> NDArray[np.int64]:
        numbers: dict[Any, int] = {}
        return np.array([numbers.setdefault(one, len(numbers)) for one in seen], np.int64)


def _matches(pattern: Term, ground: Term) -> bool:
    """Whether a term may be an instance of a pattern whose variables may all be different."""
    if pattern.is_variable or pattern is ground:
        return True
    return pattern.signature == ground.signature and all(map(_matches, pattern.args, ground.args))


def _objects(items: list[Any]) -> NDArray[Any]:
    """An array of these objects, unconverted."""
    array = np.empty(len(items), object)
    array[:] = items
    return array


def draws(weights: Weights, count: int, numbers: np.random.Generator) -> NDArray[np.int64]:
    """The frequency of each index among ``count`` evenly spaced draws by weight: its expected number, rounded
    down or up (systematic resampling)."""
    ends = np.cumsum(weights)
    upto: NDArray[np.int64] = np.floor(ends * (count / ends[-1]) + numbers.random()).astype(np.int64)
    upto[1:] -= upto[:-1].copy()
    return upto


def thinned(
    worlds: Worlds, weights: Weights, most: int, numbers: np.random.Generator
) -> tuple[Worlds, Weights]:
    """At most ``most`` of these worlds, drawn by weight; the sum of the weights stays the same."""
    if len(worlds) <= most:
        return worlds, weights
    times = draws(weights, most, numbers)
    drawn = np.flatnonzero(times)
    return worlds[drawn], times[drawn] * (weights.sum() / most)


def pairs_of(
    options: Options, weights: Weights, effort: int, numbers: np.random.Generator
) -> tuple[Rows, Joints, Weights, bool]:
    """The joint moves to play in worlds of these weights: the world of each, the moves, its share of the
    weight, and whether they are all joint moves; if there are more than ``effort``, that number is drawn."""
    rows = options.open
    counts = options.counts[rows].astype(np.float64).prod(axis=1)
    if counts.sum() <= effort:
        of, joints = all_joints(options, rows)
        return of, joints, (weights[rows] / counts)[np.searchsorted(rows, of)], True
    of = np.repeat(rows, draws(weights[rows], effort, numbers))
    return of, _drawn_joints(options, of, numbers), np.full(len(of), 1 / len(of)), False


def all_joints(options: Options, rows: Rows) -> tuple[Rows, Joints]:
    """Every joint move of some worlds: the world of each, and the moves. All roles must have a move."""
    totals = options.counts[rows].prod(axis=1)
    of = np.repeat(rows, totals)
    ends = np.cumsum(totals)
    number = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - totals, totals)
    return of, _decoded(options, of, number)


def _drawn_joints(options: Options, rows: Rows, numbers: np.random.Generator) -> Joints:
    """A joint move for each of these worlds, drawn at random."""
    totals = options.counts[rows].prod(axis=1)
    number = np.minimum((numbers.random(len(rows)) * totals).astype(np.int64), totals - 1)
    return _decoded(options, rows, number)


def _decoded(options: Options, rows: Rows, number: Rows) -> Joints:
    """The joint moves with these numbers, counted within each world."""
    counts, starts = options.counts[rows], options.starts[rows]
    joints = np.empty(counts.shape, np.int32)
    left = number.copy()
    for role in range(counts.shape[1]):
        joints[:, role] = options.moves[starts[:, role] + left % counts[:, role]]
        left //= counts[:, role]
    return joints
