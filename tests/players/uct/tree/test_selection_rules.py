"""Rules of selection, priors and regret matching: what each prefers, and that all of them play."""

from __future__ import annotations

import math
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from gdl.machine import Machine, State
from ggp.game import Game
from players.batch_machine import batch_machine_of
from players.uct.batches import MOST_EACH, BatchOutcome, LeafPlayouts
from players.uct.player import UctPlayer
from players.uct.root_statistics import RootStatistics, rank, strategy
from players.uct.search import Search
from players.uct.tree import selection_rules
from players.uct.tree.arrays import EDGE, Arrays, make_arrays
from players.uct.tree.regret_matching import drop_cells
from players.uct.tree.selection_rules import NONE, NST, PUCT, UCB, SelectionRule, about_log
from players.uct.tree.warm_up import warm_up
from players.uct.tuning import FEW, MANY, PRIOR_VISITS, WIDEST, Tuning
from tests.examples import examples
from tests.machines import network
from tests.players.random_games import random_game
from tests.players.uct.searching import LONG, run, search_of


def edges_of(visits: list[int], worth: list[float]) -> np.ndarray:
    edges = np.zeros(len(visits), EDGE)
    edges["visits"], edges["worth"], edges["share"] = visits, worth, 1.0
    edges["proven"], edges["limit"] = -1, 100
    edges["move"] = range(len(visits))
    return edges


@njit
def best_edge(edges, random, first, count, visits, secured, eager, rule):  # type: ignore[no-untyped-def]
    """As Python can call it."""
    return selection_rules.best_edge(edges, random, first, count, visits, secured, eager, rule)


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


def chosen(edges: np.ndarray, rule: SelectionRule, eager: bool = False, secured: int = 0) -> int:
    random = np.array([7], np.uint64)
    return int(best_edge(edges, random, 0, len(edges), int(edges["visits"].sum()), secured, eager, rule))


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
    edges["proven"][0] = edges["limit"][0] = 0
    assert chosen(edges, SelectionRule(UCB, 0.1)) == 2
    edges["limit"][2] = 50
    assert chosen(edges, SelectionRule(UCB, 0.1), secured=30) == 2
    assert chosen(edges, SelectionRule(UCB, 0.1), secured=50) == 1


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


# --- Where two roles move at once their moves are mixed, and the mixture comes near the equilibrium
def pure_bounds(machine: Machine, state: State) -> tuple[int, int]:
    """What role a can make sure of by a move that b sees, and what b can hold it to likewise."""
    if machine.is_terminal(state):
        value = machine.goal(state, 0)
        assert value is not None
        return value, value
    rows, columns = (machine.legal_moves(state, role) for role in (0, 1))
    table = [[pure_bounds(machine, machine.next_state(state, (i, j))) for j in columns] for i in rows]
    lower = max(min(low for low, _ in row) for row in table)
    upper = min(max(row[j][1] for row in table) for j in range(len(columns)))
    return lower, upper


@examples(20)
@given(seed=st.integers(0, 10**6))
def test_what_is_proven_where_both_move_at_once_holds_in_pure_moves(seed: int) -> None:
    machine = network(random_game(seed, 2, simultaneous=True, steps=3))
    state = machine.initial_state()
    player = UctPlayer(seed=seed, playouts=1500, memory=1 << 24)
    for role in (0, 1):
        player.start(machine, role, state, 0.0, time.monotonic())
        choice = player.choose(state, time.monotonic() + LONG)
        if "proven" not in choice.note:
            continue
        proven = int(choice.note.rsplit("proven ", 1)[1])
        value = 100 - proven if role else proven
        assert pure_bounds(machine, state) == (value, value)
        others = machine.legal_moves(state, 1 - role)
        joints = [(other, choice.move) if role else (choice.move, other) for other in others]
        after = [pure_bounds(machine, machine.next_state(state, joint)) for joint in joints]
        assert all(high <= value for _, high in after) if role else all(low >= value for low, _ in after)


def table_game(table: list[list[int]]) -> Machine:
    """A game of one joint move: role a gets what the table says, role b the rest of 100."""
    rows, columns = range(len(table)), range(len(table[0]))
    lines = ["(role a) (role b)", "(init now)"]
    lines += [f"(<= (legal a r{i}) (true now))" for i in rows]
    lines += [f"(<= (legal b c{j}) (true now))" for j in columns]
    for i in rows:
        for j in columns:
            lines.append(f"(<= (next (end {i} {j})) (does a r{i}) (does b c{j}))")
            lines.append(f"(<= (goal a {table[i][j]}) (true (end {i} {j})))")
            lines.append(f"(<= (goal b {100 - table[i][j]}) (true (end {i} {j})))")
    lines.append("(<= terminal (true (end ?x ?y)))")
    return network("\n".join(lines))


def searched(machine: Machine, playouts: int) -> RootStatistics:
    # A batch in which something is compiled would look as if there was no time for another one.
    warm_up()
    batch_machine_of(machine).warm_up()
    search = run(search_of(machine, Tuning(memory=1 << 24), seed=3), playouts)
    return search.statistics()


BEATEN = 37
"""Moves each of which beats half of the others: all are to be played alike often."""
CIRCLE = [
    [50 if i == j else 100 if (i - j) % BEATEN <= BEATEN // 2 else 0 for j in range(BEATEN)]
    for i in range(BEATEN)
]


@pytest.mark.parametrize(
    ("table", "value", "playouts"),
    [
        ([[50, 0, 100], [100, 50, 0], [0, 100, 50]], 50, 40_000),
        ([[100, 0], [25, 50]], 40, 40_000),
        ([[60, 0, 20], [40, 50, 10], [30, 80, 90]], 43.6, 40_000),
        pytest.param(CIRCLE, 50, 150_000, marks=pytest.mark.slow),
    ],
    ids=["scissors", "two moves", "three moves", "many moves"],
)
def test_strategies_and_values_come_near_the_equilibrium(
    table: list[list[int]], value: float, playouts: int
) -> None:
    statistics = searched(table_game(table), playouts)
    assert statistics.mixed
    payoffs = np.array(table)
    # Moves are in the order of their text.
    order = [sorted(range(size), key=str) for size in payoffs.shape]
    payoffs = payoffs[np.ix_(*order)]
    rows, columns = strategy(statistics, 0), strategy(statistics, 1)
    assert (rows @ payoffs).min() > value - 4
    assert (payoffs @ columns).max() < value + 4
    if len(table) < BEATEN:
        part = statistics.of_role(0)
        mean = 100 * statistics.totals[part].sum() / statistics.visits[part].sum()
        assert abs(mean - value) < 2
        assert abs(rank(statistics, 0).worth - value) < 2


def check_tables(arrays: Arrays) -> None:
    """Cells of a node stand one after the other, and know the links of their joint moves."""
    first = 0
    tabled = arrays.tabled[: arrays.used[0]["tabled"]]
    have = np.flatnonzero(arrays.nodes["first_cell"][: arrays.used[0]["nodes"]] >= 0)
    assert sorted(tabled) == have.tolist()
    for node in tabled.tolist():
        assert arrays.nodes["first_cell"][node] == first
        cells = arrays.cells[first : first + int(arrays.counts[node].prod())]
        assert 0 < cells["visits"].sum() <= arrays.nodes["visits"][node]
        for mean in (cells["first"], cells["second"]):
            assert (mean > -1e-6).all()
            assert (mean < 1 + 1e-6).all()
        chained = {}
        link = int(arrays.nodes["first_link"][node])
        while link >= 0:
            assert arrays.links["parent"][link] == node
            chained[int(arrays.links["joint"][link])] = link
            link = int(arrays.links["next"][link])
        assert chained == {joint: link for joint, link in enumerate(cells["link"].tolist()) if link >= 0}
        first += len(cells)
    assert first == arrays.used[0]["cells"]


@examples(25)
@given(seed=st.integers(0, 10**6))
def test_tables_of_joint_moves_stay_whole_when_the_root_moves_and_when_some_are_dropped(seed: int) -> None:
    machine = network(random_game(seed, 2, simultaneous=True, steps=4))
    state = machine.initial_state()
    search = Search(0, seed, Tuning(memory=1 << 24))
    search.set_machine(machine)
    while not machine.is_terminal(state):
        search.set_root(state)
        run(search, 1500)
        arrays = search.tree.arrays
        check_tables(arrays)
        visits = arrays.nodes["visits"][arrays.tabled[: arrays.used[0]["tabled"]]]
        fewest = int(np.median(visits)) if len(visits) else 1
        drop_cells(arrays, fewest)
        check_tables(arrays)
        assert arrays.used[0]["tabled"] == np.count_nonzero(visits >= fewest)
        run(search, 2000)
        check_tables(arrays)
        moves = [machine.legal_moves(state, role)[seed % 2 - 1] for role in (0, 1)]
        state = machine.next_state(state, moves)


def test_when_there_is_no_room_tables_of_states_that_were_visited_least_make_way() -> None:
    machine = Game.load("rockpaperscissors").machine("propnet")
    search = run(search_of(machine, Tuning(memory=1 << 24)), 5000)
    tree = search.tree
    arrays = tree.arrays
    tree.arrays = arrays._replace(cells=arrays.cells[: int(arrays.used[0]["cells"])])
    root, before = tree.root, int(arrays.used[0]["tabled"])
    assert before > 2
    run(search, 10_000)
    check_tables(tree.arrays)
    assert arrays.nodes["first_cell"][root] >= 0
    assert arrays.used[0]["cells"] <= len(tree.arrays.cells)


def test_a_table_that_would_leave_no_room_for_others_is_not_made() -> None:
    machine = table_game([[(7 * i + 3 * j) % 101 for j in range(12)] for i in range(12)])
    search = search_of(machine, Tuning(memory=1 << 24))
    tree = search.tree
    whole = tree.arrays
    for cells, playouts, made in ((287, 500, False), (288, 1000, True)):
        tree.arrays = whole._replace(cells=np.empty(cells, whole.cells.dtype))
        run(search, playouts)
        assert (tree.arrays.nodes["first_cell"][tree.root] >= 0) == made


def test_moves_of_an_equilibrium_are_drawn_and_not_always_the_same() -> None:
    machine = table_game([[50, 0, 100], [100, 50, 0], [0, 100, 50]])
    player = UctPlayer(seed=5, playouts=3000)
    player.start(machine, 1, machine.initial_state(), 0.0, time.monotonic())
    drawn = Counter(player.choose(machine.initial_state(), time.monotonic() + LONG).move for _ in range(30))
    assert len(drawn) == 3


def test_what_mixed_moves_are_worth_leaves_out_what_was_tried_at_random() -> None:
    visits, totals = np.array([1000, 1000, 20]), np.array([550.0, 650.0, 1.0])
    unknown = np.full(3, -1, np.int16)
    assert rank(RootStatistics((3,), visits, totals, unknown, mixed=True), 0).worth == pytest.approx(60)
    assert rank(RootStatistics((3,), visits, totals, unknown), 0).worth == pytest.approx(65)


@pytest.mark.parametrize(
    ("table", "rows", "note"),
    [
        ([[30, 80, 90], [50, 50, 60], [0, 40, 100]], ("r1", "c0"), "proven 50"),
        ([[30, 80], [20, 70]], ("r0", "c0"), ""),
    ],
    ids=["a sure move", "a dominated one"],
)
def test_a_move_that_is_best_whatever_the_other_does_is_always_taken(
    table: list[list[int]], rows: tuple[str, str], note: str
) -> None:
    machine = table_game(table)
    player = UctPlayer(seed=5, playouts=3000)
    for role, best in enumerate(rows):
        player.start(machine, role, machine.initial_state(), 0.0, time.monotonic())
        for _ in range(10):
            choice = player.choose(machine.initial_state(), time.monotonic() + LONG)
            assert machine.rules.spell(machine.move(role, choice.move)) == best
            assert choice.note.endswith(note)
