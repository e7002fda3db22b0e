"""Looks at new nodes' children say what values say, and those of their parents follow by minimax."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from players.knowledge.canonical_rules import canonical_names
from players.knowledge.store import KnowledgeStore
from players.knowledge.training import Training
from players.uct.root_statistics import rank
from players.uct.search import Search
from players.uct.tree.arrays import OPEN
from players.uct.tuning import Tuning
from propnet.machine import PropnetMachine
from tests.machines import network
from tests.players.uct.searching import run, search_of

GAMES = "connectfour", "breakthrough", "kalah", "tictactoe"


@pytest.fixture(params=GAMES)
def searched(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Search:
    """A search by what little was learnt of a game."""
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    return _search(request.param, Tuning(trim=False, looks=True), 800)


def _learnt(game: str) -> PropnetMachine:
    """The machine of a game of which something is kept in the cache."""
    machine = network(game)
    training = Training(machine, canonical_names(machine.rules))
    training.round()
    KnowledgeStore().put(replace(training.knowledge(game), share=1.0))
    return machine


def _search(game: str, tuning: Tuning, playouts: int, moves: int = 0) -> Search:
    machine = _learnt(game)
    state = machine.initial_state()
    for _ in range(moves):
        state = machine.next_state(state, [machine.legal_moves(state, role)[0] for role in range(2)])
    search = search_of(machine, tuning, root=state)
    assert search.tree.values is not None
    run(search, playouts)
    return search


def _open_nodes(search: Search) -> list[int]:
    nodes = search.tree.arrays.nodes[: search.tree.nodes]
    return [int(node) for node in np.flatnonzero((nodes["status"] == OPEN) & (nodes["to_move"] >= 0))]


def test_moves_have_the_values_of_the_states_they_lead_to(searched: Search) -> None:
    tree = searched.tree
    arrays, values = tree.arrays, tree.values
    assert values is not None
    seen = 0
    for node in _open_nodes(searched)[:40]:
        role = int(arrays.nodes["to_move"][node])
        joints = [tree.edges(node, other) for other in range(2)]
        for edge in range(joints[role].start, joints[role].stop):
            moves = [
                int(arrays.edges["move"][edge if other == role else joints[other].start])
                for other in range(2)
            ]
            records = tree.batched.successors(arrays.records[[node]], np.array([moves], np.int32))
            value = float(values.look(records)[0][0])
            if arrays.edges["visits"][edge]:
                continue
            seen += 1
            assert arrays.edges["prior"][edge] == pytest.approx(value if role == 0 else 1 - value, abs=1e-5)
    assert seen


def test_values_follow_by_minimax(searched: Search) -> None:
    arrays = searched.tree.arrays
    visited = 0
    for node in _open_nodes(searched):
        first, role = int(arrays.nodes["first_move"][node]), int(arrays.nodes["to_move"][node])
        edges = arrays.edges[first : first + int(arrays.nodes["choices"][node])]
        best = float(edges["prior"].max())
        value = float(arrays.nodes["value"][node])
        assert (value if role == 0 else 1 - value) == pytest.approx(best, abs=1e-5)
        assert edges["share"].sum() == pytest.approx(1.0, abs=1e-3) and (edges["share"] > 0).all()
        visited += int((edges["visits"] > 0).sum())
    assert visited > 100


def test_no_path_is_left_under_way(searched: Search) -> None:
    arrays, used = searched.tree.arrays, searched.tree.arrays.used[0]
    assert not arrays.nodes["pending"][: used["nodes"]].any()
    assert not arrays.edges["pending"][: used["edges"]].any()
    assert arrays.nodes["visits"][searched.tree.root] == searched.playouts


def test_a_move_that_wins_at_once_is_proven_before_it_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    search = _search("tictactoe", Tuning(trim=False, looks=True), 1, moves=6)
    statistics = search.statistics()
    best = rank(statistics, 0).best
    assert search.tree.proven == 100 and statistics.proven[best] == 100
    assert statistics.visits[best] == 0


def test_the_room_for_moves_runs_out_without_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    search = _search("breakthrough", Tuning(trim=False, looks=True, memory=1 << 22), 20_000)
    assert search.playouts >= 20_000 or search.finished
    assert search.statistics().visits.sum() > 0


def test_without_looks_leaves_are_valued_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    machine = _learnt("connectfour")
    for tuning in (Tuning(looks=False), Tuning(knowledge_share=0.5, looks=True)):
        search = search_of(machine, tuning)
        assert search.tree.values is None
        assert not search.step(time.monotonic() + 60, 100)
