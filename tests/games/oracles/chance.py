"""Second opinions on games of cards and dice, with what each role sees.

See :mod:`tests.games.oracles.match`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Final

from tests.games.oracles.match import Match, words
from tests.games.oracles.several import versus


class SnakesAndLadders(Match):
    roles = ("first", "second", "random")
    jumps: Final = {3: 14, 8: 21, 12: 25, 23: 34, 17: 5, 26: 10, 31: 18, 35: 22}

    def __init__(self) -> None:
        self.places = [0, 0]
        self.thrown = self.turns = 0

    def options(self) -> list[list[str]]:
        own = [["roll"], ["noop"]]
        return [*(own if self.turns % 2 == 0 else own[::-1]), [f"(throw {n})" for n in range(1, 7)]]

    def play(self, joint: Sequence[str]) -> None:
        self.thrown = int(words(joint[2])[1])
        to = self.places[self.turns % 2] + self.thrown
        if to <= 36:
            self.places[self.turns % 2] = self.jumps.get(to, to)
        self.turns += 1

    def facts(self) -> set[str]:
        found = {f"(control {self.roles[self.turns % 2]})", f"(turns {self.turns})"}
        signs = [(f"{'ladder' if start < to else 'snake'}{to}", start) for start, to in self.jumps.items()]
        for thing, place in [*zip(self.roles, self.places, strict=False), *signs]:
            row, column = divmod(place - 1, 6)
            x = "abcdef"[column if row % 2 == 0 else 5 - column]
            found |= {f"(cell {x} {row + 1} {thing})"} if place else set()
        return found | ({f"(die {self.thrown})"} if self.thrown else set())

    @property
    def over(self) -> bool:
        return 36 in self.places or self.turns == 200

    def goals(self) -> list[int | None]:
        return [*versus((self.places[0] == 36) - (self.places[1] == 36)), None]


class ThreeDice(Match):
    roles = ("player", "random")
    names: Final = ("1", "2", "3", "4", "5", "6", "run", "triple")

    def __init__(self) -> None:
        self.dice = [0, 0, 0]
        self.throws, self.score = 1, 0
        self.boxes = list(self.names)

    def options(self) -> list[list[str]]:
        if 0 in self.dice:
            return [["noop"], [f"(throw {n})" for n in range(1, 7)]]
        own = [f"(fill {box})" for box in self.boxes]
        if self.throws < 3:
            own += [f"(again {' '.join(c)})" for c in product(("yes", "no"), repeat=3) if "yes" in c]
        return [own, ["noop"]]

    def play(self, joint: Sequence[str]) -> None:
        name, *arguments = words(joint[1] if joint[0] == "noop" else joint[0])
        if name == "throw":
            self.dice[self.dice.index(0)] = int(arguments[0])
        elif name == "again":
            self.dice = [0 if a == "yes" else n for a, n in zip(arguments, self.dice, strict=True)]
            self.throws += 1
        else:
            self.score += self._worth(arguments[0])
            self.boxes.remove(arguments[0])
            self.dice, self.throws = [0, 0, 0], 1

    def _worth(self, box: str) -> int:
        low, middle, high = sorted(self.dice)
        if box == "run":
            return 15 if (low + 1, low + 2) == (middle, high) else 0
        if box == "triple":
            return 22 if low == high else 0
        return sum(n for n in self.dice if n == int(box))

    def facts(self) -> set[str]:
        found = {f"(die {i} {n})" if n else f"(loose {i})" for i, n in enumerate(self.dice, 1)}
        found |= {f"(box {box})" for box in self.boxes}
        return found | {f"(throws {self.throws})", f"(score {self.score})"}

    @property
    def over(self) -> bool:
        return not self.boxes

    def goals(self) -> list[int | None]:
        return [self.score, None]


class Blackjack(Match):
    roles = ("player", "random")
    cards: Final = ("ace", *map(str, range(2, 11)), "jack", "queen", "king")

    def __init__(self) -> None:
        self.hands: dict[str, list[str]] = {"player": [], "dealer": []}
        self.hole = ""
        self.stage = "deal1"
        self.doubled = False

    @classmethod
    def _low(cls, hand: list[str]) -> int:
        return min(22, sum(min(10, cls.cards.index(card) + 1) for card in hand))

    @classmethod
    def _value(cls, hand: list[str]) -> int:
        low = cls._low(hand)
        return low + 10 if "ace" in hand and low <= 11 else low

    def _natural(self, who: str) -> bool:
        return len(self.hands[who]) == 2 and self._value(self.hands[who]) == 21

    def options(self) -> list[list[str]]:
        if self.stage in ("decide", "more"):
            return [["hit", "stand"] + ["double"] * (self.stage == "decide"), ["noop"]]
        return [["noop"], ["turn"] if self.stage == "turn" else [f"(draw {card})" for card in self.cards]]

    def _drawer(self) -> str:
        return "dealer" if self.stage in ("deal2", "deal4", "dealer") else "player"

    def seen(self, joint: Sequence[str]) -> list[set[str]]:
        own = set()
        if joint[1] == "turn":
            own = {f"(turns {self.hole})"}
        elif self.stage == "deal4":
            own = {"hidden"}
        elif joint[1] != "noop":
            own = {f"(card {self._drawer()} {words(joint[1])[1]})"}
        return [own, set()]

    def play(self, joint: Sequence[str]) -> None:
        own, chance = joint
        if own != "noop":
            self.doubled = own == "double"
            self.stage = {"hit": "hit", "double": "last", "stand": "turn"}[own]
            return
        if self.stage == "deal4":
            self.hole = words(chance)[1]
            self.stage = "turn" if self._natural("player") else "decide"
            return
        self.hands[self._drawer() if chance != "turn" else "dealer"].append(
            self.hole if chance == "turn" else words(chance)[1]
        )
        if chance == "turn":
            self.hole = ""
        if self.stage in ("hit", "last"):
            bust = self._low(self.hands["player"]) == 22
            self.stage = "over" if bust else "more" if self.stage == "hit" else "turn"
        elif self.stage in ("turn", "dealer"):
            stands = self._value(self.hands["dealer"]) >= 17 or self._natural("player")
            self.stage = "over" if stands else "dealer"
        else:
            self.stage = "deal" + str(int(self.stage[-1]) + 1)

    def facts(self) -> set[str]:
        found = {f"(stage {self.stage})"} | ({"doubled"} if self.doubled else set())
        found |= {f"(hole {self.hole})"} if self.hole else set()
        for who, hand in self.hands.items():
            found.add(f"(points {who} {self._low(hand)})")
            found |= {f"(ace {who})"} if "ace" in hand else set()
            found |= {f"(last {who} {hand[-1]})"} if hand else set()
            found |= {f"(natural {who})"} if self._natural(who) else set()
        if self.hands["dealer"]:
            found.add(f"(up {self.hands['dealer'][0]})")
        return found

    @property
    def over(self) -> bool:
        return self.stage == "over"

    def goals(self) -> list[int | None]:
        own, dealer = (self._value(self.hands[who]) for who in ("player", "dealer"))
        naturals = self._natural("player"), self._natural("dealer")
        if not self.over or (naturals[0] and naturals[1]):
            return [50, None]
        if naturals[0]:
            return [87, None]
        if own > 21 or naturals[1] or own < dealer <= 21:
            return [0 if self.doubled else 25, None]
        if dealer > 21 or own > dealer:
            return [100 if self.doubled else 75, None]
        return [50, None]


class Coup(Match):
    roles = ("first", "second", "random")
    claims: Final = {"tax": "duke", "steal": "captain", "kill": "assassin", "block": "lady"}

    def __init__(self) -> None:
        self.cards: list[str] = []
        self.coins = [2, 2]
        self.turns, self.active = 0, 2
        self.claim: tuple[int, str] | None = None
        self.winner: int | None = None

    def options(self) -> list[list[str]]:
        found = [["noop"] for _ in self.roles]
        kinds = list(self.claims.values())
        if self.active == 2:
            found[2] = [f"(deal {c} {d})" for c, d in product(kinds, repeat=2)]
        elif self.claim:
            found[self.active] = ["pass", "doubt"] + ["block"] * (self.claim[1] == "assassin")
        else:
            own, other = self.coins[self.active], self.coins[1 - self.active]
            poor = [] if own >= 10 else ["income", "tax", *["steal"] * (other > 0), *["kill"] * (own >= 3)]
            found[self.active] = poor + ["coup"] * (own >= 7)
        return found

    def seen(self, joint: Sequence[str]) -> list[set[str]]:
        if self.active == 2:
            return [{f"(card {card})"} for card in words(joint[2])[1:]] + [set()]
        own = {f"(acts {self.roles[self.active]} {joint[self.active]})"}
        if joint[self.active] == "doubt":
            own |= {f"(shows {role} {card})" for role, card in zip(self.roles, self.cards, strict=False)}
        return [own, own, set()]

    def play(self, joint: Sequence[str]) -> None:
        if self.active == 2:
            self.cards, self.active = words(joint[2])[1:], 0
            return
        me, other, move = self.active, 1 - self.active, joint[self.active]
        claim, self.claim = self.claim, None
        if move in self.claims:
            self.claim, self.active = (me, self.claims[move]), other
            self.coins[me] -= 3 * (move == "kill")
        elif move == "coup":
            self.coins[me] -= 7
            self.winner = me
        elif move == "income":
            self.coins[me] += 1
            self._next(other)
        elif claim and move == "doubt":
            self.winner = other if self.cards[other] == claim[1] else me
        elif claim and claim[1] == "assassin":
            self.winner = other
        elif claim and claim[1] == "lady":
            self._next(other)
        elif claim:
            booty = 3 if claim[1] == "duke" else min(2, self.coins[me])
            self.coins[other] += booty
            self.coins[me] -= booty * (claim[1] == "captain")
            self._next(me)

    def _next(self, player: int) -> None:
        self.turns += 1
        self.active = player

    def facts(self) -> set[str]:
        found = {f"(holds {role} {card})" for role, card in zip(self.roles, self.cards, strict=False)}
        found |= {f"(coins {role} {n})" for role, n in zip(self.roles, self.coins, strict=False)}
        found |= {f"(claim {self.roles[self.claim[0]]} {self.claim[1]})"} if self.claim else set()
        control = f"(control {self.roles[self.active]})"
        found |= {control} if self.winner is None else {f"(winner {self.roles[self.winner]})"}
        return found | {f"(turns {self.turns})"}

    @property
    def over(self) -> bool:
        return self.winner is not None or self.turns == 40

    def goals(self) -> list[int | None]:
        return [*versus({0: 1, 1: -1, None: 0}[self.winner]), None]


class MiniStratego(Match):
    roles = ("red", "blue")
    ranks: Final = {"spy": 1, "miner": 2, "marshal": 3}

    def __init__(self) -> None:
        self.board: dict[tuple[str, int], tuple[int, str]] = {}
        self.hands = [["flag", "bomb", "marshal", "miner", "spy"] for _ in self.roles]
        self.made, self.active = 0, 0

    def _moves(self) -> list[str]:
        found = []
        for (x, y), (owner, kind) in self.board.items():
            for i, j in ((0, 1), (0, -1), (1, 0), (-1, 0)):
                u, v = chr(ord(x) + i), y + j
                inside = "a" <= u <= "e" and 1 <= v <= 4
                mine = owner == self.active and kind in self.ranks
                if mine and inside and self.board.get((u, v), (1 - owner, ""))[0] != owner:
                    found.append(f"(move {x} {y} {u} {v})")
        return found

    def options(self) -> list[list[str]]:
        if self.hands[0]:
            return [[f"(place {kind})" for kind in hand] for hand in self.hands]
        return [self._moves() if i == self.active else ["noop"] for i in (0, 1)]

    def _fight(self, move: str) -> tuple[str, str] | None:
        x, y, u, v = words(move)[1:]
        prey = self.board.get((u, int(v)))
        return prey and (self.board[x, int(y)][1], prey[1])

    def seen(self, joint: Sequence[str]) -> list[set[str]]:
        if self.hands[0]:
            return [{"(placed blue)"}, {"(placed red)"}]
        move = joint[self.active]
        own = {f"(moved {' '.join(words(move)[1:])})"}
        if fight := self._fight(move):
            own.add(f"(fight {fight[0]} {fight[1]})")
        return [own, own]

    def play(self, joint: Sequence[str]) -> None:
        if self.hands[0]:
            for i, move in enumerate(joint):
                column = "abcde"[5 - len(self.hands[i])]
                self.board[column, (1, 4)[i]] = i, words(move)[1]
                self.hands[i].remove(words(move)[1])
            return
        x, y, u, v = words(joint[self.active])[1:]
        fight = self._fight(joint[self.active])
        piece = self.board.pop((x, int(y)))
        if fight is None or self._wins(*fight):
            self.board[u, int(v)] = piece
        elif fight[0] == fight[1]:
            del self.board[u, int(v)]
        self.active = 1 - self.active
        self.made += 1

    def _wins(self, attacker: str, prey: str) -> bool:
        if prey in self.ranks:
            strong = self.ranks[attacker] > self.ranks[prey]
            return strong or (attacker, prey) == ("spy", "marshal")
        return prey == "flag" or attacker == "miner"

    def facts(self) -> set[str]:
        found = {f"(cell {x} {y} {self.roles[i]} {kind})" for (x, y), (i, kind) in self.board.items()}
        if self.hands[0]:
            found |= {
                f"(hand {r} {kind})" for r, hand in zip(self.roles, self.hands, strict=True) for kind in hand
            }
            return found | {f"(placing {6 - len(self.hands[0])})"}
        return found | {f"(control {self.roles[self.active]})", f"(moves {self.made})"}

    def _lead(self) -> int:
        if self.hands[0]:
            return 0
        for i in (0, 1):
            if (i, "flag") not in self.board.values():
                return 2 * i - 1
        return 0 if self._moves() else 2 * self.active - 1

    @property
    def over(self) -> bool:
        return self._lead() != 0 or self.made == 60

    def goals(self) -> list[int | None]:
        return versus(self._lead())


class CantStop(Match):
    roles = ("first", "second", "random")
    tops: Final = {c: min(c, 14 - c) for c in range(2, 13)}

    def __init__(self) -> None:
        self.camps = [dict.fromkeys(self.tops, 0) for _ in range(2)]
        self.runners: dict[int, int] = {}
        self.dice: list[int] = []
        self.moved, self.active, self.turns = False, 0, 0

    def _climb(self, columns: list[int]) -> dict[int, int] | None:
        """The runners after a step in each of some columns; None if one is impossible."""
        runners = dict(self.runners)
        for c in columns:
            runners[c] = runners.get(c, self.camps[self.active][c]) + 1
            closed = any(camp[c] == self.tops[c] for camp in self.camps)
            if closed or runners[c] > self.tops[c] or len(runners) > 3:
                return None
        return runners

    def _advances(self) -> list[list[int]]:
        a, b, c, d = self.dice
        found = []
        for pair in ([a + b, c + d], [a + c, b + d], [a + d, b + c]):
            single = [[one] for one in sorted(set(pair)) if self._climb([one])]
            found += [sorted(pair)] if self._climb(pair) else single
        return found

    def options(self) -> list[list[str]]:
        found = [["noop"], ["noop"], ["noop"]]
        if len(self.dice) < 4:
            found[2] = [f"(throw {n})" for n in range(1, 7)]
        elif self.moved:
            found[self.active] = ["roll", "stop"]
        else:
            ways = {
                f"({('advance', 'climb')[len(way) - 1]} {' '.join(map(str, way))})"
                for way in self._advances()
            }
            found[self.active] = sorted(ways) or ["bust"]
        return found

    def play(self, joint: Sequence[str]) -> None:
        if len(self.dice) < 4:
            self.dice.append(int(words(joint[2])[1]))
            return
        name, *arguments = words(joint[self.active])
        if name in ("advance", "climb"):
            self.runners = self._climb(list(map(int, arguments))) or {}
            self.moved = True
            return
        if name == "stop":
            self.camps[self.active] |= self.runners
        if name != "roll":
            self.runners = {}
            self.active = 1 - self.active
            self.turns += 1
        self.dice, self.moved = [], False

    def facts(self) -> set[str]:
        found = {
            f"(cell {c} {h} {r})"
            for r, camp in zip(self.roles, self.camps, strict=False)
            for c, h in camp.items()
            if h
        }
        found |= {f"(cell {c} {h} runner)" for c, h in self.runners.items()} | {f"(used {len(self.runners)})"}
        found |= {f"(die {i} {n})" for i, n in enumerate(self.dice, 1)} | ({"moved"} if self.moved else set())
        return found | {f"(control {self.roles[self.active]})", f"(turns {self.turns})"}

    def _won(self, player: int) -> bool:
        return sum(h == self.tops[c] for c, h in self.camps[player].items()) >= 2

    @property
    def over(self) -> bool:
        return self._won(0) or self._won(1) or self.turns == 60

    def goals(self) -> list[int | None]:
        return [*versus(self._won(0) - self._won(1)), None]
