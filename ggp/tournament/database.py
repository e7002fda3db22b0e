"""Opens a tournament's SQLite file, which may be a stranger's, within limits.

SQLite can read files of strangers safely with the right settings (https://sqlite.org/security.html). A view
or a trigger is code in a file, so the tables have to be exactly those of a tournament. Every command that
reads such a file opens it by :meth:`Database.reading`.
To read a file in write-ahead mode in its place, SQLite writes into the index next to it, or creates one. So
its pages and its log are copied instead. The copy is consistent if the log's header does not change
meanwhile: a page that changes while it is copied is in the log, and the log is copied last
(https://sqlite.org/walformat.html).
"""

from __future__ import annotations

import math
import os
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Self

from gdl.errors import FileError, GdlError
from gdl.reading import open_regular

MOST_COPIED = 1024**3
"""The most bytes of a file and its log together that are copied."""
TRIES = 5
_HEADER = 32
"""Bytes of the log's header. Its salts change when the log restarts."""
_LOG = "-wal"


class LargeSnapshotError(GdlError):
    """A file that is being written is too large to copy."""


def _open_named(path: Path) -> BinaryIO:
    """Open a regular file. Raises GdlError, which names it without its folder, if it cannot be read."""
    try:
        return open_regular(path)
    except FileError as error:
        raise GdlError(error.message.replace(str(path), path.name), remedy=error.remedy) from None


def _has_log(path: Path) -> bool:
    """Whether the log next to a file has content: the file is being written, or its writer was killed. Raises
    GdlError if the log is not a regular file."""
    return bool(_header(path))


def copy_with_log(path: Path) -> tuple[Path, Path]:
    """Copy a file and its log. Returns a new private folder and the copy in it; remove the folder.

    Raises LargeSnapshotError if they are too large, GdlError if they cannot be read or copied, or are written
    too fast.
    """
    folder = Path(tempfile.mkdtemp(prefix="ggp-tournament-"))
    copy = folder / "copy.sqlite"
    try:
        for _ in range(TRIES):
            before = _header(path)
            room = MOST_COPIED - _copy(path, copy, MOST_COPIED)
            _copy(_log_of(path), _log_of(copy), room)
            if before == _header(path):
                return folder, copy
        raise GdlError(f"{path.name} is written faster than it can be read", remedy="try again in a moment")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise GdlError(f"cannot copy {path.name}: {error.strerror}") from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + _LOG)


def _header(path: Path) -> bytes:
    log = _log_of(path)
    if not os.path.lexists(log):
        return b""
    with _open_named(log) as file:
        return file.read(_HEADER)


def _copy(source: Path, target: Path, most: int) -> int:
    """Copy a file. Returns the number of bytes copied."""
    count = 0
    with _open_named(source) as file, target.open("wb") as copy:
        while part := file.read(1 << 20):
            count += len(part)
            if count > most:
                raise LargeSnapshotError(
                    f"{source.name} is being written and has more than {MOST_COPIED >> 20} MiB",
                    remedy="look again when its tournament has ended",
                )
            copy.write(part)
    return count


TABLES = {
    "setting": "CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "match": """CREATE TABLE match (
        id INTEGER PRIMARY KEY, game TEXT NOT NULL, round INTEGER NOT NULL, seats TEXT NOT NULL,
        goals TEXT NOT NULL, faults TEXT NOT NULL, completed INTEGER NOT NULL, steps INTEGER NOT NULL,
        seconds REAL NOT NULL, record TEXT NOT NULL, UNIQUE (game, round, seats))""",
    "failure": """CREATE TABLE failure (
        id INTEGER PRIMARY KEY, game TEXT NOT NULL, round INTEGER NOT NULL, seats TEXT NOT NULL,
        error TEXT NOT NULL)""",
}
"""The tables of a tournament, as SQLite stores them apart from spaces."""
SECONDS = 10.0
"""Seconds that SQLite may search for one row."""
LONGEST = 32 * 1024 * 1024
"""Bytes of one value, such as the record of a match."""
MOST_ROWS = 1_000_000
MOST_BYTES = 256 * 1024 * 1024
"""Bytes of all rows in memory together."""
_INSTRUCTIONS = 10_000
"""Instructions of SQLite's machine between two looks at the clock."""
_SPACES = re.compile(r" ?([(),]) ?")
_ROOM = "free disk space, or choose another place; `ggp tournament` resumes from the matches in the file"


class Database:
    """An open file. All errors are GdlErrors of one line."""

    def __init__(self, path: Path, address: str, *, patience: float, folder: Path | None = None) -> None:
        """Connect. Use :meth:`reading` or :meth:`writing`.

        Args:
            path: of the file, for messages.
            address: the URI that SQLite opens.
            patience: seconds to wait for other writers.
            folder: removed once the file is open.
        """
        self._name = path.name
        self._folder = folder
        self._deadline = math.inf
        self._connection: sqlite3.Connection | None = None
        try:
            with self._as_gdl_errors("open"):
                self._connection = sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None)
                self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
                self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
                self._connection.set_progress_handler(self._is_late, _INSTRUCTIONS)
                self._connection.execute("PRAGMA trusted_schema=OFF")
                self._connection.execute("PRAGMA cell_size_check=ON")
        except BaseException:
            self.close()
            raise

    @classmethod
    def reading(cls, path: Path, *, begun: bool = True) -> Self:
        """Open a file without writing anything in its folder.

        Args:
            path: of the file.
            begun: whether it must have tables; otherwise it may also be empty.

        Raises:
            LargeSnapshotError: it is being written, or its writer was killed, and it is too large to copy.
            GdlError: the file does not exist, is not a regular file, or is not a tournament.
        """
        _open_named(path).close()
        folder, options = None, "mode=ro&immutable=1"
        place = path.resolve()
        if _has_log(place):
            folder, place = copy_with_log(place)
            options = "mode=ro"
        database = cls(path, f"{place.as_uri()}?{options}", patience=5.0, folder=folder)
        try:
            database._run("PRAGMA query_only=ON")
            if not database._check_tables() and begun:
                raise GdlError(f"{path.name} is not a tournament: it has no tables")
            # Open files stay readable after their removal, until this process ends.
            database._remove_folder()
        except BaseException:
            database.close()
            raise
        return database

    @classmethod
    def writing(cls, path: Path) -> Self:
        """Open a file to add to it; it is created if it does not exist. Check it by :meth:`reading` before.

        Raises:
            GdlError: it holds anything but a tournament, or cannot be written.
        """
        database = cls(path, f"{path.resolve().as_uri()}?mode=rwc", patience=30.0)
        try:
            database._begin()
        except BaseException:
            database.close()
            raise
        return database

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._remove_folder()

    def rows(self, query: str, *values: object, most: float = MOST_BYTES) -> Iterator[tuple[Any, ...]]:
        """The rows that a query finds.

        Args:
            query: SQL from this program, not from a file.
            values: for its question marks.
            most: bytes of all rows together.

        Raises:
            GdlError: the file is damaged, or reading takes too long or finds too much.
        """
        size = 0
        with self._as_gdl_errors("read"):
            self._deadline = time.monotonic() + SECONDS
            for number, row in enumerate(self._open.execute(query, values)):
                size += sum(len(value) for value in row if isinstance(value, str | bytes))
                if number >= MOST_ROWS or size > most:
                    raise GdlError(f"{self._name} has more than {MOST_ROWS:,} rows, or too many bytes")
                yield row
                self._deadline = time.monotonic() + SECONDS

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all of the changes or none. On return they are on the disk. Raises GdlError if they cannot be
        written."""
        with self._as_gdl_errors("write"), self._open as connection:
            self._deadline = math.inf
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    @property
    def _open(self) -> sqlite3.Connection:
        assert self._connection is not None, "it is closed"
        return self._connection

    def _run(self, statement: str) -> None:
        with self._as_gdl_errors("open"):
            self._deadline = time.monotonic() + SECONDS
            self._open.execute(statement)

    def _begin(self) -> None:
        """Prepare to write; create the tables if the file has none."""
        with self._as_gdl_errors("write"):
            self._deadline = math.inf
            self._open.execute("PRAGMA journal_mode=WAL")
            self._open.execute("PRAGMA synchronous=FULL")
        if self._check_tables(alone=True):
            return
        with self.transaction() as connection:
            for statement in TABLES.values():
                connection.execute(statement)

    def _check_tables(self, alone: bool = False) -> bool:
        """Whether the tables of a tournament exist; False if the file is empty. With ``alone`` nothing else
        may exist. Raises GdlError if the file has other contents."""
        names = ", ".join(f"'{name}'" for name in TABLES)
        query = "SELECT type, lower(name), sql FROM sqlite_master WHERE name COLLATE NOCASE {} IN ({})"
        found = list(self.rows(query.format("", names)))
        if {(name, _plain(sql)) for kind, name, sql in found if kind == "table"} != {
            (name, _plain(sql)) for name, sql in TABLES.items()
        }:
            if found or next(self.rows("SELECT 1 FROM sqlite_master"), None) is not None:
                raise GdlError(f"{self._name} is not a tournament: it has other tables")
            return False
        others = self.rows(query.format("NOT", names) + " AND sql IS NOT NULL") if alone else iter(())
        if other := next(others, None):
            raise GdlError(
                f"{self._name} has a {other[0]} {str(other[1])[:80]!r}, which is not part of a tournament",
                remedy="remove it, or give another --database",
            )
        return True

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline

    @contextmanager
    def _as_gdl_errors(self, what: str) -> Iterator[None]:
        """Raise SQLite's errors as :class:`GdlError`; ``what`` is the operation."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                raise GdlError(f"{self._name} takes longer than {SECONDS:g} s to read") from None
            remedy = _ROOM if what == "write" else ""
            raise GdlError(f"cannot {what} {self._name}: {error}", remedy=remedy) from None
        except sqlite3.DataError:
            raise GdlError(f"{self._name} has a value of more than {LONGEST:,} bytes") from None
        except (sqlite3.DatabaseError, UnicodeError) as error:  # its messages quote non-UTF-8 text
            kind = "not a tournament" if "not a database" in str(error) else "damaged"
            raise GdlError(f"{self._name} is {kind}: {error}", remedy="give another --database") from None

    def _remove_folder(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _plain(sql: object) -> str:
    """
    >>> _plain("CREATE TABLE t (\\n  x TEXT,  y)")
    'CREATE TABLE t(x TEXT,y)'
    """
    return _SPACES.sub(r"\1", " ".join(str(sql).split()))
