"""Why a position can never be solved: which boxes are at fault, as findings."""

from __future__ import annotations

from ggp.sokoban.findings import Finding, count, dead_sets_of
from ggp.sokoban.stage import LevelStage
from players.puzzles.sokoban.analysis.distances import dead_squares
from players.puzzles.sokoban.deadlocks.bipartite import has_bipartite_deadlock
from players.puzzles.sokoban.deadlocks.corral_deadlock import pushes_needed
from players.puzzles.sokoban.deadlocks.freeze import frozen_boxes
from players.puzzles.sokoban.geometry import Position
from players.puzzles.sokoban.lines import is_solved

_CORRAL_STATES = 1000


def why_dead(stage: LevelStage, position: Position) -> list[Finding]:
    """The reasons that are found, the plainest first. None where the position is solved, and where nothing is
    found: it may be dead all the same."""
    geometry = stage.geometry
    if is_solved(geometry, position):
        return []
    goals = set(geometry.goals.tolist())
    dead = dead_squares(geometry)
    lost = [box for box in position.boxes if dead[box]]
    found = []
    if lost:
        sentence = f"{count(len(lost), 'box')} on dead squares: no push or pushes lead from there to a goal"
        found.append(Finding("dead square", sentence, dict.fromkeys(lost, "!!")))
    frozen = {box for box in position.boxes if set(frozen_boxes(geometry, position, box)) - goals}
    if frozen - set(lost):
        stuck = sorted({other for box in frozen for other in frozen_boxes(geometry, position, box)})
        missing = sum(box not in goals for box in stuck)
        sentence = f"{count(len(stuck), 'box')} that can never move again, {missing} of them not on a goal"
        found.append(Finding("freeze deadlock", sentence, dict.fromkeys(stuck, "!!")))
    if found:
        return found
    boxes = set(position.boxes)
    sets = dead_sets_of(stage, len(boxes))
    known = sets.box_sets() if sets is not None else ()
    within = next((one for one in known if boxes.issuperset(one)), None)
    if within is not None:
        sentence = f"these {len(within)} boxes can never all be packed, whatever the others do"
        return [Finding("dead set", sentence, dict.fromkeys(within, "!!"))]
    if has_bipartite_deadlock(geometry, position):
        sentence = "every box reaches some goal, but not each one of its own"
        return [Finding("bipartite deadlock", sentence, {})]
    if pushes_needed(geometry, position, _CORRAL_STATES) == []:
        closed = _out_of_reach(stage, position)
        sentence = "boxes close off a part of the map (marked ..), and no push opens it in time"
        return [Finding("corral deadlock", sentence, dict.fromkeys(closed, ".."))]
    return []


def _out_of_reach(stage: LevelStage, position: Position) -> list[int]:
    """The free squares that the keeper cannot walk to."""
    neighbours: list[list[int]] = stage.geometry.neighbours.tolist()
    shut = {*position.boxes, stage.geometry.size}
    seen, waiting = {position.keeper}, [position.keeper]
    for square in waiting:
        for there in neighbours[square]:
            if there not in shut and there not in seen:
                seen.add(there)
                waiting.append(there)
    return [square for square in range(stage.geometry.size) if square not in seen and square not in shut]
