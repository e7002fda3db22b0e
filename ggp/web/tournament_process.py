"""The process that reads a tournament's file, which may be untrusted, within limits: its tables as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gdl.errors import GdlError
from ggp.processes.parent import JsonMessage, Send, answer_requests
from ggp.tournament.session import parse_test, stored_settings
from ggp.tournament.statistics.ratings import Sprt
from ggp.tournament.statistics.standing import fault_lines
from ggp.tournament.statistics.tables import tables_json
from ggp.tournament.store import Store


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


MEMORY = 1024**3
CPU_SECONDS = 600.0


def answer(request: JsonMessage, news: Send) -> dict[str, object]:
    """The ``tables`` of the file at ``path``, with the test ``sprt`` unless that is empty. Raises
    GdlError."""
    sprt = parse_test(request["sprt"]) if request["sprt"] else None
    return {"tables": tables_of(Path(request["path"]), sprt)}


def main() -> None:
    """Answer until the other end is gone."""
    answer_requests(answer, "tournament", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
