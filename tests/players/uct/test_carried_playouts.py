"""Playouts that go on from round to round are booked once each, for the path that they belong to."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.syntax.parser import parse_rules
from players.batch_machine import Ends
from players.uct import batches
from players.uct.batches import Batch, BatchOutcome, BatchSize
from players.uct.rounds import CarriedPlayouts
from players.uct.search import Search
from players.uct.tree.arrays import FRESH, LEAF, OPEN
from players.uct.tree.selection_rules import NST, PUCT, SelectionRule
from players.uct.tuning import Tuning
from propnet.machine import PropnetMachine
from tests.examples import examples
from tests.machines import network
from tests.players.uct.searching import LONG, search_of

ROWS, LANES = 12, 16


class ScriptedTree:
    """Paths as numbers; the state of a leaf is the number of its path, and leaves divided by 5 are known."""

    def __init__(self) -> None:
        self.batched = SimpleNamespace(words=1, width=LANES, machine=SimpleNamespace(roles=("a", "b")))
        self.batch, self.under_way = ROWS, 0
        self.paths = SimpleNamespace(length=np.ones(ROWS, np.int32), leaf=np.zeros(ROWS, np.int32))
        self.arrays = SimpleNamespace(records=np.arange(10_000, dtype=np.uint64)[:, None])

    def select(self, leaves: np.ndarray) -> None:
        self.paths.leaf[self.under_way : self.under_way + len(leaves)] = leaves

    def fill_known(self, leaves: np.ndarray, results: np.ndarray, _: int) -> np.ndarray:
        results[leaves % 5 == 0] = [0.25, 0.75]
        return np.flatnonzero(leaves % 5)

    def keep(self, rows: np.ndarray) -> None:
        self.paths.leaf[: len(rows)] = self.paths.leaf[rows]
        self.under_way = len(rows)


class ScriptedPlayouts:
    """Which playouts end in a round, and with which goals, is drawn."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.fewest = 0
        self.played: dict[int, list[int]] = defaultdict(list)

    def playouts_while(
        self, fewest: int, most: int, states: np.ndarray, made: np.ndarray, seed: int, limit: int
    ) -> tuple[Ends, np.ndarray, np.ndarray]:
        self.fewest, n = fewest, len(states)
        over = np.array(self.draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_)
        going = np.flatnonzero(~over)
        over[going[LANES:]] = True  # no more go on than there are lanes
        going = going[:LANES]
        goals = np.full((n, 2), -1, np.int16)
        for row in np.flatnonzero(over).tolist():
            goal = int(self.draw(st.sampled_from([-1, 0, 30, 100])))
            goals[row] = goal, 100 - goal if goal >= 0 else -1
            self.played[int(states[row, 0])].append(goal if goal >= 0 else 50)
        playout_in = np.full(LANES, -1, np.int32)
        lanes = np.array(self.draw(st.permutations(range(LANES))))[: len(going)]
        playout_in[lanes] = going
        after = np.zeros((LANES, 1), np.uint64)
        after[lanes] = states[going]
        return Ends(goals, made + np.int32(1), np.ones(n, np.bool_)), playout_in, after


@examples(40)
@given(st.data())
def test_a_path_gets_the_mean_of_its_own_playouts_once_all_are_over(data: st.DataObject) -> None:
    tree, script = ScriptedTree(), ScriptedPlayouts(data.draw)
    carried = CarriedPlayouts(cast(Any, tree))
    begun: dict[int, int] = {}
    booked: list[int] = []
    leaf = 0
    for _ in range(data.draw(st.integers(1, 8))):
        wanted = Batch(data.draw(st.integers(0, 6)), data.draw(st.integers(1, 3)), 9, 2, 9)
        batch = carried.fitting(wanted)
        assert tree.under_way + batch.paths <= ROWS and batch.each >= wanted.each
        leaves = np.arange(leaf, leaf + batch.paths, dtype=np.int32)
        leaf += batch.paths
        begun.update(dict.fromkeys(leaves.tolist(), batch.each))
        tree.select(leaves)
        carried.play(cast(Any, script), leaves, batch, 0)
        rows, played, results = carried.collect()
        for row, result in zip(rows.tolist(), results.tolist(), strict=True):
            number = int(tree.paths.leaf[row])
            goals = script.played[number] if number % 5 else [25]
            assert len(goals) == (begun[number] if number % 5 else 1)
            mean = sum(goals) / len(goals) / 100
            assert result == pytest.approx([mean, 1 - mean])
            booked.append(number)
        assert {int(tree.paths.leaf[rows[k]]) % 5 > 0 for k in played} <= {True}
        carried.keep()
        open_ = set(begun) - set(booked)
        assert set(tree.paths.leaf[: tree.under_way].tolist()) == open_
    assert len(booked) == len(set(booked))


@examples(20)
@given(st.data())
def test_lanes_that_idle_from_the_beginning_do_not_end_a_round(data: st.DataObject) -> None:
    tree, script = ScriptedTree(), ScriptedPlayouts(data.draw)
    carried = CarriedPlayouts(cast(Any, tree))
    leaves = np.arange(1, 1 + data.draw(st.integers(1, 4)), dtype=np.int32)
    tree.select(leaves)
    batch = Batch(len(leaves), data.draw(st.integers(1, 8)), 9, data.draw(st.integers(2, LANES)), 9)
    carried.play(cast(Any, script), leaves, batch, 0)
    playouts = len(leaves) * batch.each
    assert 1 <= script.fewest <= min(playouts, batch.fewest)
    assert script.fewest == batch.fewest or playouts < LANES


@pytest.fixture(scope="module")
def machine() -> PropnetMachine:
    return network("connectfour")


@pytest.fixture
def carrying(machine: PropnetMachine, monkeypatch: pytest.MonkeyPatch) -> Search:
    """A search that lets playouts go on when a tenth of the lanes idle, though the game is a fast one."""
    monkeypatch.setattr(BatchSize, "_fewest_busy", lambda self: 460)
    return search_of(machine, Tuning(policy="equal"))


def _nothing_is_pending(search: Search) -> bool:
    arrays = search.tree.arrays
    used = arrays.used[0]
    pending = arrays.nodes["pending"][: used["nodes"]], arrays.edges["pending"][: used["edges"]]
    return not any(each.any() for each in pending)


def test_the_tree_counts_the_paths_booked_and_those_under_way(carrying: Search) -> None:
    seen = 0
    for _ in range(80):
        assert not carrying.step(time.monotonic() + LONG)
        tree = carrying.tree
        nodes = tree.arrays.nodes
        assert nodes["pending"][tree.root] == tree.under_way
        edges = tree.arrays.edges[tree.edges(tree.root, 0)]
        assert edges["visits"].sum() == tree.visits and edges["pending"].sum() == tree.under_way
        seen = max(seen, tree.under_way)
    assert seen > 100 and carrying.playouts >= tree.visits
    tree.call_off()
    assert _nothing_is_pending(carrying)


def test_nothing_is_under_way_after_the_root_has_moved_or_room_was_made(
    carrying: Search, machine: PropnetMachine
) -> None:
    for _ in range(80):
        carrying.step(time.monotonic() + LONG)
    assert carrying.tree.under_way
    carrying.tree.make_room()
    assert not carrying.tree.under_way and _nothing_is_pending(carrying)
    for _ in range(20):
        carrying.step(time.monotonic() + LONG)
    assert carrying.tree.under_way > 0
    state = machine.initial_state()
    carrying.set_root(machine.next_state(state, [machine.legal_moves(state, role)[0] for role in (0, 1)]))
    assert not carrying.tree.under_way and _nothing_is_pending(carrying)
    assert not carrying.step(time.monotonic() + LONG)


@pytest.mark.parametrize(("visits", "share", "waits"), [(0, 0.25, True), (0, 1.0, False), (99, 0.25, False)])
def test_a_root_has_results_before_a_turn_ends_that_is_too_short_for_whole_playouts(
    carrying: Search, monkeypatch: pytest.MonkeyPatch, visits: int, share: float, waits: bool
) -> None:
    size = carrying._sizes
    pace = size.get_ready()
    monkeypatch.setattr(pace, "plan", lambda left, first: (512, int(share * pace.limit)))
    batch = size.plan(carrying.tuning, 1.0, True, visits, carries=True)
    assert batch is not None and (batch.fewest == 1) == waits


def test_a_round_that_waits_for_all_books_the_paths_under_way(
    carrying: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call_off(*_: object) -> None:
        raise AssertionError("paths under way were called off")

    for _ in range(30):
        carrying.step(time.monotonic() + LONG)
    before, under_way = carrying.tree.visits, carrying.tree.under_way
    assert under_way
    monkeypatch.setattr("players.uct.tree.tree.call_off", call_off)
    monkeypatch.setattr(BatchSize, "_fewest_busy", lambda self: 1)
    assert not carrying.step(time.monotonic() + LONG)
    assert not carrying.tree.under_way and carrying.tree.visits > before + under_way
    assert _nothing_is_pending(carrying)


def test_moves_have_priors_whichever_path_is_booked_first(carrying: Search) -> None:
    """Also where a path that goes on from a node is booked before those that ended in it."""
    tree, rule = carrying.tree, SelectionRule(PUCT, 0.6, 2.0, NST)
    nodes = tree.arrays.nodes
    for rows in range(0, 500, 20):
        leaves = tree.select(20, rule)
        nodes["status"][leaves[nodes["status"][leaves] == FRESH]] = LEAF
        tree.keep(np.arange(rows + 20))
    last_first = np.arange(250, 500)[::-1].copy()
    results = np.tile([0.25, 0.75], (250, 1))
    tree.back_up(results.copy(), results[:, 0].copy(), 0.0, rule, last_first)
    gone_on = (nodes["status"] == OPEN) & (nodes["visits"] > 0) & (nodes["choices"] > 1)
    inner = np.setdiff1d(np.flatnonzero(gone_on[: tree.nodes]), [tree.root])
    assert len(inner)
    for node in inner:
        role = int(nodes["to_move"][node])
        priors = tree.arrays.edges["prior"][tree.edges(node, role)]
        assert priors.mean() == pytest.approx(results[0, role], abs=0.01)


TWO_WAYS = """
(role x) (role y) (init start) (init even)
(<= (legal x long) (true start))
(<= (legal x short) (true start))
(<= (legal y noop) (true start))
(bit 0) (bit 1)
(<= (legal ?r ?b) (role ?r) (bit ?b) (not (true start)))
(<= (next (count 0)) (does x long))
(<= (next (count 270)) (does x short))
(<= (next (count ?m)) (true (count ?n)) (succ ?n ?m))
(<= (next drawn_out) (does x long))
(<= (next drawn_out) (true drawn_out))
(<= (next even) (true start))
(<= (next even) (does x ?b) (does y ?b))
(<= terminal (true (count 300)))
(<= (goal x 100) (true even))
(<= (goal y 0) (true even))
(<= (goal x 24) (not (true even)) (true drawn_out))
(<= (goal y 76) (not (true even)) (true drawn_out))
(<= (goal x 0) (not (true even)) (not (true drawn_out)))
(<= (goal y 100) (not (true even)) (not (true drawn_out)))
""" + "".join(f"(succ {n} {n + 1}) " for n in range(300))
"""The long way, 301 moves, is worth 62 to x, the short one, 31 moves, 50; coins decide."""


@pytest.mark.parametrize("seed", range(4))
def test_a_young_tree_prefers_the_better_move_also_where_its_matches_are_long(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BatchSize, "_fewest_busy", lambda self: 460)
    rules = parse_rules(TWO_WAYS, "ways")
    machine = network(rules)
    search = search_of(machine, Tuning(policy="equal", decisive=False, trim=False), seed=seed)
    while search.tree.visits < 200:
        search.step(time.monotonic() + LONG)
    assert search.tree.under_way
    edges = search.tree.arrays.edges[search.tree.edges(search.tree.root, 0)]
    visits = {str(machine.move(0, int(edge["move"]))): int(edge["visits"]) for edge in edges}
    assert visits["long"] > 2 * visits["short"]


def test_a_batch_ends_early_only_where_waiting_costs_more_than_another_batch(machine: PropnetMachine) -> None:
    search = Search(0, 1, Tuning())
    search.set_machine(machine)
    size = search._sizes
    fewest = []
    for seconds in (1e-7, 1e-6, 1e-5, 1e-4, 1e-3):
        size._playout_seconds = seconds
        fewest.append(size._fewest_busy())
    assert fewest[0] == fewest[1] == 1 and fewest == sorted(fewest)
    assert fewest[2] >= 64 and fewest[-1] == int(512 * batches._MOST_BUSY)


def test_playouts_are_cut_later_only_if_many_of_those_that_end_are_cut(carrying: Search) -> None:
    pace = carrying._sizes.get_ready()
    limit, batch = pace.limit, Batch(8, 1, 32, 460, 32)
    for cut, times in ((10, 1), (300, 2)):
        carrying._sizes.learn(batch, 1e-3, BatchOutcome(8, 0, 20, cut, 500, 5e-4, 5e-4), LONG)
        assert pace.limit == times * limit


def test_a_search_told_how_many_playouts_a_leaf_has_makes_as_many(carrying: Search) -> None:
    carrying.tuning = replace(carrying.tuning, per_leaf=3)
    for _ in range(10):
        before = carrying.playouts, carrying.tree.visits
        carrying.step(time.monotonic() + LONG)
        paths = carrying.tree.visits - before[1]
        assert not carrying.tree.under_way and paths <= carrying.playouts - before[0] <= 3 * paths


def test_a_search_of_so_many_playouts_waits_for_all(carrying: Search) -> None:
    while not carrying.step(time.monotonic() + LONG, 2_000):
        assert not carrying.tree.under_way
    assert carrying.playouts == 2_000
