"""Second opinions on puzzles in which pieces move; see :mod:`tests.games.oracles.match`."""

from __future__ import annotations

from itertools import combinations
from typing import Final

from tests.games.oracles.puzzles import STEPS, Puzzle, is_in, shifted

Place = tuple[str, int]
DIAGONALS: Final = ((1, 1), (1, -1), (-1, 1), (-1, -1))


def signs(drawing: tuple[str, ...]) -> dict[Place, str]:
    """The signs of a drawing from the top row down, by square."""
    return {
        (shifted("a", i), len(drawing) - j): sign
        for j, row in enumerate(drawing)
        for i, sign in enumerate(row)
    }


class Bishops(Puzzle):
    """Four columns, five rows."""

    limit = 80

    def __init__(self) -> None:
        super().__init__()
        self.board = {(x, y): colour for y, colour in ((5, "black"), (1, "white")) for x in "abcd"}

    def _first(self, at: Place, i: int, j: int, gone: Place) -> str | None:
        """The first bishop in a direction, if one has left its square."""
        x, y = shifted(at[0], i), at[1] + j
        while is_in("abcd", 5, x, y):
            if (x, y) in self.board and (x, y) != gone:
                return self.board[x, y]
            x, y = shifted(x, i), y + j
        return None

    def moves(self) -> list[str]:
        found = []
        for (x, y), colour in self.board.items():
            for i, j in DIAGONALS:
                u, v = shifted(x, i), y + j
                while is_in("abcd", 5, u, v) and (u, v) not in self.board:
                    if all(self._first((u, v), *way, (x, y)) in (None, colour) for way in DIAGONALS):
                        found.append(f"(move {x} {y} {u} {v})")
                    u, v = shifted(u, i), v + j
        return found

    def move(self, name: str, *arguments: str) -> None:
        x, y, u, v = arguments
        self.board[u, int(v)] = self.board.pop((x, int(y)))

    def things(self) -> set[str]:
        return {f"(cell {x} {y} {colour})" for (x, y), colour in self.board.items()}

    @property
    def solved(self) -> bool:
        return all(self.board.get((x, 5)) == "white" and self.board.get((x, 1)) == "black" for x in "abcd")


class IceBoxes(Puzzle):
    """Walls, the keeper, crates and goals."""

    limit = 60
    drawing: Final = ("########", "#G.....#", "#.#..$@#", "#....#.#", "#$...#.#", "#...#.G#", "########")

    def __init__(self) -> None:
        super().__init__()
        drawn = signs(self.drawing)
        self.floor = {at for at, sign in drawn.items() if sign != "#"}
        self.goal_squares = {at for at, sign in drawn.items() if sign in "G*"}
        self.crates = {at for at, sign in drawn.items() if sign in "$*"}
        (self.keeper,) = (at for at, sign in drawn.items() if sign == "@")

    def _free(self, at: Place) -> bool:
        return at in self.floor and at not in self.crates

    def _next(self, at: Place, way: str) -> Place:
        return shifted(at[0], STEPS[way][0]), at[1] + STEPS[way][1]

    def moves(self) -> list[str]:
        found = []
        for way in STEPS:
            to = self._next(self.keeper, way)
            if self._free(to) or (to in self.crates and self._free(self._next(to, way))):
                found.append(f"(move {way})")
        return found

    def move(self, name: str, *arguments: str) -> None:
        self.keeper = self._next(self.keeper, arguments[0])
        if self.keeper in self.crates:
            self.crates.remove(self.keeper)
            at = self.keeper
            while self._free(self._next(at, arguments[0])):
                at = self._next(at, arguments[0])
            self.crates.add(at)

    def things(self) -> set[str]:
        crates = {f"(cell {x} {y} crate)" for x, y in self.crates}
        return crates | {f"(cell {self.keeper[0]} {self.keeper[1]} keeper)"}

    @property
    def solved(self) -> bool:
        return self.crates == self.goal_squares


class KeyMaze(Puzzle):
    """Walls, keys in small letters, doors in capitals, the walker and the way out."""

    limit = 120
    drawing: Final = (
        ".Y...#b..", "####.###.", "y....#...", ".###.#.#.", "rR...#.#.", "####B#.#Y", ".#.B.#.#E",
        "R#.###.#.", "......@#.",
    )  # fmt: skip
    colours: Final = {"r": "red", "b": "blue", "y": "yellow"}

    def __init__(self) -> None:
        super().__init__()
        self.drawn = signs(self.drawing)
        (self.at,) = (at for at, sign in self.drawn.items() if sign == "@")
        self.keys = {sign: at for at, sign in self.drawn.items() if sign in self.colours}
        self.doors = {
            at: sign.lower()
            for at, sign in self.drawn.items()
            if sign.lower() in self.colours and sign.isupper()
        }

    def _to(self, way: str) -> Place:
        return shifted(self.at[0], STEPS[way][0]), self.at[1] + STEPS[way][1]

    def moves(self) -> list[str]:
        found = []
        for way in STEPS:
            to = self._to(way)
            locked = to in self.doors and self.doors[to] in self.keys
            if self.drawn.get(to, "#") != "#" and not locked:
                found.append(f"(go {way})")
        return found

    def move(self, name: str, *arguments: str) -> None:
        self.at = self._to(arguments[0])
        self.keys = {key: at for key, at in self.keys.items() if at != self.at}
        self.doors.pop(self.at, None)

    def things(self) -> set[str]:
        found = {f"(cell {x} {y} {self.colours[key]}key)" for key, (x, y) in self.keys.items()}
        found |= {f"(cell {x} {y} {self.colours[door]}door)" for (x, y), door in self.doors.items()}
        found |= {f"(holds {name}key)" for key, name in self.colours.items() if key not in self.keys}
        return found | {f"(cell {self.at[0]} {self.at[1]} walker)"}

    @property
    def solved(self) -> bool:
        return self.drawn[self.at] == "E"


Sticker = tuple[int, int, int, int]
"""How near a sticker is to each of the four corners, in ninths; 0 for the corner opposite its face."""


class Pyraminx(Puzzle):
    """The net is a triangle of six rows. Its centre is the face of the corners 0 (left), 1 (right) and
    2 (below); the corner 3 is at all three ends of the net."""

    limit = 25
    start: Final = (
        "left clockwise", "right counterclockwise", "top clockwise", "front clockwise",
        "left counterclockwise",
        "top clockwise", "right clockwise", "front counterclockwise", "right clockwise", "left clockwise",
    )  # fmt: skip
    corners: Final = {
        "left": (0, (1, 2, 3)),
        "right": (1, (0, 3, 2)),
        "front": (2, (0, 1, 3)),
        "top": (3, (0, 2, 1)),
    }
    """Each corner, and the three others in clockwise order as one looks at it."""
    faces: Final = {"green": (0, 1, 2), "red": (3, 0, 1), "blue": (0, 3, 2), "yellow": (1, 2, 3)}

    def __init__(self) -> None:
        super().__init__()
        self.places = self._net()
        self.colours = {sticker: self._home(sticker) for sticker in self.places.values()}
        for word in self.start:
            self._turn(*word.split())

    @classmethod
    def _home(cls, sticker: Sticker) -> str:
        return next(colour for colour, three in cls.faces.items() if all(sticker[k] for k in three))

    @staticmethod
    def _net() -> dict[Place, Sticker]:
        """Each square of the net, with its sticker. Weights of the three ends of the net, in eighteenths, say
        where in the net it is. The net is folded at the middles of its sides."""
        found = {}
        for row in range(6):
            for k in range(2 * row + 1):
                top, right = 18 - 3 * row - (1 if k % 2 else 2), 3 * (k // 2) + (2 if k % 2 else 1)
                left = 18 - top - right
                if top > 9:
                    sticker = (left, right, 0, top - 9)
                elif left > 9:
                    sticker = (top, 0, right, left - 9)
                elif right > 9:
                    sticker = (0, top, left, right - 9)
                else:
                    sticker = (9 - right, 9 - left, 9 - top, 0)
                found["abcdefghijk"[5 - row + k], 6 - row] = sticker
        return found

    def _turn(self, corner: str, way: str) -> None:
        number, others = self.corners[corner]
        order = others if way == "clockwise" else others[::-1]
        after = dict(self.colours)
        for sticker, colour in self.colours.items():
            if sticker[number] > 3:
                moved = list(sticker)
                for k in range(3):
                    moved[order[(k + 1) % 3]] = sticker[order[k]]
                after[moved[0], moved[1], moved[2], moved[3]] = colour
        self.colours = after

    def moves(self) -> list[str]:
        return [f"(turn {c} {way})" for c in self.corners for way in ("clockwise", "counterclockwise")]

    def move(self, name: str, *arguments: str) -> None:
        self._turn(*arguments)

    def things(self) -> set[str]:
        return {f"(cell {x} {y} {self.colours[sticker]})" for (x, y), sticker in self.places.items()}

    @property
    def solved(self) -> bool:
        return all(colour == self._home(sticker) for sticker, colour in self.colours.items())


class ThreeLights(Puzzle):
    """Lamps are off, green or red."""

    limit = 20
    start: Final = ("rrrr", "rgg.", ".g..", "rrg.")

    def __init__(self) -> None:
        super().__init__()
        self.lamps = {at: ".gr".index(sign) for at, sign in signs(self.start).items()}

    def moves(self) -> list[str]:
        return [f"(press {x} {y})" for x, y in self.lamps]

    def move(self, name: str, *arguments: str) -> None:
        x, y = arguments[0], int(arguments[1])
        for at in [(x, y), *((shifted(x, i), y + j) for i, j in STEPS.values())]:
            if at in self.lamps:
                self.lamps[at] = (self.lamps[at] + 1) % 3

    def things(self) -> set[str]:
        return {f"(cell {x} {y} {['', 'green', 'red'][n]})" for (x, y), n in self.lamps.items() if n}

    @property
    def solved(self) -> bool:
        return not any(self.lamps.values())


class ForeAndAft(Puzzle):
    """Two boards of 3x3 squares that share a corner."""

    limit = 120
    drawing: Final = ("www..", "www..", "ww.bb", "..bbb", "..bbb")

    def __init__(self) -> None:
        super().__init__()
        drawn = signs(self.drawing)
        self.squares = {(x, y) for x, y in drawn if (x <= "c" and y >= 3) or (x >= "c" and y <= 3)}
        self.board = {at: {"w": "white", "b": "black"}[sign] for at, sign in drawn.items() if sign != "."}
        self.wanted = {at: "black" if colour == "white" else "white" for at, colour in self.board.items()}

    def moves(self) -> list[str]:
        found = []
        for (x, y), colour in self.board.items():
            for i, j in STEPS.values():
                near, far = (shifted(x, i), y + j), (shifted(x, 2 * i), y + 2 * j)
                if near in self.squares - set(self.board):
                    found.append(f"(move {x} {y} {near[0]} {near[1]})")
                elif self.board.get(near, colour) != colour and far in self.squares - set(self.board):
                    found.append(f"(move {x} {y} {far[0]} {far[1]})")
        return found

    def move(self, name: str, *arguments: str) -> None:
        x, y, u, v = arguments
        self.board[u, int(v)] = self.board.pop((x, int(y)))

    def things(self) -> set[str]:
        return {f"(cell {x} {y} {colour})" for (x, y), colour in self.board.items()}

    @property
    def solved(self) -> bool:
        return self.board == self.wanted


class ChineseRings(Puzzle):
    limit = 60

    def __init__(self) -> None:
        super().__init__()
        self.on = [True] * 6

    def moves(self) -> list[str]:
        first = self.on.index(True) if True in self.on else 6
        return [f"(switch {'abcdef'[k]})" for k in sorted({0, first + 1}) if k < 6]

    def move(self, name: str, *arguments: str) -> None:
        k = "abcdef".index(arguments[0])
        self.on[k] = not self.on[k]

    def things(self) -> set[str]:
        return {f"(cell {x} {2 if on else 1} ring)" for x, on in zip("abcdef", self.on, strict=True)}

    @property
    def solved(self) -> bool:
        return not any(self.on)


class TorchBridge(Puzzle):
    minutes: Final = (1, 2, 5, 10)

    def __init__(self) -> None:
        super().__init__()
        self.near = set(self.minutes)
        self.torch_near, self.time = True, 0

    def moves(self) -> list[str]:
        here = sorted(self.near if self.torch_near else set(self.minutes) - self.near)
        groups = [(one,) for one in here] + list(combinations(here, 2))
        fine = [group for group in groups if self.time + max(group) <= 17]
        return [f"(alone walker{g[0]})" if len(g) == 1 else f"(pair walker{g[0]} walker{g[1]})" for g in fine]

    def move(self, name: str, *arguments: str) -> None:
        group = {int(one.removeprefix("walker")) for one in arguments}
        self.near ^= group
        self.torch_near = not self.torch_near
        self.time += max(group)

    def things(self) -> set[str]:
        found = {f"(cell {'b' if self.torch_near else 'c'} 5 torch)", f"(minutes {self.time})"}
        return found | {
            f"(cell {'a' if n in self.near else 'd'} {k} walker{n})" for k, n in enumerate(self.minutes, 1)
        }

    @property
    def solved(self) -> bool:
        return not self.near


class BallSort(Puzzle):
    """Tubes from the ground up."""

    limit = 40
    start: Final = ("rgby", "bygr", "yrbg", "grby", "", "")
    colours: Final = {"r": "red", "g": "green", "b": "blue", "y": "yellow"}

    def __init__(self) -> None:
        super().__init__()
        self.tubes = dict(zip("abcdef", self.start, strict=True))

    def moves(self) -> list[str]:
        return [
            f"(move {x} {z})" for x, balls in self.tubes.items() for z, others in self.tubes.items()
            if x != z and balls and len(others) < 4 and (not others or others[-1] == balls[-1])
        ]  # fmt: skip

    def move(self, name: str, *arguments: str) -> None:
        x, z = arguments
        self.tubes[z] += self.tubes[x][-1]
        self.tubes[x] = self.tubes[x][:-1]

    def things(self) -> set[str]:
        return {
            f"(cell {x} {y} {self.colours[ball]})"
            for x, balls in self.tubes.items()
            for y, ball in enumerate(balls, 1)
        }

    @property
    def solved(self) -> bool:
        return all(not balls or (len(balls) == 4 and len(set(balls)) == 1) for balls in self.tubes.values())


class SnakeCube(Puzzle):
    """A chain of 27 cubes: the lengths of its straight parts, less the cube where each begins."""

    parts: Final = (2, 1, 1, 2, 1, 2, 1, 1, 2, 2, 1, 1, 1, 2, 2, 2, 2)
    start: Final = (1, 1, 1)
    ways: Final = {
        "right": (1, 0, 0), "left": (-1, 0, 0), "back": (0, 1, 0), "front": (0, -1, 0), "up": (0, 0, 1),
        "down": (0, 0, -1),
    }  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.chain = [self.start]
        self.last: str | None = None

    def _part(self, way: str) -> list[tuple[int, int, int]]:
        x, y, z = self.chain[-1]
        i, j, k = self.ways[way]
        return [(x + n * i, y + n * j, z + n * k) for n in range(1, self.parts[self.steps] + 1)]

    def _fits(self, way: str) -> bool:
        if self.last and all(
            bool(a) == bool(b) for a, b in zip(self.ways[way], self.ways[self.last], strict=True)
        ):
            return False
        return all(all(1 <= n <= 3 for n in cube) and cube not in self.chain for cube in self._part(way))

    def moves(self) -> list[str]:
        return (
            [] if self.steps == len(self.parts) else [f"(fold {way})" for way in self.ways if self._fits(way)]
        )

    def move(self, name: str, *arguments: str) -> None:
        self.chain += self._part(arguments[0])
        self.last = arguments[0]

    def things(self) -> set[str]:
        found = {f"(cell {'abc'[x - 1]} {y} {z} cube)" for x, y, z in self.chain[:-1]}
        x, y, z = self.chain[-1]
        found |= {f"(cell {'abc'[x - 1]} {y} {z} tip)", f"(parts {self.steps})"}
        return found | ({f"(last {self.last})"} if self.last else set())

    @property
    def solved(self) -> bool:
        return len(self.chain) == 27
