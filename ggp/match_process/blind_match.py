"""Follows a match of hidden information by what a game manager tells one role of it, whatever it tells.

It holds a belief, small enough to grow in the time of a turn, and with it a legal move. Percepts that fit no
possible state, turns with wrong numbers and moves that the role cannot have made are logged, and the match
goes on. A turn that was doubtful gives way where another is told in its place.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term
from gdl.terms import Term
from ggp.match_process.match_state import Log, fold
from ggp.protocol.messages import NO_MOVE, read_told
from players.belief.belief import SHARE, Belief, Observed

WORLDS = 1_500
EFFORT = 6_000
"""Of the belief: a turn must not take the prover longer than some tenths of a second."""
SECONDS = 0.25
"""Of a turn, after which it draws no more worlds than it needs."""


class BlindMatch:
    """What one role knows of a match. It is told of turns as
    :class:`ggp.match_process.match_state.MatchState` is; ``moves`` are what
    :attr:`ggp.protocol.messages.Report.told` gives.

    Attributes:
        machine: the machine of the belief.
        role: the index of our role.
        belief: what it holds for possible.
        history: what was told of each turn, in one form whatever the dialect.
    """

    certain = False
    """Whether the state is known, so that one could look ahead."""

    def __init__(self, machine: Machine, role: int, log: Log) -> None:
        self.machine = machine
        self.role = role
        self.belief = Belief(machine, role, worlds=WORLDS, effort=EFFORT)
        self.history: list[tuple[str, ...]] = []
        self._log = log
        self._first: int | None = None
        """The number of the first turn, where turns have numbers."""
        self._numbered: bool | None = None
        """Whether turns have numbers; None as long as that is not known."""
        self._strange = False
        """Whether the last PLAY was in the other dialect."""
        self._played = False
        self._reported: tuple[str, ...] | None = None
        self._sure = True
        """Whether the last turn had the right number, and fitted a state."""
        self._grown = False
        """Whether it is part of the belief."""

    @property
    def state(self) -> State:
        """The likeliest state."""
        return self.belief.likeliest

    @property
    def observed(self) -> tuple[Observed, ...]:
        """What the role has learnt, turn by turn."""
        return tuple(self.belief.history)

    def options(self) -> list[int]:
        """The legal moves of :attr:`role`."""
        return self.belief.legal_moves()

    def text(self, role: int, move: int) -> str:
        """A move as GDL text in the spelling of the rules."""
        return self.machine.rules.spell(self.machine.move(role, move))

    def replay(self, history: Sequence[Sequence[str]], answers: Sequence[str | None] = ()) -> None:
        """Take all that was told of a match that was begun elsewhere, as its :attr:`history` has it."""
        for told in history:
            self._played = True
            number, own, percepts = read_told(told)
            if number == len(self.history) and self.history:
                self._take_back()
            self._sure = self._learn(own, percepts)
            self._reported = tuple(map(fold, told))

    def follow(self, moves: Sequence[str] | None, answered: str | None, delivered: bool, late: bool) -> bool:
        """Take in what a PLAY tells; False if that PLAY was seen before. See
        :meth:`ggp.match_process.match_state.MatchState.follow`."""
        number, own, percepts = read_told(moves)
        counted = True
        told = None if moves is None else tuple(map(fold, moves))
        if self._is_strange(number is not None):
            self._log("warning", "a turn in another dialect", turn=number, percepts=" ".join(percepts)[:200])
            return False
        in_time = answered is not None and delivered and not late
        if not self._played:
            self._played, self._first, self._reported = True, number, told
            if own is None and not percepts:
                return True
            self._first = None if number is None else number - 1
            shown = " ".join(percepts)[:200]
            self._log("warning", "the match has begun without us", turn=number, percepts=shown)
        elif number is not None:
            wanted = len(self.history) + 1 + (self._first or 0)
            if told == self._reported or number < wanted - 1:
                return False
            if number != wanted:
                if number == wanted - 1:
                    self._log("warning", "this turn was told otherwise before", turn=number)
                    if self._sure or not self.history:
                        return False
                    self._take_back()
                else:
                    self._log("warning", "a wrong turn number", turn=number, expected=wanted)
                    counted = False
        elif told == self._reported and not in_time:
            return False
        self._reported = told
        own = own if own is not None or number is not None or not in_time else answered
        self._sure = self._replace(number, percepts) or (self._learn(own, percepts) and counted)
        return True

    def reported(self, moves: Sequence[str] | None) -> bool:
        """Whether this is what a PLAY told last."""
        return self._reported == (None if moves is None else tuple(map(fold, moves)))

    def resume(self, moves: Sequence[str] | None) -> bool:
        """Note a PLAY that :meth:`replay` has already taken in; whether it has."""
        self._played = True
        number, _, percepts = read_told(moves)
        self._numbered = number is not None
        if number is not None and self._first is None:
            self._first = number - len(self.history)
        self._reported = None if moves is None else tuple(map(fold, moves))
        last = read_told(self.history[-1])[2] if self.history else None
        return last is not None and set(map(fold, last)) == set(map(fold, percepts))

    def can_be(self, moves: Sequence[str] | None) -> bool:
        """Whether this may be a turn that follows."""
        number, _, _ = read_told(moves)
        if number is None or not self._played:
            return True
        return number >= len(self.history) + 1 + (self._first or 0)

    def is_legal(self, text: str) -> bool:
        """Whether :attr:`role` may do this here."""
        term = _term(text)
        return term is not None and any(self.machine.move(self.role, move) is term for move in self.options())

    def finish(self, moves: Sequence[str] | None) -> list[int | None] | None:
        """The match is over; what it was worth is not told."""
        return None

    def _is_strange(self, numbered: bool) -> bool:
        """Whether a PLAY is in another dialect than those before. A manager keeps to one: two in a row are
        believed."""
        strange = self._numbered not in (None, numbered) and not self._strange
        self._strange = strange
        if not strange:
            self._numbered = numbered
        return strange

    def _replace(self, number: int | None, percepts: Sequence[str]) -> bool:
        """Take these percepts for those of the last turn, where turns have no numbers, that one was doubtful,
        and they fit there; whether it was so. Of a belief that is not exact no turn is doubted."""
        if number is not None or self._sure or not self._grown:
            return False
        _, own, doubtful = read_told(self.history[-1])
        self._take_back()
        if self.belief.exact:
            if self._learn(own, percepts):
                return True
            self._take_back()
        self._learn(own, doubtful)
        return False

    def _take_back(self) -> None:
        """Forget the last turn: it was not so."""
        self.history.pop()
        if self._grown:
            self.belief.take_back()

    def _learn(self, own: str | None, percepts: Sequence[str]) -> bool:
        """One more turn; whether it fits."""
        move = None if own is None else _term(own)
        seen = [_term(percept) for percept in percepts]
        known = frozenset(term for term in seen if term is not None)
        shown = " ".join(percepts)[:200]
        if None in seen:
            self._log("warning", "percepts that are no terms", percepts=shown)
        fits = self._grown = False
        try:
            fits = self.belief.update(Observed(move, known), time.monotonic() + SECONDS / SHARE)
            self._grown = True
            if not fits:
                self._log("warning", "percepts that fit no state", move=own or "", percepts=shown)
        except GdlError as error:
            self._log("warning", "a turn that cannot be", move=own or "", percepts=shown, error=error.message)
        spell = self.machine.rules.spell
        turn = f"turn {len(self.history) + 1}"
        self.history.append((turn, NO_MOVE if move is None else spell(move), *map(spell, sorted(known))))
        return fits and None not in seen


def _term(text: str) -> Term | None:
    """A ground term, None where the text is none."""
    try:
        term = parse_term(text)
    except GdlError:
        return None
    return term if term.ground else None
