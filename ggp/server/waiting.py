"""Waiting: clients for the same answer, the server for what processes say of a report."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ggp.processes.parent import JsonMessage
from ggp.server.supervised_process import SupervisedProcess

MOST_WAITING = 4
"""Clients that may wait for the same answer of one match."""
MOST_QUESTIONS = 64
"""Reports of one match that are judged at the same time."""


class Crowd:
    """The clients that wait for the same answer. A message that is sent again takes over from those before:
    with more than :data:`MOST_WAITING`, the oldest has to take what is known; but not the very first, which
    may be the only one of the manager among those of others."""

    def __init__(self) -> None:
        self._places: list[asyncio.Future[None]] = []

    @contextmanager
    def place(self) -> Iterator[asyncio.Future[Any]]:
        """While a client waits: is done when it has to make room."""
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
    """Asks the processes of one match whether a report can be: the first that says so is believed."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._open: dict[int, asyncio.Future[bool]] = {}

    async def ask(
        self,
        processes: Iterable[SupervisedProcess],
        moves: tuple[str, ...] | None,
        until: asyncio.Future[str],
    ) -> bool:
        """Whether these moves would lead anywhere; True if nobody has said so when ``until`` is done, False
        with :data:`MOST_QUESTIONS` open."""
        if len(self._open) >= MOST_QUESTIONS:
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
        """A process says so."""
        verdict = self._open.get(message["question"])
        if verdict is not None and not verdict.done():
            verdict.set_result(message["can_be"])
