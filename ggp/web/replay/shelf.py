"""Where records lie: a folder of files and tournaments, and what pages have brought."""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from gdl.errors import GdlError
from gdl.reading import read_limited
from ggp.tournament.session import stored_settings
from ggp.tournament.store import Store

LARGEST = 32 * 1024 * 1024
"""Bytes of one record."""
MOST_BROUGHT = 32
MOST_BYTES = 128 * 1024 * 1024
"""Of all that pages have brought; the oldest go first."""
MOST_LISTED = 2000
KINDS = {".json": "record", ".jsonl": "record", ".sqlite": "tournament"}


@dataclass(frozen=True, slots=True)
class ShelvedRecord:
    """A record with the rules that came with it; empty where none did."""

    text: str
    rules: str = ""
    game: str = ""


class Shelf:
    """All records that pages may ask for. ``folder``: None for none."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._brought: OrderedDict[str, ShelvedRecord] = OrderedDict()

    def bring(self, text: str, rules: str, game: str) -> str:
        """Keep what a page brings; the name under which it is found again. Raises GdlError if it is too
        large."""
        record = ShelvedRecord(text, rules, game)
        if _size(record) > LARGEST:
            raise GdlError(f"the record has more than {LARGEST:,} bytes")
        name = secrets.token_urlsafe(12)
        self._brought[name] = record
        while len(self._brought) > MOST_BROUGHT or sum(map(_size, self._brought.values())) > MOST_BYTES:
            self._brought.popitem(last=False)
        return name

    def list(self) -> list[dict[str, Any]]:
        """The folder's files, newest first: ``file``, ``kind``, ``bytes``, ``time`` (seconds since 1970).
        Raises GdlError where the folder cannot be read."""
        if self.folder is None:
            return []
        files: list[dict[str, Any]] = []
        try:
            for path in islice(self.folder.rglob("*"), 100 * MOST_LISTED):
                kind = KINDS.get(path.suffix)
                if kind is not None and path.is_file() and not path.is_symlink():
                    told = path.stat()
                    name = path.relative_to(self.folder).as_posix()
                    files.append({"file": name, "kind": kind, "bytes": told.st_size, "time": told.st_mtime})
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
            return found
        if "tournament" in query:
            return self._match(self.path(query["tournament"], "tournament"), query.get("match", ""))
        path = self.path(query.get("file", ""), "record")
        return ShelvedRecord(read_limited(path, LARGEST).decode("utf-8", errors="replace"))

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

    def _match(self, path: Path, number: str) -> ShelvedRecord:
        with Store(path, writing=False) as store:
            index = int(number) - 1 if number.isascii() and number.isdigit() and len(number) < 10 else -1
            row = next(islice(store.records(), index, None), None) if index >= 0 else None
            if row is None:
                raise GdlError(f"{path.name} has no match {number[:20]}")
            settings = stored_settings(store)
        fixture, record = row
        games = () if settings is None else settings.games
        rules = next((game.rules for game in games if game.name == fixture.game), "")
        return ShelvedRecord(json.dumps(record), rules, fixture.game)


def _size(record: ShelvedRecord) -> int:
    return len(record.text) + len(record.rules)
