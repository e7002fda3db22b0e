"""Where two roles move at once their moves are mixed, and the mixture comes near the equilibrium."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.machine import Machine, State
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.batch_machine import batch_machine_of
from players.kaskade.make_machine import make_machine
from players.uct.player import UctPlayer
from players.uct.root_statistics import RootStatistics, rank, strategy
from players.uct.search import Search
from players.uct.tree.arrays import Arrays
from players.uct.tree.regret_matching import drop_cells
from players.uct.tree.warm_up import warm_up
from players.uct.tuning import Tuning
from tests.examples import examples
from tests.players.random_games import random_game
from tests.players.uct.searching import run, search_of

LONG = 60.0


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
    machine = make_machine(parse_rules(random_game(seed, 2, simultaneous=True, steps=3)), "propnet")
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
    return make_machine(parse_rules("\n".join(lines)), "propnet")


def searched(machine: Machine, playouts: int) -> RootStatistics:
    # A batch in which something is compiled would look as if there was no time for another one.
    warm_up()
    batch_machine_of(machine).warm_up()
    search = run(search_of(machine, Tuning(memory=1 << 24), seed=3), playouts)
    return search.statistics()


MANY = 37
"""Moves each of which beats half of the others: all are to be played alike often."""
CIRCLE = [
    [50 if i == j else 100 if (i - j) % MANY <= MANY // 2 else 0 for j in range(MANY)] for i in range(MANY)
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
    if len(table) < MANY:
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
    machine = make_machine(parse_rules(random_game(seed, 2, simultaneous=True, steps=4)), "propnet")
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
