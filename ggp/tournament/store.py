"""The results of a tournament in an SQLite file, which may be a stranger's: one transaction per match.

Write-ahead logging with ``synchronous=FULL``: a match is on the disk when :meth:`Store.add` returns, and
neither kill -9 nor a power cut leaves half of one (https://sqlite.org/wal.html). Other processes may read
meanwhile. A lock file next to it prevents other tournaments from writing; the system releases the lock when
the process ends for any reason.

SQLite can read files of strangers safely with the right settings (https://sqlite.org/security.html). A view
or a trigger is code in a file, so the tables have to be exactly those of a tournament. Every command that
reads such a file opens it by :meth:`Database.reading`.
To read a file in write-ahead mode in its place, SQLite writes into the index next to it, or creates one. So
its pages and its log are copied instead. The copy is consistent if the log's header does not change
meanwhile: a page that changes while it is copied is in the log, and the log is copied last
(https://sqlite.org/walformat.html).
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from gdl import json_schema
from gdl.errors import FileError, GdlError
from gdl.json_schema import Schema, check_json, whole
from gdl.reading import open_regular
from ggp.tournament.bounds import LONGEST_NAME, MOST_SEATS
from ggp.tournament.schedule import Fixture
from propnet.storage.process_lock import ProcessLock

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
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise GdlError(f"cannot copy {path.name}: {error.strerror}") from None
        raise


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + _LOG)


def _header(path: Path) -> bytes:
    """The beginning of the log next to a file; empty unless the file is being written, or its writer was
    killed. Raises GdlError if the log is not a regular file."""
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
        if _header(place):
            folder, place = copy_with_log(place)
            options = "mode=ro"
        database = cls(path, f"{place.as_uri()}?{options}", patience=5.0, folder=folder)
        try:
            with database._as_gdl_errors("open"):
                database._open.execute("PRAGMA query_only=ON")
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


_LONGEST_SETTING = 16 * 1024 * 1024
"""Characters of a setting; rules are in them."""

FAULTS = ("late", "illegal", "crashed")
"""The faults of an answer, in the order in which a result counts them."""


_MOST_FAULTY = 1000
"""The most matches with faults that :meth:`Store.faulty` reads."""
Record = dict[str, Any]
"""A match record, by its public keys."""
Failure = tuple[Fixture, str]
"""A match that could not be run, and why."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one match.

    Attributes:
        fixture: the match.
        goals: per role, 0..100.
        faults: per role the numbers of answers that were late, illegal (or unreadable), and missing because
            the player crashed or cannot be reached.
        completed: False if it was cut after the largest number of steps.
        steps: joint moves, including the opening.
        seconds: from START to the end.
        own: per role the number of moves it made itself when it had a choice; empty in files that do not
            record it.
    """

    fixture: Fixture
    goals: tuple[int, ...]
    faults: tuple[tuple[int, int, int], ...]
    completed: bool
    steps: int
    seconds: float
    own: tuple[int, ...] = ()

    def idle(self, role: int) -> bool:
        """Whether all requests to the role failed: the referee made each of its moves."""
        return bool(self.own) and not self.own[role] and any(self.faults[role])


def faults_of(record: Record, roles: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
    """Count the errors of a match record, for each of these roles."""
    counts = [[0, 0, 0] for _ in roles]
    for errors in record["errors"]:
        for place, role in enumerate(roles):
            if error := errors[role]:
                counts[place][{"TO": 0, "CE": 2}.get(error[:2], 1)] += 1
    return tuple((late, illegal, crashed) for late, illegal, crashed in counts)


class Store:
    """An open file of results.

    Args:
        path: of the file.
        writing: takes the lock, to add results, and creates the file if it does not exist. Otherwise nothing
            is written, neither into the file nor next to it.

    Raises:
        GdlError: it is another kind of file, there is none to read, or another tournament is writing it.
    """

    def __init__(self, path: Path, writing: bool = True) -> None:
        self.name = path.name
        self._lock = ProcessLock(str(path.with_name(path.name + ".lock")))
        if not writing:
            if not path.exists():
                raise GdlError(f"there is no tournament {path}")
            self._database = Database.reading(path)
            return
        if path.exists():
            # A stranger's file stays as it is, without a lock next to it. A file that is too large to copy
            # has a log like a tournament's, and is checked once it is open.
            with suppress(LargeSnapshotError):
                Database.reading(path, begun=False).close()
        if not self._lock.take(0.0):
            raise GdlError(
                f"another tournament is writing {path.name}",
                remedy="wait for it, or give another --database",
            )
        try:
            self._database = Database.writing(path)
        except BaseException:
            self._lock.leave()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and release the lock."""
        self._database.close()
        self._lock.leave()

    def setting(self, key: str) -> Any:
        """A setting; None if it was never set. Raises GdlError if it is not JSON, or too long."""
        row = next(self._database.rows("SELECT value FROM setting WHERE key = ?", key), None)
        if row is None:
            return None
        if not isinstance(row[0], str) or len(row[0]) > _LONGEST_SETTING:
            raise GdlError(f"{self.name} has no text of at most {_LONGEST_SETTING:,} characters as its {key}")
        return self._json(row[0], key)

    def set(self, key: str, value: object) -> None:
        """Store a setting (any JSON value). Raises GdlError if it cannot be written."""
        with self._database.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, json.dumps(value)))

    def add(self, result: Result, record: dict[str, Any]) -> None:
        """Store a match. On return it is on the disk. Raises GdlError if it cannot be written."""
        counts = [list(row) for row in result.faults]
        for row, own in zip(counts, result.own, strict=False):
            row.append(own)
        lists = (json.dumps(result.goals), json.dumps(counts))
        length = (result.completed, result.steps, result.seconds)
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO match (game, round, seats, goals, faults, completed, steps, seconds,"
                " record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*_key(result.fixture), *lists, *length, json.dumps(record, ensure_ascii=False)),
            )

    def add_failure(self, fixture: Fixture, error: str) -> None:
        """Record that a match could not be run. It is not a result: the match is tried again."""
        row = (*_key(fixture), error)
        with self._database.transaction() as connection:
            connection.execute("INSERT INTO failure (game, round, seats, error) VALUES (?, ?, ?, ?)", row)

    def results(self) -> list[Result]:
        """All matches, in the order in which they ended. Raises GdlError if a row is not a match."""
        rows = self._database.rows(
            "SELECT game, round, seats, goals, faults, completed, steps, seconds FROM match ORDER BY id"
        )
        return [self._result(row) for row in rows]

    def records(self) -> Iterator[tuple[Fixture, dict[str, Any]]]:
        """All match records, in the order in which the matches ended. Raises GdlError if one is not a
        record."""
        query = "SELECT game, round, seats, record FROM match ORDER BY id"
        for row in self._database.rows(query, most=math.inf):
            yield self._record(*row)

    def record(self, number: int) -> tuple[Fixture, dict[str, Any]]:
        """The record of a match by its place in the order of their ends, from 1. Raises GdlError if there is
        none."""
        query = "SELECT game, round, seats, record FROM match ORDER BY id LIMIT 1 OFFSET ?"
        row = next(self._database.rows(query, number - 1), None) if 0 < number < 2**31 else None
        if row is None:
            raise GdlError(f"{self.name} has no match {number}")
        return self._record(*row)

    def faulty(self) -> Iterator[tuple[int, Fixture, Record]]:
        """The number, fixture and record of the first `_MOST_FAULTY` matches with faults. Raises GdlError as
        :meth:`record`."""
        numbers = [n for n, result in enumerate(self.results(), 1) if any(map(any, result.faults))]
        for number in numbers[:_MOST_FAULTY]:
            yield number, *self.record(number)

    def failures(self) -> list[Failure]:
        """Matches that could not be run, and are still not played. Raises GdlError as :meth:`results`."""
        played = {self._fixture(*row) for row in self._database.rows("SELECT game, round, seats FROM match")}
        rows = self._database.rows("SELECT game, round, seats, error FROM failure ORDER BY id")
        failed = [(self._fixture(*row), str(error)) for *row, error in rows]
        return [(fixture, error) for fixture, error in failed if fixture not in played]

    def _result(self, row: Sequence[Any]) -> Result:
        game, number, seats, goals, faults, completed, steps, seconds = row
        fixture = self._fixture(game, number, seats)
        values, counts = self._json(goals, "goals"), self._json(faults, "faults")
        fields = {"goals": values, "faults": counts, "steps": steps, "seconds": seconds}
        self._check(fields, _RESULT, fixture)
        if {len(values), len(counts)} != {len(fixture.seats)} or len(set(map(len, counts))) != 1:
            raise self._refused(fixture)
        # A row may have one more number: the moves of its own. Older files do not have it.
        own = tuple(row[-1] for row in counts if len(row) > len(FAULTS))
        failed = tuple((late, illegal, crashed) for late, illegal, crashed, *_ in counts)
        return Result(fixture, tuple(values), failed, bool(completed), steps, seconds, own)

    def _check(self, fields: dict[str, Any], schema: Schema, fixture: Fixture | None = None) -> None:
        try:
            check_json(fields, schema)
        except GdlError as error:
            if fixture is not None:
                raise self._refused(fixture) from None
            raise GdlError(f"{self.name} has a match without game, round or seats: {error.message}") from None

    def _record(
        self, game: object, number: object, seats: object, record: object
    ) -> tuple[Fixture, dict[str, Any]]:
        fixture = self._fixture(game, number, seats)
        fields = self._json(record, "record")
        if not isinstance(fields, dict):
            raise self._refused(fixture)
        return fixture, fields

    def _fixture(self, game: object, number: object, seats: object) -> Fixture:
        """The fixture of these columns."""
        names = self._json(seats, "seats")
        self._check({"game": game, "round": number, "seats": names}, _FIXTURE)
        return Fixture(cast(str, game), cast(int, number), tuple(names))

    def _json(self, text: object, what: str) -> Any:
        try:
            return json.loads(cast(str, text))
        except (ValueError, TypeError, RecursionError):
            raise GdlError(f"{self.name} has a text for {what} that is no JSON") from None

    def _refused(self, fixture: Fixture) -> GdlError:
        where = f"{fixture.game[:80]}, round {fixture.round}"
        return GdlError(f"{self.name} has a match of {where} that cannot be: its columns are damaged")


_NAME = json_schema.text(LONGEST_NAME, 1)
_FIXTURE = json_schema.record(game=_NAME, round=whole(), seats=json_schema.rows(_NAME, 1, MOST_SEATS))
_RESULT = json_schema.record(
    goals=json_schema.rows(whole(1 - 2**53)),
    faults=json_schema.rows(json_schema.rows(whole(), len(FAULTS), len(FAULTS) + 1)),
    steps=whole(),
    seconds=json_schema.number(0, 2**53),
)
"""The columns of a match (:mod:`gdl.json_schema`)."""


def _key(fixture: Fixture) -> tuple[str, int, str]:
    """A fixture as columns."""
    return fixture.game, fixture.round, json.dumps(fixture.seats)
