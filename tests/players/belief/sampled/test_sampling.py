"""Searches of information sets: sampled strategies come to the known equilibria, and nobody bluffs itself."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from gdl.terms import Term
from ggp.game import Game
from players.belief.belief import Belief, Observed
from players.belief.cfr import Cfr
from players.belief.game_tree import TreeBuilder
from players.belief.sampled.outcome_sampling import OutcomeSampling
from players.belief.sampled.recollection import Recollection
from players.player import Player
from players.registry import make_player
from propnet.capabilities import lane_machine
from propnet.machine import PropnetMachine


def machine_of(name: str) -> PropnetMachine:
    machine = lane_machine(Game.load(name).machine("propnet"))
    assert machine is not None
    return machine


DEALT = {
    card: Observed(Term("noop"), frozenset([Term("card", Term(card))])) for card in ("jack", "queen", "king")
}
BET = Observed(Term("noop"), frozenset([Term("move", Term("first"), Term("bet"))]))


def shares_of(
    machine: PropnetMachine, sampling: OutcomeSampling, role: int, told: list[Observed]
) -> dict[str, float]:
    """The average strategy of a role that has observed this."""
    past = Recollection(machine, role)
    assert past.catch_up(told, math.inf)
    options = machine.legal_moves(machine.states(past.records)[0], role)
    shares, met = sampling.average(past.histories[0, role], role, len(options))
    assert met
    names = [str(machine.move(role, move)) for move in options]
    return dict(zip(names, shares.tolist(), strict=True))


def test_outcome_sampling_comes_to_the_equilibrium_of_kuhn_poker() -> None:
    """The second role's equilibrium is the only one: a queen calls a bet once in three."""
    machine = machine_of("kuhn")
    sampling = OutcomeSampling(machine, 1, 1 << 12)
    sampling.run_from_start(math.inf, 300_000)
    called = shares_of(machine, sampling, 1, [DEALT["queen"], BET])
    assert called["call"] == pytest.approx(1 / 3, abs=0.06)
    tree = TreeBuilder(machine, 1000).grow(math.inf)
    assert tree is not None
    cfr = Cfr(tree)
    for (role, seen), place in tree.places.items():
        told = [Observed(machine.move(role, move), percepts) for move, percepts in seen]
        shares = shares_of(machine, sampling, role, told)
        cfr._sums[tree.first[place] : tree.first[place + 1]] = list(shares.values())
    assert cfr.exploitability() / 25 < 0.02  # in coins; at random it is 0.46


@pytest.mark.slow
def test_blind_tic_tac_toe_begins_in_the_centre_about_every_third_time() -> None:
    machine = machine_of("blindtictactoe")
    sampling = OutcomeSampling(machine, 1)
    sampling.run_from_start(math.inf, 2_000_000)
    shares, _ = sampling.average(np.uint64(0), 0, 9)
    names = [str(machine.move(0, move)) for move in machine.legal_moves(machine.initial_state(), 0)]
    assert shares[names.index("(mark b 2)")] == pytest.approx(0.32, abs=0.05)
    corners = sum(
        share
        for name, share in zip(names, shares.tolist(), strict=True)
        if name[6] in "ac" and name[8] in "13"
    )
    assert corners > 0.5


def started(spec: str, machine: PropnetMachine, role: int) -> Player:
    player = make_player(spec, 3)
    player.start(machine, role, machine.initial_state(), 0.0, time.monotonic() + 0.2)
    return player


@pytest.mark.parametrize("spec", ["ismcts:playouts=2000", "mccfr:playouts=4000"])
@pytest.mark.parametrize(("card", "answer"), [("jack", "fold"), ("king", "call")])
def test_nobody_calls_with_the_lowest_card_or_folds_the_highest(spec: str, card: str, answer: str) -> None:
    machine = machine_of("kuhn")
    player = started(spec, machine, 1)
    belief = Belief(machine, 1)
    for seen in (DEALT[card], BET):
        belief.update(seen)
    for _ in range(5):
        assert str(machine.move(1, player.choose_from(belief, time.monotonic() + 20).move)) == answer
    player.stop()


@pytest.mark.parametrize("spec", ["ismcts", "mccfr"])
def test_what_is_learnt_stays_on_a_faster_machine_and_the_clock_is_kept(spec: str) -> None:
    game = Game.load("liarsdice")
    machine = game.machine("propnet")
    player = started(spec, lane_machine(machine) or machine_of("liarsdice"), 0)
    belief = Belief(machine, 0)
    belief.update(Observed(Term("noop"), frozenset([Term("mine", Term("3"))])))
    player.choose_from(belief, time.monotonic() + 0.2)
    player.update_machine(game.machine("native"))
    began = time.monotonic()
    choice = player.choose_from(belief, began + 0.3)
    assert time.monotonic() < began + 1.0  # a batch takes some hundredths of a second
    assert choice.move in belief.legal_moves()
    player.stop()


@pytest.mark.parametrize("spec", ["ismcts", "mccfr"])
def test_a_history_that_fits_nothing_gets_a_legal_move(spec: str) -> None:
    machine = machine_of("liarsdice")
    player = started(spec, machine, 0)
    belief = Belief(machine, 0)
    belief.update(Observed(Term("noop"), frozenset([Term("mine", Term("3")), Term("mine", Term("4"))])))
    assert player.choose_from(belief, time.monotonic() + 0.2).move in belief.legal_moves()
    player.stop()
