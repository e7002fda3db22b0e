"""Contexts that moves are counted by: which factor a move acts on, and how that factor stands."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from numba import njit

from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.batch_machine import ScalarBatch, batch_machine_of
from players.uct.root_statistics import rank
from players.uct.search import Search
from players.uct.tree import move_contexts as uct_contexts
from players.uct.tree.tree import warm_up
from players.uct.tuning import Tuning
from players.uct_parts import Parts, parts_of
from propnet.analysis import factors as factoring
from propnet.build import build
from propnet.machine import PropnetMachine


@njit
def contexts_of(masks, records, node, before, by_parts):  # type: ignore[no-untyped-def]
    """All contexts of moves in a node, noted together and one by one: shape (2, 1 + parts)."""
    contexts = np.zeros((2, 1 + len(masks)), np.uint64)
    uct_contexts.note_contexts(contexts[0], masks, records, node, before, by_parts)
    for part in range(1 + len(masks) if by_parts else 1):
        contexts[1, part] = uct_contexts.context_of(masks, records, node, part, before, by_parts)
    return contexts


def nim() -> PropnetMachine:
    machine = Game.load("nim").machine("propnet")
    assert isinstance(machine, PropnetMachine)
    return machine


def test_moves_of_nim_are_told_apart_by_their_heaps() -> None:
    machine = nim()
    parts = parts_of(batch_machine_of(machine))
    assert parts.several
    heaps: dict[int, set[str]] = {}
    for role in range(2):
        for move in range(int(machine.role_moves[role + 1] - machine.role_moves[role])):
            name = str(machine.move(role, move))
            part = int(parts.of_move[machine.role_moves[role] + move])
            assert (part == 0) == (name == "noop")
            if part:
                heaps.setdefault(part, set()).add(name.split()[1])
    assert len(heaps) == 3
    assert all(len(names) == 1 for names in heaps.values())


def test_the_state_of_a_factor_is_that_of_its_propositions_alone() -> None:
    machine = nim()
    parts = parts_of(batch_machine_of(machine))
    rng = random.Random(4)
    states = []
    for _ in range(30):
        state = machine.initial_state()
        while not machine.is_terminal(state):
            states.append(state)
            state = machine.next_state(state, [rng.choice(machine.legal_moves(state, r)) for r in range(2)])
    records = machine.records(states)
    noted = np.array([contexts_of(parts.masks, records, node, 7, True) for node in range(len(records))])
    assert (noted[:, 0] == noted[:, 1]).all()
    assert not noted[:, 0, 0].any()
    for part in range(1, len(parts.masks) + 1):
        numbers = noted[:, 0, part].tolist()
        heaps = [tuple(row) for row in (records & parts.masks[part - 1]).tolist()]
        assert len(set(heaps)) > 2
        assert len(set(zip(numbers, heaps, strict=True))) == len(set(heaps)) == len(set(numbers))


def test_without_factors_the_move_before_is_the_context() -> None:
    masks, records = np.zeros((0, 1), np.uint64), np.zeros((1, 1), np.uint64)
    for before in (-1, 0, 41):
        assert contexts_of(masks, records, 0, before, False).tolist() == [[before + 1], [before + 1]]


@pytest.mark.parametrize("game", ["tictactoe", "eightpuzzle"])
def test_other_games_are_counted_as_one(game: str) -> None:
    machine = Game.load(game).machine("propnet")
    assert not parts_of(batch_machine_of(machine)).several
    assert not parts_of(ScalarBatch(machine)).several


def test_a_large_game_counts_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factoring, "QUICK_INPUTS", 1)
    rules = parse_rules(Game.load("nim").text)
    assert not parts_of(batch_machine_of(PropnetMachine(rules, build(ground(rules))))).several


def test_what_a_move_is_worth_in_its_factor_is_learnt_in_all_states_of_the_others() -> None:
    machine = nim()
    # A batch that has to wait for the compiler looks as if there was no time for another.
    warm_up()
    batch_machine_of(machine).warm_up()
    search = Search(0, 3, Tuning(memory=1 << 24, prior="factor"))
    search.set_machine(machine)
    search.set_root(machine.initial_state())
    deadline = time.monotonic() + 60.0
    while search.playouts < 2000 and search.step(deadline, 2000):
        pass
    arrays = search.tree.arrays
    # There are far fewer moves in states of a heap than in states of all heaps.
    contexts = int(np.count_nonzero(arrays.pairs[:, 0]))
    made = int(np.count_nonzero(arrays.edges["visits"][: arrays.used[1]]))
    assert 0 < contexts < made / 2
    found = search.statistics()
    best = rank(found, 0).best
    assert found.visits[best] > 0


def test_no_parts_are_none() -> None:
    parts = Parts.none(7, 3)
    assert not parts.several
    assert parts.of_move.tolist() == [0] * 7
    assert parts.masks.shape == (0, 3)
