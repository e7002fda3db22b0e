"""What a role may hold for possible, by playing every match on the prover."""

from __future__ import annotations

import random
from itertools import product

from gdl.machine import State
from gdl.prover.machine import ProverMachine
from gdl.terms import Term
from players.belief.belief import Belief


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
