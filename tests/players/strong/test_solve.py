"""Whole games: every state's value as plain recursion finds it, whatever the options; tables; the player."""

from __future__ import annotations

import random
import re
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError, RulesError
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_rules
from gdl.writing import sealed, unsealed
from ggp.game import Game
from players.player import Player
from players.puzzles.frontier.outcome import SearchLimits
from players.registry import make_player
from players.sorted_sets.files import MANIFEST as CHECKPOINT
from players.sorted_sets.files import sealed as sealed_checkpoint
from players.sorted_sets.rows import as_set
from players.strong.choice_kernels import UNKNOWN
from players.strong.layers import solve_game
from players.strong.outcomes import Outcomes, SolvedGame
from players.strong.storage import MANIFEST, TableWriter, pack_block, rules_digest, unpack_block
from players.strong.tables import StateValue, Tables, ask
from propnet.jit.arrays import Words
from tests.examples import examples
from tests.machines import network
from tests.mutations import refusals
from tests.players.random_games import best_result, random_game

PLAIN = SearchLimits(1 << 30, symmetry=False)


def nim(*heaps: int) -> str:
    """Nim with these heaps; who takes the last one wins."""
    text = re.sub(r"\(start . \d+\)\n|\(succ \d+ \d+\)\n?", "", Game.load("nim").text)
    starts = [f"(start {heap} {number})" for heap, number in zip("abcd", heaps, strict=False)]
    return "\n".join([text, *starts, *(f"(succ {n} {n + 1})" for n in range(max(heaps)))])


class Enough(BaseException):
    """As a signal would be."""


def table_of(text: str, folder: Path, options: SearchLimits = PLAIN) -> tuple[SolvedGame, Tables]:
    """A game's results, and its table in a folder."""
    writer = TableWriter(folder)
    solved = solve_game(network(text), options, writer)
    assert writer.size == sum(path.stat().st_size for path in folder.iterdir())
    return solved, Tables.open(folder)


Value = tuple[int, int]
"""Role 0's goal (role 1's makes 100 with it), and joint moves to the end: a role that gets more than 50 takes
the shortest way, one that gets less or as much the longest."""


def better(value: Value, role: int) -> tuple[int, int]:
    """What a role maximises."""
    own = value[0] if role == 0 else 100 - value[0]
    return own, -value[1] if own > 50 else value[1]


def values_of_machine(machine: Machine) -> dict[State, Value]:
    """All states of a game of two roles in turn, without cycles, by plain recursion."""
    known: dict[State, Value] = {}

    def visit(state: State) -> Value:
        if state not in known:
            if machine.is_terminal(state):
                goal = machine.result(state, 0)
                assert goal is not None
                known[state] = goal, 0
            else:
                options = [machine.legal_moves(state, role) for role in (0, 1)]
                role = int(len(options[1]) > 1)
                after = [machine.next_state(state, (a, b)) for a in options[0] for b in options[1]]
                goal, distance = max(map(visit, after), key=lambda value: better(value, role))
                known[state] = goal, distance + 1
        return known[state]

    visit(machine.initial_state())
    return known


def solved(text: str) -> SolvedGame:
    return solve_game(network(text), PLAIN)


@pytest.mark.parametrize("game", ["tictactoe", nim(2, 3, 4), nim(3, 3), "breakthrough:2x4"])
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
    found = solved("connectfour:4x4")
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
        solve_game(network("connectfour:5x5"), SearchLimits(190 << 20))
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
    ("game", "orbits"), [("tictactoe", 765), (nim(2, 3, 4), None), ("breakthrough:2x4", None)]
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
    text = "breakthrough:3x4"
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
    machine, scratch, folder = network("breakthrough:2x4"), tmp_path / "scratch", tmp_path / "table"
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
    for state, (goal, distance) in values_of("breakthrough:2x4").items():
        assert told_value(tables.value(state)) == ((goal, 100 - goal), distance)
    assert not list(scratch.glob("*.blob"))


def test_a_full_disk_loses_the_layer_at_most(tmp_path: Path) -> None:
    machine, scratch = network("breakthrough:3x4"), tmp_path / "scratch"
    with pytest.raises(GdlError, match=r"of disk.*--disk"):
        solve_game(machine, SearchLimits(1 << 32, scratch, 12_000))
    found = solve_game(machine, SearchLimits(1 << 32, scratch))
    assert found.start == solve_game(machine, OPTIONS).start
    assert sum(path.stat().st_size for path in scratch.glob("*.blob")) == 0


# --- Tables on disk: what is written is read, and what was damaged or forged is not believed
def random_set(seed: int, n: int, words: int) -> Words:
    """A set of records in which some bytes are all the same."""
    rng = np.random.default_rng(seed)
    masks = rng.choice(np.array([0, 0xFF, 0x3, 0x8000000000000001, 0xFF00FF00], np.uint64), words)
    rows = np.ascontiguousarray(rng.integers(0, 1 << 63, (n, words), np.uint64) * np.uint64(3) & masks)
    return as_set(rows, np.empty_like(rows), n, tag_bits=0)


@examples(50)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 200), words=st.integers(1, 3), wide=st.sampled_from([1, 2])
)
def test_blocks_are_read_as_they_were_written(seed: int, n: int, words: int, wide: int) -> None:
    rows = random_set(seed, n, words)
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 250, len(rows)).astype(np.uint8)
    distances = rng.integers(0, 255 if wide == 1 else UNKNOWN, len(rows)).astype(np.uint16)
    distances[rng.random(len(rows)) < 0.2] = UNKNOWN
    block = pack_block(rows, values, distances, wide)
    for read, wrote in zip(
        unpack_block(block, len(rows), words, wide), (rows, values, distances), strict=True
    ):
        assert read.dtype == wrote.dtype
        assert (read == wrote).all()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table_of("tictactoe", tmp_path / "table")
    return tmp_path / "table"


def test_states_that_are_not_there_have_no_value(folder: Path) -> None:
    tables = Tables.open(folder)
    machine = Game.load("tictactoe").machine("prover")
    assert tables.value(machine.initial_state()) is not None
    known = machine.initial_state().propositions
    assert tables.value_of([]) is None
    other = Game.load("connectfour").machine("prover").initial_state()
    assert tables.value(other) is None
    two = machine.initial_state().play("(mark a 1)", "noop").propositions | known
    assert tables.value_of(two) is None


def test_damage_is_told_and_never_believed(folder: Path) -> None:
    state = Game.load("tictactoe").machine("prover").initial_state()
    first = folder / "layer-00000.table"
    good, manifest = first.read_bytes(), (folder / MANIFEST).read_bytes()
    first.write_bytes(bytes([good[0] ^ 1]) + good[1:])
    with pytest.raises(GdlError, match=r"layer-00000\.table is damaged"):
        Tables.open(folder).value(state)
    first.write_bytes(good[:-1])
    with pytest.raises(GdlError, match="bytes long, not"):
        Tables.open(folder)
    first.unlink()
    with pytest.raises(GdlError, match="missing"):
        Tables.open(folder)
    first.write_bytes(good)
    for changed, why in (
        (manifest.replace(b"50", b"51", 1), "its digest does not fit"),
        (sealed({**unsealed(manifest)[1], "version": 1}), "has version 1"),
        (manifest[:-9], "not a table.s manifest"),
        (b"[]", "not a table.s manifest"),
        (b'{"body": {"format": "other"}}', "not a table.s manifest"),
    ):
        (folder / MANIFEST).write_bytes(changed)
        with pytest.raises(GdlError, match=why):
            Tables.open(folder)
    (folder / MANIFEST).unlink()
    with pytest.raises(GdlError, match="there is no table in"):
        Tables.open(folder)


def test_a_table_is_for_its_rules_in_any_layout(folder: Path) -> None:
    tables = Tables.open(folder)
    text = Game.load("tictactoe").text
    tables.check_rules(parse_rules(text.upper() + "\n; more"))
    with pytest.raises(GdlError, match="is for other rules"):
        tables.check_rules(parse_rules(text + "(init (cell a 1 x))"))


def test_the_digest_does_not_depend_on_the_order_of_sentences() -> None:
    assert rules_digest(parse_rules("(role a) (init b)")) == rules_digest(parse_rules("(init b)\n(ROLE a)"))


def test_a_table_replaces_a_table_and_nothing_else(folder: Path) -> None:
    table_of("nim", folder)
    assert orjson.loads((folder / MANIFEST).read_bytes())["body"]["name"] == "nim"
    assert len(list(folder.iterdir())) == 2
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(GdlError, match="holds something else"):
        table_of("nim", folder)
    assert (folder / "notes.txt").read_text() == "mine"
    (folder.parent / "file").write_text("mine")
    with pytest.raises(GdlError, match="holds something else"):
        table_of("nim", folder.parent / "file")


MUTATIONS = 200


@pytest.mark.slow
@pytest.mark.parametrize(("text", "options"), [(nim(3, 4), PLAIN), ("tictactoe", SearchLimits(1 << 32))])
def test_a_manifest_with_a_right_digest_and_wrong_contents_is_refused_or_read(
    text: str, options: SearchLimits, tmp_path: Path
) -> None:
    machine = network(text)
    table_of(text, tmp_path, options)
    states = [machine.initial_state()]
    for _ in range(4):
        if machine.is_terminal(states[-1]):
            break
        moves = [machine.legal_moves(states[-1], role)[0] for role in range(len(machine.roles))]
        states.append(machine.next_state(states[-1], moves))
    body = orjson.loads((tmp_path / MANIFEST).read_bytes())["body"]

    def ask(manifest: bytes) -> None:
        (tmp_path / MANIFEST).write_bytes(manifest)
        tables = Tables.open(tmp_path)
        tables.check_rules(machine.rules)
        for state in states:
            tables.value(state)

    told = refusals(body, sealed, ask, MUTATIONS)
    assert len(told) > MUTATIONS // 3
    assert not any("\n" in text for text in told)


@pytest.mark.parametrize(
    "name", ["../layer-00000.table", "/etc/passwd", "a\0b", "..", "", "layer-00000.table/../../x", "x.table"]
)
def test_files_of_a_table_lie_in_its_folder(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "table"
    table_of("tictactoe", folder)
    shutil.copy(folder / "layer-00000.table", tmp_path)
    body = orjson.loads((folder / MANIFEST).read_bytes())["body"]
    body["files"][0]["name"] = name
    (folder / MANIFEST).write_bytes(sealed(body))
    with pytest.raises(GdlError, match=r"body\.files\[0\]\.name is"):
        Tables.open(folder)


@pytest.mark.slow
def test_a_checkpoint_with_a_right_digest_and_wrong_contents_is_refused_or_gone_on_with(
    tmp_path: Path,
) -> None:
    machine, scratch = network("breakthrough:2x4"), tmp_path / "scratch"

    def stopped(after: int) -> Callable[[str, int, int], None]:
        left = [after]

        def watch(*_: Any) -> None:
            left[0] -= 1
            if not left[0]:
                raise Enough

        return watch

    def go_on(manifest: bytes) -> None:
        here = tmp_path / "mutated"
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(scratch, here)
        (here / CHECKPOINT).write_bytes(manifest)
        with suppress(Enough):
            solve_game(machine, SearchLimits(1 << 32, here), None, stopped(4))

    for after in (6, 16):
        shutil.rmtree(scratch, ignore_errors=True)
        with pytest.raises(Enough):
            solve_game(machine, SearchLimits(1 << 32, scratch), None, stopped(after))
        body = orjson.loads((scratch / CHECKPOINT).read_bytes())["body"]
        told = refusals(body, sealed_checkpoint, go_on, 60)
        assert len(told) > 20
        assert not any("\n" in text for text in told)


# --- The tables player: never worse than the table says, and not lost where there is none
def started(machine: Machine, role: int, folder: Path | str, **options: object) -> tuple[Player, list[str]]:
    player = make_player("tables", 3, dir=str(folder), **options)
    told: list[str] = []
    player.found_out = told.append
    soon = time.monotonic() + 0.3
    player.start(machine, role, machine.initial_state(), 0.3, soon)
    return player, told


def worst(player: Player, machine: Machine, role: int) -> int:
    """What the player gets at least, whatever the other one does."""
    known: dict[State, int] = {}

    def visit(state: State) -> int:
        if state not in known:
            if machine.is_terminal(state):
                goal = machine.goal(state, role)
                assert goal is not None
                known[state] = goal
            else:
                options = [machine.legal_moves(state, r) for r in (0, 1)]
                if len(options[role]) > 1:
                    options[role] = [player.choose(state, time.monotonic() + 1).move]
                after = [machine.next_state(state, (a, b)) for a in options[0] for b in options[1]]
                known[state] = min(map(visit, after))
        return known[state]

    return visit(machine.initial_state())


@pytest.mark.parametrize("level", ["prover", "propnet"])
@pytest.mark.parametrize(
    ("text", "values"), [("tictactoe", (50, 50)), ("nim", (100, 0)), (nim(1, 2, 3), (0, 100))]
)
def test_it_gets_the_value_of_the_game_against_every_play(
    level: str, text: str, values: tuple[int, int], tmp_path: Path
) -> None:
    table_of(text, folder := tmp_path / "table")
    machine = Game.load(text).machine(level)
    for role in (0, 1):
        player, told = started(machine, role, folder)
        assert worst(player, machine, role) >= values[role]
        assert not told
        player.stop()


def test_it_wins_by_the_shortest_way(tmp_path: Path) -> None:
    table_of("tictactoe", folder := tmp_path / "table")
    machine = Game.load("tictactoe").machine("prover")
    state = machine.initial_state()
    for mine, theirs in (("(mark a 1)", "(mark b 1)"), ("(mark a 2)", "(mark b 2)")):
        state = state.play(mine, "noop").play("noop", theirs)
    player, _ = started(machine, 0, folder)
    choice = player.choose(state, time.monotonic() + 1)
    assert str(machine.move(0, choice.move)) == "(mark a 3)"
    assert choice.note == "from the table: 100, ends after 1 move"


def test_without_a_table_that_fits_another_player_moves(tmp_path: Path) -> None:
    table_of("nim", folder := tmp_path / "table")
    machine = Game.load("tictactoe").machine("prover")
    state = machine.initial_state()
    for where, why in ((folder, "is for other rules"), (tmp_path / "none", "there is no table")):
        player, told = started(machine, 0, where, otherwise="legal")
        assert why in told[0] and told[0].endswith("legal plays")
        choice = player.choose(state, time.monotonic() + 1)
        assert choice.move == make_legal(machine, state)
        assert why in choice.note
        player.stop()


def test_in_a_state_that_the_table_lacks_another_player_moves(tmp_path: Path) -> None:
    table_of("tictactoe", folder := tmp_path / "table")
    machine = Game.load("tictactoe").machine("prover")
    player, told = started(machine, 0, folder, otherwise="legal")
    state = machine.state_of(
        machine.proposition(machine.proposition_id(p))
        for p in machine.initial_state().play("(mark b 2)", "noop").propositions
        if "control" not in str(p)
    )
    control = next(p for p in machine.initial_state().propositions)
    state = machine.state_of({*state.propositions, control})  # x has moved, and is to move again
    choice = player.choose(state, time.monotonic() + 1)
    assert choice.move == make_legal(machine, state)
    assert told == ["the table does not have this state; legal plays"]


def make_legal(machine: Machine, state: State) -> int:
    player = make_player("legal")
    player.start(machine, 0, state, 0.1, time.monotonic() + 0.1)
    return player.choose(state, time.monotonic() + 0.1).move


def test_the_other_player_gets_options(tmp_path: Path) -> None:
    machine = Game.load("tictactoe").machine("prover")
    player, _ = started(machine, 0, tmp_path, otherwise="montecarlo", workers=1, ponder=False)
    other = player._other  # type: ignore[attr-defined]
    assert other.name == "montecarlo"
    player.stop()
