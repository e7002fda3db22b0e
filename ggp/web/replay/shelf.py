"""The files of match records and tournaments, in a folder or uploaded by pages, and a cache of their
cards."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from gdl.errors import GdlError
from ggp.processes.budget import WorkBudget
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError
from ggp.web.cached_lists import CachedList

MOST_COMING = 4
"""Uploads at the same time."""
MOST_BROUGHT = 32
MOST_BYTES = 128 * 1024 * 1024
"""Total bytes of uploaded records on disk; the oldest are removed first."""
MOST_LISTED = 2000
KINDS = {".json": "record", ".jsonl": "record", ".sqlite": "tournament"}

Check = Callable[["ShelvedRecord"], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class ShelvedRecord:
    """The place of a record. Only a process with limits reads its file.

    Attributes:
        kind: ``record`` for a file of the folder, ``brought`` for a record uploaded by a page, perhaps with
            rules, ``tournament`` for a tournament's file.
        path: the file.
        number: the number of the match in a tournament, from 1.
    """

    kind: str
    path: Path
    number: int = 0


class Shelf:
    """All records that pages may ask for.

    Attributes:
        folder: the folder of the records; None for none.
        listed: the folder's files, as :meth:`list` gives them.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.listed = CachedList(self.list)
        self._brought: OrderedDict[str, tuple[Path, int]] = OrderedDict()
        self._coming = 0
        self._room: TemporaryDirectory[str] | None = None

    async def take(self, chunks: AsyncIterator[bytes], check: Check) -> str:
        """Store an uploaded record if it can be read. If necessary, the oldest uploads are removed.

        Args:
            chunks: the bytes.
            check: raises GdlError if the file is not a record.

        Returns:
            The name of the upload, for :meth:`find`.

        Raises:
            BusyError: there are too many uploads, or the file cannot be written.
            GdlError: the record cannot be read.
        """
        if self._coming >= MOST_COMING:
            raise BusyError("too many records are being uploaded")
        if self._room is None:
            self._room = TemporaryDirectory(prefix="ggp-records-")
        name = secrets.token_urlsafe(12)
        path = Path(self._room.name) / name
        self._coming += 1
        try:
            size = 0
            with path.open("xb") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    await asyncio.to_thread(file.write, chunk)
            await check(ShelvedRecord("brought", path))
        except BaseException as error:
            path.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise BusyError(f"the record cannot be stored: {error.strerror}") from None
            raise
        finally:
            self._coming -= 1
        self._brought[name] = path, size
        while len(self._brought) > MOST_BROUGHT or sum(n for _, n in self._brought.values()) > MOST_BYTES:
            _, (oldest, _) = self._brought.popitem(last=False)
            oldest.unlink(missing_ok=True)
        return name

    def close(self) -> None:
        """Delete all uploaded records."""
        self._brought.clear()
        if self._room is not None:
            self._room.cleanup()

    def list(self) -> list[dict[str, Any]]:
        """The folder's files, newest first: ``file``, ``kind``, ``bytes``, ``time`` (seconds since 1970).
        Raises GdlError if the folder cannot be read."""
        if self.folder is None:
            return []
        files: list[dict[str, Any]] = []
        try:
            for path in islice(self.folder.rglob("*"), 100 * MOST_LISTED):
                kind = KINDS.get(path.suffix)
                with suppress(FileNotFoundError):  # removed just now
                    if kind is not None and path.is_file() and not path.is_symlink():
                        status = path.stat()
                        name = path.relative_to(self.folder).as_posix()
                        files.append(
                            {"file": name, "kind": kind, "bytes": status.st_size, "time": status.st_mtime}
                        )
        except OSError as error:
            raise GdlError(f"{self.folder} cannot be read: {error.strerror}") from None
        files.sort(key=lambda file: -file["time"])
        return files[:MOST_LISTED]

    def find(self, query: Mapping[str, str]) -> ShelvedRecord:
        """The record that a query names by ``brought``, by ``file``, or by ``tournament`` and ``match`` (from
        1). Raises GdlError if there is none."""
        if "brought" in query:
            found = self._brought.get(query["brought"])
            if found is None:
                raise GdlError("this record is no longer stored", remedy="upload it again")
            return ShelvedRecord("brought", found[0])
        if "tournament" in query:
            number = query.get("match", "")
            if not (number.isascii() and number.isdigit() and len(number) < 10):
                raise GdlError(f"match must be the number of a match, not {number[:20]!r}")
            return ShelvedRecord("tournament", self.path(query["tournament"], "tournament"), int(number))
        return ShelvedRecord("record", self.path(query.get("file", ""), "record"))

    def stamp(self, query: Mapping[str, str]) -> int:
        """The modification time of a record's file in milliseconds; 0 for other kinds of records. Raises
        GdlError as :meth:`find`."""
        if "file" not in query:
            return 0
        return self.path(query["file"], "record").stat().st_mtime_ns // 1_000_000

    def path(self, name: str, kind: str) -> Path:
        """The path of a file in the folder, named as in :meth:`list`. Raises GdlError if there is none."""
        if self.folder is not None and name and "\0" not in name and KINDS.get(Path(name).suffix) == kind:
            path = self.folder / name
            with suppress(OSError, RuntimeError):  # links in a circle
                if path.resolve().is_relative_to(self.folder.resolve()) and path.is_file():
                    return path
        raise GdlError(f"there is no {kind} {name[:100]!r}", remedy="choose one from the list on the page")


WORK = WorkKind(
    "ggp.web.replay.replay_process", "drawing a record", most=1, seconds=30.0, longest=16 * 1024 * 1024
)
_MOST_CARD_BYTES = 64 * 1024 * 1024
"""Total bytes of the cached cards; the least recently used one is dropped first."""


class RecordCards:
    """Draws cards one after the other and caches them. To be used within one event loop."""

    def __init__(self, budget: WorkBudget) -> None:
        self._workers = Workers(WORK, budget)
        self.close = self._workers.close
        self._lock = asyncio.Lock()
        self._kept: OrderedDict[tuple[object, ...], bytes] = OrderedDict()
        self._bytes = 0

    async def card(self, found: ShelvedRecord, number: int) -> bytes:
        """The card of a record as JSON, made by :func:`ggp.web.replay.replay_process.card_of`. Raises
        BusyError, and GdlError if the record cannot be read or drawn."""
        try:
            status = await asyncio.to_thread(found.path.stat)
        except OSError as error:
            raise GdlError(f"the record cannot be read: {error.strerror}") from None
        key = found, number, status.st_mtime_ns, status.st_size
        async with self._lock:
            card = self._kept.pop(key, None)
            if card is None:
                request = {"do": "card", "kind": found.kind, "path": str(found.path), "match": number}
                card = orjson.dumps((await self._workers.ask("cards", request))["card"])
                self._bytes += len(card)
            self._kept[key] = card
            while self._bytes > _MOST_CARD_BYTES:
                self._bytes -= len(self._kept.popitem(last=False)[1])
        return card
