"""A Sokoban of its own, as simple as can be: the yardstick of the rules that are written as GDL."""

from __future__ import annotations

import random
from dataclasses import dataclass

from players.puzzles.sokoban.levels.level import Level

STEPS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
Square = tuple[int, int]


@dataclass(frozen=True)
class Sokoban:
    """A state; squares are column and row of the map, from its upper left corner."""

    level: Level
    keeper: Square
    boxes: frozenset[Square]

    @staticmethod
    def begin(level: Level) -> Sokoban:
        cells = {(x, y): c for y, row in enumerate(level.rows) for x, c in enumerate(row)}
        inside = {next(s for s, c in cells.items() if c in "@+")}
        while True:
            near = {(x + i, y + j) for x, y in inside for i, j in STEPS.values()}
            more = {square for square in near if cells[square] != "#"} - inside
            if not more:
                break
            inside |= more
        keeper = next(s for s, c in cells.items() if c in "@+")
        return Sokoban(level, keeper, frozenset(s for s in inside if cells[s] in "$*"))

    def free(self, square: Square) -> bool:
        x, y = square
        return self.level.rows[y][x] != "#" and square not in self.boxes

    @property
    def on_goals(self) -> int:
        return sum(self.level.rows[y][x] in ".*+" for x, y in self.boxes)

    @property
    def solved(self) -> bool:
        return self.on_goals == len(self.boxes)

    def moved(self, word: str) -> Sokoban | None:
        """After one step, or None where it cannot be made."""
        (x, y), (dx, dy) = self.keeper, STEPS[word]
        ahead, beyond = (x + dx, y + dy), (x + 2 * dx, y + 2 * dy)
        if ahead in self.boxes:
            if not self.free(beyond):
                return None
            return Sokoban(self.level, ahead, self.boxes - {ahead} | {beyond})
        return Sokoban(self.level, ahead, self.boxes) if self.free(ahead) else None

    def walks(self) -> set[Square]:
        """Where the keeper can go without a push."""
        reached, stack = {self.keeper}, [self.keeper]
        while stack:
            x, y = stack.pop()
            for dx, dy in STEPS.values():
                to = x + dx, y + dy
                if to not in reached and self.free(to):
                    reached.add(to)
                    stack.append(to)
        return reached

    def pushed(self, box: Square, word: str) -> Sokoban | None:
        """After a push with the walk to it, or None where it cannot be made."""
        (x, y), (dx, dy) = box, STEPS[word]
        if box not in self.boxes or (x - dx, y - dy) not in self.walks() or not self.free((x + dx, y + dy)):
            return None
        return Sokoban(self.level, box, self.boxes - {box} | {(x + dx, y + dy)})

    def propositions(self) -> set[str]:
        """As GDL writes the state, but for the counter."""
        name = self.name
        return {f"(at {name(self.keeper)})", *(f"(box {name(box)})" for box in self.boxes)}

    def name(self, square: Square) -> str:
        x, y = square
        column = "abcdefghijklmnopqrstuvwxyz"[x] if self.level.width <= 26 else x + 1
        return f"{column} {self.level.height - y}"

    def moves(self, pushes: bool = False) -> dict[str, Sokoban]:
        """What is legal, as GDL writes it, and what comes of it."""
        if pushes:
            after = {
                f"(push {self.name(box)} {word})": self.pushed(box, word)
                for box in self.boxes
                for word in STEPS
            }
        else:
            after = {f"(move {word})": self.moved(word) for word in STEPS}
        return {move: state for move, state in after.items() if state is not None}


def random_level(rng: random.Random) -> Level:
    """A small level with walls here and there; it may have no solution, and more goals than boxes."""
    while True:
        width, height = rng.randint(4, 8), rng.randint(4, 7)
        inner = [(x, y) for x in range(1, width - 1) for y in range(1, height - 1)]
        cells = dict.fromkeys(inner, " ")
        for square in rng.sample(inner, rng.randint(0, len(inner) // 4)):
            cells[square] = "#"
        floor = [square for square in inner if cells[square] == " "]
        boxes = rng.randint(1, 4)
        goals = boxes + rng.choice([0, 0, 1])
        if len(floor) < boxes + goals + 2:
            continue
        placed = rng.sample(floor, boxes + 1)
        marked = set(rng.sample(floor, goals))
        for square in floor:
            kind = "keeper" if square == placed[0] else "box" if square in placed else "floor"
            plain, on_goal = {"keeper": "@+", "box": "$*", "floor": " ."}[kind]
            cells[square] = on_goal if square in marked else plain
        rows = tuple("".join(cells.get((x, y), "#") for x in range(width)) for y in range(height))
        return Level(rows)
