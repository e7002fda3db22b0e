"""Snakes in plain Python, from a level's drawing: of the converter only the reader."""

from __future__ import annotations

from dataclasses import dataclass

from players.puzzles.snakes.level import Cell, SnakeLevel

STEPS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}

Thing = tuple[str, tuple[Cell, ...]]
"""A snake by its name, a block of one cell (named by nothing) or of several (by its digit), and its cells: of
a snake from the head, of a block from the bottom up, from left to right."""


@dataclass(frozen=True)
class Position:
    """What stands where. Fruit that is left, snakes and blocks."""

    fruit: frozenset[Cell]
    things: frozenset[Thing]


class Simulator:
    """The game on a level; ``without`` growing, pushing or falling, a rule of it is off: fruit makes nobody
    longer, what is in the way cannot be moved, or everything hangs where it is."""

    def __init__(self, level: SnakeLevel, without: str = "") -> None:
        self.without = without
        self.height = level.height
        self.walls, self.spikes = set(level.cells("#")), set(level.cells("!"))
        self.exit = level.cells("E")[0]
        self.board = {(x, y) for x in range(level.width) for y in range(level.height)}
        things: list[Thing] = [("", (cell,)) for cell in level.cells("$")]
        for digit in "123456789":
            if cells := tuple(level.cells(digit)):
                things.append((digit, cells))
        things += [(name.lower(), tuple(cell for cell, _ in line)) for name, line in level.snakes.items()]
        self.start = Position(frozenset(level.cells("*")), frozenset(things))

    def hanging(self, position: Position) -> set[Thing]:
        """What stands on nothing: taken for granted of all, then struck out where something holds."""
        hanging = set[Thing]() if self.without == "falling" else set(position.things)
        while True:
            firm = self.walls | position.fruit
            firm |= {cell for thing in position.things - hanging for cell in thing[1]}
            held = {
                (name, cells)
                for name, cells in hanging
                if any((x, y + 1) in (firm if name.isalpha() else firm | self.spikes) for x, y in cells)
            }
            if not held:
                return hanging
            hanging -= held

    def at_exit(self, position: Position) -> set[Thing]:
        """The snakes that leave now."""
        return {
            (n, c) for n, c in position.things if n.isalpha() and not position.fruit and c[0] == self.exit
        }

    def solved(self, position: Position) -> bool:
        """Whether no snake is left."""
        return not any(name.isalpha() for name, _ in position.things)

    def terminal(self, position: Position) -> bool:
        """Whether it is solved, or a snake falls to its death."""
        below = [(x, y + 1) for n, c in self.hanging(position) if n.isalpha() for x, y in c]
        dies = any(cell in self.spikes or cell not in self.board for cell in below)
        return self.solved(position) or not self.moves(position) or (dies and not self.at_exit(position))

    def moves(self, position: Position) -> dict[str, Position]:
        """Each legal move and where it leads."""
        if gone := self.at_exit(position):
            return {"leave": Position(position.fruit, position.things - gone)}
        if hanging := self.hanging(position):
            fallen = {self._shifted(thing, "down") for thing in hanging}
            kept = {thing for thing in fallen if self.board.issuperset(thing[1])}
            return {"fall": Position(position.fruit, (position.things - hanging) | kept)}
        after = {}
        for name, cells in position.things:
            for way in STEPS:
                if name.isalpha() and (to := self._moved(position, name, cells, way)):
                    after[f"(move {name} {way})"] = to
        return after

    @staticmethod
    def _shifted(thing: Thing, way: str) -> Thing:
        i, j = STEPS[way]
        return thing[0], tuple((x + i, y + j) for x, y in thing[1])

    def _moved(self, position: Position, name: str, cells: tuple[Cell, ...], way: str) -> Position | None:
        i, j = STEPS[way]
        ahead = (cells[0][0] + i, cells[0][1] + j)
        solid = self.walls | self.spikes
        if ahead not in self.board or ahead in solid or ahead in cells:
            return None
        if ahead in position.fruit:
            keep = len(cells) - (self.without == "growing")
            grown = (position.things - {(name, cells)}) | {(name, (ahead, *cells[:keep]))}
            return Position(position.fruit - {ahead}, grown)
        owner = {cell: thing for thing in position.things for cell in thing[1]}
        pushed, queue = set[Thing](), [owner[ahead]] if ahead in owner else []
        while queue:
            thing = queue.pop()
            if self.without == "pushing":
                return None
            if thing in pushed:
                continue
            pushed.add(thing)
            for cell in self._shifted(thing, way)[1]:
                if cell in solid | position.fruit | set(cells) or cell not in self.board:
                    return None
                if cell in owner:
                    queue.append(owner[cell])
        things = position.things - pushed - {(name, cells)}
        things |= {self._shifted(thing, way) for thing in pushed} | {(name, (ahead, *cells[:-1]))}
        return Position(position.fruit, frozenset(things))

    def shortest(self) -> tuple[int, int] | None:
        """The fewest moves that solve it, and how many positions need fewer moves than that or as many; None
        if it cannot be solved."""
        seen, layer, depth = {self.start}, [self.start], 0
        while not any(self.solved(position) for position in layer):
            going = (position for position in layer if not self.terminal(position))
            found = {to for position in going for to in self.moves(position).values()} - seen
            if not found:
                return None
            seen |= found
            layer, depth = list(found), depth + 1
        return depth, len(seen)

    def propositions(self, position: Position) -> set[str]:
        """The position in GDL, without the counter of moves."""

        def name(cell: Cell) -> str:
            return f"{chr(ord('a') + cell[0])} {self.height - cell[1]}"

        facts = {f"(fruit {name(cell)})" for cell in position.fruit}
        ways = {step: way for way, step in STEPS.items()}
        for snake, cells in position.things:
            if not snake.isalpha():
                facts.add(f"(piece p{snake} {name(cells[0])})" if snake else f"(block {name(cells[0])})")
                continue
            facts.add(f"(head {snake} {name(cells[0])})")
            for (x, y), (x2, y2) in zip(cells[1:], cells, strict=False):
                facts.add(f"(body {snake} {name((x, y))} {ways[x2 - x, y2 - y]})")
        return facts
