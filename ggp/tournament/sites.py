"""The computers and cores on which a tournament plays, and the referees' processes on this one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from itertools import accumulate, chain
from typing import Protocol

from ggp.processes.parent import JsonMessage
from ggp.tournament.process import TournamentProcess


def usable_cores() -> list[int]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


CoreSets = tuple[tuple[int, ...], ...]
"""The cores of each player of a match."""


class Cores:
    """Which cores are free, of all that the tournament may use."""

    def __init__(self, cores: Sequence[int]) -> None:
        self.all = tuple(cores)
        self._free = list(cores)

    def take(self, needs: Sequence[int], shared: bool) -> CoreSets | None:
        """Cores for each player of a match; None where they are not free.

        A match that needs more than there are gets all of them for all of its players, alone.

        Args:
            needs: how many cores each player keeps busy.
            shared: the players take turns, and one set of cores is enough.
        """
        wanted = max(needs, default=0) if shared else sum(needs)
        if wanted > len(self.all):
            if len(self._free) < len(self.all):
                return None
            self._free.clear()
            return tuple(self.all if need else () for need in needs)
        if wanted > len(self._free):
            return None
        cores, self._free = self._free[:wanted], self._free[wanted:]
        starts = [0] * len(needs) if shared else [0, *accumulate(needs)]
        return tuple(tuple(cores[start : start + need]) for start, need in zip(starts, needs, strict=False))

    def give_back(self, cores: Sequence[Sequence[int]]) -> None:
        """The match that has taken these cores is over."""
        self._free = sorted({*self._free, *chain(*cores)})


class Site(Protocol):
    """A computer, or a part of one, that plays matches."""

    cores: Cores

    async def play(self, job: JsonMessage, heard: Callable[[JsonMessage], None]) -> JsonMessage | None:
        """What the referee says last of a match, ``done`` or ``failed``; None where it crashed. ``heard`` is
        told of each step before. Raises LostWorkerError where the site is lost with the match."""


class Sites(Protocol):
    """All computers of a tournament, which may come and go."""

    @property
    def open(self) -> Sequence[Site]:
        """Those that play."""

    async def look(self) -> None:
        """See who came and who went. Raises GdlError if there has been nobody for too long."""

    @property
    def patience(self) -> float | None:
        """Seconds after which to look again; None where nobody comes."""

    async def close(self) -> None:
        """End all referees."""


class OwnSite:
    """This computer, with referees in processes that go from match to match."""

    def __init__(self, cores: Sequence[int] | None = None) -> None:
        self.cores = Cores(usable_cores() if cores is None else cores)
        self._idle: list[TournamentProcess] = []

    async def play(self, job: JsonMessage, heard: Callable[[JsonMessage], None]) -> JsonMessage | None:
        """As :meth:`Site.play`."""
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

    async def close(self) -> None:
        """End the referees."""
        await asyncio.gather(*(child.close() for child in self._idle))


class OwnSites:
    """This computer alone."""

    patience: float | None = None

    def __init__(self) -> None:
        self._site = OwnSite()
        self.open: Sequence[Site] = [self._site]

    async def look(self) -> None:
        """Nobody comes or goes."""

    async def close(self) -> None:
        """End the referees."""
        await self._site.close()
