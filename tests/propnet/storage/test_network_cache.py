"""Networks are kept on disk whole or not at all, and found by their own rules only."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from gdl.syntax.parser import parse_rules
from propnet.storage import network_bytes
from propnet.storage.network_bytes import code_version, keep, load

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
