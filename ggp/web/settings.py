"""What ``ggp web`` is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ggp.processes.budget import usual_memory
from ggp.protocol.listener import ListenLimits


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Attributes:
    host, port: where it listens; port 0 picks a free one.
    records: a folder of match records to replay.
    styles: a folder of stylesheets that draw states.
    watch: addresses of servers whose matches are shown.
    allow_origins: origins whose pages may ask beside our own.
    allow_hosts: names under which pages may be asked for, beside this computer's.
    players: players that pages may choose besides public names: classes, addresses, any options.
    limits: what bounds its connections.
    processes, memory: what all tables, searches, checks and drawings together may take; memory in bytes.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    records: Path | None = None
    styles: Path | None = None
    watch: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    players: tuple[str, ...] = ()
    processes: int = 48
    memory: int = field(default_factory=usual_memory)
    limits: ListenLimits = ListenLimits(most=512, most_per_address=384)
