"""Who acts in a state: roles that only wait are left out, so that one role after the other acts where they
do.

Random play tells the *waiting moves*: what a role is forced to do while another one has a choice. In a state
those roles act that have a choice; where none has, those whose only move is no waiting move. A move that
nobody chooses is made for its role.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gdl.machine import State
from propnet.environments.vector_match import VectorMatch
from propnet.machine import PropnetMachine

_MATCHES, _STEPS = 512, 64
_FORCED_STEPS = 10_000


class TurnTaking:
    """Turns of one game.

    Attributes:
        waiting: per role, the ids of moves that it was seen to be forced to make while another had a choice.
        several: whether two roles were seen to have a choice in one state.
    """

    def __init__(self, machine: PropnetMachine) -> None:
        self.machine = machine
        self.waiting: list[set[int]] = [set() for _ in machine.roles]
        self.several = False
        if len(machine.roles) == 1:
            return
        matches = VectorMatch(machine, _MATCHES, memory_limit=1 << 34)
        matches.reset(seed=1)
        bounds = list(pairwise(machine.role_moves.tolist()))
        seen = [np.zeros(high - low, np.bool_) for low, high in bounds]
        actions = matches.random_actions()
        for _ in range(_STEPS):
            if (actions[~matches.done] < 0).any():
                break  # the initial state leaves a role without a move
            counts = np.stack([matches.legal(role).sum(axis=1) for role in range(len(seen))], axis=1)
            choosing = (counts > 1) & ~matches.done[:, None]
            self.several = self.several or bool((choosing.sum(axis=1) > 1).any())
            busy = choosing.any(axis=1)
            for role, moves in enumerate(seen):
                waits = busy & ~choosing[:, role] & (actions[:, role] >= 0)
                moves[actions[waits, role]] = True
            matches.step(actions)
            matches.random_actions(actions)
        self.waiting = [set(np.flatnonzero(moves).tolist()) for moves in seen]

    def options(self, state: State) -> list[list[int]]:
        """The legal moves of each role."""
        return [self.machine.legal_moves(state, role) for role in range(len(self.machine.roles))]

    def acting(self, options: list[list[int]]) -> list[int]:
        """The roles that act, in role order; none where all only wait, or where one has no legal move."""
        if len(options) == 1:
            return [0] if options[0] else []
        if not all(options):
            return []
        choosing = [role for role, moves in enumerate(options) if len(moves) > 1]
        return choosing or [r for r, moves in enumerate(options) if moves[0] not in self.waiting[r]]

    def settle(
        self, state: State, most: int = _FORCED_STEPS
    ) -> tuple[State, list[list[int]], list[int], int]:
        """The first state, from this one on, in which somebody acts or the match cannot go on: the state, its
        legal moves, who acts there, and how many steps nobody had to choose. At most ``most`` such steps are
        made; nobody acts then."""
        steps = 0
        while True:
            options = self.options(state)
            acting = [] if state.terminal else self.acting(options)
            if acting or state.terminal or not all(options) or steps >= most:
                return state, options, acting, steps
            state = self.machine.next_state(state, [moves[0] for moves in options])
            steps += 1
