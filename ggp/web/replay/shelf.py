"""Where records lie: a folder of files and tournaments, and what pages have brought; and their cards, kept
for the next who looks into the folder.
"""

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
from ggp.web.kept import Kept

LARGEST = 32 * 1024 * 1024
"""Bytes of one record."""
MOST_BROUGHT_BYTES = 2 * LARGEST
"""Of the JSON in which a page brings one."""
MOST_COMING = 4
"""Records that are being brought at the same time."""
MOST_BROUGHT = 32
MOST_BYTES = 128 * 1024 * 1024
"""Of all that pages have brought, on disk; the oldest go first."""
MOST_LISTED = 2000
KINDS = {".json": "record", ".jsonl": "record", ".sqlite": "tournament"}

Check = Callable[["ShelvedRecord"], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class ShelvedRecord:
    """Where a record lies; only a process with limits reads it.

    Attributes:
        kind: ``record`` for a file of the folder, ``brought`` for one that a page has brought with rules,
            ``tournament`` for a tournament's file.
        path: of the file.
        number: of the match in a tournament, from 1.
    """

    kind: str
    path: Path
    number: int = 0


class Shelf:
    """All records that pages may ask for.

    Attributes:
        folder: where they lie; None for none.
        listed: the folder's files, as :meth:`list` gives them.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.listed = Kept(self.list)
        self._brought: OrderedDict[str, tuple[Path, int]] = OrderedDict()
        self._coming = 0
        self._room: TemporaryDirectory[str] | None = None

    async def take(self, chunks: AsyncIterator[bytes], check: Check) -> str:
        """Keep what a page brings, once it has come and can be read; the oldest ones make room then.

        Args:
            chunks: the bytes.
            check: raises GdlError where the file is no record.

        Returns:
            The name under which it is found again.

        Raises:
            BusyError: too many are being brought.
            GdlError: it cannot be read.
        """
        if self._coming >= MOST_COMING:
            raise BusyError("too many records are being brought")
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
                raise BusyError(f"the record cannot be kept: {error.strerror}") from None
            raise
        finally:
            self._coming -= 1
        self._brought[name] = path, size
        while len(self._brought) > MOST_BROUGHT or sum(n for _, n in self._brought.values()) > MOST_BYTES:
            _, (oldest, _) = self._brought.popitem(last=False)
            oldest.unlink(missing_ok=True)
        return name

    def close(self) -> None:
        """Drop what pages have brought."""
        self._brought.clear()
        if self._room is not None:
            self._room.cleanup()

    def list(self) -> list[dict[str, Any]]:
        """The folder's files, newest first: ``file``, ``kind``, ``bytes``, ``time`` (seconds since 1970).
        Raises GdlError where the folder cannot be read."""
        if self.folder is None:
            return []
        files: list[dict[str, Any]] = []
        try:
            for path in islice(self.folder.rglob("*"), 100 * MOST_LISTED):
                kind = KINDS.get(path.suffix)
                with suppress(FileNotFoundError):  # removed just now
                    if kind is not None and path.is_file() and not path.is_symlink():
                        told = path.stat()
                        name = path.relative_to(self.folder).as_posix()
                        files.append(
                            {"file": name, "kind": kind, "bytes": told.st_size, "time": told.st_mtime}
                        )
        except OSError as error:
            raise GdlError(f"{self.folder} cannot be read: {error.strerror}") from None
        files.sort(key=lambda file: -file["time"])
        return files[:MOST_LISTED]

    def find(self, query: Mapping[str, str]) -> ShelvedRecord:
        """The record of ``brought``, ``file``, or ``tournament`` and ``match`` (from 1). Raises GdlError:
        there is none."""
        if "brought" in query:
            found = self._brought.get(query["brought"])
            if found is None:
                raise GdlError("this record is not kept any more", remedy="bring it again")
            return ShelvedRecord("brought", found[0])
        if "tournament" in query:
            number = query.get("match", "")
            if not (number.isascii() and number.isdigit() and len(number) < 10):
                raise GdlError(f"{number[:20]!r} is no number of a match")
            return ShelvedRecord("tournament", self.path(query["tournament"], "tournament"), int(number))
        return ShelvedRecord("record", self.path(query.get("file", ""), "record"))

    def stamp(self, query: Mapping[str, str]) -> int:
        """When the file of a record was written, in some count; 0 for other records. Raises GdlError as
        :meth:`find`."""
        if "file" not in query:
            return 0
        return self.path(query["file"], "record").stat().st_mtime_ns // 1_000_000

    def path(self, name: str, kind: str) -> Path:
        """A file of the folder that :meth:`list` names. Raises GdlError where there is none."""
        if self.folder is not None and name and "\0" not in name and KINDS.get(Path(name).suffix) == kind:
            path = self.folder / name
            with suppress(OSError, RuntimeError):  # links in a circle
                if path.resolve().is_relative_to(self.folder.resolve()) and path.is_file():
                    return path
        raise GdlError(f"there is no {kind} {name[:100]!r}", remedy="the list of the page has all")


WORK = WorkKind(
    "ggp.web.replay.replay_process", "drawing a record", most=1, seconds=30.0, longest=16 * 1024 * 1024
)
MOST_CARD_BYTES = 64 * 1024 * 1024
"""Of all cards that are kept. The one that was asked for longest ago goes first."""


class RecordCards:
    """Draws cards one after the other and keeps them. To be used within one event loop."""

    def __init__(self, budget: WorkBudget) -> None:
        self.workers = Workers(WORK, budget)
        self._lock = asyncio.Lock()
        self._kept: OrderedDict[tuple[object, ...], bytes] = OrderedDict()
        self._bytes = 0

    async def card(self, found: ShelvedRecord, number: int) -> bytes:
        """The card of a record as JSON, as :meth:`ggp.web.replay.sources.CardMaker.card` makes it. Raises
        BusyError; GdlError where the record cannot be read or drawn."""
        try:
            told = await asyncio.to_thread(found.path.stat)
        except OSError as error:
            raise GdlError(f"the record cannot be read: {error.strerror}") from None
        key = found, number, told.st_mtime_ns, told.st_size
        async with self._lock:
            card = self._kept.pop(key, None)
            if card is None:
                request = {"do": "card", "kind": found.kind, "path": str(found.path), "match": number}
                card = orjson.dumps((await self.workers.ask("cards", request))["card"])
                self._bytes += len(card)
            self._kept[key] = card
            while self._bytes > MOST_CARD_BYTES:
                self._bytes -= len(self._kept.popitem(last=False)[1])
        return card
