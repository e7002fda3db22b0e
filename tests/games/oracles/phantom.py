"""A second opinion on go with stones that the other does not see: see :mod:`tests.games.oracles.match`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tests.games.oracles.match import Match, words
from tests.games.oracles.several import versus

Point = tuple[int, int]
Stones = dict[Point, int]
SIDE, KOMI, TURNS = 5, 3, 60
POINTS: Final = [(x, y) for x in range(SIDE) for y in range(SIDE)]


def said(name: str, point: Point) -> str:
    """A word and a point as a move or a fact."""
    return f"({name} {'abcde'[point[0]]} {point[1] + 1})"


def beside(point: Point) -> list[Point]:
    """The points next to a point."""
    x, y = point
    return [p for p in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)) if p in POINTS]


def spread(stones: Stones, point: Point) -> tuple[set[Point], set[Point]]:
    """All points that hang together with a point and hold the same, stones of one side or nothing, and the
    points around them."""
    same, edge = {point}, set[Point]()
    waiting = [point]
    while waiting:
        for near in beside(waiting.pop()):
            if stones.get(near) != stones.get(point):
                edge.add(near)
            elif near not in same:
                same.add(near)
                waiting.append(near)
    return same, edge


def breathless(stones: Stones, point: Point) -> bool:
    """Whether the group at a point has no liberty."""
    return all(near in stones for near in spread(stones, point)[1])


class PhantomGo(Match):
    roles = ("black", "white")

    def __init__(self) -> None:
        self.stones: Stones = {}
        self.refused = set[Point]()
        self.ko: Point | None = None
        self.passes = self.turns = 0

    @property
    def _mover(self) -> int:
        return self.turns % 2

    def _after(self, point: Point) -> tuple[Stones, set[Point]] | None:
        """The stones after one more, and those taken; None if it may not stand there."""
        if point in self.stones or point == self.ko:
            return None
        stones = {**self.stones, point: self._mover}
        enemies = [near for near in beside(point) if stones.get(near) == 1 - self._mover]
        taken = {p for near in enemies if breathless(stones, near) for p in spread(stones, near)[0]}
        left = {p: side for p, side in stones.items() if p not in taken}
        return None if breathless(left, point) else (left, taken)

    def _tried(self, joint: Sequence[str]) -> Point | None:
        name, *at = words(joint[self._mover])
        return ("abcde".index(at[0]), int(at[1]) - 1) if name == "try" else None

    def options(self) -> list[list[str]]:
        own = [p for p in POINTS if self.stones.get(p) != self._mover and p not in self.refused]
        options = [["noop"], ["noop"]]
        options[self._mover] = [*(said("try", p) for p in own), "pass"]
        return options

    def play(self, joint: Sequence[str]) -> None:
        point = self._tried(joint)
        found = None if point is None else self._after(point)
        if point is not None and found is None:
            self.refused.add(point)
            return
        self.ko = None
        self.passes = self.passes + 1 if point is None else 0
        if point is not None and found is not None:
            alone = all(self.stones.get(near) == 1 - self._mover for near in beside(point))
            self.stones, taken = found
            self.ko = min(taken) if len(taken) == 1 and alone else None
        self.refused.clear()
        self.turns += 1

    def seen(self, joint: Sequence[str]) -> list[set[str]]:
        point, found = self._tried(joint), None
        if point is None:
            news = [set[str](), {"passed"}]
        elif (found := self._after(point)) is None:
            news = [{"refused"}, set[str]()]
        else:
            news = [{"placed"}, {"your_turn"}]
        taken = set[str]() if found is None else {said("taken", p) for p in found[1]}
        return [one | taken for one in (news[::-1] if self._mover else news)]

    def facts(self) -> set[str]:
        facts = {f"{said('cell', p)[:-1]} {self.roles[side]})" for p, side in self.stones.items()}
        facts |= {said("refused", p) for p in self.refused}
        facts |= {said("ko", self.ko)} if self.ko is not None else set()
        facts |= {("passed", "two_passes")[self.passes - 1]} if self.passes else set()
        tens, units = divmod(self.turns, 10)
        return facts | {f"(control {self.roles[self._mover]})", f"(tens {tens})", f"(units {units})"}

    @property
    def over(self) -> bool:
        return self.passes == 2 or self.turns == TURNS

    def _points(self, role: int) -> int:
        own = sum(side == role for side in self.stones.values())
        empty = (p for p in POINTS if p not in self.stones)
        return own + sum({self.stones[q] for q in spread(self.stones, p)[1]} == {role} for p in empty)

    def goals(self) -> list[int | None]:
        lead = self._points(0) - self._points(1) - KOMI if self.over else 0
        return [*versus((lead > 0) - (lead < 0))]
