"""Random games before a match, so that code for relations that grow in the course of a game is made early."""

from __future__ import annotations

import random

from gdl.machine import Machine


class Rehearsal:
    """Plays random games on a machine, one step at a time."""

    def __init__(self, machine: Machine, seed: int = 0) -> None:
        self._machine = machine
        self._draw = random.Random(seed)
        self._state = machine.initial_state()

    def step(self) -> None:
        """Ask all that a match asks of one state, and go on; the game begins again where it ends or somebody
        is stuck. Raises TooLargeError as the machine's questions do."""
        machine, state = self._machine, self._state
        roles = range(len(machine.roles))
        options = [machine.legal_moves(state, role) for role in roles]
        if machine.is_terminal(state) or not all(options):
            for role in roles:
                machine.goal(state, role)
            self._state = machine.initial_state()
        else:
            self._state = machine.next_state(state, [self._draw.choice(moves) for moves in options])
