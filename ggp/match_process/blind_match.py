"""Follows a match of hidden information by what a game manager tells one role of it, whatever it tells.

It holds a belief, small enough to grow in the time of a turn, and with it a legal move. A PLAY may be
somebody else's: its percepts fit no possible state, its turn number is wrong, the role cannot have made its
move. Such a PLAY is logged, and the match goes on. The last few beliefs are kept: a PLAY that does not fit
the newest one may fit an earlier one, and then those in between were somebody else's.
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
"""Of the belief: a turn must not take the prover longer than some tenths of a second."""
SECONDS = 0.25
"""Of a turn, after which it draws no more worlds than it needs, and tries no further way that the match may
have gone."""
FIRST = 2
"""The largest number that the first turn has: managers begin to count at 0 or 1 before it."""
MADE = "made "
"""Begins what tells in :attr:`BlindMatch.history` of the role's move before bare percepts."""
KEPT = 6
"""PLAYs that may turn out to be somebody else's."""
MOST_CHARACTERS = 100_000
"""Of what a PLAY tells: terms of more are not read, which would take a turn's time."""
MISFIT, ODD = 2, 1
"""How much a PLAY is doubted that does not fit, and one that names another move than we answered: the manager
may have replaced ours. A PLAY that is dropped counts 1."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a PLAY tells.

    Attributes:
        row: its texts, as :attr:`ggp.protocol.messages.Report.told` gives them, in :attr:`BlindMatch.history`
            before bare percepts the role's move; ``key`` is what the manager told, folded.
        number: of the turn; None in the dialect without.
        own: the role's move, None where it is not told; ``percepts`` of the role.
        sound: whether all of them are ground terms, and not too many.
    """

    row: tuple[str, ...]
    key: tuple[str, ...]
    number: int | None
    own: Term | None
    percepts: frozenset[Term]
    sound: bool

    @classmethod
    def read(cls, moves: Sequence[str] | None) -> Told:
        """Of the texts of a PLAY."""
        row = texts = tuple(moves or ())
        made = row[0].removeprefix(MADE) if row and row[0].startswith(MADE) else None
        if made is not None:
            texts = row[1:]
        number, own, percepts = read_told(texts)
        own = made or own
        if sum(map(len, texts)) > MOST_CHARACTERS:
            move = None if made is None else _term(made)
            return cls(row, tuple(map(str.lower, texts)), number, move, frozenset(), sound=False)
        move, seen = None if own is None else _term(own), list(map(_term, percepts))
        known = frozenset(term for term in seen if term is not None)
        sound = None not in seen and (own is None or move is not None)
        return cls(row, tuple(map(fold, texts)), number, move, known, sound)

    @property
    def begins(self) -> bool:
        """Whether this may be told before the first turn."""
        return self.sound and self.own is None and not self.percepts


@dataclass(frozen=True, slots=True)
class BlindCourse:
    """One way in which a match may have gone, as the role knows it.

    Attributes:
        belief: what the role holds for possible then. It does not change any more.
        rows: the PLAYs that told of its turns.
        told: the last PLAY, that of the beginning included; None where it is not known.
        begun: whether there was a PLAY.
        answered: whether it was answered in time; ``made`` with which move, None if that was not legal: then
            the manager has made another.
        doubt: how much was doubted and dropped on this way.
        lost: whether a PLAY was taken that does not fit.
    """

    belief: Belief
    rows: tuple[tuple[str, ...], ...] = ()
    told: Told | None = None
    begun: bool = True
    answered: bool = False
    made: Term | None = None
    doubt: int = 0
    lost: bool = False

    def repeats(self, told: Told) -> bool:
        """Whether this PLAY is the last one once more. Bare percepts may be equal in the next turn, too, but
        not before the manager has its answer."""
        same = self.told is not None and self.told.key == told.key
        return same and (told.number is not None or not self.answered)


@dataclass(frozen=True, slots=True)
class Lead:
    """Where a PLAY leads from some course, ``doubt`` of that PLAY, and what is wrong with it in words."""

    course: BlindCourse
    doubt: int = 0
    event: str = ""


class BlindMatch:
    """What one role knows of a match. It is told of turns as
    :class:`ggp.match_process.match_state.MatchState` is; ``moves`` are what
    :attr:`ggp.protocol.messages.Report.told` gives.

    A PLAY leads on from the newest course if it fits there. If not, it may fit where the match stood before
    the last few PLAYs: then these were somebody else's. The match goes on where the fewest PLAYs are doubted
    and dropped. All of this takes no longer than a turn may.

    Attributes:
        machine: the machine of the belief.
        role: the index of our role.
        on_first: called as soon as a PLAY has led to a state, long before all of them are found.
    """

    certain = False
    """Whether the state is known, so that one could look ahead."""

    def __init__(self, machine: Machine, role: int, log: Log) -> None:
        self.machine = machine
        self.role = role
        self._log = log
        self.on_first: Callable[[State], None] | None = None
        self._now = BlindCourse(Belief(machine, role, worlds=WORLDS, effort=EFFORT), begun=False)
        self._kept: deque[BlindCourse] = deque(maxlen=KEPT)
        """Where the match seemed to stand before each of the last PLAYs, oldest first."""

    @property
    def belief(self) -> Belief:
        """What the role holds for possible."""
        return self._now.belief

    @property
    def history(self) -> Sequence[tuple[str, ...]]:
        """What was told of each turn."""
        return self._now.rows

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
        """Take all PLAYs of a match that was begun elsewhere, and the answers given before each, None for one
        that did not arrive in time. What was told before the first turn is not among them."""
        self._now = replace(self._now, begun=self._now.begun or bool(history))
        for row, answer in zip_longest(history, answers[: len(history)]):
            self._answered(answer)
            self._take(Told.read(row))

    def follow(self, moves: Sequence[str] | None, answered: str | None, delivered: bool, late: bool) -> bool:
        """Take in what a PLAY tells; False if that PLAY was seen before. See
        :meth:`ggp.match_process.match_state.MatchState.follow`."""
        told = Told.read(moves)
        in_time = answered is not None and delivered and not late
        self._now = replace(self._now, begun=self._now.begun or answered is not None)
        self._answered(answered if in_time else None)
        return not self._now.repeats(told) and self._take(told)

    def reported(self, moves: Sequence[str] | None) -> bool:
        """Whether this is what a PLAY told last."""
        return self._now.told is not None and self._now.told.key == Told.read(moves).key

    def resume(self, moves: Sequence[str] | None) -> bool:
        """Note a PLAY that :meth:`replay` may have taken in; False if it was no turn."""
        return self.reported(moves) or self._take(Told.read(moves))

    def can_be(self, moves: Sequence[str] | None) -> bool:
        """Whether this may be a turn that follows, or the last one as it was."""
        told = Told.read(moves)
        certain = not self._kept or self._now.doubt <= self._kept[-1].doubt
        if certain and any(course.repeats(told) for course in self._kept):
            return False
        possible = self._possible(told)
        return any(not _fault(course, told, possible)[0] for _, course in self._ways())

    def is_legal(self, text: str) -> bool:
        """Whether :attr:`role` may do this here."""
        return self._legal(text) is not None

    def finish(self, moves: Sequence[str] | None) -> list[int | None] | None:
        """The match is over; what it was worth is not told."""
        return None

    def _answered(self, answer: str | None) -> None:
        """Note what was answered in time to the last PLAY."""
        if answer is not None:
            self._now = replace(self._now, answered=True, made=self._legal(answer))

    def _take(self, told: Told) -> bool:
        """Go where a PLAY leads; False if it is taken for the last one once more."""
        now = self._now
        back, lead = self._best(told, time.monotonic() + SECONDS)
        if lead.doubt == MISFIT and now.told is not None and now.told.key == told.key:
            return False
        shown = {"turn": told.number, "told": " ".join(told.row)[:200]}
        if not (now.begun or told.begins):
            self._log("warning", "the match has begun without us", **shown)
        if lead.event:
            self._log("warning", lead.event, **shown)
        elif back:
            self._log("warning", "PLAYs before were somebody else's", dropped=back, **shown)
        self._kept.append(now)
        self._now = lead.course
        return True

    def _best(self, told: Told, until: float) -> tuple[int, Lead]:
        """Where this PLAY leads, and how many PLAYs before it are dropped for it."""
        found: list[tuple[int, int, Lead]] = []
        possible = self._possible(told)
        for back, course in sorted(self._ways(), key=_likely):
            glance = _fault(course, told, possible)
            if glance[0] < MISFIT and (not found or time.monotonic() < until):
                lead = self._lead(course, told, glance)
                found.append((lead.doubt, back, lead))
                if not lead.doubt:
                    break
        if not found:
            back, course = self._nearest(told)
            found.append((MISFIT, back, self._lead(course, told, _fault(course, told, possible))))
        doubt, back, lead = min(found, key=lambda one: one[:2])
        return back, replace(lead, course=replace(lead.course, doubt=lead.course.doubt + back + doubt))

    def _nearest(self, told: Told) -> tuple[int, BlindCourse]:
        """The newest course after which a PLAY of this dialect and number is due, else the newest of all."""
        ways = self._ways()
        return next((way for way in ways if not _misplaced(way[1], told)), ways[0])

    def _ways(self) -> list[tuple[int, BlindCourse]]:
        """Where the match seemed to stand before the last PLAYs, newest first, and how many came since."""
        return [(0, self._now), *enumerate(reversed(self._kept), 1)]

    def _possible(self, told: Told) -> bool:
        """Whether the role ever has such a move and such percepts."""
        return self.belief.world_machine.can_be(Observed(told.own, told.percepts))

    def _lead(self, course: BlindCourse, told: Told, glance: tuple[int, str]) -> Lead:
        """Where a PLAY leads from there, with what :func:`_fault` says of it at a glance."""
        if course.repeats(told):
            return Lead(course)
        if course.told is None and told.begins and not (course.begun and told.number is None):
            return Lead(replace(course, told=told, begun=True))
        seen, row = self._observed(course, told), told.row
        if told.number is None and told.own is None and seen.move is not None:
            row = (MADE + self.machine.rules.spell(seen.move), *row)
        belief = course.belief.copy()
        event = "percepts that fit no state"
        try:
            first = None if glance[0] else self.on_first
            fits = belief.update(seen, time.monotonic() + SECONDS / SHARE, first)
        except GdlError:
            fits, event = False, "a turn that cannot be"
        doubt, event = glance if fits or glance[0] == MISFIT else (MISFIT, event)
        if told.number is None and not glance[0] and not (course.belief.exact or course.lost):
            # What fits none of some worlds may fit one that was not drawn, and turns without numbers are told
            # apart by nothing else.
            doubt = 0
        lost = course.lost or doubt == MISFIT
        return Lead(
            BlindCourse(belief, (*course.rows, row), told, doubt=course.doubt, lost=lost), doubt, event
        )

    def _observed(self, course: BlindCourse, told: Told) -> Observed:
        """What the role has learnt then. A move that it never has is none: players follow this, too."""
        own = told.own
        if told.number is None and own is None:
            own = course.made
        if self.belief.world_machine.own_move(own) == -1:
            own = None
        return Observed(own, told.percepts)

    def _legal(self, text: str) -> Term | None:
        """A move where it is legal."""
        term, moves = _term(text), self.options()
        return term if any(self.machine.move(self.role, move) is term for move in moves) else None


def _fault(course: BlindCourse, told: Told, possible: bool) -> tuple[int, str]:
    """How much a PLAY is doubted there at a glance, and what is wrong with it in words; ``possible``: whether
    the role ever has such a move and such percepts."""
    if course.repeats(told):
        return 0, ""
    if event := _misplaced(course, told):
        return MISFIT, event
    if not told.sound:
        return MISFIT, "percepts that are no terms"
    if not possible:
        return MISFIT, "percepts that fit no state"
    if told.number is not None and course.made is not None and told.own is not course.made:
        return ODD, "another move than ours"
    return 0, ""


def _misplaced(course: BlindCourse, told: Told) -> str:
    """What is wrong with the dialect or the number of a PLAY there; empty if nothing is."""
    last = course.told
    if last is None:
        return "" if told.number is None or told.number <= FIRST else "a wrong turn number"
    if (last.number is None) != (told.number is None):
        return "a turn in another dialect"
    if last.number is not None and told.number != last.number + 1:
        return "a wrong turn number"
    return ""


def _likely(way: tuple[int, BlindCourse]) -> tuple[int, int]:
    """The order of ways: by how much is doubted and dropped, those that drop less before others."""
    back, course = way
    return course.doubt + back, back


def _term(text: str) -> Term | None:
    """A ground term, None where the text is none."""
    try:
        term = parse_term(text)
    except GdlError:
        return None
    return term if term.ground else None
