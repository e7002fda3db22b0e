"""Oracles: second opinions on our games, by other programs or in plain Python from the words of the rules.

An oracle is a match that goes on beside one of our rules. It has the facts of its state, the moves of each
role and the goals, in the words of our rules, but finds them in its own way.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import ClassVar, Final

from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term

Turn = dict[tuple[str, ...], Hashable]
"""The ways to play a turn: our moves in their order, as GDL -> the oracle's name of it."""


class Match(ABC):
    """A match in its first state; :meth:`play` goes on to the next one.

    Attributes:
        source: the program whose rules these are.
        roles: ours, in their order.
        relations: those whose facts are compared; None for all.
    """

    source: ClassVar[str] = "plain Python"
    roles: tuple[str, ...] = ("player",)
    relations: frozenset[str] | None = None

    @abstractmethod
    def options(self) -> list[list[str]]:
        """The moves of each role."""

    @abstractmethod
    def play(self, joint: Sequence[str]) -> None:
        """Make a move of each role."""

    @abstractmethod
    def facts(self) -> set[str]:
        """The facts of :attr:`relations`."""

    @property
    @abstractmethod
    def over(self) -> bool:
        """Whether the match has ended."""

    @abstractmethod
    def goals(self) -> list[int | None] | None:
        """The goal of each role, and None for chance; None if the oracle knows no goals in this state."""

    def seen(self, joint: Sequence[str]) -> list[set[str]] | None:
        """What each role perceives of a joint move; None if everything is seen."""
        return None

    @property
    def between(self) -> bool:
        """Whether the facts are known in this state: they are not within a turn of several moves."""
        return True

    @property
    def silent(self) -> bool:
        """Whether the oracle ends this match by a rule that ours does not have."""
        return False


class InTurn(Match):
    """A match of roles that move in turn; others play noop. A turn may be several of our moves of a role."""

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
    def result(self) -> dict[str, int] | None:
        """The goals once the match is over; None before."""

    def options(self) -> list[list[str]]:
        done = len(self._made)
        own = {turn[done] for turn in self.turns() if turn[:done] == self._made and len(turn) > done}
        return [sorted(own) if role == self.turn() else ["noop"] for role in self.roles]

    def play(self, joint: Sequence[str]) -> None:
        self._made = (*self._made, joint[self.roles.index(self.turn())])
        if (turn := self.turns().get(self._made)) is not None:
            self._made = ()
            self.go(turn)

    @property
    def between(self) -> bool:
        return not self._made

    @property
    def over(self) -> bool:
        return self.result() is not None

    def goals(self) -> list[int | None] | None:
        result = self.result()
        return None if result is None else [result[role] for role in self.roles]


def apart(state: State, match: Match) -> str:
    """How a state of our rules differs from that of an oracle; empty if it does not."""
    known, over, goals = match.relations, match.over, match.goals()
    if state.terminal != over:
        return f"terminal: {state.terminal}"
    ours = {str(fact) for fact in state.propositions if known is None or fact.name in known}
    if match.between and ours != (facts := match.facts()):
        return f"facts: {sorted(ours - facts)}, not {sorted(facts - ours)}"
    if goals is not None and goals != list(state.goals.values()):
        return f"goals: {state.goals}, not {goals}"
    for role, own in () if over else zip(match.roles, match.options(), strict=True):
        if (legal := sorted(state.legal[role])) != sorted(own):
            return f"{role}: {sorted({*legal} - {*own})}, not {sorted({*own} - {*legal})} of {len(own)}"
    return ""


def difference(
    machine: Machine, start: Callable[[], Match], positions: int, seed: int, keen: float = 0.0
) -> tuple[str, int]:
    """Play at random until so many positions are compared.

    Args:
        keen: how often a role chooses a move that leaves the fewest facts (one that takes, where there is
            one), or the fewest moves. Random matches of some games end by their step limit only.

    Returns:
        The first difference, with the moves that lead there, and the positions compared. The difference is
        empty if there is none.
    """
    rng, done = random.Random(seed), 0
    while done < positions:
        state, match, line = machine.initial_state(), start(), list[str]()
        while not match.silent:
            done += 1
            if found := apart(state, match):
                return f"{found} after {' '.join(line)}", done
            if state.terminal:
                break
            joint = [rng.choice(sorted(own)) for own in state.legal.values()]
            if keen and rng.random() < keen:
                joint = _keen(state, joint, rng)
            line += joint
            if (seen := match.seen(joint)) is not None:
                percepts = [
                    {str(one) for one in own} for own in machine.percepts(state, _ids(machine, joint))
                ]
                if percepts != seen:
                    return f"percepts: {percepts}, not {seen} after {' '.join(line)}", done
            state = machine.next_state(state, _ids(machine, joint))
            match.play(joint)
    return "", done


def _keen(state: State, joint: list[str], rng: random.Random) -> list[str]:
    """A joint move in which one role's choice leaves the fewest facts, or the fewest moves."""
    mover = rng.choice([number for number, own in enumerate(state.legal.values()) if len(own) > 1] or [0])
    measure = rng.choice([_facts, _freedom])
    ways = [[*joint[:mover], move, *joint[mover + 1 :]] for move in sorted([*state.legal.values()][mover])]
    left = [measure(state.machine.next_state(state, _ids(state.machine, way))) for way in ways]
    return rng.choice([way for way, number in zip(ways, left, strict=True) if number == min(left)])


def _facts(state: State) -> int:
    """How many facts are true."""
    return len(state.propositions)


def _freedom(state: State) -> int:
    """How many moves there are."""
    return 0 if state.terminal else sum(map(len, state.legal.values()))


def _ids(machine: Machine, joint: Sequence[str]) -> list[int]:
    return [machine.move_id(role, parse_term(move)) for role, move in enumerate(joint)]


LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def cell(x: int, y: int, thing: str) -> str:
    """What stands on the square of column ``x`` and row ``y``, both from 1."""
    return f"(cell {LETTERS[x - 1]} {y} {thing})"


def words(move: str) -> list[str]:
    """A move's name and arguments."""
    return move.strip("()").split()
