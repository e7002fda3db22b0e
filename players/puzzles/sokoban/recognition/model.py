"""`MoveModel`: the rules of Sokoban for any state. Comparing machine and model on random states proves that a
game is Sokoban. A move is one step of the keeper, or one push with the walk to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from players.puzzles.sokoban.recognition.encoding import BOX, EMPTY, KEEPER
from players.puzzles.sokoban.recognition.probes import Probe
from propnet.jit.arrays import Flags, Int32s, Ints, Octets

_WALLED = 255
"""The status of the outside square."""

Part = tuple[Ints, Ints, Octets]


@dataclass(frozen=True, slots=True)
class _Predicted:
    """The legal moves of some states and their results, by state and move: ``rows`` and ``moves``, int64
    (m,), and ``status``, uint8 (m, squares)."""

    rows: Ints
    moves: Ints
    status: Octets

    @classmethod
    def joined(cls, parts: Sequence[Part]) -> _Predicted:
        """Join several parts into one."""
        rows = np.concatenate([part[0] for part in parts])
        moves = np.concatenate([part[1] for part in parts])
        order = np.lexsort((moves, rows))
        return cls(rows[order], moves[order], np.concatenate([part[2] for part in parts])[order])


def walled(status: Octets) -> Octets:
    """Return statuses with one more square, the outside: uint8 (n, squares + 1)."""
    board = np.full((len(status), status.shape[1] + 1), _WALLED, np.uint8)
    board[:, :-1] = status
    return board


@dataclass(frozen=True, slots=True, eq=False)
class StepModel:
    """The moves of a machine as steps.

    Attributes:
        neighbours: int32, shape (squares + 1, 4), as in a geometry.
        walks: int32, shape (squares, 4): the move by which the keeper walks from a square in a direction; -1
            if he cannot.
        pushes: int32, shape (kinds, squares, 4): the move by which he pushes a box of a kind away from the
            next square; -1 if he cannot.
        idle: bool, shape (squares, moves): moves that change nothing.
    """

    neighbours: Int32s
    walks: Int32s
    pushes: Int32s
    idle: Flags

    def predicted(self, status: Octets) -> _Predicted:
        """Return the legal moves in these states, uint8 (n, squares), and their results."""
        rows = np.arange(len(status))
        keeper = (status == KEEPER).argmax(axis=1)
        board = walled(status)
        idle_rows, idle_moves = np.nonzero(self.idle[keeper])
        parts = [(idle_rows, idle_moves, status[idle_rows])]
        for direction in range(4):
            to = self.neighbours[keeper, direction]
            beyond = self.neighbours[to, direction]
            held = board[rows, to]
            walking = np.flatnonzero(held == EMPTY)
            pushing = np.flatnonzero((held >= BOX) & (held != _WALLED) & (board[rows, beyond] == EMPTY))
            after = status[walking]
            after[np.arange(len(walking)), keeper[walking]] = EMPTY
            after[np.arange(len(walking)), to[walking]] = KEEPER
            parts.append((walking, self.walks[keeper[walking], direction].astype(np.int64), after))
            after = status[pushing]
            after[np.arange(len(pushing)), beyond[pushing]] = held[pushing]
            after[np.arange(len(pushing)), keeper[pushing]] = EMPTY
            after[np.arange(len(pushing)), to[pushing]] = KEEPER
            moves = self.pushes[held[pushing] - BOX, keeper[pushing], direction]
            parts.append((pushing, moves.astype(np.int64), after))
        return _Predicted.joined(parts)


STATES = 4096
"""The number of random states that are compared."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim to check: machine and model agree.

    Attributes:
        probe, model: the machine and our model.
        start: uint8, shape (squares,): the initial statuses.
        inside: bool, shape (squares,): the squares to which the keeper could walk without boxes.
        goals: bool, shape (squares,).
        best: the goal value of solved states and no others.
        clock: bool, shape (n, clocks): values of clocks before the match is over.
    """

    probe: Probe
    model: StepModel
    start: Octets
    inside: Flags
    goals: Flags
    best: int
    clock: Flags

    def solved(self, status: Octets) -> Flags:
        """Return whether every box is on a goal."""
        astray = ((status >= BOX) & ~self.goals).any(axis=1)
        return np.logical_not(astray)


def holds(claim: Claim) -> bool:
    """Return whether machine and model agree in :data:`STATES` random states: in the legal moves, their
    results and the best goal, and the match ends as soon as every box is on a goal."""
    rng = np.random.default_rng(1)
    status = _random_states(claim, STATES, rng)
    clock = claim.clock[rng.integers(len(claim.clock), size=STATES)]
    predicted = claim.model.predicted(status)
    given = claim.probe.followers(status, clock)
    if not (
        len(given.rows) == len(predicted.rows)
        and (given.rows == predicted.rows).all()
        and (given.moves == predicted.moves).all()
        and given.sound.all()
        and (given.status == predicted.status).all()
    ):
        return False
    evaluated = claim.probe.machine.evaluate(claim.probe.records(status, clock))
    solved = claim.solved(status)
    if ((evaluated.goals[:, 0] == claim.best) != solved).any() or not solved.any() or solved.all():
        return False
    stuck = np.ones(STATES, np.bool_)
    stuck[predicted.rows] = False
    return bool((evaluated.terminal == solved)[~stuck].all())


def _random_states(claim: Claim, states: int, rng: np.random.Generator) -> Octets:
    """Return statuses, uint8 (states, squares), with the initial numbers of boxes. A third of the states has
    boxes around the keeper, a third has them on goals or nearly so."""
    squares = len(claim.start)
    boxes = claim.start[claim.inside & (claim.start >= BOX)]
    floor = np.flatnonzero(claim.inside)
    keeper = rng.choice(floor[claim.probe.encoding.can_stand[floor]], size=STATES)
    draws = rng.random((states, squares))
    near = np.zeros((squares + 1, squares + 1), np.bool_)
    for direction in range(4):
        adjacent = claim.model.neighbours[:, direction]
        near[np.arange(squares + 1), adjacent] = True
        near[np.arange(squares + 1), adjacent[adjacent]] = True
    third = np.arange(states) % 3
    draws[third == 1] += 0.4 * near[keeper[third == 1], :squares]
    draws[third == 2] += 1.0 * claim.goals
    # In every second state one of these boxes is elsewhere.
    astray = np.flatnonzero((third == 2) & (rng.random(states) < 0.5))
    draws[astray, rng.choice(floor, size=len(astray))] += 2.0
    draws[:, ~(claim.inside & claim.probe.encoding.can_hold)] = -1.0
    order = np.argsort(-draws, axis=1)[:, : len(boxes) + 1]
    # The keeper does not stand on a box: if he would, the next square gets it.
    order = np.where(np.cumsum(order == keeper[:, None], axis=1) > 0, np.roll(order, -1, axis=1), order)
    order = order[:, : len(boxes)]
    status = np.where(claim.inside, EMPTY, claim.start).astype(np.uint8)
    status = np.repeat(status[None], states, axis=0)
    rows = np.arange(states)
    status[rows[:, None], order] = rng.permuted(np.repeat(boxes[None], states, axis=0), axis=1)
    status[rows, keeper] = KEEPER
    return status
