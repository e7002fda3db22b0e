"""`ForcedPlies`: plies without a choice do not become nodes of the tree.

In some rules a move takes many plies: seeds are sown one by one, a piece that has jumped goes on jumping. A
node for each ply costs a visit before the tree gets any deeper, and averages of pairs of moves see a wait in
place of the previous move. So the tree skips to the next state in which some role has a choice: all of its
nodes are decisions. This helps above all in games like kalah. It is not proven to win matches; none of four
such games lost by it (see docs/measurements.md).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from players.batch_machine import BatchMachine, NetworkBatch, Records
from players.move_lists import draw_moves, unpack_moves
from players.uct.root_statistics import RootStatistics
from propnet.machine import PropnetMachine

_MOST = 64
"""Plies skipped at once at most: the rules may let all roles wait for ever."""
_LANES, _STEPS = 32, 64
_EFFORT = 20_000_000
"""Gate inputs that may be looked at to see whether such plies are frequent."""
_OFTEN = 0.1
"""The share of plies without a choice from which they are skipped: looking for them costs time."""


class ForcedPlies:
    """Skips the plies of a game in which no role has a choice."""

    def __init__(self, machine: PropnetMachine) -> None:
        self._machine = machine

    def pass_over(self, records: Records) -> Records:
        """For each state the next one in which some role has a choice, or which is terminal or stuck:
        records, uint64, shape (n, words)."""
        machine = self._machine
        roles = np.arange(len(machine.roles))
        reached, rows = records.copy(), np.arange(len(records))
        for _ in range(_MOST):
            now = reached[rows]
            answer = machine.evaluate(now)
            counts, moves = unpack_moves(answer.legal, machine.role_moves)
            forced = np.flatnonzero(~answer.terminal & (counts == 1).all(axis=1))
            if not len(forced):
                break
            several = counts.sum(axis=1)
            first = np.cumsum(several) - several
            rows = rows[forced]
            reached[rows] = machine.successors(now[forced], moves[first[forced][:, None] + roles])
        return reached

    def root(self, record: Records) -> Records:
        """The same for one state, shape (words,); the state itself if the next one is terminal."""
        reached = self.pass_over(record[None, :])
        return record if self._machine.ends(reached)[0][0] else np.array(reached[0])


def forced_plies(batched: BatchMachine, wanted: bool) -> ForcedPlies | None:
    """The :class:`ForcedPlies` of a game if ``wanted`` and random play shows that plies without a choice are
    frequent; else None."""
    if not wanted or not isinstance(batched, NetworkBatch) or len(batched.machine.roles) < 2:
        return None
    return ForcedPlies(batched.machine) if share_of_forced(batched.machine) >= _OFTEN else None


def share_of_forced(machine: PropnetMachine) -> float:
    """The share of plies in which no role has a choice, in the first plies of some random matches; 0 if a
    role has no move in any state."""
    if (np.diff(machine.role_moves) == 0).any():
        return 0.0
    rng = np.random.default_rng(0)
    initial = np.repeat(machine.records([machine.initial_state()]), _LANES, axis=0)
    records, forced, all_ = initial, 0, 0
    for _ in range(min(_STEPS, _EFFORT // max(1, len(machine.network.gate_inputs)))):
        answer = machine.evaluate(records)
        counts, moves = unpack_moves(answer.legal, machine.role_moves)
        going = ~answer.terminal & (counts > 0).all(axis=1)
        forced += int((going & (counts == 1).all(axis=1)).sum())
        all_ += int(going.sum())
        joint = draw_moves(counts, moves, rng)
        joint[~going] = 0
        records = np.where(going[:, None], machine.successors(records, joint), initial)
    return forced / max(1, all_)


def of_only_moves(statistics: RootStatistics) -> RootStatistics:
    """The statistics of a root in which every role has one move, given those of the state that it leads
    to."""
    roles = range(len(statistics.counts))
    own = [statistics.of_role(role) for role in roles]
    return replace(
        statistics,
        counts=(1,) * len(roles),
        visits=np.array([statistics.visits[part].sum() for part in own], np.int64),
        totals=np.array([statistics.totals[part].sum() for part in own]),
        proven=np.full(len(roles), -1, np.int16),
        mixed=False,
    )
