"""Follows a match by the joint moves that a game manager reports, whatever it reports."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term

_LONE_WORD = re.compile(r"\( ([^\s()]+) \)")
"""``(noop)`` is the same term as ``noop``."""
Log = Callable[..., None]
"""Takes a level, an event and named fields."""


@dataclass(frozen=True, slots=True)
class Course:
    """One way in which a match may have gone: its state, the joint moves that led there, and where it stood
    one turn before."""

    state: State
    history: tuple[tuple[str, ...], ...] = ()
    before: Course | None = None


class MatchState:
    """Where a match stands: the state, and the joint moves that led to it.

    The manager's word counts, also where this player thought otherwise. A report that is legal in the state
    before, but not here, puts the last one right; the line that is given up so is followed as long as it can
    be, and taken up again where only it explains what comes. Any other report leads nowhere: it is logged.

    Attributes:
        machine: the machine of :attr:`state`.
        role: the index of our role.
    """

    def __init__(self, machine: Machine, role: int, log: Log) -> None:
        self.machine = machine
        self.role = role
        self._line = Course(machine.initial_state())
        self._given_up: Course | None = None
        self._log = log
        self._reported: tuple[str, ...] | None = None
        self._played = False
        """Whether there was a PLAY."""

    @property
    def state(self) -> State:
        """Where the match stands."""
        return self._line.state

    @property
    def history(self) -> list[tuple[str, ...]]:
        """The joint moves that led there, each a tuple of GDL texts in role order."""
        return list(self._line.history)

    def options(self) -> list[int]:
        """The legal moves of :attr:`role`."""
        return self.machine.legal_moves(self.state, self.role)

    def text(self, role: int, move: int) -> str:
        """A move as GDL text in the spelling of the rules."""
        return self.machine.rules.spell(self.machine.move(role, move))

    def replay(self, history: Sequence[Sequence[str]]) -> None:
        """Take all reports of a match that was begun elsewhere."""
        for joint in history:
            self._played = True
            if self._take(joint):
                self._reported = tuple(map(fold, joint))

    def follow(self, moves: Sequence[str] | None, answered: str | None, delivered: bool, late: bool) -> bool:
        """Go where a PLAY says that the match is; False if that PLAY was seen before or cannot be.

        A manager sends a PLAY again if its connection broke, but the same text may also be the next turn: all
        roles do the same twice. It is the next turn if the answer to the first PLAY was delivered and is our
        part of the reported moves, and the moves are legal once more.

        Args:
            moves: the reported joint move; None before the first.
            answered: the answer that was given to the PLAY before; None if none was.
            delivered: whether that answer left this machine without an error.
            late: whether it left after the playclock.
        """
        reported = None if moves is None else tuple(map(fold, moves))
        seen = self._played and (reported is None or reported == self._reported)
        if seen and moves is not None and answered is not None and delivered:
            ours = late or self.role >= len(moves) or fold(moves[self.role]) == fold(answered)
            seen = not (ours and self._after(self._line, moves))
        self._played = True
        if seen or not (moves is None or self._take(moves)):
            return False
        self._reported = reported
        return True

    def reported(self, moves: Sequence[str] | None) -> bool:
        """Whether these are the moves that led here, as a PLAY reported them."""
        return self._reported == (None if moves is None else tuple(map(fold, moves)))

    def resume(self, moves: Sequence[str] | None) -> bool:
        """Note a PLAY whose joint move :meth:`replay` has already made; whether it has made it: a report that
        cannot be was none."""
        reported = None if moves is None else tuple(map(fold, moves))
        self._played = True
        made = bool(self._line.history) and reported == tuple(map(fold, self._line.history[-1]))
        if made or not self._line.history:
            self._reported = reported
        return made

    def can_be(self, moves: Sequence[str] | None) -> bool:
        """Whether a report would lead anywhere."""
        if moves is None:
            return not self._played
        lines = (self._line, self._given_up, self._line.before)
        return any(line is not None and self._after(line, moves) is not None for line in lines)

    def is_legal(self, text: str) -> bool:
        """Whether :attr:`role` may do this here."""
        return self._legal(self.state, self.role, text) is not None

    def finish(self, moves: Sequence[str] | None) -> list[int | None] | None:
        """Make the last joint move; the goal of each role, or None if that is no end."""
        if moves is not None and not self.state.terminal:
            self._take(moves)
        if not self.state.terminal:
            return None
        return [self.machine.goal(self.state, r) for r in range(len(self.machine.roles))]

    def _take(self, moves: Sequence[str]) -> bool:
        """Go where these moves lead; False if that is nowhere."""
        now, given_up = self._line, self._given_up
        if line := self._after(now, moves):
            self._line, self._given_up = line, given_up and self._after(given_up, moves)
        elif given_up and (line := self._after(given_up, moves)):
            self._note("the match went the other way", moves)
            self._line, self._given_up = line, None
        elif now.before and (line := self._after(now.before, moves)):
            self._note("the turn before is put right", moves)
            self._line, self._given_up = line, now
        else:
            self._note("these moves cannot be", moves)
            return False
        return True

    def _note(self, event: str, moves: Sequence[str]) -> None:
        self._log("warning", event, turn=len(self._line.history) + 1, moves=" ".join(moves)[:200])

    def _after(self, line: Course, moves: Sequence[str]) -> Course | None:
        """The line with one more joint move; None where that is not legal."""
        machine, state = self.machine, line.state
        if len(moves) != len(machine.roles) or machine.is_terminal(state):
            return None
        joint: list[int] = []
        for role, text in enumerate(moves):
            move = self._legal(state, role, text)
            if move is None:
                return None
            joint.append(move)
        told = tuple(self.text(role, move) for role, move in enumerate(joint))
        after = machine.next_state(state, joint)
        return Course(after, (*line.history, told), replace(line, before=None))

    def _legal(self, state: State, role: int, text: str) -> int | None:
        try:
            move = self.machine.move_id(role, parse_term(text))
        except GdlError:
            return None
        return move if move in self.machine.legal_moves(state, role) else None


def fold(text: str) -> str:
    """A KIF text without the case, spacing and parentheses that make no difference."""
    spaced = " ".join(text.replace("(", " ( ").replace(")", " ) ").lower().split())
    return _LONE_WORD.sub(r"\1", spaced)
