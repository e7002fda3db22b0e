"""The replay pages: the files of match records and tournaments, in a folder or uploaded by pages, their
cards, matches and drawings, uploads and downloads."""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aiohttp import web

from gdl.errors import GdlError
from ggp.processes.budget import WorkNeed
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError
from ggp.web.cached_lists import CachedDrawings, CachedList
from ggp.web.gate import SETTINGS, STREAMED
from ggp.web.replay.recorded import MOST_BROUGHT_BYTES
from ggp.web.rooms import PageRoom, add_owner
from ggp.web.shell import add_page, attachment, page
from ggp.web.visits import body_chunks

MOST_COMING = 4
"""Uploads at the same time."""
MOST_BROUGHT = 32
MOST_BYTES = 128 * 1024 * 1024
"""Total bytes of uploaded records on disk; the oldest are removed first."""
MOST_LISTED = 2000
MOST_BEGUN = 100
"""Tournaments that pages have begun."""
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

    Args:
        tournaments: the folder that keeps the tournaments that pages begin; None for a temporary one.

    Attributes:
        folder: the folder of the records; None for none.
        listed: the files, as :meth:`list` gives them.
    """

    def __init__(self, folder: Path | None, tournaments: Path | None = None) -> None:
        self.folder = folder
        self._begun = tournaments
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
        name = secrets.token_urlsafe(12)
        path = self._own_room() / name
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

    def begin_tournament(self) -> Path:
        """The path for a new tournament. In the temporary folder the oldest one makes room. Raises BusyError
        if the operator's folder has too many."""
        folder = self._begun or self._own_room() / "tournaments"
        folder.mkdir(exist_ok=True)
        begun = sorted(folder.glob("page-*.sqlite"), key=lambda path: path.stat().st_mtime)
        if len(begun) >= MOST_BEGUN and self._begun is not None:
            raise BusyError(f"{MOST_BEGUN} tournaments are kept here", remedy="the operator may remove some")
        for path in begun[: 1 - MOST_BEGUN]:
            drop_tournament(path)
        return folder / f"page-{secrets.token_hex(6)}.sqlite"

    def _own_room(self) -> Path:
        if self._room is None:
            self._room = TemporaryDirectory(prefix="ggp-records-")
        return Path(self._room.name)

    def _folders(self) -> list[Path]:
        """The folders whose files have names for pages."""
        own = None if self._room is None else self._own_room() / "tournaments"
        return [folder for folder in (self.folder, self._begun or own) if folder is not None]

    def close(self) -> None:
        """Delete all uploaded records, and the tournaments in the temporary folder."""
        self._brought.clear()
        if self._room is not None:
            self._room.cleanup()

    def list(self) -> list[dict[str, Any]]:
        """The files, newest first: ``file``, ``kind``, ``bytes``, ``time`` (seconds since 1970). Raises
        GdlError if a folder cannot be read."""
        files: dict[str, dict[str, Any]] = {}
        for folder in self._folders():
            try:
                for path in islice(folder.rglob("*"), 100 * MOST_LISTED):
                    kind = KINDS.get(path.suffix)
                    with suppress(FileNotFoundError):  # removed just now
                        if kind is not None and path.is_file() and not path.is_symlink():
                            status, name = path.stat(), path.relative_to(folder).as_posix()
                            found = {"kind": kind, "bytes": status.st_size, "time": status.st_mtime}
                            files.setdefault(name, {"file": name, **found})
            except OSError as error:
                raise GdlError(f"{folder} cannot be read: {error.strerror}") from None
        return sorted(files.values(), key=lambda file: -file["time"])[:MOST_LISTED]

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
        if name and "\0" not in name and KINDS.get(Path(name).suffix) == kind:
            for folder in self._folders():
                path = folder / name
                with suppress(OSError, RuntimeError):  # links in a circle
                    if path.resolve().is_relative_to(folder.resolve()) and path.is_file():
                        return path
        raise GdlError(f"there is no {kind} {name[:100]!r}", remedy="choose one from the list on the page")


def drop_tournament(path: Path) -> None:
    """Delete a tournament's file, its lock and its log."""
    for part in path.parent.glob(f"{path.name}*"):
        part.unlink(missing_ok=True)


DRAWING = WorkKind(
    "ggp.web.replay.replay_process", "drawing a record", most=1, seconds=30.0, longest=16 * 1024 * 1024
)

WORK = WorkKind("ggp.web.replay.replay_process", "replay", most=6, seconds=60.0, longest=64 * 1024 * 1024)
ANALYSIS = WorkKind(WORK.module, "analysis", most=2, seconds=180.0, need=WorkNeed(memory=512 * 1024**2))
"""Building a machine may take most of the time; the searches take seconds."""
WORKERS = web.AppKey("replay_workers", Workers)
ANALYSES = web.AppKey("analyses", Workers)
SHELF = web.AppKey("shelf", Shelf)
CARDS = web.AppKey("record_cards", CachedDrawings)


def add_routes(app: web.Application) -> None:
    """Add the room to the application."""
    app[SHELF] = Shelf(app[SETTINGS].records, app[SETTINGS].tournaments)
    app.cleanup_ctx.append(_close)
    add_owner(app, WORKERS, partial(Workers, WORK))
    add_owner(app, CARDS, partial(CachedDrawings, DRAWING))
    add_owner(app, ANALYSES, partial(Workers, ANALYSIS))
    add_page(app, "/replay", _page)
    app.router.add_get("/replay/stamp", _stamp)
    for do in _FIELDS:
        app.router.add_get(f"/replay/{do}", _answer)
    app.router.add_get("/replay/card", _card)
    app.router.add_get("/replay/export", _export)
    app.router.add_post("/replay/analysis", _analyse)
    app.router.add_post("/replay/records", _bring)
    app[STREAMED].add(_bring)


async def _close(app: web.Application) -> AsyncIterator[None]:
    yield
    app[SHELF].close()


async def _page(request: web.Request) -> web.Response:
    shelf = request.app[SHELF]
    query = dict(request.query)
    asked = any(name in query for name in ("file", "brought", "tournament"))
    files = [] if asked else await shelf.listed.get()
    return page(
        request,
        "Replay",
        "replay.js",
        ("board.css", "cards.css", "replay.css", "hidden.css"),
        asked=asked,
        query=request.query_string if asked else "",
        files=files,
        folder=shelf.folder is not None,
    )


async def _stamp(request: web.Request) -> web.Response:
    """A number that changes when the record does; 0 for a record that cannot change."""
    return web.json_response({"stamp": request.app[SHELF].stamp(request.query)})


_FIELDS = {"story": (), "rules": (), "compared": (), "frames": ("first", "count"), "sights": ("role",)}
"""What a page asks of a match, each with its numbers, as :class:`ggp.web.replay.replay_process.ReplayDesk`
answers it."""


async def _answer(request: web.Request) -> web.Response:
    do = request.path.rpartition("/")[2]
    numbers = {name: _count(request, name) for name in _FIELDS[do]}
    return web.json_response(await _work(request, {"do": do, **numbers}))


async def _analyse(request: web.Request) -> web.Response:
    """The analysis of a match, by a process of its own, because the others must not wait for it."""
    return web.json_response(await _work(request, {"do": "analyse"}, ANALYSES))


async def _card(request: web.Request) -> web.Response:
    found, number = await _found(request)
    try:
        status = await asyncio.to_thread(found.path.stat)
    except OSError as error:
        raise GdlError(f"the record cannot be read: {error.strerror}") from None
    card = {"do": "card", "kind": found.kind, "path": str(found.path), "match": number}
    key = found, number, status.st_mtime_ns, status.st_size
    return web.json_response(await request.app[CARDS].get(key, card))


async def _export(request: web.Request) -> web.Response:
    story = await _work(request, {"do": "story"})
    if "matches" in story:
        raise GdlError("this file has several matches", remedy="choose one")
    answer = await _work(request, {"do": "page"})
    name = re.sub(r"[^\w.-]+", "_", story["name"])[:80] or "match"
    return attachment(answer["page"], "text/html", f"{name}.html")


async def _bring(request: web.Request) -> web.Response:
    """Store a record uploaded by a page if it can be read. Only a process with limits parses it."""

    async def check(record: ShelvedRecord) -> None:
        await _ask(request, record, {"do": "story", "match": 0})

    name = await request.app[SHELF].take(body_chunks(request, MOST_BROUGHT_BYTES), check)
    return web.json_response({"page": f"/replay?brought={name}"})


async def _work(
    request: web.Request, work_request: dict[str, Any], by: web.AppKey[Workers] = WORKERS
) -> dict[str, Any]:
    found, number = await _found(request)
    return await _ask(request, found, {**work_request, "match": number}, by)


async def _found(request: web.Request) -> tuple[ShelvedRecord, int]:
    """The record that a request names, and the number of the match; 0 for the whole file."""
    found = await asyncio.to_thread(request.app[SHELF].find, request.query)
    return found, found.number or (_count(request, "match") if "match" in request.query else 0)


async def _ask(
    request: web.Request,
    found: ShelvedRecord,
    work_request: dict[str, Any],
    by: web.AppKey[Workers] = WORKERS,
) -> dict[str, Any]:
    # Each file has one process, also while the file grows.
    key = hashlib.sha256(f"{found.path} {found.number}".encode("utf-8", "surrogateescape")).hexdigest()
    if work_request["do"] == "compared":  # takes seconds, so drawings must not wait for it
        key = f"{key} compared"
    return await request.app[by].ask(key, {**work_request, "kind": found.kind, "path": str(found.path)})


def _count(request: web.Request, name: str) -> int:
    text = request.query.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise GdlError(f"{name} must be a number from 0 to 999999")
    return int(text)


ROOM = PageRoom(add_routes, "/replay", "Replay", (WORK.module,))
"""An entry point of ``kaskade.rooms``."""
