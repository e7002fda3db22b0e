"""Macro moves against a search of single pushes and pulls of one box."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from players.puzzles.sokoban.board import Board, new_board, place_boxes, walk
from players.puzzles.sokoban.fess.macro_moves import Maneuvers, macro_pulls, macro_pushes, new_maneuvers
from players.puzzles.sokoban.geometry import Geometry, Position
from propnet.jit.arrays import Index, Octets
from propnet.jit.decorators import kernel
from tests.examples import examples
from tests.players.puzzles.sokoban.fess.random_positions import random_position, region


@kernel
def _moves(board: Board, room: Maneuvers, dead: Octets, keeper: Index, box: Index, pulls: bool) -> Index:
    walk(board, keeper)
    return macro_pulls(board, room, box) if pulls else macro_pushes(board, room, dead, box, 15)


def _oracle(geometry: Geometry, position: Position, box: int, pulls: bool) -> set[tuple[int, int]]:
    """Where the box and the lowest square of the keeper's region can be, by single pushes or pulls."""
    others = set(position.boxes) - {box}

    def lowest(square: int, keeper: int) -> int:
        return min(region(geometry, others | {square}, keeper))

    start = box, lowest(box, position.keeper)
    seen, waiting = {start}, [start]
    while waiting:
        square, keeper = waiting.pop()
        around = region(geometry, others | {square}, keeper)
        for direction in range(4):
            there = int(geometry.neighbours[square, direction])
            last = int(geometry.neighbours[there if pulls else square, direction if pulls else direction ^ 2])
            if there == geometry.size or last == geometry.size or {there, last} & others:
                continue
            if (there if pulls else last) in around:
                state = there, lowest(there, last if pulls else square)
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
    return seen


@given(st.integers(0, 100_000), st.booleans())
@examples(60)
def test_all_places_are_found(seed: int, pulls: bool) -> None:
    geometry, position = random_position(seed)
    board, room = new_board(geometry), new_maneuvers(geometry)
    place_boxes(board, position)
    dead = np.zeros(geometry.size + 1, np.uint8)
    for box in position.boxes:
        count = _moves(board, room, dead, np.int64(position.keeper), np.int64(box), pulls)
        found = []
        for stance in room.stances[:count].tolist():
            square, keeper = stance >> 2, int(geometry.neighbours[stance >> 2, stance & 3])
            walls = set(position.boxes) - {box} | {square}
            found.append((square, min(region(geometry, walls, keeper))))
        assert len(found) == len(set(found))
        beside = set(geometry.neighbours[box].tolist())
        if beside & region(geometry, set(position.boxes), position.keeper):
            assert set(found) == _oracle(geometry, position, box, pulls)
        else:
            assert not found
