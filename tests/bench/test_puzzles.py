"""What puzzles are measured by: covers, frontiers, Sokoban's collections and oracle, claims of solvers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cover.__main__ import Row, measure, request
from bench.cover.instances import INSTANCES as COVERS
from bench.cover.instances import Instance, coloured_squares, domination, queens
from bench.frontier import GOALS, search_tiles
from bench.sokoban.__main__ import compared, main, numbers, totals
from bench.sokoban.city import write_levels
from bench.sokoban.lookup import main as measure_lookup
from bench.sokoban.state_space import StateSpace, explore
from bench.sokoban.table import Curve, curves, joined, kept, plot, table
from bench.truth import __main__ as truth
from bench.truth import covers
from bench.truth.field import Field
from gdl.errors import TooLargeError
from players.puzzles.cover.engines.memo import MemoCounter
from players.puzzles.cover.search import count
from players.puzzles.frontier.outcome import SearchLimits
from players.puzzles.sokoban.geometry import Geometry, Position, from_level, to_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import after_steps, is_solved, steps_of
from tests.examples import examples
from tests.players.puzzles.frontier.plain import PLENTY
from tests.players.puzzles.sokoban.levels.simulator import Sokoban
from tests.players.puzzles.sokoban.small_levels import small_levels


def test_a_row_is_measured_and_its_number_checked() -> None:
    row = measure("dominoes4x4", COVERS["dominoes4x4"], tells=True)
    assert row.solutions == 36 and 0 < row.best[0] <= row.ours * 100
    with pytest.raises(ValueError, match="wrong has 5 solutions, "):
        measure("wrong", Instance(lambda: queens(6), 5), tells=False)


def test_rows_are_behind_by_a_ratio_and_by_a_time_that_one_notices() -> None:
    def row(ours: float, best: float, peer: float) -> list[str]:
        return Row("", True, 1, ours, "", {"bitset": best, "cells": 9.0}, {"xcover": peer}).behind

    assert row(0.100, 0.099, 0.2) == []
    assert row(0.120, 0.1, 0.2) == ["bitset 1.20"]
    assert row(0.120, 0.119, 0.1) == ["xcover 1.20"]
    assert row(0.0015, 0.0006, 0.0006) == []


def test_other_programs_get_what_they_can_solve() -> None:
    assert request(domination(4, 3)) is None
    asked = request(queens(5))
    assert asked is not None and (asked["primary"], asked["items"]) == (10, 28)
    coloured = request(coloured_squares(1, 2))
    assert coloured is not None and coloured["primary"] == 2 and max(coloured["colours"]) > 0


@pytest.mark.parametrize(
    "name", ["letters", "queens6", "latin4", "triples9", "sudoku", "burr", "dominoes6x6 without corners"]
)
def test_instances_have_their_known_numbers(name: str) -> None:
    assert count(COVERS[name].build()) == COVERS[name].solutions


# --- The bench of the frontier; a search in a process of its own keeps to its memory
def tiles(memory: int, scratch: Path | None) -> subprocess.CompletedProcess[str]:
    """Four million states of the 3x4 puzzle, in so many MB."""
    command = [sys.executable, "-m", "bench.frontier", "tiles", "--json", "--states", "4e6", "--workers", "2"]
    command += ["--memory", f"{memory}M"]
    if scratch is not None:
        command += ["--scratch", str(scratch)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("scratch", [False, True])
def test_a_process_takes_no_more_memory_than_it_may(scratch: bool, tmp_path: Path) -> None:
    memory = 225 if scratch else 270
    # A first run has kernels compiled, which takes memory of its own.
    tiles(memory, tmp_path / "first" if scratch else None)
    process = tiles(memory, tmp_path / "second" if scratch else None)
    assert process.returncode == 0, process.stderr
    seen = json.loads(process.stdout)
    assert seen["states"] >= 4_000_000
    assert seen["layers"][:12] == [1, 2, 4, 9, 20, 37, 63, 122, 232, 431, 781, 1392]
    assert seen["peak_rss"] <= memory << 20
    assert seen["seconds_cpu"] >= sum(seen["stages"].values()) - seen["stages"]["disk"]


@pytest.mark.slow
@pytest.mark.parametrize("depth", [10, 20])
def test_positions_are_as_far_away_as_the_list_says(depth: int) -> None:
    *_, last = search_tiles(3, 4, GOALS[depth], float("inf"), SearchLimits(PLENTY, symmetry=False))
    assert last.depth == depth == len(last.moves)


# --- `bench.sokoban`: a collection is measured, and two measurements are compared
def _row(level: int, result: str, seconds: float) -> dict[str, object]:
    sizes = {"pushes": 3, "moves": 5, "megabytes": 100, "solver": "greedy"}
    return {"level": level, "result": result, "seconds": seconds, **sizes}


@pytest.mark.parametrize(
    ("text", "found"), [("", [1, 2, 3, 4]), ("2", [2]), ("1-2,4", [1, 2, 4]), ("3-9", [3, 4])]
)
def test_levels_are_named(text: str, found: list[int]) -> None:
    assert numbers(text, 4) == found


def test_totals_count_what_is_solved_in_time() -> None:
    told = totals([_row(1, "solved", 0.5), _row(2, "solved", 5.0), _row(3, "time", 10.2)])
    assert told.startswith("2 of 3 solved: 1 in 1 s, 2 in 10 s, 2 in 60 s; 6 pushes, 10 moves, 15.7 CPU s")


def test_levels_solved_over_time_are_put_together_from_parts_and_drawn_beside_others(tmp_path: Path) -> None:
    def run(seconds: float, rows: dict[int, float | None]) -> dict[str, object]:
        levels = [
            {"level": n, "result": "unsolved" if took is None else "solved", "seconds": took or seconds}
            for n, took in rows.items()
        ]
        return {"collection": "XSokoban_90", "seconds": seconds, "levels": levels}

    runs = [run(60.0, {2: 30.0}), run(10.0, {1: 0.5, 2: None}), run(10.0, {3: None, 4: 9.0})]
    (curve,) = curves(runs)
    assert [curve] == curves(json.loads(kept(runs)))
    assert (curve.levels, curve.limit, curve.times) == (4, 60.0, [0.5, 9.0, 30.0])
    assert table([curve]).splitlines()[-1] == "| XSokoban_90 | 4 | 1 | 2 | 3 |  |"
    pytest.importorskip("matplotlib", reason="pip install 'kaskade-ggp[dev]'")
    plot([curve], tmp_path / "levels.svg")
    assert "<svg" in (tmp_path / "levels.svg").read_text()


def test_parts_of_a_collection_have_one_panel() -> None:
    first, second = Curve("Some_I", 3, [1.0, 4.0], 10), Curve("Some_II", 2, [2.0], 60)
    alone = Curve("Other_90", 5, [3.0], 10)
    assert joined([first, second, alone]) == [
        Curve("Some I to II", 5, [1.0, 2.0, 4.0], 10),
        Curve("Other 90", 5, [3.0], 10),
    ]


def test_two_measurements_are_compared() -> None:
    old = {"levels": [_row(1, "solved", 1.0), _row(2, "solved", 2.0), _row(3, "time", 10.0)]}
    new = {"levels": [_row(1, "solved", 0.5), _row(2, "time", 10.0), _row(3, "solved", 1.0)]}
    lines = compared(old, new).splitlines()
    assert lines[:2] == ["level 2: solved -> time", "level 3: time -> solved"]
    assert lines[-1] == "CPU time new/old on the 1 levels that both solve: 0.50"


@pytest.mark.slow
def test_a_level_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "one.xsb", tmp_path / "out.json"
    file.write_text("; 1\n#####\n#@$.#\n#####\n")
    # The peak of a forked process is at least what the tests before have left in this one.
    assert main([str(file), "--seconds", "120", "--megabytes", "16384", "--out", str(out)]) == 0
    [row] = json.loads(out.read_text())["levels"]
    assert row["result"] == "solved"
    assert row["moves"] == 1
    assert row["seconds"] > 0
    assert "1 of 1 solved" in capsys.readouterr().out


def test_nothing_to_measure_is_a_fault() -> None:
    assert main([]) == 2


# --- Deadlock sets on levels that people made: no push is flagged wrongly, and most fatal ones are flagged
def test_lookup_is_measured_on_a_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    level = Level(("########", "#  ..  #", "#  $$  #", "#@     #", "########"))
    file = tmp_path / "level.xsb"
    file.write_text(write_levels([level]))
    measure_lookup(["--level", f"{file}:1"])
    assert "any keeper, K 2" in capsys.readouterr().out


# --- The oracle of everything Sokoban against a simulator that shares no code with it
LEVELS = small_levels(4, 5, boxes=2)


def _by_steps(level: Level) -> tuple[set[Sokoban], set[Sokoban]]:
    """All states that single steps lead to, and those that can still be solved."""
    first = Sokoban.begin(level)
    parents: dict[Sokoban, list[Sokoban]] = {first: []}
    waiting = [first]
    for state in waiting:  # the list grows
        for child in state.moves().values():
            if child not in parents:
                parents[child] = []
                waiting.append(child)
            parents[child].append(state)
    alive = [state for state in waiting if state.solved]
    seen = set(alive)
    for state in alive:  # the list grows
        for parent in parents[state]:
            if parent not in seen:
                seen.add(parent)
                alive.append(parent)
    return set(waiting), seen


def _space(level: Level) -> tuple[Geometry, Position, StateSpace] | None:
    try:
        geometry, start = from_level(level)
    except Exception:
        return None  # a box that nobody can reach
    return geometry, start, explore(geometry, start, 20_000)


@examples(60)
@given(LEVELS)
def test_states_and_which_are_alive_are_those_of_a_plain_simulation(level: Level) -> None:
    made = _space(level)
    if made is None:
        return
    geometry, _, space = made
    seen, alive = _by_steps(level)
    places = [(x, y) for y, x in geometry.places.tolist()]
    theirs = {
        (state.boxes, min(state.walks(), key=lambda square: square[::-1])): state in alive for state in seen
    }
    ours = {
        (frozenset(places[box] for box in position.boxes), places[position.keeper]): bool(space.alive[number])
        for number in range(space.size)
        for position in [space.position(number)]
    }
    assert ours == theirs


@examples(40)
@given(LEVELS, st.randoms(use_true_random=False))
def test_pushes_replay_as_steps(level: Level, random: object) -> None:
    made = _space(level)
    if made is None:
        return
    geometry, start, space = made
    solved = [number for number in range(space.size) if is_solved(geometry, space.position(number))]
    first: dict[int, tuple[int, tuple[int, int]]] = {}
    for parent, child, box, direction in space.edges.tolist():
        if child and space.depths[child] == space.depths[parent] + 1:
            first.setdefault(child, (parent, (box, direction)))
    for number in solved[:3]:
        pushes = []
        while number:
            number, made_push = first[number]
            pushes.append(made_push)
        steps = steps_of(geometry, start, reversed(pushes))
        assert sum(step.isupper() for step in steps) == len(pushes)
        assert is_solved(geometry, after_steps(geometry, start, steps))
    assert from_level(to_level(geometry, start))[1] == start


@pytest.mark.slow
def test_a_level_of_too_many_states_is_refused() -> None:
    geometry, start = from_level(Level(("#######", "#@ $ .#", "#     #", "#######")))
    with pytest.raises(TooLargeError):
        explore(geometry, start, 3)


# --- Every claim of every solver holds on small odd instances; a claim that does not is found
INSTANCES = {
    "sokoban": 12,
    "puzzles": 8,
    "set-games": 8,
    "frontiers": 5,
    "games": 12,
    "matches": 8,
    "covers": 25,
    "disassembly": 100,
}
"""About a minute together; ``python -m bench.truth --minutes 30`` is for the night."""


@pytest.mark.slow
@pytest.mark.parametrize("field", truth.FIELDS, ids=lambda field: field.name)
def test_no_claim_is_false(field: Field) -> None:
    cases = truth.run((field,), seconds=600.0, most=INSTANCES[field.name])[field.name]
    assert len(cases) == INSTANCES[field.name]
    assert sum(case.claims.total() for case in cases) >= len(cases)
    assert [(case.seed, case.text, case.faults) for case in cases if case.faults] == []


@pytest.mark.slow
def test_a_false_claim_is_found_and_told_with_its_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    finish = MemoCounter._finish

    def wrong(self: MemoCounter) -> None:
        finish(self)
        self.count += 1

    monkeypatch.setattr(MemoCounter, "_finish", wrong)
    cases = truth.run((covers.FIELD,), seconds=600.0, most=6)["covers"]
    faulty = [case for case in cases if case.faults]
    assert faulty
    assert all(case.text.startswith("CoverProblem(") for case in faulty)
    assert any(fault.startswith("memo counts: claims ") for case in faulty for fault in case.faults)
