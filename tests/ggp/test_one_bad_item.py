"""A bad item of a collection gets its line, with its place, and costs no other."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from gdl.errors import GdlError
from ggp import rule_files as games
from ggp.answers import catalogue
from ggp.cli import build
from ggp.game import Game
from ggp.match_process import player_thread
from ggp.web.choice.card_process import read_upload
from ggp.web.replay.recorded import read_match, records_in
from ggp.web.replay.replay_process import RecordSource, card_of
from players.puzzles.snakes.level import levels_in as snakes_in
from players.puzzles.sokoban.levels.gdl import level_of_gdl
from players.puzzles.sokoban.levels.read import find_level, levels_in
from tests.examples import examples
from tests.places import GAMES

GOOD = ["#####\n#@$.#\n#####\n", "######\n#@ $.#\n######\n"]
BAD = ["#####\n#@$?#\n#####\n", "#####\n#@@.#\n#####\n", "5#|#@(2$.#|5#\n", "####\n#@ #\n####\n"]
RECORD = {"matchId": "m", "states": ["( ( p 1 ) )", "( ( p 2 ) )"], "moves": [["a"]], "goalValues": [7]}


def _slc(drawn: str, number: int) -> str:
    rows = "".join(f"<L>{row}</L>" for row in drawn.splitlines())
    return f'<Level Id="{number}">{rows}</Level>\n'


@examples(60)
@given(st.lists(st.sampled_from([*GOOD, *BAD]), min_size=1, max_size=8), st.booleans())
def test_each_level_is_what_it_is_alone(drawn: list[str], xml: bool) -> None:
    texts = [_slc(one, number) if xml else f"; {number}\n\n{one}\n" for number, one in enumerate(drawn)]
    text = "".join(texts)
    found = levels_in(f"<SokobanLevels>\n{text}</SokobanLevels>" if xml else text, "x")
    assert len(found) == len(drawn)
    for one, level in zip(drawn, found, strict=True):
        assert isinstance(level, GdlError) == (one in BAD)
        if isinstance(level, GdlError):
            assert str(level).startswith("x:") and level.remedy
        else:
            assert level.rows == tuple(one.splitlines())
            assert level.title == str(drawn.index(one)) or drawn.count(one) > 1


@examples(60)
@given(st.lists(st.sampled_from([">A.E\n####\n", ">A..E\n", ">A\n", "?>AE\n", ">AE\n; late\n"]), min_size=1))
def test_each_level_of_snakes_is_what_it_is_alone(drawn: list[str]) -> None:
    found = snakes_in("\n".join(f"; {number}\n{one}" for number, one in enumerate(drawn)))
    for number, (one, level) in enumerate(zip(drawn, found, strict=True)):
        assert isinstance(level, GdlError) == (one not in (">A.E\n####\n", ">A..E\n"))
        assert isinstance(level, GdlError) or level.title == str(number)


def test_a_collection_that_breaks_off_has_the_levels_before() -> None:
    text = "<SokobanLevels>\n" + _slc(GOOD[0], 1) + _slc(GOOD[1], 2)
    one, two, rest = levels_in(text)
    assert not isinstance(one, GdlError) and not isinstance(two, GdlError)
    assert isinstance(rest, GdlError) and "not XML" in rest.message
    _, broken = levels_in(text[:-20])
    assert isinstance(broken, GdlError)


def test_many_bad_levels_that_are_long_to_try_do_not_take_for_ever() -> None:
    found = levels_in("399(399#)?\n\n" * 100_000)
    assert len(found) < 100
    assert isinstance(found[-1], GdlError) and "more than 4,194,304 squares" in found[-1].message


@pytest.mark.parametrize(
    "heading", ["Solution", "Solution:", "; solution", "Solution/Moves: 3", "Snapshot 1"]
)
@pytest.mark.parametrize("blank", ["", "\n"])
def test_steps_of_a_solution_are_no_title(heading: str, blank: str) -> None:
    text = f"{GOOD[1]}\n{heading}\n{blank}rRR\nrr\n\n{GOOD[1]}"
    assert [getattr(level, "title", None) for level in levels_in(text)] == ["", ""]
    text = f"{GOOD[1]}\n{heading} (3 moves)\n\n12\n\n{GOOD[1]}\nSolution found late\n"
    assert "12" in [getattr(level, "title", None) for level in levels_in(text)]


@pytest.fixture
def levels(tmp_path: Path) -> Path:
    path = tmp_path / "three.xsb"
    path.write_text("\n".join([GOOD[0], BAD[0], GOOD[1]]))
    return path


@pytest.mark.parametrize("workers", ["1", "2"])
def test_all_other_levels_are_solved(levels: Path, workers: str) -> None:
    more = ["--all", "--seconds", "60", "--workers", workers]
    done = CliRunner().invoke(build("solve"), ["solve", str(levels), *more, "--json"])
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.exit_code == 1
    assert [(one["level"], one["outcome"]) for one in told] == [(1, "solved"), (2, "error"), (3, "solved")]
    assert told[1]["error"].startswith(f"{levels}:6:4: ")
    with pytest.raises(GdlError, match="6:4"):
        find_level(f"{levels}:2")
    assert level_of_gdl(Game.load(f"{levels}:3").text) is not None


def test_a_page_gets_the_good_levels_and_a_line_for_each_bad_one() -> None:
    told = read_upload("mine.xsb", "\n".join([GOOD[0], BAD[0], BAD[1], GOOD[1]]).encode())
    assert [card["title"] for card in told["cards"]] == ["mine 1", "mine 4"]
    assert [fault.partition(":")[0] for fault in told["faults"]] == ["line 6, column 4", "line 10, column 3"]
    with pytest.raises(GdlError, match="line 2, column 4"):
        read_upload("mine.xsb", "\n".join(BAD).encode())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of games of which some cannot be read."""
    for name in ("tictactoe", "hanoi"):
        shutil.copy(GAMES / f"{name}.kif", tmp_path)
        (tmp_path / "playthroughs").mkdir(exist_ok=True)
        shutil.copy(GAMES / "playthroughs" / f"{name}.jsonl", tmp_path / "playthroughs")
    (tmp_path / "broken.kif").write_text("(role a)\n(role b)\n(init")
    (tmp_path / "bytes.kif").write_bytes(b"\0\1\2")
    (tmp_path / "levels").mkdir()
    (tmp_path / "levels" / "a.xsb").write_text("nothing")
    (tmp_path / "levels" / "b.xsb").write_text("\n".join([BAD[0], GOOD[0]]))
    (tmp_path / "puzzles").mkdir()
    for module in (games, catalogue):
        monkeypatch.setattr(module, "games_folder", lambda: tmp_path)
    return tmp_path


def test_games_are_listed_past_broken_ones(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    done = CliRunner().invoke(build("games"), ["games", "--json"])
    assert [json.loads(line)["game"] for line in done.stdout.splitlines()] == ["hanoi", "tictactoe"]
    assert done.exit_code == 1
    assert "broken.kif:3:1" in done.stderr and "bytes.kif:1:1" in done.stderr
    with caplog.at_level(logging.WARNING):
        cards = catalogue.known_cards()
    assert {card["name"] for card in cards} == {"hanoi", "tictactoe", "b.xsb:2"}
    assert {"broken.kif", "bytes.kif", "a.xsb", "b.xsb:1"} <= {line.split()[0] for line in caplog.messages}


def test_games_are_known_by_their_rules_past_broken_ones(folder: Path) -> None:
    player_thread.by_length.cache_clear()
    try:
        assert player_thread.name_of(Game.load(folder / "hanoi.kif").rules) == "hanoi"
    finally:
        player_thread.by_length.cache_clear()


def test_records_are_shown_past_broken_ones() -> None:
    records = records_in(json.dumps([RECORD, 7, {**RECORD, "matchId": "n"}, {"matchId": "o"}]))
    assert [read_match(records[number]).name for number in (0, 2)] == ["m", "n"]
    for number in (1, 3):
        with pytest.raises(GdlError, match="no matchId and states"):
            read_match(records[number])
    card = card_of(RecordSource(records), 0)
    assert (card["name"], card["matches"]) == ("n", 4)


def test_playouts_of_a_trace_are_shown_past_broken_lines() -> None:
    def step(playout: int, number: int, **more: Any) -> str:
        line = {"type": "step", "p": playout, "s": number, "state": ["p"], "joint": ["a"], "terminal": False}
        return json.dumps({**line, **more})

    lines = ['{"type": "game", "game": "g"}', step(0, 0), '{"type": "st', step(0, 2), step(1, 0, state=7)]
    records = records_in("\n".join([*lines, step(2, 0), step(2, 1)]))
    assert [len(read_match(record).states) for record in records] == [1, 2]
