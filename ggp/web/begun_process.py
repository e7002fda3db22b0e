"""The process of a tournament that a page has begun: it plays one match after the other, within limits."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from gdl.errors import GdlError
from ggp.processes.parent import JsonMessage, Send, answer_requests
from ggp.tournament.runner import Runner
from ggp.tournament.session import stored_settings
from ggp.tournament.store import Store

SECONDS = 1800.0
"""What is not played after this time is left out."""
MEMORY = 2 * 1024**3
CPU_SECONDS = 2 * SECONDS


_UNWATCHED: Any = SimpleNamespace(**dict.fromkeys(("began", "waits", "step", "ended"), lambda *_: None))
"""A :class:`ggp.tournament.runner.Watcher` that does nothing: pages follow the file."""


def answer(request: JsonMessage, news: Send) -> dict[str, object]:
    """Play the tournament whose settings stand in the file at ``path``. Raises GdlError."""
    with Store(Path(request["path"])) as store:
        if (settings := stored_settings(store)) is None:
            raise GdlError("this tournament has no settings")
        with suppress(TimeoutError):
            runner = Runner(settings, store, workers=1)
            asyncio.run(asyncio.wait_for(runner.run(_UNWATCHED), SECONDS))
    return {}


def main() -> None:
    """Answer until the other end is gone."""
    answer_requests(answer, "tournament", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
