"""Self-play in lanes: many matches side by side, in which each role takes the move to its best state.

All moves of the role that has a choice are made, and their states evaluated at once. Some moves are random,
and so is the opening of each match, so that states come up that good play avoids. Moves of chance are drawn
uniformly: the value of a state before them follows from many draws (G. Tesauro: Temporal difference learning
and TD-Gammon, 1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.information import chance_role
from players.knowledge.state_values import StateValues
from players.move_lists import draw_moves, unpack_moves
from propnet.machine import PropnetMachine

_EXPLORED = 0.1
"""Probability of a random move."""
OPENING = 8
"""Most random moves at the beginning of a match."""
LONGEST = 1000
"""Moves after which a match is abandoned."""
_NOISE = 0.05
"""Difference in logits between moves that are made about equally often."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Some steps of all matches.

    Attributes:
        records: uint64, shape (steps, lanes, words): the states.
        after: float32, shape (steps, lanes, columns): the value of the state after the move; the result if it
            is terminal.
        ended: bool, shape (steps, lanes): whether it is terminal.
        random: bool, shape (steps, lanes): whether a role's move was random, or the match stopped there: then
            it says nothing about the value of the state before it. Moves of chance do.
        rows: number of evaluated states.
    """

    records: NDArray[np.uint64]
    after: NDArray[np.float32]
    ended: NDArray[np.bool_]
    random: NDArray[np.bool_]
    rows: int


class SelfPlay:
    """Matches of one player against itself.

    Attributes:
        columns: the roles with values of their own (:class:`players.knowledge.state_values.StateValues`).
        finished: matches that came to their end.
        won: sum of the results of the first role with values, 0..1, of these.
    """

    def __init__(
        self, machine: PropnetMachine, columns: tuple[int, ...], lanes: int, rng: np.random.Generator
    ) -> None:
        self._machine = machine
        self._rng = rng
        self._chance = chance_role(machine.network.roles)
        self.columns = columns
        self.lanes = lanes
        self.finished, self.won = 0, 0.0
        initial = machine.records([machine.initial_state()])
        self._start = initial[0]
        self._records = np.repeat(initial, lanes, axis=0)
        self._made = np.zeros(lanes, np.int64)
        self._opening = rng.integers(0, OPENING + 1, lanes)

    def play(self, values: StateValues, steps: int) -> Steps:
        """Play the next ``steps`` moves of all matches, choosing by these values."""
        lanes, columns = self.lanes, len(self.columns)
        records = np.empty((steps, lanes, self._machine.words), np.uint64)
        after = np.empty((steps, lanes, columns), np.float32)
        ended, random = np.empty((steps, lanes), np.bool_), np.empty((steps, lanes), np.bool_)
        rows = 0
        for step in range(steps):
            records[step] = self._records
            rows += self._step(values, after[step], ended[step], random[step])
        return Steps(records, after, ended, random, rows)

    def _step(
        self,
        values: StateValues,
        after: NDArray[np.float32],
        ended: NDArray[np.bool_],
        random: NDArray[np.bool_],
    ) -> int:
        """Make one move in every match. Returns the number of evaluated states."""
        machine, rng = self._machine, self._rng
        counts, moves = unpack_moves(machine.evaluate(self._records).legal, machine.role_moves)
        stuck = (counts == 0).any(axis=1)
        choices, draws = self._choices(counts)
        chooses = np.logical_or.reduce(choices, axis=1)
        chooser, lane_of, joints = _candidates(counts, moves, rng, choices, chooses)
        reached, worth, results, terminal = self._after(values, self._records[lane_of], joints)
        random[:] = (rng.random(self.lanes) < _EXPLORED) | (self._made < self._opening)
        if self._chance is not None:
            random &= chooses
        mine = values.spread(worth)[np.arange(len(lane_of)), chooser[lane_of]]
        clipped = np.clip(mine, 1e-4, 1 - 1e-4)
        score = np.log(clipped / (1 - clipped)) + _NOISE * rng.gumbel(size=len(mine))
        any_ = random[lane_of]
        score[any_] = rng.random(int(any_.sum()))
        best = _best_of(score, lane_of)
        lanes = lane_of[best]
        reached, worth, results, terminal = reached[best], worth[best], results[best], terminal[best]
        together = np.logical_and(chooses, draws)[lanes]
        if together.any():
            # They chose by one draw of chance. Its outcome must come from another draw: otherwise players
            # would learn to know the moves of chance beforehand.
            redrawn_joints = joints[best[together]]
            redrawn_joints[:, self._chance] = draw_moves(counts, moves, rng)[lanes[together], self._chance]
            redrawn = self._after(values, self._records[lanes[together]], redrawn_joints)
            drawn: tuple[NDArray[Any], ...] = reached, worth, results, terminal
            for array, new in zip(drawn, redrawn, strict=True):
                array[together] = new
        self._records[lanes] = reached
        after[lanes] = worth
        ended[:] = False
        ended[lanes] = terminal
        self._made += 1
        self.finished += int(ended.sum())
        self.won += float(results[terminal, self.columns[0]].sum())
        over = stuck | (self._made >= LONGEST)
        after[stuck] = 0.5
        random |= over
        renewed = ended | over
        self._records[renewed] = self._start
        self._made[renewed] = 0
        self._opening[renewed] = rng.integers(0, OPENING + 1, int(renewed.sum()))
        return len(lane_of)

    def _choices(self, counts: NDArray[np.int32]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The roles that have a choice in each state, bool, shape (n, roles), never chance; and whether
        chance draws, bool, shape (n,)."""
        choices, draws = np.greater(counts, 1), np.zeros(len(counts), np.bool_)
        if self._chance is not None:
            draws[:] = choices[:, self._chance]
            choices[:, self._chance] = False
        return choices, draws

    def _after(
        self, values: StateValues, records: NDArray[np.uint64], joints: NDArray[np.int32]
    ) -> tuple[NDArray[np.uint64], NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_]]:
        """The states after joint moves, their values for the columns, the results of all roles, 0..1, and
        whether each state is terminal."""
        reached = self._machine.successors(records, joints)
        terminal, goals = self._machine.ends(reached)
        worth = values.columns_of(reached)
        results = np.where(goals < 0, 0, goals).astype(np.float32) / np.float32(100.0)
        worth[terminal] = results[terminal][:, list(self.columns)]
        return reached, worth, results, terminal


def _candidates(
    counts: NDArray[np.int32],
    moves: NDArray[np.int32],
    rng: np.random.Generator,
    choices: NDArray[np.bool_],
    chooses: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """The joint moves to choose from in each state: all moves of one role that has a choice, each with a
    random move of the others; one random joint move if no role chooses. Roles that choose at the same time
    take turns. ``choices``, shape (n, roles), are the roles that have a choice; ``chooses``, shape (n,), is
    whether any role has.

    Returns the role that chooses in each state, shape (n,), and for each joint move its state, shape (rows,),
    and its moves, int32, shape (rows, roles). States in which some role has no legal move have none.
    """
    lanes = len(counts)
    first = np.concatenate([[0], np.cumsum(counts.ravel())])[:-1].reshape(counts.shape)
    own = draw_moves(counts, moves, rng)
    chooser = np.argmax(choices * (1 + rng.random(counts.shape)), axis=1)
    rows = np.arange(lanes)
    several = np.where((counts == 0).any(axis=1), 0, np.where(chooses, counts[rows, chooser], 1))
    lane_of = np.repeat(rows, several)
    within = np.arange(len(lane_of)) - np.repeat(np.cumsum(several) - several, several)
    joints = own[lane_of]
    free = np.flatnonzero(chooses[lane_of])
    its = chooser[lane_of[free]]
    joints[free, its] = moves[first[lane_of[free], its] + within[free]]
    return chooser, lane_of, joints


def _best_of(score: NDArray[np.float64], lane_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """The row with the highest score of each lane that has rows; ``lane_of`` ascends."""
    order = np.lexsort((score, lane_of))
    last = np.flatnonzero(np.diff(lane_of[order], append=-1))
    return order[last]
