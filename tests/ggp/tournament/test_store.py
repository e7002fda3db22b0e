"""A tournament's file, and what its results say of pairs of players."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gdl.errors import GdlError
from ggp.tournament.schedule import Fixture
from ggp.tournament.session import write_csv, write_json
from ggp.tournament.statistics.scores import (
    block_scores,
    by_game,
    comparisons,
    conduct,
    crosstable,
)
from ggp.tournament.store import Result, Store, faults_of


def result(game: str, number: int, seats: str, *goals: int, faults: object = None) -> Result:
    none = tuple((0, 0, 0) for _ in goals)
    return Result(Fixture(game, number, tuple(seats)), goals, faults or none, True, 10, 1.5)  # type: ignore[arg-type]


def test_results_come_back_as_they_were_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    # Files from before moves were counted say nothing of them.
    moved = replace(result("g", 1, "ab", 100, 0, faults=((1, 0, 2), (0, 3, 0))), own=(0, 4))
    kept = [moved, result("h", 2, "a", 40)]
    assert [moved.idle(0), moved.idle(1), kept[1].idle(0)] == [True, False, False]
    with Store(path) as store:
        store.set("settings", {"x": [1]})
        for one in kept:
            store.add(one, {"matchId": str(one.goals), "moves": [], "errors": []})
        store.add(result("g", 1, "ab", 0, 100), {})
        with pytest.raises(GdlError, match="another tournament"):
            Store(path)
        with Store(path, writing=False) as reader:
            assert reader.results() == kept
        store.add_failure(Fixture("g", 2, ("a", "b")), "why")
        store.add_failure(Fixture("g", 1, ("a", "b")), "played later")
    with Store(path) as store:
        assert store.results() == kept
        assert store.setting("settings") == {"x": [1]}
        assert store.failures() == [(Fixture("g", 2, ("a", "b")), "why")]
        assert write_json(store, tmp_path / "m.json") == 2
        assert write_csv(store, tmp_path / "m.csv") == 2
    records = json.loads((tmp_path / "m.json").read_text())
    assert [r["game"] for r in records] == ["g", "h"]
    lines = (tmp_path / "m.csv").read_text().splitlines()
    assert lines[1] == "1,g,1,1,a,100,1,10,1.50,1,0,2,0"
    assert lines[3] == "2,h,2,1,a,40,1,10,1.50,0,0,0,"
    assert len(lines) == 4


def test_errors_of_a_record_are_counted_by_kind() -> None:
    errors = [["", ""], ["TO", "IL ( x )"], ["CE refused", "not ready: x"], ["", "TO"]]
    assert faults_of({"errors": errors}, (0, 1)) == ((1, 0, 1), (1, 2, 0))


def test_players_are_compared_by_goals_in_a_match_or_in_a_round() -> None:
    results = [
        result("g", 1, "ab", 100, 0),
        result("g", 1, "ba", 50, 50),
        result("h", 1, "a", 30),
        result("h", 1, "b", 70),
        result("k", 1, "aab", 10, 80, 20),
    ]
    table = crosstable(comparisons(results))
    mine, theirs = table["a", "b"], table["b", "a"]
    assert (mine.wins, mine.draws, mine.losses) == (1.5, 1, 1.5)
    assert (theirs.wins, theirs.draws, theirs.losses) == (1.5, 1, 1.5)
    assert by_game(results)["g", "a"].goals == {0: [100], 1: [50]}
    assert by_game(results)["k", "b"].tally.score == 0.5
    assert block_scores(results, "a", "b") == [0.75, 0.0]
    assert block_scores(results, "b", "a") == [0.25, 1.0]
    late = result("g", 2, "ab", 0, 0, faults=((2, 1, 0), (0, 0, 5)))
    assert [line[2:] for line in conduct([late]).values()] == [[2, 1, 0], [0, 0, 5]]
