"""Sokoban with one step of the keeper per move: found by probes, and predicted."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from players.puzzles.sokoban.recognition.contents import Guess, name_changes
from players.puzzles.sokoban.recognition.directions import Step, neighbours_of
from players.puzzles.sokoban.recognition.encoding import BOX, EMPTY, KEEPER
from players.puzzles.sokoban.recognition.model import WALLED, MoveModel, Predicted, walled
from players.puzzles.sokoban.recognition.probes import Followers, Probe, keepers_at
from propnet.jit.arrays import Flags, Int32s, Octets


@dataclass(frozen=True, slots=True, eq=False)
class StepModel(MoveModel):
    """Which move is which step.

    Attributes:
        neighbours: int32, shape (squares + 1, 4), as of a geometry.
        walks: int32, shape (squares, 4): the move by which the keeper walks from a square in a direction;
            -1 where he cannot.
        pushes: int32, shape (kinds, squares, 4): the move by which he pushes a box of a kind away from the
            next square; -1 where he cannot.
        idle: bool, shape (squares, moves): moves that change nothing.
    """

    neighbours: Int32s
    walks: Int32s
    pushes: Int32s
    idle: Flags

    def predicted(self, status: Octets) -> Predicted:
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
            pushing = np.flatnonzero((held >= BOX) & (held != WALLED) & (board[rows, beyond] == EMPTY))
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
        return Predicted.joined(parts)


def probe_steps(probe: Probe, guess: Guess, alone: Followers) -> StepModel | None:
    """The model of a machine by what it does with the keeper alone, on each of his squares in turn, and with
    one box before him; None if that is not Sokoban with single steps."""
    squares, moves = guess.squares, probe.machine.network.move_count
    begin = np.flatnonzero(probe.encoding.can_stand)[alone.rows]
    there = (alone.status == KEEPER).argmax(axis=1)
    if not alone.sound.all() or not ((alone.status != EMPTY).sum(axis=1) == 1).all():
        return None
    stays = there == begin
    idle = np.zeros((squares, moves), np.bool_)
    idle[begin[stays], alone.moves[stays]] = True
    pairs = list(zip(begin[~stays].tolist(), there[~stays].tolist(), strict=True))
    walks: dict[Step, int] = dict(zip(pairs, alone.moves[~stays].tolist(), strict=True))
    if not walks or len(walks) != len(pairs) or len(walks) > 4 * squares:
        return None
    ahead, pushes = _push_probes(probe, list(walks))
    labels: list[Mapping[Step, Hashable]] = [walks, *name_changes(walks, guess)]
    neighbours = neighbours_of(squares, ahead, labels)
    if neighbours is None:
        return None
    by_direction = np.full((squares, 4), -1, np.int32)
    by_push = np.full((len(probe.encoding.kinds), squares, 4), -1, np.int32)
    for square in range(squares):
        for direction, to in enumerate(neighbours[square].tolist()):
            if to != squares:
                by_direction[square, direction] = walks[square, to]
                by_push[:, square, direction] = pushes.get((square, to), -1)
    return StepModel(neighbours, by_direction, by_push, idle)


def _push_probes(probe: Probe, steps: list[Step]) -> tuple[dict[Step, int | None], dict[Step, list[int]]]:
    """Where each step leads on to, and the moves that push a box of each kind there."""
    encoding = probe.encoding
    squares, kinds = encoding.squares, len(encoding.kinds)
    ahead: dict[Step, int | None] = {step: squares if encoding.can_hold[step[1]] else None for step in steps}
    pushes: dict[Step, list[int]] = {}
    tried = [step for step in steps if encoding.can_hold[step[1]]]
    starts, squares_to = np.array(tried or np.zeros((0, 2)), np.int64).T
    for kind in range(kinds):
        status = keepers_at(squares, starts)
        status[np.arange(len(tried)), squares_to] = BOX + kind
        given = probe.followers(status)
        came = given.status[np.arange(len(given.rows)), squares_to[given.rows]] == KEEPER
        for row, move, after in zip(
            given.rows[came].tolist(), given.moves[came].tolist(), given.status[came], strict=True
        ):
            box = np.flatnonzero(after >= BOX).tolist()
            if len(box) == 1:
                ahead[tried[row]] = box[0]
                pushes.setdefault(tried[row], [-1] * kinds)[kind] = move
    return ahead, pushes
