"""Information set Monte Carlo tree search with a tree per role (MO-ISMCTS: Cowling, Powley and Whitehouse,
Information Set Monte Carlo Tree Search, 2012).

Each simulation draws a possible state by weight and plays on from it. A role chooses by the statistics of its
own information set, so it uses nothing that it cannot know; roles that move in one turn choose independently.
Simulations run in parallel in lanes: an unfinished simulation counts as a loss until it is over.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from gdl.information import playing
from gdl.machine import State
from gdl.words import counted
from players.belief.belief import Belief
from players.hidden.recollection import Recollection, SetTable, find_set
from players.move_lists import unpack_moves
from players.options import Option, at_least, number_between
from players.player import Candidate, Choice, Player, same_numbering
from propnet.capabilities import lane_machine
from propnet.jit.arrays import Flags, Floats, Int32s, Ints, Words
from propnet.jit.decorators import kernel
from propnet.machine import PropnetMachine

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
            records, histories, _ = self._past.historians.step(records, histories, joints)
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
        # Imported here: a change of the imports at the left margin would recompile a kernel above.
        from players.hidden.pimc import PimcPlayer

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
