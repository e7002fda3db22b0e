"""The results of a tournament in an SQLite file: one transaction per match.

Write-ahead logging with ``synchronous=FULL``: a match is on the disk when :meth:`Store.add` returns, and
neither kill -9 nor a power cut leaves half of one (https://sqlite.org/wal.html). Other processes may read
meanwhile. A lock file next to it prevents other tournaments from writing; the system releases the lock when
the process ends for any reason.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from gdl.errors import GdlError
from ggp.tournament.bounds import LONGEST_NAME, MOST_SEATS
from ggp.tournament.database import Database, LargeSnapshotError
from ggp.tournament.schedule import Fixture

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
        self._lock: IO[str] | None = None
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
        self._lock = _locked(path.with_name(path.name + ".lock"))
        try:
            self._database = Database.writing(path)
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and release the lock."""
        self._database.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

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
        # A row may have one more number: the moves of its own. Older files do not have it.
        width = len(FAULTS) + (isinstance(counts, list) and _is_list(counts[:1], 1, _has_own))
        if not (
            _is_list(values, len(fixture.seats), _is_goal)
            and _is_list(counts, len(fixture.seats), lambda row: _is_list(row, width, _is_count))
            and _is_count(steps)
            and isinstance(seconds, int | float)
            and 0 <= seconds < _MOST
        ):
            raise self._refused(fixture)
        own = tuple(row[-1] for row in counts if _has_own(row))
        failed = tuple((late, illegal, crashed) for late, illegal, crashed, *_ in counts)
        return Result(fixture, tuple(values), failed, bool(completed), cast(int, steps), seconds, own)

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
        if not (
            _is_name(game)
            and _is_count(number)
            and isinstance(names, list)
            and 0 < len(names) <= MOST_SEATS
            and all(map(_is_name, names))
        ):
            raise GdlError(f"{self.name} has a match without game, round or seats")
        return Fixture(cast(str, game), cast(int, number), tuple(names))

    def _json(self, text: object, what: str) -> Any:
        try:
            return json.loads(cast(str, text))
        except (ValueError, TypeError, RecursionError):
            raise GdlError(f"{self.name} has a text for {what} that is no JSON") from None

    def _refused(self, fixture: Fixture) -> GdlError:
        where = f"{fixture.game[:80]}, round {fixture.round}"
        return GdlError(f"{self.name} has a match of {where} that cannot be: its columns are damaged")


_MOST = 2**53


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _is_goal(value: object) -> bool:
    return type(value) is int and abs(value) < _MOST


def _has_own(row: object) -> bool:
    return isinstance(row, list) and len(row) == len(FAULTS) + 1


def _is_list(value: object, length: int, of: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and len(value) == length and all(map(of, value))


def _key(fixture: Fixture) -> tuple[str, int, str]:
    """A fixture as columns."""
    return fixture.game, fixture.round, json.dumps(fixture.seats)


def _locked(path: Path) -> IO[str]:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
    try:
        file = os.fdopen(os.open(path, flags, 0o666), "r+", encoding="utf-8")
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
