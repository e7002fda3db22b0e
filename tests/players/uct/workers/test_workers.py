"""Search processes: what they find is merged, and they can be killed and stopped at any time."""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.machine import Machine, State
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from players.player import Choice
from players.uct.player import UctPlayer
from players.uct.root_statistics import RootStatistics, merge, rank
from players.uct.tuning import Tuning
from players.uct.workers import pool as uct_pool
from players.uct.workers.channel import Slot, new_memory
from tests.games.small_sokoban import small_sokoban
from tests.players.uct.searching import LONG, run, search_of
from tests.waiting import runs, until


def after(machine: Machine, *moves: str) -> State:
    state = machine.initial_state()
    for move in moves:
        state = state.play(move)
    return state


# --- merging ---------------------------------------------------------------------------------
POSITIONS = [
    ("tictactoe", ("(mark a 1)", "(mark c 3)", "(mark a 2)", "(mark c 2)"), 0, "(mark a 3)"),
    ("tictactoe", ("(mark a 1)", "(mark b 2)", "(mark a 2)"), 1, "(mark a 3)"),
    ("connectfour", ("(drop d)", "(drop a)", "(drop d)", "(drop a)", "(drop d)", "(drop a)"), 0, "(drop d)"),
    ("connectfour", ("(drop d)", "(drop a)", "(drop d)", "(drop a)", "(drop d)"), 1, "(drop d)"),
]


@pytest.mark.parametrize(("game", "moves", "role", "best"), POSITIONS)
def test_merged_choice_is_that_of_a_single_tree_with_the_same_total(
    game: str, moves: tuple[str, ...], role: int, best: str
) -> None:
    machine = Game.load(game).machine("propnet")
    state = after(machine, *moves)
    options = sorted(machine.rules.spell(machine.move(role, m)) for m in machine.legal_moves(state, role))

    def searched(seed: int, playouts: int) -> RootStatistics:
        search = run(search_of(machine, Tuning(memory=1 << 24), role=role, seed=seed, root=state), playouts)
        return search.statistics()

    parts = [searched(seed, 1500) for seed in range(4)]
    merged, single = merge(parts[0].counts, parts), searched(9, 6000)
    for known in (merged, single):
        assert options[rank(known, role).best] == best


@st.composite
def statistics(draw: st.DrawFn, counts: tuple[int, ...]) -> RootStatistics:
    moves = sum(counts)
    visits = np.array(draw(st.lists(st.integers(0, 10**6), min_size=moves, max_size=moves)), np.int64)
    means = np.array(draw(st.lists(st.floats(0, 1), min_size=moves, max_size=moves)), np.float64)
    proven = np.array(draw(st.lists(st.sampled_from([-1, 0, 100]), min_size=moves, max_size=moves)), np.int16)
    return RootStatistics(counts, visits, means * visits, proven, int(visits.sum()), 5, 2)


@given(data=st.data())
def test_merging_weighs_means_by_visits(data: st.DataObject) -> None:
    counts = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    parts = data.draw(st.lists(statistics(counts), max_size=4))
    strange = RootStatistics.empty((*counts, 1))
    merged = merge(counts, [*parts, strange])
    assert merged.visits.tolist() == [sum(int(p.visits[i]) for p in parts) for i in range(sum(counts))]
    assert np.allclose(merged.totals, sum((p.totals for p in parts), np.zeros(sum(counts))))
    assert merged.playouts == sum(p.playouts for p in parts)
    for role in range(len(counts)):
        ranking = rank(merged, role)
        assert sorted(ranking.order) == list(range(counts[role]))
        assert ranking.order[0] == ranking.best


@given(data=st.data())
def test_what_is_written_to_a_slot_is_read_whole(data: st.DataObject) -> None:
    memory = new_memory()
    writer, reader = Slot(memory), Slot(memory)
    os.close(memory)
    assert reader.read(0) is None
    for root in range(1, 4):
        counts = tuple(data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=3)))
        written = data.draw(statistics(counts))
        writer.write(root, written)
        seen = reader.read(root)
        assert reader.read(root + 1) is None
        assert seen is not None
        assert seen.counts == written.counts
        for field in ("visits", "totals", "proven"):
            assert np.array_equal(getattr(seen, field), getattr(written, field))
        assert (seen.playouts, seen.nodes, seen.depth, seen.value) == (written.playouts, 5, 2, -1)


def test_a_state_with_too_many_moves_for_a_slot_is_told_as_nothing() -> None:
    memory = new_memory()
    slot = Slot(memory)
    os.close(memory)
    slot.write(1, RootStatistics.empty([100_000]))
    seen = slot.read(1)
    assert seen is not None
    assert seen.counts == (0,)


# --- machines ----------------------------------------------------------------------------------
def test_tree_is_kept_when_the_machine_is_exchanged_for_one_of_the_same_network() -> None:
    machine = Game.load("connectfour").machine("propnet")
    other = pickle.loads(pickle.dumps(machine))
    search = run(search_of(machine, Tuning(memory=1 << 24)), 2000)
    before = search.statistics()
    search.set_machine(other)
    search.set_root(other.initial_state())
    kept = search.statistics()
    assert np.array_equal(before.visits, kept.visits)
    assert kept.visits.sum() > 0
    assert not search.step(time.monotonic() + LONG, 500)
    search.set_machine(Game.load("tictactoe").machine("propnet"))
    search.set_root(search.machine.initial_state())
    assert search.statistics().visits.sum() == 0


def test_below_a_move_that_was_made_only_its_branch_is_searched() -> None:
    machine = Game.load("connectfour").machine("propnet")
    search = search_of(machine, Tuning(memory=1 << 24))
    search.fix(5)
    run(search, 2000)
    visits = search.statistics().visits[:7]
    assert visits[5] == visits.sum() > 0


# --- processes -----------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def player() -> Iterator[UctPlayer]:
    made = UctPlayer(seed=4, workers=2, playouts=2000, memory=1 << 26)
    yield made
    made.stop()


@pytest.fixture
def begun(player: UctPlayer) -> tuple[UctPlayer, Machine]:
    machine = Game.load("tictactoe").machine("propnet")
    player.start(machine, 0, machine.initial_state(), LONG, time.monotonic() + LONG)
    return player, machine


def ask(player: UctPlayer, state: State) -> Choice:
    """Its answer after 2,000 playouts of this turn."""
    choice = player.choose(state, time.monotonic() + LONG)
    assert choice.move in player.machine.legal_moves(player.machine.own_state(state), player.role)
    return choice


def test_processes_find_the_winning_move_and_what_they_prove_is_told(
    begun: tuple[UctPlayer, Machine],
) -> None:
    player, machine = begun
    choice = ask(player, after(machine, *POSITIONS[0][1]))
    assert machine.rules.spell(machine.move(0, choice.move)) == "(mark a 3)"
    assert "2 workers" in choice.note
    assert "proven 100" in choice.note


def test_killed_processes_are_replaced_and_the_match_goes_on(begun: tuple[UctPlayer, Machine]) -> None:
    player, machine = begun
    pool = player._pool
    assert pool is not None
    for count in (1, 2):
        victims = pool.pids[:count]
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        until(lambda victims=victims: not any(map(runs, victims)))  # type: ignore[misc]
        assert ask(player, machine.initial_state()).candidates
        until(
            lambda victims=victims: (  # type: ignore[misc]
                bool(ask(player, machine.initial_state()).candidates)
                and len(pool.pids) == 2
                and not set(victims) & set(pool.pids)
            )
        )


@pytest.mark.slow
def test_stopped_processes_do_not_hold_up_the_answer_and_are_replaced(
    begun: tuple[UctPlayer, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    player, machine = begun
    pool = player._pool
    assert pool is not None
    player.playouts = None
    until(
        lambda: bool(player.choose(machine.initial_state(), time.monotonic() + 0.2)) and len(pool.read()) == 2
    )
    stopped = pool.pids
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    choice = player.choose(machine.initial_state(), time.monotonic() + 0.5)
    assert choice.candidates  # this process has searched
    monkeypatch.setattr(uct_pool, "SILENT_SECONDS", 2.0)
    until(
        lambda: (
            bool(player.choose(machine.initial_state(), time.monotonic() + 0.5).candidates)
            and len(pool.pids) == 2
            and not set(stopped) & set(pool.pids)
        )
    )
    until(lambda: not any(map(runs, stopped)))
    player.playouts = 2000


def test_another_machine_and_another_match_are_taken_over(player: UctPlayer) -> None:
    game = small_sokoban()
    slow, fast = game.machine("prover"), game.machine("propnet")
    player.playouts = None
    player.start(slow, 0, slow.initial_state(), 0.2, time.monotonic() + 0.2)
    player.update_machine(fast)
    state = fast.initial_state()
    while not fast.is_terminal(state):
        state = fast.next_state(state, [player.choose(state, time.monotonic() + 10.0).move])
    player.playouts = 2000
    assert fast.goal(state, 0) == 100


def test_a_line_that_was_under_way_when_the_machine_changed_is_followed(player: UctPlayer) -> None:
    game = small_sokoban()
    slow, fast = game.machine("prover"), game.machine("propnet")
    player.start(slow, 0, slow.initial_state(), 0.0, time.monotonic())
    player.update_machine(fast)
    state = fast.initial_state()
    move = fast.legal_moves(state, 0)[0]
    pool = player._pool
    assert pool is not None
    line = 50, [fast.move(0, move)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "lines", lambda: iter([line]))
        player._collect_lines(pool)
    player._line.follow(fast.next_state(state, [move]))
    assert player._line.moves == []


def test_a_line_that_comes_after_its_match_is_not_taken_for_one_of_the_next(player: UctPlayer) -> None:
    machine = small_sokoban().machine("propnet")
    state = machine.initial_state()
    player.start(machine, 0, state, 0.2, time.monotonic() + 0.2)
    pool = player._pool
    assert pool is not None
    moves = " ".join(str(machine.move(0, move)) for move in machine.legal_moves(state, 0))
    late = {"do": "line", "root": pool._root_number, "value": 100, "moves": moves}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uct_pool._SearchProcess, "messages", lambda process: iter([late]))
        other = Game.load("tictactoe").machine("propnet")
        player.start(other, 0, other.initial_state(), 0.2, time.monotonic() + 0.2)
        assert player._line.value < 100


def test_fewer_and_more_processes_are_made_of_a_running_search(begun: tuple[UctPlayer, Machine]) -> None:
    player, machine = begun
    state = machine.initial_state()
    pool = player._pool
    assert pool is not None
    for size in (1, 3, 2):
        player.share(size, True)
        until(lambda: bool(player.choose(state, time.monotonic() + 0.2)) and len(pool.pids) == size)  # noqa: B023
    assert "2 workers" in player.choose(state, time.monotonic() + 0.5).note


def test_a_state_in_which_another_role_is_stuck_is_answered(player: UctPlayer) -> None:
    text = """(role a) (role b) (init (p)) (legal a x) (legal a y) (<= (legal b z) (true (q)))
    (<= (next (p)) (true (p))) (<= terminal (true (q))) (goal a 100) (goal b 0)"""
    machine = make_machine(parse_rules(text), "propnet")
    player.start(machine, 0, machine.initial_state(), 0.1, time.monotonic() + 0.1)
    pool = player._pool
    assert pool is not None
    before = pool.pids
    for _ in range(3):
        choice = player.choose(machine.initial_state(), time.monotonic() + LONG)
        assert choice.move in (0, 1)
    pool.mend()
    assert pool.pids == before


@pytest.mark.slow
def test_no_process_and_no_file_is_left_after_the_match() -> None:
    files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    machine = Game.load("tictactoe").machine("propnet")
    for _ in range(2):
        player = UctPlayer(workers=1, playouts=100, memory=1 << 24)
        player.start(machine, 0, machine.initial_state(), LONG, time.monotonic() + LONG)
        assert player._pool is not None
        pids = player._pool.pids
        assert all(map(runs, pids))
        player.stop()
        assert not any(map(runs, pids))
    if files:
        del player
        assert len(os.listdir("/proc/self/fd")) <= files
