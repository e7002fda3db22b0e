"""Games by others, or written from the words alone, that go on beside ours."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Final

from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term

Turn = dict[tuple[str, ...], Hashable]
"""The ways to play a turn: our moves in their order, as GDL -> the oracle's name of it."""


class Oracle(ABC):
    """One match by an oracle. A turn may be several of our moves of the same role.

    Attributes:
        roles: ours, in the order in which they begin.
        relations: those whose facts are compared; none if moves, ends and goals have to do.
    """

    roles: tuple[str, ...]
    relations: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._made: tuple[str, ...] = ()

    @abstractmethod
    def turn(self) -> str:
        """The role to move."""

    @abstractmethod
    def turns(self) -> Turn:
        """All ways to play this turn; empty once the match is over."""

    @abstractmethod
    def go(self, turn: Hashable) -> None:
        """Play a turn."""

    @abstractmethod
    def facts(self) -> set[str]:
        """The facts of :attr:`relations`, as GDL. They are asked for between turns."""

    @abstractmethod
    def goals(self) -> dict[str, int] | None:
        """The goals once the match is over; None before."""

    @property
    def silent(self) -> bool:
        """Whether the oracle ends this match by a rule that ours does not have."""
        return False

    @property
    def between(self) -> bool:
        """Whether a turn is complete."""
        return not self._made

    def moves(self) -> set[str]:
        """The legal moves of the role to move."""
        done = len(self._made)
        return {turn[done] for turn in self.turns() if turn[:done] == self._made and len(turn) > done}

    def play(self, move: str) -> None:
        """Make a move."""
        self._made = (*self._made, move)
        if (turn := self.turns().get(self._made)) is not None:
            self._made = ()
            self.go(turn)


def number_of(role: str, oracle: Oracle) -> int:
    """A role's place in the order of play."""
    return oracle.roles.index(role)


def difference(
    machine: Machine, start: Callable[[], Oracle], positions: int, seed: int, keen: float = 0.0
) -> tuple[str, int]:
    """Play at random until so many positions are compared.

    Args:
        keen: how often a move is made that leaves the fewest facts (one that takes, where there is one), or
            the fewest moves to the others. Random matches of some games end by their step limit only.

    Returns:
        The first difference, with the moves that lead there, and the positions compared. The difference is
        empty if there is none.
    """
    rng, done = random.Random(seed), 0
    while done < positions:
        state, oracle, line = machine.initial_state(), start(), list[str]()
        while not oracle.silent:
            done += 1
            told = f"after {' '.join(line)}"
            goals = oracle.goals()
            if state.terminal != (goals is not None):
                return f"terminal: {state.terminal}, not {not state.terminal} ({goals}) {told}", done
            if oracle.between:
                facts = {str(p) for p in state.propositions if p.name in oracle.relations}
                if facts != (theirs := oracle.facts()):
                    return f"facts: {sorted(facts - theirs)}, not {sorted(theirs - facts)} {told}", done
            if goals is not None:
                if goals != state.goals:
                    return f"goals: {state.goals}, not {goals} {told}", done
                break
            mover = oracle.turn()
            legal = set(state.legal[mover])
            if legal != (other := oracle.moves()):
                return f"{mover}: {sorted(legal - other)}, not {sorted(other - legal)} {told}", done
            for role, moves in state.legal.items():
                if role != mover and len(moves) > 1:
                    return f"{role} may move {told}", done
            move = rng.choice(sorted(legal))
            if keen and rng.random() < keen:
                measure = rng.choice([_facts, _freedom])
                left = {one: measure(_after(machine, state, mover, one)) for one in sorted(legal)}
                move = rng.choice([one for one in left if left[one] == min(left.values())])
            state = _after(machine, state, mover, move)
            oracle.play(move)
            line.append(move)
    return "", done


def _facts(state: State) -> int:
    """How many facts are true."""
    return len(state.propositions)


def _freedom(state: State) -> int:
    """How many moves there are."""
    return 0 if state.terminal else sum(map(len, state.legal.values()))


def _after(machine: Machine, state: State, mover: str, move: str) -> State:
    """The state after a move of one role, in which the others have no choice."""
    moves = ((role, move if role == mover else state.legal[role][0]) for role in state.legal)
    joint = [machine.move_id(number, parse_term(made)) for number, (_, made) in enumerate(moves)]
    return machine.next_state(state, joint)


LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def cell(x: int, y: int, thing: str) -> str:
    """What stands on the square of column ``x`` and row ``y``, both from 1."""
    return f"(cell {LETTERS[x - 1]} {y} {thing})"
