"""Follows a match by the joint moves that a game manager reports, even if the reports are wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term

_LONE_WORD = re.compile(r"\( ([^\s()]+) \)")
"""``(noop)`` is the same term as ``noop``."""
Log = Callable[..., None]
"""Called with a level, an event and named fields."""


@dataclass(frozen=True, slots=True)
class _Position:
    """A state of the match, and the joint moves that led there."""

    state: State
    history: tuple[tuple[str, ...], ...] = ()


class MatchState:
    """The state of a match, and the joint moves that led to it.

    The manager's reports count, even if this player had another state. A report that is legal in the previous
    state, but not in this one, corrects the last one. If only the state that was left by a correction
    explains a report, the correction is taken back. Any other report is not followed, only logged.

    Attributes:
        machine: the machine of :attr:`state`.
        role: the index of our role.
    """

    def __init__(self, machine: Machine, role: int, log: Log) -> None:
        self.machine = machine
        self.role = role
        self._positions = [_Position(machine.initial_state())]
        """The current one, the one before, and the one that the last report has corrected, if there are."""
        self._log = log
        self._reported: tuple[str, ...] | None = None
        self._played = False
        """Whether there was a PLAY."""

    @property
    def state(self) -> State:
        """The current state of the match."""
        return self._positions[0].state

    @property
    def history(self) -> list[tuple[str, ...]]:
        """The joint moves that led there, each a tuple of GDL texts in role order."""
        return list(self._positions[0].history)

    def on(self, machine: Machine) -> MatchState:
        """The match on another machine of these rules; this object does not change. Raises GdlError if the
        machine cannot hold a state."""
        other = copy(self)
        other.machine = machine
        other._positions = [
            replace(one, state=machine.state_of(one.state.propositions)) for one in self._positions
        ]
        return other

    def muted(self) -> MatchState:
        """A copy without a log, for a follower that goes behind another."""
        other = copy(self)
        other._log = lambda level, event, **fields: None
        return other

    def options(self) -> list[int]:
        """The legal moves of :attr:`role`."""
        return self.machine.legal_moves(self.state, self.role)

    def text(self, role: int, move: int) -> str:
        """A move as GDL text in the spelling of the rules."""
        return self.machine.rules.spell(self.machine.move(role, move))

    def replay(self, history: Sequence[Sequence[str]]) -> None:
        """Take in all reports of a match that was begun elsewhere."""
        for joint in history:
            self._played = True
            if self._take(joint):
                self._reported = tuple(map(fold, joint))

    def follow(self, moves: Sequence[str] | None, answered: str | None, delivered: bool, late: bool) -> bool:
        """Follow the joint move of a PLAY; False if that PLAY was seen before or cannot be.

        A manager sends a PLAY again if its connection broke. But the same text may also be the next turn, if
        all roles repeat their moves. It is the next turn if the answer to the first PLAY was delivered and is
        our part of the reported moves, and the moves are legal once more.

        Args:
            moves: the reported joint move; None before the first.
            answered: the answer that was given to the previous PLAY; None if there was none.
            delivered: whether that answer left this machine without an error.
            late: whether it left after the playclock.
        """
        reported = None if moves is None else tuple(map(fold, moves))
        seen = self._played and (reported is None or reported == self._reported)
        if seen and moves is not None and answered is not None and delivered:
            ours = late or self.role >= len(moves) or fold(moves[self.role]) == fold(answered)
            seen = not (ours and self._after(self._positions[0], moves))
        self._played = True
        if seen or not (moves is None or self._take(moves)):
            return False
        self._reported = reported
        return True

    def reported(self, moves: Sequence[str] | None) -> bool:
        """Whether these are the moves that led here, as a PLAY reported them."""
        return self._reported == (None if moves is None else tuple(map(fold, moves)))

    def resume(self, moves: Sequence[str] | None) -> bool:
        """Note a PLAY whose joint move :meth:`replay` has already followed. Returns whether it has: it did
        not count a report that cannot be."""
        reported = None if moves is None else tuple(map(fold, moves))
        self._played = True
        history = self._positions[0].history
        repeated = bool(history) and reported == tuple(map(fold, history[-1]))
        if repeated or not history:
            self._reported = reported
        return repeated

    def can_be(self, moves: Sequence[str] | None) -> bool:
        """Whether a report could be followed."""
        if moves is None:
            return not self._played
        return any(self._after(position, moves) for position in self._positions)

    def is_legal(self, text: str) -> bool:
        """Whether this is a legal move of :attr:`role` here."""
        return self._legal(self.state, self.role, text) is not None

    def finish(self, moves: Sequence[str] | None) -> list[int | None] | None:
        """Follow the last joint move. Returns the goal of each role, or None if the match does not end
        there."""
        if moves is not None and not self.state.terminal:
            self._take(moves)
        if not self.state.terminal:
            return None
        return [self.machine.goal(self.state, r) for r in range(len(self.machine.roles))]

    def _take(self, moves: Sequence[str]) -> bool:
        """Follow these moves; False if they are not legal in any position."""
        now = self._positions[0]
        for position in self._positions:
            after = self._after(position, moves)
            if after is not None:
                if position is now:
                    self._positions = [after, now]
                else:
                    self._note("the match went another way", moves)
                    self._positions = [after, position, now]
                return True
        self._note("these moves cannot be", moves)
        return False

    def _note(self, event: str, moves: Sequence[str]) -> None:
        self._log("warning", event, turn=len(self._positions[0].history) + 1, moves=" ".join(moves)[:200])

    def _after(self, position: _Position, moves: Sequence[str]) -> _Position | None:
        """The position after one more joint move; None if that is not legal."""
        machine, state = self.machine, position.state
        if len(moves) != len(machine.roles) or machine.is_terminal(state):
            return None
        joint: list[int] = []
        for role, text in enumerate(moves):
            move = self._legal(state, role, text)
            if move is None:
                return None
            joint.append(move)
        texts = tuple(self.text(role, move) for role, move in enumerate(joint))
        return _Position(machine.next_state(state, joint), (*position.history, texts))

    def _legal(self, state: State, role: int, text: str) -> int | None:
        try:
            move = self.machine.move_id(role, parse_term(text))
        except GdlError:
            return None
        return move if move in self.machine.legal_moves(state, role) else None


def fold(text: str) -> str:
    """A KIF text without case, spacing and parentheses that do not matter."""
    spaced = " ".join(text.replace("(", " ( ").replace(")", " ) ").lower().split())
    return _LONE_WORD.sub(r"\1", spaced)
