"""What is proven of a network holds: simulation, latches, clocks, cofactors, cones, the longest match."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray

from gdl.machine import Machine, State
from gdl.rules import Rules
from ggp.game import Game
from propnet.analysis.cones import clocks, observed, step_clocks, without_dead_gates
from propnet.analysis.longest import first_change, longest_match
from propnet.analysis.ternary import Ternary, latches, phases, unpack_cases
from propnet.capabilities import lane_machine
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.passes.circuit import TRUE
from propnet.recoding.samples import clock_states
from propnet.substitute import cofactors
from tests.examples import examples
from tests.machines import network as machine_of
from tests.places import GAME_FILES
from tests.propnet.circuits import naive, random_network, tic_tac_toe

seeds = st.integers(0, 2**32 - 1)


def some_network(rng: Generator, loops: int = 0) -> Network:
    return random_network(rng, int(rng.integers(1, 9)), [3, 2], int(rng.integers(2, 30)), loops=loops)


def legal_moves(network: Network, values: list[bool]) -> list[list[int]]:
    legal, first = [], 0
    for moves in network.moves:
        mine = network.legal_literals[first : first + len(moves)]
        legal.append([i for i, x in enumerate(mine) if values[x]])
        first += len(moves)
    return legal


def successor(network: Network, state: NDArray[np.bool_], rng: Generator) -> NDArray[np.bool_] | None:
    """A state after random legal moves; None where a role has none, or the match is over."""
    values = naive(network, state)
    options = legal_moves(network, values)
    if values[network.terminal_literal] or not all(options):
        return None
    after = naive(network, state, [int(rng.choice(moves)) for moves in options])
    return np.array([after[x] for x in network.next_literals])


@examples(30)
@given(seeds, st.integers(0, 1))
def test_ternary_simulation_allows_for_every_state_that_is_allowed_for(seed: int, loops: int) -> None:
    rng = np.random.default_rng(seed)
    network = some_network(rng, loops)
    ternary = Ternary(network)
    bases = len(network.bases)
    states = rng.integers(0, 2, (6, bases)).astype(np.bool_)
    rows = ternary.known(states)
    open_ = rng.integers(0, 2, bases).astype(np.bool_)
    rows[np.repeat(open_, 2)] = ~np.uint64(0)
    step = ternary.step(rows)
    may, following = unpack_cases(step.may, 6), unpack_cases(step.following, 6)
    for case in range(6):
        inside = states[case] ^ (open_ & rng.integers(0, 2, bases).astype(np.bool_))
        values = naive(network, inside)
        reads = network.first_gate + network.base_gates
        sure = [x for x in range(2 * reads) if x >> 1 <= bases or x >> 1 >= network.first_gate]
        assert all(may[case, x] for x in sure if values[x])
        options = legal_moves(network, values)
        if all(options):
            joint = [int(rng.choice(moves)) for moves in options]
            after = naive(network, inside, joint)
            assert all(following[case, 2 * b + (not after[x])] for b, x in enumerate(network.next_literals))


@examples(40)
@given(seeds)
def test_what_is_latched_never_changes_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = some_network(rng)
    latched = latches(Ternary(network))
    for _ in range(3):
        state = np.asarray(network.initial, np.bool_)
        for _ in range(8):
            after = successor(network, state, rng)
            if after is None:
                break
            assert not (latched.true & state & ~after).any()
            assert not (latched.false & ~state & after).any()
            assert not (latched.constant & (state != after)).any()
            state = after


def test_marks_are_latches() -> None:
    latched = latches(Ternary(tic_tac_toe()))
    assert latched.true.tolist() == [True] * 18 + [False]
    assert not latched.false.any()


def test_the_turns_of_tic_tac_toe_come_again() -> None:
    network = tic_tac_toe()
    ternary = Ternary(network)
    clock = clocks(network)
    assert np.flatnonzero(clock).tolist() == [18]
    order = phases(ternary, clock)
    assert order is not None
    assert (len(order.states), order.again, order.end) == (2, 0, None)
    assert phases(ternary, clock, effort=0) is None


@examples(30)
@given(seeds)
def test_cofactors_are_the_next_functions_with_the_move_put_in(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = some_network(rng)
    for role, moves in enumerate(network.moves):
        effects, _ = cofactors(network, role, 10_000)
        state = rng.integers(0, 2, len(network.bases)).astype(np.bool_)
        reply = int(rng.integers(0, len(network.moves[1 - role])))
        nexts = []
        for move in range(len(moves)):
            joint = [move, reply] if role == 0 else [reply, move]
            after = naive(network, state, joint)
            nexts.append([after[x] for x in network.next_literals])
        # Moves with the same cofactor do the same.
        for base, usual in enumerate(effects.usual):
            kinds: dict[int, set[bool]] = {}
            for move, changed in enumerate(effects.changed):
                kinds.setdefault(changed.get(base, usual), set()).add(nexts[move][base])
            assert all(len(values) == 1 for values in kinds.values())
            assert kinds.get(TRUE, {True}) == {True}


# --- What depends on what
def test_what_is_not_observed_and_dead_gates_can_go() -> None:
    """Without both, a network shows the same ends, goals and moves along any line."""
    rng = np.random.default_rng(7)
    unseen = dead = 0
    for _ in range(12):
        network = random_network(rng, 30, [3, 2], 40, loops=2)
        seen = observed(network)
        constants = np.where(network.initial, 0, 1)
        smaller = without_dead_gates(
            replace(network, next_literals=np.where(seen, network.next_literals, constants).astype(np.int32))
        )
        unseen, dead = unseen + int((~seen).sum()), dead + network.gates - smaller.gates
        machines = [PropnetMachine(Rules(()), each) for each in (network, smaller)]
        records = [pack(np.repeat(network.initial[None, :], 20, axis=0)) for _ in machines]
        for _ in range(6):
            moves = np.stack([rng.integers(0, 3, 20), rng.integers(0, 2, 20)], axis=1).astype(np.int32)
            pairs = zip(machines, records, strict=True)
            records = [machine.successors(record, moves) for machine, record in pairs]
            answers = [machine.evaluate(record) for machine, record in zip(machines, records, strict=True)]
            for name in ("terminal", "goals", "legal"):
                assert np.array_equal(getattr(answers[0], name), getattr(answers[1], name))
            first, second = (unpack(record, 30)[:, seen] for record in records)
            assert np.array_equal(first, second)
    assert unseen > 0
    assert dead > 0


# --- A clock begins to matter where the end or a goal is another function of the rest than at step 0
COUNTER = (
    " ".join(f"(succ {n} {n + 1})" for n in range(9))
    + """
    (role r) (init (step 0)) (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
    (legal r flip) (legal r wait)
    (<= (next lit) (does r flip) (not (true lit))) (<= (next lit) (does r wait) (true lit)) """
)


def change(rules: str) -> int | None:
    machine = machine_of(COUNTER + rules)
    network = machine.network
    clocks = step_clocks(network)
    assert clocks.any()
    return first_change(network, clocks, unpack(clock_states(machine), len(network.bases)).astype(np.bool_))


@pytest.mark.parametrize(
    ("rules", "step"),
    [
        ("(<= terminal (true (step 9))) (<= (goal r 100) (true lit))", 9),
        ("(<= terminal (true lit)) (<= terminal (true (step 4))) (<= (goal r 100) (true lit))", 4),
        ("(<= terminal (true lit)) (<= (goal r 100) (true lit)) (<= (goal r 50) (true (step 3)))", 3),
        ("(<= late (true (step 7))) (<= late (true (step 8))) (<= terminal (true lit) late) (goal r 100)", 7),
        # A goal that needs the clock and its absence is none.
        ("(<= terminal (true lit)) (<= (goal r 100) (true lit)) (<= (goal r 0) (true (step 2)) "
         "(not (true (step 2))))", None),
    ],
)  # fmt: skip
def test_the_first_step_that_changes_an_end_or_a_goal(rules: str, step: int | None) -> None:
    assert change(rules) == step


def test_what_a_move_depends_on_is_not_a_clock() -> None:
    machine = machine_of(
        """(role r) (init (step 0)) (succ 0 1) (succ 1 2)
        (<= (legal r go) (true (step 0))) (<= (legal r stay) (true (step 1)))
        (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
        (<= terminal (true (step 2))) (goal r 100)"""
    )
    clocks = np.flatnonzero(step_clocks(machine.network)).tolist()
    assert [str(machine.proposition(base)) for base in clocks] in ([], ["(step 2)"])


# --- No match is longer than what is proven, and what is proven is sharp where moves fill squares
ENDLESS = 1 << 30


@pytest.mark.parametrize(
    ("name", "most", "reached"),
    [
        ("tictactoe", 9, 9),
        ("connectfour", 42, 40),  # full boards are rare
        ("hex", 81, 81),
        ("chomp", 20, 10),  # one bite takes many squares
        ("queens", 8, 8),
        ("lightsout", 15, 15),
    ],
)
def test_games_in_which_moves_fill_squares_or_a_clock_runs_are_bounded(
    name: str, most: int, reached: int
) -> None:
    machine = lane_machine(Game.load(name).machine("propnet"))
    assert machine is not None
    assert longest_match(machine.network) == most
    assert reached <= machine.playouts(2_000, 1).lengths.max() <= most


PROVEN = (
    *("atarigo", "checkers", "chinesecheckers", "eightpuzzle", "hanoi", "ninemensmorris", "pentominoes"),
    *("prisonersdilemma", "rockpaperscissors", "snakes", "sokoban", "soma", "sudoku"),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROVEN)
def test_no_random_match_is_longer_than_what_is_proven(name: str) -> None:
    machine = machine_of(name)
    most = longest_match(machine.network)
    assert most is not None
    assert machine.playouts(512, 2, max_steps=most + 1).lengths.max() <= most


PASSING = (
    ("(legal ?r noop)", "(legal ?r pass) (true (control ?r)))\n(<= (legal ?r noop)"),  # a player may pass
    ("(not (filled ?x ?y))", "(column ?x) (row ?y)"),  # marks may be put on marks
)


@pytest.mark.parametrize(("rule", "other"), PASSING)
def test_nothing_is_proven_where_a_move_may_use_nothing(rule: str, other: str) -> None:
    text = (GAME_FILES["tictactoe"]).read_text()
    assert rule in text
    assert longest_match(machine_of(text.replace(rule, other)).network) is None


def test_proofs_stop_when_the_effort_is_spent() -> None:
    network = machine_of("connectfour").network
    assert longest_match(network, effort=10_000) is None


def _some_rules(rng: random.Random) -> str:
    """A small game in which most propositions, once true, stay so, and most moves make one true."""
    names = [f"p{i}" for i in range(rng.randint(2, 5))]
    text = ["(role r)"]
    two = rng.random() < 0.5
    if two:
        text.append("(role s) (init (turn r)) (<= (next (turn s)) (true (turn r)))")
        text.append("(<= (next (turn r)) (true (turn s)))")
        text += [f"(<= (legal {x} wait) (not (true (turn {x}))))" for x in "rs"]

    def literal() -> str:
        name = rng.choice(names)
        return f"(true {name})" if rng.random() < 0.5 else f"(not (true {name}))"

    for name in names:
        if rng.random() < 0.95:
            text.append(f"(<= (next {name}) (true {name}))")
        if rng.random() < 0.1:
            text.append(f"(init {name})")
        for role in "rs" if two else "r":
            turn = f"(true (turn {role}))" if two else ""
            own = f"(not (true {name}))" if rng.random() < 0.9 else literal()
            more = literal() if rng.random() < 0.3 else ""
            text.append(f"(<= (legal {role} (make {name})) {turn} {own} {more})")
            effect = rng.choice(names) if rng.random() < 0.2 else name
            unless = literal() if rng.random() < 0.1 else ""
            text.append(f"(<= (next {effect}) (does {role} (make {name})) {unless})")
    text.append(f"(<= terminal {literal()} {literal()} {literal()})")
    text += [f"(goal {role} 50)" for role in ("rs" if two else "r")]
    return "\n".join(text)


def _longest(machine: Machine) -> int:
    """The most joint moves of a match, by trying all; ENDLESS if a state comes again."""
    roles = range(len(machine.roles))
    under_way: set[object] = set()

    @cache
    def longest(key: object) -> int:
        state = State(machine, key)
        options = [machine.legal_moves(state, role) for role in roles]
        if machine.is_terminal(state) or not all(options):
            return 0
        if key in under_way:
            return ENDLESS
        under_way.add(key)
        most = max(longest(machine.next_state(state, joint).key) for joint in product(*options))
        under_way.remove(key)
        return min(ENDLESS, 1 + most)

    return longest(machine.initial_state().key)


@pytest.mark.slow
def test_what_is_proven_of_small_games_holds_for_all_their_matches() -> None:
    proven = sharp = endless = 0
    for seed in range(400):
        text = _some_rules(random.Random(seed))
        machine = machine_of(text)
        most, longest = longest_match(machine.network), _longest(machine)
        endless += longest == ENDLESS
        if most is not None:
            assert longest <= most, text
            proven += 1
            sharp += longest == most
    assert proven > 50 and sharp > 25 and endless > 50, (proven, sharp, endless)
