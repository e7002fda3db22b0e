"""Every reader of files that a user or a stranger names refuses devices, pipes and too much, on one line.

Were one of them to open a pipe or read a device, its test would not come to an end.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gdl.errors import FileError, GdlError, Place, RulesError
from ggp import traces
from ggp.bench import read_results
from ggp.commands import read_or_complain
from ggp.cover.instance import load_instance
from ggp.cover.solve import SaveFile
from ggp.game import Game
from ggp.printing import complain
from ggp.rule_files import read_rules_file
from ggp.traces import find_traces, read_trace
from ggp.web.replay import replay_process
from ggp.web.replay.routes import Shelf
from players.knowledge.store import KnowledgeStore, read_file
from players.puzzles.snakes.level import levels_of_file as snakes
from players.puzzles.sokoban.levels.read import levels_of_file as sokoban
from players.sorted_sets.files import read_manifest
from players.strong.storage import MANIFEST
from players.strong.tables import Tables
from propnet.storage.file_store import FileStore
from tests.gdl.test_reading import ODD

READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "rules": ("x.kif", Game.load),
    "rules again": ("x.kif", read_rules_file),
    "levels of Sokoban": ("x.xsb", Game.load),
    "levels of Snakes": ("x.txt", lambda path: snakes(path)),
    "levels, all": ("x.sok", lambda path: sokoban(path)),
    "a cover problem": ("x.json", load_instance),
    "a saved search": ("x", lambda path: SaveFile(path).load()),
    "solutions beside it": ("x", lambda path: _solutions(path)),
    "a trace": ("x.jsonl", lambda path: list(read_trace(path))),
    "a packed trace": ("x.jsonl.gz", lambda path: list(read_trace(path))),
    "measurements": ("x.json", read_results),
    "knowledge": ("x", read_file),
    "knowledge in a folder": ("f" * 64, lambda path: KnowledgeStore(path.parent).read(path.name)),
    "a table": (MANIFEST, lambda path: Tables.open(path.parent)),
    "a checkpoint": ("manifest.json", lambda path: read_manifest(path.parent)),
    "a record": ("x.json", lambda path: _record(path)),
}


def _record(path: Path) -> None:
    found = Shelf(path.parent).find({"file": path.name})
    replay_process.READERS[found.kind](found.path, 1)


def _solutions(path: Path) -> None:
    file = SaveFile(path.with_name("save"))
    path.rename(path.with_name("save.solutions"))
    file.lines = 1
    list(file.solutions(1))


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("make", ODD)
def test_no_reader_follows_an_odd_file(reader: str, make: Callable[[Path], None], tmp_path: Path) -> None:
    name, read = READERS[reader]
    make(tmp_path / name)
    with pytest.raises(GdlError) as caught:
        read(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("make", ODD)
def test_commands_complain_on_one_line(
    make: Callable[[Path], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.kif"
    make(path)
    assert read_or_complain(path) is None
    complain(RulesError("wrong", Place(1, 1), source=str(path)))
    assert len(capsys.readouterr().err.splitlines()) == 2


@pytest.mark.parametrize("make", ODD)
def test_a_cache_forgets_what_is_odd(make: Callable[[Path], None], tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    make(tmp_path / "x")
    assert FileStore(tmp_path, 1 << 20).get("x") is None


def test_traces_unpack_to_no_more_than_they_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "MOST_OF_LINE", 1000)
    monkeypatch.setattr(traces, "MOST_BYTES", 5000)
    bomb, long = tmp_path / "bomb.jsonl.gz", tmp_path / "long.jsonl.gz"
    bomb.write_bytes(gzip.compress(b'{"type": "x"}\n' * 1000))
    long.write_bytes(gzip.compress(b" " * 2000))
    for path in (bomb, long):
        with pytest.raises(FileError, match="is larger than"):
            list(read_trace(path))
    damaged = tmp_path / "damaged.jsonl.gz"
    damaged.write_bytes(bomb.read_bytes()[:20] + b"\xff" * 20)
    with pytest.raises(GdlError, match="cannot read the trace"):
        list(read_trace(damaged))


@pytest.mark.parametrize(
    "reader",
    [name for name in READERS if name not in ("a record", "solutions beside it")],
)
@pytest.mark.parametrize("name", ["x" * 300, "x" * 5000])
def test_names_that_are_too_long_are_told(reader: str, name: str, tmp_path: Path) -> None:
    ending, read = READERS[reader]
    with pytest.raises(GdlError) as caught:
        read(tmp_path / f"{name}{ending}")
    assert "\n" not in str(caught.value)


def test_a_folder_of_odd_traces_is_told(tmp_path: Path) -> None:
    for number, make in enumerate(ODD):
        make(tmp_path / f"{number}.jsonl")
        (tmp_path / f"{number}.kif").write_text("(role r) (legal r m) (<= terminal (true x))")
    for trace in find_traces([tmp_path]):
        assert "cannot read" in (traces.verify_file(trace, "prover").fault or "")
