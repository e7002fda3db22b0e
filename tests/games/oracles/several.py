"""Second opinions on small games of several roles, of chance and of hidden information: see
:mod:`tests.games.oracles.match`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from tests.games.oracles.match import Match, words


class Turns(Match):
    """Roles that move in turn; others play noop."""

    def __init__(self) -> None:
        self.turn = 0

    @abstractmethod
    def moves(self) -> list[str]:
        """What the role in turn may do."""

    def move(self, name: str, *arguments: str) -> None:
        """Do it; the turn goes on to the next role."""
        raise NotImplementedError

    def options(self) -> list[list[str]]:
        return [self.moves() if i == self.turn else ["noop"] for i in range(len(self.roles))]

    def play(self, joint: Sequence[str]) -> None:
        self.move(*words(joint[self.turn]))
        self.turn = (self.turn + 1) % len(self.roles)

    @property
    def control(self) -> str:
        """The fact whose turn it is."""
        return f"(control {self.roles[self.turn]})"


class Repeated(Match):
    """Rounds in which all choose at the same time, and earn points."""

    choices: tuple[str, ...] = ()
    scale = 0
    """A goal for each point."""

    def __init__(self) -> None:
        self.rounds = 0
        self.points = [0] * len(self.roles)

    @abstractmethod
    def pay(self, joint: Sequence[str]) -> list[int]:
        """What each role earns in a round."""

    def options(self) -> list[list[str]]:
        return [list(self.choices) for _ in self.roles]

    def play(self, joint: Sequence[str]) -> None:
        self.points = [old + new for old, new in zip(self.points, self.pay(joint), strict=True)]
        self.rounds += 1

    def facts(self) -> set[str]:
        points = zip(self.roles, self.points, strict=True)
        return {f"(round {self.rounds})"} | {f"(points {role} {n})" for role, n in points}

    @property
    def over(self) -> bool:
        return self.rounds == 5

    def goals(self) -> list[int | None]:
        return [self.scale * n for n in self.points]


class StagHunt(Repeated):
    roles = ("left", "right")
    choices = ("stag", "hare")
    scale = 5

    def pay(self, joint: Sequence[str]) -> list[int]:
        if joint[0] == joint[1]:
            return [4, 4] if joint[0] == "stag" else [2, 2]
        return [3 if own == "hare" else 0 for own in joint]


class BattleOfSexes(Repeated):
    roles = ("first", "second")
    choices = ("opera", "football")
    scale = 10

    def pay(self, joint: Sequence[str]) -> list[int]:
        if joint[0] != joint[1]:
            return [0, 0]
        return [2, 1] if joint[0] == "opera" else [1, 2]


class PublicGoods(Repeated):
    roles = ("red", "green", "blue")
    choices = ("give", "keep")
    scale = 5

    def pay(self, joint: Sequence[str]) -> list[int]:
        given = list(joint).count("give")
        return [given if own == "give" else given + 2 for own in joint]


class Centipede(Turns):
    roles = ("first", "second")

    def __init__(self) -> None:
        super().__init__()
        self.shares = [4, 1]
        self.passed = 0
        self.taker: int | None = None

    def moves(self) -> list[str]:
        return ["take", "pass"]

    def move(self, name: str, *arguments: str) -> None:
        if name == "take":
            self.taker = self.turn
        else:
            self.passed += 1
            self.shares = [2 * n for n in self.shares]

    def facts(self) -> set[str]:
        taken = set() if self.taker is None else {f"(taken {self.roles[self.taker]})"}
        return taken | {self.control, f"(stage {self.passed})"}

    @property
    def over(self) -> bool:
        return self.taker is not None or self.passed == 6

    def goals(self) -> list[int | None]:
        if not self.over:
            return [50, 50]
        points = dict(
            zip((1, 2, 4, 8, 16, 32, 64, 128, 256), (0, 10, 15, 25, 35, 50, 65, 85, 100), strict=True)
        )
        more, less = (points[n] for n in self.shares)
        return [less, more] if self.taker == 1 else [more, less]


class Blotto(Match):
    roles = ("blue", "white")

    def __init__(self) -> None:
        self.armies: list[list[int]] = []

    def options(self) -> list[list[str]]:
        plans = [f"(deploy {a} {b} {10 - a - b})" for a in range(11) for b in range(11 - a)]
        return [plans, plans]

    def play(self, joint: Sequence[str]) -> None:
        self.armies = [list(map(int, words(own)[1:])) for own in joint]

    def facts(self) -> set[str]:
        if not self.armies:
            return {"waiting"}
        return {
            f"(sent {role} {field} {n})"
            for role, army in zip(self.roles, self.armies, strict=True)
            for field, n in enumerate(army, 1)
        }

    @property
    def over(self) -> bool:
        return bool(self.armies)

    def goals(self) -> list[int | None]:
        fields = list(zip(*self.armies, strict=True)) if self.armies else []
        return versus(sum(a > b for a, b in fields) - sum(a < b for a, b in fields))


def versus(lead: int) -> list[int | None]:
    """Goals of two roles, the first of which leads by so much."""
    return [50, 50] if not lead else [100, 0] if lead > 0 else [0, 100]


class Goofspiel(Match):
    roles = ("first", "second", "random")

    def __init__(self) -> None:
        self.hands = [set(range(1, 6)), set(range(1, 6))]
        self.deck = set(range(1, 6))
        self.prize = 0
        self.points = [0, 0]

    def options(self) -> list[list[str]]:
        if not self.prize:
            return [["noop"], ["noop"], [f"(turn {n})" for n in self.deck]]
        return [*([f"(bid {n})" for n in hand] for hand in self.hands), ["noop"]]

    def play(self, joint: Sequence[str]) -> None:
        if not self.prize:
            self.prize = int(words(joint[2])[1])
            self.deck.remove(self.prize)
            return
        bids = [int(words(own)[1]) for own in joint[:2]]
        for hand, bid in zip(self.hands, bids, strict=True):
            hand.remove(bid)
        if bids[0] != bids[1]:
            self.points[bids.index(max(bids))] += self.prize
        self.prize = 0

    def facts(self) -> set[str]:
        found = {f"(deck {n})" for n in self.deck} | ({f"(prize {self.prize})"} if self.prize else set())
        for role, hand, points in zip(self.roles, self.hands, self.points, strict=False):
            found |= {f"(hand {role} {n})" for n in hand} | {f"(points {role} {points})"}
        return found

    @property
    def over(self) -> bool:
        return not self.hands[0]

    def goals(self) -> list[int | None]:
        return [*versus(self.points[0] - self.points[1]), None]


class HiddenGoofspiel(Goofspiel):
    def seen(self, joint: Sequence[str]) -> list[set[str]]:
        if not self.prize:
            percept = f"(prize {words(joint[2])[1]})"
        else:
            bids = [int(words(own)[1]) for own in joint[:2]]
            percept = "tie" if bids[0] == bids[1] else f"(winner {self.roles[bids.index(max(bids))]})"
        return [{percept}, {percept}, set()]


class SealedAuction(Match):
    roles = ("first", "second", "random")

    def __init__(self) -> None:
        self.values: list[int] = []
        self.bids: list[int] = []

    def options(self) -> list[list[str]]:
        if not self.values:
            draws = [f"(draw {m} {n})" for m in range(1, 6) for n in range(1, 6)]
            return [["noop"], ["noop"], draws]
        return [*([f"(bid {n})" for n in range(value + 1)] for value in self.values), ["noop"]]

    def play(self, joint: Sequence[str]) -> None:
        if self.values:
            self.bids = [int(words(own)[1]) for own in joint[:2]]
        else:
            self.values = list(map(int, words(joint[2])[1:]))

    def facts(self) -> set[str]:
        found = {f"(value {role} {n})" for role, n in zip(self.roles, self.values, strict=False)}
        return (found | {f"(paid {role} {n})" for role, n in zip(self.roles, self.bids, strict=False)}) or {
            "waiting"
        }

    @property
    def over(self) -> bool:
        return bool(self.bids)

    def goals(self) -> list[int | None]:
        if not self.bids:
            return [50, 50, None]
        top = max(self.bids)
        winners = self.bids.count(top)
        return [
            *(20 // winners * (value - bid) if bid == top else 0
              for value, bid in zip(self.values, self.bids, strict=True)),
            None,
        ]  # fmt: skip

    def seen(self, joint: Sequence[str]) -> list[set[str]]:
        if not self.values:
            return [*({f"(worth {n})"} for n in words(joint[2])[1:]), set()]
        both = {
            f"(offer {role} {words(own)[1]})" for role, own in zip(self.roles[:2], joint[:2], strict=True)
        }
        return [both, both, set()]


class Pig(Match):
    roles = ("first", "second", "random")

    def __init__(self) -> None:
        self.points = [0, 0]
        self.sum = 0
        self.turns = 0
        self.rolling = False
        self.die = ""

    def options(self) -> list[list[str]]:
        if self.rolling:
            return [["noop"], ["noop"], [f"(throw {d})" for d in range(1, 7)]]
        return [*(["roll", "hold"] if i == self.turns % 2 else ["noop"] for i in (0, 1)), ["noop"]]

    def play(self, joint: Sequence[str]) -> None:
        own = self.turns % 2
        self.die = joint[2].replace("throw", "die") if self.rolling else ""
        if not self.rolling and joint[own] == "roll":
            self.rolling = True
            return
        if self.rolling and joint[2] != "(throw 1)":
            self.sum += int(words(joint[2])[1])
        else:
            if not self.rolling:
                self.points[own] = min(100, self.points[own] + self.sum)
            self.sum = 0
            self.turns += 1
        self.rolling = False

    def facts(self) -> set[str]:
        own = self.turns % 2
        found = {f"(points {role} {n})" for role, n in zip(self.roles, self.points, strict=False)}
        found |= {f"(reached {min(100, self.points[own] + self.sum)})", f"(turn {self.roles[own]})"}
        found |= {self.die} if self.die else set()
        return found | {f"(turns {self.turns})"} | ({"rolling"} if self.rolling else set())

    @property
    def over(self) -> bool:
        return 100 in self.points or self.turns == 100

    def goals(self) -> list[int | None]:
        return [*(versus(self.points[0] - self.points[1]) if 100 in self.points else [50, 50]), None]


class DarkHex(Turns):
    roles = ("black", "white")

    def __init__(self) -> None:
        super().__init__()
        self.stones: dict[tuple[int, int], int] = {}
        self.met: list[set[tuple[int, int]]] = [set(), set()]

    def moves(self) -> list[str]:
        return [
            f"(try {'abcd'[x]} {y})" for x in range(4) for y in range(1, 5)
            if self.stones.get((x, y)) != self.turn and (x, y) not in self.met[self.turn]
        ]  # fmt: skip

    def play(self, joint: Sequence[str]) -> None:
        _, column, row = words(joint[self.turn])
        square = "abcd".index(column), int(row)
        if square in self.stones:
            self.met[self.turn].add(square)
        else:
            self.stones[square] = self.turn
            self.turn = 1 - self.turn

    def facts(self) -> set[str]:
        found = {f"(cell {'abcd'[x]} {y} {self.roles[r]})" for (x, y), r in self.stones.items()}
        for role, met in zip(self.roles, self.met, strict=True):
            found |= {f"(met {role} {'abcd'[x]} {y})" for x, y in met}
        return found | {self.control}

    def _connected(self, role: int) -> bool:
        own = {square for square, r in self.stones.items() if r == role}
        chain = {(x, y) for x, y in own if (x == 0 if role == 0 else y == 1)}
        while True:
            grown = {(x + i, y + j) for x, y in chain
                     for i, j in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))} & own  # fmt: skip
            if grown <= chain:
                return any(x == 3 if role == 0 else y == 4 for x, y in chain)
            chain |= grown

    @property
    def over(self) -> bool:
        return self._connected(0) or self._connected(1)

    def goals(self) -> list[int | None]:
        return versus(self._connected(0) - self._connected(1))

    def seen(self, joint: Sequence[str]) -> list[set[str]]:
        _, column, row = words(joint[self.turn])
        if ("abcd".index(column), int(row)) in self.stones:
            return [{"refused"} if i == self.turn else set() for i in (0, 1)]
        return [{"placed"} if i == self.turn else {"your_turn"} for i in (0, 1)]


class Minesweeper(Match):
    roles = ("player", "random")

    def __init__(self) -> None:
        self.mines: set[tuple[int, int]] = set()
        self.open: dict[tuple[int, int], int] = {}
        self.exploded = False
        self.squares = {(x, y) for x in range(5) for y in range(1, 6)}

    def options(self) -> list[list[str]]:
        if len(self.mines) < 4:
            free = self.squares - self.mines - {(0, 1)}
            return [["noop"], [f"(lay {'abcde'[x]} {y})" for x, y in free]]
        return [[f"(open {'abcde'[x]} {y})" for x, y in self.squares - set(self.open)], ["noop"]]

    def _around(self, square: tuple[int, int]) -> set[tuple[int, int]]:
        x, y = square
        return {(x + i, y + j) for i in (-1, 0, 1) for j in (-1, 0, 1)} & self.squares

    def _opened_by(self, joint: Sequence[str]) -> dict[tuple[int, int], int]:
        _, column, row = words(joint[0])
        waiting, found = [("abcde".index(column), int(row))], dict[tuple[int, int], int]()
        while waiting:
            square = waiting.pop()
            if square in found or square in self.mines:
                continue
            found[square] = len(self._around(square) & self.mines)
            if not found[square]:
                waiting += self._around(square)
        return {square: n for square, n in found.items() if square not in self.open}

    def play(self, joint: Sequence[str]) -> None:
        if len(self.mines) < 4:
            _, column, row = words(joint[1])
            self.mines.add(("abcde".index(column), int(row)))
            return
        opened = self._opened_by(joint)
        self.exploded = not opened
        self.open |= opened

    def facts(self) -> set[str]:
        found = {f"(cell {'abcde'[x]} {y} mine)" for x, y in self.mines}
        found |= {f"(cell {'abcde'[x]} {y} {n})" for (x, y), n in self.open.items()}
        found |= {f"(laying {4 - len(self.mines)})"} if len(self.mines) < 4 else set()
        return found | ({"exploded"} if self.exploded else set())

    @property
    def over(self) -> bool:
        return self.exploded or len(self.open) == 21

    def goals(self) -> list[int | None]:
        return [100 if len(self.open) == 21 else 0, None]

    def seen(self, joint: Sequence[str]) -> list[set[str]]:
        if len(self.mines) < 4:
            return [set(), set()]
        opened = {f"(number {'abcde'[x]} {y} {n})" for (x, y), n in self._opened_by(joint).items()}
        return [opened or {"boom"}, set()]


class Einstein(Match):
    roles = ("red", "blue", "random")

    def __init__(self) -> None:
        self.board: dict[tuple[int, int], tuple[int, int]] = {}
        self.laid = 0
        self.turn = 0
        self.die = 0
        red = {(x, 5 - y) for x in range(3) for y in range(3 - x)}
        self.starts = red, {(4 - x, 6 - y) for x, y in red}

    def _numbers(self, role: int) -> set[int]:
        return {n for r, n in self.board.values() if r == role}

    def _steps(self) -> list[str]:
        own = self._numbers(self.turn)
        allowed = {self.die} if self.die in own else {
            max([n for n in own if n < self.die], default=0), min([n for n in own if n > self.die], default=0)
        }  # fmt: skip
        forward = 1 if self.turn == 0 else -1
        found = []
        for (x, y), (role, n) in self.board.items():
            for i, j in ((1, 0), (0, -1), (1, -1)):
                u, v = x + forward * i, y + forward * j
                if role == self.turn and n in allowed and 0 <= u < 5 and 1 <= v <= 5:
                    found.append(f"(move {'abcde'[x]} {y} {'abcde'[u]} {v})")
        return found

    def options(self) -> list[list[str]]:
        if self.laid < 6:
            free = [
                [f"(place {'abcde'[x]} {y})" for x, y in own if (x, y) not in self.board]
                for own in self.starts
            ]
            return [*free, ["noop"]]
        if not self.die:
            return [["noop"], ["noop"], [f"(throw {n})" for n in range(1, 7)]]
        return [*(self._steps() if i == self.turn else ["noop"] for i in (0, 1)), ["noop"]]

    def play(self, joint: Sequence[str]) -> None:
        if self.laid < 6:
            self.laid += 1
            for role, own in enumerate(joint[:2]):
                _, x, y = words(own)
                self.board["abcde".index(x), int(y)] = role, self.laid
        elif not self.die:
            self.die = int(words(joint[2])[1])
        else:
            _, x, y, u, v = words(joint[self.turn])
            self.board["abcde".index(u), int(v)] = self.board.pop(("abcde".index(x), int(y)))
            self.turn, self.die = 1 - self.turn, 0

    def facts(self) -> set[str]:
        found = {f"(cell {'abcde'[x]} {y} {self.roles[r]} {n})" for (x, y), (r, n) in self.board.items()}
        if self.laid < 6:
            return found | {f"(placing {self.laid + 1})"}
        return found | {f"(turn {self.roles[self.turn]})"} | ({f"(die {self.die})"} if self.die else set())

    def _winner(self) -> int | None:
        for role, corner in ((0, (4, 1)), (1, (0, 5))):
            if self.laid == 6 and (self.board.get(corner, (2, 0))[0] == role or not self._numbers(1 - role)):
                return role
        return None

    @property
    def over(self) -> bool:
        return self._winner() is not None

    def goals(self) -> list[int | None]:
        return [*versus({0: 1, 1: -1}.get(self._winner() if self.over else 2, 0)), None]  # type: ignore[arg-type]


class ThreeTicTacToe(Turns):
    roles = ("x", "o", "z")

    def __init__(self) -> None:
        super().__init__()
        self.board = [["."] * 5 for _ in range(5)]

    def moves(self) -> list[str]:
        return [f"(mark {'abcde'[x]} {y + 1})" for y in range(5) for x in range(5) if self.board[y][x] == "."]

    def move(self, name: str, *arguments: str) -> None:
        self.board[int(arguments[1]) - 1]["abcde".index(arguments[0])] = self.roles[self.turn]

    def facts(self) -> set[str]:
        marks = {
            f"(cell {'abcde'[x]} {y + 1} {own})"
            for y, row in enumerate(self.board)
            for x, own in enumerate(row)
        }
        return {mark for mark in marks if "." not in mark} | {self.control}

    def _winner(self) -> str:
        rows = ["".join(row) for row in self.board]
        columns = ["".join(column) for column in zip(*self.board, strict=True)]
        diagonals = [
            "".join(self.board[y][x] for y in range(5) for x in range(5) if x - y == d) for d in (-1, 0, 1)
        ]
        diagonals += [
            "".join(self.board[y][x] for y in range(5) for x in range(5) if x + y == d) for d in (3, 4, 5)
        ]
        return next((r for r in self.roles if any(4 * r in line for line in rows + columns + diagonals)), "")

    @property
    def over(self) -> bool:
        return bool(self._winner()) or not self.moves()

    def goals(self) -> list[int | None]:
        winner = self._winner()
        return [100 if role == winner else 0 if winner else 33 for role in self.roles]


class ThreeNim(Turns):
    roles = ("red", "green", "blue")

    def __init__(self) -> None:
        super().__init__()
        self.heaps = {"a": 3, "b": 4, "c": 5}

    def moves(self) -> list[str]:
        return [f"(take {heap} {n})" for heap, left in self.heaps.items() for n in range(1, left + 1)]

    def move(self, name: str, *arguments: str) -> None:
        self.heaps[arguments[0]] -= int(arguments[1])

    def facts(self) -> set[str]:
        return {f"(heap {heap} {n})" for heap, n in self.heaps.items()} | {self.control}

    @property
    def over(self) -> bool:
        return not any(self.heaps.values())

    def goals(self) -> list[int | None]:
        return [(0, 50, 100)[(i - self.turn) % 3] if self.over else 50 for i in range(3)]


class Chopsticks(Turns):
    roles = ("first", "second")

    def __init__(self) -> None:
        super().__init__()
        self.hands = [[1, 1], [1, 1]]
        self.steps = 0

    def moves(self) -> list[str]:
        own, other = self.hands[self.turn], self.hands[1 - self.turn]
        a, b = (1, 2) if self.turn == 0 else (2, 1)
        taps = [f"(tap {'ab'[s]} {a} {'ab'[t]} {b})" for s in (0, 1) for t in (0, 1) if own[s] and other[t]]
        ways = [(m, sum(own) - m) for m in range(5)]
        return taps + [f"(share {m} {n})" for m, n in ways if 0 <= n < 5 and sorted((m, n)) != sorted(own)]

    def move(self, name: str, *arguments: str) -> None:
        self.steps += 1
        if name == "share":
            self.hands[self.turn] = list(map(int, arguments))
            return
        s, t = ("ab".index(side) for side in arguments[::2])
        other = self.hands[1 - self.turn]
        other[t] += self.hands[self.turn][s]
        if other[t] > 4:
            other[t] = 0

    def facts(self) -> set[str]:
        found = {f"(step {self.steps})", self.control}
        for row, (left, right) in enumerate(self.hands, 1):
            found |= {f"(cell a {row} {left})", f"(cell b {row} {right})"}
        return found

    @property
    def over(self) -> bool:
        return [0, 0] in self.hands or self.steps == 60

    def goals(self) -> list[int | None]:
        return versus((self.hands[1] == [0, 0]) - (self.hands[0] == [0, 0]))
