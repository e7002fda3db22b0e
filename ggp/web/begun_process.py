"""The process of a tournament that a page has begun: it plays the matches one after the other, within limits.

Its players are processes of their own (:mod:`ggp.tournament.player_process`), which end with it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from ggp.processes.parent import JsonMessage, Send, answer_requests
from ggp.tournament.runner import Runner
from ggp.tournament.schedule import Fixture
from ggp.tournament.session import settings_of
from ggp.tournament.store import Result, Store

SECONDS = 1800.0
"""What is not played after this time is left out."""
MOST_STEPS = 400
"""A match is cut after this many joint moves."""
MEMORY = 2 * 1024**3
CPU_SECONDS = 2 * SECONDS


class _Unwatched:
    """A :class:`ggp.tournament.runner.Watcher` that tells nobody: pages follow the file."""

    def began(self, fixture: Fixture) -> None:
        """Do nothing."""

    def waits(self, fixture: Fixture, text: str) -> None:
        """Do nothing."""

    def step(self, fixture: Fixture, number: int) -> None:
        """Do nothing."""

    def ended(self, fixture: Fixture, result: Result | None, error: str) -> None:
        """Do nothing."""


def answer(request: JsonMessage, news: Send) -> dict[str, object]:
    """Play the tournament of a request: ``path``, ``name``, ``games``, ``players`` (``LABEL@PLAYER``),
    ``rounds``, ``playclock``. Sends ``begun`` once its file can be read. Raises GdlError."""
    clock = request["playclock"]
    given: dict[str, object] = {
        "rounds": request["rounds"],
        "playclock": clock,
        "startclock": max(1.0, clock),
    }
    with Store(Path(request["path"])) as store:
        settings = settings_of(
            store, request["games"], request["players"], request["name"], {**given, "max_steps": MOST_STEPS}
        )
        store.set("settings", settings.as_json())
        runner = Runner(settings, store, workers=1)
        news("begun")
        with suppress(TimeoutError):
            asyncio.run(asyncio.wait_for(runner.run(_Unwatched()), SECONDS))
    return {}


def main() -> None:
    """Answer until the other end is gone."""
    answer_requests(answer, "tournament", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
