"""Snakes in a terminal: finds a level's map in rules, and draws its states."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from gdl.rules import Rules
from gdl.terms import BASE, Term
from ggp.boards.looks import Span
from ggp.boards.statics import ranks
from ggp.boards.text import DrawnState, Painter, TextCanvas

Cell = tuple[int, int]
"""Column from the left and row from the bottom, both from 0."""

_WAYS: dict[str, tuple[int, int]] = {"left": (-1, 0), "right": (1, 0), "up": (0, 1), "down": (0, -1)}
_ARROWS = {"left": "<", "right": ">", "up": "^", "down": "v"}
_POINTERS = {"left": "◂", "right": "▸", "up": "▴", "down": "▾"}
_SKY = "on #1b2430"
_EARTH = "#6b7280 on #6b7280"
_SNAKES = {"a": "#7ee081", "b": "#f7b955", "c": "#7fb8ff", "d": "#f28bd0"}
_BLOCK = "bold #3a2408 on #c08a4a"
_FACTS = {
    "wall": 2, "spikes": 2, "exit": 2, "covers": 5, "column": 1, "row": 1, "left_of": 2, "under": 2
}  # fmt: skip
"""The facts of a map, each with the number of its arguments."""


@dataclass(frozen=True, slots=True)
class _Standing:
    """The things in the cells of a state.

    Attributes:
        snakes: the cells of each snake from the head to the tail.
        pieces: the cells of each block of several cells, by its digit.
        blocks, fruit: the cells of blocks of one cell, and of fruit.
    """

    snakes: dict[str, tuple[Cell, ...]]
    pieces: dict[str, frozenset[Cell]]
    blocks: frozenset[Cell]
    fruit: frozenset[Cell]


@dataclass(frozen=True, slots=True)
class SnakesMap:
    """The fixed parts of a level.

    Attributes:
        columns, rows: numbers of columns from the left and of rows from the bottom, by their names.
        walls, spikes: their cells.
        exit: its cell.
        covers: the cells of a block, by its name and the position of its first cell.
    """

    columns: dict[Term, int]
    rows: dict[Term, int]
    walls: frozenset[Cell]
    spikes: frozenset[Cell]
    exit: Cell
    covers: dict[tuple[str, Cell], frozenset[Cell]]

    def cell(self, x: Term, y: Term) -> Cell:
        """The cell with these coordinates."""
        return self.columns[x], self.rows[y]

    def standing(self, propositions: Iterable[Term]) -> _Standing:
        """A state's propositions as things in cells."""
        heads: dict[str, Cell] = {}
        behind: dict[tuple[str, Cell], Cell] = {}
        pieces: dict[str, frozenset[Cell]] = {}
        blocks, fruit = set[Cell](), set[Cell]()
        for term in propositions:
            match term.name, term.args:
                case "head", (snake, x, y):
                    heads[snake.name] = self.cell(x, y)
                case "body", (snake, x, y, way):
                    at, (i, j) = self.cell(x, y), _WAYS[way.name]
                    behind[snake.name, (at[0] + i, at[1] + j)] = at
                case "piece", (piece, x, y):
                    pieces[piece.name.removeprefix("p")] = self.covers[piece.name, self.cell(x, y)]
                case "block", (x, y):
                    blocks.add(self.cell(x, y))
                case "fruit", (x, y):
                    fruit.add(self.cell(x, y))
        snakes: dict[str, tuple[Cell, ...]] = {}
        for name, head in sorted(heads.items()):
            line = [head]
            while (name, line[-1]) in behind and len(line) <= len(behind):
                line.append(behind[name, line[-1]])
            snakes[name] = tuple(line)
        return _Standing(snakes, dict(sorted(pieces.items())), frozenset(blocks), frozenset(fruit))


def map_of_rules(rules: Rules) -> SnakesMap | None:
    """The map of a level, from rules in the vocabulary of :mod:`players.puzzles.snakes.rules`; None for other
    rules."""
    facts: dict[str, list[tuple[Term, ...]]] = {name: [] for name in _FACTS}
    moving = set[str]()
    for rule in rules:
        if rule.body:
            if rule.head.signature == (BASE, 1):
                moving |= {rule.head.args[0].signature[0]}
        elif rule.head.name in facts:
            facts[rule.head.name].append(rule.head.args)
    if not {"head", "body", "step"} <= moving or len(facts["exit"]) != 1:
        return None
    if any(len(args) != many for name, many in _FACTS.items() for args in facts[name]):
        return None
    columns = _in_order([args[0] for args in facts["column"]], facts["left_of"])
    rows = _in_order([args[0] for args in facts["row"]], facts["under"])
    if not columns or not rows:
        return None

    def cells(name: str) -> frozenset[Cell]:
        return frozenset((columns[x], rows[y]) for x, y in facts[name])

    covered: dict[tuple[str, Cell], set[Cell]] = {}
    try:
        for piece, x1, y1, x2, y2 in facts["covers"]:
            at = columns[x1], rows[y1]
            covered.setdefault((piece.name, at), set()).add((columns[x2], rows[y2]))
        covers = {place: frozenset(on) for place, on in covered.items()}
        return SnakesMap(columns, rows, cells("wall"), cells("spikes"), next(iter(cells("exit"))), covers)
    except (KeyError, ValueError):
        return None


def _in_order(names: list[Term], pairs: list[tuple[Term, ...]]) -> dict[Term, int]:
    """Numbers along a chain of pairs; empty if the pairs are not one chain of all names."""
    line = ranks(pairs) if pairs else dict.fromkeys(names[:1], 0)
    return line if line.keys() == set(names) else {}


class SnakesPainter(Painter):
    """Draws the states of a level: two columns for each cell if ``terminal`` is set, otherwise one, in the
    characters of level files. ``unicode`` allows characters beyond ASCII."""

    def __init__(
        self, rules: Rules, roles: tuple[Term, ...], drawn: SnakesMap, terminal: bool, unicode: bool
    ) -> None:
        super().__init__(None, rules, roles)
        self.map = drawn
        self._terminal, self._unicode = terminal, unicode
        signs = self._signs(fruit_left=True)
        kinds = {
            "#": "wall",
            "!": "spikes",
            "*": "fruit",
            "E": "exit, EX when open" if terminal else "exit",
            "$": "block",
        }
        if not drawn.spikes:
            del kinds["!"]
        self.legend += [(signs[kind][0], meaning, signs[kind][1]) for kind, meaning in kinds.items()]
        self.legend.append(("A to D", "heads", ""))
        self.legend.append(("a to d" if terminal else "< > ^ v", "bodies, each with the way to the head", ""))
        if drawn.covers:
            self.legend.append(("1 to 9", "blocks of several cells", ""))

    def draw(
        self, propositions: Iterable[Term], width: int = 80, before: Iterable[Term] | None = None
    ) -> DrawnState:
        standing = self.map.standing(propositions)
        canvas = TextCanvas()
        drawn, ground = self._cells(standing), ("  ", _SKY) if self._terminal else (".", "")
        for x in range(len(self.map.columns)):
            for y in range(len(self.map.rows)):
                canvas.put(len(self.map.rows) - 1 - y, x * len(ground[0]), *drawn.get((x, y), ground))
        return DrawnState(canvas.lines(), ())

    def _cells(self, standing: _Standing) -> dict[Cell, Span]:
        """The signs of all things; a head at the exit hides it."""
        signs = self._signs(fruit_left=bool(standing.fruit))
        drawn = dict.fromkeys(self.map.walls, signs["#"]) | dict.fromkeys(self.map.spikes, signs["!"])
        drawn[self.map.exit] = signs["E"]
        drawn |= dict.fromkeys(standing.fruit, signs["*"]) | dict.fromkeys(standing.blocks, signs["$"])
        for digit, cells in standing.pieces.items():
            drawn |= dict.fromkeys(cells, (digit * 2, _BLOCK) if self._terminal else (digit, ""))
        pointers = _POINTERS if self._unicode else _ARROWS
        for name, line in standing.snakes.items():
            colour = _SNAKES.get(name, "white")
            ways = _segments(line)
            look = ways[0][1] if ways else "right"
            for cell, way in ways:
                drawn[cell] = (
                    (name + pointers[way], f"{colour} on #2f4a3a") if self._terminal else (_ARROWS[way], "")
                )
            head = (name.upper() + pointers[look], f"bold #10151c on {colour}")
            drawn[line[0]] = head if self._terminal else (name.upper(), "")
        return drawn

    def _signs(self, fruit_left: bool) -> dict[str, Span]:
        """The looks of still things; the exit is closed, in small letters, while there is fruit."""
        if not self._terminal:
            return {kind: (kind, "") for kind in "#!*E$"}
        return {
            "#": ("██" if self._unicode else "##", _EARTH),
            "!": ("▲▲" if self._unicode else "!!", f"bold #f87171 {_SKY}"),
            "*": ("◖◗" if self._unicode else "**", f"bold #ff5d73 {_SKY}"),
            "E": ("ex", f"#b79cff {_SKY}") if fruit_left else ("EX", "bold #10151c on #b79cff"),
            "$": ("[]", _BLOCK),
        }


def _segments(line: tuple[Cell, ...]) -> list[tuple[Cell, str]]:
    """The segments behind the head, from the neck on, each with the way to the next one towards it."""
    ways = {by: way for way, by in _WAYS.items()}
    return [(cell, ways.get((to[0] - cell[0], to[1] - cell[1]), "right")) for to, cell in pairwise(line)]
