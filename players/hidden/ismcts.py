"""Information set Monte Carlo tree search with a tree per role (MO-ISMCTS: Cowling, Powley and Whitehouse,
Information Set Monte Carlo Tree Search, 2012).

Each simulation draws a possible state by weight and plays on from it. A role chooses by the statistics of its
own information set, so it uses nothing that it cannot know; roles that move in one turn choose independently.
Simulations run in parallel in lanes: an unfinished simulation counts as a loss until it is over.

A :class:`~players.belief.belief.Belief` forgets the way to a state. Searches of information sets need it: the
others' choices depend on their observations. A *history* is a 64-bit number into which a role's moves and
percepts are mixed, turn by turn: roles with the same observations have equal histories. A table finds the
statistics of each information set by the observations of its role.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gdl.information import playing
from gdl.machine import State
from gdl.words import counted
from players.belief.belief import Belief
from players.belief.lane_worlds import LaneWorlds
from players.belief.worlds import Observed, pairs_of
from players.hidden.pimc import PimcPlayer
from players.move_lists import unpack_moves
from players.options import Option, at_least, number_between
from players.player import Candidate, Choice, Player, same_numbering
from propnet.capabilities import lane_machine
from propnet.jit.arrays import Flags, Floats, Int32s, Ints, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.random_numbers import scramble
from propnet.kernels.records import pack
from propnet.machine import PropnetMachine

MOST = 20_000
"""Number of states that are kept."""
_EFFORT = 5_000, 100_000
_EFFORT_PER_SECOND = 200_000
"""Joint moves played for a turn: at least, at most, and for each second of the remaining time."""


@inner
def _mixed(number: Any, word: Any) -> Any:
    """A number that depends on both."""
    return scramble((number ^ word) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1))


@kernel(nogil=True)
def _absorb(histories: Words, joints: Int32s, seen: Words, masks: Words) -> None:
    """Mix each role's move and percepts into its history."""
    for row in range(histories.shape[0]):
        for role in range(histories.shape[1]):
            mixed = _mixed(histories[row, role], np.uint64(joints[row, role] + 1))
            for word in range(seen.shape[1]):
                mixed = _mixed(mixed, seen[row, word] & masks[role, word])
            histories[row, role] = mixed


class Recollection:
    """The states that a role considers possible, with the histories of all roles.

    Attributes:
        records, histories: uint64, one row per state.
        weights: float64: they add up to 1.
    """

    def __init__(self, machine: PropnetMachine, role: int, seed: int = 0, most: int = MOST) -> None:
        self.machine, self.role = machine, role
        self._lanes = LaneWorlds(machine, role)
        bounds = machine.role_percepts.tolist()
        bits = np.zeros((len(machine.roles), max(1, bounds[-1])), np.bool_)
        for each, (low, high) in enumerate(pairwise(bounds)):
            bits[each, low:high] = True
        self._masks = pack(bits)
        self._seed, self._most = seed, most
        self._begin()

    def _begin(self) -> None:
        self._numbers = np.random.default_rng([self._seed, self.role])
        self._seen: list[Observed] = []
        self.records: Words = self._lanes.of_states([self.machine.initial_state()])
        self.histories: Words = np.zeros((1, len(self.machine.roles)), np.uint64)
        self.weights: Floats = np.ones(1)

    def catch_up(self, history: Sequence[Observed], deadline: float) -> bool:
        """Take in the role's observations until now. Returns whether any states fit. If none do, or the time
        is up, the next call starts over."""
        if list(history[: len(self._seen)]) != self._seen or not len(self.records):
            self._begin()
        for seen in history[len(self._seen) :]:
            if time.monotonic() > deadline or not self._grow(seen, deadline):
                self.records = self.records[:0]
                return False
            self._seen.append(seen)
        return True

    def draw(self, count: int) -> tuple[Words, Words]:
        """States and histories, drawn by weight."""
        if len(self.weights) == 1:
            chosen = np.zeros(count, np.int64)
        else:
            bounds = np.cumsum(self.weights)
            chosen = np.searchsorted(bounds, self._numbers.random(count) * bounds[-1], side="right")
            chosen = np.minimum(chosen, len(self.weights) - 1)
        return self.records[chosen], self.histories[chosen]

    def step(self, records: Words, histories: Words, joints: Int32s) -> tuple[Words, Words, Words]:
        """The records after a joint move each, the roles' histories then, and the percepts of all roles."""
        joints = np.ascontiguousarray(joints, np.int32)
        after, seen = self.machine.perceive(records, joints)
        grown = np.array(histories, np.uint64, order="C")
        _absorb(grown, joints, seen, self._masks)
        return after, grown, seen

    def _grow(self, seen: Observed, deadline: float) -> bool:
        seconds = deadline - time.monotonic()
        effort = int(min(_EFFORT[1], max(_EFFORT[0], _EFFORT_PER_SECOND * seconds)))
        if not self._lanes.can_be(seen):
            return False
        options = self._lanes.options(self.records, self._lanes.own_move(seen.move))
        of, joints, weights, _ = pairs_of(options, self.weights, effort, self._numbers)
        if not len(of):
            return False
        after, histories, perceived = self.step(self.records[of], self.histories[of], joints)
        fits = self._lanes.fitting(perceived, seen.percepts) & ~self._lanes.terminal(after)
        once, weights = self._lanes.merged(np.hstack([after[fits], histories[fits]]), weights[fits])
        if not len(once):
            return False
        if len(once) > self._most:
            chosen = self._numbers.choice(len(once), self._most, replace=False, p=weights / weights.sum())
            once, weights = once[chosen], np.ones(self._most)
        words = self.records.shape[1]
        self.records = np.ascontiguousarray(once[:, :words])
        self.histories = np.ascontiguousarray(once[:, words:])
        self.weights = weights / weights.sum()
        return True


_PROBES = 64


class SetTable:
    """The information sets met so far, each with a place for every action, in the form that kernels use.

    Attributes:
        keys: uint64, a power of two of slots: the history of a role, mixed with the role; 0 in free slots.
        places: int64: where the actions of the set begin in the next ones.
        visits, totals: float64: statistics of each action; the algorithm defines their meaning.
        used: int64, shape (2,): numbers of used places and of used sets.
    """

    def __init__(self, actions: int = 1 << 21) -> None:
        slots = max(16, actions // 2)
        self.keys: Words = np.zeros(slots, np.uint64)
        self.places: Ints = np.zeros(slots, np.int64)
        self.visits: Floats = np.zeros(actions)
        self.totals: Floats = np.zeros(actions)
        self.used: Ints = np.zeros(2, np.int64)

    @property
    def filled(self) -> float:
        """The share of the table that is used."""
        places, sets = self.used.tolist()
        return float(max(places / len(self.visits), 2 * sets / len(self.keys)))

    def clear(self) -> None:
        """Remove all sets."""
        taken = int(self.used[0])
        self.keys[:] = 0
        self.visits[:taken] = self.totals[:taken] = 0
        self.used[:] = 0


@inner
def key_of(history: Any, role: Any) -> Any:
    """The key of a role's information set."""
    return history ^ (np.uint64(role + 1) * np.uint64(0xD1B54A32D192ED03))


@inner
def find_set(
    keys: Words, places: Ints, used: Ints, capacity: Any, history: Any, role: Any, actions: Any, add: Any
) -> Any:
    """The place where the actions of a set begin; -1 if the set is unknown and not to be added, or the table
    is full. For an added set the result is -2 - its place."""
    key = key_of(history, role)
    mask = len(keys) - 1
    slot = np.int64(key & np.uint64(mask))
    for _ in range(_PROBES):
        if keys[slot] == key:
            return places[slot]
        if keys[slot] == 0:
            if not add or used[0] + actions > capacity or 4 * used[1] > 3 * len(keys):
                return np.int64(-1)
            keys[slot] = key
            places[slot] = used[0]
            used[0] += actions
            used[1] += 1
            return -2 - places[slot]
        slot = (slot + 1) & mask
    return np.int64(-1)


_LANES = 64, 2048
"""Number of parallel simulations: in the beginning, and at most."""
_FULL = 0.6
"""A table that is fuller than this share is cleared."""


@kernel(nogil=True)
def _select(
    keys: Words, places: Ints, used: Ints, visits: Floats, totals: Floats,
    histories: Words, counts: Int32s, moves: Int32s, plays: Flags, chances: Floats, exploration: Any,
    joints: Int32s, chosen: Ints, fresh: Flags,
) -> None:  # fmt: skip
    """Choose a joint move for each lane, by the bound of each role's information set; chance draws.
    ``chosen``: the place of each role's action, -1 if it had no choice. ``fresh``: whether a role met a new
    set."""
    at = 0
    for lane in range(histories.shape[0]):
        for role in range(histories.shape[1]):
            n = counts[lane, role]
            drawn = min(n - 1, np.int64(chances[lane, role] * n))
            pick = drawn
            chosen[lane, role] = -1
            if n > 1 and plays[role]:
                first = find_set(
                    keys, places, used, len(visits), histories[lane, role], role, n, not fresh[lane]
                )
                if first == -1:
                    fresh[lane] = True
                elif first < -1:
                    fresh[lane] = True
                    first = -2 - first
                if first >= 0:
                    every = 0.0
                    for a in range(n):
                        every += visits[first + a]
                    best, pick = -1.0, 0
                    log = math.log(every + 1.0)
                    for i in range(n):
                        a = (i + drawn) % n
                        seen = visits[first + a]
                        bound = 1e9
                        if seen > 0:
                            bound = totals[first + a] / seen + exploration * math.sqrt(log / seen)
                        if bound > best:
                            best, pick = bound, a
                    visits[first + pick] += 1
                    chosen[lane, role] = first + pick
            joints[lane, role] = moves[at + pick]
            at += n


@kernel(nogil=True)
def _reward(totals: Floats, lanes: Ints, chosen: Ints, goals: Floats) -> None:
    """Add the results to the chosen actions."""
    for row in range(len(lanes)):
        for role in range(chosen.shape[1]):
            if chosen[row, role] >= 0:
                totals[chosen[row, role]] += goals[lanes[row], role]


@kernel(nogil=True)
def _look(keys: Words, places: Ints, used: Ints, history: Any, role: Any, actions: Any) -> Any:
    """The place where the actions of a set begin, -1 if the set is unknown."""
    return find_set(keys, places, used, 0, history, role, actions, False)


class _SetSearch:
    """Simulations from the states that a role considers possible; statistics of all information sets on the
    way."""

    def __init__(self, past: Recollection, table: SetTable, exploration: float, seed: list[int]) -> None:
        self._past, self._table, self._exploration = past, table, exploration
        self._machine = past.machine
        self._plays = np.zeros(len(self._machine.roles), np.bool_)
        self._plays[playing(self._machine.roles)] = True
        self._numbers = np.random.default_rng(seed)
        self.simulations = 0

    def run(self, deadline: float, most: int) -> None:
        """Simulate until the deadline, or ``most`` times; at least once."""
        longest, began = 0.0, time.monotonic()
        while self.simulations < most and (began + longest < deadline or not self.simulations):
            self._batch(min(most - self.simulations, max(_LANES[0], min(_LANES[1], self.simulations // 8))))
            ended = time.monotonic()
            longest, began = max(longest, ended - began), ended

    def statistics(self, history: Any, role: int, actions: int) -> tuple[Floats, Floats]:
        """Visits and summed results, 0..1, of the actions of an information set."""
        table = self._table
        first = int(_look(table.keys, table.places, table.used, history, role, actions))
        if first < 0:
            return np.zeros(actions), np.zeros(actions)
        part = slice(first, first + actions)
        return table.visits[part].copy(), table.totals[part].copy()

    def _batch(self, n: int) -> None:
        machine, table = self._machine, self._table
        records, histories = self._past.draw(n)
        lanes, fresh = np.arange(n), np.zeros(n, np.bool_)
        goals = np.full((n, len(machine.roles)), 0.5)
        paths: list[tuple[Ints, Ints]] = []
        leaves: list[tuple[Ints, Words]] = []
        while len(lanes):
            evaluation = machine.evaluate(records)
            counts, moves = unpack_moves(evaluation.legal, machine.role_moves)
            over = evaluation.terminal | (counts == 0).any(axis=1)
            if over.any():
                goals[lanes[over]] = _shares(evaluation.goals[over])
                going = np.repeat(~over, counts.sum(axis=1))
                lanes, fresh, counts, moves = lanes[~over], fresh[~over], counts[~over], moves[going]
                records, histories = records[~over], histories[~over]
                if not len(lanes):
                    break
            joints = np.empty(counts.shape, np.int32)
            chosen = np.empty(counts.shape, np.int64)
            _select(
                table.keys, table.places, table.used, table.visits, table.totals,
                histories, counts, moves, self._plays, self._numbers.random(counts.shape), self._exploration,
                joints, chosen, fresh,
            )  # fmt: skip
            paths.append((lanes, chosen))
            records, histories, _ = self._past.step(records, histories, joints)
            if fresh.any():
                leaves.append((lanes[fresh], records[fresh]))
                lanes, records, histories = lanes[~fresh], records[~fresh], histories[~fresh]
                fresh = fresh[~fresh]
        if leaves:
            ends = np.concatenate([each for each, _ in leaves])
            starts = np.concatenate([each for _, each in leaves])
            played = machine.playouts_from(starts, int(self._numbers.integers(1 << 62)))
            goals[ends] = _shares(played.goals)
        for each, chosen in paths:
            _reward(table.totals, each, chosen, goals)
        self.simulations += n


def _shares(goals: Any) -> Floats:
    """Goals as 0..1; 0.5 for a missing goal."""
    values: Floats = np.where(goals < 0, 50, goals) / 100
    return values


class IsmctsPlayer(Player):
    """Searches the information sets of all roles, from the states that its own role considers possible. On
    machines without lanes it plays as ``pimc``."""

    name = "ismcts"
    OPTIONS = (
        Option(
            "exploration",
            number_between(0.0, 100.0),
            0.7,
            "how much moves are tried that did badly",
            public=number_between(0.0, 100.0),
        ),
        Option("playouts", int, None, "simulations after which it stops", public=at_least(1)),
    )

    def __init__(self, *, seed: int = 0, **options: Any) -> None:
        super().__init__(seed=seed, **options)
        self._exploration: float = self.options["exploration"]
        self._most: int = self.options["playouts"] or 1 << 62
        self._other = PimcPlayer(seed=seed)
        self._past: Recollection | None = None
        self._table: SetTable | None = None

    def prepare(self, state: State, deadline: float) -> None:
        self._table = None
        self._begin()
        self._other.start(self.machine, self.role, state, 0.0, time.monotonic())

    def update_machine(self, machine: Any) -> None:
        if not same_numbering(self.machine, machine):
            self._table = None
        super().update_machine(machine)
        self._begin()
        self._other.update_machine(machine)

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        return self._other.decide(state, options, deadline)

    def choose_from(self, belief: Belief, deadline: float) -> Choice:
        past = self._past
        if past is None or not past.catch_up(belief.history, deadline):
            return self._other.choose_from(belief, deadline)
        options = belief.legal_moves()
        own = [self.machine.move_id(self.role, belief.machine.move(self.role, move)) for move in options]
        order = sorted(range(len(own)), key=own.__getitem__)  # the order of the table
        if self._table is None:
            self._table = SetTable()
        elif self._table.filled > _FULL:
            self._table.clear()
        search = _SetSearch(past, self._table, self._exploration, [self.seed, self.role, len(belief.history)])
        search.run(deadline, self._most)
        visits, totals = search.statistics(past.histories[0, self.role], self.role, len(options))
        candidates = sorted(
            (
                Candidate(options[place], int(count), 100 * float(total / count) if count else None)
                for place, count, total in zip(order, visits, totals, strict=True)
            ),
            key=lambda candidate: -candidate.visits,
        )
        past_lives = counted(len(past.records), "possible history", "possible histories")
        note = f"{counted(search.simulations, 'simulation')} in {past_lives}"
        return Choice(candidates[0].move, tuple(candidates), note)

    def stop(self) -> None:
        self._other.stop()
        self._table = None

    def _begin(self) -> None:
        lanes = lane_machine(self.machine)
        self._past = None if lanes is None else Recollection(lanes, self.role, self.seed)


def warm_up(machine: PropnetMachine) -> None:
    """Compile the kernels of this player, on a machine of a game of several roles."""
    past = Recollection(machine, 0)
    search = _SetSearch(past, SetTable(1 << 10), 1.0, [0])
    search.run(math.inf, 1)
    search.statistics(past.histories[0, 0], 0, 1)
