"""The proof that a game is what it was taken for: machine and model are compared on random states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from players.puzzles.sokoban.recognition.encoding import BOX, EMPTY, KEEPER
from players.puzzles.sokoban.recognition.model import MoveModel
from players.puzzles.sokoban.recognition.probes import Probe
from propnet.jit.arrays import Flags, Octets

STATES = 4096
"""Random states that are compared."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What is to be checked.

    Attributes:
        probe, model: the machine's side and ours.
        start: uint8, shape (squares,): the statuses at first.
        inside: bool, shape (squares,): where the keeper could walk to without boxes.
        goals: bool, shape (squares,).
        best: the goal value that solved states, and no others, have.
        clock: bool, shape (n, clocks): values of clocks before the match is over.
    """

    probe: Probe
    model: MoveModel
    start: Octets
    inside: Flags
    goals: Flags
    best: int
    clock: Flags

    def solved(self, status: Octets) -> Flags:
        """Whether every box is on a goal."""
        astray = ((status >= BOX) & ~self.goals).any(axis=1)
        return np.logical_not(astray)


def ends_when_solved(claim: Claim, states: int = STATES, seed: int = 1) -> bool | None:
    """Whether the match is over as soon as every box is on a goal; None if machine and model differ in any of
    these random states: in the legal moves, what follows them, the best goal, or the end."""
    rng = np.random.default_rng(seed)
    status = _random_states(claim, states, rng)
    clock = claim.clock[rng.integers(len(claim.clock), size=states)]
    predicted = claim.model.predicted(status)
    given = claim.probe.followers(status, clock)
    if not (
        len(given.rows) == len(predicted.rows)
        and (given.rows == predicted.rows).all()
        and (given.moves == predicted.moves).all()
        and given.sound.all()
        and (given.status == predicted.status).all()
    ):
        return None
    evaluated = claim.probe.machine.evaluate(claim.probe.records(status, clock))
    solved = claim.solved(status)
    if ((evaluated.goals[:, 0] == claim.best) != solved).any() or not solved.any() or solved.all():
        return None
    stuck = np.ones(states, np.bool_)
    stuck[predicted.rows] = False
    if (evaluated.terminal & ~solved & ~stuck).any():
        return None
    over = evaluated.terminal[solved & ~stuck]
    if over.any() and not over.all():
        return None
    return bool(over.all())


def _random_states(claim: Claim, states: int, rng: np.random.Generator) -> Octets:
    """Statuses, uint8 (states, squares), with as many boxes as at first. A third of the states has boxes
    around the keeper, a third has them on goals or nearly so."""
    squares = len(claim.start)
    boxes = claim.start[claim.inside & (claim.start >= BOX)]
    floor = np.flatnonzero(claim.inside)
    keeper = rng.choice(floor[claim.probe.encoding.can_stand[floor]], size=states)
    draws = rng.random((states, squares))
    near = np.zeros((squares + 1, squares + 1), np.bool_)
    for direction in range(4):
        beside = claim.model.neighbours[:, direction]
        near[np.arange(squares + 1), beside] = True
        near[np.arange(squares + 1), beside[beside]] = True
    third = np.arange(states) % 3
    draws[third == 1] += 0.4 * near[keeper[third == 1], :squares]
    draws[third == 2] += 1.0 * claim.goals
    # One box of these is elsewhere, every second time.
    astray = np.flatnonzero((third == 2) & (rng.random(states) < 0.5))
    draws[astray, rng.choice(floor, size=len(astray))] += 2.0
    draws[:, ~(claim.inside & claim.probe.encoding.can_hold)] = -1.0
    order = np.argsort(-draws, axis=1)[:, : len(boxes) + 1]
    # The keeper stands on no box: where he would, the next square takes it.
    order = np.where(np.cumsum(order == keeper[:, None], axis=1) > 0, np.roll(order, -1, axis=1), order)
    order = order[:, : len(boxes)]
    status = np.where(claim.inside, EMPTY, claim.start).astype(np.uint8)
    status = np.repeat(status[None], states, axis=0)
    rows = np.arange(states)
    status[rows[:, None], order] = rng.permuted(np.repeat(boxes[None], states, axis=0), axis=1)
    status[rows, keeper] = KEEPER
    return status
