"""Monte Carlo CFR by outcome sampling: regrets and average strategies of the information sets that random
matches come through, for games of two roles in which what one wins the other loses (Lanctot, Waugh, Zinkevich
and Bowling 2009).

Each match is drawn from a state and its histories; one role, in turns the first and the second, explores and
learns, the other plays by its regrets and adds to its average strategy. What an action is worth is estimated
by what was seen of it before, and corrected where it was chosen (baselines: Schmid and others, AAAI 2019);
regrets do not fall below zero. Matches run side by side in lanes.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gdl.information import playing
from players.belief.sampled.recollection import Historians, SetTable, find_set
from players.move_lists import unpack_moves
from propnet.jit.arrays import Flags, Floats, Int32s, Ints, Words
from propnet.jit.decorators import kernel
from propnet.machine import PropnetMachine

EXPLORED = 0.4
"""The share of moves that the learning role draws at random."""
_START_SHARE = 0.7
"""The share of the table for what matches from the initial state meet."""
_SLOWEST = 0.02
"""By how much at least of the difference a new result moves what an action is worth."""


@kernel(nogil=True)
def _draw(
    keys: Words, places: Ints, used: Ints, regrets: Floats, histories: Words, counts: Int32s, moves: Int32s,
    players: Ints, learns: Ints, chances: Floats, explored: Any, capacity: Any,
    joints: Int32s, firsts: Ints, picks: Ints, shares: Floats, fresh: Flags,
) -> None:  # fmt: skip
    """A joint move for each lane. ``fresh``: the match has left the known sets, all moves are alike.
    Per role: where the actions of its set begin, -1 where it has no choice or the set is not known; which one
    was drawn, with what probability."""
    at = 0
    for lane in range(histories.shape[0]):
        for role in range(histories.shape[1]):
            n = counts[lane, role]
            chance = chances[lane, role]
            pick = min(n - 1, np.int64(chance * n))
            firsts[lane, role] = -1
            picks[lane, role] = pick
            shares[lane, role] = 1.0 / n
            if n > 1 and players[role] >= 0:
                first = find_set(
                    keys, places, used, capacity, histories[lane, role], role, n, not fresh[lane]
                )
                if first < -1:
                    fresh[lane] = True
                    first = -2 - first
                firsts[lane, role] = first
                if first >= 0:
                    total = 0.0
                    for a in range(n):
                        total += max(0.0, regrets[first + a])
                    random = explored if learns[lane] == players[role] else 0.0
                    pick, reached = n - 1, 0.0
                    for a in range(n):
                        share = max(0.0, regrets[first + a]) / total if total > 0 else 1.0 / n
                        share = random / n + (1 - random) * share
                        reached += share
                        if chance < reached:
                            pick = a
                            break
                    share = max(0.0, regrets[first + pick]) / total if total > 0 else 1.0 / n
                    picks[lane, role] = pick
                    shares[lane, role] = random / n + (1 - random) * share
            joints[lane, role] = moves[at + picks[lane, role]]
            at += n


@kernel(nogil=True)
def _learn(
    regrets: Floats, sums: Floats, worths: Floats, visits: Floats, lanes: Ints, players: Ints, learns: Ints,
    counts: Int32s, firsts: Ints, picks: Ints, shares: Floats, reaches: Floats, values: Floats, weight: Any,
    slowest: Any,
) -> None:  # fmt: skip
    """One turn, on the way back: ``values`` are what the learning role gets from the turn's end on, and then
    from its beginning on; ``reaches`` how probably it drew its own moves on the way there."""
    for row in range(len(lanes)):
        lane = lanes[row]
        value = values[lane]
        for role in range(counts.shape[1] - 1, -1, -1):
            first = firsts[row, role]
            if first < 0:
                continue
            n, pick = counts[row, role], picks[row, role]
            own = learns[lane] == players[role]
            sign = 1.0 if own else -1.0
            total = 0.0
            for a in range(n):
                total += max(0.0, regrets[first + a])
            expected = 0.0
            corrected = (
                sign * worths[first + pick] + (value - sign * worths[first + pick]) / shares[row, role]
            )
            for a in range(n):
                share = max(0.0, regrets[first + a]) / total if total > 0 else 1.0 / n
                expected += share * (corrected if a == pick else sign * worths[first + a])
                if not own:
                    sums[first + a] += weight * share
            if own:
                for a in range(n):
                    worth = corrected if a == pick else worths[first + a]
                    regrets[first + a] += (worth - expected) / reaches[row]
                    if regrets[first + a] < 0:
                        regrets[first + a] = 0
            visits[first + pick] += 1
            step = max(slowest, 1.0 / visits[first + pick])
            worths[first + pick] += step * (sign * value - worths[first + pick])
            value = expected
        values[lane] = value


@kernel(nogil=True)
def _look(keys: Words, places: Ints, used: Ints, history: Any, role: Any, actions: Any) -> Any:
    """Where the actions of a set begin, -1 where it is not known."""
    return find_set(keys, places, used, 0, np.uint64(history), role, actions, False)


@kernel(nogil=True)
def _judge(
    keys: Words, places: Ints, used: Ints, sums: Floats, histories: Words, role: Any, counts: Int32s,
    picks: Int32s, found: Floats,
) -> None:  # fmt: skip
    for row in range(len(histories)):
        n = counts[row]
        first = find_set(keys, places, used, 0, histories[row], role, n, False)
        share, total = 1.0 / n, 0.0
        if first >= 0:
            for a in range(n):
                total += sums[first + a]
            if total > 0:
                share = sums[first + picks[row]] / total
        found[row] = 0.9 * share + 0.1 / n


class OutcomeSampling:
    """Strategies for both roles of a game, better by each match that is drawn.

    Attributes:
        matches: how many were drawn.
        sums: float64: what each action of the table adds up to in the average strategy.
    """

    def __init__(self, machine: PropnetMachine, seed: int = 0, actions: int = 1 << 22) -> None:
        self.machine = machine
        self.historians = Historians(machine)
        self.table = SetTable(actions)
        self.sums: Floats = np.zeros(actions)
        self.worths: Floats = np.zeros(actions)
        self._roles = playing(machine.roles)
        self._players: Ints = np.full(len(machine.roles), -1, np.int64)
        self._players[self._roles] = np.arange(len(self._roles))
        self._numbers = np.random.default_rng(seed)
        self.matches = 0
        self.rounds = 0

    def move_to(self, machine: PropnetMachine) -> None:
        """Go on with another machine, on which records, moves and percepts have the same numbers."""
        self.machine, self.historians = machine, Historians(machine)

    def average(self, history: Any, role: int, actions: int) -> tuple[Floats, float]:
        """The average strategy in an information set, and how often it was met as the other learnt."""
        table = self.table
        first = int(_look(table.keys, table.places, table.used, history, role, actions))
        sums = self.sums[first : first + actions] if first >= 0 else np.zeros(actions)
        total = float(sums.sum())
        return (sums / total if total > 0 else np.full(actions, 1 / actions)), total

    def likelihoods(self, histories: Words, role: int, counts: Int32s, places: Int32s) -> Floats:
        """How probable it is that a role took the actions at these places of its sets, by its average
        strategy, and now and then at random."""
        table, found = self.table, np.empty(len(histories))
        own = np.ascontiguousarray(histories[:, role])
        _judge(table.keys, table.places, table.used, self.sums, own, role, counts, places, found)
        return found

    def clear(self) -> None:
        """Forget all."""
        taken = int(self.table.used[0])
        self.sums[:taken] = self.worths[:taken] = 0
        self.table.clear()

    def run(self, records: Words, histories: Words, share: float = 1.0) -> None:
        """Draw a match from each of these states, and learn; new sets may take this share of the table."""
        capacity = int(share * len(self.sums))
        machine, table, n = self.machine, self.table, len(records)
        learns = (np.arange(n) + self.rounds) % 2
        lanes, values, reach = np.arange(n), np.zeros(n), np.ones(n)
        turns: list[tuple[Any, ...]] = []
        fresh = np.zeros(n, np.bool_)
        while len(lanes):
            known = machine.evaluate(records)
            counts, moves = unpack_moves(known.legal, machine.role_moves)
            over = known.terminal | (counts == 0).any(axis=1)
            if over.any():
                goals = np.where(known.goals[over] < 0, 50, known.goals[over]) / 50 - 1
                values[lanes[over]] = goals[np.arange(len(goals)), np.array(self._roles)[learns[lanes[over]]]]
                moves = moves[np.repeat(~over, counts.sum(axis=1))]
                lanes, counts, fresh = lanes[~over], counts[~over], fresh[~over]
                records, histories = records[~over], histories[~over]
                if not len(lanes):
                    break
            joints = np.empty(counts.shape, np.int32)
            firsts, picks = np.empty(counts.shape, np.int64), np.empty(counts.shape, np.int64)
            shares = np.empty(counts.shape)
            _draw(
                table.keys, table.places, table.used, table.totals, histories, counts, moves,
                self._players, learns[lanes], self._numbers.random(counts.shape), EXPLORED, capacity,
                joints, firsts, picks, shares, fresh,
            )  # fmt: skip
            turns.append((lanes, counts, firsts, picks, shares, reach[lanes]))
            own = np.array(self._roles)[learns[lanes]]
            chosen = np.arange(len(lanes)), own
            reach[lanes] *= np.where(counts[chosen] > 1, shares[chosen], 1.0)
            records, histories, _ = self.historians.step(records, histories, joints)
        self.rounds += 1
        for lanes, counts, firsts, picks, shares, before in reversed(turns):
            _learn(
                table.totals, self.sums, self.worths, table.visits, lanes, self._players, learns,
                counts, firsts, picks, shares, before, values, float(self.rounds), _SLOWEST,
            )  # fmt: skip
        self.matches += n

    def run_from_start(self, deadline: float, most: int, lanes: int = 1024) -> None:
        """Draw matches from the initial state until the deadline, or until there are so many."""
        first = np.array(self.machine.records([self.machine.initial_state()]))
        while self.matches < most and time.monotonic() < deadline:
            n = min(lanes, most - self.matches)
            start = np.repeat(first, n, axis=0), np.zeros((n, len(self.machine.roles)), np.uint64)
            self.run(*start, share=_START_SHARE)
