"""Turns a recognised level so that up is up, where the names of moves tell: rules know no up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from gdl.machine import Machine
from gdl.terms import Term
from players.puzzles.sokoban.geometry import STEPS, Geometry
from players.puzzles.sokoban.recognition.recognise import Recognised
from players.puzzles.sokoban.recognition.single_steps import StepModel
from players.puzzles.sokoban.recognition.whole_pushes import PushModel

_NAMES = {"up": 0, "north": 0, "right": 1, "east": 1, "down": 2, "south": 2, "left": 3, "west": 3}
_MOST_LOOKED_AT = 200


def upright(game: Recognised, machine: Machine) -> Geometry:
    """The geometry of a recognised game, its directions and places turned or mirrored as the moves are
    called; as it is where no names tell. The numbers of the squares stay."""
    named = _named_directions(game, machine)
    ways = [named.get(way, -1) for way in range(4)]
    for way, is_called in enumerate(ways):
        if is_called >= 0 and ways[way ^ 2] < 0:
            ways[way ^ 2] = is_called ^ 2
    if sorted(ways) != [0, 1, 2, 3] or any(ways[way] ^ 2 != ways[way ^ 2] for way in range(4)):
        return game.geometry
    neighbours = np.empty_like(game.geometry.neighbours)
    neighbours[:, ways] = game.geometry.neighbours
    down, right = np.array(STEPS[ways[2]]), np.array(STEPS[ways[1]])
    places = game.geometry.places
    turned = places[:, :1] * down[None] + places[:, 1:] * right[None]
    return Geometry(neighbours, game.geometry.goals, turned.astype(np.int32))


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
