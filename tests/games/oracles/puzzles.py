"""Second opinions on puzzles: see :mod:`tests.games.oracles.match`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from players.puzzles.snakes.level import find_level
from tests.games.oracles.match import Match, words
from tests.places import GAMES
from tests.players.puzzles.snakes.simulator import Simulator


def is_in(columns: str, rows: int, x: str, y: int) -> bool:
    """Whether a board has a square."""
    return x in columns and bool(x) and 1 <= y <= rows


def shifted(x: str, by: int) -> str:
    """The column so many to the right."""
    return chr(ord(x) + by)


STEPS: Final = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}
"""What a way adds to column and row."""


class Puzzle(Match):
    """A puzzle of one role that ends when it is solved, or after some moves; 100 or nothing."""

    limit = 0
    """Moves; without it no fact counts them."""

    def __init__(self) -> None:
        self.steps = 0

    @abstractmethod
    def moves(self) -> list[str]:
        """What the player may do."""

    @abstractmethod
    def move(self, name: str, *arguments: str) -> None:
        """Do it."""

    @abstractmethod
    def things(self) -> set[str]:
        """All that is true but the number of moves."""

    @property
    def solved(self) -> bool:
        """Whether it is."""
        raise NotImplementedError

    def options(self) -> list[list[str]]:
        return [self.moves()]

    def play(self, joint: Sequence[str]) -> None:
        self.move(*words(joint[0]))
        self.steps += 1

    def facts(self) -> set[str]:
        return self.things() | ({f"(step {self.steps})"} if self.limit else set())

    @property
    def over(self) -> bool:
        return self.solved or (self.steps == self.limit if self.limit else not self.moves())

    def goals(self) -> list[int | None]:
        return [100 if self.solved else 0]


class WolfGoat(Puzzle):
    limit = 20
    rows: Final = {"farmer": 4, "wolf": 3, "goat": 2, "cabbage": 1}

    def __init__(self) -> None:
        super().__init__()
        self.left = set(self.rows)

    def _after(self, thing: str) -> set[str]:
        return self.left ^ {"farmer", thing}

    def moves(self) -> list[str]:
        def fine(left: set[str]) -> bool:
            alone = left if "farmer" not in left else set(self.rows) - left
            return not ({"wolf", "goat"} <= alone or {"goat", "cabbage"} <= alone)

        with_farmer = [t for t in self.rows if (t in self.left) == ("farmer" in self.left)]
        return [f"(ferry {t})" for t in with_farmer if fine(self._after(t))]

    def move(self, name: str, *arguments: str) -> None:
        self.left = self._after(arguments[0])

    def things(self) -> set[str]:
        return {f"(cell {'a' if t in self.left else 'b'} {y} {t})" for t, y in self.rows.items()}

    @property
    def solved(self) -> bool:
        return not self.left


class Missionaries(Puzzle):
    limit = 25

    def __init__(self) -> None:
        super().__init__()
        self.left = [3, 3]
        self.boat = -1

    def moves(self) -> list[str]:
        found = []
        for m in range(3):
            for c in range(3 - m):
                p, q = self.left[0] + self.boat * m, self.left[1] + self.boat * c
                banks = ((p, q), (3 - p, 3 - q))
                if m + c and 0 <= p <= 3 and 0 <= q <= 3 and all(not a or a >= b for a, b in banks):
                    found.append(f"(ferry {m} {c})")
        return found

    def move(self, name: str, *arguments: str) -> None:
        for kind, number in enumerate(arguments):
            self.left[kind] += self.boat * int(number)
        self.boat = -self.boat

    def things(self) -> set[str]:
        found = {f"(cell {'d' if self.boat < 0 else 'e'} 1 boat)"}
        for number, kind, row in ((self.left[0], "missionary", 2), (self.left[1], "cannibal", 1)):
            places = "abc"[:number] + "fgh"[: 3 - number]
            found |= {f"(cell {x} {row} {kind})" for x in places}
        return found

    @property
    def solved(self) -> bool:
        return self.left == [0, 0]


class Couples(Puzzle):
    limit = 25

    def __init__(self) -> None:
        super().__init__()
        self.left = {f"{kind}{i}" for kind in ("husband", "wife") for i in (1, 2, 3)}
        self.boat_left = True

    @staticmethod
    def _calm(group: set[str]) -> bool:
        men = {p[-1] for p in group if p.startswith("h")}
        return not men or {p[-1] for p in group if p.startswith("w")} <= men

    def moves(self) -> list[str]:
        everyone = {f"{kind}{i}" for kind in ("husband", "wife") for i in (1, 2, 3)}
        here = self.left if self.boat_left else everyone - self.left
        found = []
        crews = [(p,) for p in sorted(here)] + list(combinations(sorted(here), 2))
        for crew in crews:
            if (
                self._calm(set(crew))
                and self._calm(here - set(crew))
                and self._calm(everyone - here | set(crew))
            ):
                found.append(f"(alone {crew[0]})" if len(crew) == 1 else f"(pair {crew[0]} {crew[1]})")
        return found

    def move(self, name: str, *arguments: str) -> None:
        self.left ^= set(arguments)
        self.boat_left = not self.boat_left

    def things(self) -> set[str]:
        found = {f"(cell {'c' if self.boat_left else 'd'} 2 boat)"}
        for i in (1, 2, 3):
            for kind, column, other in (("husband", "a", "e"), ("wife", "b", "f")):
                here = f"{kind}{i}" in self.left
                found.add(f"(cell {column if here else other} {i} {kind}{i})")
        return found

    @property
    def solved(self) -> bool:
        return not self.left


class WaterJugs(Puzzle):
    limit = 15
    sizes: Final = {"a": 8, "b": 5, "c": 3}

    def __init__(self) -> None:
        super().__init__()
        self.litres = {"a": 8, "b": 0, "c": 0}

    def moves(self) -> list[str]:
        jugs = self.litres
        return [
            f"(pour {x} {z})" for x in jugs for z in jugs if x != z and jugs[x] and jugs[z] < self.sizes[z]
        ]

    def move(self, name: str, *arguments: str) -> None:
        x, z = arguments
        poured = min(self.litres[x], self.sizes[z] - self.litres[z])
        self.litres[x] -= poured
        self.litres[z] += poured

    def things(self) -> set[str]:
        return {f"(cell {x} {y} water)" for x, n in self.litres.items() for y in range(1, n + 1)}

    @property
    def solved(self) -> bool:
        return self.litres == {"a": 4, "b": 4, "c": 0}


class Merlin(Puzzle):
    limit = 12
    patterns: Final = {
        "a3": "a3 b3 a2 b2", "b3": "a3 b3 c3", "c3": "b3 c3 b2 c2",
        "a2": "a3 a2 a1", "b2": "b3 a2 b2 c2 b1", "c2": "c3 c2 c1",
        "a1": "a2 b2 a1 b1", "b1": "a1 b1 c1", "c1": "b2 c2 b1 c1",
    }  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.lit = {"a2", "b2", "a3", "c3"}

    def moves(self) -> list[str]:
        return [f"(press {at[0]} {at[1]})" for at in self.patterns]

    def move(self, name: str, *arguments: str) -> None:
        self.lit ^= set(self.patterns["".join(arguments)].split())

    def things(self) -> set[str]:
        return {f"(cell {at[0]} {at[1]} lit)" for at in self.lit}

    @property
    def solved(self) -> bool:
        return self.lit == set(self.patterns) - {"b2"}


class Guarini(Puzzle):
    limit = 30

    def __init__(self) -> None:
        super().__init__()
        self.board = {("a", 3): "white", ("c", 3): "white", ("a", 1): "black", ("c", 1): "black"}

    def moves(self) -> list[str]:
        found = []
        for x, y in self.board:
            for i, j in ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)):
                u, v = shifted(x, i), y + j
                if is_in("abc", 3, u, v) and (u, v) not in self.board:
                    found.append(f"(move {x} {y} {u} {v})")
        return found

    def move(self, name: str, *arguments: str) -> None:
        x, y, u, v = arguments
        self.board[u, int(v)] = self.board.pop((x, int(y)))

    def things(self) -> set[str]:
        return {f"(cell {x} {y} {c})" for (x, y), c in self.board.items()}

    @property
    def solved(self) -> bool:
        whites = {at for at, colour in self.board.items() if colour == "white"}
        return whites == {("a", 1), ("c", 1)} and set(self.board) - whites == {("a", 3), ("c", 3)}


class Frogs(Puzzle):
    def __init__(self) -> None:
        super().__init__()
        self.row = "fff.ttt"

    def moves(self) -> list[str]:
        hole = self.row.index(".")
        before, after = self.row[:hole], self.row[hole + 1 :]
        found = [hole - 1] if before.endswith("f") else []
        found += [hole - 2] if before.endswith("ft") else []
        found += [hole + 1] if after.startswith("t") else []
        found += [hole + 2] if after.startswith("ft") else []
        return [f"(hop {'abcdefg'[i]})" for i in found]

    def move(self, name: str, *arguments: str) -> None:
        i, row = "abcdefg".index(arguments[0]), list(self.row)
        row[row.index(".")], row[i] = row[i], "."
        self.row = "".join(row)

    def things(self) -> set[str]:
        kinds = {"f": "frog", "t": "toad"}
        return {
            f"(cell {x} {1 + i % 2} {kinds[c]})"
            for i, (x, c) in enumerate(zip("abcdefg", self.row, strict=True))
            if c != "."
        }

    @property
    def solved(self) -> bool:
        return self.row == "ttt.fff"


class Fifteen(Puzzle):
    limit = 80
    start: Final = "1 2 3 4 7 9 11 8 6 10 14 12 13 0 5 15"

    def __init__(self) -> None:
        super().__init__()
        self.tiles = list(map(int, self.start.split()))

    def _around(self) -> list[int]:
        x, y = self.tiles.index(0) % 4, self.tiles.index(0) // 4
        near = ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
        return [self.tiles[4 * v + u] for u, v in near if 0 <= u < 4 and 0 <= v < 4]

    def moves(self) -> list[str]:
        return [f"(slide {tile})" for tile in self._around()]

    def move(self, name: str, *arguments: str) -> None:
        i, j = self.tiles.index(0), self.tiles.index(int(arguments[0]))
        self.tiles[i], self.tiles[j] = self.tiles[j], 0

    def things(self) -> set[str]:
        return {f"(cell {'abcd'[i % 4]} {4 - i // 4} {t})" for i, t in enumerate(self.tiles) if t}

    @property
    def solved(self) -> bool:
        return self.tiles == [*range(1, 16), 0]


class Blocks(Puzzle):
    """Blocks that slide on a board: a drawing, a letter for each block, and the blocks' names."""

    drawing: Sequence[str] = ()
    names: Sequence[str] = ()
    free = True
    """Whether blocks slide sideways, too."""

    def __init__(self) -> None:
        super().__init__()
        self.height, self.width = len(self.drawing), len(self.drawing[0])
        self.squares: dict[str, set[tuple[int, int]]] = {}
        named = {name[-1] if not self.free and name != "red" else letter: name
                 for name, letter in zip(self.names, self.letters(), strict=True)}  # fmt: skip
        for j, row in enumerate(self.drawing):
            for i, letter in enumerate(row):
                if letter != ".":
                    self.squares.setdefault(named[letter], set()).add((i, self.height - j))

    def letters(self) -> list[str]:
        """The letters of the drawing, row by row."""
        return list(dict.fromkeys("".join(self.drawing).replace(".", "")))

    def _moved(self, block: str, way: str) -> set[tuple[int, int]]:
        i, j = STEPS[way]
        return {(x + i, y + j) for x, y in self.squares[block]}

    def moves(self) -> list[str]:
        found = []
        for block, own in self.squares.items():
            others = set().union(*(squares for name, squares in self.squares.items() if name != block))
            across = len({y for x, y in own}) == 1
            for way in STEPS:
                if not self.free and across != (way in ("left", "right")):
                    continue
                moved = self._moved(block, way)
                inside = all(0 <= x < self.width and 1 <= y <= self.height for x, y in moved)
                if inside and not moved & others:
                    found.append(f"(slide {block} {way})")
        return found

    def move(self, name: str, *arguments: str) -> None:
        self.squares[arguments[0]] = self._moved(*arguments)

    def things(self) -> set[str]:
        return {f"(cell {'abcdef'[x]} {y} {b})" for b, squares in self.squares.items() for x, y in squares}


class Klotski(Blocks):
    limit = 200
    drawing = ("pkkq", "pkkq", "rhhs", "rmns", "t..u")
    names = (
        "pillar1", "king", "pillar2", "pillar3", "beam", "pillar4",
        "soldier1", "soldier2", "soldier3", "soldier4",
    )  # fmt: skip

    @property
    def solved(self) -> bool:
        return self.squares["king"] == {(1, 1), (1, 2), (2, 1), (2, 2)}


class RushHour(Blocks):
    limit = 80
    drawing = ("hhggk.", "jjjek.", "faae.i", "f.b..i", ".cbddi", ".c....")
    free = False

    def letters(self) -> list[str]:
        return list("abcdefghijk")

    names = ("red", "carb", "carc", "card", "care", "carf", "carg", "carh", "trucki", "truckj", "cark")

    @property
    def solved(self) -> bool:
        return (5, 4) in self.squares["red"]


class TrianglePegs(Puzzle):
    def __init__(self) -> None:
        super().__init__()
        self.holes = [(4 - r + 2 * k, 5 - r) for r in range(5) for k in range(r + 1)]
        self.pegs = set(self.holes) - {(4, 5)}

    def moves(self) -> list[str]:
        found = []
        for x, y in self.pegs:
            for i, j in ((2, 0), (-2, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)):
                target = x + 2 * i, y + 2 * j
                if (x + i, y + j) in self.pegs and target in self.holes and target not in self.pegs:
                    found.append(f"(jump {'abcdefghi'[x]} {y} {'abcdefghi'[target[0]]} {target[1]})")
        return found

    def move(self, name: str, *arguments: str) -> None:
        x, u = ("abcdefghi".index(column) for column in arguments[::2])
        y, v = map(int, arguments[1::2])
        self.pegs ^= {(x, y), (u, v), ((x + u) // 2, (y + v) // 2)}

    def things(self) -> set[str]:
        return {f"(cell {'abcdefghi'[x]} {y} peg)" for x, y in self.pegs} | {f"(left {len(self.pegs)})"}

    @property
    def over(self) -> bool:
        return not self.moves()

    def goals(self) -> list[int | None]:
        if self.pegs == {(4, 5)}:
            return [100]
        return [{1: 90, 2: 75, 3: 50, 4: 25}.get(len(self.pegs), 0)]


class Nonogram(Puzzle):
    """A picture in columns d to h, drawn from the top row down."""

    rows: Final = ((1,), (3,), (2, 2), (5,), (1, 1, 1))
    columns: Final = ((3,), (3,), (2, 2), (3,), (3,))

    def __init__(self) -> None:
        super().__init__()
        self.painted: set[tuple[int, int]] = set()

    def moves(self) -> list[str]:
        squares = [(x, y) for x in range(5) for y in range(1, 6) if (x, y) not in self.painted]
        return [f"(paint {'defgh'[x]} {y})" for x, y in squares]

    def move(self, name: str, *arguments: str) -> None:
        self.painted.add(("defgh".index(arguments[0]), int(arguments[1])))

    def things(self) -> set[str]:
        found = {f"(cell {'defgh'[x]} {y} painted)" for x, y in self.painted}
        found.add(f"(made {len(self.painted)})")
        for y, blocks in enumerate(self.rows):
            found |= {f"(cell {x} {5 - y} {n})" for x, n in zip("abc"[-len(blocks) :], blocks, strict=True)}
        for x, blocks in zip("defgh", self.columns, strict=True):
            found |= {f"(cell {x} {5 + i} {n})" for i, n in enumerate(reversed(blocks), 1)}
        return found

    def _fitting(self) -> int:
        def blocks(line: Sequence[bool]) -> tuple[int, ...]:
            return tuple(len(run) for run in "".join(" #"[one] for one in line).split())

        rows = [blocks([(x, y) in self.painted for x in range(5)]) for y in range(5, 0, -1)]
        columns = [blocks([(x, y) in self.painted for y in range(5, 0, -1)]) for x in range(5)]
        pairs = zip(rows + columns, self.rows + self.columns, strict=True)
        return sum(own == wanted for own, wanted in pairs)

    @property
    def solved(self) -> bool:
        return self._fitting() == 10

    @property
    def over(self) -> bool:
        return self.solved or len(self.painted) == sum(map(sum, self.rows))

    def goals(self) -> list[int | None]:
        return [10 * self._fitting()]


class CrossSums(Puzzle):
    sums: Final = {4: 22, 3: 18, 2: 28, 1: 26, "b": 19, "c": 26, "d": 29, "e": 20}

    def __init__(self) -> None:
        super().__init__()
        self.digits: dict[tuple[str, int], int] = {("b", 3): 6, ("e", 2): 9, ("e", 4): 8}

    def _fits(self, line: str | int, digit: int) -> bool:
        own = [d for square, d in self.digits.items() if line in square]
        total = sum(own) + digit
        return digit not in own and (total == self.sums[line] if len(own) == 3 else total < self.sums[line])

    def moves(self) -> list[str]:
        return [
            f"(write {x} {y} {d})" for x in "bcde" for y in range(1, 5) if (x, y) not in self.digits
            for d in range(1, 10) if self._fits(x, d) and self._fits(y, d)
        ]  # fmt: skip

    def move(self, name: str, *arguments: str) -> None:
        self.digits[arguments[0], int(arguments[1])] = int(arguments[2])

    def things(self) -> set[str]:
        found = {f"(cell {x} {y} {d})" for (x, y), d in self.digits.items()}
        return found | {
            f"(cell a {k} {n})" if isinstance(k, int) else f"(cell {k} 5 {n})" for k, n in self.sums.items()
        }

    @property
    def solved(self) -> bool:
        return len(self.digits) == 16

    @property
    def over(self) -> bool:
        return not self.moves()


class Tents(Puzzle):
    """Drawn from the top row down: trees."""

    drawing: Final = ("......", "..T...", "...T..", "T.TT..", ".....T", "T.....")
    rows: Final = (1, 0, 3, 0, 1, 2)
    columns: Final = (1, 1, 2, 1, 1, 1)

    def __init__(self) -> None:
        super().__init__()
        self.squares = {(x, 6 - j): one for j, row in enumerate(self.drawing) for x, one in enumerate(row)}
        self.trees = {square for square, one in self.squares.items() if one == "T"}
        self.tents: set[tuple[int, int]] = set()

    def _beside(self, x: int, y: int) -> set[tuple[int, int]]:
        return self.trees & {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)}

    def _left(self) -> tuple[list[int], list[int]]:
        rows = [n - sum(y == 6 - j for _, y in self.tents) for j, n in enumerate(self.rows)]
        return rows, [n - sum(x == i for x, _ in self.tents) for i, n in enumerate(self.columns)]

    def moves(self) -> list[str]:
        rows, columns = self._left()
        found = []
        for x in range(6):
            for y in range(1, 7):
                shaded = self._beside(x, y)
                crowded = any(abs(x - u) <= 1 and abs(y - v) <= 1 for u, v in self.tents)
                if shaded and not crowded and (x, y) not in self.trees and rows[6 - y] and columns[x]:
                    found.append(f"(pitch {'abcdef'[x]} {y})")
        return found

    def move(self, name: str, *arguments: str) -> None:
        self.tents.add(("abcdef".index(arguments[0]), int(arguments[1])))

    def things(self) -> set[str]:
        found = {f"(cell {'abcdef'[x]} {y} tree)" for x, y in self.trees}
        found |= {f"(cell {'abcdef'[x]} {y} tent)" for x, y in self.tents}
        found |= {f"(cell {'abcdef'[x]} {y} grass)" for x, y in self.squares if not self._beside(x, y)} - {
            f"(cell {'abcdef'[x]} {y} grass)" for x, y in self.trees
        }
        found |= {f"(cell g {6 - j} {n})" for j, n in enumerate(self.rows)}
        return found | {f"(cell {x} 7 {n})" for x, n in zip("abcdef", self.columns, strict=True)}

    @property
    def solved(self) -> bool:
        return not any(map(any, self._left()))

    @property
    def over(self) -> bool:
        return not self.moves()


class Hidato(Puzzle):
    given: Final = {1: "d4", 3: "e4", 8: "a4", 13: "b1", 14: "b2", 16: "c4", 24: "c2", 25: "d1"}

    def __init__(self) -> None:
        super().__init__()
        self.path = ["d4"]

    def moves(self) -> list[str]:
        column, row = self.path[-1][0], int(self.path[-1][1])
        near = [
            f"{shifted(column, i)}{row + j}" for i in (-1, 0, 1) for j in (-1, 0, 1)
            if (i or j) and is_in("abcde", 5, shifted(column, i), row + j)
        ]  # fmt: skip
        wanted = self.given.get(len(self.path) + 1)
        taken = {*self.path, *self.given.values()}
        return [f"(go {at[0]} {at[1]})" for at in near if (at == wanted if wanted else at not in taken)]

    def move(self, name: str, *arguments: str) -> None:
        self.path.append("".join(arguments))

    def things(self) -> set[str]:
        numbers = self.given | dict(enumerate(self.path, 1))
        return {f"(cell {at[0]} {at[1]} {n})" for n, at in numbers.items()} | {f"(last {len(self.path)})"}

    @property
    def solved(self) -> bool:
        return len(self.path) == 25

    @property
    def over(self) -> bool:
        return self.solved or not self.moves()


class IceMaze(Puzzle):
    """Drawn from the top row down: rocks, and the hut."""

    limit = 40
    drawing: Final = (
        ".H.#.....", ".........", ".........", "......##.",
        "..####...", "...#..#..", "#.......#", "...##....",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.at = "a", 1

    def _what(self, x: str, y: int) -> str:
        return self.drawing[8 - y]["abcdefghi".index(x)] if is_in("abcdefghi", 8, x, y) else "#"

    def _end(self, way: str) -> tuple[str, int]:
        (x, y), (i, j) = self.at, STEPS[way]
        while self._what(shifted(x, i), y + j) != "#":
            x, y = shifted(x, i), y + j
        return x, y

    def moves(self) -> list[str]:
        return [f"(slide {way})" for way in STEPS if self._end(way) != self.at]

    def move(self, name: str, *arguments: str) -> None:
        self.at = self._end(arguments[0])

    def things(self) -> set[str]:
        kinds = {"#": "rock", "H": "ice", ".": "ice"}
        found = {f"(cell {x} {y} {kinds[self._what(x, y)]})" for x in "abcdefghi" for y in range(1, 9)}
        return found | {"(cell b 8 hut)", f"(cell {self.at[0]} {self.at[1]} walker)"}

    @property
    def solved(self) -> bool:
        return self._what(*self.at) == "H"


class Atomix(Puzzle):
    """Drawn from the top row down."""

    limit = 40
    drawing: Final = (".O....", "..#...", ".#.#.H", "#.....", "#..#..", "H..#..")

    def __init__(self) -> None:
        super().__init__()
        self.board = {
            (x, 6 - j): one for j, row in enumerate(self.drawing) for x, one in enumerate(row) if one != "."
        }

    def moves(self) -> list[str]:
        found = []
        for (x, y), one in self.board.items():
            for i, j in STEPS.values() if one != "#" else ():
                u, v = x, y
                while 0 <= u + i < 6 and 1 <= v + j <= 6 and (u + i, v + j) not in self.board:
                    u, v = u + i, v + j
                if (u, v) != (x, y):
                    found.append(f"(slide {'abcdef'[x]} {y} {'abcdef'[u]} {v})")
        return found

    def move(self, name: str, *arguments: str) -> None:
        x, u = ("abcdef".index(column) for column in arguments[::2])
        y, v = map(int, arguments[1::2])
        self.board[u, v] = self.board.pop((x, y))

    def things(self) -> set[str]:
        kinds = {"O": "oxygen", "H": "hydrogen"}
        return {f"(cell {'abcdef'[x]} {y} {kinds[one]})" for (x, y), one in self.board.items() if one != "#"}

    @property
    def solved(self) -> bool:
        rows = ["".join(self.board.get((x, y), ".") for x in range(6)) for y in range(1, 7)]
        return any("HOH" in row for row in rows)


class Snakes(Puzzle):
    """By the simulator of levels, on the first one."""

    limit = 200

    def __init__(self) -> None:
        super().__init__()
        self.plain = Simulator(find_level(str(GAMES / "levels" / "snakes.txt")))
        self.position = self.plain.start

    def moves(self) -> list[str]:
        return list(self.plain.moves(self.position))

    def move(self, name: str, *arguments: str) -> None:
        made = f"({' '.join((name, *arguments))})" if arguments else name
        self.position = self.plain.moves(self.position)[made]

    def things(self) -> set[str]:
        return self.plain.propositions(self.position)

    @property
    def solved(self) -> bool:
        return self.plain.solved(self.position)

    @property
    def over(self) -> bool:
        return self.plain.terminal(self.position) or self.steps == self.limit
