"""Second opinions on puzzles that are solved with paper and pencil, each of one solution; see
:mod:`tests.games.oracles.match`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from tests.games.oracles.puzzles import STEPS, Puzzle, is_in, shifted

Place = tuple[str, int]


class Paper(Puzzle):
    """A drawing from the top row down; columns are letters from ``a``, the last row is 1."""

    drawing: Sequence[str] = ()

    def __init__(self) -> None:
        super().__init__()
        self.height, self.columns = len(self.drawing), "abcdefghijk"[: len(self.drawing[0])]
        self.signs = {
            (x, self.height - j): sign
            for j, row in enumerate(self.drawing)
            for x, sign in zip(self.columns, row, strict=True)
        }
        self.numbers = {at: int(sign) for at, sign in self.signs.items() if sign.isdigit()}

    def beside(self, at: Place) -> list[Place]:
        """The squares above, below, left and right of a square."""
        near = [(shifted(at[0], i), at[1] + j) for i, j in STEPS.values()]
        return [one for one in near if is_in(self.columns, self.height, *one)]

    def together(self, squares: Iterable[Place]) -> set[Place]:
        """The squares that hang together with one of them."""
        left = set(squares)
        found = {min(left)} if left else set()
        waiting = list(found)
        while waiting:
            near = {one for one in self.beside(waiting.pop()) if one in left and one not in found}
            found |= near
            waiting += near
        return found

    def lines(self) -> list[list[Place]]:
        """The rows and the columns."""
        rows = [[(x, y) for x in self.columns] for y in range(1, self.height + 1)]
        return rows + [list(line) for line in zip(*rows, strict=True)]

    @property
    @abstractmethod
    def domains(self) -> Sequence[tuple[Place, Sequence[int]]]:
        """The squares to decide on, and the values of each."""

    @abstractmethod
    def possible(self, values: dict[Place, int]) -> bool:
        """Whether the first values may go on to a solution; with all values, whether they are one."""

    @abstractmethod
    def written_as(self, values: dict[Place, int]) -> list[str]:
        """The moves that make values, one or none for each."""

    def solutions(self) -> list[list[str]]:
        """The moves of each solution, found by trying all values."""
        found, waiting = list[list[str]](), [dict[Place, int]()]
        domains = list(self.domains)
        while waiting:
            values = waiting.pop()
            if len(values) == len(domains):
                found.append(self.written_as(values))
                continue
            at, domain = domains[len(values)]
            longer = [values | {at: value} for value in domain]
            waiting += [one for one in longer if self.possible(one)]
        return found


class Latin(Paper):
    """Numbers that differ in each row and column."""

    verb = "write"
    side = 0
    edges: dict[Place, int] = {}  # noqa: RUF012 - never changed

    def __init__(self) -> None:
        super().__init__()
        self.given = dict(self.numbers)
        self.written = dict(self.numbers)

    def fits(self, at: Place, number: int, written: dict[Place, int]) -> bool:
        """Whether a number may be written."""
        return not any(
            n == number and (u == at[0] or v == at[1]) for (u, v), n in written.items() if (u, v) != at
        )

    def moves(self) -> list[str]:
        return [
            f"({self.verb} {x} {y} {n})" for (x, y), sign in self.signs.items()
            if (x, y) not in self.written and sign == "." for n in range(1, self.side + 1)
            if self.fits((x, y), n, self.written)
        ]  # fmt: skip

    def move(self, name: str, *arguments: str) -> None:
        self.written[arguments[0], int(arguments[1])] = int(arguments[2])

    def things(self) -> set[str]:
        return {f"(cell {x} {y} {n})" for (x, y), n in (self.written | self.edges).items()}

    def written_as(self, values: dict[Place, int]) -> list[str]:
        return [f"({self.verb} {x} {y} {n})" for (x, y), n in values.items()]

    def right(self, written: dict[Place, int]) -> bool:
        """Whether a full board is right."""
        raise NotImplementedError

    @property
    def solved(self) -> bool:
        return all(at in self.written for at, sign in self.signs.items() if sign == ".") and self.right(
            self.written
        )

    @property
    def domains(self) -> Sequence[tuple[Place, Sequence[int]]]:
        numbers = range(1, self.side + 1)
        return [(at, numbers) for at, sign in self.signs.items() if sign == "."]

    def possible(self, values: dict[Place, int]) -> bool:
        at, number = list(values.items())[-1]
        full = len(values) == len(self.domains)
        written = self.given | values
        return self.fits(at, number, written) and (not full or self.right(written))


class Skyscrapers(Latin):
    """The edge is not part of the drawing of empty squares."""

    verb = "build"
    side = 4
    drawing = ("######", "#....#", "#....#", "#....#", "#....#", "######")
    edges: Final = {("a", 4): 1, ("c", 6): 3, ("a", 3): 2, ("d", 1): 4}
    ways: Final = {("a", 4): "right", ("a", 3): "right", ("c", 6): "down", ("d", 1): "up"}

    def right(self, written: dict[Place, int]) -> bool:
        for (x, y), wanted in self.edges.items():
            i, j = STEPS[self.ways[x, y]]
            heights = [written[shifted(x, i * k), y + j * k] for k in (1, 2, 3, 4)]
            if sum(h == max(heights[: k + 1]) for k, h in enumerate(heights)) != wanted:
                return False
        return True


class Futoshiki(Latin):
    side = 5
    drawing = (".....", ".....", "..4..", ".....", ".....")
    smaller: Final = ("d1 e1", "d4 d3", "a4 a3", "c4 b4", "e1 e2", "b1 a1", "d3 e3")

    def fits(self, at: Place, number: int, written: dict[Place, int]) -> bool:
        after = written | {at: number}
        pairs = [[after.get((one[0], int(one[1]))) for one in pair.split()] for pair in self.smaller]
        kept = all(m is None or n is None or m < n for m, n in pairs)
        return kept and super().fits(at, number, written)

    def right(self, written: dict[Place, int]) -> bool:
        return True


class Kakuro(Paper):
    """White squares are dots."""

    drawing = ("######", "#..###", "#...##", "##...#", "###...", "####..")
    across: Final = {5: 10, 4: 21, 3: 9, 2: 22, 1: 17}
    down: Final = {"b": 15, "c": 9, "d": 18, "e": 22, "f": 15}

    def __init__(self) -> None:
        super().__init__()
        self.white = [at for at, sign in self.signs.items() if sign == "."]
        self.digits: dict[Place, int] = {}

    def _fits(self, at: Place, digit: int, digits: dict[Place, int]) -> bool:
        for k, total in ((0, self.down[at[0]]), (1, self.across[at[1]])):
            run = [one for one in self.white if one[k] == at[k]]
            own = [digits[one] for one in run if one in digits and one != at]
            left = len(run) - len(own) - 1
            if digit in own or (sum(own) + digit >= total if left else sum(own) + digit != total):
                return False
        return True

    def moves(self) -> list[str]:
        return [
            f"(write {x} {y} {d})" for x, y in self.white if (x, y) not in self.digits for d in range(1, 10)
            if self._fits((x, y), d, self.digits)
        ]  # fmt: skip

    def move(self, name: str, *arguments: str) -> None:
        self.digits[arguments[0], int(arguments[1])] = int(arguments[2])

    def things(self) -> set[str]:
        clues = {(shifted(min(x for x, v in self.white if v == y), -1), y) for y in self.across}
        clues |= {(x, 1 + max(v for u, v in self.white if u == x)) for x in self.down}
        walls = {at for at, sign in self.signs.items() if sign == "#"} - clues
        found = {f"(cell {x} {y} {n})" for (x, y), n in self.digits.items()}
        return found | {f"(cell {x} {y} wall)" for x, y in walls}

    @property
    def solved(self) -> bool:
        return len(self.digits) == len(self.white)

    def written_as(self, values: dict[Place, int]) -> list[str]:
        return [f"(write {x} {y} {d})" for (x, y), d in values.items()]

    @property
    def domains(self) -> Sequence[tuple[Place, Sequence[int]]]:
        return [(at, range(1, 10)) for at in self.white]

    def possible(self, values: dict[Place, int]) -> bool:
        *before, (at, digit) = values.items()
        return self._fits(at, digit, dict(before))


class Takuzu(Paper):
    drawing = ("...10.", "1....0", "......", "...10.", ".0....", ".00...")

    def __init__(self) -> None:
        super().__init__()
        self.written = dict(self.numbers)

    def _fits(self, at: Place, digit: int, written: dict[Place, int]) -> bool:
        for line in self.lines():
            if at in line:
                row = "".join(str(digit if one == at else written.get(one, ".")) for one in line)
                if 3 * str(digit) in row or row.count(str(digit)) > 3:
                    return False
        return True

    def moves(self) -> list[str]:
        return [
            f"(write {x} {y} {d})" for x, y in self.signs if (x, y) not in self.written for d in (0, 1)
            if self._fits((x, y), d, self.written)
        ]  # fmt: skip

    def move(self, name: str, *arguments: str) -> None:
        self.written[arguments[0], int(arguments[1])] = int(arguments[2])

    def things(self) -> set[str]:
        return {f"(cell {x} {y} {d})" for (x, y), d in self.written.items()}

    def written_as(self, values: dict[Place, int]) -> list[str]:
        return [f"(write {x} {y} {d})" for (x, y), d in values.items()]

    def _right(self, written: dict[Place, int]) -> bool:
        if len(written) < 36:
            return False
        texts = ["".join(str(written[at]) for at in line) for line in self.lines()]
        return len(set(texts[:6])) == len(set(texts[6:])) == 6

    @property
    def solved(self) -> bool:
        return self._right(self.written)

    @property
    def domains(self) -> Sequence[tuple[Place, Sequence[int]]]:
        return [(at, (0, 1)) for at in self.signs if at not in self.numbers]

    def possible(self, values: dict[Place, int]) -> bool:
        at, digit = list(values.items())[-1]
        written = self.numbers | values
        full = len(written) == 36
        return self._fits(at, digit, written) and (not full or self._right(written))


class Marks(Paper):
    """Squares are marked, one in a move; marks stay."""

    verb = ""

    def __init__(self) -> None:
        super().__init__()
        self.marked: set[Place] = set()

    @abstractmethod
    def may(self, at: Place) -> bool:
        """Whether a square that is not marked may be."""

    @property
    @abstractmethod
    def sites(self) -> list[Place]:
        """The squares that can be marked at all."""

    def moves(self) -> list[str]:
        return [
            f"({self.verb} {x} {y})" for x, y in self.sites if (x, y) not in self.marked and self.may((x, y))
        ]

    def move(self, name: str, *arguments: str) -> None:
        self.marked.add((arguments[0], int(arguments[1])))

    def written_as(self, values: dict[Place, int]) -> list[str]:
        return [f"({self.verb} {x} {y})" for (x, y), value in values.items() if value]

    @property
    def domains(self) -> Sequence[tuple[Place, Sequence[int]]]:
        return [(at, (0, 1)) for at in self.sites]

    def possible(self, values: dict[Place, int]) -> bool:
        at = list(values)[-1]
        before, self.marked = self.marked, {one for one, value in values.items() if value and one != at}
        fine = not values[at] or self.may(at)
        self.marked |= {at} if values[at] else set()
        fine = fine and self.hopeful(values) and (len(values) < len(self.sites) or self.solved)
        self.marked = before
        return fine

    def hopeful(self, values: dict[Place, int]) -> bool:
        """Whether squares that are decided on leave a way to a solution; true if that is not clear."""
        return True


class StarBattle(Marks):
    verb = "place"
    drawing = ("rrrrrr", "roorrr", "gooyrb", "gggybb", "gggypp", "gggppp")

    @property
    def sites(self) -> list[Place]:
        return list(self.signs)

    def may(self, at: Place) -> bool:
        return not any(
            x == at[0] or y == at[1] or self.signs[x, y] == self.signs[at]
            or (abs(ord(x) - ord(at[0])) <= 1 and abs(y - at[1]) <= 1)
            for x, y in self.marked
        )  # fmt: skip

    def things(self) -> set[str]:
        return {f"(cell {x} {y} star)" for x, y in self.marked} | {f"(stars {len(self.marked)})"}

    @property
    def solved(self) -> bool:
        return len(self.marked) == 6

    def hopeful(self, values: dict[Place, int]) -> bool:
        return len(self.marked) >= len(values) // 6


class Akari(Marks):
    verb = "place"
    drawing = (".....#.", "0.1..3.", "....3..", "2..#..1", "..#....", ".#..0.1", ".#.....")

    @property
    def sites(self) -> list[Place]:
        return [at for at, sign in self.signs.items() if sign == "."]

    def _seen(self, at: Place) -> set[Place]:
        found = {at}
        for i, j in STEPS.values():
            x, y = at
            while self.signs.get((x := shifted(x, i), y := y + j)) == ".":
                found.add((x, y))
        return found

    def _lit(self) -> set[Place]:
        return set().union(*map(self._seen, self.marked))

    def _bulbs(self, wall: Place) -> int:
        return sum(at in self.marked for at in self.beside(wall))

    def may(self, at: Place) -> bool:
        full = any(self._bulbs(one) >= self.numbers[one] for one in self.beside(at) if one in self.numbers)
        return not full and at not in self._lit()

    def things(self) -> set[str]:
        found = {f"(cell {x} {y} {sign})" for (x, y), sign in self.signs.items() if sign not in "#."}
        found |= {f"(cell {x} {y} wall)" for (x, y), sign in self.signs.items() if sign == "#"}
        found |= {f"(cell {x} {y} light)" for x, y in self._lit()}
        return found | {f"(cell {x} {y} bulb)" for x, y in self.marked}

    @property
    def solved(self) -> bool:
        met = all(self._bulbs(wall) == n for wall, n in self.numbers.items())
        return met and self._lit() == set(self.sites)

    def hopeful(self, values: dict[Place, int]) -> bool:
        lit = self._lit()
        dark = any(not self._seen(at) & lit and self._seen(at) <= set(values) for at in values)
        short = any(
            self._bulbs(wall) + sum(at in self.sites and at not in values for at in self.beside(wall)) < n
            for wall, n in self.numbers.items()
        )
        return not dark and not short


class Hitori(Marks):
    verb = "shade"
    drawing = ("25134", "51155", "32455", "23241", "14553")

    @property
    def sites(self) -> list[Place]:
        return list(self.signs)

    def may(self, at: Place) -> bool:
        return not self.marked & set(self.beside(at))

    def things(self) -> set[str]:
        found = {f"(cell {x} {y} {n})" for (x, y), n in self.numbers.items() if (x, y) not in self.marked}
        return found | {f"(cell {x} {y} black)" for x, y in self.marked}

    @property
    def solved(self) -> bool:
        white = set(self.numbers) - self.marked
        rows = [[self.numbers[at] for at in line if at in white] for line in self.lines()]
        return all(len(set(row)) == len(row) for row in rows) and self.together(white) == white

    def hopeful(self, values: dict[Place, int]) -> bool:
        white = [at for at, value in values.items() if not value]
        own = self.numbers[white[-1]] if white else 0
        return not white or not any(
            self.numbers[at] == own and (at[0] == white[-1][0] or at[1] == white[-1][1]) for at in white[:-1]
        )


class Nurikabe(Marks):
    verb = "flood"
    drawing = (".2..3", ".....", "...2.", "3....", "...3.")

    @property
    def sites(self) -> list[Place]:
        return [at for at in self.signs if at not in self.numbers]

    def _pool(self, water: set[Place]) -> bool:
        corners = [(x, y) for x in self.columns[:-1] for y in range(1, self.height)]
        return any(
            {(x, y), (shifted(x, 1), y), (x, y + 1), (shifted(x, 1), y + 1)} <= water for x, y in corners
        )

    def may(self, at: Place) -> bool:
        return not self._pool(self.marked | {at})

    def things(self) -> set[str]:
        found = {f"(cell {x} {y} {n})" for (x, y), n in self.numbers.items()}
        return found | {f"(cell {x} {y} water)" for x, y in self.marked}

    @property
    def solved(self) -> bool:
        if self.together(self.marked) != self.marked:
            return False
        land = set(self.signs) - self.marked
        while land:
            island = self.together(land)
            if [self.numbers[at] for at in island if at in self.numbers] != [len(island)]:
                return False
            land -= island
        return True

    def hopeful(self, values: dict[Place, int]) -> bool:
        dry = len(values) - len(self.marked)
        return dry <= sum(self.numbers.values()) - len(self.numbers)


class Slitherlink(Marks):
    """Dots at odd columns and odd rows, numbers at even ones, lines between dots."""

    verb = "draw"
    drawing = (
        "*.*.*.*.*.*", ". .2.1.2. .", "*.*.*.*.*.*", ". .0.1. .1.", "*.*.*.*.*.*", ". .1. . . .",
        "*.*.*.*.*.*", ". . .1.2. .", "*.*.*.*.*.*", ".1.3. .1.0.", "*.*.*.*.*.*",
    )  # fmt: skip

    @property
    def sites(self) -> list[Place]:
        return [at for at, sign in self.signs.items() if sign == "."]

    def _lines(self, centre: Place) -> int:
        return sum(at in self.marked for at in self.beside(centre))

    def may(self, at: Place) -> bool:
        ends = [one for one in self.beside(at) if self.signs[one] == "*"]
        numbers = [one for one in self.beside(at) if one in self.numbers]
        return all(self._lines(one) < 2 for one in ends) and all(
            self._lines(one) < self.numbers[one] for one in numbers
        )

    def things(self) -> set[str]:
        found = {f"(cell {x} {y} {n})" for (x, y), n in self.numbers.items()}
        return found | {f"(cell {x} {y} line)" for x, y in self.marked}

    @property
    def solved(self) -> bool:
        dots = {at for at, sign in self.signs.items() if sign == "*"}
        on = {at for at in dots if self._lines(at)}
        met = all(self._lines(at) == n for at, n in self.numbers.items())
        return (
            met
            and all(self._lines(at) == 2 for at in on)
            and self.together(on | self.marked) == on | self.marked
        )

    def hopeful(self, values: dict[Place, int]) -> bool:
        for centre in self.beside(list(values)[-1]):
            lines = self._lines(centre)
            open_ = sum(at not in values for at in self.beside(centre))
            if self.signs[centre] == "*" and lines == 1 and not open_:
                return False
            if lines + open_ < self.numbers.get(centre, 0):
                return False
        return True


class Hashi(Paper):
    """Islands with the number of their bridges."""

    drawing = ("4.4..4", "......", "5...3.", "..1..2", "......", "3.4.4.")

    def __init__(self) -> None:
        super().__init__()
        self.pairs: dict[tuple[Place, Place], list[Place]] = {}
        for line in self.lines():
            islands = [k for k, at in enumerate(line) if at in self.numbers]
            for i, j in pairwise(islands):
                if j - i > 1:
                    self.pairs[line[i], line[j]] = line[i + 1 : j]
        self.bridges: dict[tuple[Place, Place], int] = {}

    def _need(self, island: Place, bridges: dict[tuple[Place, Place], int]) -> int:
        return self.numbers[island] - sum(n for pair, n in bridges.items() if island in pair)

    def _fits(self, pair: tuple[Place, Place], number: int, bridges: dict[tuple[Place, Place], int]) -> bool:
        taken = {at for one, n in bridges.items() if n for at in self.pairs[one]}
        free = not taken & set(self.pairs[pair])
        return free and all(self._need(island, bridges) >= number for island in pair)

    def moves(self) -> list[str]:
        return [
            f"(build {a[0]} {a[1]} {b[0]} {b[1]} {n})" for a, b in self.pairs for n in (1, 2)
            if self._fits((a, b), n, self.bridges)
        ]  # fmt: skip

    def move(self, name: str, *arguments: str) -> None:
        x, y, u, v, n = arguments
        self.bridges[(x, int(y)), (u, int(v))] = int(n)

    def things(self) -> set[str]:
        found = {f"(bridge {a[0]} {a[1]} {b[0]} {b[1]} {n})" for (a, b), n in self.bridges.items()}
        return found | {f"(built {len(self.bridges)})"}

    def _connected(self, bridges: dict[tuple[Place, Place], int]) -> bool:
        group = {min(self.numbers)}
        for _ in self.numbers:
            group |= {at for pair, n in bridges.items() if n and group & set(pair) for at in pair}
        return group == set(self.numbers)

    @property
    def solved(self) -> bool:
        met = all(self._need(island, self.bridges) == 0 for island in self.numbers)
        return met and self._connected(self.bridges)

    @property
    def over(self) -> bool:
        return not self.moves()

    @property
    def _named(self) -> dict[Place, tuple[Place, Place]]:
        """The pairs of islands, named by their columns and the first one's row."""
        return {(a[0] + b[0], a[1]): (a, b) for a, b in self.pairs}

    @property
    def domains(self) -> Sequence[tuple[Place, Sequence[int]]]:
        return [(at, (0, 1, 2)) for at in self._named]

    def written_as(self, values: dict[Place, int]) -> list[str]:
        pairs = [(self._named[at], n) for at, n in values.items() if n]
        return [f"(build {a[0]} {a[1]} {b[0]} {b[1]} {n})" for (a, b), n in pairs]

    def possible(self, values: dict[Place, int]) -> bool:
        *before, (last, number) = [(self._named[at], n) for at, n in values.items()]
        if number and not self._fits(last, number, dict(before)):
            return False
        bridges = dict([*before, (last, number)])
        needs = [self._need(island, bridges) for island in self.numbers]
        return len(values) < len(self.pairs) or (not any(needs) and self._connected(bridges))
