"""The results of a tournament in an SQLite file: one transaction per match.

Write-ahead logging with ``synchronous=FULL``: a match is on the disk when :meth:`Store.add` returns, and
neither kill -9 nor a power cut leaves half of one (https://sqlite.org/wal.html). Other processes may read
meanwhile. A lock file beside it keeps other tournaments from writing; the system drops the lock with the
process, however that ends.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from gdl.errors import GdlError
from ggp.tournament.schedule import Fixture

_SCHEMA = """
CREATE TABLE IF NOT EXISTS setting (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS match (
    id INTEGER PRIMARY KEY, game TEXT NOT NULL, round INTEGER NOT NULL, seats TEXT NOT NULL,
    goals TEXT NOT NULL, faults TEXT NOT NULL, completed INTEGER NOT NULL, steps INTEGER NOT NULL,
    seconds REAL NOT NULL, record TEXT NOT NULL, UNIQUE (game, round, seats));
CREATE TABLE IF NOT EXISTS failure (
    id INTEGER PRIMARY KEY, game TEXT NOT NULL, round INTEGER NOT NULL, seats TEXT NOT NULL,
    error TEXT NOT NULL);
"""

FAULTS = ("late", "illegal", "crashed")
"""What can be wrong with an answer, in the order in which a result counts them."""


@dataclass(frozen=True, slots=True)
class Result:
    """How one match ended.

    Attributes:
        fixture: the match.
        goals: per role, 0..100.
        faults: per role how many answers were late, illegal (or unreadable), and missing because
            the player crashed or cannot be reached.
        completed: False where it was cut after the largest number of steps.
        steps: joint moves, the opening's too.
        seconds: from START to the end.
    """

    fixture: Fixture
    goals: tuple[int, ...]
    faults: tuple[tuple[int, int, int], ...]
    completed: bool
    steps: int
    seconds: float


_ROOM = "make room, or choose another place; `ggp tournament` goes on from what it holds"


def faults_of(record: dict[str, Any], roles: int) -> tuple[tuple[int, int, int], ...]:
    """Count the errors of a match record, per role."""
    counts = [[0, 0, 0] for _ in range(roles)]
    for errors in record["errors"]:
        for role, error in enumerate(errors):
            if error:
                counts[role][{"TO": 0, "CE": 2}.get(error[:2], 1)] += 1
    return tuple((late, illegal, crashed) for late, illegal, crashed in counts)


class Store:
    """An open file of results, created if there is none. ``writing`` takes the lock, to add results. Raises
    GdlError if it is another kind of file, or if another tournament is writing it."""

    def __init__(self, path: Path, writing: bool = True) -> None:
        self.path = path
        self._lock: IO[str] | None = None
        if not writing and not path.is_file():
            raise GdlError(f"there is no tournament {path}")
        if writing:
            self._lock = _locked(path.with_name(path.name + ".lock"))
        try:
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript(_SCHEMA)
        except sqlite3.OperationalError as error:
            self.close()
            raise GdlError(f"cannot write {path}: {error}", remedy=_ROOM) from None
        except sqlite3.Error as error:
            self.close()
            raise GdlError(f"{path} is no tournament: {error}") from None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and give up the lock."""
        if hasattr(self, "_db"):
            self._db.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def setting(self, key: str) -> Any:
        """A setting; None where it was never set."""
        row = next(self._rows("SELECT value FROM setting WHERE key = ?", key), None)
        return None if row is None else json.loads(row[0])

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Raises GdlError where the file cannot be written (what it holds stays) or is damaged."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise GdlError(f"cannot write {self.path}: {error}", remedy=_ROOM) from None
        except sqlite3.DatabaseError as error:
            raise GdlError(f"{self.path} is damaged: {error}", remedy="give another --database") from None

    def _rows(self, query: str, *values: str) -> Iterator[tuple[Any, ...]]:
        """What a query finds. Raises GdlError where the file cannot be read."""
        with self._told():
            yield from self._db.execute(query, values)

    def set(self, key: str, value: object) -> None:
        """Keep a setting (anything that JSON holds). Raises GdlError where it cannot be written."""
        with self._told():
            self._set(key, value)

    def _set(self, key: str, value: object) -> None:
        self._db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, json.dumps(value)))

    def add(self, result: Result, record: dict[str, Any]) -> None:
        """Keep a match. On return it is on the disk. Raises GdlError where it cannot be written."""
        lists = (json.dumps(result.goals), json.dumps(result.faults))
        length = (result.completed, result.steps, result.seconds)
        with self._told(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute(
                "INSERT OR IGNORE INTO match (game, round, seats, goals, faults, completed, steps, seconds,"
                " record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*_key(result.fixture), *lists, *length, json.dumps(record, ensure_ascii=False)),
            )

    def add_failure(self, fixture: Fixture, error: str) -> None:
        """Keep that a match could not be run. It is not a result: the match is tried again."""
        row = (*_key(fixture), error)
        with self._told():
            self._db.execute("INSERT INTO failure (game, round, seats, error) VALUES (?, ?, ?, ?)", row)

    def results(self) -> list[Result]:
        """All matches, in the order in which they ended."""
        rows = self._rows(
            "SELECT game, round, seats, goals, faults, completed, steps, seconds FROM match ORDER BY id"
        )
        return [
            Result(
                _fixture(game, number, seats),
                tuple(json.loads(goals)),
                tuple((late, illegal, crashed) for late, illegal, crashed in json.loads(faults)),
                bool(completed),
                steps,
                seconds,
            )
            for game, number, seats, goals, faults, completed, steps, seconds in rows
        ]

    def records(self) -> Iterator[tuple[Fixture, dict[str, Any]]]:
        """All match records, in the order in which the matches ended."""
        for game, number, seats, record in self._rows(
            "SELECT game, round, seats, record FROM match ORDER BY id"
        ):
            yield _fixture(game, number, seats), json.loads(record)

    def failures(self) -> list[tuple[Fixture, str]]:
        """Matches that could not be run, and are not played yet."""
        rows = self._rows(
            "SELECT game, round, seats, error FROM failure f WHERE NOT EXISTS (SELECT 1 FROM match m WHERE"
            " m.game = f.game AND m.round = f.round AND m.seats = f.seats) ORDER BY id"
        )
        return [(_fixture(game, number, seats), error) for game, number, seats, error in rows]


def _key(fixture: Fixture) -> tuple[str, int, str]:
    """A fixture as columns."""
    return fixture.game, fixture.round, json.dumps(fixture.seats)


def _fixture(game: str, number: int, seats: str) -> Fixture:
    """The fixture of these columns."""
    return Fixture(game, number, tuple(json.loads(seats)))


def _locked(path: Path) -> IO[str]:
    try:
        file = path.open("w")
    except OSError as error:
        raise GdlError(f"cannot write {path}: {error.strerror}") from None
    try:
        import fcntl
    except ImportError:  # not on this platform
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise GdlError(
            f"another tournament is writing {path.name.removesuffix('.lock')}",
            remedy="wait for it, or give another --database",
        ) from None
    return file
