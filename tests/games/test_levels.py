"""The levels that come along can be solved, and are what their README and their programs say."""

from __future__ import annotations

import re

import pytest

from bench.sokoban.city import DOORS, city, write_levels
from ggp.game import Game
from players.puzzles.sokoban.levels.gdl import level_to_gdl, step_limit
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.levels.read import find_level, levels_of_file, spread
from tests.places import GAME_FILES, GAMES
from tests.players.puzzles.sokoban.levels.simulator import STEPS, Sokoban

FILES = sorted((GAMES / "levels").glob("*.xsb"))
LEVELS = [level for path in FILES for level in levels_of_file(path)]
WORDS = {word[0]: word for word in STEPS}

SOLUTIONS = {
    "One parcel": "u2R",
    "Two ways round": "2l2urDl2d2ruLulD2rdr2UruL",
    "Through the door": "lLulD2r2d2ruru4L",
    "Three in turn": (
        "3lulu2Rl2d3rur2ul3D3l2urR2l2d2r2d2l3Ulu2Rl2d2r2d2ruLdlUr2ur2ul3DL2d2l4urRurD3l4d4ruLdlUd2l4u3r2D"
        "2u3l4d4ruL"
    ),
    "Shelves": "2u2rUd2luR2u2rdLD2ulDrdD2ul4D2u3lUR2u2ldRur3D2ruLdlDul2urDr2dlDur2ul2D2rdr3Ul2u2rdLul4D",
    "Loading bay": (
        "d3lDl2dRd6rUd6luU2d2ru3r3U3d2ruLdl2Ud2ruL2uLr4d4lLdlUr3U3d2luRdr2Ud2luR3u2rdrdrU2lu2ldRl3drd4rur"
        "3u2ld2lU2ldRl2dr2UluR4d4rur3u2ldlLru3r4d5l2u2Ud2ru3rdLr2dl2U3d4l3u2rR3l3d4r2ur2uLr2dl2U"
    ),
    "The belfry": "2l2UluR2drd3r2UruL3d4ldRd2r2Ul3U3d2ruLdl2Udr3dl3U",
    "The ring": (
        "4u3luRd5ruLd5ld2ldR2u9r2dL2u7ldl2dr2Ulu2Ru2l2u2ru4rd2r6dl2Ur4u2lLulD4r2d2ldlU3r2dlU3l2drdRlul2u4"
        "r4dl3Uru2L2ru2L2r2u2lu3lD3l2d2rdRlu2l2u8r6d5lL5r4ur2u8l7dr3Ulu2R"
    ),
    "Two wings": (
        "r4drU3ldlUr3uruRdr2Ud2lLdl2U3r4d3Rd2ru4Ldl3UluRdrUdl2d4r2ulDrd3Ldl5U4d3r2ur2ul3Drd3Ldl4U3d2l3Ld2"
        "lu4Rdr3UruLdlUr3d4l2urDld3Rdr5U4d3l2ul2ur3Dld3Rdr4U"
    ),
    "The nave": (
        "ul3L3ulDr3dl2drUlul2uRld4Ru2r2dldlUr3UdlD3l2drUlu3Ru2r2dldlUr2UlD3l2urDld3Ru2r2dldlUrU2r3Ru2ruLr"
        "5d2lUrur4u2lD2r2d4Lu2l2drdrUl3UrdD3r2dlUru3Lu2l2drU4r2ulDrd4LU3drU3luRdrU2l3Lu2ld4Rd2rur3Ru2rd4L"
    ),
    "The terrace": (
        "2uluUlu2U3r2dr2Ud4ldRdr3U3dl2d2ruUruLdl2Urur2Rd2r5dLdl2Ur2ulUr3dlUr3uru4LdlUL5r2dlUr3dl2Ur2u3Ld3"
        "lUl2Ldl2dr4dl5UdrU2l3u2rd4rd2ru2L5r2dlUru3Ld2luRd3lu2R4lu2ld2R2l2drUl2u2rd3R3lu2ld4R3l2drUlu2R"
    ),
    "The city": (
        "3r2d5RurDldR4d6ld5Rur9DldR14u9l13UluRdr3UluR17dr5Ulu15Rdr5UluR14d8ld13l6Drd3Lul16Drd4LulDu3r24u1"
        "1ru5RurDld23Rdr2UruL2d35ld28Lul3DrdL4u35rd5Rur27DldR30u11l5Ulu2Rdr28UruL34dl4dl6Drd5Lul8Drd16Lul"
        "2DldR19u15r2u4r5Uru3Ldl31Ul2u2rd4LulD4r31d3r6d9Drd38LdlU2r8u38r8Drd5Lul16Drd17Lul3DrdL28u24r46Ur"
        "u5LulD6r50d7Rur5Dld8Rur40Dld3RdrU3l48u15l7Ulu6Rdr16Ulu35RdrUd2l23d40ld31Rur31Dld4RdrU4l24u24l4u1"
        "0lu9Rur5Dld39Rd2r2ul19DrdL27u39l2u11l10Drd5Lul32Drd24Lul5DldR38u23r6u8r41Ulu33Rdr3UluR"
    ),
}
"""Steps, capitals are pushes, with run lengths. Good ones; not the shortest."""


def steps_of(title: str) -> str:
    return "".join(char for char, _ in spread(SOLUTIONS[title], 1, title))


def solve(level: Level, steps: str) -> Sokoban:
    """Where the steps end; they must be possible, and be pushes where they say so."""
    state = Sokoban.begin(level)
    for letter in steps:
        after = state.moved(WORDS[letter.lower()])
        assert after is not None
        assert letter.isupper() == (after.boxes != state.boxes)
        state = after
    return state


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.title)
def test_every_level_can_be_solved_well_within_its_step_limit(level: Level) -> None:
    steps = steps_of(level.title)
    assert not Sokoban.begin(level).solved
    assert solve(level, steps).solved
    assert step_limit(level) >= 2 * len(steps)


def test_titles_differ_and_each_level_has_a_solution() -> None:
    titles = [level.title for level in LEVELS]
    assert sorted(titles) == sorted(SOLUTIONS)


def test_the_readme_names_every_file() -> None:
    readme = (GAMES / "levels" / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\[(\w+\.xsb)\]", readme)) == {path.name for path in FILES}


def test_sokoban_is_the_fourth_yard() -> None:
    game = Game.load("yards.xsb:4")
    assert game.name == "yards-4"
    level = find_level(str(GAMES / "levels" / "yards.xsb:4"))
    assert level.boxes == 8
    assert level_to_gdl(level, steps=600) == (GAME_FILES["sokoban"]).read_text(encoding="utf-8")


def test_the_city_is_what_its_program_draws() -> None:
    text = (GAMES / "levels" / "city.xsb").read_text(encoding="utf-8")
    assert write_levels([city()]) == text
    level = city()
    assert (level.width, level.height, level.boxes) == (100, 100, DOORS)
    assert len(level.inside) > 4000
    assert city(3).rows != level.rows
