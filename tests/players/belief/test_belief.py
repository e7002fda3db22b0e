"""A belief holds exactly the states that fit what a role has seen, weighted, within time and memory."""

from __future__ import annotations

import random
import time
import tracemalloc
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from gdl.terms import Term
from ggp.game import Game
from players.belief.belief import Belief, Observed
from players.belief.worlds import Limits, draws, thinned
from propnet.machine import PropnetMachine
from tests.machines import network
from tests.players.random_games import random_hidden_game


def enumerated(
    prover: ProverMachine, role: int, history: list[tuple[Term, frozenset[Term]]]
) -> dict[frozenset[Term], float]:
    """Every state after which the role would have learnt this, by playing every match; and how likely each is
    where all moves of others are."""
    reached = {prover.initial_state(): 1.0}
    for own, percepts in history:
        after: dict[State, float] = {}
        for state, weight in reached.items():
            options = [prover.legal_moves(state, r) for r in range(len(prover.roles))]
            options[role] = [m for m in options[role] if prover.move(role, m) is own]
            joints = list(product(*options))
            for joint in joints:
                if prover.percepts(state, joint)[role] == percepts:
                    following = prover.next_state(state, joint)
                    if not following.terminal:
                        after[following] = after.get(following, 0.0) + weight / len(joints)
        reached = after
    total = sum(reached.values())
    return {state.propositions: weight / total for state, weight in reached.items()}


def played(prover: ProverMachine, seed: int) -> list[list[tuple[Term, frozenset[Term]]]]:
    """What each role learns of a random match, turn by turn; without the last turn."""
    rng = random.Random(seed)
    state = prover.initial_state()
    told: list[list[tuple[Term, frozenset[Term]]]] = [[] for _ in prover.roles]
    while True:
        joint = [rng.choice(prover.legal_moves(state, r)) for r in range(len(prover.roles))]
        seen = prover.percepts(state, joint)
        state = prover.next_state(state, joint)
        if state.terminal:
            return told
        for role, moves in enumerate(told):
            moves.append((prover.move(role, joint[role]), seen[role]))


def weights_of(belief: Belief) -> dict[frozenset[Term], float]:
    return {
        state.propositions: weight
        for state, weight in zip(belief.states(), belief.weights.tolist(), strict=True)
    }


SMALL = ("kuhn", "leduc", "liarsdice", "montyhall", "numberguessing")


@cache
def machine_of(name: str, level: str) -> Machine:
    return Game.load(name).machine(level)


@pytest.mark.parametrize("level", ["prover", "propnet"])
@pytest.mark.parametrize("name", SMALL)
@settings(max_examples=12, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_belief_is_what_enumeration_finds(name: str, level: str, seed: int) -> None:
    prover = machine_of(name, "prover")
    assert isinstance(prover, ProverMachine)
    for role, history in enumerate(played(prover, seed)):
        if str(prover.roles[role]) == "random":
            continue
        belief = Belief(machine_of(name, level), role)
        for turn, (own, percepts) in enumerate(history, 1):
            assert belief.update(Observed(own, percepts))
            wanted = enumerated(prover, role, history[:turn])
            assert belief.exact
            assert weights_of(belief) == pytest.approx(wanted)


@pytest.mark.parametrize("level", ["prover", "propnet"])
def test_a_belief_rebuilt_holds_the_same_and_goes_on_within_the_limits_of_its_machine(level: str) -> None:
    prover, machine = machine_of("blindtictactoe", "prover"), machine_of("blindtictactoe", level)
    assert isinstance(prover, ProverMachine)
    history = [Observed(*seen) for seen in played(prover, 4)[0][:4]]
    small = Belief(ProverMachine(prover.rules), 0, worlds=3)
    for seen in history[:3]:
        small.update(seen)
    rebuilt = small.rebuilt(machine)
    assert weights_of(rebuilt) == pytest.approx(weights_of(small)) and len(rebuilt) <= 3
    assert rebuilt.goes_on(small) and rebuilt.exact == small.exact
    assert all(state.machine is machine for state in rebuilt.states())
    before = list(small.history)
    assert rebuilt.update(history[3])
    assert len(rebuilt) > 3 and small.history == before


@pytest.mark.slow
@pytest.mark.parametrize("level", ["prover", "propnet"])
@pytest.mark.parametrize("name", ["blindtictactoe", "battleships", "kriegtictactoe"])
def test_particles_are_possible_states_and_hold_on_where_few_fit(name: str, level: str) -> None:
    """However few worlds may be held: each of them explains all that was seen, and there always is one."""
    prover = machine_of(name, "prover")
    assert isinstance(prover, ProverMachine)
    for seed in range(1 if level == "prover" else 6):
        history = played(prover, seed)[0]
        belief = Belief(machine_of(name, level), 0, worlds=60, effort=2_000, seed=seed)
        for own, percepts in history:
            assert belief.update(Observed(own, percepts))
            assert 0 < len(belief) <= 60
            assert belief.weights.sum() == pytest.approx(1)
        exact = Belief(machine_of(name, "propnet"), 0, worlds=10**6, effort=10**7)
        for own, percepts in history:
            exact.update(Observed(own, percepts))
        assert set(weights_of(belief)) <= set(weights_of(exact)) or not exact.exact


def test_own_move_may_be_unknown() -> None:
    prover = machine_of("montyhall", "prover")
    belief = Belief(prover, 0)
    noop = Term("noop")
    belief.update(Observed(noop, frozenset()))
    belief.update(Observed(None, frozenset()))
    assert len(belief) == 9  # three doors with the car, three that may have been chosen


def test_percepts_that_fit_nothing_are_passed_over() -> None:
    for level in ("prover", "propnet"):
        machine = machine_of("montyhall", level)
        belief = Belief(machine, 0)
        belief.update(Observed(Term("noop"), frozenset()))
        assert not belief.update(Observed(Term("choose", Term("1")), frozenset([Term("thunder")])))
        assert len(belief) == 3 and not belief.exact
        assert not belief.update(Observed(Term("fly"), frozenset()))
        assert belief.legal_moves()


def test_a_belief_is_rebuilt_from_its_history_on_another_machine() -> None:
    prover = machine_of("leduc", "prover")
    assert isinstance(prover, ProverMachine)
    history = played(prover, 11)[1]
    belief = Belief(prover, 1)
    for own, percepts in history:
        belief.update(Observed(own, percepts))
    assert weights_of(belief.on(machine_of("leduc", "propnet"))) == pytest.approx(weights_of(belief))


# --- The compiled filter of beliefs
NOOP = Term("noop")


def coins(count: int, turns: int, *, parity: bool = False) -> PropnetMachine:
    """So many coins are tossed, one in each turn, that ``p`` does not see, and nothing happens then. With
    ``parity`` it sees whether a toss shows the same side as the one before."""
    lines = ["(role p)", "(role random)", "(legal p noop)", "(init (step 0))", "(goal p 50)"]
    lines += [f"(succ {i} {i + 1})" for i in range(turns)]
    lines += [f"(coin {i})" for i in range(count)]
    lines += [
        "(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))",
        "(<= (legal random (toss ?s)) (true (step ?n)) (coin ?n) (side ?s))",
        "(<= (legal random noop) (true (step ?n)) (not (coin ?n)))",
        "(side heads)",
        "(side tails)",
        "(<= (next (shows ?n ?s)) (true (step ?n)) (does random (toss ?s)))",
        "(<= (next (shows ?n ?s)) (true (shows ?n ?s)))",
        f"(<= terminal (true (step {turns})))",
        "(<= (sees p again) (true (step ?m)) (succ ?n ?m) (true (shows ?n ?s)) (does random (toss ?s)))"
        if parity
        else "(<= (sees p never) (does random never))",
    ]
    rules = parse_rules("\n".join(lines))
    return network(rules)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(game=st.integers(0, 2**32), seed=st.integers(0, 2**32))
def test_beliefs_in_random_games_are_what_enumeration_finds(game: int, seed: int) -> None:
    rules = parse_rules(random_hidden_game(game))
    prover, lanes = ProverMachine(rules), network(rules)
    history = played(prover, seed)[0]
    beliefs = [Belief(prover, 0), Belief(lanes, 0)]
    for turn, (own, percepts) in enumerate(history, 1):
        wanted = enumerated(prover, 0, history[:turn])
        for belief in beliefs:
            assert belief.update(Observed(own, percepts))
            assert belief.exact
            assert weights_of(belief) == pytest.approx(wanted)


def test_a_belief_is_exact_through_many_rows_of_the_table() -> None:
    """All of 2**16 states, alike; and of those that fit the sides seen alone."""
    belief = Belief(coins(16, 20), 0)
    for turn in range(1, 18):
        belief.update(Observed(NOOP, frozenset()))
        assert belief.exact and len(belief) == 2 ** min(16, turn)
    assert np.allclose(belief.weights, 2.0**-16)
    seeing = Belief(coins(16, 20, parity=True), 0)
    again = frozenset([Term("again")])
    for turn in range(1, 18):
        assert seeing.update(Observed(NOOP, again if turn % 3 == 0 else frozenset()))
        assert seeing.exact and len(seeing) == 2


def test_beyond_the_most_worlds_they_are_particles_of_the_same_likelihood() -> None:
    """Coins that are drawn are as often heads as tails, within five standard deviations."""
    belief = Belief(coins(30, 40), 0, worlds=4_000, effort=6_000)
    for _ in range(30):
        belief.update(Observed(NOOP, frozenset()))
    assert not belief.exact and 2_000 < len(belief) <= 4_000
    for coin in range(30):
        heads = Term("shows", Term(str(coin)), Term("heads"))
        place = belief.machine.proposition_id(heads)
        bits = belief.worlds[:, place // 64] >> np.uint64(place % 64) & np.uint64(1)
        assert abs((belief.weights * bits).sum() - 0.5) < 5 * 0.5 / 2_000**0.5


def test_growing_ends_at_the_deadline() -> None:
    machine = coins(40, 60)
    belief = Belief(machine, 0)
    for _ in range(18):
        belief.update(Observed(NOOP, frozenset()))
    assert belief.exact
    belief.update(Observed(NOOP, frozenset()), time.monotonic())
    assert not belief.exact
    assert 0 < len(belief) <= 2**15
    began = time.process_time()
    for _ in range(20):
        belief.update(Observed(NOOP, frozenset()), time.monotonic())
    assert len(belief) > 500
    assert time.process_time() - began < 2


def test_memory_does_not_grow_over_two_hundred_turns() -> None:
    """Of beliefs whose worlds are as many as they may be, with a new state in each turn."""
    machine = coins(200, 210, parity=True)
    rng = random.Random(1)
    belief = Belief(machine, 0, worlds=3_000, effort=5_000)
    blind = Belief(coins(200, 210), 0, worlds=3_000, effort=5_000)
    again = frozenset([Term("again")])
    tracemalloc.start()
    sizes = []
    for _ in range(200):
        belief.update(Observed(NOOP, rng.choice([again, frozenset()])))
        blind.update(Observed(NOOP, frozenset()))
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert len(blind) > 1_500
    assert sizes[-1] < 1.1 * sizes[40] + 50_000


@given(weights=st.lists(st.floats(0, 10), min_size=1, max_size=50), seed=st.integers(0, 2**32))
def test_each_is_drawn_as_often_as_its_weight_says_or_once_more_or_less(
    weights: list[float], seed: int
) -> None:
    array = np.array([*weights, 1.0])
    times = draws(array, 100, np.random.default_rng(seed))
    assert times.sum() == 100
    assert (abs(times - 100 * array / array.sum()) < 1 + 1e-6).all()
    kept, theirs = thinned(np.arange(len(array)), array, 5, np.random.default_rng(seed))
    assert len(kept) <= 5
    assert theirs.sum() == pytest.approx(array.sum())


def test_own_moves_and_percepts_that_can_never_be_leave_nothing() -> None:
    machine = coins(4, 6)
    belief = Belief(machine, 0)
    numbers = np.random.default_rng(1)
    for seen in (Observed(Term("fly"), frozenset()), Observed(NOOP, frozenset([Term("thunder")]))):
        found = belief.world_machine.follow(belief.worlds, belief.weights, seen, Limits(9, 9), numbers)
        assert len(found.worlds) == len(found.weights) == 0
