"""A search that is spread over parts finds what a search on one computer finds, whoever is lost."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gdl.errors import GdlError
from gdl.prover.machine import ProverMachine
from players.fleet.fleet import LostWorkerError
from players.puzzles.frontier import frontier
from players.puzzles.frontier.budget import MemoryPlan
from players.puzzles.frontier.key_space import KeySpace
from players.puzzles.frontier.outcome import FrontierOptions, FrontierResult
from players.puzzles.frontier.partitions.crew import PartCrew
from players.puzzles.frontier.partitions.part import FrontierPart
from players.puzzles.frontier.partitions.search import PartitionedSearch
from players.puzzles.frontier.search import Layers
from players.puzzles.frontier.storage.files import OutOfRoomError
from players.puzzles.frontier.storage.store import BlobStore
from propnet.jit.arrays import Words
from propnet.machine import PropnetMachine
from propnet.recoding.recoded import Recoded
from tests.games.tiles import tiles
from tests.places import GAMES
from tests.players.puzzles.frontier.far_tiles import LAYERS, far_tiles
from tests.players.puzzles.frontier.partitions.spread import (
    PLAIN,
    Harm,
    assert_same,
    let_go,
    spread,
    spread_result,
)
from tests.players.puzzles.frontier.plain import PLENTY, begun, machine_of, searched
from tests.players.puzzles.frontier.random_rules import random_rules
from tests.players.puzzles.frontier.test_search import ring_and_walk
from tests.players.puzzles.frontier.test_small_rooms import cramp
from tests.players.puzzles.frontier.test_wide import widen

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray, the extra cluster, is missing"
)


@pytest.fixture(scope="module")
def workers() -> Iterator[PartCrew]:
    """Three workers, for up to as many parts."""
    crew = PartCrew("local:2", 3)
    try:
        yield crew
    finally:
        crew.close()


class Crews:
    """The same workers for any number of parts."""

    def __init__(self, crew: PartCrew) -> None:
        self._crew = crew

    def __getitem__(self, parts: int) -> PartCrew:
        self._crew.parts = parts
        return self._crew


@pytest.fixture
def crews(workers: PartCrew) -> Crews:
    return Crews(workers)


@pytest.fixture(scope="module")
def far() -> PropnetMachine:
    machine = far_tiles().machine("propnet")
    assert isinstance(machine, PropnetMachine)
    return machine


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_the_eight_puzzle_has_the_same_layers_and_lines_in_any_number_of_parts(
    parts: int, crews: Crews, far: PropnetMachine
) -> None:
    result = spread_result(far, crews[parts])
    assert result.layers == LAYERS
    assert_same(result, searched(far))


@cache
def larger() -> FrontierResult:
    return searched(machine_of(tiles(5, 2)))


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_a_larger_game_has_the_same_layers(parts: int, crews: Crews) -> None:
    result = spread_result(machine_of(tiles(5, 2)), crews[parts])
    assert result.states == 1_814_400  # 10! / 2
    assert_same(result, larger())


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), clocked=st.sampled_from([0.3, 0.9]), symmetry=st.booleans())
def test_random_games_are_searched_as_on_one_computer(
    crews: Crews, seed: int, clocked: float, symmetry: bool
) -> None:
    machine = machine_of(random_rules(seed, clocked))
    prover = ProverMachine(machine.rules)
    if not prover.is_terminal(prover.initial_state()):
        options = replace(PLAIN, symmetry=symmetry)
        assert_same(spread_result(machine, crews[2], options), searched(machine, options))


@pytest.mark.slow
def test_symmetries_and_clocks_are_as_on_one_computer(crews: Crews) -> None:
    options = replace(PLAIN, symmetry=True)
    result = spread_result(machine_of(tiles(3, 3)), crews[2], options)
    assert result.symmetries > 1
    assert_same(result, searched(machine_of(tiles(3, 3)), options))
    clocked = spread_result(machine_of(ring_and_walk()), crews[2])
    assert clocked.shortest
    assert len(clocked.moves) == 7


@pytest.mark.parametrize("wide", [False, True])
def test_small_buffers_many_ranges_and_wide_keys_change_nothing(
    wide: bool, crews: Crews, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = machine_of((GAMES / "eightpuzzle.kif").read_text())
    plain = searched(machine)
    cramp(monkeypatch, room=4096, scale=8)
    if wide:
        widen(monkeypatch)
    result = spread_result(machine, crews[2])
    assert result.layers == plain.layers
    # Wide keys are the same numbers, so that even lines are the same.
    assert result.lines == plain.lines


@pytest.mark.slow
def test_a_coding_that_does_not_fit_is_mended(crews: Crews, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = machine_of((GAMES / "eightpuzzle.kif").read_text())
    start = machine.records([machine.initial_state()])
    plenty = searched(machine)
    mended = []
    find = frontier.find_coding

    def few_samples(machine: PropnetMachine) -> Words:
        return start

    def counted(*given: object) -> object:
        mended.append(given)
        return find(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(frontier, "sample_states", few_samples)
    monkeypatch.setattr(frontier, "find_coding", counted)
    assert spread_result(machine, crews[2]).layers == plenty.layers
    assert len(mended) > 1


@pytest.mark.slow
def test_workers_that_are_killed_at_any_stage_or_stopped_change_nothing(
    crews: Crews, far: PropnetMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    when = [("expand", 9), ("restore", 4), ("take", 14), ("merge", 18), ("commit", 27)]
    harm = Harm(monkeypatch, when, stopped=[("pull", 23)])
    assert_same(spread_result(far, crews[2]), searched(far))
    assert not harm.left


def test_nodes_that_lose_workers_again_and_again_end_the_search_in_its_last_layer(
    crews: Crews, far: PropnetMachine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    options = replace(PLAIN, scratch=tmp_path)
    search = spread(far, crews[2], options)
    with monkeypatch.context() as patch:
        patch.setattr("players.puzzles.frontier.partitions.search._MOST_LOST", 0)
        Harm(patch, [("take", 12)])
        with pytest.raises(LostWorkerError, match="lost while one layer") as raised:
            search.step(time.monotonic() + 60.0)
    assert raised.value.remedy
    known = search.result().layers
    let_go(search)
    assert known == LAYERS[: len(known)]
    assert len(known) == 12
    assert_same(spread_result(far, crews[2], replace(options, resume=True)), searched(far))


def visit_all(search: PartitionedSearch) -> None:
    while not search.over:
        for _ in search.advance():
            pass


def test_a_layer_that_is_given_up_at_any_moment_is_made_again(crews: Crews, far: PropnetMachine) -> None:
    recoded = Recoded.find(far)
    space = KeySpace.of(recoded, clocks=False)
    plan = MemoryPlan(2048, 3000, PLENTY, 1)
    found, store = Layers(), BlobStore(PLENTY)
    search = PartitionedSearch(space, store, crews[2], plan, PLENTY, found)
    search.begin(recoded.encode(far.records([far.initial_state()]))[0])
    given_up, looks = 0, 1
    while len(found.layers) < 18:
        layers = len(found.layers)
        advance = search.advance()
        whole = sum(1 for _ in zip(range(looks), advance, strict=False)) < looks
        advance.close()
        given_up += not whole
        assert len(found.layers) == layers + whole
        looks = 1 if whole else 2 * looks  # on a busy machine no number of looks is enough for a layer
    assert given_up > 5
    visit_all(search)
    store.close()
    assert [layer.count for layer in found.layers] == [*LAYERS, 0][: len(found.layers)]


@pytest.mark.slow
def test_a_search_is_resumed_with_other_parts_and_without_any(
    crews: Crews, far: PropnetMachine, tmp_path: Path
) -> None:
    options = replace(PLAIN, scratch=tmp_path)
    first = spread(far, crews[2], options)
    while first.states < 20_000:
        first.step(time.monotonic() + 1e-3)
    let_go(first)
    for parts, enough in ((3, 60_000), (0, 90_000), (1, 130_000)):
        resumed = replace(options, resume=True)
        then = spread(far, crews[parts], resumed) if parts else begun(far, resumed)
        before = then.states
        while then.states < enough:
            then.step(time.monotonic() + 1e-3)
        assert before < then.states
        let_go(then)
    assert_same(searched(far, replace(options, resume=True)), searched(far))


@pytest.mark.slow
def test_a_part_without_room_says_so_and_what_helps(crews: Crews) -> None:
    machine = machine_of(tiles(5, 2))
    recoded = Recoded.find(machine)
    space = KeySpace.of(recoded, clocks=False)
    store = BlobStore(PLENTY)
    search = PartitionedSearch(
        space, store, crews[1], MemoryPlan(1 << 15, 1 << 15, PLENTY, 1), 1 << 20, Layers()
    )
    search.begin(recoded.encode(machine.records([machine.initial_state()]))[0])
    with pytest.raises(OutOfRoomError, match="needs more than its 1M of memory") as raised:
        visit_all(search)
    assert "--memory" in raised.value.remedy
    store.close()


@pytest.mark.slow
def test_questions_that_make_no_sense_are_refused() -> None:
    part = FrontierPart()
    for message in ({}, {"do": "expand", "layer": 3, "attempt": 1}, {"do": "harm"}):
        with pytest.raises(GdlError, match="no question"):
            asyncio.run(part.call(message, ()))


@pytest.mark.slow
@needs_ray
def test_ray_finds_the_same(far: PropnetMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_USAGE_STATS_ENABLED", "PYTHONPATH"):
        before = os.environ.get(key)
        monkeypatch.setenv(key, before or "")
        if before is None:
            del os.environ[key]
    options = FrontierOptions(PLENTY, symmetry=False, cluster="local-ray:1", parts=2)
    assert searched(far, options).layers == LAYERS
