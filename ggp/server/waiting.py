"""Waiting for processes: what they say of a report."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable

from ggp.processes.parent import JsonMessage
from ggp.server.supervised_process import SupervisedProcess


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
        """Whether these moves would lead anywhere; True if nobody has said so when ``until`` is done."""
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
