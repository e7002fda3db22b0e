"""Random games, and in words where matches do not end as they should (a role without a legal move, an end
without a goal) and where two machines disagree.
"""

from __future__ import annotations

import random
import time

from gdl.machine import JointMove, Machine, State
from gdl.prover.machine import ProverMachine

LONGEST = 300
"""Characters of a state in a message."""
_WALKS = 64
_STEPS = 200
_SECONDS = 0.5


def in_state(state: State) -> str:
    """The propositions of a state on one line; only the first ones if there are many.

    An empty state gives "nothing".
    """
    texts = [state.machine.rules.spell(p) for p in sorted(state.propositions)]
    shown: list[str] = []
    for text in texts:
        if shown and sum(map(len, shown)) + len(shown) + len(text) > LONGEST:
            break
        shown.append(text)
    more = f" and {len(texts) - len(shown)} more" if len(shown) < len(texts) else ""
    return (" ".join(shown) or "nothing") + more


def stuck_roles(state: State) -> list[int]:
    """The roles that have no legal move although the match is not over."""
    machine = state.machine
    if machine.is_terminal(state):
        return []
    return [role for role in range(len(machine.roles)) if not machine.legal_moves(state, role)]


def no_move(state: State, roles: list[int]) -> str:
    """That these roles have no legal move in a state that is not terminal."""
    machine = state.machine
    names = " and ".join(machine.rules.spell(machine.roles[role]) for role in roles)
    verb = "has" if len(roles) == 1 else "have"
    return f"{names} {verb} no legal move in the state {in_state(state)}, which is not terminal"


def no_goal(state: State, role: int) -> str:
    """Why the rules give a role no goal value in a state, or not only one."""
    machine = state.machine
    prover = machine if isinstance(machine, ProverMachine) else ProverMachine(machine.rules)
    values = sorted(prover.goal_values(prover.state_of(state.propositions), role))
    name = machine.rules.spell(machine.roles[role])
    if not values:
        return f"no goal rule of {name} holds in the state {in_state(state)}"
    several = f"{', '.join(map(str, values[:-1]))} and {values[-1]}"
    return f"the goal values {several} hold for {name} at once in the state {in_state(state)}"


def stuck_in_play(machine: Machine) -> str:
    """That a role has no legal move, where random matches of half a second come to such a state; else
    empty."""
    rng, end = random.Random(0), time.monotonic() + _SECONDS
    for _ in range(_WALKS):
        state = machine.initial_state()
        for _ in range(_STEPS):
            if roles := stuck_roles(state):
                return no_move(state, roles)
            if machine.is_terminal(state) or time.monotonic() > end:
                break
            options = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
            state = machine.next_state(state, [rng.choice(moves) for moves in options])
        if time.monotonic() > end:
            break
    return ""


def difference(machine: Machine, state: State) -> str:
    """The first difference between a machine and the state's own machine about a state; empty if they agree.
    Raises GdlError as the machines' questions do."""
    own = state.machine
    copy = machine.state_of(state.propositions)
    if machine.is_terminal(copy) != own.is_terminal(state):
        return "it does not agree whether the match is over"
    for role in range(len(own.roles)):
        ours = {own.move(role, move) for move in own.legal_moves(state, role)}
        if {machine.move(role, move) for move in machine.legal_moves(copy, role)} != ours:
            return f"it does not agree on the legal moves of {own.rules.spell(own.roles[role])}"
    return ""


class RandomGames:
    """One random game after another."""

    def __init__(self, machine: Machine, seed: int = 0) -> None:
        self._machine = machine
        self._draw = random.Random(seed)
        self._begin()

    def step(self) -> bool:
        """Ask everything that a match asks of one state, and make a random joint move. Returns whether the
        game starts again, because it has ended or a role is stuck. Raises TooLargeError."""
        machine, state = self._machine, self._state
        roles = range(len(machine.roles))
        options = [machine.legal_moves(state, role) for role in roles]
        if machine.is_terminal(state) or not all(options):
            for role in roles:
                machine.goal(state, role)
            self._begin()
            return True
        self._go(tuple([self._draw.choice(moves) for moves in options]))
        return False

    def _begin(self) -> None:
        self._state = self._machine.initial_state()

    def _go(self, joint: JointMove) -> None:
        self._state = self._machine.next_state(self._state, joint)
