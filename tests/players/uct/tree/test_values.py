"""Values at new nodes follow by minimax; moves that lose at once are left out where that is exact."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.information import chance_role
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.kaskade.guided_machine import GuidedMachine, guided
from players.kaskade.make_machine import make_machine
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.store import KnowledgeStore
from players.knowledge.training import Training
from players.player import Player
from players.uct.player import UctPlayer
from players.uct.root_statistics import rank
from players.uct.search import Search
from players.uct.tree.arrays import OPEN
from players.uct.tuning import Tuning
from propnet.machine import PropnetMachine
from propnet.native.machine import NativeMachine
from tests.examples import examples
from tests.machines import network
from tests.players.random_games import best_result, random_game
from tests.players.uct.searching import LONG, run, search_of

GAMES = "connectfour", "breakthrough", "kalah", "tictactoe", "einstein"
"""In the last one chance draws."""


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
        joints = [tree.edges(node, other) for other in range(len(searched.machine.roles))]
        for edge in range(joints[role].start, joints[role].stop):
            moves = [
                int(arrays.edges["move"][edge if other == role else joints[other].start])
                for other in range(len(joints))
            ]
            records = tree.batched.successors(arrays.records[[node]], np.array([moves], np.int32))
            value = float(values.look(records)[0][0])
            if arrays.edges["visits"][edge]:
                continue
            seen += 1
            assert arrays.edges["prior"][edge] == pytest.approx(1 - value if role == 1 else value, abs=1e-5)
    assert seen


def test_values_follow_by_minimax_and_where_chance_draws_by_the_mean(searched: Search) -> None:
    arrays, chance = searched.tree.arrays, chance_role(searched.machine.roles)
    visited, roles = 0, set()
    for node in _open_nodes(searched):
        first, role = int(arrays.nodes["first_move"][node]), int(arrays.nodes["to_move"][node])
        edges = arrays.edges[first : first + int(arrays.nodes["choices"][node])]
        best = float(edges["prior"].mean() if role == chance else edges["prior"].max())
        value = float(arrays.nodes["value"][node])
        assert (1 - value if role == 1 else value) == pytest.approx(best, abs=1e-5)
        roles.add(role)
        assert edges["share"].sum() == pytest.approx(1.0, abs=1e-3) and (edges["share"] > 0).all()
        visited += int((edges["visits"] > 0).sum())
    assert visited > 100 and roles == set(range(len(searched.machine.roles)))


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


# --- Moves that lose at once are left out of the tree where that is exact, and nothing else is told for it


def guided_machine(rules: str) -> NativeMachine:
    machine = make_machine(parse_rules(rules), "native")
    assert isinstance(machine, NativeMachine)
    return guided(machine)


@examples(25)
@given(seed=st.integers(0, 10**6))
def test_small_games_are_played_and_proven_as_trying_everything_tells(seed: int) -> None:
    machine = guided_machine(random_game(seed, 2, simultaneous=False))
    state = machine.initial_state()
    players: list[Player] = [UctPlayer(seed=seed + role, playouts=1500) for role in range(2)]
    for role, player in enumerate(players):
        player.start(machine, role, state, LONG, time.monotonic() + LONG)
    value = best_result(machine, state)
    while not machine.is_terminal(state):
        chosen = [player.choose(state, time.monotonic() + LONG) for player in players]
        if "proven" in chosen[0].note:
            assert int(chosen[0].note.rsplit("proven ", 1)[1]) == value
        state = machine.next_state(state, [choice.move for choice in chosen])
        assert best_result(machine, state) == value


@pytest.fixture(scope="module")
def connect_four() -> GuidedMachine:
    machine = guided(make_machine(Game.load("connectfour").rules, "native"))  # type: ignore[arg-type]
    assert isinstance(machine, GuidedMachine)
    return machine


def test_a_root_that_was_below_another_still_has_all_moves(connect_four: GuidedMachine) -> None:
    """One row of three is open: all moves but one lose, and all are told of."""
    machine = connect_four
    before = machine.initial_state()
    columns = sorted(
        (move for move in machine.legal_moves(before, 0)), key=lambda move: str(machine.move(0, move))
    )
    assert len(columns) >= 7

    def drop(state, column):
        role = 0 if len(machine.legal_moves(state, 0)) > 1 else 1
        joint = [machine.legal_moves(state, r)[0] for r in range(2)]
        joint[role] = columns[column]
        return machine.next_state(state, joint)

    for column in (0, 0, 1, 1):
        before = drop(before, column)
    search = run(search_of(machine, root=before), 20_000)
    after = drop(before, 2)  # white threatens 3 in the bottom row
    search.set_root(after)
    assert search.tree.visits > 0  # it was in the tree
    statistics = search.statistics()
    assert statistics.counts == (1, len(columns))
    assert (statistics.proven[statistics.of_role(1)] == 0).sum() == len(columns) - 1
    visited = statistics.visits[statistics.of_role(1)]
    assert (visited > 0).sum() == 1
    search.set_machine(machine)
    assert search.statistics().counts == statistics.counts


def test_same_root_statistics_whatever_was_trimmed_before(connect_four: GuidedMachine) -> None:
    machine = connect_four
    counts = []
    for trim in (False, True):
        search = run(search_of(machine, Tuning(trim=trim)), 3000)
        counts.append(search.statistics().counts)
    assert counts[0] == counts[1]


GENEROUS = """
(role a) (role b) (init (turn b)) (init start)
(<= (legal b p) (true (turn b))) (<= (legal b q) (true (turn b))) (<= (legal a noop) (true (turn b)))
(<= (legal a x) (true (turn a))) (<= (legal a y) (true (turn a))) (<= (legal b noop) (true (turn a)))
(<= (next (turn a)) (does b p)) (<= (next (even)) (does b q))
(<= (next (generous)) (does a x)) (<= (next (mean)) (does a y))
(<= terminal (true even)) (<= terminal (true generous)) (<= terminal (true mean))
(<= (goal a 50) (true even)) (<= (goal b 50) (true even))
(<= (goal a 60) (true generous)) (<= (goal b 100) (true generous))
(<= (goal a 10) (true mean)) (<= (goal b 10) (true mean))
"""


def test_to_let_the_other_win_is_no_loss_where_both_may_gain() -> None:
    machine = guided_machine(GENEROUS)
    assert not isinstance(machine, GuidedMachine)
    state = machine.initial_state()
    player = UctPlayer(seed=1, playouts=500)
    player.start(machine, 1, state, LONG, time.monotonic() + LONG)
    choice = player.choose(state, time.monotonic() + LONG)
    assert str(machine.move(1, choice.move)) == "p"


def test_a_tree_that_was_trimmed_begins_anew_where_the_sum_turns_out_not_to_be_constant() -> None:
    """Such an end is so rare that random play does not show it."""
    steps = 12
    lines = ["(role a) (role b) (init (turn a)) (init (step 0)) (init straight)"]
    lines += [f"(succ {i} {i + 1})" for i in range(steps)]
    lines += ["(other a b) (other b a)"]
    lines += [f"(<= (legal ?r m{i}) (true (turn ?r)))" for i in range(6)]
    lines += ["(<= (legal ?r noop) (true (turn ?s)) (other ?r ?s))"]
    lines += ["(<= (next (turn ?r)) (true (turn ?s)) (other ?r ?s))"]
    lines += ["(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))"]
    lines += ["(<= (next straight) (true straight) (does ?r m0))"]
    lines += ["(<= (next last) (does ?r m1))"]
    lines += [f"(<= terminal (true (step {steps})))"]
    lines += [f"(<= both (true straight) (true (step {steps})))"]
    lines += ["(<= (goal ?r 100) (role ?r) both)"]
    lines += ["(<= (goal a 100) (not both) (true last))", "(<= (goal a 0) (not both) (not (true last)))"]
    lines += ["(<= (goal b 0) (not both) (true last))", "(<= (goal b 100) (not both) (not (true last)))"]
    machine = guided_machine("\n".join(lines))
    assert isinstance(machine, GuidedMachine)
    state = machine.initial_state()
    for step in range(steps - 2):
        to_move = step % 2
        joint = [machine.legal_moves(state, r)[0] for r in range(2)]
        joint[to_move] = next(
            m for m in machine.legal_moves(state, to_move) if str(machine.move(to_move, m)) == "m0"
        )
        state = machine.next_state(state, joint)
    moves = sorted(str(machine.move(0, m)) for m in machine.legal_moves(state, 0))
    anew = 0
    for seed in range(8):  # Some searches prove the state lost before they come to that end.
        search = search_of(machine, seed=seed, root=state)
        assert search.tree.trimmed
        run(search, 20_000)
        if not search.tree.trimmed:
            statistics = search.statistics()
            assert moves[int(statistics.visits[statistics.of_role(0)].argmax())] == "m0"
            anew += 1
    assert anew > 0
