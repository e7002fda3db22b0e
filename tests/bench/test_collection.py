"""The table of the collection has each game, is resumed, and its page says what its JSON says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bench import collection
from ggp.answers.catalogue import folder_of, title_of
from ggp.rule_files import installed_games, read_rules_file
from tests.games.known import OWN_TESTS

KEPT = json.loads((collection.FOLDER / "collection.json").read_text(encoding="utf-8"))


def test_the_page_is_that_of_the_rows() -> None:
    page = (collection.FOLDER / "collection.md").read_text(encoding="utf-8")
    assert page == collection.page(KEPT)
    assert all(f"(`{path.stem}`)" in page for path in installed_games())


def test_each_game_has_a_row_and_agrees_with_its_oracle_if_it_has_no_tests_of_its_own() -> None:
    rows, files = KEPT["games"], {path.stem: path for path in installed_games()}
    assert rows.keys() == files.keys() >= collection.KNOWN.keys()
    for name, row in rows.items():
        assert row["title"] == title_of(read_rules_file(files[name]))[0]
        assert row["kind"] in (folder_of(files[name]), "examples")
        assert bool(row["oracle"]) == (name not in OWN_TESTS)
        assert not row["oracle"] or (min(row["at_random"], row["keen"]) >= 1_000 and not row["difference"])


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("y", {"players": 2, "board": "9x9 hexagons", "kind": "boards"}),
        ("nim", {"players": 2, "chance": False, "board": "5x3 heaps", "page": "clicks"}),
        ("montyhall", {"players": 1, "chance": True, "board": "3x1 row", "page": "clicks"}),
        ("sokoban", {"players": 1, "chance": False, "page": "keys", "kind": "examples"}),
    ],
)
def test_a_row_says_what_the_rules_show(name: str, shown: dict[str, object]) -> None:
    assert shown.items() <= collection.described(name).items()


def test_a_difference_is_found_by_the_command_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert collection.compared("hanoi", 10) == {"oracle": "", "tests": ["test_play"]}
    row = collection.compared("staghunt", 10)
    assert row["oracle"] == "plain Python" and min(row["at_random"], row["keen"]) >= 10
    monkeypatch.setattr("tests.games.oracles.several.StagHunt.scale", 6)
    assert "goals" in collection.compared("staghunt", 10)["difference"]


@pytest.mark.slow
def test_a_row_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [path for path in installed_games() if path.stem in ("nim", "threenim")]
    monkeypatch.setattr(collection, "installed_games", lambda: files)
    words = ["--minutes", "0.02", "--seconds", "0.01", "--positions", "20", "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["collection", *words])
    collection.main()
    kept = (tmp_path / "collection.json").read_text(encoding="utf-8")
    rows = json.loads(kept)["games"]
    assert rows["nim"]["values"] == {"first": 100, "second": 0}
    assert rows["nim"]["random"]["matches"] >= 2 and "player" not in rows["threenim"]
    assert rows["threenim"]["keen"] >= 20
    monkeypatch.setattr(collection, "call", None)
    collection.main()
    assert (tmp_path / "collection.json").read_text(encoding="utf-8") == kept
