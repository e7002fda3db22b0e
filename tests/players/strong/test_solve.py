"""Whole games: every state's value as plain recursion finds it, whatever the options; known counts."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.boards.sizes import breakthrough, connect_four, nim
from gdl.errors import GdlError, RulesError
from gdl.machine import Machine, State
from ggp.game import Game
from players.puzzles.frontier.outcome import SearchLimits
from players.strong.layers import solve_game
from players.strong.outcomes import Outcomes, SolvedGame
from players.strong.storage import TableWriter
from players.strong.tables import StateValue, Tables, ask
from tests.examples import examples
from tests.machines import network
from tests.players.random_games import best_result, random_game
from tests.players.strong.tables import PLAIN, Enough, Value, table_of, values_of_machine


def solved(text: str) -> SolvedGame:
    return solve_game(network(text), PLAIN)


@pytest.mark.parametrize("game", ["tictactoe", nim(2, 3, 4), nim(3, 3), breakthrough(2, 4)])
def test_every_state_of_small_games_has_the_value_and_distance_of_plain_minimax(
    game: str, tmp_path: Path
) -> None:
    known = values_of_machine(Game.load(game).machine("prover"))
    found, tables = table_of(game, tmp_path)
    assert found.states == len(known)
    for state, (goal, distance) in known.items():
        assert told_value(tables.value(state)) == ((goal, 100 - goal), distance)


def test_tic_tac_toe_has_5478_states_and_is_drawn() -> None:
    found = solved("tictactoe")
    assert (found.states, found.start, found.distance) == (5478, (50, 50), 9)
    assert not found.cyclic


def state_of(machine: Machine, propositions: set[str]) -> State:
    from gdl.syntax.parser import parse_term

    return machine.state_of(map(parse_term, propositions))


@pytest.mark.slow
def test_connect_four_4x4_has_161029_positions_and_is_drawn() -> None:
    found = solved(connect_four(4, 4))
    assert (found.states, found.start) == (161_029, (50, 50))  # as J. Tromp has counted


@pytest.mark.parametrize("heaps", [(1, 2, 3), (3, 4, 5), (2, 2), (1, 4, 5, 1)])
def test_nim_is_won_unless_the_binary_sum_is_zero(heaps: tuple[int, ...]) -> None:
    total = 0
    for heap in heaps:
        total ^= heap
    assert solved(nim(*heaps)).start == ((100, 0) if total else (0, 100))


@examples(15)
@given(seed=st.integers(0, 10**6), roles=st.integers(1, 2))
def test_random_games_are_solved_as_by_trying_everything(seed: int, roles: int) -> None:
    text = random_game(seed, roles, simultaneous=False)
    machine = Game.load(text).machine("prover")
    assert solved(text).start[0] == best_result(machine, machine.initial_state())


def random_graph(seed: int) -> tuple[str, dict[str, tuple[int, list[str]] | int]]:
    """A walk on a random graph with cycles: its rules, and for each place the role that chooses and where it
    may go, or the first role's goal at the end."""
    rng = random.Random(seed)
    places = [f"p{i}" for i in range(rng.randint(4, 14))]
    graph: dict[str, tuple[int, list[str]] | int] = {}
    for place in places:
        if place != "p0" and rng.random() < 0.3:
            graph[place] = rng.choice([0, 100, 50, 25, 75])
        else:
            graph[place] = rng.randrange(2), rng.sample(places, rng.randint(1, 3))
    lines = ["(role x) (role y) (init (at p0))"]
    for place, what in graph.items():
        if isinstance(what, int):
            lines.append(f"(<= terminal (true (at {place})))")
            lines += [f"(<= (goal {r} {g}) (true (at {place})))" for r, g in (("x", what), ("y", 100 - what))]
        else:
            mover, other = ("x", "y") if what[0] == 0 else ("y", "x")
            lines.append(f"(<= (legal {other} noop) (true (at {place})))")
            for to in what[1]:
                lines.append(f"(<= (legal {mover} (go {to})) (true (at {place})))")
    lines += ["(<= (next (at ?p)) (does x (go ?p)))", "(<= (next (at ?p)) (does y (go ?p)))"]
    return "\n".join(lines), graph


def graph_values(graph: dict[str, tuple[int, list[str]] | int]) -> dict[str, int]:
    """By thresholds: a place is worth t or more to x if x can force that, where 50 stands for no end."""
    goals = {what for what in graph.values() if isinstance(what, int)} | {0, 50, 100}
    value = dict.fromkeys(graph, 0)
    for threshold in sorted(goals):
        # Above 50 x has to force the end, below y has to force an end that is worse for x.
        forcer = 0 if threshold > 50 else 1
        forced = {
            p for p, what in graph.items() if isinstance(what, int) and (what >= threshold) == (forcer == 0)
        }
        while True:
            more = {
                p
                for p, what in graph.items()
                if not isinstance(what, int)
                and p not in forced
                and (any if what[0] == forcer else all)(to in forced for to in what[1])
            }
            if not more:
                break
            forced |= more
        for place in graph:
            if (place in forced) == (forcer == 0):
                value[place] = threshold
    return value


@examples(40)
@given(seed=st.integers(0, 10**6))
def test_games_with_cycles_have_the_values_of_forced_thresholds(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text, graph = random_graph(seed)
    found, tables = table_of(text, tmp_path_factory.mktemp("graph"))
    machine = Game.load(text).machine("prover")
    known = graph_values(graph)
    seen = 0
    for place, goal in known.items():
        value = tables.value(state_of(machine, {f"(at {place})"}))
        if value is not None:
            seen += 1
            assert value.goals == (goal, 100 - goal)
    assert seen == found.states


MATRIX = """(role x) (role y) (init (at start))
(<= (legal x ?m) (move x ?m) (true (at start)))
(<= (legal y ?m) (move y ?m) (true (at start)))
(<= (next (at ?a ?b)) (does x ?a) (does y ?b))
(<= terminal (not (true (at start))))
(<= (goal x ?g) (true (at ?a ?b)) (pay ?a ?b ?g ?h))
(<= (goal y ?h) (true (at ?a ?b)) (pay ?a ?b ?g ?h))
"""


def matrix_game(matrix: list[list[int]]) -> str:
    """Both roles choose once, at the same time."""
    moves = [f"(move x r{i})" for i in range(len(matrix))] + [f"(move y c{j})" for j in range(len(matrix[0]))]
    pays = [f"(pay r{i} c{j} {g} {100 - g})" for i, row in enumerate(matrix) for j, g in enumerate(row)]
    return MATRIX + "\n".join(moves + pays)


@examples(25)
@given(seed=st.integers(0, 10**6))
def test_simultaneous_moves_have_the_value_of_a_saddle_point_or_none(seed: int) -> None:
    rng = random.Random(seed)
    matrix = [
        [rng.choice([0, 50, 100]) for _ in range(width)] for width in [rng.randint(2, 3)] * rng.randint(2, 3)
    ]
    low = max(map(min, matrix))
    high = min(map(max, zip(*matrix, strict=True)))
    if low == high:
        assert solved(matrix_game(matrix)).start == (low, 100 - low)
    else:
        with pytest.raises(
            GdlError, match=r"no pair of moves is best against each other, as in \(at start\)"
        ):
            solved(matrix_game(matrix))


def test_what_has_no_value_is_refused_in_one_line() -> None:
    three = "(role a) (role b) (role c)" + "".join(
        f"(<= (legal {r} {m}) (true (at 0)))" for r, m in product("abc", "uv")
    )
    three += "(init (at 0)) (<= (next (at 1)) (does a u)) (<= (next (at 2)) (does a v))"
    three += "(<= terminal (not (true (at 0))))" + "".join(f"(goal {r} 50)" for r in "abc")
    with pytest.raises(GdlError, match="three roles or more choose at once"):
        solved(three)
    stuck = "(role a) (init (at 0)) (legal a go) (<= (next (at 1)) (does a go) (true (at 0)))"
    stuck = stuck.replace("(legal a go)", "(<= (legal a go) (true (at 0)))")
    stuck += "(<= terminal (true (at 2))) (<= (next (at 2)) (true (at 1))) (goal a 50)"
    with pytest.raises(RulesError, match=r"no legal move in the state \(at 1\), which is not terminal"):
        solved(stuck)
    both = "(role a) (role b) (init (at 0)) (legal b n) (legal a u) (legal a v)"
    both += "(<= (next (at 0)) (does a u)) (<= (next (at 1)) (does a v)) (<= terminal (true (at 1)))"
    with pytest.raises(GdlError, match="cycles"):
        solved(both + "(<= (goal a 100) (true (at 1))) (<= (goal b 100) (true (at 1))) (goal a 0) (goal b 0)")


def test_three_roles_in_turn_each_want_the_most_for_themselves() -> None:
    found = solved(
        """(role a) (role b) (role c) (init (at 0))
        (<= (legal a u) (true (at 0))) (<= (legal a v) (true (at 0))) (<= (legal a n) (not (true (at 0))))
        (<= (legal b u) (true (at 1))) (<= (legal b v) (true (at 1))) (<= (legal b n) (not (true (at 1))))
        (legal c n)
        (<= (next (at 1)) (does a u)) (<= (next (at 4)) (does a v))
        (<= (next (at 2)) (does b u)) (<= (next (at 3)) (does b v))
        (<= terminal (true (at 2))) (<= terminal (true (at 3))) (<= terminal (true (at 4)))
        (<= (goal a 100) (true (at 2))) (<= (goal b 10) (true (at 2))) (<= (goal c 0) (true (at 2)))
        (<= (goal a 0) (true (at 3))) (<= (goal b 20) (true (at 3))) (<= (goal c 0) (true (at 3)))
        (<= (goal a 30) (true (at 4))) (<= (goal b 0) (true (at 4))) (<= (goal c 70) (true (at 4)))"""
    )
    assert found.start == (30, 0, 70)


def test_too_many_states_are_told_in_one_line() -> None:
    with pytest.raises(GdlError, match=r"memory.*--memory") as error:
        solve_game(network(connect_four(5, 5)), SearchLimits(190 << 20))
    assert "\n" not in str(error.value)


def test_outcomes_are_liked_by_own_goal_then_by_little_for_the_others() -> None:
    outcomes = Outcomes(2, [(50, 50), (100, 0), (0, 100), (50, 0)])
    assert outcomes.ranks[0].tolist() == [1, 3, 0, 2]
    assert outcomes.ranks[1].tolist() == [2, 0, 3, 1]
    assert not Outcomes(2, [(50, 50), (100, 0), (60, 60)]).opposed()
    assert Outcomes(2, [(50, 50), (100, 0), (0, 100)]).opposed()


def test_asking_gives_every_move(tmp_path: Path) -> None:
    _, tables = table_of("tictactoe", tmp_path)
    machine = Game.load("tictactoe").machine("prover")
    state = machine.initial_state().play("(mark b 2)", "noop")
    answer = ask(tables, state)
    assert answer.choosers == (1,)
    values = {str(machine.move(1, move.joint[1])): move.value.goals for move in answer.moves}
    corners = [f"(mark {x} {y})" for x in "ac" for y in "13"]
    assert values == {
        move: (50, 50) if move in corners else (100, 0)
        for move in [*corners, "(mark a 2)", "(mark b 1)", "(mark b 3)", "(mark c 2)"]
    }


# --- Symmetry, threads, files and interruptions change no value of a whole game
OPTIONS = SearchLimits(1 << 32)


@cache
def values_of(text: str) -> dict[State, Value]:
    return values_of_machine(Game.load(text).machine("prover"))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("files", [True, False])
@pytest.mark.parametrize(
    ("game", "orbits"), [("tictactoe", 765), (nim(2, 3, 4), None), (breakthrough(2, 4), None)]
)
def test_every_state_has_the_value_and_distance_of_plain_minimax(
    game: str, orbits: int | None, files: bool, symmetry: bool, workers: int, tmp_path: Path
) -> None:
    options = SearchLimits(
        1 << 32,
        tmp_path / "scratch" if files else None,
        1 << 30 if files else None,
        workers,
        symmetry=symmetry,
    )
    known = values_of(game)
    found, tables = table_of(game, tmp_path / "table", options)
    if not symmetry:
        assert found.states == len(known)
    elif orbits is not None:
        assert found.states == orbits
    some = random.Random(workers).sample(list(known.items()), min(len(known), 800))
    for state, (goal, distance) in some:
        assert told_value(tables.value(state)) == ((goal, 100 - goal), distance)
    if files:
        assert not list((tmp_path / "scratch").glob("*.blob"))


def test_symmetry_workers_and_files_change_no_value_of_breakthrough(tmp_path: Path) -> None:
    text = breakthrough(3, 4)
    machine = network(text)
    alike, mirrored = table_of(
        text, tmp_path / "mirrored", SearchLimits(1 << 32, tmp_path / "scratch", workers=2)
    )
    whole, all_states = table_of(text, tmp_path / "whole", replace(OPTIONS, symmetry=False))
    assert (whole.states, alike.states) == (55_152, 27_797)
    assert (alike.symmetries, whole.symmetries) == (2, 1)
    rng = random.Random(1)
    state = machine.initial_state()
    for _ in range(600):
        values = [tables.value(state) for tables in (mirrored, all_states)]
        assert [told_value(value) for value in values] == [told_value(values[0])] * 2
        if machine.is_terminal(state):
            state = machine.initial_state()
        else:
            moves = [rng.choice(machine.legal_moves(state, role)) for role in (0, 1)]
            state = machine.next_state(state, tuple(moves))


def told_value(value: StateValue | None) -> tuple[tuple[int, ...], int | None]:
    assert value is not None
    return value.goals, value.distance


@pytest.mark.slow
def test_a_process_goes_on_where_another_one_was_stopped(tmp_path: Path) -> None:
    machine, scratch, folder = network(breakthrough(2, 4)), tmp_path / "scratch", tmp_path / "table"
    told: list[tuple[str, int]] = []
    options = SearchLimits(1 << 32, scratch, workers=2)
    whole = solve_game(machine, SearchLimits(1 << 32), None, lambda what, rank, _: told.append((what, rank)))
    stops = list(range(len(told) // 7, len(told), len(told) // 7 + 1))
    assert {told[stop][0] for stop in stops} == {"forward", "backward"}
    seen: list[tuple[str, int]] = []
    for stop in [*stops, None]:

        def watch(what: str, rank: int, _: int, stop: int | None = stop) -> None:
            seen.append((what, rank))
            if stop is not None and (what, rank) == told[stop]:
                raise Enough

        writer = TableWriter(folder)
        if stop is None:
            found = solve_game(machine, options, writer, watch)
        else:
            with pytest.raises(Enough):
                solve_game(machine, options, writer, watch)
    assert found == replace(whole, outcomes=found.outcomes, machine=found.machine, images=found.images)
    tables = Tables.open(folder)
    for state, (goal, distance) in values_of(breakthrough(2, 4)).items():
        assert told_value(tables.value(state)) == ((goal, 100 - goal), distance)
    assert not list(scratch.glob("*.blob"))


def test_a_full_disk_loses_the_layer_at_most(tmp_path: Path) -> None:
    machine, scratch = network(breakthrough(3, 4)), tmp_path / "scratch"
    with pytest.raises(GdlError, match=r"of disk.*--disk"):
        solve_game(machine, SearchLimits(1 << 32, scratch, 12_000))
    found = solve_game(machine, SearchLimits(1 << 32, scratch))
    assert found.start == solve_game(machine, OPTIONS).start
    assert sum(path.stat().st_size for path in scratch.glob("*.blob")) == 0
