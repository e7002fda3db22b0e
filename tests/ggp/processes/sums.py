"""The worker of test_workers: ``python -m tests.ggp.processes.sums`` adds, slowly where it is told to."""

from __future__ import annotations

import os
import time

from gdl.errors import GdlError
from ggp.processes.parent import JsonMessage, Send, answer_requests


def answer(order: JsonMessage, send: Send) -> dict[str, object]:
    if order["do"] == "die":
        os._exit(1)
    a, b = order["a"], order["b"]
    send("news", adds=[a, b])
    time.sleep(order["seconds"])
    if not (isinstance(a, int) and isinstance(b, int)):
        raise GdlError("these are not numbers")
    return {"sum": a + b}


def main() -> None:
    answer_requests(answer, "sum", 1 << 30, 60.0)
