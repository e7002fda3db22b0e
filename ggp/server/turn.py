"""One PLAY that is being answered by the server, or was."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ggp.protocol.messages import NO_MOVE


@dataclass
class Turn:
    """See the module's first line.

    Attributes:
        id: counts the PLAYs.
        key: the moves without differences of case and spacing; what a re-sent PLAY is known by.
        received: when it came; ``due``: when the playclock ends; ``deadline``: when the search ends.
        answer: what is replied.
        before: the turn before; only to begin with.
        safe: a legal move, known before any search.
        pressed: whether any legal move is to be answered as soon as one is known.
        advanced: whether the processes have made ``moves``.
        delivered: whether the answer left this machine without an error; ``late``: after the clock.
        known: the safe move of the turn before.
    """

    id: int
    moves: tuple[str, ...] | None
    key: tuple[str, ...] | None
    received: float
    due: float
    deadline: float
    answer: asyncio.Future[str] = field(repr=False)
    before: Turn | None = field(repr=False)
    safe: str | None = None
    pressed: bool = False
    advanced: bool = False
    delivered: bool = True
    late: bool = False

    @classmethod
    def after(
        cls,
        before: Turn | None,
        moves: tuple[str, ...] | None,
        key: tuple[str, ...] | None,
        received: float,
        clock: float,
        margin: float,
    ) -> Turn:
        """The turn that a PLAY begins which came at ``received`` (time.monotonic() seconds)."""
        return cls(
            id=1 if before is None else before.id + 1,
            moves=moves,
            key=key,
            received=received,
            due=received + clock,
            deadline=received + clock - margin,
            answer=asyncio.get_running_loop().create_future(),
            before=before,
        )

    def __post_init__(self) -> None:
        before, self.before = self.before, None
        self._timer: asyncio.TimerHandle | None = None
        self.known = before.safe if before is not None else None
        self._answered = before.answer.result() if before is not None else None
        self._was_delivered = before is None or before.delivered
        self._was_late = before is not None and before.late

    def asked(self) -> dict[str, Any]:
        """What processes are asked."""
        return {
            "id": self.id,
            "moves": self.moves,
            "answered": self._answered,
            "delivered": self._was_delivered,
            "late": self._was_late,
            "advanced": self.advanced,
            "deadline": self.deadline,
        }

    def call_at(self, when: float, do: Callable[[Turn], None]) -> None:
        """Have this done at some time.monotonic() seconds, and not what was to be done before."""
        self.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(max(0.0, when - time.monotonic()), do, self)

    def cancel(self) -> None:
        """Nothing more is to be done."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def finish(self) -> None:
        """Answer with what is known, if nothing was answered."""
        self.cancel()
        if not self.answer.done():
            self.answer.set_result(self.safe or NO_MOVE)
