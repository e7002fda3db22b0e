"""The other end of a :class:`ggp.processes.workers.Workers`: a process that answers orders within limits."""

from __future__ import annotations

import queue
from collections.abc import Callable, Mapping

from ggp.processes.parent import Inbox, JsonMessage, Parent, Send, explain
from players.processes.limits import limit_cpu, limit_memory

Answer = Callable[[JsonMessage, Send], Mapping[str, object]]
"""Takes an order and where to tell news; its result is the answer."""
IDLE_SECONDS = 600.0
"""Without orders for so long it ends; another takes its place."""


def answer_orders(answer: Answer, what: str, memory: int, cpu_seconds: float) -> None:
    """Answer until the other end is gone.

    Args:
        answer: raises whatever it likes; the other side is told one line.
        what: what the process is for, for messages: ``drawing``.
        memory: bytes that it may allocate.
        cpu_seconds: for all orders together.
    """
    inbox = Inbox()
    parent = Parent(inbox.put)
    limit_memory(memory)
    limit_cpu(cpu_seconds)
    while True:
        try:
            order: JsonMessage = inbox.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            return
        try:
            parent.send("done", **answer(order, parent.send))
        except BrokenPipeError:
            return
        except Exception as error:
            parent.send("refused", error=explain(error, what))
