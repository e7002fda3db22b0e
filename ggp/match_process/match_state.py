"""Follows a match by the joint moves that a game manager reports, even if the reports are wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term

_LONE_WORD = re.compile(r"\( ([^\s()]+) \)")
"""``(noop)`` is the same term as ``noop``."""
Log = Callable[..., None]
"""Called with a level, an event and named fields."""


_MOST_COURSES = 8
"""Number of courses of a match that are followed in parallel."""

_MOST_MISSED = 2
"""Number of reports in a row that may have come from another sender before a course that cannot explain them
is dropped."""


@dataclass(frozen=True, slots=True)
class Course:
    """One course that a match may have taken.

    Attributes:
        state: the state at its end, and ``history`` the joint moves that led there.
        before: the course one turn before.
        answers: our answers there that were sent to the manager.
        missed: number of reports in a row that were not legal there, and so came from another sender.
        evidence: reports that repeated an answer given there, less those that did not.
    """

    state: State
    history: tuple[tuple[str, ...], ...] = ()
    before: Course | None = None
    answers: frozenset[str] = frozenset()
    missed: int = 0
    evidence: int = 0


class MatchState:
    """The state of a match, and the joint moves that led to it.

    The manager's reports count, even if this player had another state. A report that is legal in the previous
    state, but not in this one, corrects the last one. The course that is left by such a correction is still
    followed: if the correction came from another sender, the next reports may fit only the old course, or
    repeat the answer that was given there. Any other report is not followed, only logged.

    Attributes:
        machine: the machine of :attr:`state`.
        role: the index of our role.
    """

    def __init__(self, machine: Machine, role: int, log: Log) -> None:
        self.machine = machine
        self.role = role
        self._courses = [Course(machine.initial_state())]
        self._log = log
        self._reported: tuple[str, ...] | None = None
        self._played = False
        """Whether there was a PLAY."""

    @property
    def state(self) -> State:
        """The current state of the match."""
        return self._courses[0].state

    @property
    def certain(self) -> bool:
        """Whether only one course of the match is possible."""
        return len(self._courses) == 1

    @property
    def history(self) -> list[tuple[str, ...]]:
        """The joint moves that led there, each a tuple of GDL texts in role order."""
        return list(self._courses[0].history)

    def on(self, machine: Machine) -> MatchState:
        """The match on another machine of these rules; this object does not change. Raises GdlError if the
        machine cannot hold a state."""

        def moved(course: Course) -> Course:
            before = None if course.before is None else moved(course.before)
            return replace(course, state=machine.state_of(course.state.propositions), before=before)

        other = copy(self)
        other.machine = machine
        other._courses = [moved(course) for course in self._courses]
        return other

    def muted(self) -> MatchState:
        """A copy without a log, for a follower that goes behind another."""
        other = copy(self)
        other._log = lambda level, event, **fields: None
        return other

    def options(self) -> list[int]:
        """The legal moves of :attr:`role`. If several courses are possible, these are the moves that are
        legal in all of them, if there are any."""
        options = self.machine.legal_moves(self.state, self.role)
        for other in self._courses[1:]:
            legal = frozenset(self.machine.legal_moves(other.state, self.role))
            options = [move for move in options if move in legal] or options
        return options

    def text(self, role: int, move: int) -> str:
        """A move as GDL text in the spelling of the rules."""
        return self.machine.rules.spell(self.machine.move(role, move))

    def replay(self, history: Sequence[Sequence[str]], answers: Sequence[str | None] = ()) -> None:
        """Take in all reports of a match that was begun elsewhere, and the answers given before each, None
        for one that did not arrive in time."""
        for joint, answer in zip_longest(history, answers[: len(history)]):
            self._played = True
            if answer is not None:
                self._answered(answer)
            if self._take(joint, answer is None):
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
            seen = not (ours and self._after(self._courses[0], moves))
        self._played = True
        in_time = delivered and not late
        if answered is not None and in_time:
            self._answered(answered)
        if seen or not (moves is None or self._take(moves, not in_time)):
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
        history = self._courses[0].history
        repeated = bool(history) and reported == tuple(map(fold, history[-1]))
        if repeated or not history:
            self._reported = reported
        return repeated

    def can_be(self, moves: Sequence[str] | None) -> bool:
        """Whether a report could be followed."""
        if moves is None:
            return not self._played
        courses = [*self._courses, *(course.before for course in self._courses)]
        return any(course is not None and self._after(course, moves) is not None for course in courses)

    def is_legal(self, text: str) -> bool:
        """Whether this is a legal move of :attr:`role` here."""
        return self._legal(self.state, self.role, text) is not None

    def finish(self, moves: Sequence[str] | None) -> list[int | None] | None:
        """Follow the last joint move. Returns the goal of each role, or None if the match does not end
        there."""
        if moves is not None and not self.state.terminal:
            self._take(moves, True)
        if not self.state.terminal:
            return None
        return [self.machine.goal(self.state, r) for r in range(len(self.machine.roles))]

    def _answered(self, answer: str) -> None:
        """Note our answer, if the last report was the manager's."""
        for number, course in enumerate(self._courses):
            if not course.missed:
                self._courses[number] = replace(course, answers=course.answers | {fold(answer)})

    def _take(self, moves: Sequence[str], doubtful: bool) -> bool:
        """Follow these moves; False if no course allows them. ``doubtful``: our part may differ from our
        answer."""
        ours = fold(moves[self.role]) if self.role < len(moves) else ""

        def reached(course: Course | None) -> Course | None:
            after = None if course is None else self._after(course, moves)
            if after is None or course is None or doubtful or not course.answers:
                return after
            return replace(after, evidence=course.evidence + (1 if ours in course.answers else -1))

        now = self._courses[0]
        reach = [(course, reached(course)) for course in self._courses]
        led = [after for _, after in reach if after is not None]
        left = [course for course, after in reach if after is None]
        # Each of these courses may have gone wrong one turn before; trying the likeliest is enough.
        led += list(islice(filter(None, (reached(course.before) for course in left)), 1))
        if not led:
            self._note("these moves cannot be", moves)
            return False
        led.sort(key=lambda course: -course.evidence)
        if led[0].history[:-1] != now.history:
            self._note("the match went another way", moves)
        # Two courses to the same state are one from there on.
        different: dict[State, Course] = {}
        for course in (*led, *(replace(course, missed=course.missed + 1) for course in left)):
            if course.missed <= _MOST_MISSED:
                different.setdefault(course.state, course)
        self._courses = list(different.values())[:_MOST_COURSES]
        return True

    def _note(self, event: str, moves: Sequence[str]) -> None:
        self._log("warning", event, turn=len(self._courses[0].history) + 1, moves=" ".join(moves)[:200])

    def _after(self, course: Course, moves: Sequence[str]) -> Course | None:
        """The course with one more joint move; None if that is not legal."""
        machine, state = self.machine, course.state
        if len(moves) != len(machine.roles) or machine.is_terminal(state):
            return None
        joint: list[int] = []
        for role, text in enumerate(moves):
            move = self._legal(state, role, text)
            if move is None:
                return None
            joint.append(move)
        texts = tuple(self.text(role, move) for role, move in enumerate(joint))
        after = machine.next_state(state, joint)
        return Course(after, (*course.history, texts), replace(course, before=None), evidence=course.evidence)

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
