"""One PLAY and its answer, as a state machine::

    PLAY
     |
     v        a process names
  THINKING ---- a safe move ----> SAFE
     |                             |
     | the watchdog looks: is a    | the watchdog looks
     | legal move known otherwise? |
     |------------ yes ----------->|
     | no       a legal move, or   v
  PRESSED ---- the last look --> OVERDUE

  THINKING, SAFE, PRESSED ---- the player moves ----> ANSWERED
  OVERDUE ---- the player moves after all ----> CLOSED
  every phase ---- the next PLAY comes, the match ends or is refused ----> CLOSED

The manager has its answer from ANSWERED, OVERDUE and CLOSED on.

Also: the clients that wait for an answer, and the reports of processes about a PLAY that comes meanwhile.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from ggp.match_process.match_state import fold
from ggp.processes.parent import JsonMessage
from ggp.protocol.messages import NO_MOVE, Play
from ggp.server.settings import MOST_WAITING
from ggp.server.supervised_process import SupervisedProcess

_MOST_QUESTIONS = 64
"""Reports of one match that may be checked at the same time."""


class Phase(Enum):
    """The progress of a turn."""

    THINKING = "no legal move is known yet"
    SAFE = "a legal move is known, and the player thinks about a better one"
    PRESSED = "the clock is nearly over: the first legal move that is known will be the answer"
    ANSWERED = "the player's move was the answer"
    OVERDUE = "the watchdog has answered; a process that stays silent hangs"
    CLOSED = "nothing more is expected"


_NEXT = {
    Phase.THINKING: {Phase.SAFE, Phase.PRESSED, Phase.OVERDUE, Phase.ANSWERED, Phase.CLOSED},
    Phase.SAFE: {Phase.OVERDUE, Phase.ANSWERED, Phase.CLOSED},
    Phase.PRESSED: {Phase.OVERDUE, Phase.ANSWERED, Phase.CLOSED},
    Phase.ANSWERED: {Phase.CLOSED},
    Phase.OVERDUE: {Phase.CLOSED},
    Phase.CLOSED: set[Phase](),
}

_WATCH_SHARE = 0.6
"""The share of the margin that is left when the watchdog answers."""
_WATCH_SECONDS, _NEARLY_ALL = 0.06, 0.8
"""The least seconds that are left then, or this share of the margin if that is less."""
_LAST_SHARE = 0.3
"""The share of the margin that is left when it answers although no legal move of this turn is known."""


class Turn:
    """One PLAY. Times are seconds of :func:`time.monotonic`.

    Args:
        before: the turn before, whose answer was given.
        moves: the joint move that the manager reports.
        key: ``moves`` without differences of case and spacing: a repeated PLAY is recognised by it.
        received: when the PLAY came.
        clock: seconds of the playclock.
        margin: seconds before its end at which the search ends.

    Attributes:
        id: counts the turns of a match, from 1.
        phase: the progress of the turn.
        due: when the playclock ends; ``deadline``: when the search ends.
        answer: the answer to the manager.
        safe: a legal move; ``named`` is done when a process has named one.
        best: the move that the player prefers until now; None while it has reported none.
        checked: a move that is legal after ``moves``, as a process found out one turn before.
        guess: the move that was legal after most of the joint moves examined one turn before.
        advanced: whether a process has made ``moves``.
        delivered: whether the answer left this computer without an error; ``late``: after the clock.
        void: whether the reported moves are impossible; the answer is the one before.
    """

    def __init__(
        self,
        before: Turn | None,
        moves: tuple[str, ...] | None,
        key: tuple[str, ...] | None,
        received: float,
        clock: float,
        margin: float,
    ) -> None:
        self.id: int = 1 if before is None else before.id + 1
        self.phase = Phase.THINKING
        self.moves = moves
        self.key = key
        self.received = received
        self.due = received + clock
        self.deadline = self.due - margin
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.safe: str | None = None
        self.best: str | None = None
        self.checked: str | None = None
        self.guess: str | None = None
        self.named: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.advanced = False
        self.delivered = True
        self.late = False
        self.void = False
        self._timer: asyncio.TimerHandle | None = None
        self._report: dict[str, Any] = {
            "id": self.id,
            "moves": moves,
            "answered": None if before is None else before.answer.result(),
            "delivered": before is None or before.delivered,
            "late": before is not None and before.late,
            "deadline": self.deadline,
        }

    @property
    def answered(self) -> bool:
        """Whether the manager has its answer."""
        return self.answer.done()

    @property
    def legal(self) -> str | None:
        """A move that some process knows to be legal; None while there is none."""
        return self.safe or self.checked

    @property
    def watched_from(self) -> float:
        """The time at which the watchdog answers with a known legal move, if there is one."""
        margin = self.due - self.deadline
        return self.due - max(_WATCH_SHARE * margin, min(_WATCH_SECONDS, _NEARLY_ALL * margin))

    @property
    def last_moment(self) -> float:
        """The time at which it answers although no legal move of this turn is known."""
        return self.due - _LAST_SHARE * (self.due - self.deadline)

    @property
    def told_before(self) -> str | None:
        """The answer to the PLAY before; None if it did not arrive in time."""
        report = self._report
        return report["answered"] if report["delivered"] and not report["late"] else None

    def request(self) -> dict[str, Any]:
        """The fields of ``play`` for the processes that follow the match."""
        return {**self._report, "advanced": self.advanced}

    def name_safe(self, move: str) -> None:
        """Take a legal move that a process has named."""
        self.safe = self.safe or move
        self.advanced = True
        if not self.named.done():
            self.named.set_result(None)
        if self.phase is Phase.THINKING:
            self._enter(Phase.SAFE)

    def press(self) -> None:
        """Note that the clock is nearly over, and no legal move is known."""
        self._enter(Phase.PRESSED)

    def stand_in(self) -> str:
        """Answer for the player; returns the move."""
        self._enter(Phase.OVERDUE)
        move = self.best or self.legal or self.guess or NO_MOVE
        self.answer.set_result(move)
        return move

    def take_move(self, move: str) -> bool:
        """Take the player's move; False if the manager has an answer already."""
        if self.answered:
            if self.phase is Phase.OVERDUE:
                self.close()
            return False
        self._enter(Phase.ANSWERED)
        self.call_off()
        self.safe = move
        self.advanced = True
        self.answer.set_result(move)
        return True

    def annul(self) -> None:
        """Mark the reported moves as impossible: the delivery of the answer before counts for the next
        report."""
        self.void = True
        self.delivered, self.late = bool(self._report["delivered"]), bool(self._report["late"])

    def close(self) -> None:
        """Close the turn: answer with a legal move, or none, if nothing was answered. Only :meth:`stand_in`
        may guess."""
        if self.phase is Phase.CLOSED:
            return
        self._enter(Phase.CLOSED)
        self.call_off()
        if not self.answered:
            self.answer.set_result(self.legal or NO_MOVE)

    def _enter(self, phase: Phase) -> None:
        """Change the phase. Raises RuntimeError if it does not follow the turn's present phase."""
        if phase not in _NEXT[self.phase]:
            raise RuntimeError(f"turn {self.id}: {phase.name} does not follow {self.phase.name}")
        self.phase = phase

    def call_at(self, when: float, do: Callable[[Turn], None]) -> None:
        """Schedule a call, replacing the earlier timer."""
        self.call_off()
        delay = max(0.0, when - time.monotonic())
        self._timer = asyncio.get_running_loop().call_later(delay, do, self)

    def call_off(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Crowd:
    """The clients that wait for the same answer. A repeated message takes over from the earlier ones: with
    more than :data:`MOST_WAITING`, the oldest gets the best known answer. The very first client is an
    exception, since it may be the manager's only one among those of others."""

    def __init__(self) -> None:
        self._places: list[asyncio.Future[None]] = []

    @contextmanager
    def place(self) -> Iterator[asyncio.Future[Any]]:
        """A client's place while it waits: the future is done when it has to leave."""
        hurried: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._places.append(hurried)
        if len(self._places) > MOST_WAITING:
            self._places.pop(1).set_result(None)
        try:
            yield hurried
        finally:
            if hurried in self._places:
                self._places.remove(hurried)


class Verdicts:
    """Asks the processes of one match whether a report is possible: the first reply counts."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._open: dict[int, asyncio.Future[bool]] = {}

    async def ask(
        self,
        processes: Iterable[SupervisedProcess],
        moves: tuple[str, ...] | None,
        until: asyncio.Future[str],
    ) -> bool:
        """Whether these moves are possible. Returns True if there is no reply when ``until`` is done, and
        False with :data:`_MOST_QUESTIONS` open."""
        if len(self._open) >= _MOST_QUESTIONS:
            return False
        number = next(self._numbers)
        verdict = self._open[number] = asyncio.get_running_loop().create_future()
        for process in processes:
            process.send("judge", question=number, moves=moves)
        try:
            await asyncio.wait([verdict, until], return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self._open[number]
        return not verdict.done() or verdict.result()

    def take(self, message: JsonMessage) -> None:
        """Take the reply of a process."""
        verdict = self._open.get(message["question"])
        if verdict is not None and not verdict.done():
            verdict.set_result(message["can_be"])


def play_key(message: Play) -> tuple[str, ...] | None:
    """The key that distinguishes a PLAY from another turn's."""
    return None if message.told is None else tuple(map(fold, message.told))
