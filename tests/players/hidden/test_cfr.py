"""CFR+ finds the known value of Kuhn poker. OpenSpiel says how exploitable it is: see its own tests."""

from __future__ import annotations

import math
import random
import time

import numpy as np
import pytest

from gdl.terms import Term
from ggp.game import Game
from players.belief.belief import Belief, Observed
from players.hidden.cfr import CHANCE, TERMINAL, Cfr, CfrPlayer, GameTree, TreeBuilder, estimated_nodes

COIN = 25
"""Points of a goal that a coin is worth."""


def tree_of(name: str) -> GameTree:
    tree = TreeBuilder(Game.load(name).machine("propnet"), 100_000).grow(math.inf)
    assert tree is not None
    return tree


def test_kuhn_is_worth_minus_one_in_eighteen_coins() -> None:
    cfr = Cfr(tree_of("kuhn"))
    cfr.run(math.inf, 800)
    first, second = cfr._backed_up(cfr._chances(cfr.average()))[0]
    assert (first - 50) / COIN == pytest.approx(-1 / 18, abs=0.002)
    assert first + second == pytest.approx(100)


def test_nodes_of_an_information_set_have_one_player_and_layer() -> None:
    tree = tree_of("kuhn")
    layer_of = np.zeros(len(tree.parent), np.int64)
    for number, layer in enumerate(tree.layers, 1):
        layer_of[layer] = number
    set_of = np.repeat(np.arange(len(tree.first) - 1), np.diff(tree.first))
    seen: dict[int, tuple[int, int]] = {}
    for node in np.flatnonzero(tree.edge >= 0).tolist():
        parent = int(tree.parent[node])
        place = int(set_of[tree.edge[node]])
        kind = int(tree.actor[parent]), int(layer_of[parent])
        assert kind[0] == tree.sets_of_player[place]
        assert seen.setdefault(place, kind) == kind
        assert layer_of[node] > layer_of[parent]
    ends = tree.actor == TERMINAL
    assert tree.goals[ends].any() and not tree.goals[~ends].any()
    deals = tree.share[tree.parent == np.flatnonzero(tree.actor == CHANCE)[0]]
    assert np.allclose(deals, 1 / len(deals)) and len(deals) == 6


def test_the_player_never_calls_with_a_jack_and_always_with_a_king() -> None:
    machine = Game.load("kuhn").machine("propnet")
    player = CfrPlayer(seed=1, rounds=400)
    player.start(machine, 1, machine.initial_state(), 0.0, time.monotonic() + 5)
    for card, answer in (("jack", "fold"), ("king", "call")):
        belief = Belief(machine, 1)
        belief.update(Observed(Term("noop"), frozenset([Term("card", Term(card))])))
        bet = Term("move", Term("first"), Term("bet"))
        belief.update(Observed(Term("noop"), frozenset([bet])))
        for _ in range(20):
            choice = player.choose_from(belief, time.monotonic() + 1)
            assert str(machine.move(1, choice.move)) == answer
    player.stop()


def test_larger_games_are_played_all_the_same() -> None:
    machine = Game.load("blindtictactoe").machine("propnet")
    player = CfrPlayer(seed=1, nodes=200)
    player.start(machine, 0, machine.initial_state(), 0.0, time.monotonic())
    choice = player.choose_from(Belief(machine, 0), time.monotonic() + 0.3)
    assert choice.move in machine.legal_moves(machine.initial_state(), 0)
    assert "simulation" in choice.note
    player.stop()


@pytest.mark.parametrize(("name", "least", "most"), [("kuhn", 30, 120), ("leduc", 3_000, 30_000)])
def test_the_size_of_a_tree_is_estimated_from_random_matches(name: str, least: int, most: int) -> None:
    machine = Game.load(name).machine("propnet")
    assert least < estimated_nodes(machine, 500, random.Random(1)) < most


@pytest.mark.parametrize("name", ["blindtictactoe", "phantomconnect", "battleships"])
def test_large_trees_are_not_begun(name: str) -> None:
    player = CfrPlayer(seed=1)
    machine = Game.load(name).machine("propnet")
    player.start(machine, 0, machine.initial_state(), 0.0, time.monotonic() + 0.3)
    assert player._builder is None
    player.stop()
