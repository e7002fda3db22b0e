"""The status page and the counters of a server. The page is self-contained HTML for browsers and plain text
for other clients. The counters are for that page and for Prometheus (text format 0.0.4).

prometheus_client keeps the counters and writes the format. Each server has a registry of its own, and nothing
of that library listens, starts threads or collects by itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ggp.report_page import page, table
from players.processes.lifeline import descendants, resident_bytes

_SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.25)
"""Upper bounds of the histogram of answer times, as shares of the clock."""
_LAGS = (0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
"""Upper bounds of the histogram of the event loop's lags, in seconds."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The counters of one server; ``began`` is when it began, in time.monotonic() seconds."""

    def __init__(self, version: str) -> None:
        self.began = time.monotonic()
        self._registry = CollectorRegistry()

        def counter(name: str, text: str, label: str = "", *values: str) -> Counter:
            metric = Counter(f"ggp_{name}", text, [label] if label else [], registry=self._registry)
            for value in values:
                metric.labels(value)
            return metric

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(f"ggp_{name}", text, labels, registry=self._registry)

        gauge("build", "Always 1; what is running.", "version").labels(version).set(1)
        self.requests = counter("requests", "Requests by kind.", "kind")
        self.replies = counter("replies", "Replies by HTTP status.", "status")
        self.moves = counter("moves", "Moves by who gave them.", "by", "player", "watchdog")
        self.late = counter("late_replies", "Moves sent after the playclock.")
        self.restarts = counter("restarts", "Match processes that were replaced.")
        self.events = counter("events", "Log lines by level.", "level", "warning", "error")
        self.started = counter("matches_started", "Matches taken.")
        self.finished = counter("matches_finished", "Matches ended, by why.", "why")
        share = "Time until the reply left, as a share of the clock."
        self.share = Histogram(
            "ggp_answer_clock_share", share, ["clock"], registry=self._registry, buckets=_SHARES
        )
        lag = "Lateness of the event loop's timers."
        self.lag = Histogram("ggp_loop_lag_seconds", lag, registry=self._registry, buckets=_LAGS)
        self.live = gauge("live_matches", "Matches that are being played.")
        self._processes = gauge("processes", "Processes of the server.")
        self._memory = gauge("resident_bytes", "Resident memory.", "of")
        self._uptime = gauge("uptime_seconds", "Seconds since the server began.")

    def text(self) -> str:
        """All of them in Prometheus' text format."""
        below = descendants(os.getpid())
        self._processes.set(1 + len(below))
        self._memory.labels("server").set(resident_bytes([os.getpid()]))
        self._memory.labels("matches").set(resident_bytes(below))
        self._uptime.set(time.monotonic() - self.began)
        return generate_latest(self._registry).decode()


_REFRESH_SECONDS = 5


StatusRow = dict[str, str]
"""A match on the status page: the head of each column -> its cell."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The contents of the status page; ``facts`` are names and values, in this order."""

    name: str
    facts: Sequence[tuple[str, str]]
    live: Sequence[StatusRow]
    ended: Sequence[StatusRow]

    @property
    def tables(self) -> dict[str, Sequence[StatusRow]]:
        """The tables by their titles."""
        return {"Live matches": self.live, "Last finished matches": self.ended}


def wants_html(accept: str) -> bool:
    """Whether a client's Accept header asks for HTML."""
    return "text/html" in accept.lower()


def wants_text(accept: str) -> bool:
    """Whether a client accepts plain text, as curl and monitors do."""
    kinds = {kind.partition(";")[0].strip() for kind in accept.lower().split(",")}
    return bool(kinds & {"*/*", "text/*", "text/plain"})


def as_text(status: ServerStatus) -> str:
    """The page as plain text, with a line end at the end."""
    width = max((len(name) for name, _ in status.facts), default=0)
    lines = [status.name, *([""] if status.facts else [])]
    lines += [f"{name:{width}}  {value}" for name, value in status.facts]
    for title, rows in status.tables.items():
        lines += ["", f"{title}: {len(rows) or 'none'}"]
        if rows:
            cells = [list(rows[0]), *(list(row.values()) for row in rows)]
            widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
            lines += ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
    return "\n".join(lines) + "\n"


def as_html(status: ServerStatus) -> str:
    """The page as HTML that loads nothing else and refreshes itself."""
    parts = [table(("status", ""), status.facts)] if status.facts else []
    for title, rows in status.tables.items():
        cells = table(list(rows[0]), [list(row.values()) for row in rows]) if rows else "<p>none</p>"
        parts += [f"<h2>{title}</h2>", cells]
    return page(status.name, [*parts, '<p><a href="/metrics">metrics</a></p>'], _REFRESH_SECONDS)
