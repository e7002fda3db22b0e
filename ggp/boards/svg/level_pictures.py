"""Pictures that lie behind the squares of a board: the rooms of Sokoban, the landscapes of Snakes."""

from __future__ import annotations

from collections.abc import Mapping

from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.layers import Square, Thing
from ggp.boards.looks import PieceLook, PieceShape
from ggp.boards.scene import Scene
from ggp.boards.shapes import BoardShape
from ggp.boards.snakes import SnakesMap
from ggp.boards.svg.layout import UNIT, BoardLayout, Spot
from ggp.boards.svg.markup import box, circle, element, number, points
from ggp.boards.svg.sprites import DOWN, draw_tile, sprite
from ggp.boards.svg.tiles import BRICKS, CRATE, CRATE_ON_GOAL, OUTSIDE, ground, keeper, seen_from_afar
from players.puzzles.sokoban.levels.level import FLOOR, GOAL, WALL

On = Mapping[Square, list[Thing]]
_MOST_BRICKS = 200
"""Most squares of wall with bricks on them; further walls are plain, so that pictures stay small."""
_MOST_TILES = 1500
"""Most squares of a level that is drawn with tiles; a larger level is drawn as from afar, in a few
kilobytes."""
_FAR = {WALL: "#5b6b8c", GOAL: "#c2455c", FLOOR: "#c9c0b0"}
_SNAKES = {"a": "gb-green", "b": "gb-orange", "c": "gb-blue", "d": "gb-pink"}


class LevelPicture:
    """A picture behind a board.

    Attributes:
        far: whether empty squares have no elements of their own.
        margin: space that the picture needs around the squares; None for names of columns and rows.
        quiet: whether likelihoods are shown on request only.
    """

    far = quiet = False
    margin: float | None = 0.0

    def behind(self, layout: BoardLayout, scene: Scene) -> str:
        """The markup behind all squares."""
        raise NotImplementedError

    def pieces(self, square: Square, spot: Spot, scene: Scene) -> str:
        """The markup of the things on one square; empty if the picture behind has them."""
        return ""

    def shows(self, proposition: Term) -> bool:
        """Whether the picture shows a proposition off the board."""
        return False


class SokobanPicture(LevelPicture):
    """A level of walls, goals, crates and a keeper, drawn as in the pictures of solutions."""

    def __init__(self, board: Grid, looks: Mapping[Thing, PieceLook]) -> None:
        self._board = board
        self._shapes = {thing: look.shape for thing, look in looks.items()}
        self._walled = PieceShape.GROUND in self._shapes.values()
        # Walls that the rules do not mention, because they are out of reach, stand around the board.
        self.margin = self._edge = 0.0 if self._walled else UNIT
        self.far = len(board.squares) > _MOST_TILES
        self._drawn: tuple[tuple[str, ...], str] | None = None

    @classmethod
    def of_board(cls, board: Grid, looks: Mapping[Thing, PieceLook]) -> SokobanPicture | None:
        """The scene of a board that has a keeper and crates; None for others."""
        shapes = {look.shape for look in looks.values()}
        whole = board.shape is BoardShape.STRAIGHT and board.panels == ((),)
        return cls(board, looks) if whole and {PieceShape.KEEPER, PieceShape.CRATE} <= shapes else None

    def behind(self, layout: BoardLayout, scene: Scene) -> str:
        rows = self._rows(scene.on)
        if self._drawn is None or self._drawn[0] != rows:
            many = sum(row.count(WALL) for row in rows) > _MOST_BRICKS
            tiles = seen_from_afar(rows, _FAR) if self.far else ground(rows)
            shapes = (shape for shape in tiles if not (many and shape.fill in BRICKS))
            corner = UNIT / 2 if self._walled else -UNIT / 2
            parts = sprite(shapes, corner + self._edge, corner + self._edge, UNIT)
            self._drawn = rows, element("g", *parts)
        return self._drawn[1]

    def pieces(self, square: Square, spot: Spot, scene: Scene) -> str:
        drawn: list[str] = []
        for thing in scene.on.get(square, ()):
            match self._shapes.get(thing):
                case PieceShape.CRATE:
                    on_goal = self._is(square, PieceShape.GOAL, scene.on)
                    drawn.append(draw_tile(CRATE_ON_GOAL if on_goal else CRATE, spot.x, spot.y))
                case PieceShape.KEEPER:
                    way = self._way(square, thing, scene.on_before or {})
                    drawn.append(draw_tile(keeper(way), spot.x, spot.y))
        return "".join(drawn)

    def _is(self, square: Square, shape: PieceShape, on: On) -> bool:
        things = (*self._board.fixed.get(square, ()), *on.get(square, ()))
        return any(self._shapes.get(thing) is shape for thing in things)

    def _way(self, square: Square, thing: Thing, before: On) -> int:
        """The direction of the keeper's last step."""
        was = next((old for old, things in before.items() if thing in things), square)
        _, columns, rows = self._board.numbers
        step = columns[square[1]] - columns[was[1]], rows[square[2]] - rows[was[2]]
        return {(0, 1): 0, (1, 0): 1, (0, -1): 2, (-1, 0): 3}.get(step, DOWN)

    def _rows(self, on: On) -> tuple[str, ...]:
        """The map from the top, without moving things. Empty squares that can be reached from outside are
        outside."""
        board = self._board
        wide, high = len(board.columns), len(board.rows)
        cells: dict[tuple[int, int], str] = {}
        taken: set[tuple[int, int]] = set()
        for i, x in enumerate(board.columns):
            for j, y in enumerate(board.rows):
                square = ((), x, y)
                if square not in board.squares:
                    continue
                wall, goal = (self._is(square, shape, on) for shape in (PieceShape.GROUND, PieceShape.GOAL))
                cells[i, j] = WALL if wall else GOAL if goal else FLOOR
                if square in on and not wall:
                    taken.add((i, j))
        if not self._walled:
            across, up = range(-1, wide + 1), range(high, -2, -1)
            return tuple("".join(cells.get((i, j), WALL) for i in across) for j in up)
        rim = {(i, j) for i in (-1, wide) for j in range(-1, high + 1)}
        rim |= {(i, j) for j in (-1, high) for i in range(-1, wide + 1)}
        found = list(rim)
        for i, j in found:
            for spot in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                inside = 0 <= spot[0] < wide and 0 <= spot[1] < high
                if inside and spot not in rim and cells.get(spot, OUTSIDE) != WALL:
                    rim.add(spot)
                    found.append(spot)
        outside = rim if not rim & taken else set()
        return tuple(
            "".join(OUTSIDE if (i, j) in outside else cells.get((i, j), OUTSIDE) for i in range(wide))
            for j in reversed(range(high))
        )


class SnakesPicture(LevelPicture):
    """A level of Snakes: earth, spikes, fruit, blocks, the exit, and the snakes."""

    _SHOWN = ("head", "body", "piece", "block", "fruit")

    def __init__(self, drawn: SnakesMap, board: Grid) -> None:
        self._map = drawn
        self._high = len(board.rows)

    @classmethod
    def of_map(cls, drawn: SnakesMap, board: Grid) -> SnakesPicture | None:
        """The scene of a level's map, if the board has the same columns and rows."""
        same = len(drawn.columns) == len(board.columns) and len(drawn.rows) == len(board.rows)
        return cls(drawn, board) if same else None

    def behind(self, layout: BoardLayout, scene: Scene) -> str:
        level = self._map
        standing = level.standing(scene.propositions)
        width, height = len(level.columns) * UNIT, self._high * UNIT
        parts = [box("gb-sky", width / 2, height / 2, width, height)]
        parts += [self._joined("gb-earth", level.walls, 0.0)]
        parts += [self._spikes(*cell) for cell in sorted(level.spikes)]
        parts.append(self._exit(bool(standing.fruit)))
        parts += [self._round("gb-fruit", cell, 0.26) for cell in sorted(standing.fruit)]
        blocks = [frozenset([cell]) for cell in sorted(standing.blocks)]
        parts += [self._joined("gb-stone", cells, 0.06) for cells in (*blocks, *standing.pieces.values())]
        parts += [self._snake(name, line) for name, line in standing.snakes.items()]
        return element("g", *parts)

    def shows(self, proposition: Term) -> bool:
        return proposition.name in self._SHOWN

    def _middle(self, cell: tuple[int, int]) -> tuple[float, float]:
        return (cell[0] + 0.5) * UNIT, (self._high - cell[1] - 0.5) * UNIT

    def _round(self, cls: str, cell: tuple[int, int], radius: float) -> str:
        return circle(cls, *self._middle(cell), radius * UNIT)

    def _joined(self, cls: str, cells: frozenset[tuple[int, int]], inset: float) -> str:
        """Cells as one body: squares, and bridges to the cells right of them and above."""
        side = (1 - 2 * inset) * UNIT
        path: list[str] = []
        for i, j in sorted(cells):
            x, y = self._middle((i, j))
            left, top = x - side / 2, y - side / 2
            wide = side + (2 * inset * UNIT if (i + 1, j) in cells else 0)
            path.append(f"M{number(left)} {number(top)}h{number(wide)}v{number(side)}h{number(-wide)}z")
            if inset and (i, j + 1) in cells:
                gap = 2 * inset * UNIT
                path.append(f"M{number(left)} {number(top)}h{number(side)}v{number(-gap)}h{number(-side)}z")
        return element("path", cls=cls, d="".join(path)) if path else ""

    def _spikes(self, i: int, j: int) -> str:
        x, y = self._middle((i, j))
        half, third = UNIT / 2, UNIT / 3
        corners = [(x - half, y + half)]
        for n in range(3):
            corners += [
                (x - half + (n + 0.5) * third, y - half * 0.3),
                (x - half + (n + 1) * third, y + half),
            ]
        return element("polygon", cls="gb-spike", points=points(corners))

    def _exit(self, closed: bool) -> str:
        cls = "gb-exit gb-closed" if closed else "gb-exit"
        return element("g", *(self._round(cls, self._map.exit, radius) for radius in (0.42, 0.28, 0.13)))

    def _snake(self, name: str, line: tuple[tuple[int, int], ...]) -> str:
        spots = [self._middle(cell) for cell in line]
        (x, y), neck = spots[0], spots[min(1, len(spots) - 1)]
        across, down = (x - neck[0]) / UNIT, (y - neck[1]) / UNIT
        if not (across or down):
            across = 1.0
        eyes = [
            circle("gb-eye", x + 4 * across + side * 7 * down, y + 4 * down - side * 7 * across, 4)
            for side in (1, -1)
        ]
        body = element("polyline", cls="gb-snake", points=points(spots)) if len(spots) > 1 else ""
        head = circle("gb-disc", x, y, 0.42 * UNIT)
        return element("g", body, head, *eyes, cls=_SNAKES.get(name, "gb-gray"))
