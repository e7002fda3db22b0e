"""Names of levels: what is written comes back, faults are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.game import Game
from players.puzzles.level_name import read_level_name

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
