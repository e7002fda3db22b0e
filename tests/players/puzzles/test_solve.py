"""Games with nothing to do, of few states, knight's tours: solved, proven or given up, no traceback."""

from __future__ import annotations

import time

import numpy as np
import pytest

from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from players.portfolio import solve
from players.puzzles import fail_first
from players.puzzles.fail_first import FailFirst
from players.puzzles.few_states import solve_few_states
from players.puzzles.frontier.outcome import SearchLimits
from players.puzzles.sokoban.levels.gdl import level_to_gdl
from players.puzzles.sokoban.levels.level import Level
from players.solvers import Task, replayed, solvers_named
from players.strong.layers import solve_game
from propnet.recoding.samples import clock_states, sample_states
from tests.machines import network as machine_of

SECONDS = 60.0
"""More than is needed."""
NO_MOVES = "(role you) (init (p 0)) (<= terminal (true (p 1))) (<= (goal you 100) (true (p 1)))"
NO_MOVES_BUT_CHANGE = NO_MOVES + "(<= (next (p 1)) (true (p 0)))"
NO_FACTS = "(role you) (legal you wait) (<= terminal (true (p 1))) (<= (goal you 100) (true (p 1)))"
NO_END = "(role you) (init (p 0)) (legal you go) (<= (next (p 1)) (true (p 0))) (goal you 100)" + (
    "(<= (next (p 0)) (true (p 1))) (<= terminal (true (p 2)))"
)
HOPELESS = {
    "no moves": NO_MOVES,
    "no moves, but facts that change": NO_MOVES_BUT_CHANGE,
    "no facts": NO_FACTS,
    "no end": NO_END,
}


@pytest.mark.parametrize("rules", HOPELESS.values(), ids=HOPELESS)
def test_that_no_line_comes_to_an_end_is_proven(rules: str) -> None:
    found = solve(machine_of(rules), SECONDS)
    assert (found.value, found.moves, found.proven) == (-1, (), True)


@pytest.mark.parametrize("rules", HOPELESS.values(), ids=HOPELESS)
@pytest.mark.parametrize("kind", solvers_named(None), ids=lambda kind: kind.name)
def test_no_solver_claims_a_line_there(kind: type, rules: str) -> None:
    machine = machine_of(rules)
    if kind.recognise(machine) is not None:
        assert solve(machine, 0.2, only=kind.name).value == -1


@pytest.mark.parametrize("rules", [NO_MOVES, NO_MOVES_BUT_CHANGE], ids=["constant", "changing"])
def test_states_of_a_role_without_moves_can_be_sampled(rules: str) -> None:
    machine = machine_of(rules)
    start = machine.records([machine.initial_state()])
    assert (np.unique(sample_states(machine), axis=0) == start).all()
    assert len(clock_states(machine)) == 1


def test_a_game_without_facts_has_one_state_and_a_value() -> None:
    machine = machine_of(NO_FACTS)
    assert machine.words == 1
    solved = solve_game(machine, SearchLimits(1 << 31, symmetry=False))
    assert (solved.states, solved.start) == (1, (0,))


# --- Fail first finishes knight's tours, and gives up where it finds nothing better
def tour(size: int) -> str:
    """A knight's tour of a square board from a corner; the goal is the share of it that was visited."""
    squares = [(x, y) for x in range(size) for y in range(size)]
    jumps = [(a, b) for a in (-2, -1, 1, 2) for b in (-2, -1, 1, 2) if abs(a) != abs(b)]
    facts = "".join(
        f"(jump s{x}{y} s{x + a}{y + b})" for x, y in squares for a, b in jumps if (x + a, y + b) in squares
    )
    free = "".join(f"(init (free s{x}{y}))" for x, y in squares[1:])
    return f"""(role you) (init (at s00)) {free} {facts}
        (<= (legal you (go ?t)) (true (at ?s)) (jump ?s ?t) (true (free ?t)))
        (<= (next (at ?t)) (does you (go ?t)))
        (<= (next (free ?t)) (true (free ?t)) (not (does you (go ?t))))
        (<= open (legal you (go ?t))) (<= left (true (free ?s)))
        (<= terminal (not open)) (<= (goal you 100) (not left)) (<= (goal you 0) left)"""


def played(text: str, seed: int, seconds: float = 20.0) -> tuple[list[tuple[int, list[int]]], bool]:
    """The lines that were reported, each replayed, and whether the solver still goes on."""
    machine = Game.load(text).machine("propnet")
    lines: list[tuple[int, list[int]]] = []
    start = machine.initial_state()
    solver = FailFirst(Task(machine, start, lambda value, moves: lines.append((value, list(moves))), 0, seed))
    end = time.monotonic() + seconds
    going = True
    while going and time.monotonic() < end and not (lines and lines[-1][0] == 100):
        going = not solver.step(time.monotonic() + 0.05)
    for value, moves in lines:
        state = start
        for move in moves:
            assert not machine.is_terminal(state) and move in machine.legal_moves(state, 0)
            state = machine.next_state(state, [move])
        assert machine.is_terminal(state) and machine.goal(state, 0) == value
    return lines, going


@pytest.mark.parametrize("size", [5, 6, 8])
def test_it_finds_a_knights_tour(size: int) -> None:
    lines, _ = played(tour(size), seed=size)
    assert lines[-1][0] == 100 and len(lines[-1][1]) == size * size - 1


def test_what_it_reports_gets_better_and_the_seed_decides() -> None:
    first, second = (played(tour(6), seed=1)[0] for _ in range(2))
    assert first == second
    assert [(value, -len(moves)) for value, moves in first] == sorted((v, -len(m)) for v, m in first)


def test_it_gives_up_where_there_is_no_tour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fail_first, "_FRUITLESS_SECONDS", 0.3)
    lines, going = played(tour(4), seed=0)
    assert not going and [value for value, _ in lines] == [0] * len(lines)


# --- Puzzles of few states: the values that the solvers on the network find, lines as short, honest ends
ENOUGH = 600.0
"""Seconds, kernels that may have to be compiled included."""
STEPS = level_to_gdl(Level(("######", "#@ $.#", "#    #", "######")), steps=5)
TOO_FEW = level_to_gdl(Level(("######", "#@ $.#", "#.$  #", "#    #", "######")), steps=3)
NO_END_ON_ONE_SIDE = """(role you) (init (at 0)) (legal you left) (legal you right)
(<= (next (at 1)) (true (at 0)) (does you left)) (<= (next (at 2)) (true (at 0)) (does you right))
(<= (next (at 1)) (true (at 1))) (<= terminal (true (at 2))) (goal you 30)"""


@pytest.mark.parametrize(
    "rules",
    [STEPS, TOO_FEW, NO_END_ON_ONE_SIDE, Game.load("hanoi").text, Game.load("queens").text],
    ids=["steps", "too few steps", "no end on one side", "hanoi", "queens"],
)
def test_the_value_and_the_length_are_those_of_a_search_of_all_states(rules: str) -> None:
    parsed = parse_rules(rules)
    found = solve_few_states(parsed, ENOUGH)
    known = solve(make_machine(parsed, "propnet"), ENOUGH, only="frontier")
    assert found is not None and found.proven and known.proven
    assert (found.value, len(found.moves)) == (known.value, len(known.moves))
    assert replayed(parsed, found).terminal


@pytest.mark.parametrize("rules", HOPELESS.values(), ids=HOPELESS)
def test_without_the_network_it_is_proven_too_that_no_line_comes_to_an_end(rules: str) -> None:
    found = solve_few_states(parse_rules(rules), ENOUGH)
    assert found is not None and (found.value, found.moves, found.proven) == (-1, (), True)


def test_a_start_that_is_the_end_has_an_empty_line() -> None:
    found = solve_few_states(parse_rules("(role you) (legal you go) terminal (goal you 40)"))
    assert found is not None and (found.value, found.moves, found.proven, found.solver) == (40, (), True, "")


@pytest.mark.parametrize(
    "rules",
    [
        Game.load("eightpuzzle").text,
        Game.load("tictactoe").text,
        "(role you) (<= (p ?x) (q ?x) (not (p ?x))) (q 1) (legal you go) (<= terminal (p 1))",
    ],
    ids=["too many states", "two roles", "not stratified"],
)
def test_others_are_left_to_the_solvers(rules: str) -> None:
    assert solve_few_states(parse_rules(rules), 0.05) is None


def test_pieces_that_are_alike_are_no_reason_to_search_again() -> None:
    machine = make_machine(Game.load("klotski").rules, "propnet")
    solution = solve(machine, seconds=120.0, only="frontier")
    assert (solution.value, len(solution.moves), solution.proven) == (100, 116, True)
    replayed(machine.rules, solution)
    # Without symmetries it visits 953,076. A fast computer visits more before it looks for them.
    assert solution.states < 600_000


def test_one_state_of_each_orbit_leads_to_the_same_line(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = make_machine(Game.load("lightsout").rules, "propnet")
    found = [solve(machine, seconds=60.0, only="frontier")]
    monkeypatch.setattr("players.puzzles.frontier.solver._MANY", 0)
    found.append(solve(machine, seconds=60.0, only="frontier"))
    for solution in found:
        replayed(machine.rules, solution)
    assert len({(one.value, len(one.moves), one.proven) for one in found}) == 1
