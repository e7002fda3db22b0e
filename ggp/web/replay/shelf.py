"""Where records lie: a folder of files and tournaments, and what pages have brought."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from gdl.errors import GdlError
from gdl.reading import read_limited
from ggp.web.kept import Kept

LARGEST = 32 * 1024 * 1024
"""Bytes of one record."""
MOST_BROUGHT = 32
MOST_BYTES = 128 * 1024 * 1024
"""Of all that pages have brought; the oldest go first."""
MOST_LISTED = 2000
KINDS = {".json": "record", ".jsonl": "record", ".sqlite": "tournament"}


@dataclass(frozen=True, slots=True)
class ShelvedRecord:
    """A record with the rules that came with it; empty where none did.

    Attributes:
        text: the record; empty where a tournament has it, whose file is read by a process with limits.
        rules, game: what came with it.
        tournament: the path of that file; empty for other records.
        number: of the match in it, from 1.
    """

    text: str = ""
    rules: str = ""
    game: str = ""
    tournament: str = ""
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
            number = query.get("match", "")
            if not (number.isascii() and number.isdigit() and len(number) < 10):
                raise GdlError(f"{number[:20]!r} is no number of a match")
            path = self.path(query["tournament"], "tournament")
            return ShelvedRecord(tournament=str(path), number=int(number))
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
            inside = path.resolve().is_relative_to(self.folder.resolve())
            if inside and path.is_file():
                return path
        raise GdlError(f"there is no {kind} {name[:100]!r}", remedy="the list of the page has all")


def _size(record: ShelvedRecord) -> int:
    return len(record.text) + len(record.rules)
