"""Where tools ask: questions are checked, and answered by a few processes, one for each game of late."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from gdl.json_schema import check_json
from ggp.answers.operations import OPERATIONS
from ggp.answers.source import checked_source
from ggp.processes.budget import WorkBudget, WorkNeed
from ggp.processes.parent import JsonMessage
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError

WORK = WorkKind(
    "ggp.answers.answer_process", "the question", most=6, group=True, need=WorkNeed(memory=384 * 1024**2)
)
MOST_SOLVING = 3
"""Puzzles at once."""
_USUAL: dict[str, JsonMessage] = {"solve": {"seconds": 10.0, "solver": "", "seed": 0}}


class QuestionDesk:
    """Answers questions, within a budget; to be used within one event loop."""

    def __init__(self, budget: WorkBudget) -> None:
        self._workers = Workers(WORK, budget)
        self._solving = 0

    async def ask(
        self, name: str, told: dict[str, Any], news: Callable[[JsonMessage], object] = lambda message: None
    ) -> JsonMessage:
        """The answer to one of :data:`~ggp.answers.operations.OPERATIONS`.

        Args:
            name: of the operation.
            told: what it takes.
            news: is given what it tells before.

        Raises:
            BusyError: there is too much to do.
            GdlError: it takes something else, cannot be answered, or takes too long.
        """
        operation = OPERATIONS[name]
        check_json(told, operation.request)
        order = {"do": name, **_USUAL.get(name, {}), **told, **checked_source(told)}
        seconds = operation.seconds + float(order.get("seconds", 0.0))
        if not operation.streams:
            key = sha256(f"{order['game']}\n{order['rules']}".encode("utf-8", "replace")).hexdigest()
            return _bare(await self._workers.ask(key, order, seconds=seconds, news=news))
        if self._solving >= MOST_SOLVING:
            raise BusyError(f"{MOST_SOLVING} puzzles are being solved")
        self._solving += 1
        key = secrets.token_hex(8)
        try:
            return _bare(await self._workers.ask(key, order, seconds=seconds, news=news))
        finally:
            self._solving -= 1
            await self._workers.end(key)

    async def close(self) -> None:
        """End its processes."""
        await self._workers.close()


def _bare(answer: JsonMessage) -> JsonMessage:
    return {name: value for name, value in answer.items() if name != "kind"}
