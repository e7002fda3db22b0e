"""Rules of games on points and lines in plain Python, from their words and not from their GDL."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise

from tests.games.oracles.match import Turn
from tests.games.oracles.plain import QUEEN, BoardGame, Square, hexagon, name, rectangle


def add(at: Square, step: Square, times: int = 1) -> Square:
    """The point some steps on."""
    return at[0] + times * step[0], at[1] + times * step[1]


class Lined(BoardGame):
    """Lines go across and up from every point, and slanting from every second one."""

    def __init__(self, columns: int, rows: int, most: int) -> None:
        super().__init__(rectangle(columns, rows))
        self.most, self.taken_turns = most, 0

    def lines(self, at: Square) -> list[Square]:
        """The directions of lines from a point."""
        slanting = (at[0] + at[1]) % 2 == 0
        return [step for step in QUEEN if slanting or not all(step)]

    def free(self, at: Square) -> bool:
        """Whether this is an empty point of the board."""
        return at in self.squares and at not in self.board

    def mine(self) -> list[Square]:
        """The points with pieces of the role to move."""
        return [at for at, thing in self.board.items() if thing == self.me]

    def steps(self) -> list[tuple[Square, Square]]:
        """Moves to the next point."""
        return [
            (at, add(at, step)) for at in self.mine() for step in self.lines(at) if self.free(add(at, step))
        ]

    def next_turn(self) -> None:
        """Let the other side move."""
        self.mover = 1 - self.mover
        self.taken_turns += 1

    def result(self) -> dict[str, int] | None:
        if not self.turns():
            return self.won_by(self.other)
        return self.won_by(None) if self.taken_turns >= self.most else None


class Alquerque(Lined):
    """Jumps are forced, and go on."""

    def __init__(self) -> None:
        super().__init__(5, 5, 100)
        whites = [at for at in self.squares if at[1] < 3 or at in [(4, 3), (5, 3)]]
        self.board = {at: "white" if at in whites else "black" for at in self.squares if at != (3, 3)}

    def _jumps(self, at: Square, gone: tuple[Square, ...], start: Square) -> list[tuple[Square, Square]]:
        """The enemies that a piece can take from here, and where it lands."""
        hops = [(add(at, step), add(at, step, 2)) for step in self.lines(at)]
        preys = [(over, to) for over, to in hops if self.board.get(over) == self.other and over not in gone]
        return [(over, to) for over, to in preys if to == start or to in gone or self.free(to)]

    def _chains(
        self, path: tuple[Square, ...], gone: tuple[Square, ...]
    ) -> list[tuple[tuple[Square, ...], tuple[Square, ...]]]:
        found = []
        for over, to in self._jumps(path[-1], gone, path[0]):
            found += self._chains((*path, to), (*gone, over)) or [((*path, to), (*gone, over))]
        return found

    def turns(self) -> Turn:
        chains = [chain for at in self.mine() for chain in self._chains((at,), ())]
        found: Turn = {}
        for path, gone in chains:
            hops = pairwise(path)
            found[tuple(f"(jump {name(a)} {name(b)})" for a, b in hops)] = (path, gone)
        if not found:
            found = {(f"(move {name(a)} {name(b)})",): ((a, b), ()) for a, b in self.steps()}
        return found

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        path, gone = turn
        for at in (path[0], *gone):
            del self.board[at]
        self.board[path[-1]] = self.me
        self.next_turn()


class Fanorona(Lined):
    """Lines are taken by approach and by withdrawal. Every capture is a turn here, and so is the stop."""

    relations = frozenset({"cell", "passed", "chain"})

    def __init__(self) -> None:
        super().__init__(9, 5, 100)
        self.board = {at: "white" if at[1] < 3 else "black" for at in self.squares if at[1] != 3}
        self.board |= {(x, 3): "white" if x in (2, 4, 7, 9) else "black" for x in range(1, 10) if x != 5}
        self._passed: list[Square] = []
        self._last: Square | None = None

    def _sweep(self, at: Square, step: Square) -> tuple[Square, ...]:
        found = []
        while self.board.get(at) == self.other:
            found.append(at)
            at = add(at, step)
        return tuple(found)

    def _captures(self, at: Square) -> Turn:
        found: Turn = {}
        for step in self.lines(at):
            to, back = add(at, step), (-step[0], -step[1])
            if not self.free(to) or to in self._passed or step == self._last:
                continue
            for word, gone in (
                ("approach", self._sweep(add(to, step), step)),
                ("withdraw", self._sweep(add(at, back), back)),
            ):
                if gone:
                    found[f"({word} {name(at)} {name(to)})",] = (at, to, gone)
        return found

    def turns(self) -> Turn:
        if self._last is not None:
            return self._captures(self._piece) | {("stop",): "stop"}
        found: Turn = {}
        for at in self.mine():
            found |= self._captures(at)
        return found or {(f"(move {name(a)} {name(b)})",): (a, b, ()) for a, b in self.steps()}

    def go(self, turn: Hashable) -> None:
        if isinstance(turn, tuple):
            at, to, gone = turn
            self.board[to] = self.board.pop(at)
            for one in gone:
                del self.board[one]
            if gone:
                self._passed.append(at)
                self._last, self._piece = (to[0] - at[0], to[1] - at[1]), to
                if self._captures(to):
                    return
        self._passed, self._last = [], None
        self.next_turn()

    def facts(self) -> set[str]:
        found = super().facts() | {f"(passed {name(at)})" for at in self._passed}
        if self._last is not None:
            up, across = " ns"[self._last[1]], " ew"[self._last[0]]
            found.add(f"(chain {name(self._piece)} {(up + across).strip()})")
        return found


class BaghChal(Lined):
    """Four tigers and twenty goats."""

    roles = ("goats", "tigers")
    relations = frozenset({"cell", "hand", "caught"})

    def __init__(self) -> None:
        super().__init__(5, 5, 200)
        self.board = dict.fromkeys([(1, 1), (1, 5), (5, 1), (5, 5)], "tigers")
        self._hand = 20

    def _caught(self) -> int:
        return 20 - self._hand - list(self.board.values()).count("goats")

    def turns(self) -> Turn:
        if self._caught() == 5:
            return {}
        if self.me == "goats" and self._hand:
            return {(f"(place {name(at)})",): (at, at, None) for at in self.squares if self.free(at)}
        found: Turn = {(f"(move {name(a)} {name(b)})",): (a, b, None) for a, b in self.steps()}
        for at in self.mine() if self.me == "tigers" else ():
            for step in self.lines(at):
                over, to = add(at, step), add(at, step, 2)
                if self.board.get(over) == "goats" and self.free(to):
                    found[f"(jump {name(at)} {name(to)})",] = (at, to, over)
        return found

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        at, to, over = turn
        self._hand -= at == to
        self.board.pop(at, None)
        self.board[to] = self.me
        if over:
            del self.board[over]
        self.next_turn()

    def facts(self) -> set[str]:
        cells = {one.replace("tigers", "tiger").replace("goats", "goat") for one in super().facts()}
        return cells | {f"(hand {self._hand})", f"(caught {self._caught()})"}

    def result(self) -> dict[str, int] | None:
        return self.won_by("tigers") if self._caught() == 5 else super().result()


class Surakarta(Lined):
    """Captures run through loops."""

    roles = ("black", "white")

    def __init__(self) -> None:
        super().__init__(6, 6, 200)
        self.board = {at: self.roles[at[1] > 3] for at in self.squares if at[1] not in (3, 4)}

    def lines(self, at: Square) -> list[Square]:
        return QUEEN

    @staticmethod
    def _round(at: Square, step: Square) -> tuple[Square, Square] | None:
        """Where a loop comes back that starts from the end of a line, and in which direction."""
        line = at[0] if step[1] else at[1]
        if line in (1, 6):
            return None
        depth = min(line, 7 - line)  # 2 and 3 are the loops, from the edge
        near = line == depth
        if step[1]:  # from the top or the bottom to the left or the right
            return (1 if near else 6, depth if step[1] < 0 else 7 - depth), (1 if near else -1, 0)
        return (depth if step[0] < 0 else 7 - depth, 1 if near else 6), (0, 1 if near else -1)

    def _targets(self, start: Square) -> set[Square]:
        found = set()
        for first in QUEEN:
            if all(first):
                continue
            at, step, loops, seen = start, first, 0, set()
            while (at, step) not in seen:
                seen.add((at, step))
                if add(at, step) in self.squares:
                    at = add(at, step)
                elif (there := self._round(at, step)) is None:
                    break
                else:
                    at, step = there
                    loops += 1
                if at == start or at not in self.board:
                    continue
                if loops and self.board[at] == self.other:
                    found.add(at)
                break
        return found

    def turns(self) -> Turn:
        found: Turn = {(f"(move {name(a)} {name(b)})",): (a, b) for a, b in self.steps()}
        for at in self.mine():
            found |= {(f"(capture {name(at)} {name(to)})",): (at, to) for to in self._targets(at)}
        return found

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        at, to = turn
        self.board[to] = self.board.pop(at)
        self.next_turn()


class Morris(Lined):
    """Stones are placed, then moved; a closed mill takes an enemy, or wins.

    Args:
        stones: of each side.
        mills: rows of three.
        links: points that are joined, beside those that follow each other in a mill.
        wins: a mill wins; else it takes.
        most: after so many moves the match is drawn.
    """

    relations = frozenset({"cell", "hand"})

    def __init__(
        self, stones: int, mills: list[list[Square]], links: list[list[Square]], wins: bool, most: int
    ) -> None:
        super().__init__(0, 0, most)
        self.squares = sorted({at for mill in mills for at in mill})
        pairs = [pair for mill in mills if len(mill) == 3 for pair in (mill[:2], mill[1:])] + links
        self._joined = {(a, b) for pair in pairs for a, b in (pair, pair[::-1])}
        self._hands, self._mills, self._wins = [stones, stones], mills, wins
        self._taking = False

    def steps(self) -> list[tuple[Square, Square]]:
        return [(a, b) for a, b in self._joined if self.board.get(a) == self.me and self.free(b)]

    def _closed(self, role: str) -> list[Square]:
        """The points with stones of a role in mills."""
        return [at for mill in self._mills if all(self.board.get(one) == role for one in mill) for at in mill]

    def turns(self) -> Turn:
        if self._wins and self._closed(self.other):
            return {}
        if self._taking:
            theirs = {at for at, owner in self.board.items() if owner == self.other}
            loose = theirs - set(self._closed(self.other))
            return {(f"(take {name(at)})",): (at, None) for at in loose or theirs}
        if self._hands[self.mover]:
            return {(f"(place {name(at)})",): (None, at) for at in self.squares if self.free(at)}
        if not self._wins and len(self.mine()) < 3:
            return {}
        return {(f"(move {name(a)} {name(b)})",): (a, b) for a, b in self.steps()}

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        start, at = turn
        self.board.pop(start, None)
        if at is None:
            self._taking = False
            self.next_turn()
            return
        self._hands[self.mover] -= start is None
        self.board[at] = self.me
        if not self._wins and at in self._closed(self.me):
            self._taking = True
            self.taken_turns += 1
        else:
            self.next_turn()

    def facts(self) -> set[str]:
        hands = zip(self.roles, self._hands, strict=True)
        return super().facts() | {f"(hand {role} {number})" for role, number in hands}


class Teeko(Morris):
    """Four stones in a row or in a square."""

    roles = ("black", "red")

    def __init__(self) -> None:
        fours = [
            [add(at, step, times) for times in range(4)] for at in rectangle(5, 5) for step in QUEEN[:4]
        ] + [[at, add(at, (0, 1)), add(at, (1, 0)), add(at, (1, 1))] for at in rectangle(5, 5)]
        inside = [four for four in fours if set(four) <= set(rectangle(5, 5))]
        links = [[at, add(at, step)] for at in rectangle(5, 5) for step in QUEEN[:4]]
        super().__init__(4, inside, [one for one in links if set(one) <= set(rectangle(5, 5))], True, 100)


class Abalone(Lined):
    """Marbles on a hexagon of hexagons, pushed along their lines."""

    roles = ("black", "white")
    relations = frozenset({"cell", "lost"})
    ways = {"e": (1, 0), "w": (-1, 0), "n": (0, 1), "s": (0, -1), "ne": (1, 1), "sw": (-1, -1)}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__(0, 0, 200)
        self.squares = hexagon(5)
        low = [at for at in self.squares if at[1] < 3] + [(3, 3), (4, 3), (5, 3)]
        self.board = dict.fromkeys(low, "black") | {(10 - x, 10 - y): "white" for x, y in low}

    def _lost(self, role: str) -> int:
        return 14 - list(self.board.values()).count(role)

    def _pushed(self, at: Square, step: Square) -> list[Square]:
        """The marbles that a push moves, from the last to the first; none if it is forbidden."""
        line, sides = list[Square](), list[str]()
        while (side := self.board.get(at)) is not None:
            line.append(at)
            sides.append(side)
            at = add(at, step)
        own = next((n for n, side in enumerate(sides) if side != self.me), len(sides))
        off = at not in self.squares
        allowed = own <= 3 and len(sides) < 2 * own and self.me not in sides[own:]
        return line if allowed and not (off and own == len(sides)) else []

    def turns(self) -> Turn:
        found: Turn = {}
        if max(map(self._lost, self.roles)) == 6:
            return found
        for at in self.mine():
            for word, step in self.ways.items():
                if line := self._pushed(at, step):
                    found[f"(push {name(at)} {word})",] = (tuple(line), step)
            for along in ("e", "n", "ne"):
                for count in (2, 3):
                    group = [add(at, self.ways[along], n) for n in range(count)]
                    for word, step in self.ways.items():
                        aside = step not in (self.ways[along], tuple(-one for one in self.ways[along]))
                        own = all(self.board.get(one) == self.me for one in group)
                        if aside and own and all(self.free(add(one, step)) for one in group):
                            found[f"(shift {name(group[0])} {name(group[-1])} {word})",] = (
                                tuple(group),
                                step,
                            )
        return found

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        group, step = turn
        moved = {add(at, step): self.board.pop(at) for at in group}
        self.board |= {at: side for at, side in moved.items() if at in self.squares}
        self.next_turn()

    def facts(self) -> set[str]:
        return super().facts() | {f"(lost {role} {self._lost(role)})" for role in self.roles}
