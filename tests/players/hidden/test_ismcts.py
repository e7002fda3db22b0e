"""The search of information sets: sure answers in Kuhn poker, the clock, and histories that fit nothing."""

from __future__ import annotations

import time

import pytest

from gdl.terms import Term
from ggp.game import Game
from players.belief.belief import Belief, Observed
from tests.machines import network
from tests.players.hidden.test_players import started

DEALT = {
    card: Observed(Term("noop"), frozenset([Term("card", Term(card))])) for card in ("jack", "queen", "king")
}
BET = Observed(Term("noop"), frozenset([Term("move", Term("first"), Term("bet"))]))


@pytest.mark.parametrize(("card", "answer"), [("jack", "fold"), ("king", "call")])
def test_nobody_calls_with_the_lowest_card_or_folds_the_highest(card: str, answer: str) -> None:
    machine = network("kuhn")
    player = started("ismcts:playouts=2000", machine, 1)
    belief = Belief(machine, 1)
    for seen in (DEALT[card], BET):
        belief.update(seen)
    for _ in range(5):
        assert str(machine.move(1, player.choose_from(belief, time.monotonic() + 20).move)) == answer
    player.stop()


def test_what_is_learnt_stays_on_a_faster_machine_and_the_clock_is_kept() -> None:
    game = Game.load("liarsdice")
    machine = game.machine("propnet")
    player = started("ismcts", network("liarsdice"), 0)
    belief = Belief(machine, 0)
    belief.update(Observed(Term("noop"), frozenset([Term("mine", Term("3"))])))
    player.choose_from(belief, time.monotonic() + 0.2)
    player.update_machine(game.machine("native"))
    began = time.monotonic()
    choice = player.choose_from(belief, began + 0.3)
    assert time.monotonic() < began + 1.0  # a batch takes some hundredths of a second
    assert choice.move in belief.legal_moves()
    player.stop()


def test_a_history_that_fits_nothing_gets_a_legal_move() -> None:
    machine = network("liarsdice")
    player = started("ismcts", machine, 0)
    belief = Belief(machine, 0)
    belief.update(Observed(Term("noop"), frozenset([Term("mine", Term("3")), Term("mine", Term("4"))])))
    assert player.choose_from(belief, time.monotonic() + 0.2).move in belief.legal_moves()
    player.stop()
