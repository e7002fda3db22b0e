"""Rules of selection and priors: what each prefers, what is counted for it, and that all of them play."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from ggp.game import Game
from players.uct.batches import MOST_EACH, BatchOutcome, LeafPlayouts
from players.uct.root_statistics import rank
from players.uct.search import Search
from players.uct.tree import selection_rules
from players.uct.tree.arrays import EDGE, Arrays, make_arrays
from players.uct.tree.selection_rules import NONE, NST, PUCT, UCB, SelectionRule, about_log
from players.uct.tuning import FEW, MANY, PRIOR_VISITS, WIDEST, Tuning
from tests.examples import examples
from tests.players.uct.searching import run, search_of

LONG = 60.0


def edges_of(visits: list[int], worth: list[float]) -> np.ndarray:
    edges = np.zeros(len(visits), EDGE)
    edges["visits"], edges["worth"], edges["share"], edges["proven"] = visits, worth, 1.0, -1
    edges["move"] = range(len(visits))
    return edges


@njit
def best_edge(edges, random, first, count, visits, eager, rule):  # type: ignore[no-untyped-def]
    """As Python can call it."""
    return selection_rules.best_edge(edges, random, first, count, visits, eager, rule)


@njit
def set_priors(tree, node, before, base, rule):  # type: ignore[no-untyped-def]
    """The same."""
    selection_rules.set_priors(tree, node, before, base, rule)


@njit
def note_move(tree, before, column, result):  # type: ignore[no-untyped-def]
    """The same."""
    selection_rules.note_move(tree, before, column, result)


def tree_of(edges: np.ndarray) -> Arrays:
    """A tree of one node, in which the one role chooses among these edges."""
    n = len(edges)
    arrays = make_arrays(1, 1, 8, 8, 8, 0, np.array([0, n], np.int32))
    arrays.nodes[0] = np.zeros((), arrays.nodes.dtype)
    arrays.nodes["choices"][0] = n
    return arrays._replace(edges=edges)


def chosen(edges: np.ndarray, rule: SelectionRule, eager: bool = False) -> int:
    random = np.array([7], np.uint64)
    return int(best_edge(edges, random, 0, len(edges), int(edges["visits"].sum()), eager, rule))


@pytest.mark.parametrize("kind", [UCB, PUCT])
def test_the_better_and_the_less_visited_move_is_preferred(kind: int) -> None:
    rule = SelectionRule(kind, 0.3)
    assert chosen(edges_of([50, 50], [0.6, 0.4]), rule) == 0
    assert chosen(edges_of([500, 5], [0.5, 0.5]), rule) == 1


def test_eager_tries_every_move_first() -> None:
    edges = edges_of([9, 0], [0.9, 0.1])
    assert chosen(edges, SelectionRule(), eager=True) == 1
    assert chosen(edges, SelectionRule()) == 0
    edges["worth"][1] = 1.1
    assert chosen(edges, SelectionRule()) == 1


def test_known_results_are_left_to_the_final_choice() -> None:
    edges = edges_of([5, 5, 5], [0.9, 0.1, 0.2])
    edges["proven"][0] = 0
    assert chosen(edges, SelectionRule(UCB, 0.1)) == 2


@examples(50)
@given(
    base=st.floats(0.3, 0.7),
    counts=st.lists(st.tuples(st.integers(0, 500), st.floats(0, 1)), min_size=1, max_size=8),
    prior=st.sampled_from([NONE, NST]),
    kind=st.sampled_from([UCB, PUCT]),
)
def test_priors_are_about_the_value_of_the_state(
    base: float, counts: list[tuple[int, float]], prior: int, kind: int
) -> None:
    n = len(counts)
    edges = edges_of([0] * n, [0.0] * n)
    tree = tree_of(edges)
    tree.averages[:] = [(made, 100 * made * value) for made, value in counts]
    set_priors(tree, 0, -1, base, SelectionRule(kind, 0.3, 4.0, prior))
    assert tree.nodes["prior_visits"][0] == 4.0
    assert (edges["prior"] >= 0).all()
    assert (edges["prior"] <= 1).all()
    assert np.allclose(edges["worth"], edges["prior"] + (kind == UCB), atol=1e-6)
    if prior == NONE:
        assert np.allclose(edges["prior"], base)
    elif (edges["prior"] > 0).all() and (edges["prior"] < 1).all():
        assert np.isclose(edges["prior"].mean(), base, atol=1e-4)
        many = [i for i, (made, _) in enumerate(counts) if made > 100]
        best = max(many, key=lambda i: counts[i][1], default=None)
        if best is not None:
            assert all(
                edges["prior"][best] >= edges["prior"][i] - 1e-6
                for i in many
                if counts[i][1] < counts[best][1] - 0.1
            )
    if kind == PUCT:
        assert np.isclose(edges["share"].sum(), 1.0, atol=1e-4)


def test_priors_tell_what_a_move_is_worth_after_the_one_before() -> None:
    edges = edges_of([0, 0], [0.0, 0.0])
    tree = tree_of(edges)
    for before, good in ((0, 1), (1, 0), (-1, 1)):
        for move in (0, 1):
            for _ in range(100):
                note_move(tree, before, move, float(move == good))
    for before, good in ((0, 1), (1, 0), (-1, 1)):
        set_priors(tree, 0, before, 0.5, SelectionRule(PUCT, 0.3, 2.0, NST))
        assert edges["prior"][good] > edges["prior"][1 - good] + 0.5


def search_for(game: str, tuning: Tuning, moves: tuple[str, ...] = (), role: int = 0) -> Search:
    machine = Game.load(game).machine("propnet")
    state = machine.initial_state()
    for move in moves:
        state = state.play(move)
    return search_of(machine, tuning, role=role, seed=3, root=state)


def test_the_move_that_wins_is_found() -> None:
    search = search_for(
        "connectfour",
        Tuning(memory=1 << 24),
        ("(drop d)", "(drop a)", "(drop d)", "(drop a)", "(drop d)", "(drop b)"),
    )
    run(search, 3000)
    statistics = search.statistics()
    best = rank(statistics, 0).best
    options = sorted(
        search.machine.rules.spell(search.machine.move(0, move))
        for move in search.machine.legal_moves(search.rounds.root, 0)
    )
    assert options[best] == "(drop d)"
    edges = search.tree.arrays.edges[: int(search.tree.arrays.used[0]["edges"])]
    assert np.isfinite(edges["worth"]).all()
    assert not edges["pending"].any()


def test_move_averages_tell_good_moves_from_bad_ones() -> None:
    search = search_for("connectfour", Tuning(memory=1 << 24))
    run(search, 5000)
    arrays = search.tree.arrays
    made, goals = arrays.averages["number"], arrays.averages["total"]
    assert (made > 0).any()
    assert (goals <= 100 * made).all()
    named = {
        search.machine.rules.spell(search.machine.move(0, move)): goals[move] / made[move]
        for move in range(int(arrays.columns[1]))
        if made[move]
    }
    assert named["(drop d)"] > named["(drop a)"]


@pytest.mark.parametrize("game", ["connectfour", "chinesecheckers", "tron", "rockpaperscissors"])
def test_paths_note_the_columns_of_the_moves_by_which_they_went_down(game: str) -> None:
    search = search_for(game, Tuning(memory=1 << 24))
    for _ in range(60):
        search.step(time.monotonic() + LONG)
    arrays, paths = search.tree.arrays, search.tree.paths
    steps = 0
    for path in np.flatnonzero(paths.length):
        for depth in range(paths.length[path]):
            to_move = int(arrays.nodes["to_move"][paths.nodes[path, depth]])
            column = -1
            if to_move >= 0:
                edge = paths.edges[path, depth, to_move]
                column = arrays.columns[to_move] + arrays.edges["move"][edge]
            assert paths.columns[path, depth] == column
            steps += 1
    assert steps


def test_without_numbered_moves_the_rules_do_without_counts() -> None:
    machine = Game.load("tictactoe").machine("prover")
    search = run(search_of(machine, Tuning(memory=1 << 24), seed=3), 60)
    assert search.statistics().visits[:9].sum() == 60


@given(st.integers(1, 2**31 - 1))
def test_the_logarithm_of_visits_is_near_enough(visits: int) -> None:
    assert float(about_log.py_func(visits)) == pytest.approx(math.log(visits), abs=0.005)


def test_exploration_shrinks_with_the_spread_of_results() -> None:
    tuning = Tuning(exploration=0.8)
    assert tuning.rule(WIDEST, True, True).exploration == 0.8
    assert tuning.rule(WIDEST / 4, True, True).exploration == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("game", "told"), [("connectfour", "the tree by PUCT"), ("rockpaperscissors", ""), ("eightpuzzle", "")]
)
def test_it_is_told_how_moves_are_selected(game: str, told: str) -> None:
    search = search_for(game, Tuning(memory=1 << 24, policy="equal"))
    assert search.news == ""
    search.step(time.monotonic() + LONG, 8)
    assert search.news == ("the tree by UCB1" if told else "")
    while search.playouts < 1000 and not search.step(time.monotonic() + LONG, 1000):
        pass
    assert search.news == told


@given(visits=st.integers(0, 10**7), choices=st.integers(1, 300), batch=st.integers(0, 10**5))
def test_priors_count_for_more_the_better_every_pair_of_moves_is_known(
    visits: int, choices: int, batch: int
) -> None:
    tuning = Tuning()
    rule = tuning.rule(WIDEST, True, True)
    by_ucb = rule._replace(kind=UCB)
    stage = tuning.stage(rule, visits, choices)
    descent, booking = tuning.turned(rule, batch, stage)
    assert descent in (rule, by_ucb)
    # Shares and priors are always there for when they are asked for.
    assert (booking.kind, booking.prior) == (PUCT, NST)
    each = visits / choices**2
    assert booking.prior_visits == (0.0 if each < FEW else PRIOR_VISITS)
    if each < FEW:
        assert descent == by_ucb
    elif each >= MANY:
        assert descent == rule
    else:
        assert descent == (by_ucb if batch % 2 else rule)
    assert tuning.stage(by_ucb, visits, choices) == -1


@given(
    batches=st.lists(
        st.tuples(st.floats(1e-5, 1e-1), st.integers(1, 512), st.floats(1e-6, 1e-1), st.integers(1, 10**5)),
        max_size=20,
    )
)
def test_playouts_from_a_leaf_stay_within_bounds_whatever_is_measured(
    batches: list[tuple[float, int, float, int]],
) -> None:
    leaf = LeafPlayouts()
    for seconds, paths, playing, playouts in batches:
        leaf.learn(BatchOutcome(paths, 0, 1, 0, playouts, playing, seconds))
        assert 1 <= leaf.each <= MOST_EACH
