"""Rules in plain Python, written from the words of each game and not from its GDL."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from tests.games.oracles.match import LETTERS, InTurn, Turn, cell

Square = tuple[int, int]
QUEEN = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]
ROOK = [(1, 0), (-1, 0), (0, 1), (0, -1)]


def name(square: Square) -> str:
    """A square as two words of a move."""
    return f"{LETTERS[square[0] - 1]} {square[1]}"


class BoardGame(InTurn):
    """A board of squares with things on them, roles in turn, two of them if not said otherwise."""

    relations = frozenset({"cell"})
    roles: tuple[str, ...] = ("white", "black")

    def __init__(self, squares: Iterable[Square]) -> None:
        super().__init__()
        self.squares = list(squares)
        self.board: dict[Square, str] = {}
        self.mover = 0

    @property
    def me(self) -> str:
        """The role to move."""
        return self.roles[self.mover]

    @property
    def other(self) -> str:
        """The role that waits."""
        return self.roles[1 - self.mover]

    def turn(self) -> str:
        return self.me

    def facts(self) -> set[str]:
        return {cell(x, y, thing) for (x, y), thing in self.board.items()}

    def won_by(self, role: str | None) -> dict[str, int]:
        """Goals of a match that a role has won, or that is drawn."""
        return {one: 50 if role is None else 100 * (one == role) for one in self.roles}


def rectangle(columns: int, rows: int) -> list[Square]:
    """The squares of a board."""
    return [(x, y) for y in range(1, rows + 1) for x in range(1, columns + 1)]


def hexagon(side: int) -> list[Square]:
    """The hexagons of a board with so many on each side; its rows are lines, and so are its columns."""
    across = range(-side + 1, side)
    return [(q + side, r + side) for r in across for q in across if abs(q - r) < side]


class Row(BoardGame):
    """Stones are placed; a row of ``wins`` wins, one of exactly ``loses`` loses (0: none does).

    Args:
        squares: the board.
        lines: the directions of rows.
        roles: ours.
        stones: how many stones a turn has, after the first.
    """

    def __init__(
        self,
        squares: list[Square],
        lines: list[Square],
        roles: tuple[str, str],
        wins: int,
        loses: int = 0,
        stones: int = 1,
    ) -> None:
        super().__init__(squares)
        self.roles, self._lines, self._wins, self._loses = roles, lines, wins, loses
        self._stones, self._left, self._over = stones, 1, False
        self._goals: dict[str, int] | None = None

    def turns(self) -> Turn:
        empty = (at for at in self.squares if at not in self.board)
        return {} if self._goals else {(f"(place {name(at)})",): at for at in empty}

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        self.board[turn] = self.me
        lengths = [self._length(turn, line) for line in self._lines]
        if max(lengths) >= self._wins:
            self._goals = self.won_by(self.me)
        elif self._loses in lengths:
            self._goals = self.won_by(self.other)
        elif len(self.board) == len(self.squares):
            self._goals = self.won_by(None)
        self._left -= 1
        if not self._left:
            self._left, self.mover = self._stones, 1 - self.mover

    def _length(self, at: Square, line: Square) -> int:
        """How many stones of the mover are in a row through a square."""
        count = 1
        for sign in (1, -1):
            x, y = at
            while self.board.get((x := x + sign * line[0], y := y + sign * line[1])) == self.me:
                count += 1
        return count

    def result(self) -> dict[str, int] | None:
        return self._goals


class Dominoes(BoardGame):
    """The last to lay a domino wins.

    Args:
        side: of the board.
        ways: how each role may lay its dominoes: from a square to the right, or up.
    """

    def __init__(self, side: int, ways: dict[str, list[Square]]) -> None:
        super().__init__(rectangle(side, side))
        self._ways = ways
        self.roles = tuple(ways)

    def turns(self) -> Turn:
        pairs = [((x, y), (x + dx, y + dy)) for x, y in self.squares for dx, dy in self._ways[self.me]]
        free = set(self.squares) - set(self.board)
        return {(f"(place {name(a)} {name(b)})",): (a, b) for a, b in pairs if {a, b} <= free}

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        self.board |= dict.fromkeys(turn, self.me)
        self.mover = 1 - self.mover

    def result(self) -> dict[str, int] | None:
        return None if self.turns() else self.won_by(self.other)


class Konane(BoardGame):
    """Jumps over enemies, after each side has taken one of its own stones off."""

    roles = ("black", "white")

    def __init__(self) -> None:
        super().__init__(rectangle(6, 6))
        self.board = {(x, y): self.roles[(x + y) % 2] for x, y in self.squares}

    def turns(self) -> Turn:
        gaps = [at for at in self.squares if at not in self.board]
        if not gaps:
            return {(f"(remove {name(at)})",): (at,) for at in [(1, 1), (6, 6), (3, 3), (4, 4)]}
        if len(gaps) == 1:
            ((x, y),) = gaps
            beside = [(x + dx, y + dy) for dx, dy in ROOK if (x + dx, y + dy) in self.board]
            return {(f"(remove {name(at)})",): (at,) for at in beside}
        found: Turn = {}
        for (x, y), owner in self.board.items():
            for dx, dy in ROOK if owner == self.me else ():
                hops, at = [(x, y)], (x, y)
                while True:
                    over, to = (at[0] + dx, at[1] + dy), (at[0] + 2 * dx, at[1] + 2 * dy)
                    if self.board.get(over) != self.other or to in self.board or to not in self.squares:
                        break
                    hops += [over, to]
                    at = to
                    found[f"(move {name((x, y))} {name(to)})",] = tuple(hops)
        return found

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        for at in turn:
            self.board.pop(at, None)
        if len(turn) > 1:
            self.board[turn[-1]] = self.me
        self.mover = 1 - self.mover

    def result(self) -> dict[str, int] | None:
        return None if self.turns() else self.won_by(self.other)


class Quarto(BoardGame):
    """Sixteen pieces of four features, each chosen by the other side."""

    roles = ("first", "second")
    relations = frozenset({"cell", "pool", "given"})

    def __init__(self) -> None:
        super().__init__(rectangle(4, 4))
        self.pool = {a + b + c + d for a in "dl" for b in "ts" for c in "rq" for d in "sh"}
        self.given = ""

    def turns(self) -> Turn:
        if self.result():
            return {}
        if not self.given:
            return {(f"(give {piece})",): piece for piece in self.pool}
        return {(f"(place {name(at)})",): at for at in self.squares if at not in self.board}

    def go(self, turn: Hashable) -> None:
        if isinstance(turn, str):
            self.pool.remove(turn)
            self.given = turn
            self.mover = 1 - self.mover
        else:
            assert isinstance(turn, tuple)
            self.board[turn], self.given = self.given, ""

    def facts(self) -> set[str]:
        given = {f"(given {self.given})"} if self.given else set()
        return super().facts() | {f"(pool {piece})" for piece in self.pool} | given

    def result(self) -> dict[str, int] | None:
        side = range(1, 5)
        rows = [[(x, y) for x in side] for y in side] + [[(x, y) for y in side] for x in side]
        for row in [*rows, [(i, i) for i in side], [(i, 5 - i) for i in side]]:
            pieces = [self.board.get(at, "    ") for at in row]
            if any(len(set(letters)) == 1 and letters[0] != " " for letters in zip(*pieces, strict=True)):
                return self.won_by(self.me)
        return None if len(self.board) < 16 else self.won_by(None)


class Tafl(BoardGame):
    """A king with guards against raiders.

    Args:
        side: how many squares the board has on each side.
        raiders: their squares.
        guards: those of the guards; the king is in the middle.
        corners: only the king may go there, and raiders may be taken against them.
        exits: where the king wins.
    """

    roles = ("raiders", "defenders")

    def __init__(
        self, side: int, raiders: set[Square], guards: set[Square], corners: set[Square], exits: set[Square]
    ) -> None:
        super().__init__(rectangle(side, side))
        self._throne, self._corners, self._exits = (side // 2 + 1, side // 2 + 1), corners, exits
        self.board = dict.fromkeys(raiders, "raider") | dict.fromkeys(guards, "guard")
        self.board[self._throne] = "king"
        self._plies = 0

    def _side(self, at: Square) -> str | None:
        thing = self.board.get(at)
        return None if thing is None else "raiders" if thing == "raider" else "defenders"

    def _beside(self, at: Square) -> list[Square]:
        return [(at[0] + dx, at[1] + dy) for dx, dy in ROOK]

    def turns(self) -> Turn:
        found: Turn = {}
        for start, thing in self.board.items() if self._winner() is None else ():
            if self._side(start) != self.me:
                continue
            for dx, dy in ROOK:
                x, y = start
                while (at := (x := x + dx, y := y + dy)) in self.squares and at not in self.board:
                    if thing == "king" or at not in {*self._corners, self._throne}:
                        found[f"(move {name(start)} {name(at)})",] = (start, at)
        return found

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        start, at = turn
        self.board[at] = self.board.pop(start)
        gone = []
        for dx, dy in ROOK:
            prey, behind = (at[0] + dx, at[1] + dy), (at[0] + 2 * dx, at[1] + 2 * dy)
            if self._side(prey) != self.other:
                continue
            empty_throne = behind == self._throne and behind not in self.board
            friend = behind in self._corners or empty_throne or self._side(behind) == self.me
            if self.board[prey] == "king" and self._throne in [prey, *self._beside(prey)]:
                sides = [one for one in self._beside(prey) if one != self._throne]
                friend = all(self.board.get(one) == "raider" for one in sides)
            if friend:
                gone.append(prey)
        for prey in gone:
            del self.board[prey]
        self.mover = 1 - self.mover
        self._plies += 1

    def _winner(self) -> str | None:
        kings = [at for at, thing in self.board.items() if thing == "king"]
        if not kings:
            return "raiders"
        return "defenders" if kings[0] in self._exits else None

    def result(self) -> dict[str, int] | None:
        if (winner := self._winner()) is not None:
            return self.won_by(winner)
        if not self.turns():
            return self.won_by(self.other)
        return None if self._plies < 100 else self.won_by(None)


class Hasami(BoardGame):
    """Men are taken between two others, or in a corner."""

    roles = ("black", "white")

    def __init__(self) -> None:
        super().__init__(rectangle(9, 9))
        self.board = {(x, y): self.roles[y > 1] for x, y in self.squares if y in (1, 9)}
        self._plies = 0

    def turns(self) -> Turn:
        found: Turn = {}
        for start in [at for at, owner in self.board.items() if owner == self.me]:
            for dx, dy in ROOK:
                x, y = start
                while (at := (x := x + dx, y := y + dy)) in self.squares and at not in self.board:
                    found[f"(move {name(start)} {name(at)})",] = (start, at)
        return found

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        start, at = turn
        self.board[at] = self.board.pop(start)
        gone = set()
        for dx, dy in ROOK:
            x, y = at
            run = []
            while self.board.get((x := x + dx, y := y + dy)) == self.other:
                run.append((x, y))
            if self.board.get((x, y)) == self.me:
                gone |= set(run)
        for x, y in [(1, 1), (1, 9), (9, 1), (9, 9)]:
            beside = [(abs(x - 1) or 2, y), (x, abs(y - 1) or 2)]
            ours = all(self.board.get(one) == self.me for one in beside)
            if self.board.get((x, y)) == self.other and ours and at in beside:
                gone.add((x, y))
        for one in gone:
            del self.board[one]
        self.mover = 1 - self.mover
        self._plies += 1

    def result(self) -> dict[str, int] | None:
        men = list(self.board.values())
        for role in self.roles:
            if men.count(role) == 1:
                return self.won_by(next(one for one in self.roles if one != role))
        if not self.turns():
            return self.won_by(self.other)
        return None if self._plies < 200 else self.won_by(None)


class Pente(Row):
    """Five in a row, or five pairs taken."""

    relations = frozenset({"cell", "pairs"})

    def __init__(self) -> None:
        super().__init__(rectangle(13, 13), QUEEN[:4], ("white", "black"), 5)
        self._pairs = [0, 0]

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        mover, (x, y) = self.mover, turn
        for dx, dy in QUEEN:
            first, second, end = ((x + i * dx, y + i * dy) for i in (1, 2, 3))
            if [self.board.get(at) for at in (first, second, end)] == [self.other, self.other, self.me]:
                del self.board[first], self.board[second]
                self._pairs[mover] += 1
        super().go(turn)
        if self._pairs[mover] >= 5:
            self._goals = self.won_by(self.roles[mover])

    def facts(self) -> set[str]:
        pairs = zip(self.roles, self._pairs, strict=True)
        return super().facts() | {f"(pairs {role} {min(5, number)})" for role, number in pairs}


class Wythoff(BoardGame):
    """One queen for both."""

    roles = ("first", "second")

    def __init__(self) -> None:
        super().__init__(rectangle(11, 10))
        self.board = {(11, 10): "queen"}

    def turns(self) -> Turn:
        ((x, y),) = self.board
        steps = [(x - i, y) for i in range(1, x)] + [(x, y - i) for i in range(1, y)]
        steps += [(x - i, y - i) for i in range(1, min(x, y))]
        return {(f"(move {name(at)})",): at for at in steps}

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        self.board = {turn: "queen"}
        self.mover = 1 - self.mover

    def result(self) -> dict[str, int] | None:
        return self.won_by(self.other) if (1, 1) in self.board else None


class Hackenbush(BoardGame):
    """Lines of a picture, named by what stands where in a drawing: the lowest row is the ground."""

    roles = ("blue", "red")
    picture = (
        ".............",
        "....r.r......",
        ".b.r.b...r...",
        "r.b.b.r.b.r..",
        ".g.....b...b.",
        "b.r.r.g...b.r",
        ".............",
    )

    def __init__(self) -> None:
        super().__init__(rectangle(13, 7))
        colours = {"b": "blue", "r": "red", "g": "green"}
        self.board = {
            (x, 7 - y): colours[sign]
            for y, row in enumerate(self.picture)
            for x, sign in enumerate(row, 1)
            if sign != "."
        }

    @staticmethod
    def _ends(at: Square) -> set[Square]:
        x, y = at
        return {(x - 1, y), (x + 1, y)} if x % 2 == 0 else {(x, y - 1), (x, y + 1)}

    def turns(self) -> Turn:
        own = {self.me, "green"}
        return {(f"(cut {name(at)})",): at for at, colour in self.board.items() if colour in own}

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        del self.board[turn]
        reached = {at for at in self.squares if at[1] == 1}
        while more := {at for at in self.board if self._ends(at) & reached and not self._ends(at) <= reached}:
            for at in more:
                reached |= self._ends(at)
        self.board = {at: colour for at, colour in self.board.items() if self._ends(at) <= reached}
        self.mover = 1 - self.mover

    def result(self) -> dict[str, int] | None:
        return None if self.turns() else self.won_by(self.other)


class BlackPath(BoardGame):
    """Tiles lead a path that must not leave the board."""

    relations = frozenset({"cell", "head"})
    _ways = {"cross": ["ns", "we"], "falling": ["nw", "se"], "rising": ["ne", "sw"]}  # noqa: RUF012
    _steps = {"n": (0, 1), "s": (0, -1), "e": (1, 0), "w": (-1, 0)}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__(rectangle(6, 6))
        self._head, self._going = (1, 6), "e"

    def turns(self) -> Turn:
        if self._head not in self.squares:
            return {}
        return {(f"(lay {name(self._head)} {tile})",): tile for tile in self._ways}

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, str)
        self.board[self._head] = turn
        while self._head in self.board:
            came = "nsew"["snwe".index(self._going)]
            (way,) = [way for way in self._ways[self.board[self._head]] if came in way]
            self._going = way.replace(came, "")
            dx, dy = self._steps[self._going]
            self._head = (self._head[0] + dx, self._head[1] + dy)
        self.mover = 1 - self.mover

    def facts(self) -> set[str]:
        head = {f"(head {name(self._head)} {self._going})"} if self._head in self.squares else set()
        return super().facts() | head

    def result(self) -> dict[str, int] | None:
        return None if self.turns() else self.won_by(self.me)


class Rolit(BoardGame):
    """Four colours that turn each other over."""

    roles = ("red", "yellow", "green", "blue")

    def __init__(self) -> None:
        super().__init__(rectangle(8, 8))
        self.board = dict(zip([(4, 5), (5, 5), (5, 4), (4, 4)], self.roles, strict=True))

    def _turned(self, at: Square) -> list[Square]:
        found = []
        for dx, dy in QUEEN:
            run, (x, y) = list[Square](), at
            while self.board.get((x := x + dx, y := y + dy), self.me) != self.me:
                run.append((x, y))
            if (x, y) in self.board:
                found += run
        return found

    def turns(self) -> Turn:
        empty = [at for at in self.squares if at not in self.board]
        able = [at for at in empty if self._turned(at)]
        near = [at for at in empty if any((at[0] + dx, at[1] + dy) in self.board for dx, dy in QUEEN)]
        return {(f"(place {name(at)})",): at for at in able or near}

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        for at in (*self._turned(turn), turn):
            self.board[at] = self.me
        self.mover = (self.mover + 1) % 4

    def result(self) -> dict[str, int] | None:
        if len(self.board) < 64:
            return None
        counts = [list(self.board.values()).count(role) for role in self.roles]
        share = 100 // counts.count(max(counts))
        return {role: share * (count == max(counts)) for role, count in zip(self.roles, counts, strict=True)}


class ThreeYavalath(BoardGame):
    """Four in a row win, three in a row put a player out."""

    relations = frozenset({"cell", "out"})
    roles = ("white", "black", "red")

    def __init__(self) -> None:
        super().__init__(hexagon(5))
        self._out: list[str] = []
        self._won: str | None = None

    def _longest(self, at: Square, role: str) -> int:
        """The longest row that a stone of a role on an empty place makes."""
        longest = 1
        for dx, dy in [(1, 0), (0, 1), (1, 1)]:
            count = 1
            for sign in (1, -1):
                x, y = at
                while self.board.get((x := x + sign * dx, y := y + sign * dy)) == role:
                    count += 1
            longest = max(longest, count)
        return longest

    def _next(self) -> str:
        order = [self.roles[(self.mover + n) % 3] for n in (1, 2)]
        return next(role for role in order if role not in self._out)

    def turns(self) -> Turn:
        if self.result():
            return {}
        empty = [at for at in self.squares if at not in self.board]
        wins, threats = (
            [at for at in empty if self._longest(at, role) >= 4] for role in (self.me, self._next())
        )
        return {(f"(place {name(at)})",): at for at in ({*wins, *threats} if threats else empty)}

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        longest, after = self._longest(turn, self.me), self._next()
        self.board[turn] = self.me
        if longest >= 4:
            self._won = self.me
        elif longest == 3:
            self._out.append(self.me)
            if len(self._out) == 2:
                self._won = after
        self.mover = self.roles.index(after)

    def facts(self) -> set[str]:
        return super().facts() | {f"(out {role})" for role in self._out}

    def result(self) -> dict[str, int] | None:
        if self._won:
            return self.won_by(self._won)
        if len(self.board) < len(self.squares):
            return None
        share = 100 // (3 - len(self._out))
        return {role: 0 if role in self._out else share for role in self.roles}


class OrderAndChaos(BoardGame):
    """Five like marks in a row win for order."""

    roles = ("order", "chaos")

    def __init__(self) -> None:
        super().__init__(rectangle(6, 6))

    def _five(self) -> bool:
        rows = ([(x + i * dx, y + i * dy) for i in range(5)] for x, y in self.squares for dx, dy in QUEEN)
        return any(
            len(found := {self.board.get(at) for at in row}) == 1 and None not in found for row in rows
        )

    def turns(self) -> Turn:
        empty = [at for at in self.squares if at not in self.board]
        both = [(at, mark) for at in empty for mark in ("cross", "ring")]
        return {(f"(place {name(at)} {mark})",): (at, mark) for at, mark in both}

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        self.board[turn[0]] = turn[1]
        self.mover = 1 - self.mover

    def result(self) -> dict[str, int] | None:
        if self._five():
            return self.won_by("order")
        return self.won_by("chaos") if len(self.board) == 36 else None


class BridgIt(BoardGame):
    """Two nets of dots, red up and down and blue across; each bridge is an edge of one net."""

    roles = ("red", "blue")

    def __init__(self) -> None:
        gaps = [(x, y) for x, y in rectangle(9, 9) if (x + y) % 2 == 0 and not {x, y} & {1, 9}]
        super().__init__(gaps)

    def _joined(self, role: str) -> bool:
        first = {(x, 1) for x in (2, 4, 6, 8)} if role == "red" else {(1, y) for y in (2, 4, 6, 8)}
        edges = []
        for (x, y), owner in self.board.items():
            upright = (x % 2 == 0) == (role == "red")
            if owner == role:
                edges.append({(x, y - 1), (x, y + 1)} if upright else {(x - 1, y), (x + 1, y)})
        while more := [edge for edge in edges if edge & first and not edge <= first]:
            first = first.union(*more)
        return any(at[role == "red"] == 9 for at in first)

    def turns(self) -> Turn:
        return {(f"(bridge {name(at)})",): at for at in self.squares if at not in self.board}

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        self.board[turn] = self.me
        self.mover = 1 - self.mover

    def facts(self) -> set[str]:
        dots = [(x, y) for x, y in rectangle(9, 9) if (x + y) % 2]
        return super().facts() | {cell(x, y, "red_dot" if y % 2 else "blue_dot") for x, y in dots}

    def result(self) -> dict[str, int] | None:
        return next((self.won_by(role) for role in self.roles if self._joined(role)), None)
