"""Games solved by rank: each state has the value that plain recursion and the plain solver find."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.boards.sizes import breakthrough, connect_four, nim
from gdl.errors import GdlError
from gdl.machine import State
from gdl.syntax.parser import parse_term
from ggp.game import Game
from players.strong.outcomes import SolvedGame
from players.strong.ranked.rank import drop_equal, find_weights, part_by_rank
from players.strong.ranked.solve import PackedLayer, StrongOptions, codes_of, packed
from players.strong.ranked.space import BrokenSpaceError, RankedSpace, UnfitError
from players.strong.solve import solve_game, solve_whole
from players.strong.storage import TableWriter
from players.strong.tables import StateValue, Tables
from propnet.expander import Expansion
from propnet.machine import PropnetMachine
from tests.examples import examples
from tests.players.random_games import best_result, random_game
from tests.players.strong.independent import Value, values_of_game, values_of_machine
from tests.players.strong.independent import connect_four as four

OPTIONS = StrongOptions(1 << 32)


def machine_of(text: str) -> PropnetMachine:
    machine = Game.load(text).machine("propnet")
    assert isinstance(machine, PropnetMachine)
    return machine


@cache
def values_of(text: str) -> dict[State, Value]:
    return values_of_machine(Game.load(text).machine("prover"))


def table_of(text: str, folder: Path, options: StrongOptions) -> tuple[SolvedGame, Tables]:
    writer = TableWriter(folder)
    solved = solve_whole(machine_of(text), options, writer)
    assert solved.codec is not None
    assert writer.size == sum(path.stat().st_size for path in folder.iterdir())
    return solved, Tables.open(folder)


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
    options = StrongOptions(
        1 << 32,
        workers,
        tmp_path / "scratch" if files else None,
        1 << 30 if files else None,
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
        value = tables.value(state)
        assert value is not None
        assert (value.goals, value.distance) == ((goal, 100 - goal), distance)
    if files:
        assert not list((tmp_path / "scratch").glob("*.blob"))


def test_symmetry_workers_and_files_change_no_value_of_breakthrough(tmp_path: Path) -> None:
    text = breakthrough(3, 4)
    machine = machine_of(text)
    writer = TableWriter(tmp_path / "plain")
    plain = solve_game(machine, 1 << 32, writer.keep)
    writer.finish(plain)
    reference = Tables.open(tmp_path / "plain")
    alike, mirrored = table_of(text, tmp_path / "mirrored", StrongOptions(1 << 32, 2, tmp_path / "scratch"))
    whole, all_states = table_of(text, tmp_path / "whole", replace(OPTIONS, symmetry=False))
    assert (plain.states, whole.states, alike.states) == (55_152, 55_152, 27_797)
    assert (alike.symmetries, whole.symmetries) == (2, 1)
    rng = random.Random(1)
    state = machine.initial_state()
    for _ in range(600):
        values = [tables.value(state) for tables in (reference, mirrored, all_states)]
        assert [told_value(value) for value in values] == [told_value(values[0])] * 3
        if machine.is_terminal(state):
            state = machine.initial_state()
        else:
            moves = [rng.choice(machine.legal_moves(state, role)) for role in (0, 1)]
            state = machine.next_state(state, tuple(moves))


def told_value(value: StateValue | None) -> tuple[tuple[int, ...], int | None]:
    assert value is not None
    return value.goals, value.distance


@pytest.mark.slow
def test_connect_four_4x4_has_the_values_of_a_program_of_its_own(tmp_path: Path) -> None:
    game = Game.load(connect_four(4, 4))
    found, tables = table_of(game.text, tmp_path, replace(OPTIONS, workers=2))
    assert found.start == (50, 50) and found.states == 80_541
    for position, goal in random.Random(1).sample(sorted(values_of_game(*four(4, 4)).items()), 400):
        side, columns = position  # type: ignore[misc]
        cells = {
            f"(cell {'abcd'[x]} {y + 1} {('red', 'yellow')[int(disc)]})"
            for x, column in enumerate(columns)
            for y, disc in enumerate(column)
        } | {f"(control {('red', 'yellow')[side]})"}
        value = tables.value_of(map(parse_term, cells))
        assert value is not None and value.goals[0] == goal


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), roles=st.integers(1, 2))
def test_random_games_are_solved_as_by_trying_everything(seed: int, roles: int) -> None:
    text = random_game(seed, roles, simultaneous=False)
    machine = Game.load(text).machine("prover")
    assert solve_whole(machine_of(text), OPTIONS).start[0] == best_result(machine, machine.initial_state())


def test_a_game_that_is_over_at_once_has_one_state_and_its_value(tmp_path: Path) -> None:
    text = "(role a) (role b) (init (p 1)) (<= (next (p 1)) (true (p 1)))" + (
        "(<= terminal (not (true (p 0)))) (legal a go) (legal b go) (<= (next (p 0)) (does a go))"
        "(goal a 0) (goal b 100)"
    )
    solved, tables = table_of(text, tmp_path, OPTIONS)
    assert (solved.states, solved.start) == (1, (0, 100))
    assert tables.value(machine_of(text).initial_state()) is not None


def test_games_with_cycles_have_no_rank() -> None:
    rules = """(role a) (init (at 0)) (<= (legal a n) (true (at ?x)))
        (<= (next (at 1)) (true (at 0))) (<= (next (at 0)) (true (at 1))) (<= terminal (true (at 2)))
        (base (at 0)) (base (at 1)) (base (at 2)) (<= (next (at 2)) (true (at 2))) (goal a 0)"""
    with pytest.raises(UnfitError):
        RankedSpace.find(machine_of(rules))
    assert solve_whole(machine_of(rules), OPTIONS).cyclic


@pytest.mark.slow
def test_weights_that_no_play_contradicts_are_mended_when_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = machine_of(breakthrough(2, 4))
    space = RankedSpace.find(machine)
    few = replace(space, kinds=space.kinds[:0])
    start = few.start().reshape(-1, 1)
    assert len(few.refitted(start).kinds)
    monkeypatch.setattr("players.strong.ranked.space._SAMPLES", 1)
    assert solve_whole(machine, OPTIONS).states == solve_whole(machine, replace(OPTIONS, workers=2)).states
    with pytest.raises(UnfitError):
        replace(space, attempts=0).refitted(start)
    assert issubclass(BrokenSpaceError, Exception)


def test_equal_steps_are_found_and_else_the_least_weights() -> None:
    equal = np.array([[1, -1, 0], [0, 1, -1]], np.int8)
    found = find_weights(equal, [])
    assert found is not None and found[1]
    assert np.allclose(equal @ found[0], 1)
    uneven = np.concatenate([equal, equal[:1] + equal[1:]])
    found = find_weights(uneven, [])
    assert found is not None and not found[1]
    assert (uneven @ found[0]).min() >= 1
    assert find_weights(np.array([[1, -1], [-1, 1]], np.int8), []) is None


@examples(25)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 200), bits=st.integers(8, 63))
def test_a_packed_layer_has_what_was_put_into_it(seed: int, n: int, bits: int) -> None:
    rng = np.random.default_rng(seed)
    keys = np.sort(rng.choice(1 << bits, n, replace=False) if bits < 20 else rng.integers(0, 1 << bits, n))
    keys = np.array(sorted(set(keys.tolist())), np.uint64)
    n = len(keys)
    values, distances = rng.integers(0, 32, n).astype(np.uint8), rng.integers(0, 2000, n).astype(np.uint16)
    cut = int(rng.integers(0, n + 1))
    parts = [
        packed(keys[part], codes_of(values[part], distances[part])) for part in (slice(cut), slice(cut, n))
    ]
    layer = PackedLayer.of([part for part in parts if len(part[0])])
    others = rng.integers(0, 1 << bits, n).astype(np.uint64)
    wanted = np.concatenate([keys, others])[rng.permutation(2 * n)]
    m = len(wanted)
    chunk = Expansion(
        np.zeros(m, np.int32), rng.integers(0, 3, (m, 2)).astype(np.int32), wanted.reshape(-1, 1),
        np.zeros(0, np.bool_), np.zeros((0, 2), np.int16),
    )  # fmt: skip
    ranks = rng.integers(0, 2, m)
    got, far = np.full(m, 99, np.uint8), np.zeros(m, np.uint16)
    missing = layer.find(chunk, ranks, 1, PackedLayer.new_fingers(), got, far)
    known = {int(key): (int(v), int(d)) for key, v, d in zip(keys, values, distances, strict=True)}
    asked = [int(key) for key, rank in zip(wanted, ranks, strict=True) if rank == 1]
    assert missing == sum(key not in known for key in asked)
    for key, rank, value, distance in zip(wanted.tolist(), ranks, got.tolist(), far.tolist(), strict=True):
        if rank == 1 and key in known:
            assert (value, distance) == known[key]
        else:
            assert value == 99


def test_keys_are_parted_by_rank_and_made_unique() -> None:
    keys = np.array([5, 3, 5, 9, 3], np.uint64)
    filed = np.array([2, 4, 2, 2, 4], np.int32)
    counts, out = np.zeros(4, np.int64), np.zeros(5, np.uint64)
    part_by_rank(keys, filed, 5, 2, counts, out)
    assert counts.tolist() == [0, 3, 3, 5]
    assert out.tolist() == [5, 5, 9, 3, 3]
    assert drop_equal(out, 3) == 2 and out[:2].tolist() == [5, 9]


def test_a_table_of_words_is_damaged_in_one_line(tmp_path: Path) -> None:
    _, tables = table_of("tictactoe", tmp_path, OPTIONS)
    assert tables.value_of([]) is None
    path = tmp_path / "layer-00000.table"
    data = path.read_bytes()
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    with pytest.raises(GdlError, match="is damaged"):
        Tables.open(tmp_path).value(Game.load("tictactoe").machine("prover").initial_state())


class Enough(BaseException):
    """As a signal would be."""


@pytest.mark.slow
def test_a_process_goes_on_where_another_one_was_stopped(tmp_path: Path) -> None:
    machine, scratch, folder = machine_of(breakthrough(2, 4)), tmp_path / "scratch", tmp_path / "table"
    told: list[tuple[str, int]] = []
    options = StrongOptions(1 << 32, 2, scratch)
    whole = solve_whole(
        machine, StrongOptions(1 << 32), None, lambda what, rank, _: told.append((what, rank))
    )
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
            found = solve_whole(machine, options, writer, watch)
        else:
            with pytest.raises(Enough):
                solve_whole(machine, options, writer, watch)
        options = replace(options, resume=True)
    assert found == replace(whole, outcomes=found.outcomes, machine=found.machine)
    assert len(seen) <= len(told) + len(stops)
    tables = Tables.open(folder)
    for state, (goal, distance) in values_of(breakthrough(2, 4)).items():
        assert told_value(tables.value(state)) == ((goal, 100 - goal), distance)
    assert not list(scratch.glob("*.blob"))


@pytest.mark.slow
def test_another_table_is_not_gone_on_with(tmp_path: Path) -> None:
    machine, options = machine_of("tictactoe"), StrongOptions(1 << 32, 1, tmp_path / "scratch")

    def watch(what: str, rank: int, _: int) -> None:
        if (what, rank) == ("backward", 4):
            raise Enough

    with pytest.raises(Enough):
        solve_whole(machine, options, TableWriter(tmp_path / "one"), watch)
    options = replace(options, resume=True)
    with pytest.raises(GdlError, match="is not as it was"):
        solve_whole(machine, options, TableWriter(tmp_path / "two"))
    with pytest.raises(GdlError, match="another table"):
        solve_whole(machine, options)
    with pytest.raises(GdlError, match="rules"):
        solve_whole(machine_of(nim(2, 3)), options)
    assert solve_whole(machine, options, TableWriter(tmp_path / "one")).start == (50, 50)


def test_too_little_memory_is_told_in_one_line() -> None:
    with pytest.raises(GdlError, match=r"needs more than.*--memory") as error:
        solve_whole(machine_of(connect_four(5, 5)), StrongOptions(100 << 20))
    assert "\n" not in str(error.value)


def test_a_full_disk_loses_the_layer_at_most(tmp_path: Path) -> None:
    machine, scratch = machine_of(breakthrough(3, 4)), tmp_path / "scratch"
    with pytest.raises(GdlError, match=r"of disk.*--disk"):
        solve_whole(machine, StrongOptions(1 << 32, 1, scratch, 12_000))
    found = solve_whole(machine, StrongOptions(1 << 32, 1, scratch, resume=True))
    assert found.start == solve_whole(machine, OPTIONS).start
    assert sum(path.stat().st_size for path in scratch.glob("*.blob")) == 0
