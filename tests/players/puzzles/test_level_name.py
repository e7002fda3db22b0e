"""Names of levels, wherever a game is named: what is written comes back, faults are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.game import Game
from players.puzzles.level_name import read_level_name
from players.puzzles.snakes.level import looks_like_snakes, names_snakes_file, read_levels
from players.puzzles.snakes.rules import level_to_rules
from players.puzzles.sokoban.levels.read import names_level_file
from tests.places import GAMES

FILES = st.from_regex(r"[A-Za-z0-9_ ./:-]{0,12}[A-Za-z0-9_]\.(xsb|SOK|slc|txt|map)", fullmatch=True)


@given(FILES, st.integers(0, 999_999_999))
def test_a_name_is_its_file_and_its_number(file: str, number: int) -> None:
    assert read_level_name(f"{file}:{number}") == (Path(file), number)
    assert read_level_name(file) == (Path(file), None)


def test_a_file_that_is_really_called_so_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "odd.xsb:2"
    path.write_text("####\n#@$.#\n####")
    assert read_level_name(str(path)) == (path, None)


@pytest.mark.parametrize(
    ("name", "number"), [("yards.xsb:x", "'x'"), ("yards.xsb:", "''"), ("a/b.txt:2x", "'2x'")]
)
def test_what_is_not_a_number_is_told(name: str, number: str) -> None:
    for read in (read_level_name, Game.load):
        with pytest.raises(GdlError, match=f"{number} is not the number of a level"):
            read(name)


def test_rules_are_no_levels() -> None:
    assert Game.load("(role x.xsb:y)").text == "(role x.xsb:y)"


@given(st.text("ab.xsb:txt/12 ()\n", max_size=20))
def test_any_text_is_a_name_or_is_told(name: str) -> None:
    try:
        path, number = read_level_name(name)
    except GdlError as error:
        path, number = Path(), len(str(error))
    assert number is None or number >= 0
    assert isinstance(path, Path)


# --- Which level files are Snakes; names of levels wherever a game is named
def test_levels_of_sokoban_are_not_taken_for_snakes(tmp_path: Path) -> None:
    levels = [path.read_text() for path in (GAMES / "levels").glob("*.xsb")]
    assert len(levels) > 2
    levels += ["#####\n#@$.#\n#####\nTitle: EASY", "3#\n#pB-#\n#####", "; A\n\n####\n#+b#\n####"]
    for text in levels:
        assert not looks_like_snakes(text)
        file = tmp_path / "x.txt"
        file.write_text(text)
        assert names_level_file(str(file)) and not names_snakes_file(str(file))


def test_a_name_of_a_level_is_a_game(tmp_path: Path) -> None:
    levels = read_levels((GAMES / "levels" / "snakes.txt").read_text())
    for name in ("snakes.txt:2", str(GAMES / "levels" / "snakes.txt:2")):
        game = Game.load(name)
        assert game.name == "snakes-2"
        assert game.text == level_to_rules(levels[1])
    assert Game.load("snakes.txt").name == "snakes"
    strange = tmp_path / "x.txt:3"
    strange.write_text(">AE\n###")
    assert read_level_name(str(strange)) == (strange, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (">A.E\n#?##", "2:2.*no cell is drawn as"),
        ("; one\n\n>AE\n##\n\n>A\n##", "6:1.*0 exits"),
        (">A.E\r\n#\t##\r\n", "2:2.*no cell is drawn as"),
        (">A.E\x01\n###", "1:5.*no cell is drawn as"),
    ],
)
def test_a_bad_level_is_told_with_its_place_wherever_it_is_named(
    text: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "mine.txt"
    file.write_bytes(text.encode())
    with pytest.raises(GdlError, match=message):
        Game.load(f"{file}:2" if text.startswith(";") else file)


@given(st.text(alphabet="#.*$!E12AB<>^v ;\n?@", max_size=60))
def test_any_text_is_levels_or_one_error_with_its_place(text: str) -> None:
    levels, fault = [], None
    try:
        levels = read_levels(text, "x.txt")
    except GdlError as error:
        fault = error
    assert bool(levels) != bool(fault)
    assert fault is None or (fault.place.line >= 1 and "\n" not in str(fault))
    for level in levels:
        assert level_to_rules(level).startswith("; Snakes")
