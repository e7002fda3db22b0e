"""Histories tell apart what roles have observed, and what is recollected is what a belief holds."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.information import observations
from gdl.machine import State
from players.belief.belief import Belief, Observed
from players.hidden.ismcts import Recollection
from tests.examples import examples
from tests.machines import network

GAMES = ("kuhn", "liarsdice", "blindtictactoe", "kriegtictactoe", "leduc")


machine_of = cache(network)


def seen_of(name: str, role: int, seed: int, turns: int) -> list[Observed]:
    """What a role observes of the first turns of a random match that then goes on."""
    machine, rng, told = machine_of(name), random.Random(seed), []
    state = machine.initial_state()
    for _ in range(turns):
        joint = [rng.choice(machine.legal_moves(state, each)) for each in range(len(machine.roles))]
        after = machine.next_state(state, joint)
        if machine.is_terminal(after):
            break
        told.append(Observed(machine.move(role, joint[role]), machine.percepts(state, joint)[role]))
        state = after
    return told


@examples(25)
@given(st.sampled_from(GAMES), st.integers(0, 1), st.integers(0, 1 << 20), st.integers(1, 3))
def test_states_and_weights_are_those_of_the_belief(name: str, role: int, seed: int, turns: int) -> None:
    machine, told = machine_of(name), seen_of(name, role, seed, turns)
    belief, past = Belief(machine, role), Recollection(machine, role)
    for seen in told:
        belief.update(seen)
    assert past.catch_up(told, math.inf)
    weights: dict[State, float] = defaultdict(float)
    for state, weight in zip(machine.states(past.records), past.weights.tolist(), strict=True):
        weights[state] += weight
    assert belief.exact
    wanted = dict(zip(belief.states(), belief.weights.tolist(), strict=True))
    assert weights == pytest.approx(wanted)
    assert len(set(past.histories[:, role].tolist())) == 1  # the role itself has observed one thing


@pytest.mark.parametrize("name", ["kuhn", "liarsdice", "kriegtictactoe"])
def test_histories_are_equal_exactly_where_observations_are(name: str) -> None:
    machine = machine_of(name)
    past = Recollection(machine, 0)
    level = [
        (machine.initial_state(), np.zeros((1, len(machine.roles)), np.uint64), [()] * len(machine.roles))
    ]
    numbers: dict[int, dict[int, object]] = defaultdict(dict)
    for _ in range(3):
        following = []
        for state, histories, told in level[:40]:
            if machine.is_terminal(state):
                continue
            for joint in product(*machine.options(state)):
                moves = np.array([joint], np.int32)
                after, grown, _ = past.step(machine.records([state]), histories, moves)
                learnt = observations(machine, state, joint)
                later = [(*before, one) for before, one in zip(told, learnt, strict=True)]
                for role, number in enumerate(grown[0].tolist()):
                    assert numbers[role].setdefault(number, later[role]) == later[role]
                following.append((machine.states(after)[0], grown, later))
        level = following
    assert all(len(set(map(repr, known.values()))) == len(known) for known in numbers.values())


def test_what_fits_no_state_is_said_and_begins_anew() -> None:
    machine = machine_of("kuhn")
    past, told = Recollection(machine, 0), seen_of("kuhn", 0, 3, 2)
    wrong = [Observed(told[0].move, frozenset())]
    assert not past.catch_up(wrong, math.inf)
    assert past.catch_up(told, math.inf) and len(past.records)
