"""Proven results: the tree finds them, and they decide the move."""

from __future__ import annotations

import pytest

from bench.positions import open_states
from bench.positions.solver import Solver, role_to_move
from gdl.machine import Machine, State
from players.uct.root_statistics import RootStatistics, merge, rank
from players.uct.search import Search
from players.uct.tuning import Tuning
from players.uct.workers.channel import Slot, new_memory
from tests.machines import network
from tests.players.uct.searching import run
from tests.propnet.test_machines_agree import BOTH


def search_until_proven(machine: Machine, role: int, state: State) -> RootStatistics:
    search = Search(role, 1, Tuning(memory=1 << 24))
    search.set_machine(machine)
    search.set_root(state)
    run(search)
    return search.statistics()


def test_a_win_that_is_told_as_100_and_0_is_proven() -> None:
    machine = network(BOTH)
    assert search_until_proven(machine, 0, machine.initial_state()).value == 100


@pytest.mark.parametrize("role", [0, 1])
def test_search_proves_connect_four_endgames_and_plays_a_move_that_keeps_the_value(role: int) -> None:
    machine = network("connectfour")
    solver = Solver(machine, 10**7)
    for state in open_states(machine, 32 + role, 3, seed=4):
        to_move = role_to_move(machine, state)
        value = solver.solve(state, to_move, 100, count=False).value
        found = search_until_proven(machine, role, state)
        assert found.value == (value if to_move == role else 100 - value)
        if to_move == role:
            by_text = sorted(
                machine.legal_moves(state, role), key=lambda m: machine.rules.spell(machine.move(role, m))
            )
            joint = [machine.legal_moves(state, r)[0] for r in range(2)]
            joint[role] = by_text[rank(found, role).best]
            after = machine.next_state(state, joint)
            if machine.is_terminal(after):
                assert machine.result(after, role) == value
            else:
                assert 100 - solver.solve(after, 1 - role, 100, count=False).value == value


def test_one_process_that_has_proven_a_move_decides_for_all() -> None:
    """As the player merges them: through the shared memory of each."""
    counts = (1, 3)
    parts = []
    for proven_by_this in (False, True):
        found = RootStatistics.empty(counts)
        found.visits[:] = [100, 90, 5, 5]
        found.totals[:] = [50.0, 80.0, 1.0, 1.0]
        if proven_by_this:
            found.proven[3] = 100
        value = 100 if proven_by_this else -1
        slot = Slot(new_memory())
        slot.write(1, RootStatistics(counts, found.visits, found.totals, found.proven, 10, 1, 1, value))
        told = slot.read(1)
        assert told is not None
        parts.append(told)
    assert rank(merge(counts, parts[:1]), 1).best == 0
    merged = merge(counts, parts)
    assert merged.value == 100
    assert rank(merged, 1).best == 2
