"""Levels are drawn as they are: in the terminal, as SVG."""

from __future__ import annotations

import io
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from gdl.errors import GdlError
from ggp.game import Game
from ggp.sokoban.glyphs import Mark, animate, around, as_text, draw, frame_of
from ggp.sokoban.machine_stage import stage_of_machine, steps_of_moves
from ggp.sokoban.output_options import write_file
from ggp.sokoban.stage import LevelStage
from players.puzzles.sokoban.geometry import Position, from_level
from players.puzzles.sokoban.levels.gdl import level_to_gdl
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.levels.read import read_levels
from tests.ggp.sokoban.levels import CORNER, SOLUTION, TWO_ROOMS, corner

SVG = "{http://www.w3.org/2000/svg}"


def plain(stage: LevelStage, unicode: bool = False, **how: object) -> list[str]:
    lines = draw(stage, stage.start, unicode, **how)  # type: ignore[arg-type]
    return as_text(lines).plain.split("\n")


def test_a_square_is_two_columns_wide() -> None:
    assert plain(corner()) == [
        "##############",
        "##    ()    ##",
        "##  []##    ##",
        "##    @@[]  ##",
        "##()        ##",
        "##############",
    ]
    assert plain(corner(), True)[3] == "██    ◖◗[]  ██"


def test_boxes_that_nobody_reaches_and_the_outside_are_drawn() -> None:
    stage = LevelStage.of_level(TWO_ROOMS)
    assert stage.text(stage.start) == str(TWO_ROOMS)
    boxed = LevelStage.of_level(Level(("#########", "#@$.# *  ", "#########")))
    assert plain(boxed)[1] == "##@@[]()##  {}    "


def test_a_window_follows_the_keeper_and_keeps_to_the_map() -> None:
    stage = corner()
    for square in range(stage.geometry.size):
        position = Position((), square)
        top, left, height, width = around(stage, position, (3, 4))
        y, x = stage.place(square)
        assert (height, width) == (3, 4)
        assert 0 <= top <= y < top + height <= stage.height
        assert 0 <= left <= x < left + width <= stage.width
    assert around(stage, stage.start, (99, 99)) == (0, 0, 6, 7)
    assert frame_of(stage, [0], 1) == (0, 0, 3, 3)


def test_marks_stand_on_their_squares() -> None:
    stage = corner()
    lines = plain(stage, marks={0: Mark("a"), stage.geometry.size - 1: Mark("zz")})
    assert lines[1] == "##a   ()    ##"
    assert lines[4] == "##()      zz##"


def test_a_geometry_alone_is_drawn_with_walls_around_it() -> None:
    stage = corner()
    alone = LevelStage.of_geometry(stage.geometry, stage.start)
    assert alone.text(alone.start) == stage.text(stage.start)


def test_replay_gives_every_position() -> None:
    stage = corner()
    positions = [position for position, _ in stage.replay(SOLUTION)]
    assert len(positions) == len(SOLUTION) + 1
    assert set(positions[-1].boxes) == set(stage.geometry.goals.tolist())


@pytest.mark.parametrize("level", [CORNER, TWO_ROOMS])
def test_games_are_drawn_upright(level: Level) -> None:
    found = stage_of_machine(Game("game", level_to_gdl(level)).machine("propnet"))
    assert found is not None
    assert found.stage.text(found.stage.start) == str(level)


def test_lines_of_games_are_steps() -> None:
    machine = Game("corner", level_to_gdl(CORNER)).machine("propnet")
    found = stage_of_machine(machine, "corner")
    assert found is not None
    names = {"u": "up", "r": "right", "d": "down", "l": "left"}
    moves = [f"(move {names[letter]})" for letter in SOLUTION.lower()]
    assert steps_of_moves(machine, found, moves) == SOLUTION


def test_of_games_of_pushes_boxes_and_goals_are_where_they_are() -> None:
    """What lies beside the ways of boxes does not follow from such rules."""
    found = stage_of_machine(Game("game", level_to_gdl(TWO_ROOMS, pushes=True)).machine("propnet"))
    assert found is not None
    drawn = found.stage.text(found.stage.start).split("\n")
    for row, line in zip(TWO_ROOMS.rows, drawn, strict=True):
        for kind in "$.*@":
            assert [x for x, cell in enumerate(row) if cell == kind] == [
                x for x, cell in enumerate(line) if cell == kind
            ]


def test_other_games_are_no_levels() -> None:
    assert stage_of_machine(Game.load("hanoi").machine("propnet")) is None


def test_animation_shows_every_step_in_a_terminal_only() -> None:
    said = io.StringIO()
    animate(Console(file=said), corner(), SOLUTION, 100)
    assert said.getvalue() == ""
    terminal = Console(file=said, force_terminal=True, width=80, height=24)
    animate(terminal, corner(), SOLUTION, 30)
    assert "step 20 of 20, push 6" in said.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for suffix in ("svg", "sok", "lurd"):
        write_file(tmp_path / f"x.{suffix}", corner(), SOLUTION, 10)
    return tmp_path


def test_svg_is_well_formed_and_moves_what_moves(folder: Path) -> None:
    root = ElementTree.parse(folder / "x.svg").getroot()
    assert root.get("viewBox") == "0 0 7 6"
    motions = list(root.iter(f"{SVG}animateTransform"))
    assert len(motions) == 3  # two boxes and the keeper
    for motion in [*motions, *root.iter(f"{SVG}animate")]:
        values, times = motion.get("values", "").split(";"), motion.get("keyTimes", "").split(";")
        moments = [float(time) for time in times]
        assert len(values) == len(moments)
        assert moments == sorted(moments)
        assert moments[0] == 0
    ends = {motion.get("values", "").split(";")[-1] for motion in motions[:2]}
    assert ends == {f"{x} {y}" for y, x in (corner().place(goal) for goal in corner().geometry.goals)}


def test_svg_of_a_level_alone_stands_still(tmp_path: Path) -> None:
    write_file(tmp_path / "x.svg", corner())
    root = ElementTree.parse(tmp_path / "x.svg").getroot()
    assert not list(root.iter(f"{SVG}animateTransform"))
    assert not list(root.iter(f"{SVG}animate"))


def test_a_snapshot_is_level_and_solution(folder: Path) -> None:
    (level,) = read_levels((folder / "x.sok").read_text())
    geometry, start = from_level(level)
    assert start == corner().start
    assert geometry.goals.tolist() == corner().geometry.goals.tolist()
    assert level.title == "Corner"
    assert SOLUTION in (folder / "x.sok").read_text().splitlines()
    assert (folder / "x.lurd").read_text() == f"{SOLUTION}\n"


def test_a_name_that_says_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GdlError, match="does not say what to write"):
        write_file(tmp_path / "x.mp4", corner())
