"""A match of an oracle: a second opinion on a game, written from the words of its rules, in plain Python.

An oracle is a match that goes on move by move. It gives the facts of its state, the moves of each role, and
the goals, in the words that the rules of the game use, but finds them in its own way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence


class Match(ABC):
    """A match in its first state; :meth:`play` goes on to the next one."""

    roles: tuple[str, ...] = ("player",)

    @abstractmethod
    def options(self) -> list[list[str]]:
        """The moves of each role."""

    @abstractmethod
    def play(self, joint: Sequence[str]) -> None:
        """Make a move of each role."""

    @abstractmethod
    def facts(self) -> set[str]:
        """All that is true."""

    @property
    @abstractmethod
    def over(self) -> bool:
        """Whether the match has ended."""

    @abstractmethod
    def goals(self) -> list[int | None]:
        """The goal of each role; None for chance."""

    def seen(self, joint: Sequence[str]) -> list[set[str]] | None:
        """What each role perceives of a joint move; None if everything is seen."""
        return None


def words(move: str) -> list[str]:
    """A move's name and arguments."""
    return move.strip("()").split()
