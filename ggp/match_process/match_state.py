"""Follows a match by the joint moves that a game manager reports, whatever it reports."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from gdl.errors import GdlError, MoveError
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term

_LONE_WORD = re.compile(r"\( ([^\s()]+) \)")
"""``(noop)`` is the same term as ``noop``."""
Log = Callable[..., None]
"""Takes a level, an event and named fields."""


class MatchState:
    """Where a match stands: the state, and the joint moves that led to it.

    The manager's word counts, also where this player thought otherwise. Moves that cannot be read or are not
    legal are logged and replaced by the likeliest legal ones, for an answer from a guess is better than none.

    Attributes:
        machine: the machine of :attr:`state`.
        role: the index of our role.
        state: where the match stands.
        history: the joint moves made, each a tuple of GDL texts in role order.
    """

    def __init__(self, machine: Machine, role: int, log: Log) -> None:
        self.machine = machine
        self.role = role
        self.state: State = machine.initial_state()
        self.history: list[tuple[str, ...]] = []
        self._log = log
        self._reported: tuple[str, ...] | None = None
        self._played = False
        """Whether there was a PLAY."""

    def options(self) -> list[int]:
        """The legal moves of :attr:`role`."""
        return self.machine.legal_moves(self.state, self.role)

    def text(self, role: int, move: int) -> str:
        """A move as GDL text in the spelling of the rules."""
        return self.machine.rules.spell(self.machine.move(role, move))

    def replay(self, history: Sequence[Sequence[str]]) -> None:
        """Make all joint moves of a match that was begun elsewhere."""
        for joint in history:
            self.resume(joint)
            self._advance(joint, None)

    def follow(self, moves: Sequence[str] | None, answered: str | None, delivered: bool, late: bool) -> bool:
        """Go where a PLAY says that the match is; False if that PLAY was seen before.

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
            seen = not (ours and self._all_legal(moves))
        self._played = True
        if seen:
            return False
        self._reported = reported
        if moves is not None:
            self._advance(moves, answered)
        return True

    def resume(self, moves: Sequence[str] | None) -> None:
        """Note a PLAY whose joint move :meth:`replay` has already made."""
        self._played = True
        self._reported = None if moves is None else tuple(map(fold, moves))

    def finish(self, moves: Sequence[str] | None) -> list[int | None] | None:
        """Make the last joint move; the goal of each role, or None if that is no end."""
        if moves is not None and not self.state.terminal:
            self._advance(moves, None)
        if not self.state.terminal:
            return None
        return [self.machine.goal(self.state, r) for r in range(len(self.machine.roles))]

    def _advance(self, moves: Sequence[str], answered: str | None) -> None:
        machine = self.machine
        if machine.is_terminal(self.state):
            self._log("warning", "moves after the end", moves=" ".join(moves)[:200])
            return
        roles = len(machine.roles)
        if len(moves) != roles:
            self._log("warning", "wrong number of moves", found=len(moves), roles=roles)
        joint: list[int] = []
        for role in range(roles):
            options = machine.legal_moves(self.state, role)
            if not options:
                self._log("warning", "no legal move", role=str(machine.roles[role]))
                return
            try:
                joint.append(self._legal(role, moves[role] if role < len(moves) else "", options))
            except GdlError as error:
                joint.append(self._instead(role, answered, options))
                self._log(
                    "warning",
                    "illegal joint move",
                    turn=len(self.history) + 1,
                    role=str(machine.roles[role]),
                    error=error.message[:200],
                    taken=self.text(role, joint[-1]),
                )
        self.state = machine.next_state(self.state, joint)
        self.history.append(tuple(self.text(r, m) for r, m in enumerate(joint)))

    def _legal(self, role: int, text: str, options: Sequence[int]) -> int:
        move = self.machine.move_id(role, parse_term(text))
        if move not in options:
            raise MoveError(f"{text} is not legal here")
        return move

    def _instead(self, role: int, answered: str | None, options: Sequence[int]) -> int:
        if role == self.role and answered is not None:
            try:
                return self._legal(role, answered, options)
            except GdlError:
                pass
        # The same move in every process that follows the match: ids differ between them.
        return min(options, key=lambda move: self.text(role, move))

    def _all_legal(self, moves: Sequence[str]) -> bool:
        machine = self.machine
        if len(moves) != len(machine.roles) or machine.is_terminal(self.state):
            return False
        try:
            for role, text in enumerate(moves):
                self._legal(role, text, machine.legal_moves(self.state, role))
        except GdlError:
            return False
        return True


def fold(text: str) -> str:
    """A KIF text without the case, spacing and parentheses that make no difference."""
    spaced = " ".join(text.replace("(", " ( ").replace(")", " ) ").lower().split())
    return _LONE_WORD.sub(r"\1", spaced)
