"""What searches of a match call proven, of a state and of its moves, against what the role can force.

The tree and puzzle solvers have a say. States come one after another, as in a
match, so that what is kept from turn to turn is checked too.
"""

from __future__ import annotations

import random
import time

from bench.truth.field import Case, Field, network_machine
from bench.truth.games import graph_of, random_game
from bench.truth.puzzles import drawn, random_puzzle, truth_of
from gdl.machine import State
from gdl.terms import sort_key
from players.uct.search import Search
from players.uct.tuning import Tuning
from propnet.machine import PropnetMachine

MEMORY = 1 << 24
SECONDS = 0.3
"""Wall time for each turn."""
TURNS = 4


def _examine(rng: random.Random, case: Case) -> None:
    alone = rng.random() < 0.3
    rules = drawn(rng, lambda: random_puzzle(rng) if alone else random_game(rng))
    case.text = str(rules)
    machine = network_machine(rules)
    tuning = Tuning(memory=MEMORY, trim=rng.random() < 0.7)
    role = 0 if alone else rng.randrange(2)
    search = Search(role, rng.randrange(100), tuning)
    try:
        if alone:
            best = truth_of(rules).best
        else:
            worths = graph_of(rules).worths(role)
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
        while not search.step(end):
            pass
        if not alone:
            _check_turn(case, machine, worths, search, state)
        elif not turn and (value := search.statistics().value) >= 0:
            case.equal("best of a puzzle", value, best)
        state = machine.next_state(state, [rng.choice(those) for those in moves])


def _check_turn(
    case: Case, machine: PropnetMachine, worths: dict[State, int], search: Search, state: State
) -> None:
    """The value of the state, and of each move where the role alone has a choice."""
    role, found = search.role, search.statistics()
    if found.value >= 0:
        case.equal("value of a state", found.value, worths.get(state, 0))
    counts = found.counts
    own, other = machine.legal_moves(state, role), machine.legal_moves(state, 1 - role)
    if counts[1 - role] > 1:
        return
    own = sorted(own, key=lambda move: sort_key(machine.move(role, move)))
    for move, proven in zip(own, found.proven[found.of_role(role)].tolist(), strict=True):
        if proven >= 0:
            joint = [other[0], other[0]]
            joint[role] = move
            case.equal("value of a move", proven, worths.get(machine.next_state(state, joint), 0))


FIELD = Field("matches", _examine)
