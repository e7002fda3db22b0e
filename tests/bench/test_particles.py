"""The measure of beliefs counts the joint moves that they play."""

from __future__ import annotations

import random

from bench import particles
from gdl.terms import Term
from ggp.game import Game
from players.belief.belief import Belief, Observed


def test_particles_are_the_joint_moves_that_are_not_seen() -> None:
    machine = Game.load("blindtictactoe").machine("propnet")
    belief = Belief(machine, 0)
    assert particles.particles(belief, 100) == 9
    belief.update(Observed(Term("mark", Term("b"), Term("2")), frozenset([Term("ok")])))
    assert particles.particles(belief, 100) == 8 * 8
    assert particles.particles(belief, 10) == 10


def test_what_is_learnt_of_a_match_fits_a_belief() -> None:
    machine = Game.load("kuhn").machine("propnet")
    for seed in range(8):
        belief = Belief(machine, 1)
        for seen in particles.learnt(machine, 1, random.Random(seed)):
            assert belief.update(seen)
