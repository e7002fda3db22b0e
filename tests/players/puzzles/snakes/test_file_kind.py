"""Which level files are Snakes; names of levels wherever a game is named."""

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
