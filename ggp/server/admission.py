"""Whether one more match can be answered in time, by what keepers were measured to need.

A keeper has to know a legal move before a playclock ends, also where the keepers of all matches are asked at
the same moment. So what counts is the CPU time that each needs in a turn, as a share of the time it has. The
sum over all matches may take :data:`SHARE` of the processors: searches and builders give way, but the event
loop, the followers beside the searches and the system need some, too.

A keeper measures itself: in random games while the startclock runs, and then in each turn. Of that the peak
is kept, which fades. What a keeper of some rules needed at first is remembered: a manager that asks again and
again for a match there is no room for starts no processes, which would take from those that are played.

`Ranks` says which processes of a match that was admitted go first, by the nice values of their sessions.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Callable, Iterable
from typing import Protocol

from ggp.protocol.messages import Start
from ggp.server.known import Remembered
from ggp.server.supervised_process import SupervisedProcess
from ggp.server.turn import Turn
from players.processes.priority import USUAL, WAITS

SHARE = 0.5
"""Share of the processors that all keepers together may need."""
LEAST = 0.02
"""CPU seconds that every match needs in a turn besides: messages, its follower, looking ahead."""
FADING = 0.9
"""What is left of a peak after a turn: half of it after seven turns."""


class KeeperNeed:
    """CPU seconds that a keeper needs in a turn; ``inf`` until it was measured."""

    def __init__(self) -> None:
        self.seconds = math.inf
        self._known = asyncio.Event()

    def note(self, seconds: float) -> None:
        """A keeper has measured a turn."""
        faded = FADING * self.seconds if self._known.is_set() else 0.0
        self.seconds = max(seconds, faded)
        self._known.set()

    async def known(self, until: float) -> None:
        """Wait until it was measured, or until this time.monotonic()."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._known.wait(), max(0.0, until - time.monotonic()))

    def share(self, clock: float) -> float:
        """The share of a processor that it takes in so many seconds, in which it has to be done."""
        return (self.seconds + LEAST) / max(clock, 1e-3)


class Applicant(Protocol):
    """A match: how it was begun, whether it was ``admitted``, what share of a processor it needs, how to wait
    until that is known."""

    start: Start
    admitted: bool

    @property
    def share_needed(self) -> float: ...

    async def measure(self) -> None: ...


class Admission:
    """Admits matches to so many processors."""

    def __init__(self, processors: int) -> None:
        self._most = SHARE * processors
        self._needed: Remembered[float] = Remembered()

    def room(self, running: Iterable[Applicant], share: float = 0.0) -> bool:
        """Whether a match may come that needs this share, as far as is known."""
        return sum(_measured(running)) + share <= self._most

    async def admit(self, match: Applicant, running: Callable[[], Iterable[Applicant]]) -> bool:
        """Admit a match that has begun beside those that are ``running``, if there are processors enough. One
        that has them for itself is always admitted."""
        beside = [other for other in running() if other.admitted]
        if beside:
            await asyncio.gather(*(each.measure() for each in (match, *beside)))
            if match.share_needed < math.inf:
                self._needed.note(_known_by(match), match.share_needed)
        others = _shares(running())
        match.admitted = not others or sum(others) + match.share_needed <= self._most
        return match.admitted

    def refuses(self, match: Applicant, running: Iterable[Applicant]) -> bool:
        """Whether it is known before anything is started that this match will not be admitted."""
        running = list(running)
        return bool(_measured(running)) and not self.room(running, self._needed.recall(_known_by(match), 0.0))

    def told(self, running: Iterable[Applicant]) -> str:
        """For the status page."""
        return f"{sum(_shares(running)):.2f} of {self._most:g} processors"


def _known_by(match: Applicant) -> str:
    return f"{match.start.playclock} {match.start.rules}"


def _shares(running: Iterable[Applicant]) -> list[float]:
    return [match.share_needed for match in running if match.admitted]


def _measured(running: Iterable[Applicant]) -> list[float]:
    return [share for share in _shares(running) if share < math.inf]


class Ranks:
    """Ranks the process that thinks and the keeper of one match.

    A keeper that is asked for a move goes before one that plays random games, and before the thinking of
    matches that share processors with others, unless that is all there is to follow the match.
    """

    def __init__(self, main: SupervisedProcess, keeper: SupervisedProcess) -> None:
        self._main, self._keeper = main, keeper
        self._practises = False

    def practises(self, goes_on: bool, turn: Turn | None) -> None:
        """The keeper says whether it plays random games between turns."""
        self._practises = goes_on
        self.asked(turn)

    def asked(self, turn: Turn | None) -> None:
        """There is a new turn, or the keeper has named a move in this one."""
        waits = self._practises and (turn is None or turn.answered or self._keeper.heard >= turn.id)
        self._keeper.rank(WAITS if waits else USUAL)

    def thinks(self, turn: Turn | None, behind: bool) -> None:
        """Rank the process that thinks, ``behind`` others if the keeper knows the turn. To be called now and
        then."""
        known = turn is None or (self._keeper.alive and self._keeper.heard >= turn.id)
        self._main.rank(WAITS if known and behind else USUAL)
