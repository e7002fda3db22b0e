"""A packing puzzle as a game has its placements as moves, and its solutions as lines of value 100."""

from __future__ import annotations

from itertools import combinations

import pytest

from bench.truth.covers import is_solution
from gdl.checks.run import check_text
from gdl.syntax.parser import parse_rules
from players.kaskade.make_machine import make_machine
from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.grids import grid
from players.puzzles.cover.packing.puzzle import CellShape, PackingPuzzle, Piece
from players.puzzles.cover.packing.rules import packing_rules
from players.puzzles.cover.problem import CoverError


def puzzle(
    result: list[list[str]], *pieces: tuple[list[list[str]], int], name: str = "cubes"
) -> PackingPuzzle:
    shapes = [CellShape.of(drawing, f"piece {i}") for i, (drawing, _) in enumerate(pieces)]
    return PackingPuzzle(
        grid(name),
        tuple(Piece(shape, count, count) for shape, (_, count) in zip(shapes, pieces, strict=True)),
        CellShape.of(result),
        name="a test",
    )


FLAT = puzzle([["####", "####"]], ([["###", "#.."]], 1), ([["##"]], 2))
DEEP = puzzle([["##", "##"], ["##", "##"]], ([["##", "#."], ["#.", ".."]], 2))
TRIANGLES = puzzle([["####", "####"]], ([["###"]], 1), ([["##"]], 2), ([["#"]], 1), name="prisms")


@pytest.mark.parametrize("packed", [FLAT, DEEP, TRIANGLES], ids=["flat", "deep", "triangles"])
def test_lines_of_value_100_are_the_solutions(packed: PackingPuzzle) -> None:
    packing = Packing.of(packed)
    text = packing_rules(packed)
    rules, findings = check_text(text)
    assert rules is not None and not [finding for finding in findings if finding.severity.name == "ERROR"]
    machine = make_machine(parse_rules(text, "packing"), "prover")
    start = machine.initial_state()
    assert len(machine.legal_moves(start, 0)) == packing.problem.options
    found: set[frozenset[int]] = set()
    waiting = {frozenset[int](): start}
    while waiting:
        moves, state = waiting.popitem()
        if machine.is_terminal(state):
            if machine.goal(state, 0) == 100:
                found.add(moves)
            continue
        for move in machine.legal_moves(state, 0):
            waiting[moves | {move}] = machine.next_state(state, [move])
    size = sum(piece.maximum for piece in packed.pieces)
    chosen = combinations(range(packing.problem.options), size)
    assert len(found) == sum(is_solution(packing.problem, each) for each in chosen) > 0


def test_an_open_number_of_pieces_is_refused() -> None:
    shape = CellShape.of([["#"]])
    with pytest.raises(CoverError, match="open number") as error:
        packing_rules(PackingPuzzle(grid("cubes"), (Piece(shape, 0, 2),), CellShape.of([["#+"]])))
    assert error.value.remedy
