"""The rollouts of a search, by any policy: in one call of a kernel, or step by step.

Stepwise policies, which see the states on the way, need the latter. numpy then drives the kernels, with a
call for each step of up to 2,048 lanes. This has a tenth or less of the rate of playouts in one call. In
return a policy sees every state before a move is made in it.
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gdl.information import chance_role
from players.batch_machine import BatchMachine, Ends, NetworkBatch, Records
from players.uct.rollouts.policy import RolloutPolicy
from propnet.kernels.records import unpack

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine


def roll_out(
    batched: NetworkBatch,
    policy: RolloutPolicy,
    starts: Records,
    seed: int,
    steps: int,
    deadline: float,
    each: int,
    counted: int = 1,
    traces: list[list[int]] | None = None,
) -> Ends:
    """Playouts by a policy, as :meth:`players.batch_machine.BatchMachine.playouts` makes them, with the
    machine's guide if it has one.

    The policy learns from ``counted`` of the playouts from each state. A stepwise policy learns from all of
    them, and ``traces`` gets the moves of the first role in each playout.
    """
    tallies = policy.new_tallies()
    network = policy.network(batched.machine)
    if batched.guided:  # moves that lose at once, or do not win at once where others do, are left out
        network = network.playout_machine
    if policy.stepwise:
        starts = np.repeat(starts, each, axis=0)
        ends, moves = stepwise_playouts(network, policy, starts, seed, steps, deadline, tallies)
        if traces is not None:
            traces[:] = moves
    else:
        ends = batched.playouts(
            starts,
            seed,
            steps,
            deadline,
            each,
            weights=policy.weights,
            tallies=tallies,
            counted=counted,
            on=network,
        )
    if tallies is not None:
        policy.learn(tallies)
    return ends


class Rollouts:
    """The playouts of one search, by ``policy``, which may be replaced at any time. A machine without lanes
    only plays uniformly."""

    def __init__(self, batched: BatchMachine, policy: RolloutPolicy) -> None:
        self.policy = policy
        self.batched = batched
        self._traces: list[list[int]] = []

    def playouts(self, starts: Records, seed: int, steps: int, deadline: float, each: int) -> Ends:
        """Playouts from these states, by the policy: see :func:`roll_out`."""
        batched = self.batched
        if not isinstance(batched, NetworkBatch):
            return batched.playouts(starts, seed, steps, deadline, each)
        return roll_out(batched, self.policy, starts, seed, steps, deadline, each, traces=self._traces)

    def playouts_while(
        self, fewest: int, most: int, states: Records, made: NDArray[np.int32], seed: int, steps: int
    ) -> tuple[Ends, NDArray[np.int32], Records]:
        """Playouts that may go on in a later call, if :attr:`carries`: see
        :meth:`propnet.machine.PropnetMachine.playouts_while`."""
        assert isinstance(self.batched, NetworkBatch)
        return self.batched.playouts_while(fewest, most, states, made, seed, steps)

    @property
    def carries(self) -> bool:
        """Whether playouts may go on in a later batch: the policy does not learn from them."""
        batched = self.batched
        return isinstance(batched, NetworkBatch) and batched.carries and type(self.policy) is RolloutPolicy

    def playout_moves(self, row: int) -> list[int]:
        """The moves of the first role in one of the last playouts."""
        return self._traces[row] if self.policy.stepwise else self.batched.playout_moves(row)


_LANES = 2048


def stepwise_playouts(
    machine: PropnetMachine,
    policy: RolloutPolicy,
    records: NDArray[np.uint64],
    seed: int,
    max_steps: int,
    deadline: float,
    tallies: NDArray[np.int32] | None = None,
) -> tuple[Ends, list[list[int]]]:
    """A playout from each of ``records``, uint64, shape (n, words), on the gates of ``machine``; cut after
    ``max_steps`` moves or at the deadline (time.monotonic()).

    ``tallies``: int32, shape (rows, moves, 2), where rows divides n, as in
    :meth:`players.batch_machine.BatchMachine.playouts`. Returns how the playouts ended, and the moves of the
    first role in each.
    """
    n = len(records)
    rng = np.random.default_rng(seed)
    columns = machine.role_moves
    ends = Ends(np.full((n, len(machine.roles)), -1, np.int16), np.zeros(n, np.int32), np.zeros(n, np.bool_))
    traces: list[list[int]] = [[] for _ in range(n)]
    for low in range(0, n, _LANES):
        lanes = np.arange(low, min(n, low + _LANES))
        played = np.zeros((len(lanes), int(columns[-1])), np.bool_)
        _play(machine, policy, records[lanes], lanes, rng, max_steps, deadline, ends, traces, played)
        if tallies is not None:
            _count(tallies, played, lanes * len(tallies) // n, ends.goals[lanes], columns)
    return ends, traces


def _play(
    machine: PropnetMachine,
    policy: RolloutPolicy,
    states: NDArray[np.uint64],
    lanes: NDArray[np.int64],
    rng: np.random.Generator,
    max_steps: int,
    deadline: float,
    ends: Ends,
    traces: list[list[int]],
    made: NDArray[np.bool_],
) -> None:
    """Play these states to their ends; ``lanes`` are their rows in ``ends`` and ``traces``."""
    columns, chance = machine.role_moves, chance_role(machine.roles)
    drawn = slice(0, 0) if chance is None else slice(columns[chance], columns[chance + 1])
    first = lanes[0] if len(lanes) else 0
    for step in range(max_steps + 1):
        evaluation = machine.evaluate(states)
        legal = unpack(evaluation.legal, machine.network.move_count)
        possible = legal.copy()
        stuck = ~np.logical_or.reduceat(legal, columns[:-1], axis=1).all(axis=1)
        over = evaluation.terminal | stuck
        going = np.flatnonzero(~over)
        if len(going) and step < max_steps:
            weighing = policy.weigh(states[going], legal[going], step)
            if weighing.left_out is not None:
                legal[going] &= ~weighing.left_out
                legal[:, drawn] = possible[:, drawn]  # no policy decides for chance
                over[going] |= ~np.logical_or.reduceat(legal[going], columns[:-1], axis=1).all(axis=1)
            if weighing.ended is not None:
                over[going] |= weighing.ended
        late = step == max_steps or time.monotonic() > deadline
        done = over | late
        ends.goals[lanes[done]] = evaluation.goals[done]
        ends.goals[lanes[stuck & ~evaluation.terminal]] = -1
        ends.lengths[lanes[done]] = step
        ends.finished[lanes[over]] = True
        if done.all():
            return
        chances = legal.astype(np.float64)
        if policy.weights is not None:
            chances *= np.exp2(policy.weights)
        if weighing.weights is not None:
            chances[going] *= weighing.weights
        chances[:, drawn] = legal[:, drawn]
        keep = ~done
        lanes, states, legal, chances = lanes[keep], states[keep], legal[keep], chances[keep]
        joint = np.stack(
            [_choose(rng, chances[:, a:b], legal[:, a:b]) for a, b in pairwise(columns.tolist())], axis=1
        ).astype(np.int32)
        for role, (a, b) in enumerate(pairwise(columns.tolist())):
            several = legal[:, a:b].sum(axis=1) > 1
            made[lanes[several] - first, a + joint[several, role]] = True
        for lane, move in zip(lanes.tolist(), joint[:, 0].tolist(), strict=True):
            traces[lane].append(move)
        states = machine.successors(states, joint)


def _choose(
    rng: np.random.Generator, chances: NDArray[np.float64], legal: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """A column for each row (n, moves), drawn by these chances; uniform among the legal moves of a row
    without positive chances."""
    chances = np.where(chances.sum(axis=1, keepdims=True) > 0, chances, legal)
    sums = np.cumsum(chances, axis=1)
    drawn = rng.random(len(chances)) * sums[:, -1]
    # Rounding may carry the draw to the very end, past the last column with a chance.
    last = chances.shape[1] - 1 - np.argmax(chances[:, ::-1] > 0, axis=1)
    chosen: NDArray[np.int64] = np.minimum((sums <= drawn[:, None]).sum(axis=1), last)
    return chosen


def _count(
    tallies: NDArray[np.int32],
    made: NDArray[np.bool_],
    rows: NDArray[np.int64],
    goals: NDArray[np.int16],
    columns: NDArray[np.int32],
) -> None:
    """Add the moves of these playouts to the tallies; ``rows`` is the row that each playout adds to."""
    for role, (a, b) in enumerate(pairwise(columns.tolist())):
        with_goals = np.flatnonzero(goals[:, role] >= 0)
        chosen = made[with_goals, a:b].astype(np.int32)
        np.add.at(tallies[:, a:b, 0], rows[with_goals], chosen)
        np.add.at(tallies[:, a:b, 1], rows[with_goals], chosen * goals[with_goals, role, None])
