"""Oracles of cubes whose faces turn: cubies, their places, and how they are twisted."""

from __future__ import annotations

from itertools import product
from typing import Final

from tests.games.oracles.puzzles import Puzzle


class PocketCube(Puzzle):
    """Cubies: which corner stands where, and how far it is twisted.

    Places are numbered 0 to 6 and the fixed one 7. Each names its stickers clockwise, that of the upper or
    lower face first.
    """

    limit = 20
    places: Final = (
        ("c5", "c4", "b4"), ("d5", "e4", "d4"), ("d6", "g4", "f4"), ("c6", "a4", "h4"),
        ("d2", "d3", "e3"), ("c2", "b3", "c3"), ("d1", "f3", "g3"), ("c1", "h3", "a3"),
    )  # fmt: skip
    colours: Final = (
        "white green orange", "white red green", "white blue red", "white orange blue",
        "yellow green red", "yellow orange green", "yellow red blue", "yellow blue orange",
    )  # fmt: skip
    turned: Final = {
        "up": ((0, 3, 0), (3, 2, 0), (2, 1, 0), (1, 0, 0)),
        "right": ((1, 2, 1), (2, 6, 2), (6, 4, 1), (4, 1, 2)),
        "front": ((0, 1, 1), (1, 4, 2), (4, 5, 1), (5, 0, 2)),
    }
    """From a place to a place, and how far the cubie is twisted."""
    start: Final = (
        "right up up front front front up right right right front front up right front up up up right right"
    )

    def __init__(self) -> None:
        super().__init__()
        self.cubies = [(i, 0) for i in range(8)]
        for face in self.start.split():
            self._quarter(face)

    def _quarter(self, face: str) -> None:
        before = list(self.cubies)
        for source, target, twist in self.turned[face]:
            cubie, old = before[source]
            self.cubies[target] = cubie, (old + twist) % 3

    def moves(self) -> list[str]:
        ways = ("clockwise", "halfway", "counterclockwise")
        return [f"(turn {face} {way})" for face in self.turned for way in ways]

    def move(self, name: str, *arguments: str) -> None:
        for _ in range(("clockwise", "halfway", "counterclockwise").index(arguments[1]) + 1):
            self._quarter(arguments[0])

    def things(self) -> set[str]:
        found = set()
        for place, (cubie, twist) in zip(self.places, self.cubies, strict=True):
            for k, colour in enumerate(self.colours[cubie].split()):
                at = place[(k + twist) % 3]
                found.add(f"(cell {at[0]} {at[1]} {colour})")
        return found

    @property
    def solved(self) -> bool:
        return self.cubies == [(i, 0) for i in range(8)]


class RubiksCube(Puzzle):
    """Cubies in space: where each is, and where its right, upper and front side point. x is to the right, y
    upwards, z to the front."""

    limit = 100
    normals: Final = {
        "right": (1, 0, 0), "left": (-1, 0, 0), "up": (0, 1, 0), "down": (0, -1, 0), "front": (0, 0, 1),
        "back": (0, 0, -1),
    }  # fmt: skip
    colours: Final = {
        "right": "red", "left": "orange", "up": "white", "down": "yellow", "front": "green", "back": "blue",
    }  # fmt: skip
    start: Final = (
        "up2 back3 up1 back3 front2 back3 right3 front1 up3 down1 right1 front1 right3 left1 front2 left2"
        " front3 back3 up3 right1 back3 left2 front1 back2 up3"
    )

    def __init__(self) -> None:
        super().__init__()
        axes = (1, 0, 0), (0, 1, 0), (0, 0, 1)
        self.cubies = {place: (place, *axes) for place in product((-1, 0, 1), repeat=3)}
        self.ordered = self.things()
        for turn in self.start.split():
            self._turn(turn[:-1], int(turn[-1]))

    def _turn(self, face: str, quarters: int) -> None:
        x, y, z = self.normals[face]

        def turned(v: tuple[int, int, int]) -> tuple[int, int, int]:
            along = x * v[0] + y * v[1] + z * v[2]
            across = y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0]
            return x * along - across[0], y * along - across[1], z * along - across[2]

        for home, (at, *axes) in self.cubies.items():
            if x * at[0] + y * at[1] + z * at[2] == 1:
                for _ in range(quarters):
                    at, *axes = (turned(v) for v in (at, *axes))
                self.cubies[home] = at, axes[0], axes[1], axes[2]

    def moves(self) -> list[str]:
        ways = ("clockwise", "halfway", "counterclockwise")
        return [f"(turn {face} {way})" for face in self.normals for way in ways]

    def move(self, name: str, *arguments: str) -> None:
        self._turn(arguments[0], ("clockwise", "halfway", "counterclockwise").index(arguments[1]) + 1)

    def _square(self, at: tuple[int, int, int], side: tuple[int, int, int]) -> tuple[int, int]:
        """Column and row of a sticker on the net, from 0: the faces are three squares wide."""
        x, y, z = at
        face = next(name for name, normal in self.normals.items() if normal == side)
        return {
            "left": (1 + z, 4 + y), "front": (4 + x, 4 + y), "right": (7 - z, 4 + y), "back": (10 - x, 4 + y),
            "up": (4 + x, 7 - z), "down": (4 + x, 1 + z),
        }[face]  # fmt: skip

    def things(self) -> set[str]:
        found = set()
        for home, (at, *axes) in self.cubies.items():
            for face, normal in self.normals.items():
                if sum(a * b for a, b in zip(home, normal, strict=True)) == 1:
                    sign, axis = sum(normal), next(axes[i] for i in range(3) if normal[i])
                    column, row = self._square(at, (sign * axis[0], sign * axis[1], sign * axis[2]))
                    left, top = self._square(home, normal)
                    number = 1 + left % 3 + 3 * (2 - top % 3)
                    found.add(f"(cell {'abcdefghijkl'[column]} {row + 1} {self.colours[face]} {number})")
        return found

    @property
    def solved(self) -> bool:
        return self.things() == self.ordered
