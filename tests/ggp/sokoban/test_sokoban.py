"""Levels of Sokoban become rules, are drawn as they are, and are explained."""

from __future__ import annotations

import io
import json
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import orjson
import pytest
from rich.console import Console

from bench.sokoban.state_space import explore
from gdl.checks.diagnostic import Severity
from gdl.checks.run import check_text
from gdl.errors import GdlError
from ggp.game import Game
from ggp.sokoban.findings import findings, why_dead
from ggp.sokoban.glyphs import Mark, animate, around, as_text, draw, frame_of
from ggp.sokoban.machine_stage import stage_of_machine, steps_of_moves
from ggp.sokoban.output_options import write_file
from ggp.sokoban.stage import LevelStage
from players.puzzles.sokoban.geometry import Position, from_level
from players.puzzles.sokoban.levels.gdl import level_to_gdl
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.levels.read import read_levels
from tests.ggp.program import ggp, invoke
from tests.ggp.sokoban.levels import CORNER, SOLUTION, TWO_ROOMS, corner

LEVELS = "; one\n\n######\n#@ $.#\n######\n\n; two\n\n#######\n#@ $ .#\n#  @  #\n#######\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my levels.xsb"
    path.write_text(LEVELS)
    return path


run = partial(invoke, "rules")


@pytest.mark.parametrize("form", [[], ["--pushes"]])
def test_the_rules_of_a_level_are_printed(file: Path, form: list[str]) -> None:
    status, output = run(file, *form, "--steps", "70")
    assert status == 0
    rules, findings = check_text(output)
    assert rules is not None
    assert not [d for d in findings if d.severity > Severity.INFO]
    assert "or after 70 moves" in output
    assert ("(push ?x ?y ?d)" in output) == bool(form)


def test_the_rules_go_to_a_file_that_plays(file: Path, tmp_path: Path) -> None:
    output = tmp_path / "game.kif"
    output.write_text(run(f"{file}:1")[1])
    done = ggp("validate", str(output))
    assert done.returncode == 0
    assert "0 errors, 0 warnings" in done.stdout


def test_levels_that_come_along_need_no_path() -> None:
    assert "; Sokoban, Two wings" in run("yards.xsb:4")[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rules", "{file}:2"], "{file}:11:4: the level has 2 keepers: this is the second (the first"),
        (["play", "{file}:2"], "{file}:11:4: the level has 2 keepers"),
        (["solve", "{file}:3"], "{file}: there is no level 3: the file has 2 levels (write"),
        (["rules", "nowhere.xsb"], "cannot read nowhere.xsb: there is no such file (name"),
        (["rules", "snakes.txt", "--pushes"], "--pushes is not for snakes.txt (leave it out)"),
    ],
)
def test_errors_are_one_line_and_an_excerpt(file: Path, words: list[str], message: str) -> None:
    line = [word.format(file=file) for word in words]
    done = ggp(*line)
    assert done.returncode == 2
    assert done.stderr.startswith("ggp: " + message.format(file=file)), done.stderr
    _, *excerpt = done.stderr.splitlines()
    assert len(excerpt) == (2 if ":11:4:" in message else 0)
    assert not excerpt or excerpt[1].endswith("^")


# --- The options of ``ggp solve`` for Sokoban: what they print, and exit status
@pytest.fixture
def level(tmp_path: Path) -> str:
    path = tmp_path / "corner.xsb"
    path.write_text(str(CORNER) + "\n")
    return str(path)


def test_explain_and_files(level: str, tmp_path: Path) -> None:
    svg = tmp_path / "x.svg"
    done = ggp("solve", level, "--explain", "--json", "-o", str(svg), "--fps", "9")
    assert done.returncode == 0, done.stderr
    found, solution = map(json.loads, done.stdout.splitlines())
    assert found["found"][0]["kind"] == "dead squares"
    assert solution["steps"]
    assert svg.read_text().startswith("<svg ")
    assert "\x1b" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["solve", "hanoi", "--explain"], "hanoi is not Sokoban"),
        (["solve", "{level}", "-o", "x.mp4"], "x.mp4 does not say what to write"),
        (["solve", "{level}", "--all", "--explain"], "this is shown for one level only"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(level: str, words: list[str], says: str) -> None:
    done = ggp(*(word.format(level=level) for word in words))
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_match_is_drawn_as_a_level_and_explained(level: str) -> None:
    done = ggp("play", level, "--clock", "2", "--seed", "1")
    assert done.returncode == 0, done.stderr
    assert "  #######\n  #  .  #\n  # $#  #\n  #  @$ #\n  #.    #\n  #######\n" in done.stdout
    assert "\nsolved: " in done.stdout
    assert "dead squares: 5 squares" in done.stdout


# --- Levels are drawn as they are: in the terminal, as SVG
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


# --- What is found in a level is told as data, and why a position is dead
def test_findings_name_what_the_oracle_knows() -> None:
    stage = corner()
    by_kind = {finding.kind: finding for finding in findings(stage)}
    assert list(by_kind) == ["dead squares", "tunnels", "rooms", "packing order", "dead sets"]
    dead = set(by_kind["dead squares"].labels)
    assert {stage.place(square) for square in dead} == {(1, 1), (1, 5), (2, 5), (3, 5), (4, 5)}
    space = explore(stage.geometry, stage.start, 10_000)
    alive = {space.position(number).boxes for number in range(space.size) if space.alive[number]}
    assert not any(dead & set(boxes) for boxes in alive)
    assert by_kind["dead sets"].examples
    for example in by_kind["dead sets"].examples:
        assert not any(set(example) <= set(boxes) for boxes in alive)
    assert set(by_kind["packing order"].labels) == set(stage.geometry.goals.tolist())
    said = orjson.loads(orjson.dumps([finding.as_json(stage) for finding in by_kind.values()]))
    assert [2, 2] in said[0]["squares"]["xx"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "kind", "marked"),
    [
        (("######", "#$  .#", "#  @ #", "######"), "dead square", {(1, 1)}),
        (("#######", "# .$$ #", "# @   #", "#  .  #", "#######"), "freeze deadlock", {(1, 3), (1, 4)}),
        (("######", "#@$ .#", "#    #", "######"), "", set()),
        (("######", "# @ *#", "#    #", "######"), "", set()),
    ],
)
def test_reasons_name_the_boxes_at_fault(
    rows: tuple[str, ...], kind: str, marked: set[tuple[int, int]]
) -> None:
    stage = LevelStage.of_level(Level(rows))
    reasons = why_dead(stage, stage.start)
    assert [reason.kind for reason in reasons] == ([kind] if kind else [])
    if kind:
        assert {stage.place(square) for square in reasons[0].labels} == marked


@pytest.mark.slow
def test_a_position_with_a_reason_is_dead() -> None:
    geometry, start = from_level(
        Level(("########", "#   #  #", "# $ $ .#", "#  $ ..#", "# @ #  #", "########"))
    )
    stage = LevelStage.of_geometry(geometry, start)
    space = explore(geometry, start, 100_000)
    step = max(1, space.size // 60)
    told = 0
    for number in range(0, space.size, step):
        position: Position = space.position(number)
        if why_dead(stage, position):
            told += 1
            assert not space.alive[number], stage.text(position)
    assert told


def test_large_maps_are_told_without_dead_sets() -> None:
    wide = 40
    rows = ("#" * wide, *("#" + " " * (wide - 2) + "#" for _ in range(18)), "#" * wide)
    middle = "#@ $" + " " * (wide - 6) + ".#"
    stage = LevelStage.of_level(Level((*rows[:5], middle, *rows[6:])))
    assert findings(stage)[-1].sentence == "not looked for on a map of more than 600 squares"
