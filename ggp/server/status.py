"""The status page and the counters of a server. The page is self-contained HTML for browsers and plain text
for other clients. The counters are for that page and for Prometheus (text format 0.0.4).

prometheus_client keeps the counters and writes the format. Each server has a registry of its own, and nothing
of that library listens, starts threads or collects by itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from gdl.words import duration
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


@dataclass(frozen=True, slots=True)
class MatchStatus:
    """A running match on the status page.

    Attributes:
        game: the game's name, or the number of its rules while the name is not known.
        turn: the joint move that is asked for or comes next, from 1.
        machine: the machine that the player thinks on; may be empty.
        clocks: startclock and playclock, seconds.
        margin: seconds before the end of the playclock at which answers leave.
        move: the last answer; ``note`` is the player's note on it.
    """

    id: str
    role: str
    game: str
    turn: int
    machine: str
    clocks: tuple[int, int]
    margin: float
    move: str
    note: str
    restarts: int
    seconds: float


@dataclass(frozen=True, slots=True)
class EndedStatus:
    """A match that has ended, on the status page; ``goals`` in role order if it was played to its end."""

    id: str
    game: str
    role: str
    turns: int
    why: str
    goals: str
    restarts: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The contents of the status page; ``facts`` are names and values, in this order."""

    name: str
    facts: Sequence[tuple[str, str]]
    live: Sequence[MatchStatus]
    ended: Sequence[EndedStatus]


Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""A title, the heads of the columns, the rows."""
_LIVE: dict[str, Callable[[MatchStatus], object]] = {
    "match": lambda match: match.id,
    "game": lambda match: match.game,
    "role": lambda match: match.role,
    "turn": lambda match: match.turn,
    "machine": lambda match: match.machine or "-",
    "clocks": lambda match: f"{match.clocks[0]}/{match.clocks[1]} s",
    "margin": lambda match: f"{match.margin:.2f} s",
    "time": lambda match: duration(match.seconds),
    "restarts": lambda match: match.restarts,
    "last move": lambda match: match.move or "-",
    "search": lambda match: match.note or "-",
}

_ENDED: dict[str, Callable[[EndedStatus], object]] = {
    "match": lambda match: match.id,
    "game": lambda match: match.game,
    "role": lambda match: match.role,
    "turns": lambda match: match.turns,
    "end": lambda match: match.why,
    "goals": lambda match: match.goals or "-",
    "time": lambda match: duration(match.seconds),
    "restarts": lambda match: match.restarts,
}


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
    for title, heads, rows in _tables(status):
        lines += ["", f"{title}: {len(rows) or 'none'}"]
        if rows:
            widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
            for row in (heads, *rows):
                lines.append("  ".join(map(str.ljust, row, widths)).rstrip())
    return "\n".join(lines) + "\n"


def as_html(status: ServerStatus) -> str:
    """The page as HTML that loads nothing else and refreshes itself."""
    parts = [table(("status", ""), status.facts)] if status.facts else []
    for title, heads, rows in _tables(status):
        parts += [f"<h2>{title}</h2>", table(heads, rows) if rows else "<p>none</p>"]
    return page(status.name, [*parts, '<p><a href="/metrics">metrics</a></p>'], _REFRESH_SECONDS)


def _tables(status: ServerStatus) -> tuple[Table, Table]:
    live = [[str(cell(match)) for cell in _LIVE.values()] for match in status.live]
    ended = [[str(cell(match)) for cell in _ENDED.values()] for match in status.ended]
    return ("Live matches", list(_LIVE), live), ("Last finished matches", list(_ENDED), ended)
