"""Second opinions on more games of hidden information or of chance: see :mod:`tests.games.oracles.match`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import permutations, product
from typing import Final

from tests.games.oracles.match import LETTERS, Match, cell, words
from tests.games.oracles.several import Turns, versus

RANKS: Final = ("jack", "queen", "king")


class Told(Turns):
    """Roles that move in turn, of which each sees something else; a move says whose turn is next."""

    def play(self, joint: Sequence[str]) -> None:
        self.move(*words(joint[self.turn]))

    @abstractmethod
    def news(self, name: str, *arguments: str) -> list[set[str]]:
        """What each role perceives of a move of the role in turn."""

    def seen(self, joint: Sequence[str]) -> list[set[str]]:
        return self.news(*words(joint[self.turn]))


class Kuhn(Told):
    roles = ("first", "second", "random")
    done: Final = {"check": "checked", "bet": "bet", "fold": "folded", "call": "called"}

    def __init__(self) -> None:
        self.turn = 2
        self.cards: list[str] = []
        self.line: list[str] = []

    def moves(self) -> list[str]:
        if not self.cards:
            return [f"(deal {c} {d})" for c, d in permutations(RANKS, 2)]
        return ["fold", "call"] if "bet" in self.line else ["check", "bet"]

    def news(self, name: str, *arguments: str) -> list[set[str]]:
        if name == "deal":
            return [*({f"(card {card})"} for card in arguments), set()]
        both = {f"(move {self.roles[self.turn]} {name})"}
        compared = name == "call" or [*self.line, name] == ["check", "check"]
        shown = [f"(shown {role} {card})" for role, card in zip(self.roles, self.cards, strict=False)]
        return [both | ({other} if compared else set()) for other in shown[::-1]] + [set()]

    def move(self, name: str, *arguments: str) -> None:
        if name == "deal":
            self.cards = list(arguments)
        else:
            self.line.append(name)
        self.turn = len(self.line) % 2

    def facts(self) -> set[str]:
        found = {f"(holds {role} {card})" for role, card in zip(self.roles, self.cards, strict=False)}
        found |= {f"({self.done[name]} {self.roles[i % 2]})" for i, name in enumerate(self.line)}
        return found | {self.control}

    @property
    def over(self) -> bool:
        return self.line[-1:] in (["fold"], ["call"]) or self.line == ["check", "check"]

    def goals(self) -> list[int | None]:
        if not self.over:
            return [50, 50, None]
        best = self.cards.index(max(self.cards, key=RANKS.index))
        winner = len(self.line) % 2 if self.line[-1] == "fold" else best
        won = 25 * (1 + (self.line[-1] == "call"))
        return [50 + won, 50 - won, None] if winner == 0 else [50 - won, 50 + won, None]


class Leduc(Told):
    roles = ("first", "second", "random")

    def __init__(self) -> None:
        self.turn = 2
        self.dealt: list[tuple[str, str]] = []
        self.line: list[str] = []
        """The moves of this round of betting."""
        self.rounds = 0
        self.pays = [1, 1]
        self.folded: int | None = None
        self.shown = False

    def moves(self) -> list[str]:
        if self.turn == 2:
            cards = product(RANKS, ("spades", "hearts"))
            return [f"(deal {c} {s})" for c, s in cards if (c, s) not in self.dealt]
        bets = self.line.count("bet")
        return (["fold", "call"] if bets else ["check"]) + ["bet"] * (bets < 2)

    def _closes(self, name: str) -> bool:
        """Whether a move ends the round, and nobody folds."""
        return name == "call" or [*self.line, name] == ["check", "check"]

    def news(self, name: str, *arguments: str) -> list[set[str]]:
        own = [set[str](), set[str](), set[str]()]
        if name == "deal":
            for i in ([0], [1], [0, 1])[len(self.dealt)]:
                own[i].add(f"({'board' if len(self.dealt) == 2 else 'card'} {' '.join(arguments)})")
            return own
        for i in (0, 1):
            own[i].add(f"(move {self.roles[self.turn]} {name})")
            if self.rounds == 2 and self._closes(name):
                own[i].add(f"(shown {' '.join(self.dealt[1 - i])})")
        return own

    def move(self, name: str, *arguments: str) -> None:
        me, other = self.turn, 1 - self.turn
        if name == "deal":
            self.dealt.append((arguments[0], arguments[1]))
            self.turn = 2 if len(self.dealt) == 1 else 0
            self.rounds = max(0, len(self.dealt) - 1)
        elif name == "fold":
            self.folded = me
        elif self._closes(name):
            self.pays[me] = self.pays[other]
            self.line = []
            self.shown = self.rounds == 2
            self.rounds, self.turn = 2, 2
        else:
            if name == "bet":
                self.pays[me] = self.pays[other] + 2 * self.rounds
            self.line.append(name)
            self.turn = other

    def facts(self) -> set[str]:
        found = {f"(holds {role} {c} {s})" for role, (c, s) in zip(self.roles, self.dealt[:2], strict=False)}
        found |= {f"(board {c} {s})" for c, s in self.dealt[2:]}
        found |= {f"(pays {role} {n})" for role, n in zip(self.roles, self.pays, strict=False)}
        found |= {f"(round {self.rounds})", f"(bets {self.line.count('bet')})"}
        found |= {"checked"} if self.line == ["check"] else set()
        found |= {f"(folded {self.roles[self.folded]})"} if self.folded is not None else set()
        return found | {"over" if self.over else self.control}

    @property
    def over(self) -> bool:
        return self.shown or self.folded is not None

    def goals(self) -> list[int | None]:
        lead = 0
        if self.folded is not None:
            lead = 2 * self.folded - 1
        elif self.shown:
            one, two, common = (RANKS.index(card) for card, _ in self.dealt)
            strength = [(own == common, own) for own in (one, two)]
            lead = (strength[0] > strength[1]) - (strength[0] < strength[1])
        won = 3 * min(self.pays) * lead
        return [50 + won, 50 - won, None]


class MontyHall(Told):
    roles = ("candidate", "random")

    def __init__(self) -> None:
        self.turn = 1
        self.step = 1
        self.car = self.chosen = self.opened = 0

    def moves(self) -> list[str]:
        if self.step == 4:
            return ["stay", "switch"]
        doors = [d for d in (1, 2, 3) if self.step < 3 or d not in (self.car, self.chosen)]
        return [f"({('hide', 'choose', 'open')[self.step - 1]} {d})" for d in doors]

    def news(self, name: str, *arguments: str) -> list[set[str]]:
        own = {f"(opened {arguments[0]})"} if name == "open" else set[str]()
        if self.step == 4:
            own = {f"(result {'car' if (self.chosen == self.car) == (name == 'stay') else 'goat'})"}
        return [own, set()]

    def move(self, name: str, *arguments: str) -> None:
        if name == "hide":
            self.car = int(arguments[0])
        elif name == "choose":
            self.chosen = int(arguments[0])
        elif name == "open":
            self.opened = int(arguments[0])
        elif name == "switch":
            self.chosen = 6 - self.chosen - self.opened
        self.step += 1
        self.turn = self.step % 2

    def facts(self) -> set[str]:
        doors = {"car": self.car, "chosen": self.chosen, "opened": self.opened}
        return {f"({name} {door})" for name, door in doors.items() if door} | {f"(step {self.step})"}

    @property
    def over(self) -> bool:
        return self.step == 5

    def goals(self) -> list[int | None]:
        return [100 if self.over and self.chosen == self.car else 0, None]


class NumberGuessing(Told):
    roles = ("player", "random")

    def __init__(self) -> None:
        self.turn = 1
        self.secret = self.named = self.step = 0

    def moves(self) -> list[str]:
        if not self.secret:
            return [f"(think {n})" for n in range(1, 17)]
        return [f"(ask {n})" for n in range(1, 16)] + [f"(name {n})" for n in range(1, 17)]

    def news(self, name: str, *arguments: str) -> list[set[str]]:
        number = int(arguments[0])
        if name == "ask":
            return [{"yes" if self.secret <= number else "no"}, set()]
        return [{"right"} if name == "name" and number == self.secret else set(), set()]

    def move(self, name: str, *arguments: str) -> None:
        if name == "name":
            self.named = int(arguments[0])
            return
        if name == "think":
            self.secret = int(arguments[0])
        self.step += 1
        self.turn = 0

    @property
    def _right(self) -> bool:
        return self.named != 0 and self.named == self.secret

    def facts(self) -> set[str]:
        found = {f"(step {self.step})"} | ({f"(secret {self.secret})"} if self.secret else set())
        return found | ({"over"} if self.named else set()) | ({"right"} if self._right else set())

    @property
    def over(self) -> bool:
        return self.named != 0 or self.step == 9

    def goals(self) -> list[int | None]:
        questions = self.step - 1
        return [100 - 10 * max(0, questions - 4) if self._right else 0, None]


class Mastermind(Told):
    roles = ("breaker", "random")
    codes: Final = list(product(("red", "orange", "yellow", "green", "blue", "violet"), repeat=4))

    def __init__(self) -> None:
        self.turn = 1
        self.code: list[str] = []
        self.guesses: list[list[str]] = []

    def moves(self) -> list[str]:
        if len(self.code) < 4:
            return [f"(hide {len(self.code) + 1} {c})" for c in sorted({code[0] for code in self.codes})]
        return [f"(guess {' '.join(code)})" for code in self.codes]

    def news(self, name: str, *arguments: str) -> list[set[str]]:
        if name == "hide":
            return [set(), set()]
        black = sum(a == b for a, b in zip(self.code, arguments, strict=True))
        left = list(self.code)
        for colour in arguments:
            if colour in left:
                left.remove(colour)
        return [{f"(black {black})", f"(white {4 - len(left) - black})"}, set()]

    def move(self, name: str, *arguments: str) -> None:
        if name == "hide":
            self.code.append(arguments[1])
            self.turn = int(len(self.code) < 4)
        else:
            self.guesses.append(list(arguments))

    @property
    def _broken(self) -> bool:
        return self.code in self.guesses

    def facts(self) -> set[str]:
        found = {f"(peg {p} {c})" for p, c in enumerate(self.code, 1)} | (
            {"broken"} if self._broken else set()
        )
        hidden = len(self.code)
        return found | {f"(hiding {hidden + 1})" if hidden < 4 else f"(step {len(self.guesses) + 1})"}

    @property
    def over(self) -> bool:
        return self._broken or len(self.guesses) == 10

    def goals(self) -> list[int | None]:
        return [110 - 10 * len(self.guesses) if self._broken else 0, None]


SQUARES: Final = [(x, y) for x in (1, 2, 3) for y in (1, 2, 3)]
BOARD: Final = [(x, y) for x in (1, 2, 3, 4) for y in (1, 2, 3, 4)]
THREES: Final = [
    {(1, 1), (2, 2), (3, 3)},
    {(1, 3), (2, 2), (3, 1)},
    *({(i, j) for j in (1, 2, 3)} for i in (1, 2, 3)),
    *({(j, i) for j in (1, 2, 3)} for i in (1, 2, 3)),
]
Square = tuple[int, int]


def at(letter: str, number: str) -> Square:
    """A square of a move, counted from 1."""
    return LETTERS.index(letter) + 1, int(number)


def said(name: str, square: Square) -> str:
    """A word and a square as a move or a fact."""
    return f"({name} {LETTERS[square[0] - 1]} {square[1]})"


class BlindTicTacToe(Match):
    roles = ("x", "o", "random")

    def __init__(self) -> None:
        self.marks: list[set[Square]] = [set(), set()]
        self.tried: list[set[Square]] = [set(), set()]
        self.tie: Square | None = None

    def options(self) -> list[list[str]]:
        if self.tie:
            return [["noop"], ["noop"], ["(tosswin x)", "(tosswin o)"]]
        return [*([said("mark", s) for s in SQUARES if s not in own] for own in self.tried), ["noop"]]

    def _after(self, joint: Sequence[str]) -> tuple[list[set[Square]], Square | None]:
        """The squares where each gets a mark, and the one for which a coin is tossed."""
        got: list[set[Square]] = [set(), set()]
        if self.tie:
            got[self.roles.index(words(joint[2])[1])] = {self.tie}
            return got, None
        one, two = (at(*words(move)[1:]) for move in joint[:2])
        if one == two and one not in self.marks[0] | self.marks[1]:
            return got, one
        return [{s} - self.marks[0] - self.marks[1] for s in (one, two)], None

    def _lines(self, got: list[set[Square]]) -> list[bool]:
        return [any(three <= own | new for three in THREES) for own, new in zip(self.marks, got, strict=True)]

    def seen(self, joint: Sequence[str]) -> list[set[str]]:
        got, tie = self._after(joint)
        both = {f"(line {r})" for r, line in zip(self.roles, self._lines(got), strict=False) if line}
        both |= {"tie"} if tie else set()
        return [*(both | ({"ok"} if new else set()) for new in got), set()]

    def play(self, joint: Sequence[str]) -> None:
        got, tie = self._after(joint)
        if not self.tie:
            for own, move in zip(self.tried, joint, strict=False):
                own.add(at(*words(move)[1:]))
        self.tie = tie
        for own, new in zip(self.marks, got, strict=True):
            own |= new

    def facts(self) -> set[str]:
        found = {cell(x, y, r) for r, own in zip(self.roles, self.marks, strict=False) for x, y in own}
        found |= {said(f"tried {r}", s) for r, own in zip(self.roles, self.tried, strict=False) for s in own}
        return found | {said("tie", self.tie) if self.tie else "marking"}

    @property
    def over(self) -> bool:
        return any(self._lines([set(), set()])) or len(self.marks[0] | self.marks[1]) == 9

    def goals(self) -> list[int | None]:
        one, two = self._lines([set(), set()])
        return [*versus(one - two), None]


class Unseen(Told):
    """Marks that the other does not see; a square or column that is taken costs no turn."""

    most = 0
    """Squares of the board."""
    name = ""
    """What is said of a role and a place that it knows to be taken."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: list[set[Square]] = [set(), set()]
        self.known: list[set[str]] = [set(), set()]

    @abstractmethod
    def lands(self, *place: str) -> Square | None:
        """Where a mark goes; None if nothing is free there."""

    @abstractmethod
    def told(self, square: Square | None) -> str:
        """What a role perceives of its own move."""

    @abstractmethod
    def lines(self, square: Square) -> list[set[Square]]:
        """Rows, of which one must be full, that begin on a square."""

    @property
    def filled(self) -> set[Square]:
        return self.marks[0] | self.marks[1]

    def news(self, name: str, *arguments: str) -> list[set[str]]:
        square = self.lands(*arguments)
        news = [{self.told(square)}, {"your_turn"} if square else set[str]()]
        return news[::-1] if self.turn else news

    def _won(self, role: int) -> bool:
        return any(line <= self.marks[role] for s in self.marks[role] for line in self.lines(s))

    def facts(self) -> set[str]:
        found = {cell(x, y, r) for r, own in zip(self.roles, self.marks, strict=True) for x, y in own}
        known = zip(self.roles, self.known, strict=True)
        return found | {f"({self.name} {r} {place})" for r, own in known for place in own} | {self.control}

    @property
    def over(self) -> bool:
        return self._won(0) or self._won(1) or len(self.filled) == self.most

    def goals(self) -> list[int | None]:
        return versus(self._won(0) - self._won(1))


class KriegTicTacToe(Unseen):
    roles = ("x", "o")
    most = 9
    name = "tried"

    def moves(self) -> list[str]:
        return [s for s in (said("mark", s) for s in SQUARES) if s[6:-1] not in self.known[self.turn]]

    def lands(self, *place: str) -> Square | None:
        square = at(*place)
        return None if square in self.filled else square

    def told(self, square: Square | None) -> str:
        return "placed" if square else "taken"

    def lines(self, square: Square) -> list[set[Square]]:
        return THREES

    def move(self, name: str, *arguments: str) -> None:
        self.known[self.turn].add(" ".join(arguments))
        if square := self.lands(*arguments):
            self.marks[self.turn].add(square)
            self.turn = 1 - self.turn


class PhantomConnect(Unseen):
    roles = ("red", "yellow")
    most = 42
    name = "full"

    def moves(self) -> list[str]:
        return [f"(drop {x})" for x in LETTERS[:7] if x not in self.known[self.turn]]

    def lands(self, *place: str) -> Square | None:
        x = LETTERS.index(place[0]) + 1
        return next(((x, y) for y in range(1, 7) if (x, y) not in self.filled), None)

    def told(self, square: Square | None) -> str:
        return f"(lands {square[1]})" if square else "full"

    def lines(self, square: Square) -> list[set[Square]]:
        x, y = square
        return [{(x + i * u, y + i * v) for i in range(4)} for u, v in ((1, 0), (0, 1), (1, 1), (1, -1))]

    def move(self, name: str, *arguments: str) -> None:
        if square := self.lands(*arguments):
            self.marks[self.turn].add(square)
            self.turn = 1 - self.turn
        else:
            self.known[self.turn].add(*arguments)


class LiarsDice(Told):
    roles = ("first", "second", "random")
    bids: Final = list(product((1, 2), range(1, 7)))

    def __init__(self) -> None:
        self.turn = 2
        self.dice: list[int] = []
        self.bid: tuple[int, int] | None = None
        self.caller: int | None = None

    def moves(self) -> list[str]:
        if not self.dice:
            return [f"(throw {m} {n})" for m, n in product(range(1, 7), repeat=2)]
        own = [f"(bid {q} {n})" for q, n in self.bids if self.bid is None or (q, n) > self.bid]
        return own + ["call"] * (self.bid is not None)

    def news(self, name: str, *arguments: str) -> list[set[str]]:
        if name == "throw":
            return [*({f"(mine {n})"} for n in arguments), set()]
        if name == "call":
            return [*({f"(other {n})"} for n in self.dice[::-1]), set()]
        return [{f"(bid {' '.join(arguments)})"} for _ in (0, 1)] + [set()]

    def move(self, name: str, *arguments: str) -> None:
        if name == "throw":
            self.dice = [int(n) for n in arguments]
            self.turn = 0
        elif name == "call":
            self.caller = self.turn
        else:
            self.bid = int(arguments[0]), int(arguments[1])
            self.turn = 1 - self.turn

    def facts(self) -> set[str]:
        found = {f"(die {r} {n})" for r, n in zip(self.roles, self.dice, strict=False)}
        found |= {f"(bid {self.bid[0]} {self.bid[1]})"} if self.bid else set()
        called = None if self.caller is None else f"(called {self.roles[self.caller]})"
        return found | {called or self.control}

    @property
    def over(self) -> bool:
        return self.caller is not None

    def goals(self) -> list[int | None]:
        if self.caller is None or self.bid is None:
            return [50, 50, None]
        honest = self.dice.count(self.bid[1]) >= self.bid[0]
        winner = 1 - self.caller if honest else self.caller
        return [*versus(1 - 2 * winner), None]


class Battleships(Match):
    roles = ("blue", "white")
    lengths: Final = {"cruiser": 3, "destroyer": 2}

    def __init__(self) -> None:
        self.ships: list[list[set[Square]]] = [[], []]
        self.shots: list[set[Square]] = [set(), set()]

    @staticmethod
    def _squares(end: Square, way: str, length: int) -> set[Square]:
        x, y = end
        return {(x + i, y) if way == "across" else (x, y + i) for i in range(length)}

    @property
    def _phase(self) -> str:
        return [*self.lengths, "battle"][len(self.ships[0])]

    def options(self) -> list[list[str]]:
        board, found = {*BOARD}, list[list[str]]()
        for ships, shots in zip(self.ships, self.shots, strict=True):
            if self._phase == "battle":
                found.append([said("shoot", s) for s in board - shots])
                continue
            free, length = board.difference(*ships), self.lengths[self._phase]
            ways = product(board, ("across", "up"))
            fits = [(s, way) for s, way in ways if self._squares(s, way, length) <= free]
            found.append([f"{said('place', s)[:-1]} {way})" for s, way in fits])
        return found

    def _fleet(self, role: int) -> set[Square]:
        return set[Square]().union(*self.ships[role])

    def seen(self, joint: Sequence[str]) -> list[set[str]]:
        if self._phase != "battle":
            return [set(), set()]
        shots = [at(*words(move)[1:]) for move in joint]
        return [
            {"hit" if shots[i] in self._fleet(1 - i) else "miss", said("under_fire", shots[1 - i])}
            for i in (0, 1)
        ]

    def play(self, joint: Sequence[str]) -> None:
        phase = self._phase
        for ships, shots, move in zip(self.ships, self.shots, joint, strict=True):
            _, x, y, *way = words(move)
            if phase == "battle":
                shots.add(at(x, y))
            else:
                ships.append(self._squares(at(x, y), way[0], self.lengths[phase]))

    def _hits(self, role: int) -> int:
        return len(self.shots[role] & self._fleet(1 - role))

    def facts(self) -> set[str]:
        found = {f"(phase {self._phase})"}
        for i, role in enumerate(self.roles):
            found |= {said(f"ship {role}", s) for s in self._fleet(i)} | {f"(hits {role} {self._hits(i)})"}
            found |= {said(f"shot {role}", s) for s in self.shots[i]}
        return found

    @property
    def over(self) -> bool:
        return 5 in (self._hits(0), self._hits(1))

    def goals(self) -> list[int | None]:
        return versus((self._hits(0) == 5) - (self._hits(1) == 5))


class TwentyFortyEight(Turns):
    roles = ("player", "random")

    def __init__(self) -> None:
        self.turn = 1
        self.setup = 2
        self.tiles: dict[Square, int] = {}
        """Square -> the number on its tile."""

    def _slid(self, way: str) -> dict[Square, int]:
        found: dict[Square, int] = {}
        for line in range(1, 5):
            places = [(i, line) if way in ("left", "right") else (line, i) for i in range(1, 5)]
            places = places[::-1] if way in ("right", "up") else places
            waiting = [self.tiles[p] for p in places if p in self.tiles]
            for place in places[: len(waiting)]:
                if not waiting:
                    break
                number = waiting.pop(0)
                if waiting[:1] == [number]:
                    number += waiting.pop(0)
                found[place] = number
        return found

    def moves(self) -> list[str]:
        if self.turn == 0:
            return [f"(slide {w})" for w in ("left", "right", "up", "down") if self._slid(w) != self.tiles]
        free = [s for s in BOARD if s not in self.tiles]
        return [f"{said('put', s)[:-1]} {k})" for s, k in product(free, range(1, 11))]

    def move(self, name: str, *arguments: str) -> None:
        if name == "slide":
            self.tiles = self._slid(arguments[0])
            return
        self.tiles[at(*arguments[:2])] = 4 if arguments[2] == "10" else 2
        self.turn = int(self.setup != 2)  # play() passes the turn on
        self.setup = max(0, self.setup - 1)

    def facts(self) -> set[str]:
        found = {cell(x, y, str(n.bit_length() - 1)) for (x, y), n in self.tiles.items()}
        return found | {self.control} | ({f"(setup {self.setup})"} if self.setup else set())

    @property
    def over(self) -> bool:
        return 2048 in self.tiles.values() or (self.turn == 0 and not self.moves())

    def goals(self) -> list[int | None]:
        highest = max(self.tiles.values(), default=2)
        return [10 * (highest.bit_length() - 2), None]
