"""The processes of tournaments: one reads a tournament's file, which may be untrusted, and one plays a
tournament that a page has begun, match after match. Both within limits."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from gdl.errors import GdlError
from ggp.processes.parent import JsonMessage, Send, answer_requests
from ggp.tournament.runner import Runner
from ggp.tournament.session import parse_test, stored_settings
from ggp.tournament.statistics.ratings import Sprt
from ggp.tournament.statistics.standing import fault_lines
from ggp.tournament.statistics.tables import tables_json
from ggp.tournament.store import Store
from players.processes.limits import limit_cpu, limit_memory

SECONDS = 1800.0
"""What is not played after this time is left out."""
_UNWATCHED: Any = SimpleNamespace(**dict.fromkeys(("began", "waits", "step", "ended"), lambda *_: None))
"""A :class:`ggp.tournament.runner.Watcher` that does nothing: pages follow the file."""


def tables_of(path: Path, sprt: Sprt | None = None) -> dict[str, Any]:
    """All tables of a tournament, with the test only for two players. Raises GdlError if the file is not a
    tournament or nothing has been played."""
    with Store(path, writing=False) as store:
        settings = stored_settings(store)
        results = store.results()
        failures = store.failures()
        faults = fault_lines(store.faulty())
    if settings is None:
        raise GdlError(f"{path.name} has no tournament yet")
    settings.check_played([result.fixture for result in results])
    settings.check_played([fixture for fixture, _ in failures])
    return tables_json(settings, results, failures, faults, sprt)


def _play(path: Path) -> None:
    """Play the tournament whose settings stand in a file of ours. Raises GdlError."""
    with Store(path) as store, suppress(TimeoutError):
        settings = stored_settings(store)
        assert settings is not None
        asyncio.run(asyncio.wait_for(Runner(settings, store, workers=1).run(_UNWATCHED), SECONDS))


MEMORY, CPU_SECONDS = 2 * 1024**3, 2 * SECONDS
"""For playing."""
_TO_READ, _READING_SECONDS = 1024**3, 600.0
"""The same for reading."""


def answer(request: JsonMessage, news: Send) -> dict[str, object]:
    """The ``tables`` of the file at ``path``, with the test ``sprt`` unless that is empty; or ``play`` it.
    Raises GdlError."""
    path = Path(request["path"])
    if request["do"] == "play":
        _play(path)
        return {}
    limit_memory(_TO_READ)
    limit_cpu(_READING_SECONDS)
    return {"tables": tables_of(path, parse_test(request["sprt"]) if request["sprt"] else None)}


def main() -> None:
    """Answer until the other end is gone."""
    answer_requests(answer, "tournament", MEMORY, CPU_SECONDS)
