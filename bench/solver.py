"""Proves what positions of small games are worth: AND/OR search by iterative deepening, with a table.

For games of two roles that move in turn and get 100, 50 or 0 points. A claim "the role gets at least t" is
proven, refuted, or open within a number of joint moves; a claim that is proven or refuted holds for any
number of further moves, so nothing here is an estimate.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum

from gdl.machine import Machine, State


class OutOfNodesError(Exception):
    """More positions would have to be looked at than was allowed."""


class Claim(Enum):
    """What is known of a claim."""

    OPEN = 0
    PROVEN = 1
    REFUTED = 2


@dataclass(frozen=True, slots=True)
class Solution:
    """What is known of a position for the role that moves.

    Attributes:
        value: what it can force: 100, 50 or 0.
        best: the moves, as GDL text, that force it; all others are proven to be worse. None at 0.
        plies: in how many joint moves it is forced, the first included; 0 where that was not counted.
        nodes: positions looked at to prove it.
    """

    value: int
    best: tuple[str, ...]
    plies: int
    nodes: int


@dataclass(slots=True)
class _Known:
    """A claim in the table: decided within so many joint moves (the fewest seen), open within so many
    (the most seen)."""

    claim: Claim = Claim.OPEN
    decided: int = sys.maxsize
    open: int = -1


class Solver:
    """Searches one game.

    Args:
        machine: the game.
        nodes: how many positions may be looked at for one call of :meth:`solve`.
    """

    def __init__(self, machine: Machine, nodes: int = 200_000) -> None:
        self._machine = machine
        self._allowed = nodes
        self.nodes = 0
        self._known: dict[tuple[Hashable, int, int], _Known] = {}

    def solve(self, state: State, role: int, deepest: int = 60, count: bool = True) -> Solution:
        """All that is to be known of a position in which ``role`` has a choice.

        Args:
            state: the position.
            role: who moves.
            deepest: joint moves to look ahead, at most.
            count: find out in how many joint moves the value is forced; without it the search goes
                straight to the end, which is much faster where that is far.

        Raises:
            OutOfNodesError: it takes more positions than allowed, or more than ``deepest`` joint moves.
        """
        machine = self._machine
        self.forget()
        for target in (100, 50):
            best: list[str] = []
            soonest = deepest
            for move in machine.legal_moves(state, role):
                after = self._after(state, role, move)
                claim, plies = self.decide(after, role, target, deepest - 1, count)
                if claim is Claim.OPEN:
                    raise OutOfNodesError
                if claim is Claim.PROVEN:
                    best.append(machine.rules.spell(machine.move(role, move)))
                    soonest = min(soonest, plies + 1)
            if best:
                return Solution(target, tuple(sorted(best)), soonest if count else 0, self.nodes)
        return Solution(0, (), 0, self.nodes)

    def forget(self) -> None:
        """Begin with an empty table and no nodes counted."""
        self.nodes = 0
        self._known.clear()

    def decide(
        self, state: State, role: int, target: int, deepest: int, count: bool = True
    ) -> tuple[Claim, int]:
        """Whether ``role`` can force at least ``target`` points, and within how many joint moves that
        is proven; open after ``deepest`` of them."""
        for plies in range(0 if count else deepest, deepest + 1):
            claim = self._search(state, role, target, plies)
            if claim is not Claim.OPEN:
                return claim, plies
        return Claim.OPEN, deepest

    def _search(self, state: State, role: int, target: int, plies: int) -> Claim:
        machine = self._machine
        key = (state.key, role, target)
        known = self._known.get(key)
        if known is not None:
            # Within fewer joint moves than it was decided by, a claim may be open still.
            if plies >= known.decided:
                return known.claim
            if plies <= known.open:
                return Claim.OPEN
        self.nodes += 1
        if self.nodes > self._allowed:
            raise OutOfNodesError
        claim = Claim.OPEN
        if machine.is_terminal(state):
            claim = Claim.PROVEN if (machine.goal(state, role) or 0) >= target else Claim.REFUTED
        elif plies:
            claim = self._combined(state, role, target, plies)
        if known is None:
            known = self._known[key] = _Known()
        if claim is Claim.OPEN:
            known.open = plies
        else:
            known.claim, known.decided = claim, plies
        return claim

    def _combined(self, state: State, role: int, target: int, plies: int) -> Claim:
        """The claim from those of the successors: one proof is enough where the role moves, one
        refutation where the other one does."""
        to_move = mover_of(self._machine, state)
        enough, other = (Claim.PROVEN, Claim.REFUTED) if to_move == role else (Claim.REFUTED, Claim.PROVEN)
        combined = other
        for move in self._machine.legal_moves(state, to_move):
            claim = self._search(self._after(state, to_move, move), role, target, plies - 1)
            if claim is enough:
                return enough
            if claim is Claim.OPEN:
                combined = Claim.OPEN
        return combined

    def _after(self, state: State, to_move: int, move: int) -> State:
        joint = [move if r == to_move else self._machine.legal_moves(state, r)[0] for r in (0, 1)]
        return self._machine.next_state(state, joint)


def mover_of(machine: Machine, state: State) -> int:
    """The role that has a choice; role 0 where none has.

    Raises:
        ValueError: both have one: such positions are none for this solver.
    """
    choices = [role for role in (0, 1) if len(machine.legal_moves(state, role)) > 1]
    if len(choices) > 1:
        raise ValueError("both roles have a choice")
    return choices[0] if choices else 0
