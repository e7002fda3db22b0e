"""The computers and cores on which a tournament plays, and the referees' processes on this one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import accumulate, chain
from typing import Protocol

from ggp.processes.parent import JsonMessage
from ggp.tournament.process import TournamentProcess
from players.processes.limits import processors

CoreSets = tuple[tuple[int, ...], ...]
"""The cores of each player of a match."""


class Cores:
    """The cores that the tournament may use, and which of them are free."""

    def __init__(self, cores: Sequence[int]) -> None:
        self.all = tuple(cores)
        self._free = list(cores)

    def take(self, needs: Sequence[int], shared: bool) -> CoreSets | None:
        """Cores for each player of a match; None if they are not free.

        A match that needs more cores than there are gets all of them for all of its players, alone.

        Args:
            needs: the number of cores that each player keeps busy.
            shared: the players take turns, and one set of cores is enough.
        """
        needed = max(needs, default=0) if shared else sum(needs)
        if needed > len(self.all):
            if len(self._free) < len(self.all):
                return None
            self._free.clear()
            return tuple(self.all if need else () for need in needs)
        if needed > len(self._free):
            return None
        cores, self._free = self._free[:needed], self._free[needed:]
        starts = [0] * len(needs) if shared else [0, *accumulate(needs)]
        return tuple(tuple(cores[start : start + need]) for start, need in zip(starts, needs, strict=False))

    def give_back(self, cores: Sequence[Sequence[int]]) -> None:
        """Free the cores of a match that is over."""
        self._free = sorted({*self._free, *chain(*cores)})


class Site(Protocol):
    """A computer, or a part of one, that plays matches."""

    cores: Cores

    async def play(self, job: JsonMessage, heard: Callable[[JsonMessage], None]) -> JsonMessage | None:
        """The referee's last message about a match, ``done`` or ``failed``; None if it crashed. ``heard`` is
        called with each step before. Raises LostWorkerError if the site is lost with the match."""


class Sites(Protocol):
    """All computers of a tournament, which may come and go."""

    @property
    def open(self) -> Sequence[Site]:
        """The computers that can play now."""

    async def look(self) -> None:
        """Look for new and lost computers. Raises GdlError if there has been none for too long."""

    @property
    def patience(self) -> float | None:
        """Seconds after which to look again; None if no computers can come."""

    async def close(self) -> None:
        """End all referees."""


class OwnSite:
    """This computer, with referees in processes that go from match to match; also the :class:`Sites` of a
    tournament that plays on it alone."""

    patience: float | None = None

    def __init__(self, cores: Sequence[int] | None = None) -> None:
        self.cores = Cores(processors() if cores is None else cores)
        self.open: Sequence[Site] = [self]
        self._idle: list[TournamentProcess] = []

    async def play(self, job: JsonMessage, heard: Callable[[JsonMessage], None]) -> JsonMessage | None:
        """Play a match as :meth:`Site.play` does."""
        child = self._idle.pop() if self._idle else await TournamentProcess.start("ggp.tournament.referee")
        reusable = False
        try:
            child.send("play", **job)
            while (message := await child.inbox.get()) is not None:
                if message["kind"] not in ("step", "waits"):
                    reusable = True
                    return message
                heard(message)
            return None
        finally:
            if reusable:
                self._idle.append(child)
            else:
                await asyncio.shield(child.close())

    async def look(self) -> None:
        """Do nothing: no computers come or go."""

    async def close(self) -> None:
        """End the referees."""
        await asyncio.gather(*(child.close() for child in self._idle))
