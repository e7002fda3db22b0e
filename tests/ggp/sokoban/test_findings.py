"""What is found in a level is told as data, and why a position is dead."""

from __future__ import annotations

import orjson
import pytest

from bench.sokoban.state_space import explore
from ggp.sokoban.findings import findings, why_dead
from ggp.sokoban.stage import LevelStage
from players.puzzles.sokoban.geometry import Position, from_level
from players.puzzles.sokoban.levels.level import Level
from tests.ggp.sokoban.levels import corner


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
