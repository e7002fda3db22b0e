"""What searches of a match call proven, of a state and of its moves, against what the role can force.

The tree, proof search beside it and puzzle solvers all have a say. States come one after another, as in a
match, so that what is kept from turn to turn is checked too.
"""

from __future__ import annotations

import random
import time

from bench.truth.field import Case, Field
from bench.truth.games import Graph, graph_of, random_game
from bench.truth.puzzles import drawn, random_puzzle, truth_of
from gdl.machine import State
from gdl.terms import sort_key
from players.kaskade.make_machine import make_machine
from players.uct.search import Search
from players.uct.tuning import Tuning
from propnet.capabilities import lane_machine
from propnet.machine import PropnetMachine

MEMORY = 1 << 24
SECONDS = 0.3
"""Wall time for each turn."""
TURNS = 4


def _examine(rng: random.Random, case: Case) -> None:
    alone = rng.random() < 0.3
    rules = drawn(rng, lambda: random_puzzle(rng) if alone else random_game(rng))
    case.text = str(rules)
    machine = lane_machine(make_machine(rules, "propnet"))
    assert isinstance(machine, PropnetMachine)
    tuning = Tuning(memory=MEMORY, proof_memory=MEMORY, prove=rng.random() < 0.7, trim=rng.random() < 0.7)
    role = 0 if alone else rng.randrange(2)
    search = Search(role, rng.randrange(100), tuning)
    try:
        if alone:
            best = truth_of(rules).best
        else:
            graph = graph_of(rules)
    except OverflowError:
        return
    search.set_machine(machine)
    state = machine.initial_state()
    for turn in range(TURNS):
        moves = [machine.legal_moves(state, one) for one in range(len(machine.roles))]
        if machine.is_terminal(state) or not all(moves):
            return
        search.set_root(state)
        end = time.monotonic() + SECONDS
        while search.step(end):
            pass
        if not alone:
            _check_turn(case, machine, graph, search, state)
        elif not turn and (value := search.statistics().value) >= 0:
            case.equal("best of a puzzle", value, best)
        state = machine.next_state(state, [rng.choice(those) for those in moves])


def _check_turn(case: Case, machine: PropnetMachine, graph: Graph, search: Search, state: State) -> None:
    """The value of the state, and of each move where the role alone has a choice."""
    role, found = search.role, search.statistics()
    levels = [(value, graph.forced(role, value)) for value in sorted(_values(graph, role), reverse=True)]

    def forced(one: State) -> int:
        return next((value for value, states in levels if one in states), 0)

    if found.value >= 0:
        case.equal("value of a state", found.value, forced(state))
    counts = found.counts
    own, other = machine.legal_moves(state, role), machine.legal_moves(state, 1 - role)
    if counts[1 - role] > 1:
        return
    own = sorted(own, key=lambda move: sort_key(machine.move(role, move)))
    for move, proven in zip(own, found.proven[found.of_role(role)].tolist(), strict=True):
        if proven >= 0:
            joint = [other[0], other[0]]
            joint[role] = move
            case.equal("value of a move", proven, forced(machine.next_state(state, joint)))


def _values(graph: Graph, role: int) -> set[int]:
    return {goals[role] for goals in graph.goals.values()} - {0}


FIELD = Field("matches", _examine)
