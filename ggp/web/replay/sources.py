"""Where records are: in the folder that the server was given, or dropped onto a page."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gdl.errors import GdlError
from ggp.web.replay.match_log import MAX_BYTES

MOST_SHOWN = 1000
"""Files in the list."""
MOST_KEPT = 16
"""Dropped records that are kept; the one that was left longest goes first."""
RECORDS = (".json", ".jsonl")
TOURNAMENTS = (".sqlite", ".db")


@dataclass(frozen=True, slots=True)
class RecordSource:
    """A file of records, or the bytes of one; ``name`` for the page."""

    name: str
    path: Path | None = None
    data: bytes = b""


class RecordSources:
    """All records that a server can show.

    Args:
        folder: of records and tournaments; None for none.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._kept: OrderedDict[str, RecordSource] = OrderedDict()

    def keep(self, name: str, data: bytes) -> str:
        """Keep a dropped record; returns the address by which :meth:`find` finds it."""
        key = secrets.token_urlsafe(9)
        self._kept[key] = RecordSource(name, data=data)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return f"kept:{key}"

    def find(self, address: str) -> RecordSource:
        """The record at ``kept:KEY`` or ``file:NAME``. Raises GdlError where there is none."""
        kind, _, name = address.partition(":")
        if kind == "kept" and name in self._kept:
            self._kept.move_to_end(name)
            return self._kept[name]
        if kind == "file" and (path := self.files().get(name)) is not None:
            return RecordSource(name, path)
        raise GdlError("there is no such record here any more", remedy="choose its file again")

    def files(self, endings: tuple[str, ...] = RECORDS + TOURNAMENTS) -> dict[str, Path]:
        """The files of the folder and of the folders in it, the newest first. Links that lead out of it are
        left out."""
        if self._folder is None:
            return {}
        root = self._folder.resolve()
        found: list[tuple[float, str, Path]] = []
        for pattern in ("*", "*/*"):
            for path in root.glob(pattern):
                try:
                    real = path.resolve()
                    if path.suffix in endings and real.is_relative_to(root) and real.is_file():
                        found.append((real.stat().st_mtime, path.relative_to(root).as_posix(), real))
                except OSError:  # it went away meanwhile
                    continue
        found.sort(reverse=True)
        return {name: path for _, name, path in found[:MOST_SHOWN]}

    def listed(self) -> list[dict[str, Any]]:
        """What the page lists: ``name``, ``source``, ``bytes``, ``changed`` (seconds since 1970)."""
        rows: list[dict[str, Any]] = []
        for name, path in self.files().items():
            try:
                size = path.stat()
            except OSError:
                continue
            if size.st_size <= MAX_BYTES or path.suffix in TOURNAMENTS:
                rows.append(
                    {"name": name, "source": f"file:{name}", "bytes": size.st_size, "changed": size.st_mtime}
                )
        return rows
