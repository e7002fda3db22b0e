"""A tournament's file may be a stranger's: it runs nothing, takes no time, changes nothing beside it."""

from __future__ import annotations

import functools
import os
import shutil
import sqlite3
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from bench.hostile_tournaments import (
    ENDLESS,
    MORE_KINDS,
    ROW_KINDS,
    SETTING_KINDS,
    TABLE_KINDS,
    picture,
    write_hostile,
    write_special,
    write_tournament,
)
from gdl.errors import GdlError
from ggp.tournament import store as database
from ggp.tournament.schedule import Fixture
from ggp.tournament.session import settings_of, stored_settings
from ggp.tournament.store import Database, Result, Store
from ggp.web.tournament_process import tables_of
from tests.examples import examples

RESULT = Result(Fixture("g", 1, ("a", "b")), (100, 0), ((0, 0, 0), (0, 0, 0)), True, 3, 0.5)


def one_line(error: BaseException) -> bool:
    return str(error).isprintable() and len(str(error)) < 500


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    assert len(write_hostile(folder)) > len(SETTING_KINDS) + len(ROW_KINDS) + len(TABLE_KINDS)
    write_special(folder)
    return folder


def test_a_proper_file_is_shown_and_goes_on(tmp_path: Path) -> None:
    write_tournament(tmp_path / "t.sqlite")
    assert tables_of(tmp_path / "t.sqlite")["played"] == 1
    with Store(tmp_path / "t.sqlite") as store:
        assert store.results() == [RESULT]
        assert settings_of(store, [], [], "", {}) == stored_settings(store)


def test_no_hostile_file_is_shown_and_none_is_changed(hostile: Path) -> None:
    before = picture(hostile)
    for path in sorted(hostile.glob("*.sqlite")):
        with pytest.raises(GdlError) as told:
            tables_of(path)
        assert one_line(told.value), path
        assert str(hostile) not in str(told.value)
    assert picture(hostile) == before


def test_no_hostile_file_goes_on_and_none_with_other_tables_is_changed(hostile: Path, tmp_path: Path) -> None:
    for path in sorted(hostile.glob("*.sqlite")):
        copy = tmp_path / path.stem
        copy.mkdir()
        for part in hostile.glob(f"{path.name}*"):
            if stat.S_ISREG(part.lstat().st_mode):
                shutil.copy(part, copy / part.name)
        if not (copy / path.name).exists() or path.stem.startswith("log-"):
            continue
        before = picture(copy)
        with pytest.raises(GdlError) as told:
            _go_on(copy / path.name)
        assert one_line(told.value), path
        if path.stem in TABLE_KINDS or path.stem in ("text", "junk"):
            assert picture(copy) == before


def _go_on(path: Path) -> None:
    with Store(path) as store:
        store.failures()
        settings_of(store, [], [], "", {})


@pytest.mark.parametrize("kind", MORE_KINDS)
def test_what_would_run_when_a_match_is_added_is_refused(kind: str, tmp_path: Path) -> None:
    write_tournament(tmp_path / "t.sqlite", row=None, more=MORE_KINDS[kind])
    assert tables_of(tmp_path / "t.sqlite")["played"] == 0
    with pytest.raises(GdlError, match=f"has a {kind}"):
        Store(tmp_path / "t.sqlite")


def test_a_file_that_is_being_written_is_read_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a ?mode=rwc#.sqlite"
    write_tournament(path, row=None)
    with Store(path) as writer:
        for number in range(1, 4):
            writer.add(RESULT if number == 1 else _numbered(number), {})
            before = picture(tmp_path)
            assert tables_of(path)["played"] == number
            with Store(path, writing=False) as reader:
                assert len(reader.results()) == number
                assert reader.record(number)[0].round == number
            assert picture(tmp_path) == before


def _numbered(number: int) -> Result:
    return Result(Fixture("g", number, ("a", "b")), (100, 0), ((0, 0, 0), (0, 0, 0)), True, 3, 0.5)


def test_what_a_killed_writer_left_is_read_and_left_as_it_is(tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    write_tournament(there / "t.sqlite", row=None)
    with Store(there / "t.sqlite") as writer:
        writer.add(RESULT, {})
        for name in ("t.sqlite", "t.sqlite-wal"):
            shutil.copy(there / name, here / name)
    before = picture(here)
    here.chmod(0o500)
    try:
        with Store(here / "t.sqlite", writing=False) as store:
            assert store.results() == [RESULT]
    finally:
        here.chmod(0o700)
    assert picture(here) == before


def test_copies_are_private_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    write_tournament(tmp_path / "t.sqlite")
    with Store(tmp_path / "t.sqlite") as writer:
        writer.set("x", 1)
        folder, copy = database.copy_with_log(tmp_path / "t.sqlite")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert copy.parent == folder
        shutil.rmtree(folder)
        reader = Store(tmp_path / "t.sqlite", writing=False)
        assert os.listdir(tmp_path / "tmp") == []
        assert reader.setting("x") == 1
        reader.close()
        monkeypatch.setattr(database, "MOST_COPIED", 1000)
        with pytest.raises(GdlError, match="is being written and has more than"):
            Store(tmp_path / "t.sqlite", writing=False)
        with pytest.raises(GdlError, match="another tournament"):  # and not that it is too large to go on
            Store(tmp_path / "t.sqlite")
        assert os.listdir(tmp_path / "tmp") == []


def test_a_log_that_begins_anew_while_it_is_copied_is_copied_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tournament(tmp_path / "t.sqlite", row=None)
    copy = database._copy
    with Store(tmp_path / "t.sqlite") as writer:
        writer.add(RESULT, {})
        done: list[Path] = []

        def slow(source: Path, target: Path, most: int) -> int:
            count = copy(source, target, most)
            done.append(source)
            if len(done) == 1:  # the log is written back, and the next match begins it anew
                with sqlite3.connect(tmp_path / "t.sqlite") as other:
                    other.execute("PRAGMA wal_checkpoint(RESTART)")
                writer.add(_numbered(2), {})
            return count

        monkeypatch.setattr(database, "_copy", slow)
        with Store(tmp_path / "t.sqlite", writing=False) as reader:
            assert [result.fixture.round for result in reader.results()] == [1, 2]
        assert len(done) == 4


def test_reading_has_a_deadline_and_most_rows_and_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tournament(tmp_path / "t.sqlite")
    reader = Database.reading(tmp_path / "t.sqlite")
    try:
        with pytest.raises(GdlError, match="has more than"):
            list(reader.rows("SELECT zeroblob(1000)", most=999))
        with pytest.raises(GdlError, match="a value of more than"):
            list(reader.rows(f"SELECT zeroblob({database.LONGEST + 1})"))
        with pytest.raises(GdlError, match="readonly"):
            list(reader.rows("INSERT INTO setting VALUES ('a', 'b')"))
        with pytest.raises(GdlError, match="attached"):
            list(reader.rows("ATTACH ? AS other", str(tmp_path / "other.sqlite")))
        monkeypatch.setattr(database, "MOST_ROWS", 100)
        with pytest.raises(GdlError, match="more than 100 rows"):
            list(reader.rows(f"{ENDLESS} SELECT x FROM n"))
        monkeypatch.setattr(database, "SECONDS", 0.1)
        with pytest.raises(GdlError, match="takes longer than"):
            list(reader.rows(f"{ENDLESS} SELECT count(*) FROM n"))
        assert len(list(reader.rows("SELECT * FROM match"))) == 1
    finally:
        reader.close()
    assert sorted(os.listdir(tmp_path)) == ["t.sqlite"]


@functools.cache
def _good() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.sqlite"
        write_tournament(path)
        with Store(path) as store:
            for number in range(2, 40):
                store.add(_numbered(number), {"matchId": "m" * 300})
            store.add_failure(Fixture("g", 41, ("a", "b")), "why")
        return path.read_bytes()


@pytest.mark.slow
@examples(300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.binary(min_size=1, max_size=12)), min_size=1, max_size=8),
    st.one_of(st.none(), st.integers(0, 10**6)),
)
def test_damaged_files_are_read_or_refused_in_one_line(
    tmp_path: Path, changes: list[tuple[int, bytes]], length: int | None
) -> None:
    data = bytearray(_good())
    for place, part in changes:
        at = place % len(data)
        data[at : at + len(part)] = part
    path = tmp_path / "t.sqlite"
    path.write_bytes(data[: None if length is None else length % len(data)])
    for read in (tables_of, _everything):
        refused: GdlError | None = None
        try:
            read(path)
        except GdlError as error:
            refused = error
        assert refused is None or one_line(refused)
    assert os.listdir(tmp_path) == ["t.sqlite"]


def _everything(path: Path) -> None:
    with Store(path, writing=False) as store:
        stored_settings(store)
        store.failures()
        for _ in store.records():
            pass
        store.record(3)


def test_an_empty_file_becomes_a_tournament(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "empty.sqlite").close()
    with Store(tmp_path / "empty.sqlite") as store:
        assert store.results() == []


def test_a_new_tournament_draws_its_seed_and_keeps_one_that_is_given(tmp_path: Path) -> None:
    def seed(name: str, given: dict[str, object]) -> int:
        with Store(tmp_path / name) as store:
            return settings_of(store, ["kuhn"], ["random", "legal"], name, given).seed

    drawn = {seed(f"{number}.sqlite", {}) for number in range(3)}
    assert len(drawn) == 3 and all(value.bit_length() > 32 for value in drawn)
    assert seed("given.sqlite", {"seed": 1}) == 1
