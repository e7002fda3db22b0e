"""The process that reads a tournament's file, which may be a stranger's, within limits of time and memory."""

from __future__ import annotations

from pathlib import Path

from ggp.processes.parent import JsonMessage, Send
from ggp.processes.work_process import answer_orders
from ggp.tournament.session import parse_test
from ggp.web.dashboard.tables import tables_of

MEMORY = 1024**3
CPU_SECONDS = 600.0
ERROR_RATE = 0.05
"""Of the sequential test."""


def answer(order: JsonMessage, news: Send) -> dict[str, object]:
    """The ``tables`` of the file at ``path``, with the test ``sprt`` where that is not empty. Raises
    GdlError."""
    sprt = parse_test(order["sprt"], ERROR_RATE) if order["sprt"] else None
    return {"tables": tables_of(Path(order["path"]), sprt)}


def main() -> None:
    """Answer until the other end is gone."""
    answer_orders(answer, "tournament", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
