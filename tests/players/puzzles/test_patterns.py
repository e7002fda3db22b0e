"""Pattern databases: the pieces are those of the game, distances are bounds, lines replay, and what is no
such puzzle is given up at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.portfolio import solve
from players.puzzles import patterns
from players.puzzles.patterns import PatternDatabases, find_pieces
from players.solvers import Task, replayed
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.recoding.samples import sample_states
from tests.machines import network as machine_of


def tiles(width: int, height: int, board: list[int], limit: int) -> str:
    """Sliding tiles: ``board`` has the tile on each square, row by row, and 0 on the empty one, which is the
    last one in the end."""
    squares = [(x, y) for y in range(height) for x in range(width)]
    steps = [(x, y, x + a, y + b) for x, y in squares for a, b in ((0, 1), (1, 0), (0, -1), (-1, 0))]
    facts = [f"(beside {x} {y} {u} {v})" for x, y, u, v in steps if (u, v) in squares]
    facts += [f"(square {x} {y})" for x, y in squares]
    facts += [f"(home {tile} {x} {y})" for tile, (x, y) in enumerate(squares[:-1], 1)]
    facts += [f"(init (cell {x} {y} {tile}))" for tile, (x, y) in zip(board, squares, strict=True) if tile]
    facts += [f"(succ {step} {step + 1})" for step in range(limit)]
    return (
        "(role you) (init (step 0))"
        + "".join(facts)
        + f"""
        (<= (legal you (slide ?t)) (true (cell ?x ?y ?t)) (beside ?x ?y ?u ?v) (empty ?u ?v))
        (<= (next (cell ?x ?y ?t)) (does you (slide ?t)) (empty ?x ?y))
        (<= (next (cell ?x ?y ?t)) (true (cell ?x ?y ?t)) (not (does you (slide ?t))))
        (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
        (<= terminal (not misplaced)) (<= terminal (true (step {limit})))
        (<= (goal you 100) (not misplaced)) (<= (goal you 0) misplaced)
        (<= misplaced (home ?t ?x ?y) (not (true (cell ?x ?y ?t))))
        (<= (filled ?x ?y) (true (cell ?x ?y ?t)))
        (<= (empty ?x ?y) (square ?x ?y) (not (filled ?x ?y)))"""
    )


def shuffled(width: int, height: int, moves: int, seed: int) -> list[int]:
    """A board after so many random moves from the end."""
    rng = np.random.default_rng(seed)
    board, empty = [*range(1, width * height), 0], width * height - 1
    for _ in range(moves):
        beside = [empty + step for step in (-width, width) if 0 <= empty + step < width * height]
        beside += [empty + step for step in (-1, 1) if 0 <= empty % width + step < width]
        tile = int(rng.choice(beside))
        board[empty], board[tile], empty = board[tile], 0, tile
    return board


def searched(
    machine: PropnetMachine, seconds: float = 60.0
) -> tuple[list[tuple[int, list[int]]], PatternDatabases]:
    """The lines that were reported, and the solver."""
    lines: list[tuple[int, list[int]]] = []
    task = Task(
        machine, machine.initial_state(), lambda value, moves: lines.append((value, list(moves))), 1 << 28
    )
    solver, end = PatternDatabases(task), time.monotonic() + seconds
    while time.monotonic() < end and not solver.step(time.monotonic() + 0.05):
        pass
    return lines, solver


def pieces_of(machine: PropnetMachine, holes: bool) -> list[set[str]]:
    network = machine.network
    states = unpack(sample_states(machine), len(network.bases)).astype(np.bool_)
    return [{str(network.bases[base]) for base, _ in piece} for piece in find_pieces(network, states, holes)]


def test_the_pieces_of_sliding_tiles_are_the_tiles_and_the_holes() -> None:
    *pieces, holes = pieces_of(machine_of(tiles(3, 2, shuffled(3, 2, 20, 0), 60)), holes=True)
    squares = [(x, y) for x in range(3) for y in range(2)]
    assert sorted(map(sorted, pieces)) == [
        sorted(f"(cell {x} {y} {tile})" for x, y in squares) for tile in range(1, 6)
    ]
    assert holes == set.union(*pieces)


def test_the_pieces_of_a_cube_are_its_cubies(corpus: Path) -> None:
    machine = machine_of(parse_rules((corpus / "games" / "rubiksCube.kif").read_text()))
    pieces = pieces_of(machine, holes=False)
    assert sorted(len({name.split()[1] for name in piece}) for piece in pieces) == [1] * 20
    assert sum(map(len, pieces)) == 20 * 14


def test_of_the_stickers_of_a_cubie_one_is_a_piece() -> None:
    pieces = pieces_of(machine_of("rubikscube"), holes=False)
    assert len(pieces) == 20 and {len(piece) for piece in pieces} == {24}


def plain_distances(machine: PropnetMachine, goal: frozenset[str]) -> Iterator[tuple[frozenset[str], int]]:
    """The fewest moves between the goal and each board, by a plain search; every move can be undone."""
    state = machine.state_of([term for term in machine.network.bases if str(term) in goal | {"(step 0)"}])
    seen, front, depth = {goal}, [state], 0
    yield goal, 0
    while front:
        depth, following = depth + 1, []
        for state in front:
            for move in machine.legal_moves(state, 0):
                after = machine.next_state(state, [move])
                board = frozenset(str(term) for term in after.propositions if term.name == "cell")
                if board not in seen:
                    seen.add(board)
                    following.append(after)
                    yield board, depth
        front = following


@pytest.mark.parametrize("entries", [6**3, 6**6])
def test_distances_of_patterns_are_bounds_and_those_of_all_pieces_are_exact(
    monkeypatch: pytest.MonkeyPatch, entries: int
) -> None:
    monkeypatch.setattr(patterns, "_ENTRIES", entries)
    machine = machine_of(tiles(3, 2, shuffled(3, 2, 20, 0), 60))
    end = frozenset(f"(cell {x} {y} {3 * y + x + 1})" for y in range(2) for x in range(3) if 3 * y + x < 5)
    boards = dict(plain_distances(machine, end))
    names = {str(term): term for term in machine.network.bases}
    records = machine.records([machine.state_of([names[name] for name in board]) for board in boards])
    bits = unpack(records, len(machine.network.bases)).astype(np.bool_)
    pieces = find_pieces(machine.network, bits, holes=True)
    distances = patterns._Distances(patterns._unending(machine), pieces, True, records[:1], 0)
    for _ in distances.more(4):
        pass
    sums, true = patterns._Ranks(distances, 1 << 28).of(records), np.array(list(boards.values()))
    assert len(boards) == 360 and sums[0] == 0 and (sums[1:] > 0).all()
    assert (sums <= len(distances.tables) * true).all()
    assert (sums == len(distances.tables) * true).all() == (entries == 6**6)


def test_distances_stay_for_the_next_start() -> None:
    machine = machine_of(tiles(3, 3, shuffled(3, 3, 400, 1), 90))
    lines, _ = searched(machine)
    start = machine.next_state(machine.initial_state(), [lines[-1][1][0]])
    found: list[int] = []
    second = PatternDatabases(Task(machine, start, lambda value, moves: found.append(len(moves)), 1 << 28))
    known = PatternDatabases._known
    assert known is not None and known[0] is machine.network and known[2][0].tables
    before = known[2][0].states
    while not second.step(time.monotonic() + 0.05):
        pass
    assert PatternDatabases._known is known and known[2][0].states == before
    assert found[-1] == len(lines[-1][1]) - 1


@given(st.integers(2, 4), st.integers(2, 3), st.integers(0, 1000))
def test_shuffled_tiles_are_put_in_order_by_legal_moves(width: int, height: int, seed: int) -> None:
    board = shuffled(width, height, 1 + seed % 60, seed)
    assume(board != [*range(1, width * height), 0])
    machine = machine_of(tiles(width, height, board, 90))
    solution = solve(machine, 60.0, only="patterns")
    assert solution.value == 100 and solution.proven
    replayed(machine.rules, solution)


@pytest.mark.parametrize("seed", range(3))
def test_fifteen_tiles_at_random_are_put_in_order(seed: int) -> None:
    machine = machine_of(tiles(4, 4, shuffled(4, 4, 5000, seed), 200))
    solution = solve(machine, 60.0, only="patterns")
    assert solution.value == 100 and 20 < len(solution.moves) < 120
    replayed(machine.rules, solution)


def test_shorter_lines_are_looked_for() -> None:
    lines, _ = searched(machine_of(tiles(4, 4, shuffled(4, 4, 5000, 2), 200)), 8.0)
    lengths = [len(moves) for value, moves in lines if value == 100]
    assert len(lengths) > 1 and lengths == sorted(set(lengths), reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rubiksCube", "rubiksCubeSuperflip"])
def test_the_public_cube_is_solved(corpus: Path, name: str) -> None:
    machine = machine_of(parse_rules((corpus / "games" / f"{name}.kif").read_text()))
    solution = solve(machine, 120.0, only="patterns")
    assert solution.value == 100 and len(solution.moves) <= 50
    replayed(machine.rules, solution)


@pytest.mark.parametrize("name", ["pegsolitaire", "klotski", "sokoban", "queens", "twentyfortyeight"])
def test_what_is_no_such_puzzle_is_given_up_at_once(name: str) -> None:
    machine = Game.load(name).machine("propnet")
    if len(machine.roles) == 1 and PatternDatabases.recognise(machine) is not None:
        lines, solver = searched(machine, 5.0)
        assert not lines and solver.states == 0


def test_of_two_ways_to_the_end_the_better_one_counts() -> None:
    """A match that the clock ends has a worse goal, which is reported and not taken for proven."""
    machine = machine_of(tiles(3, 3, shuffled(3, 3, 400, 1), 4))
    lines, solver = searched(machine, 5.0)
    assert [value for value, _ in lines] == [0] and solver.proven == -1
