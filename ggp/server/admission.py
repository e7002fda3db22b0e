"""Decides by the measured needs of standbys whether one more match can be answered in time.

A standby has to know a legal move before a playclock ends, even if the standbys of all matches are asked at
the same moment. So the measure is the CPU time that each needs in a turn, as a share of the time it has. The
sum over all matches may take :data:`SHARE` of the processors. Searches and builders give way, but the event
loop, the followers that run next to the searches, and the system need some time, too.

A standby measures itself. While the startclock runs it plays random games, the first of them to its end,
since the last turns of a match may be the most expensive. After that it measures each turn. The peak is kept
and fades, but not below the need of a whole game. The first need of a standby for some rules is remembered.
So a manager that asks again and again for a match which does not fit starts no processes, which would take
time from running matches.

`Ranks` orders the processes of an admitted match by the nice values of their sessions.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

from ggp.match_process.match_state import fold
from ggp.processes.parent import JsonMessage
from ggp.protocol.messages import Start
from ggp.server.settings import MatchSettings
from ggp.server.supervised_process import SupervisedProcess
from ggp.server.turn import Turn
from players.processes.limits import BEHIND, USUAL, WAITS

MOST = 1000
"""The most texts remembered; the oldest notes are dropped first."""

Fact = TypeVar("Fact")


class History:
    """The moves played. ``moves`` are the joint moves, by the number of the PLAY that reported them."""

    def __init__(self) -> None:
        self.moves: dict[int, tuple[str, ...]] = {}
        self._answers: dict[int, str | None] = {}
        self._followed_to = 0

    def begin(self, turn: Turn) -> None:
        """Note a PLAY that has come."""
        self._answers[turn.id] = turn.told_before
        if turn.moves is not None:
            self.moves[turn.id] = turn.moves

    def followed(self, turn: int, joint: list[str] | None) -> list[tuple[str, ...]]:
        """Note the joint move that a process has made of a PLAY; None if that was not a new turn. Returns all
        joint moves up to the furthest process."""
        if joint is not None:
            self.moves[turn] = tuple(joint)
        else:
            self.moves.pop(turn, None)
        self._followed_to = max(self._followed_to, turn)  # the other process may be behind
        return [self.moves[id] for id in sorted(self.moves) if id <= self._followed_to]

    def briefing(self, turn: Turn | None) -> JsonMessage:
        """The history for a process that starts later: the joint moves up to the turn that is still to be
        asked, and the answers before each."""
        if turn is not None and turn.answered:
            # The last process may have ended before it reported this turn's moves.
            turn.advanced = True
        played = [id for id in self.moves if turn is None or id < turn.id or turn.advanced]
        return {
            "history": [self.moves[id] for id in played],
            "answers": [self._answers[id] for id in played],
        }


def begins(
    start: Start, settings: MatchSettings, fast: bool, share: JsonMessage, large: list[str]
) -> JsonMessage:
    """The settings that a process of a match gets before the history: whether it may use more than the
    prover, the processors its search may use, and the relations known to be ``large``."""
    return {
        "match": start.match,
        "role": start.role,
        "rules": start.rules,
        "startclock": start.startclock,
        "player": settings.player,
        "fast": fast,
        "seed": settings.seed,
        "share": share,
        "large": large,
    }


class Ahead:
    """Replies to the joint moves that may be reported in the next turn."""

    def __init__(self) -> None:
        self._turn = 0
        self._replies: dict[tuple[str, ...] | None, str] = {}
        self._guess: str | None = None

    def take(self, message: JsonMessage) -> None:
        """Take a process's replies, in one message or several for a turn. Those of turn 0 are the legal moves
        for the first PLAY, which reports nothing."""
        if message["id"] > self._turn:
            self._turn, self._replies = message["id"], {}
        if message["id"] == self._turn:
            self._replies |= {
                None if joint is None else tuple(map(fold, joint)): reply
                for joint, reply in message["replies"]
            }
            self._guess = message["guess"]

    def inform(self, turn: Turn) -> bool:
        """Give a turn the moves known for it. Returns whether a move is known to be legal."""
        if self._turn == turn.id - 1:
            turn.checked, turn.guess = self._replies.get(turn.key), self._guess
        return turn.checked is not None


class Remembered(Generic[Fact]):
    """A fact about each text."""

    def __init__(self) -> None:
        self._facts: OrderedDict[bytes, Fact] = OrderedDict()

    def note(self, text: str, fact: Fact) -> None:
        """Remember a fact, in place of the earlier one."""
        key = _key(text)
        self._facts[key] = fact
        self._facts.move_to_end(key)
        if len(self._facts) > MOST:
            self._facts.popitem(last=False)

    def recall(self, text: str, default: Fact) -> Fact:
        """The fact remembered about a text."""
        return self._facts.get(_key(text), default)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


SHARE = 0.5
"""Share of the processors that all standbys together may need."""
LEAST = 0.02
"""CPU seconds that every match needs in a turn in addition: messages, its follower, looking ahead."""
FADING = 0.9
"""The part of a peak that is left after a turn: half of it after seven turns."""


class StandbyNeed:
    """CPU seconds that a standby needs in a turn; ``inf`` until they are measured in random games."""

    def __init__(self) -> None:
        self._lasting = math.inf
        self._peak = 0.0
        self._known = asyncio.Event()

    @property
    def seconds(self) -> float:
        """The seconds it needs, as far as is known."""
        return max(self._peak, self._lasting)

    def note(self, seconds: float) -> None:
        """Note the seconds that a standby has measured in a turn."""
        self._peak = max(seconds, FADING * self._peak)

    def practised(self, seconds: float, lasting: float, whole: bool) -> None:
        """Note the result of random games: the peak, the part that will not fade, and whether a game was
        ``whole``."""
        self.note(seconds)
        self._lasting = max(lasting, self._lasting if self._lasting < math.inf else 0.0)
        if whole:
            self._known.set()

    async def known(self, until: float) -> None:
        """Wait until the need is measured in a whole game, or until this time.monotonic()."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._known.wait(), max(0.0, until - time.monotonic()))

    def share(self, clock: float) -> float:
        """The share of a processor that it needs to finish within ``clock`` seconds."""
        return (self.seconds + LEAST) / max(clock, 1e-3)


class _Applicant(Protocol):
    """A match: its START, whether it is ``admitted``, the need of its standby and the share of a processor
    that this is, and the time by which it has to be ready (time.monotonic())."""

    start: Start
    admitted: bool
    need: StandbyNeed
    ready_by: float

    @property
    def share_needed(self) -> float: ...


class Admission:
    """Admits matches to a number of processors."""

    def __init__(self, processors: int) -> None:
        self._most = SHARE * processors
        self._needed: Remembered[float] = Remembered()

    def room(self, running: Iterable[_Applicant], share: float = 0.0) -> bool:
        """Whether the processors can take a match that needs this share, as far as is known."""
        return sum(_measured(running)) + share <= self._most

    async def admit(self, match: _Applicant, running: Callable[[], Iterable[_Applicant]]) -> bool:
        """Admit a match that has begun next to the ``running`` ones, if there are enough processors. A match
        that has them for itself is always admitted."""
        waited: list[_Applicant] = []
        # While it waits, a match that was alone may end and the next one be alone, so it looks again.
        while fresh := [other for other in running() if other.admitted and other not in waited]:
            waited += fresh
            await asyncio.gather(*(each.need.known(match.ready_by) for each in (match, *fresh)))
        if waited and match.share_needed < math.inf:
            self._needed.note(_known_by(match), match.share_needed)
        others = _shares(running())
        match.admitted = not others or sum(others) + match.share_needed <= self._most
        return match.admitted

    def refuses(self, match: _Applicant, running: Iterable[_Applicant]) -> bool:
        """Whether it is certain, before anything starts, that this match will not be admitted."""
        running = list(running)
        return bool(_measured(running)) and not self.room(running, self._needed.recall(_known_by(match), 0.0))

    def summary(self, running: Iterable[_Applicant]) -> str:
        """The processors used by the standbys, as text for the status page."""
        return f"{sum(_shares(running)):.2f} of {self._most:g} processors"


def _known_by(match: _Applicant) -> str:
    return f"{match.start.playclock} {match.start.rules}"


def _shares(running: Iterable[_Applicant]) -> list[float]:
    return [match.share_needed for match in running if match.admitted]


def _measured(running: Iterable[_Applicant]) -> list[float]:
    return [share for share in _shares(running) if share < math.inf]


class Ranks:
    """Ranks the process that thinks and the standby of one match.

    A standby that is asked for a move goes before one that plays random games. It also goes before the
    thinking of matches that share processors with others, unless the thinking process is the only one that
    follows the match.
    """

    def __init__(self, main: SupervisedProcess, standby: SupervisedProcess) -> None:
        self._main, self._standby = main, standby
        self._practises = False

    def practises(self, goes_on: bool, turn: Turn | None) -> None:
        """Note the standby's report whether it plays random games between turns."""
        self._practises = goes_on
        self.asked(turn)

    def asked(self, turn: Turn | None) -> None:
        """Note that there is a new turn, or that the standby has named a move in this one."""
        waits = self._practises and (turn is None or turn.answered or self._standby.heard >= turn.id)
        self._standby.rank(WAITS if waits else USUAL)

    def thinks(self, behind: bool, rests: bool) -> None:
        """Rank the process that thinks. With ``behind`` it goes after others if there is a standby, and as
        late as searches with ``rests``, while some standby knows no legal move. Call this regularly."""
        after = BEHIND if rests else WAITS
        self._main.rank(after if behind and self._standby.alive else USUAL)
