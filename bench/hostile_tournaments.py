"""Files that claim to be tournaments, as a stranger would make them: for tests and for bench.hostile_web.

None of them may be read for long, none may be shown or played. Looking at one may change nothing beside it.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ggp.tournament.store import TABLES

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x > 0)"
RULES = "(role x) (role o) (<= terminal) (<= (legal ?r noop) (role ?r)) (<= (goal ?r 50) (role ?r))"
COLUMNS = "id, game, round, seats, goals, faults, completed, steps, seconds, record"
ROW = (1, "g", 1, '["a", "b"]', "[100, 0]", "[[0, 0, 0], [0, 0, 0]]", 1, 3, 0.5, "{}")
SETTINGS: dict[str, Any] = {
    "name": "t",
    "games": [{"name": "g", "rules": RULES, "roles": 2}],
    "entrants": [{"label": "a", "spec": "random"}, {"label": "b", "spec": "random"}],
    "rounds": 1,
    "startclock": 1.0,
    "playclock": 1.0,
    "plies": 2,
    "seed": 1,
    "level": "auto",
    "max_steps": 1000,
    "take_turns": False,
}


def write_tournament(
    path: Path,
    settings: object = None,
    row: tuple[object, ...] | None = ROW,
    tables: dict[str, str] | None = None,
    more: tuple[str, ...] = (),
) -> None:
    """Write a file as ``ggp tournament`` does, but for what is given.

    Args:
        path: of the file.
        settings: the text of the settings, or what is to be JSON; proper ones if None.
        row: of a match; None for no match.
        tables: instead of those of the same names.
        more: further SQL.
    """
    text = settings if isinstance(settings, str) else json.dumps(SETTINGS if settings is None else settings)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    for statement in ({**TABLES, **(tables or {})}).values():
        database.execute(statement)
    if "setting" not in (tables or {}):
        database.execute("INSERT INTO setting VALUES ('settings', ?)", (text,))
    if row is not None and "match" not in (tables or {}):
        marks = ", ".join("?" * len(row))
        database.execute(f"INSERT INTO match ({COLUMNS}) VALUES ({marks})", row)
    for statement in more:
        database.execute(statement)
    database.close()


def _entrants(*pairs: tuple[object, object]) -> dict[str, Any]:
    return {**SETTINGS, "entrants": [{"label": label, "spec": spec} for label, spec in pairs]}


def _changed(**columns: object) -> tuple[object, ...]:
    return tuple(columns.get(name, value) for name, value in zip(COLUMNS.split(", "), ROW, strict=True))


MANY = [(f"p{number}", "random") for number in range(5000)]
SETTING_KINDS: dict[str, object] = {
    "settings-x": '"x"',
    "settings-no-json": "{",
    "settings-deep": "[" * 200_000,
    "settings-list": [],
    "settings-empty": {"rounds": 1},
    "settings-unknown": {**SETTINGS, "evil": 1},
    "rounds": {**SETTINGS, "rounds": 10**12},
    "rounds-huge": {**SETTINGS, "rounds": 10**400},
    "rounds-text": {**SETTINGS, "rounds": "2"},
    "clock-nan": {**SETTINGS, "playclock": float("nan")},
    "clock-infinite": {**SETTINGS, "startclock": float("inf")},
    "level": {**SETTINGS, "level": "../../x"},
    "roles": {**SETTINGS, "games": [{"name": "g", "rules": RULES, "roles": 10**9}]},
    "seatings": {**SETTINGS, "games": [{"name": "g", "rules": RULES, "roles": 60}]},
    "game-no-name": {**SETTINGS, "games": [{"name": "\n", "rules": RULES, "roles": 2}]},
    "game-twice": {**SETTINGS, "games": SETTINGS["games"] * 2},
    "entrants-none": {**SETTINGS, "entrants": []},
    "entrants-text": {**SETTINGS, "entrants": ["a", "b"]},
    "entrants-number": _entrants(("a", 7), ("b", "random")),
    "entrants-list": _entrants((["a"], "random"), ("b", "random")),
    "entrants-twice": _entrants(("a", "random"), ("a", "random")),
    "entrants-lines": _entrants(("a\nggp: all is well", "random"), ("b", "random")),
    "entrants-steer": _entrants(("a\x1b[2J", "random"), ("b", "random")),
    "entrants-many": _entrants(*MANY),
}
"""Settings that cannot be."""
ROW_KINDS: dict[str, tuple[object, ...]] = {
    "row-other-player": _changed(seats='["a", "c"]'),
    "row-other-game": _changed(game="h"),
    "row-seats": _changed(seats=json.dumps(["a", "b"] * 30)),
    "row-no-seats": _changed(seats="[]"),
    "row-goals": _changed(goals="[1]"),
    "row-goal-text": _changed(goals='["1", {}]'),
    "row-faults": _changed(faults="[[0], [0]]"),
    "row-round": _changed(round="x"),
    "row-seconds": _changed(seconds="x"),
    "row-infinite": _changed(seconds=float("inf")),
    "row-bytes": _changed(game=b"\xff\xfe\x00"),
    "row-deep": _changed(seats="[" * 200_000),
    "row-large": _changed(seats="[" + " " * 40_000_000 + '"a", "b"]'),
}
"""Matches that cannot be."""
_ENDLESS_VIEW = f"""CREATE VIEW match AS {ENDLESS}
    SELECT x AS id, 'g' AS game, x AS round, '["a", "b"]' AS seats, '[1, 0]' AS goals,
    '[[0, 0, 0], [0, 0, 0]]' AS faults, 1 AS completed, 1 AS steps, 1.0 AS seconds, '{{}}' AS record FROM n"""
TABLE_KINDS: dict[str, dict[str, str]] = {
    "view": {"match": _ENDLESS_VIEW},
    "view-never": {"match": _ENDLESS_VIEW + " WHERE x < 0"},
    "view-setting": {"setting": f"CREATE VIEW setting AS {ENDLESS} SELECT 'y' AS key, 1 AS value FROM n"},
    "view-upper": {"match": _ENDLESS_VIEW.replace("VIEW match", "VIEW MATCH")},
    "generated": {
        "match": TABLES["match"].replace(
            "record TEXT NOT NULL", "record TEXT AS (hex(zeroblob(1000000000))) NOT NULL"
        )
    },
    "virtual": {"match": "CREATE VIRTUAL TABLE match USING fts5(game, round, seats, goals)"},
}
"""What is called as our tables are, and is none."""
MORE_KINDS: dict[str, tuple[str, ...]] = {
    "trigger": (
        f"CREATE TRIGGER t AFTER INSERT ON match BEGIN INSERT INTO failure SELECT * FROM ({ENDLESS} SELECT x,"
        " 'g', x, '[]', 'e' FROM n); END",
    ),
    "index": ("CREATE INDEX i ON match (hex(zeroblob(1000000000)))",),
}
"""What would run when a match is added."""


def write_hostile(folder: Path) -> list[str]:
    """Write them all into a folder; returns their names. None can be shown or played."""
    for name, settings in SETTING_KINDS.items():
        write_tournament(folder / f"{name}.sqlite", settings)
    for name, row in ROW_KINDS.items():
        write_tournament(folder / f"{name}.sqlite", row=row)
    for name, tables in TABLE_KINDS.items():
        write_tournament(folder / f"{name}.sqlite", tables=tables)
    (folder / "text.sqlite").write_text("no database " * 1000)
    (folder / "junk.sqlite").write_bytes(b"SQLite format 3\0" + random.Random(1).randbytes(100_000))
    for name, wreck in _WRECKS.items():
        path = folder / f"{name}.sqlite"
        write_tournament(path)
        wreck(path)
    return sorted(path.name for path in folder.glob("*.sqlite"))


def _cut(path: Path) -> None:
    os.truncate(path, 5000)


def _loop(path: Path) -> None:
    """Every page leads to the second one."""
    data = bytearray(path.read_bytes())
    for page in range(4096, len(data), 4096):
        data[page : page + 12] = bytes([5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2])
    path.write_bytes(data)


def _log(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def wreck(path: Path) -> None:
        make(path.with_name(path.name + "-wal"))

    return wreck


_WRECKS: dict[str, Callable[[Path], None]] = {
    "cut": _cut,
    "loop": _loop,
    "log-pipe": _log(os.mkfifo),
    "log-device": _log(lambda log: log.symlink_to("/dev/zero")),
    "log-folder": _log(lambda log: log.mkdir()),
}


def write_special(folder: Path) -> list[str]:
    """Names in a folder that are no regular files; returns them."""
    os.mkfifo(folder / "pipe.sqlite")
    (folder / "device.sqlite").symlink_to("/dev/zero")
    (folder / "folder.sqlite").mkdir()
    return ["pipe.sqlite", "device.sqlite", "folder.sqlite"]


def picture(folder: Path) -> dict[str, object]:
    """What lies in a folder, byte for byte, and when it was written."""
    return {
        path.name: (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.iterdir()
        if path.is_file() and not path.is_symlink()
    } | {path.name: None for path in folder.iterdir() if not path.is_file() or path.is_symlink()}
