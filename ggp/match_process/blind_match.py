"""Follows a match of hidden information by a game manager's messages to one role, even if they are wrong.

It holds a belief, small enough to grow within the time of a turn, and with it a legal move. A PLAY may come
from another sender: its percepts fit no possible state, its turn number is wrong, or the role cannot have
chosen its move. Such a PLAY is logged, and the match goes on. The last few beliefs are kept: a PLAY that does
not fit the newest one may fit an earlier one, and then the PLAYs in between came from another sender.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term
from gdl.terms import Term
from ggp.match_process.match_state import Log, fold
from ggp.protocol.messages import read_told
from players.belief.belief import SHARE, Belief, Observed

WORLDS = 1_500
EFFORT = 6_000
"""Limits of the belief: a turn must not take the prover longer than some tenths of a second."""
SECONDS = 0.25
"""Seconds of a turn after which the belief draws no more worlds than it needs, and no further course of the
match is tried."""
FIRST = 2
"""The largest number of the first turn: managers begin to count at 0 or 1."""
MADE = "made "
"""Prefix of the role's move before bare percepts in :attr:`BlindMatch.history`."""
KEPT = 6
"""Number of PLAYs that may later prove to have come from another sender."""
MOST_CHARACTERS = 100_000
"""The most characters of a PLAY: longer ones are not parsed, because that would take a turn's time."""
_MISFIT, ODD = 2, 1
"""Doubts about a PLAY that does not fit, and about one that names another move than our answer: the manager
may have replaced ours. A PLAY that is dropped counts 1."""


@dataclass(frozen=True, slots=True)
class _PlayTexts:
    """The contents of a PLAY.

    Attributes:
        row: its texts, as in :attr:`ggp.protocol.messages.Report.told`; in :attr:`BlindMatch.history` bare
            percepts follow the role's move. ``key`` holds the manager's texts, folded.
        number: the number of the turn; None in the dialect without numbers.
        own: the role's move, None if the PLAY does not name it; ``percepts`` are those of the role.
        sound: whether all of them are ground terms, and not too many.
    """

    row: tuple[str, ...]
    key: tuple[str, ...]
    number: int | None
    own: Term | None
    percepts: frozenset[Term]
    sound: bool

    @classmethod
    def read(cls, moves: Sequence[str] | None) -> _PlayTexts:
        """The contents of a PLAY with these texts."""
        row = texts = tuple(moves or ())
        own_text = row[0].removeprefix(MADE) if row and row[0].startswith(MADE) else None
        if own_text is not None:
            texts = row[1:]
        number, own, percepts = read_told(texts)
        own = own_text or own
        if sum(map(len, texts)) > MOST_CHARACTERS:
            move = None if own_text is None else _term(own_text)
            return cls(row, tuple(map(str.lower, texts)), number, move, frozenset(), sound=False)
        move, seen = None if own is None else _term(own), list(map(_term, percepts))
        terms = frozenset(term for term in seen if term is not None)
        sound = None not in seen and (own is None or move is not None)
        return cls(row, tuple(map(fold, texts)), number, move, terms, sound)

    @property
    def begins(self) -> bool:
        """Whether this PLAY may come before the first turn."""
        return self.sound and self.own is None and not self.percepts


@dataclass(frozen=True, slots=True)
class _BlindCourse:
    """One course that the match may have taken, as the role knows it.

    Attributes:
        belief: the states that the role considers possible then. It does not change.
        rows: the PLAYs about its turns.
        last: the last PLAY, including that of the beginning; None if it is not known.
        begun: whether there was a PLAY.
        answered: whether it was answered in time; ``own`` is the answered move, None if it was not legal:
            then the manager has chosen another.
        doubt: the sum of doubts and dropped PLAYs on this course.
        lost: whether a PLAY was accepted that does not fit.
    """

    belief: Belief
    rows: tuple[tuple[str, ...], ...] = ()
    last: _PlayTexts | None = None
    begun: bool = True
    answered: bool = False
    own: Term | None = None
    doubt: int = 0
    lost: bool = False

    def repeats(self, play: _PlayTexts) -> bool:
        """Whether this PLAY repeats the last one. Bare percepts may be equal in the next turn, too, but not
        before the manager has its answer."""
        same = self.last is not None and self.last.key == play.key
        return same and (play.number is not None or not self.answered)


@dataclass(frozen=True, slots=True)
class _Lead:
    """The course to which a PLAY leads, the ``doubt`` of that PLAY, and a description of its fault."""

    course: _BlindCourse
    doubt: int = 0
    event: str = ""


class BlindMatch:
    """The knowledge of one role in a match. Its methods are those of
    :class:`ggp.match_process.match_state.MatchState`; ``moves`` are the texts of
    :attr:`ggp.protocol.messages.Report.told`.

    A PLAY continues the newest course if it fits there. Otherwise it may fit the match as it stood before the
    last few PLAYs: then these came from another sender. The match continues on the course with the fewest
    doubts and dropped PLAYs. All of this takes no longer than a turn allows.

    Attributes:
        machine: the machine of the belief.
        role: the index of our role.
        on_first: called as soon as a PLAY has led to one state, long before all of them are found.
    """

    def __init__(self, machine: Machine, role: int, log: Log) -> None:
        self.machine = machine
        self.role = role
        self._log = log
        self.on_first: Callable[[State], None] | None = None
        self._now = _BlindCourse(Belief(machine, role, worlds=WORLDS, effort=EFFORT), begun=False)
        self._earlier: deque[_BlindCourse] = deque(maxlen=KEPT)
        """The courses before each of the last PLAYs, oldest first."""

    @property
    def belief(self) -> Belief:
        """The states that the role considers possible."""
        return self._now.belief

    @property
    def history(self) -> Sequence[tuple[str, ...]]:
        """The texts about each turn."""
        return self._now.rows

    @property
    def state(self) -> State:
        """The likeliest state."""
        return self.belief.likeliest

    @property
    def observed(self) -> tuple[Observed, ...]:
        """The role's observations, turn by turn."""
        return tuple(self.belief.history)

    def options(self) -> list[int]:
        """The legal moves of :attr:`role`."""
        return self.belief.legal_moves()

    def text(self, role: int, move: int) -> str:
        """A move as GDL text in the spelling of the rules."""
        return self.machine.rules.spell(self.machine.move(role, move))

    def replay(self, history: Sequence[Sequence[str]], answers: Sequence[str | None] = ()) -> None:
        """Take in all PLAYs of a match that was begun elsewhere, and the answers given before each, None for
        one that did not arrive in time. Messages before the first turn are not among them."""
        self._now = replace(self._now, begun=self._now.begun or bool(history))
        for row, answer in zip_longest(history, answers[: len(history)]):
            self._answered(answer)
            self._take(_PlayTexts.read(row))

    def follow(self, moves: Sequence[str] | None, answered: str | None, delivered: bool, late: bool) -> bool:
        """Take in a PLAY; False if that PLAY was seen before. See
        :meth:`ggp.match_process.match_state.MatchState.follow`."""
        play = _PlayTexts.read(moves)
        in_time = answered is not None and delivered and not late
        self._now = replace(self._now, begun=self._now.begun or answered is not None)
        self._answered(answered if in_time else None)
        return not self._now.repeats(play) and self._take(play)

    def reported(self, moves: Sequence[str] | None) -> bool:
        """Whether these are the texts of the last PLAY."""
        return self._now.last is not None and self._now.last.key == _PlayTexts.read(moves).key

    def resume(self, moves: Sequence[str] | None) -> bool:
        """Note a PLAY that :meth:`replay` may have taken in; False if it was not a turn."""
        return self.reported(moves) or self._take(_PlayTexts.read(moves))

    def can_be(self, moves: Sequence[str] | None) -> bool:
        """Whether this may be the next turn, or the last one unchanged."""
        play = _PlayTexts.read(moves)
        certain = not self._earlier or self._now.doubt <= self._earlier[-1].doubt
        if certain and any(course.repeats(play) for course in self._earlier):
            return False
        possible = self._possible(play)
        return any(not _fault(course, play, possible)[0] for _, course in self._ways())

    def is_legal(self, text: str) -> bool:
        """Whether this is a legal move of :attr:`role` here."""
        return self._legal(text) is not None

    def finish(self, moves: Sequence[str] | None) -> list[int | None] | None:
        """End the match; the goals are not reported, so the result is None."""
        return None

    def _answered(self, answer: str | None) -> None:
        """Note the answer to the last PLAY, if it was in time."""
        if answer is not None:
            self._now = replace(self._now, answered=True, own=self._legal(answer))

    def _take(self, play: _PlayTexts) -> bool:
        """Continue the course to which a PLAY leads; False if it repeats the last one."""
        now = self._now
        back, lead = self._best(play, time.monotonic() + SECONDS)
        if lead.doubt == _MISFIT and now.last is not None and now.last.key == play.key:
            return False
        shown = {"turn": play.number, "told": " ".join(play.row)[:200]}
        if not (now.begun or play.begins):
            self._log("warning", "the match has begun without us", **shown)
        if lead.event:
            self._log("warning", lead.event, **shown)
        elif back:
            self._log("warning", "earlier PLAYs came from another sender", dropped=back, **shown)
        self._earlier.append(now)
        self._now = lead.course
        return True

    def _best(self, play: _PlayTexts, until: float) -> tuple[int, _Lead]:
        """The best course to which this PLAY leads, and the number of PLAYs before it that are dropped for
        it."""
        found: list[tuple[int, int, _Lead]] = []
        possible = self._possible(play)
        for back, course in sorted(self._ways(), key=_likely):
            glance = _fault(course, play, possible)
            if glance[0] < _MISFIT and (not found or time.monotonic() < until):
                lead = self._lead(course, play, glance)
                found.append((lead.doubt, back, lead))
                if not lead.doubt:
                    break
        if not found:
            back, course = self._nearest(play)
            found.append((_MISFIT, back, self._lead(course, play, _fault(course, play, possible))))
        doubt, back, lead = min(found, key=lambda one: one[:2])
        return back, replace(lead, course=replace(lead.course, doubt=lead.course.doubt + back + doubt))

    def _nearest(self, play: _PlayTexts) -> tuple[int, _BlindCourse]:
        """The newest course after which a PLAY of this dialect and number is due, otherwise the newest of
        all."""
        ways = self._ways()
        return next((way for way in ways if not _misplaced(way[1], play)), ways[0])

    def _ways(self) -> list[tuple[int, _BlindCourse]]:
        """The courses before the last PLAYs, newest first, each with the number of PLAYs since."""
        return [(0, self._now), *enumerate(reversed(self._earlier), 1)]

    def _possible(self, play: _PlayTexts) -> bool:
        """Whether the role can ever have such a move and such percepts."""
        return self.belief.world_machine.can_be(Observed(play.own, play.percepts))

    def _lead(self, course: _BlindCourse, play: _PlayTexts, glance: tuple[int, str]) -> _Lead:
        """The course to which a PLAY leads from ``course``, with the first verdict of :func:`_fault`."""
        if course.repeats(play):
            return _Lead(course)
        if course.last is None and play.begins and not (course.begun and play.number is None):
            return _Lead(replace(course, last=play, begun=True))
        seen, row = self._observed(course, play), play.row
        if play.number is None and play.own is None and seen.move is not None:
            row = (MADE + self.machine.rules.spell(seen.move), *row)
        belief = course.belief.copy()
        event = "percepts that fit no state"
        try:
            first = None if glance[0] else self.on_first
            fits = belief.update(seen, time.monotonic() + SECONDS / SHARE, first)
        except GdlError:
            fits, event = False, "a turn that cannot be"
        doubt, event = glance if fits or glance[0] == _MISFIT else (_MISFIT, event)
        if play.number is None and not glance[0] and not (course.belief.exact or course.lost):
            # Percepts that fit none of some worlds may fit a world that was not drawn, and nothing else
            # distinguishes turns without numbers.
            doubt = 0
        lost = course.lost or doubt == _MISFIT
        return _Lead(
            _BlindCourse(belief, (*course.rows, row), play, doubt=course.doubt, lost=lost), doubt, event
        )

    def _observed(self, course: _BlindCourse, play: _PlayTexts) -> Observed:
        """The role's observations then. A move that it never has counts as unknown, as for players."""
        own = play.own
        if play.number is None and own is None:
            own = course.own
        if self.belief.world_machine.own_move(own) == -1:
            own = None
        return Observed(own, play.percepts)

    def _legal(self, text: str) -> Term | None:
        """The move if it is legal; otherwise None."""
        term, moves = _term(text), self.options()
        return term if any(self.machine.move(self.role, move) is term for move in moves) else None


def _fault(course: _BlindCourse, play: _PlayTexts, possible: bool) -> tuple[int, str]:
    """The doubt about a PLAY at first sight, and a description of its fault; ``possible``: whether the role
    can ever have such a move and such percepts."""
    if course.repeats(play):
        return 0, ""
    if event := _misplaced(course, play):
        return _MISFIT, event
    if not play.sound:
        return _MISFIT, "percepts that are not terms"
    if not possible:
        return _MISFIT, "percepts that fit no state"
    if play.number is not None and course.own is not None and play.own is not course.own:
        return ODD, "another move than ours"
    return 0, ""


def _misplaced(course: _BlindCourse, play: _PlayTexts) -> str:
    """The fault in the dialect or the number of a PLAY at this point; empty if there is none."""
    last = course.last
    if last is None:
        return "" if play.number is None or play.number <= FIRST else "a wrong turn number"
    if (last.number is None) != (play.number is None):
        return "a turn in another dialect"
    if last.number is not None and play.number != last.number + 1:
        return "a wrong turn number"
    return ""


def _likely(way: tuple[int, _BlindCourse]) -> tuple[int, int]:
    """The sort key of courses: by the sum of doubts and dropped PLAYs, then by dropped PLAYs."""
    back, course = way
    return course.doubt + back, back


def _term(text: str) -> Term | None:
    """A ground term, None if the text is not one."""
    try:
        term = parse_term(text)
    except GdlError:
        return None
    return term if term.ground else None
