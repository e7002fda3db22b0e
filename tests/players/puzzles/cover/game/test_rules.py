"""A packing puzzle as a game has the puzzle's placements as moves, and its solutions as lines of value 100."""

from __future__ import annotations

import pytest

from gdl.checks.run import check
from gdl.syntax.parser import parse_rules
from players.kaskade.make_machine import make_machine
from players.puzzles.cover.game.rules import packing_rules
from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.grids.registry import grid
from players.puzzles.cover.packing.puzzle import PackingPuzzle, Piece
from players.puzzles.cover.packing.shape import Shape
from players.puzzles.cover.problem import CoverError


def puzzle(result: list[list[str]], *pieces: tuple[list[list[str]], int], name: str = "cubes") -> PackingPuzzle:
    shapes = [Shape.of(drawing, f"piece {i}") for i, (drawing, _) in enumerate(pieces)]
    return PackingPuzzle(
        grid(name),
        tuple(Piece(shape, count, count) for shape, (_, count) in zip(shapes, pieces, strict=True)),
        Shape.of(result),
        name="a test",
    )


FLAT = puzzle([["####", "####"]], ([["###", "#.."]], 1), ([["##"]], 2))
DEEP = puzzle([["##", "##"], ["##", "##"]], ([["##", "#."], ["#.", ".."]], 2))
TRIANGLES = puzzle([["####", "####"]], ([["###"]], 1), ([["##"]], 2), ([["#"]], 1), name="prisms")


@pytest.mark.parametrize("packed", [FLAT, DEEP, TRIANGLES], ids=["flat", "deep", "triangles"])
def test_lines_of_value_100_are_the_solutions(packed: PackingPuzzle) -> None:
    packing = Packing.of(packed)
    rules = parse_rules(packing_rules(packed), "packing")
    assert not [finding for finding in check(rules) if finding.severity.name == "ERROR"]
    machine = make_machine(rules, "prover")
    solutions: set[frozenset[str]] = set()
    waiting = [(machine.initial_state(), frozenset[str]())]
    seen = set()
    first = None
    while waiting:
        state, moves = waiting.pop()
        if moves in seen:
            continue
        seen.add(moves)
        if machine.is_terminal(state):
            if machine.goals(state)[0] == 100:
                solutions.add(moves)
            continue
        legal = machine.legal_moves(state, 0)
        if first is None:
            first = len(legal)
        waiting += [(machine.next_state(state, [move]), moves | {str(move)}) for move in legal]
    assert first == packing.problem.options
    counted = sum(
        packing.problem.is_solution(choice)
        for choice in _sets(packing.problem.options, sum(piece.maximum for piece in packed.pieces))
    )
    assert len(solutions) == counted > 0


def _sets(options: int, size: int) -> list[tuple[int, ...]]:
    from itertools import combinations

    return list(combinations(range(options), size))


def test_an_open_number_of_pieces_is_refused() -> None:
    shape = Shape.of([["#"]])
    with pytest.raises(CoverError, match="open number") as error:
        packing_rules(PackingPuzzle(grid("cubes"), (Piece(shape, 0, 2),), Shape.of([["#+"]])))
    assert error.value.remedy
