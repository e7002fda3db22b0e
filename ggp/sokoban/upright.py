"""Turns a recognised level so that up is up, where the names of moves tell: rules know no up."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator

import numpy as np

from gdl.machine import Machine
from gdl.terms import Term
from players.puzzles.sokoban.analysis.distances import dead_squares
from players.puzzles.sokoban.geometry import STEPS, Geometry
from players.puzzles.sokoban.recognition.recognise import Recognised
from players.puzzles.sokoban.recognition.single_steps import StepModel
from players.puzzles.sokoban.recognition.whole_pushes import PushModel
from propnet.jit.arrays import Int32s

_NAMES = {"up": 0, "north": 0, "right": 1, "east": 1, "down": 2, "south": 2, "left": 3, "west": 3}
_MOST_LOOKED_AT = 200


def upright(game: Recognised, machine: Machine) -> Geometry | None:
    """The geometry of a recognised game on a map, its directions and places turned or mirrored as the moves
    are called, as it is where no names tell. The numbers of the squares stay. None where no flat map agrees
    with it."""
    places = _places(game.geometry)
    if places is None:
        return None
    named = _named_directions(game, machine)
    ways = [named.get(way, -1) for way in range(4)]
    for way, is_called in enumerate(ways):
        if is_called >= 0 and ways[way ^ 2] < 0:
            ways[way ^ 2] = is_called ^ 2
    if sorted(ways) != [0, 1, 2, 3] or any(ways[way] ^ 2 != ways[way ^ 2] for way in range(4)):
        ways = [0, 1, 2, 3]
    neighbours = np.empty_like(game.geometry.neighbours)
    neighbours[:, ways] = game.geometry.neighbours
    down, right = np.array(STEPS[ways[2]]), np.array(STEPS[ways[1]])
    turned = places[:, :1] * down[None] + places[:, 1:] * right[None]
    return Geometry(neighbours, game.geometry.goals, turned.astype(np.int32))


def _places(geometry: Geometry) -> Int32s | None:
    """Row and column of every square, int32, shape (size, 2), that agree with all neighbours where boxes can
    go. Rules with one move for a whole push do not say where the other squares are: they stand beside a
    neighbour, and may share a place."""
    size, neighbours = geometry.size, geometry.neighbours.tolist()
    dead = dead_squares(geometry).tolist()
    found: dict[int, tuple[int, int]] = {int(geometry.goals[0]): (0, 0)}
    waiting = deque(found)
    while waiting:
        square = waiting.popleft()
        y, x = found[square]
        for (dy, dx), there in zip(STEPS, neighbours[square], strict=True):
            place = y + dy, x + dx
            if there == size:
                continue
            if there not in found:
                found[there] = place
                if dead[there]:
                    waiting.append(there)
                else:
                    waiting.appendleft(there)
            elif found[there] != place and not dead[square] and not dead[there]:
                return None
    boxes = {found[square] for square in found if not dead[square]}
    beside = {found[square] for square in found if dead[square]}
    if len(found) != size or boxes & beside or len(boxes) != size - sum(dead[:size]):
        return None
    return np.array([found[square] for square in range(size)], np.int32)


def _named_directions(game: Recognised, machine: Machine) -> dict[int, int]:
    """What each direction of the geometry is called by the moves that go there, where they agree."""
    heard: dict[int, Counter[int]] = {way: Counter() for way in range(4)}
    for way, move in _moves(game):
        called = {_NAMES[leaf] for leaf in _leaves(machine.move(0, move)) if leaf in _NAMES}
        if len(called) == 1:
            heard[way].update(called)
    return {way: counter.most_common(1)[0][0] for way, counter in heard.items() if len(counter) == 1}


def _moves(game: Recognised) -> Iterator[tuple[int, int]]:
    """Directions and moves that go there, from some of the squares."""
    model = game.claim.model
    table = model.walks if isinstance(model, StepModel) else None
    if isinstance(model, PushModel):
        table = model.pushes[0]
    if table is None:
        return
    for square in game.squares[:_MOST_LOOKED_AT].tolist():
        for way in range(4):
            if (move := int(table[square, way])) >= 0:
                yield way, move


def _leaves(term: Term) -> Iterator[str]:
    if not term.args:
        yield term.name.lower()
    for arg in term.args:
        yield from _leaves(arg)
