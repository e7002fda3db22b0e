"""Files are read as they were written, by nobody else; networks are kept whole, within a bound."""

from __future__ import annotations

import dataclasses
import os
import threading
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from gdl.errors import GdlError
from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from propnet.build import build
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.private_files import is_trusted, make_directory, read, write
from propnet.storage import network_bytes
from propnet.storage.file_store import FileStore
from propnet.storage.network_bytes import code_version, from_bytes, keep, load, to_bytes
from propnet.storage.process_lock import ProcessLock
from tests.examples import examples


@lru_cache
def network_of(game: str) -> Network:
    return build(ground(Game.load(game).rules))


@pytest.mark.parametrize("game", ["tictactoe", "sokoban", "connectfour", "rockpaperscissors"])
def test_every_field_comes_back(game: str) -> None:
    network = network_of(game)
    again = from_bytes(to_bytes(network))
    for field in dataclasses.fields(Network):
        before, after = getattr(network, field.name), getattr(again, field.name)
        if isinstance(before, np.ndarray):
            assert before.dtype == after.dtype
            assert np.array_equal(before, after)
            assert after.flags.writeable
        else:
            assert before == after


def test_a_machine_of_it_plays_the_same_playouts() -> None:
    network = network_of("connectfour")
    rules = Game.load("connectfour").rules
    machine, copy = (PropnetMachine(rules, n) for n in (network, from_bytes(to_bytes(network))))
    ends = [m.playouts(512, seed=3) for m in (machine, copy)]
    assert np.array_equal(ends[0].goals, ends[1].goals)
    assert np.array_equal(ends[0].lengths, ends[1].lengths)


@given(data=st.data())
def test_bytes_that_were_changed_are_refused_or_a_network_that_fits_together(data: st.DataObject) -> None:
    whole = bytearray(to_bytes(network_of("tictactoe")))
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=4)):
        whole[place] = data.draw(st.integers(0, 255))
    try:
        network = from_bytes(bytes(whole[: data.draw(st.integers(len(whole) - 40, len(whole)))]))
    except GdlError:
        return
    literals = np.concatenate([network.gate_inputs, network.next_literals, network.legal_literals])
    assert ((literals >= 0) & (literals < 2 * network.nodes)).all()
    assert network.gate_start[-1] == len(network.gate_inputs)


@pytest.mark.parametrize("data", [b"", b"network 1\n", b"network 1\n{}\n", b"network 2\n{}\n", b"\x80\x04."])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(GdlError, match="not a network"):
        from_bytes(data)


# --- Networks are kept on disk whole or not at all, and found by their own rules only
RULES = parse_rules("(role a) (legal a x) (goal a 100) terminal")
OTHERS = parse_rules("(role a) (legal a y) (goal a 100) terminal")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    return tmp_path / "networks"


def test_what_is_kept_is_found_by_the_same_rules_however_they_are_written() -> None:
    assert load(RULES) is None
    assert keep(RULES, b"network")
    assert load(RULES) == b"network"
    assert load(parse_rules("(ROLE a)\n(legal a X) ; the same\n(goal a 100) terminal")) == b"network"
    assert load(OTHERS) is None


@pytest.mark.parametrize("size", [0, 5, 31, 32, 36])
def test_files_that_were_cut_off_are_not_there(folder: Path, size: int) -> None:
    assert keep(RULES, b"network")
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:size])
    assert load(RULES) is None
    assert keep(RULES, b"network")
    assert load(RULES) == b"network"


def test_other_code_does_not_find_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert keep(RULES, b"network")
    monkeypatch.setattr(network_bytes, "_code_version", lambda: b"another")
    assert load(RULES) is None


def test_code_in_any_folder_of_the_packages_counts(tmp_path: Path) -> None:
    deep = tmp_path / "propnet" / "passes" / "new"
    deep.mkdir(parents=True)
    (deep / "one.py").write_text("1")
    first = code_version(tmp_path)
    (deep / "one.py").write_text("22")
    second = code_version(tmp_path)
    (deep / "one.py").rename(deep.parent / "one.py")
    assert len({first, second, code_version(tmp_path)}) == 3


def test_the_files_used_longest_ago_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_bytes, "MAX_BYTES", 3000)
    for number in range(5):
        assert keep(parse_rules(f"(role r{number})"), bytes(900))
        for age, file in enumerate(sorted(folder.iterdir(), key=lambda f: f.stat().st_mtime)):
            os.utime(file, (age, age))
        assert load(parse_rules("(role r0)")) is not None
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 3000
    assert load(parse_rules("(role r1)")) is None
    assert load(parse_rules("(role r4)")) is not None
    assert not keep(RULES, bytes(3001))


def test_where_nothing_can_be_written_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GGP_CACHE", str(tmp_path / "file"))
    assert not keep(RULES, b"network")
    assert load(RULES) is None


def test_many_may_write_the_same(folder: Path) -> None:
    threads = [
        threading.Thread(target=lambda n=n: [keep(RULES, b"%d" % n * 10_000) for _ in range(20)])
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        stored = load(RULES)
        assert stored is None or (len(set(stored)) == 1 and len(stored) == 10_000)
    assert len(list(folder.iterdir())) == 1


# --- A store of files keeps within its bound, and leaves folders in its directory alone
def test_a_folder_inside_does_not_keep_files_from_being_stored_or_evicted(tmp_path: Path) -> None:
    (tmp_path / "aside").mkdir(parents=True)
    store = FileStore(tmp_path, 300)
    assert all(store.put(name, b"0" * 200) for name in ("first", "second"))
    assert store.get("first") is None and store.get("second") == b"0" * 200
    assert (tmp_path / "aside").is_dir()


# --- A lock that one process at a time has
def test_a_lock_is_had_by_one_and_waited_for_no_longer_than_said(tmp_path: Path) -> None:
    one, other = ProcessLock(str(tmp_path / "lock")), ProcessLock(str(tmp_path / "lock"))
    assert one.take()
    assert one.take() and one.locked
    assert not other.take(0.0) and not other.locked
    assert not other.take(0.1)
    freed = threading.Timer(0.2, one.leave)
    freed.start()
    assert other.take()
    freed.join()
    other.leave()
    assert one.take(0.0)
    one.leave()
    assert not one.locked


def test_where_there_can_be_no_lock_nobody_waits(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "no" / "lock")
    assert ProcessLock(nowhere).take()
    lock = ProcessLock(nowhere)
    assert lock.take() and not lock.locked


# --- What is read is what was written, under this name, by nobody else
owners = pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files on this platform")


@examples(50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=100), st.integers(0, 200), st.integers(1, 255))
def test_a_file_with_one_byte_changed_is_not_whole(
    tmp_path: Path, content: bytes, place: int, flip: int
) -> None:
    path = tmp_path / "name"
    write(path, content)
    assert read(path, 1000) == content
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= flip
    path.write_bytes(data)
    with pytest.raises(ValueError, match="damaged"):
        read(path, 1000)


def test_a_file_counts_under_its_own_name_only(tmp_path: Path) -> None:
    write(tmp_path / "one", b"1")
    write(tmp_path / "two", b"2")
    (tmp_path / "one").replace(tmp_path / "two")
    with pytest.raises(ValueError, match="another name"):
        read(tmp_path / "two", 1000)
    assert FileStore(tmp_path, 1000).get("two") is None


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write(tmp_path / "folder", b"")
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


@owners
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o720, 0o702, 0o777, 0o1777])
def test_only_folders_that_nobody_else_writes_are_used(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "kept"
    store = FileStore(folder, 1000)
    assert store.put("name", b"code")
    folder.chmod(mode)
    assert is_trusted(folder) == (not mode & 0o22)
    assert store.get("name") == (b"code" if is_trusted(folder) else None)
    assert store.put("name", b"code") == is_trusted(folder)


@owners
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_only_files_that_nobody_else_writes_are_read_and_others_are_replaced(
    tmp_path: Path, mode: int
) -> None:
    store = FileStore(tmp_path, 1000)
    assert store.put("name", b"code")
    (tmp_path / "name").chmod(mode)
    assert store.get("name") is None
    assert store.put("name", b"code")
    assert store.get("name") == b"code"


@owners
def test_folders_and_files_of_strangers_are_not_used(tmp_path: Path) -> None:
    if os.getuid():
        pytest.skip("only root can give files away")
    store = FileStore(tmp_path / "kept", 1000)
    assert store.put("name", b"code")
    os.chown(tmp_path / "kept" / "name", 12345, 12345)
    assert store.get("name") is None
    assert store.put("name", b"code")
    os.chown(tmp_path / "kept", 12345, 12345)
    assert store.get("name") is None
    assert not store.put("name", b"code")


@owners
def test_whatever_the_umask_nobody_else_can_write_to_what_is_made(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_directory(tmp_path / "a" / "b", 0o777)
        write(tmp_path / "a" / "b" / "file", b"", 0o666)
    finally:
        os.umask(before)
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "a" / "b" / "file").stat().st_mode & 0o777 == 0o644
