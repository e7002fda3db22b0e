"""Which moves of a game that is Sokoban make a dead set of boxes, for playouts on the game's own network."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from players.puzzles.sokoban.deadsets.dead_sets import (
    DeadSets,
    Lookup,
    clear_box,
    dead_after_push,
    make_dead_sets,
    set_box,
)
from players.puzzles.sokoban.recognition.encoding import BOX, EMPTY, KEEPER
from players.puzzles.sokoban.recognition.model import PushModel, StepModel
from players.puzzles.sokoban.recognition.recognise import Recognised
from propnet.jit.arrays import Flags, Index, Int32s, Octets, Words
from propnet.jit.decorators import inner, kernel
from propnet.kernels.records import unpack


class PushMoves(NamedTuple):
    """Which moves push which box, for kernels; squares are numbered as the game's encoding has them.

    Attributes:
        neighbours: int32, shape (squares + 1, 4).
        moves: int32, shape (kinds, squares, 4): the move that pushes a box of a kind in a direction, by the
            box's square, or the keeper's where a move is a step; -1 where there is none.
        by_steps: bool, shape (1,): whether a move is a step.
        numbers: int32, shape (squares + 1,): the geometry's squares.
    """

    neighbours: Int32s
    moves: Int32s
    by_steps: Flags
    numbers: Int32s


class DeadMoves:
    """Knows the dead sets of a game.

    Args:
        game: the game, recognised.
        most: the largest sets.
        seconds: CPU time for making them.

    Attributes:
        sets: all that were made.
    """

    def __init__(self, game: Recognised, most: int = 3, seconds: float = 2.0) -> None:
        self.game = game
        self.sets: DeadSets = make_dead_sets(game.geometry, most, seconds)
        model = game.claim.model
        assert isinstance(model, StepModel | PushModel)
        size = game.geometry.size
        numbers = np.full(len(model.neighbours), size, np.int32)
        numbers[game.squares] = np.arange(size)
        self._pushes = PushMoves(
            np.ascontiguousarray(model.neighbours, np.int32),
            np.ascontiguousarray(model.pushes, np.int32),
            np.array([isinstance(model, StepModel)]),
            numbers,
        )
        self._bits = np.zeros(self.sets.squares.words, np.uint64)

    def lost(self, records: Words, legal: Flags) -> Flags:
        """Which legal moves of these states make a dead set, by the keeper's side: bool, shape (n, moves), as
        ``legal``; ``records``, uint64, shape (n, words), are packed states of the machine."""
        encoding = self.game.claim.probe.encoding
        bases = len(self.game.claim.probe.machine.network.bases)
        status = np.full((len(records), encoding.squares + 1), 255, np.uint8)
        status[:, :-1] = encoding.status(unpack(records, bases))
        marked = np.zeros(legal.shape, np.bool_)
        _mark(status, self._pushes, self.sets.lookup, self._bits, legal, marked)
        return marked

    def small_sets(self, most: int = 2) -> list[list[int]]:
        """Sets of up to so many base propositions, boxes on squares, from which no state can be solved
        wherever the keeper is; small ones first. None at all where boxes have names."""
        encoding = self.game.claim.probe.encoding
        if len(encoding.kinds) != 1:
            return []
        content, _ = encoding.rows[BOX - KEEPER]
        base = dict(zip(content.squares.tolist(), content.bases.tolist(), strict=True))
        squares: list[int] = self.game.squares.tolist()
        live = self.sets.squares.numbers[:-1] >= 0
        lone = ((square,) for square in np.flatnonzero(~live).tolist())
        larger = (members for members in self.sets.box_sets() if len(members) <= most)
        named = ([base.get(squares[square], -1) for square in members] for members in (*lone, *larger))
        return [bases for bases in named if -1 not in bases]


@inner
def _is_lost(lookup: Lookup, bits: Words, box: Index, square: Index, direction: Index) -> bool:
    clear_box(lookup, bits, box)
    set_box(lookup, bits, square)
    lost = dead_after_push(lookup, bits, square, direction)
    clear_box(lookup, bits, square)
    set_box(lookup, bits, box)
    return bool(lost)


@kernel
def _mark(
    status: Octets,
    pushes: PushMoves,
    lookup: Lookup,
    bits: Words,
    legal: NDArray[np.bool_],
    marked: NDArray[np.bool_],
) -> None:
    """Mark the moves that make a dead set. ``status``: uint8, shape (n, squares + 1)."""
    near, numbers = pushes.neighbours, pushes.numbers
    squares = status.shape[1] - 1
    for row in range(len(status)):
        keeper = 0
        bits[:] = np.uint64(0)
        for square in range(squares):
            held = status[row, square]
            if held == KEEPER:
                keeper = square
            elif held >= BOX and numbers[square] < len(lookup.numbers) - 1:
                set_box(lookup, bits, numbers[square])
        for square in range(squares):
            if status[row, square] < BOX:
                continue
            for direction in range(4):
                ahead = near[square, direction]
                if ahead == squares or status[row, ahead] > KEEPER:
                    continue
                if status[row, ahead] != EMPTY and pushes.by_steps[0]:
                    continue
                origin = square
                if pushes.by_steps[0]:
                    origin = keeper
                    if near[square, direction ^ 2] != keeper:
                        continue
                move = pushes.moves[status[row, square] - BOX, origin, direction]
                if move >= 0 and legal[row, move]:
                    box, there = numbers[square], numbers[ahead]
                    marked[row, move] = _is_lost(lookup, bits, box, there, np.int64(direction))
