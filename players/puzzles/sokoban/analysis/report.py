"""What the walls of a level tell, by name, for people: plain data that others draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from players.puzzles.sokoban.analysis.distances import dead_squares
from players.puzzles.sokoban.analysis.packing import PackingOrder, packing_order
from players.puzzles.sokoban.analysis.rooms import Room, rooms
from players.puzzles.sokoban.analysis.sides import articulation_points
from players.puzzles.sokoban.analysis.tunnels import forced_pushes, tunnels
from players.puzzles.sokoban.geometry import Geometry, Position


@dataclass(frozen=True, slots=True)
class LevelReport:
    """What was found in a level, all as numbers of squares.

    Attributes:
        dead: where a box can never reach a goal.
        cuts: where a box cuts the map in two.
        tunnels: each from one end to the other.
        forced: squares that a box is pushed on from at once, for at least one direction.
        rooms: with goals and entrances.
        packing: in which order goals are filled.
    """

    dead: tuple[int, ...]
    cuts: tuple[int, ...]
    tunnels: tuple[tuple[int, ...], ...]
    forced: tuple[int, ...]
    rooms: tuple[Room, ...]
    packing: PackingOrder


def report(geometry: Geometry, start: Position) -> LevelReport:
    """Analyse a level."""
    return LevelReport(
        tuple(np.flatnonzero(dead_squares(geometry)[:-1]).tolist()),
        tuple(np.flatnonzero(articulation_points(geometry)).tolist()),
        tuple(tunnels(geometry)),
        tuple(np.flatnonzero(forced_pushes(geometry)).tolist()),
        tuple(rooms(geometry)),
        packing_order(geometry, start),
    )


def sentences(found: LevelReport) -> list[str]:
    """The report in words, one line for each kind of thing."""
    packing = found.packing
    lines = [
        f"{_count(found.dead, 'dead square')}, {_count(found.cuts, 'square')} that a box cuts the map on",
        f"{_count(found.tunnels, 'tunnel')} of {sum(map(len, found.tunnels))} squares, "
        f"{_count(found.forced, 'square')} that a box is pushed on from at once",
    ]
    with_goals = [room for room in found.rooms if room.goals]
    lines.append(f"{_count(found.rooms, 'room')}, {len(with_goals)} with goals")
    lines += [
        f"room of {_count(room.squares, 'square')}: {_count(room.goals, 'goal')}, "
        f"{_count(room.entrances, 'entrance')}"
        for room in with_goals
    ]
    lines.append(f"packing order: {_count(packing.order, 'goal')} in {_count(packing.layers, 'layer')}")
    if packing.stuck:
        lines.append(f"no order found for {_count(packing.stuck, 'goal')}: their boxes are packed together")
    return lines


def _count(things: tuple[object, ...], name: str) -> str:
    return f"1 {name}" if len(things) == 1 else f"{len(things)} {name}s"
