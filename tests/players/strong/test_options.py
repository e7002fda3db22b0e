"""Symmetry, threads, files and interruptions change no value of a whole game."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from bench.boards.sizes import breakthrough, nim
from gdl.errors import GdlError
from gdl.machine import State
from ggp.game import Game
from players.puzzles.frontier.outcome import SearchLimits
from players.strong.layers import solve_game
from players.strong.storage import TableWriter
from players.strong.tables import StateValue, Tables
from tests.machines import network
from tests.players.strong.tables import Enough, Value, table_of, values_of_machine

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
        value = tables.value(state)
        assert value is not None
        assert (value.goals, value.distance) == ((goal, 100 - goal), distance)
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
