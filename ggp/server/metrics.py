"""What a server counts, for its status page and for Prometheus (text format 0.0.4).

prometheus_client keeps the counters and writes the format; each server has a registry of its own, and
nothing of that library listens, starts threads or collects by itself.
"""

from __future__ import annotations

import os
import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ggp.server.descendants import descendants, resident_bytes

SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.25)
"""Upper bounds of the histogram of answer times, as shares of the clock."""

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The counters of one server."""

    def __init__(self, version: str) -> None:
        self.registry = registry = CollectorRegistry()
        self.began = time.monotonic()
        Gauge("ggp_build", "Always 1; what is running.", ["version"], registry=registry).labels(version).set(
            1
        )
        self.requests = Counter("ggp_requests", "Requests by kind.", ["kind"], registry=registry)
        self.replies = Counter("ggp_replies", "Replies by HTTP status.", ["status"], registry=registry)
        self.moves = Counter("ggp_moves", "Moves by who gave them.", ["by"], registry=registry)
        for by in ("player", "watchdog"):
            self.moves.labels(by)
        self.late = Counter("ggp_late_replies", "Moves sent after the playclock.", registry=registry)
        self.restarts = Counter("ggp_restarts", "Match processes that were replaced.", registry=registry)
        self.events = Counter("ggp_events", "Log lines by level.", ["level"], registry=registry)
        for level in ("warning", "error"):
            self.events.labels(level)
        self.started = Counter("ggp_matches_started", "Matches taken.", registry=registry)
        self.finished = Counter("ggp_matches_finished", "Matches ended, by why.", ["why"], registry=registry)
        self.share = Histogram(
            "ggp_answer_clock_share",
            "Time until the reply left, as a share of the clock.",
            ["clock"],
            registry=registry,
            buckets=SHARES,
        )
        self.lag = Histogram(
            "ggp_loop_lag_seconds",
            "How late the event loop's timers came.",
            registry=registry,
            buckets=(0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0),
        )
        self.live = Gauge("ggp_live_matches", "Matches that are being played.", registry=registry)
        self._processes = Gauge("ggp_processes", "Processes of the server.", registry=registry)
        self._memory = Gauge("ggp_resident_bytes", "Resident memory.", ["of"], registry=registry)
        self._uptime = Gauge("ggp_uptime_seconds", "Seconds since the server began.", registry=registry)

    def text(self) -> str:
        """All of them in Prometheus' text format."""
        below = descendants(os.getpid())
        self._processes.set(1 + len(below))
        self._memory.labels("server").set(resident_bytes([os.getpid()]))
        self._memory.labels("matches").set(resident_bytes(below))
        self._uptime.set(time.monotonic() - self.began)
        return generate_latest(self.registry).decode()
