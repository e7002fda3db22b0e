"""Second opinions on games in which several move at the same time, or more than two take part; see
:mod:`tests.games.oracles.match`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product
from typing import Final

from tests.games.oracles.match import Match, words
from tests.games.oracles.puzzles import STEPS, is_in, shifted
from tests.games.oracles.several import Repeated, Turns, versus

Place = tuple[str, int]
Pair = tuple[str, str]


class ElFarol(Repeated):
    roles = ("ann", "ben", "cem", "dan", "eva")
    choices = ("go", "stay")
    scale = 10

    def pay(self, joint: Sequence[str]) -> list[int]:
        fun = 2 * (list(joint).count("go") <= 3)
        return [fun if own == "go" else 1 for own in joint]


class LowestUnique(Repeated):
    roles = ("north", "east", "south", "west")
    choices = tuple(f"(name {n})" for n in range(1, 7))
    scale = 20

    def pay(self, joint: Sequence[str]) -> list[int]:
        alone = sorted(own for own in joint if list(joint).count(own) == 1)
        return [int(bool(alone) and own == alone[0]) for own in joint]

    def facts(self) -> set[str]:
        return {fact.replace("points", "wins") for fact in super().facts()}


class TwoThirds(Match):
    roles = ("red", "green", "blue")

    def __init__(self) -> None:
        self.chosen: list[int] = []

    def options(self) -> list[list[str]]:
        return [[f"(choose {n})" for n in range(10)] for _ in self.roles]

    def play(self, joint: Sequence[str]) -> None:
        self.chosen = [int(words(move)[1]) for move in joint]

    def facts(self) -> set[str]:
        chosen = zip(self.roles, self.chosen, strict=False)
        return {f"(chosen {role} {n})" for role, n in chosen} or {"waiting"}

    @property
    def over(self) -> bool:
        return bool(self.chosen)

    def goals(self) -> list[int | None]:
        if not self.chosen:
            return [50, 50, 50]
        wanted = sum(self.chosen) / 3 * 2 / 3
        off = [round(abs(n - wanted), 9) for n in self.chosen]
        share = {1: 100, 2: 50, 3: 33}[off.count(min(off))]
        return [share if one == min(off) else 0 for one in off]


class Morra(Match):
    roles = ("first", "second")

    def __init__(self) -> None:
        self.points = [0, 0]
        self.rounds = 0

    def options(self) -> list[list[str]]:
        return [[f"(show {f} {f + g})" for f in (1, 2, 3) for g in (1, 2, 3)] for _ in self.roles]

    def play(self, joint: Sequence[str]) -> None:
        shown = [list(map(int, words(move)[1:])) for move in joint]
        right = [call == shown[0][0] + shown[1][0] for _, call in shown]
        for i in (0, 1):
            self.points[i] += right[i] and not right[1 - i]
        self.rounds += 1

    def facts(self) -> set[str]:
        points = zip(self.roles, self.points, strict=True)
        return {f"(points {role} {n})" for role, n in points} | {f"(round {self.rounds})"}

    @property
    def over(self) -> bool:
        return 3 in self.points or self.rounds == 12

    def goals(self) -> list[int | None]:
        a, b = self.points
        return versus((a > b) - (a < b))


class OshiZumo(Match):
    """The wrestler's place is counted from the middle."""

    roles = ("red", "blue")

    def __init__(self) -> None:
        self.coins = [10, 10]
        self.place = 0

    def options(self) -> list[list[str]]:
        return [[f"(bid {n})" for n in (range(1, coins + 1) if coins else [0])] for coins in self.coins]

    def play(self, joint: Sequence[str]) -> None:
        a, b = (int(words(move)[1]) for move in joint)
        self.place += (a > b) - (a < b)
        self.coins = [self.coins[0] - a, self.coins[1] - b]

    def facts(self) -> set[str]:
        coins = zip(self.roles, self.coins, strict=True)
        over = {-4: "(over red)", 4: "(over blue)"}.get(self.place)
        return {f"(coins {role} {n})" for role, n in coins} | {over or f"(wrestler {4 + self.place})"}

    @property
    def over(self) -> bool:
        return abs(self.place) == 4 or self.coins == [0, 0]

    def goals(self) -> list[int | None]:
        return versus((self.place > 0) - (self.place < 0))


class Soccer(Match):
    roles = ("red", "blue", "random")

    def __init__(self) -> None:
        self.at = {"red": ("b", 3), "blue": ("d", 2)}
        self.ball = self.scored = ""
        self.steps = 0

    def options(self) -> list[list[str]]:
        if not self.ball:
            return [["noop"], ["noop"], ["(give red)", "(give blue)"]]
        own = ["stand", *(f"(go {way})" for way in STEPS)]
        return [own, own, ["(first red)", "(first blue)"]]

    def play(self, joint: Sequence[str]) -> None:
        if not self.ball:
            self.ball = words(joint[2])[1]
            return
        self.steps += 1
        moves = dict(zip(self.roles, joint, strict=True))
        first = words(joint[2])[1]
        for role in (first, "blue" if first == "red" else "red"):
            if moves[role] != "stand" and not self.scored:
                self._go(role, words(moves[role])[1])

    def _go(self, role: str, way: str) -> None:
        other = "blue" if role == "red" else "red"
        (x, y), (i, j) = self.at[role], STEPS[way]
        to = shifted(x, i), y + j
        if to == self.at[other]:
            self.ball = other
        elif is_in("abcde", 4, *to):
            self.at[role] = to
        elif self.ball == role and y in (2, 3) and way == {"red": "right", "blue": "left"}[role]:
            self.scored = role

    def facts(self) -> set[str]:
        found = {f"(cell {x} {y} {role})" for role, (x, y) in self.at.items()} | {f"(step {self.steps})"}
        found |= {f"(scored {self.scored})"} if self.scored else set()
        return found | {f"(ball {self.ball})" if self.ball else "kickoff"}

    @property
    def over(self) -> bool:
        return bool(self.scored) or self.steps == 50

    def goals(self) -> list[int | None]:
        return [*versus((self.scored == "red") - (self.scored == "blue")), None]


class TronFour(Match):
    roles = ("red", "green", "blue", "yellow")

    def __init__(self) -> None:
        starts = [("b", 4), ("d", 7), ("g", 5), ("e", 2)]
        self.riders: dict[str, Place] = dict(zip(self.roles, starts, strict=True))
        self.walls = {at: role for role, at in self.riders.items()}
        self.fell: list[str] = []

    def options(self) -> list[list[str]]:
        own = [f"(go {way})" for way in STEPS]
        return [own if role in self.riders else ["noop"] for role in self.roles]

    def play(self, joint: Sequence[str]) -> None:
        aims = {}
        for role, move in zip(self.roles, joint, strict=True):
            if move != "noop":
                (x, y), (i, j) = self.riders[role], STEPS[words(move)[1]]
                aims[role] = shifted(x, i), y + j
        places = list(aims.values())
        good = {
            role: at for role, at in aims.items()
            if is_in("abcdefgh", 8, *at) and at not in self.walls and places.count(at) == 1
        }  # fmt: skip
        self.fell = [role for role in self.riders if role not in good]
        self.riders = good
        self.walls |= {at: role for role, at in good.items()}

    def facts(self) -> set[str]:
        found = {f"(cell {x} {y} {role})" for (x, y), role in self.walls.items()}
        found |= {f"(at {role} {x} {y})" for role, (x, y) in self.riders.items()}
        return found | {f"(fell {role})" for role in self.fell}

    @property
    def over(self) -> bool:
        return len(self.riders) < 2

    def goals(self) -> list[int | None]:
        if len(self.riders) == 1:
            return [100 if role in self.riders else 0 for role in self.roles]
        last = self.riders or self.fell
        return [50 if role in last else 0 for role in self.roles]


class ThreeConnect(Turns):
    roles = ("red", "yellow", "green")

    def __init__(self) -> None:
        super().__init__()
        self.board: dict[Place, str] = {}
        self.winner = ""

    def moves(self) -> list[str]:
        return [f"(drop {x})" for x in "abcdefghi" if (x, 6) not in self.board]

    def move(self, name: str, *arguments: str) -> None:
        x, role = arguments[0], self.roles[self.turn]
        y = 1 + sum((x, v) in self.board for v in range(1, 7))
        self.board[x, y] = role
        for i, j in ((1, 0), (0, 1), (1, 1), (1, -1)):
            row = "".join(
                "x" if self.board.get((shifted(x, k * i), y + k * j)) == role else "." for k in range(-3, 4)
            )
            if "xxxx" in row:
                self.winner = role

    def facts(self) -> set[str]:
        return {f"(cell {x} {y} {role})" for (x, y), role in self.board.items()} | {self.control}

    @property
    def over(self) -> bool:
        return bool(self.winner) or len(self.board) == 54

    def goals(self) -> list[int | None]:
        return [100 * (role == self.winner) if self.winner else 33 for role in self.roles]


class FourOthello(Turns):
    roles = ("red", "yellow", "green", "blue")

    def __init__(self) -> None:
        super().__init__()
        self.board = dict(zip([("c", 4), ("d", 4), ("d", 3), ("c", 3)], self.roles, strict=True))

    def _enclosed(self, at: Place) -> set[Place]:
        """What the role in turn turns over with a ball on a free square."""
        found = set[Place]()
        for i, j in product((-1, 0, 1), repeat=2):
            line = list[Place]()
            x, y = shifted(at[0], i), at[1] + j
            while (i or j) and self.board.get((x, y), self.roles[self.turn]) != self.roles[self.turn]:
                line.append((x, y))
                x, y = shifted(x, i), y + j
            found |= set(line) if (x, y) in self.board else set()
        return found

    def moves(self) -> list[str]:
        free = [(x, y) for x in "abcdef" for y in range(1, 7) if (x, y) not in self.board]
        around = list(product((-1, 0, 1), repeat=2))
        near = [(x, y) for x, y in free if any((shifted(x, i), y + j) in self.board for i, j in around)]
        return [f"(place {x} {y})" for x, y in [at for at in free if self._enclosed(at)] or near]

    def move(self, name: str, *arguments: str) -> None:
        at = arguments[0], int(arguments[1])
        self.board |= dict.fromkeys([*self._enclosed(at), at], self.roles[self.turn])

    def facts(self) -> set[str]:
        return {f"(cell {x} {y} {role})" for (x, y), role in self.board.items()} | {self.control}

    @property
    def over(self) -> bool:
        return len(self.board) == 36

    def goals(self) -> list[int | None]:
        counts = [list(self.board.values()).count(role) for role in self.roles]
        share = {1: 100, 2: 50, 3: 33, 4: 25}[counts.count(max(counts))]
        return [share if n == max(counts) else 0 for n in counts]


class Diplomats(Match):
    """Orders are resolved from the weakest: a march is struck out until all that are left succeed."""

    roles = ("red", "green", "blue")
    ring: Final = ("a 1", "b 1", "c 2", "c 3", "b 3", "a 2")

    def __init__(self) -> None:
        self.armies = dict(zip(self.ring, [role for role in self.roles for _ in (1, 2)], strict=True))
        self.land = dict(self.armies)
        self.rounds = 0

    def _beside(self, province: str) -> list[str]:
        if province == "b 2":
            return list(self.ring)
        i = self.ring.index(province)
        return [self.ring[i - 1], self.ring[(i + 1) % 6], "b 2"]

    def options(self) -> list[list[str]]:
        found = []
        for role in self.roles:
            own = ["wait"]
            for p in (p for p, owner in self.armies.items() if owner == role):
                for q in self._beside(p):
                    own += [f"(march {p} {q})"] if self.armies.get(q) != role else []
                    own += [f"(help {p} {q} {other})" for other in self.roles if other != role]
            found.append(own)
        return found

    def play(self, joint: Sequence[str]) -> None:
        marches, aid = dict[str, Pair](), list[tuple[str, str, str]]()
        for role, move in zip(self.roles, joint, strict=True):
            if move != "wait":
                name, x, y, u, v, *friend = words(move)
                if name == "march":
                    marches[role] = f"{x} {y}", f"{u} {v}"
                else:
                    aid.append((f"{x} {y}", f"{u} {v}", friend[0]))
        helps = [
            (to, friend) for at, to, friend in aid
            if not any(q == at and p != to for p, q in marches.values())
        ]  # fmt: skip
        power = {role: 1 + helps.count((q, role)) for role, (p, q) in marches.items()}
        going = dict(marches)
        while True:
            struck = [role for role in going if not self._succeeds(role, going, marches, power, helps)]
            if not struck:
                break
            for role in struck:
                del going[role]
        for p, q in going.values():
            self.armies.pop(p, None)
            self.armies.pop(q, None)
        for role, (_, q) in going.items():
            self.armies[q] = self.land[q] = role
        self.rounds += 1

    def _succeeds(
        self,
        role: str,
        going: dict[str, Pair],
        marches: dict[str, Pair],
        power: dict[str, int],
        helps: list[Pair],
    ) -> bool:
        p, q = marches[role]
        for other, (start, end) in marches.items():
            rival = other != role and (end == q or (start, end) == (q, p))
            if rival and power[role] <= power[other]:
                return False
        owner = self.armies.get(q)
        if owner is None or (marches.get(owner, ("", ""))[0] == q and owner in going):
            return True
        stays = 1 if marches.get(owner, ("", ""))[0] == q else 1 + helps.count((q, owner))
        return power[role] > stays

    def facts(self) -> set[str]:
        found = {f"(cell {p} {role})" for p, role in self.armies.items()} | {f"(round {self.rounds})"}
        return found | {f"(cell {p} {role}land)" for p, role in self.land.items() if p not in self.armies}

    @property
    def over(self) -> bool:
        return self.rounds == 10 or max(self.goals(), key=lambda goal: goal or 0) == 100

    def goals(self) -> list[int | None]:
        counts = [list(self.land.values()).count(role) for role in self.roles]
        return [100 if n >= 5 else 14 * n for n in counts]


class Hidden(Match):
    """Three players in turn after chance, who is the last role."""

    roles = ("first", "second", "third", "random")

    def __init__(self) -> None:
        self.turn = 3

    def next_turn(self) -> None:
        """The next player's, or the first one's after chance."""
        self.turn = 0 if self.turn == 3 else (self.turn + 1) % 3

    @property
    def control(self) -> set[str]:
        """Whose turn it is; nobody's at the end."""
        return set() if self.over else {f"(control {self.roles[self.turn]})"}


class ThreeKuhn(Hidden):
    def __init__(self) -> None:
        super().__init__()
        self.cards: list[int] = []
        self.actions: list[tuple[int, str]] = []

    @property
    def opener(self) -> int | None:
        """Who has bet."""
        return next((player for player, action in self.actions if action == "bet"), None)

    def options(self) -> list[list[str]]:
        found = [["noop"] for _ in self.roles]
        if self.turn == 3:
            found[3] = [f"(deal {a} {b} {c})" for a, b, c in permutations((1, 2, 3, 4), 3)]
        else:
            found[self.turn] = ["check", "bet"] if self.opener is None else ["fold", "call"]
        return found

    def play(self, joint: Sequence[str]) -> None:
        if self.turn == 3:
            self.cards = list(map(int, words(joint[3])[1:]))
        else:
            self.actions.append((self.turn, joint[self.turn]))
        self.next_turn()

    def seen(self, joint: Sequence[str]) -> list[set[str]]:
        if self.turn == 3:
            return [{f"(card {card})"} for card in words(joint[3])[1:]] + [set()]
        own = {f"(action {self.roles[self.turn]} {joint[self.turn]})"}
        after = ThreeKuhn()
        after.actions = [*self.actions, (self.turn, joint[self.turn])]
        if after.over:
            own |= {f"(shows {role} {card})" for role, card in zip(self.roles, self.cards, strict=False)}
        return [own, own, own, set()]

    def facts(self) -> set[str]:
        past = {"check": "checked", "bet": "bet", "call": "called", "fold": "folded"}
        found = {f"(holds {role} {card})" for role, card in zip(self.roles, self.cards, strict=False)}
        return found | {f"({past[action]} {self.roles[p]})" for p, action in self.actions} | self.control

    @property
    def over(self) -> bool:
        names = [action for _, action in self.actions]
        return names == ["check"] * 3 or sum(name in ("fold", "call") for name in names) == 2

    def goals(self) -> list[int | None]:
        if not self.over:
            return [50, 50, 50, None]
        put = [1 + any(p == i and a in ("bet", "call") for p, a in self.actions) for i in range(3)]
        inside = [i for i in range(3) if (i, "fold") not in self.actions]
        winner = max(inside, key=lambda i: self.cards[i])
        return [*(50 + 10 * (sum(put) * (i == winner) - put[i]) for i in range(3)), None]


class ThreeLiars(Hidden):
    def __init__(self) -> None:
        super().__init__()
        self.dice: list[int] = []
        self.bid: tuple[int, int] | None = None
        self.caller: int | None = None

    def options(self) -> list[list[str]]:
        found = [["noop"] for _ in self.roles]
        if self.turn == 3:
            found[3] = [f"(throw {a} {b} {c})" for a, b, c in product(range(1, 7), repeat=3)]
        else:
            bids = list(product((1, 2, 3), range(1, 7)))
            higher = [bid for bid in bids if self.bid is None or bid > self.bid]
            found[self.turn] = [f"(bid {q} {n})" for q, n in higher] + (["call"] if self.bid else [])
        return found

    def play(self, joint: Sequence[str]) -> None:
        name, *arguments = words(joint[self.turn])
        if name == "throw":
            self.dice = list(map(int, arguments))
        elif name == "call":
            self.caller = self.turn
        else:
            self.bid = int(arguments[0]), int(arguments[1])
        self.next_turn()

    def seen(self, joint: Sequence[str]) -> list[set[str]]:
        name, *arguments = words(joint[self.turn])
        if name == "throw":
            return [{f"(mine {n})"} for n in arguments] + [set()]
        if name == "call":
            own = {f"(shows {role} {n})" for role, n in zip(self.roles, self.dice, strict=False)}
        else:
            own = {f"(says {self.roles[self.turn]} {' '.join(arguments)})"}
        return [own, own, own, set()]

    def facts(self) -> set[str]:
        found = {f"(die {role} {n})" for role, n in zip(self.roles, self.dice, strict=False)}
        found |= {f"(bid {self.bid[0]} {self.bid[1]})"} if self.bid else set()
        return (
            found | self.control | (set() if self.caller is None else {f"(called {self.roles[self.caller]})"})
        )

    @property
    def over(self) -> bool:
        return self.caller is not None

    def goals(self) -> list[int | None]:
        if self.caller is None or self.bid is None:
            return [50, 50, 50, None]
        right = self.dice.count(self.bid[1]) >= self.bid[0]
        bidder = (self.caller - 1) % 3
        return [*({self.caller: 100 * (not right), bidder: 100 * right}.get(i, 50) for i in range(3)), None]
