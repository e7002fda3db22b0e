"""`MachineStage`: a game recognised as Sokoban by its rules, as a level that can be drawn upright in place of
a board."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term
from gdl.terms import Term
from ggp.boards.text import DrawnState, Painter
from ggp.sokoban.glyphs import LEGEND, around, cell, draw
from ggp.sokoban.stage import LevelStage
from players.puzzles.sokoban.distances import dead_squares
from players.puzzles.sokoban.geometry import STEPS, Geometry, Position
from players.puzzles.sokoban.lines import LETTERS, steps_of
from players.puzzles.sokoban.recognition.recognise import Recognised, recognise
from propnet.capabilities import lane_machine
from propnet.jit.arrays import Int32s


@dataclass(frozen=True, slots=True, eq=False)
class MachineStage:
    """A recognised game with its drawing.

    Attributes:
        stage: its level, in its initial state.
        game: the recognised game, which reads its states.
    """

    stage: LevelStage
    game: Recognised

    def position(self, state: State) -> Position:
        """The position of keeper and boxes in a state."""
        return self.game.position(state)

    def steps(self, positions: Iterable[Position]) -> str:
        """The steps that lead from each of these positions to the next, as LURD. Moves that change nothing
        are left out; a move that is a push is preceded by a shortest walk to it.

        Raises:
            GdlError: no move leads from one position to the next.
        """
        geometry = self.stage.geometry
        neighbours: list[list[int]] = geometry.neighbours.tolist()
        letters: list[str] = []
        for before, after in pairwise(positions):
            left = set(before.boxes) - set(after.boxes)
            entered = set(after.boxes) - set(before.boxes)
            if len(left) == len(entered) == 1 and after.keeper in left:
                box = left.pop()
                way = neighbours[box].index(entered.pop())
                letters.append(steps_of(geometry, before, [(box, way)]))
            elif left or after.keeper not in (before.keeper, *neighbours[before.keeper]):
                raise GdlError("these positions do not follow each other")
            elif after.keeper != before.keeper:
                letters.append(LETTERS[neighbours[before.keeper].index(after.keeper)])
        return "".join(letters)


def stage_of_machine(machine: Machine, title: str = "") -> MachineStage | None:
    """The stage of a machine's game; None if it is not Sokoban, no flat map shows it, or
    the machine has no network."""
    lanes = lane_machine(machine)
    game = None if lanes is None or len(machine.roles) != 1 else recognise(lanes)
    if game is None:
        return None
    geometry = upright(game, machine)
    if geometry is None:
        return None
    start = game.position(machine.initial_state())
    return MachineStage(LevelStage.of_geometry(geometry, start, title), game)


def steps_of_moves(machine: Machine, stage: MachineStage, moves: Sequence[str]) -> str:
    """The steps of some moves of the game, given as GDL from the initial state on."""
    states = [machine.initial_state()]
    for move in moves:
        states.append(machine.next_state(states[-1], [machine.move_id(0, parse_term(move))]))
    return stage.steps(map(stage.position, states))


def not_sokoban(name: str) -> GdlError:
    """The error for a game without a level to draw."""
    return GdlError(
        f"{name} is not Sokoban, or its rules do not show the map",
        remedy="name a level (FILE.xsb:N), or a game that is one",
    )


_NAMES = {"up": 0, "north": 0, "right": 1, "east": 1, "down": 2, "south": 2, "left": 3, "west": 3}
_MOST_LOOKED_AT = 200


def upright(game: Recognised, machine: Machine) -> Geometry | None:
    """The geometry of a recognised game on a map. Its directions and places are turned or mirrored to fit the
    names of the moves; they stay as they are if no names say directions. The numbers of the squares stay.
    None if no flat map agrees with the geometry."""
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
    """Row and column of every square, int32, shape (size, 2). They agree with all neighbours on squares where
    boxes can go; None if that is impossible. Rules with one move for a whole push do not place the other
    squares: these are put next to a neighbour, and may share a place."""
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
    others = {found[square] for square in found if dead[square]}
    if len(found) != size or boxes & others or len(boxes) != size - sum(dead[:size]):
        return None
    return np.array([found[square] for square in range(size)], np.int32)


def _named_directions(game: Recognised, machine: Machine) -> dict[int, int]:
    """The direction that moves name, for each direction of the geometry in which they agree."""
    names: dict[int, Counter[int]] = {way: Counter() for way in range(4)}
    for way, move in _moves(game):
        called = {_NAMES[leaf] for leaf in _leaves(machine.move(0, move)) if leaf in _NAMES}
        if len(called) == 1:
            names[way].update(called)
    return {way: counter.most_common(1)[0][0] for way, counter in names.items() if len(counter) == 1}


def _moves(game: Recognised) -> Iterator[tuple[int, int]]:
    """Directions and moves in these directions, from some of the squares."""
    table = game.claim.model.moves.max(axis=0)
    for square in game.squares[:_MOST_LOOKED_AT].tolist():
        for way in range(4):
            if (move := int(table[square, way])) >= 0:
                yield way, move


def _leaves(term: Term) -> Iterator[str]:
    if not term.args:
        yield term.name.lower()
    for arg in term.args:
        yield from _leaves(arg)


class LevelPainter(Painter):
    """Draws the states of one game in Sokoban's usual notation: two columns for each square if ``terminal``
    is set, otherwise XSB. ``unicode`` allows characters beyond ASCII."""

    def __init__(self, machine: Machine, level: MachineStage, terminal: bool, unicode: bool) -> None:
        super().__init__(None, machine.rules, machine.roles)
        self.level = level
        self._terminal, self._unicode = terminal, unicode
        for kind, meaning in LEGEND:
            glyph, style = cell(kind, unicode)
            self.legend.append((glyph if terminal else kind, meaning, style if terminal else ""))

    def draw_state(self, state: State, width: int = 80, before: State | None = None) -> DrawnState:
        position, stage = self.level.position(state), self.level.stage
        if not self._terminal:
            return DrawnState(tuple(((line, ""),) for line in stage.text(position).split("\n")), ())
        frame = around(stage, position, (stage.height, max(3, width // 2)))
        return DrawnState(draw(stage, position, self._unicode, frame=frame), ())
