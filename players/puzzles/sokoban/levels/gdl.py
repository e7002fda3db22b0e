"""Writes a level as rules in GDL: one step of the keeper per move, or one push with the walk to it.

We know of no earlier Sokoban in GDL; the form is that of games/sokoban.kif. The limit of moves is a generous
guess at the length of a good solution, made without solving the level.
"""

from __future__ import annotations

import re
from itertools import pairwise

from gdl.errors import GdlError
from gdl.syntax.preface import preface_lines
from players.puzzles.level_name import LevelKind
from players.puzzles.sokoban.levels.level import (
    BOX,
    BOX_ON_GOAL,
    GOAL,
    KEEPER,
    KEEPER_ON_GOAL,
    WALL,
    Level,
    Square,
)
from players.puzzles.sokoban.levels.read import find_level, names_level_file, read_levels

_BASES = """
; --- What can be true, what can be done ---

(<= (base (at ?x ?y))
  (floor ?x ?y))
(<= (base (box ?x ?y))
  (floor ?x ?y))
"""

_STEP_INPUTS = """
(<= (input keeper (move ?d))
  (direction ?d))
"""

_STEPS = """
; --- Moves ---

(<= (legal keeper (move ?d))
  (can_walk ?d ?x ?y))
(<= (legal keeper (move ?d))
  (can_push ?d ?x ?y))

; The keeper can go in direction D to this square, or can push the box on it on.
(<= (can_walk ?d ?x2 ?y2)
  (ahead ?d ?x2 ?y2)
  (not (true (box ?x2 ?y2))))
(<= (can_push ?d ?x2 ?y2)
  (ahead ?d ?x2 ?y2)
  (true (box ?x2 ?y2))
  (adjacent ?d ?x2 ?y2 ?x3 ?y3)
  (not (true (box ?x3 ?y3))))

(<= (ahead ?d ?x2 ?y2)
  (true (at ?x1 ?y1))
  (adjacent ?d ?x1 ?y1 ?x2 ?y2))

(<= (enters ?x ?y)
  (does keeper (move ?d))
  (ahead ?d ?x ?y))
(<= (receives ?x3 ?y3)
  (does keeper (move ?d))
  (can_push ?d ?x2 ?y2)
  (adjacent ?d ?x2 ?y2 ?x3 ?y3))
"""

_PUSH_INPUTS = """
(<= (input keeper (push ?x ?y ?d))
  (adjacent ?d ?x1 ?y1 ?x ?y)
  (adjacent ?d ?x ?y ?x2 ?y2))
"""

_PUSHES = """
; --- Moves ---

(<= (legal keeper (push ?x ?y ?d))
  (true (box ?x ?y))
  (adjacent ?d ?x1 ?y1 ?x ?y)
  (adjacent ?d ?x ?y ?x2 ?y2)
  (walks_to ?x1 ?y1)
  (not (true (box ?x2 ?y2))))

; Where the keeper can go without a push.
(<= (walks_to ?x ?y)
  (true (at ?x ?y)))
(<= (walks_to ?x2 ?y2)
  (walks_to ?x1 ?y1)
  (adjacent ?d ?x1 ?y1 ?x2 ?y2)
  (not (true (box ?x2 ?y2))))

(<= can_push
  (legal keeper (push ?x ?y ?d)))

; The keeper then stands where the box was.
(<= (enters ?x ?y)
  (does keeper (push ?x ?y ?d)))
(<= (receives ?x2 ?y2)
  (does keeper (push ?x ?y ?d))
  (adjacent ?d ?x ?y ?x2 ?y2))
"""

_EFFECTS = """
(<= (next (at ?x ?y))
  (enters ?x ?y))
(<= (next (box ?x ?y))
  (receives ?x ?y))
(<= (next (box ?x ?y))
  (true (box ?x ?y))
  (not (enters ?x ?y)))
"""

_COUNTING_STEPS = """(<= (next (step ?n))
  (true (step ?m))
  (succ ?m ?n))
"""

_EVERY_GOAL = """
(<= solved
  (not wanting))
(<= wanting
  (goal_square ?x ?y)
  (not (true (box ?x ?y))))
"""
"""The condition for a solution if there are as many goals as boxes."""

_EVERY_BOX = """
; There are more goals than boxes.
(<= solved
  (not wanting))
(<= wanting
  (true (box ?x ?y))
  (not (goal_square ?x ?y)))
"""

_DIRECTIONS = """
(direction up)
(direction down)
(direction left)
(direction right)
"""

_COMMON = """
; What can be walked to, walls alone in the way.
(<= (floor ?x ?y)
  (start_column ?x)
  (start_row ?y))
(<= (floor ?x2 ?y2)
  (floor ?x1 ?y1)
  (shift ?d ?x1 ?y1 ?x2 ?y2)
  (not (wall ?x2 ?y2)))

; One step from a floor square to the next.
(<= (adjacent ?d ?x1 ?y1 ?x2 ?y2)
  (shift ?d ?x1 ?y1 ?x2 ?y2)
  (floor ?x1 ?y1)
  (floor ?x2 ?y2))

(<= (shift up ?x ?y1 ?x ?y2)
  (column ?x)
  (next_row ?y1 ?y2))
(<= (shift down ?x ?y2 ?x ?y1)
  (column ?x)
  (next_row ?y1 ?y2))
(<= (shift right ?x1 ?y ?x2 ?y)
  (row ?y)
  (next_column ?x1 ?x2))
(<= (shift left ?x2 ?y ?x1 ?y)
  (row ?y)
  (next_column ?x1 ?x2))
"""
"""The geometry of the map; the facts of the level come before and after it."""

_ROW = re.compile(r"^; +[0-9]+  ([ #$.*@+]+)$", re.MULTILINE)
_MOST_NUMBERED = 100
"""Up to this limit the move counter is (step N); above it, the counter has digits: ten propositions for
each."""
_DIGITS = ("ones", "tens", "hundreds", "thousands", "tenthousands", "hundredthousands", "millions")


def level_to_gdl(
    level: Level, *, pushes: bool = False, steps: int | None = None, solution: int | None = None
) -> str:
    """Return the rules of a level, in the layout of ``ggp format``, with the map in the comment at the top.

    The game ends when every box is on a goal (100), after ``steps`` moves, or, with ``pushes``, when nothing
    can be pushed. Below 100 the goal value is the percentage of boxes on goals. Squares that the keeper
    cannot reach even without boxes are left out.

    Args:
        level: a valid level (it has one keeper, boxes, closed walls).
        pushes: whether the moves are ``(push X Y DIRECTION)``, with the box at X Y; otherwise they are
            ``(move DIRECTION)``.
        steps: the number of moves after which the game ends; by default from ``solution`` or a guess, see
            :func:`~players.puzzles.sokoban.levels.gdl.step_limit`.
        solution: the length of a good solution in these moves, if known.

    Raises ValueError if ``steps`` is less than 1 or more than 9,999,999.
    """
    limit = steps if steps is not None else step_limit(level, solution, pushes)
    if not 1 <= limit < 10 ** len(_DIGITS):
        raise ValueError(f"a game cannot end after {limit} moves")
    return _Writer(level, pushes, limit).text()


def level_of_gdl(text: str) -> Level | None:
    """The level, without its title, from which :func:`level_to_gdl` has written exactly these rules; None for
    others."""
    head, _, rest = text.partition("\n")
    rows = "\n".join(_ROW.findall(rest))
    try:
        levels = read_levels(rows) if rows and head.startswith("; Sokoban") else []
    except GdlError:
        return None
    return next((one for one in levels if level_to_gdl(one).partition("\n")[2] == rest), None)


_HOW = (
    "Push every box onto a goal. {walk} A box moves if the square behind it is free, one box at a time, and"
    " you can never pull. So take care before you push a box into a corner or along a wall. The level is"
    " solved when every {done}. After {limit} moves the match ends all the same, and you get the share of the"
    " boxes that are on goals."
)
_WALK = {
    False: "You are the keeper and go up, down, left or right; a box in your way is pushed ahead.",
    True: "In a move you push a box by one square; the keeper walks behind it by itself, if there is a way.",
}
"""Whether moves are pushes -> how one moves."""


class _Writer:
    def __init__(self, level: Level, pushes: bool, limit: int) -> None:
        self.level = level
        self.pushes = pushes
        self.limit = limit
        self.inside = level.inside
        # From the bottom up, from left to right: the order of the coordinates.
        self.squares = sorted(self.inside, key=lambda square: (-square[1], square[0]))
        self.boxes = self._of(BOX + BOX_ON_GOAL)
        self.goals = self._of(GOAL + BOX_ON_GOAL + KEEPER_ON_GOAL)

    def text(self) -> str:
        digits = self.limit > _MOST_NUMBERED
        every = _EVERY_GOAL if len(self.goals) == len(self.boxes) else _EVERY_BOX
        parts = [
            self._header(digits),
            _BASES + self._counter_bases(digits),
            _PUSH_INPUTS if self.pushes else _STEP_INPUTS,
            self._initial(digits),
            _PUSHES if self.pushes else _STEPS,
            _EFFECTS,
            self._counter(digits),
            self._end(digits),
            every,
            self._value(),
            self._map(),
            _COMMON,
            "" if self.pushes else _DIRECTIONS,
            self._lines(),
            self._numbers(digits),
        ]
        return "\n".join(part.strip("\n") + "\n" for part in parts if part).replace("\n\n\n", "\n\n")

    # --- The parts ---

    def _header(self, digits: bool) -> str:
        boxes, goals = len(self.boxes), len(self.goals)
        step = "(ones N), (tens N) and so on count moves" if digits else "(step N)"
        columns = "letters" if self.level.width <= 26 else "numbers"
        done = "goal has a box" if goals == boxes else "box is on a goal"
        ends = f"when every {done},"
        moves = (
            "(move up), (move down), (move left), (move right), pushing a single box if there",
            "is one. Boxes cannot be pulled.",
        )
        if self.pushes:
            ends += " when nothing can be pushed,"
            moves = (
                "(push X Y D) pushes the box at X Y up, down, left or right, after walking behind it.",
                "Boxes cannot be pulled.",
            )
        title = _one_line(self.level.title)
        title = title if not title.isdecimal() else f"level {title}"
        author = _one_line(self.level.author)
        lines = [
            f"Sokoban{', ' + title if title else ''}{', by ' + author if author else ''}: "
            f"{boxes} box{'es' if boxes > 1 else ''} to push onto goals.",
            *preface_lines(_HOW.format(walk=_WALK[self.pushes], done=done, limit=self.limit), "puzzle"),
            "",
            "Roles   keeper, alone.",
            f"State   (at X Y) the keeper; (box X Y); {step}.",
            f"        Columns are {columns} from left to right, rows are numbers from the bottom up.",
            "        # wall, $ box, . goal, @ keeper, * box on a goal, + keeper on a goal:",
            *self._drawing(),
            f"Moves   {moves[0]}",
            f"        {moves[1]}",
            f"Ends    {ends} or after {self.limit} moves.",
            "Goals   100 with every box on a goal, or else the share of the boxes that are on goals.",
            f"Size    {self._bases()} base propositions, {self._inputs()} moves.",
            "",
            "draw: at as keeper",
            "draw: box as crate",
            "draw: goal_square as goal",
            "draw: wall as wall",
            f"ends: solved as every {done}",
            *(["ends: (not can_push) as no box can be pushed"] if self.pushes else []),
        ]
        return "\n".join(f"; {line}".rstrip() for line in lines) + "\n\n(role keeper)\n"

    def _bases(self) -> int:
        counter = self.limit + 1 if self.limit <= _MOST_NUMBERED else 10 * len(self._places())
        return 2 * len(self.inside) + counter

    def _inputs(self) -> int:
        if not self.pushes:
            return 4
        lines = (((x - i, y - j), (x + i, y + j)) for x, y in self.inside for i, j in ((1, 0), (0, 1)))
        return sum(2 for ends in lines if self.inside.issuperset(ends))

    def _drawing(self) -> list[str]:
        tall = self.level.height
        lines = [f"        {tall - y:3}  {row.rstrip()}" for y, row in enumerate(self.level.rows)]
        if self.level.width <= 26:
            lines.append(" " * 13 + "".join(map(self._column, range(self.level.width))))
        return lines

    def _initial(self, digits: bool) -> str:
        keeper = self._of(KEEPER + KEEPER_ON_GOAL)[0]
        zeros = [f"(init ({name} 0))" for name in self._places()] if digits else ["(init (step 0))"]
        lines = [f"(init (at {self._name(keeper)}))"]
        lines += [f"(init (box {self._name(box)}))" for box in self.boxes]
        return "\n".join(lines + zeros) + "\n"

    def _counter_bases(self, digits: bool) -> str:
        if not digits:
            return "(base (step 0))\n(<= (base (step ?n))\n  (succ ?m ?n))\n"
        return "".join(f"(<= (base ({name} ?n))\n  (turn ?m ?n))\n" for name in self._places())

    def _counter(self, digits: bool) -> str:
        if not digits:
            return _COUNTING_STEPS
        rules = ["; A digit turns when all digits below it are 9."]
        for i, name in enumerate(self._places()):
            nines = "".join(f"\n  (true ({lower} 9))" for lower in self._places()[:i])
            rules.append(f"(<= (next ({name} ?n)){nines}\n  (true ({name} ?m))\n  (turn ?m ?n))")
            rules += [
                f"(<= (next ({name} ?n))\n  (true ({name} ?n))\n  (not (true ({lower} 9))))"
                for lower in self._places()[:i]
            ]
        return "\n".join(rules) + "\n"

    def _end(self, digits: bool) -> str:
        if digits:
            # The first time that the leading digits reach these values, the zeros behind them are also there.
            shown = str(self.limit).rstrip("0")
            names = self._places()[::-1][: len(shown)]
            over = "".join(f"\n  (true ({name} {d}))" for name, d in zip(names, shown, strict=True))
        else:
            over = f"\n  (true (step {self.limit}))"
        stuck = "(<= terminal\n  (not can_push))\n" if self.pushes else ""
        return f"\n; --- The end ---\n\n(<= terminal\n  solved)\n{stuck}(<= terminal{over})\n"

    def _value(self) -> str:
        boxes = len(self.boxes)
        values = [f"(value {n} {100 * n // boxes})" for n in range(boxes)]
        return f"""
(<= (goal keeper 100)
  solved)
(<= (goal keeper ?v)
  (not solved)
  (on_goals {len(self.goals)} ?n)
  (value ?n ?v))

; Of the first I goals, N have a box.
(on_goals 0 0)
(<= (on_goals ?i ?n)
  (on_goals ?h ?n)
  (goal_after ?h ?i ?x ?y)
  (not (true (box ?x ?y))))
(<= (on_goals ?i ?n)
  (on_goals ?h ?m)
  (goal_after ?h ?i ?x ?y)
  (true (box ?x ?y))
  (succ ?m ?n))

""" + "\n".join(values)

    def _map(self) -> str:
        near = {(x + i, y + j) for x, y in self.inside for i in (-1, 0, 1) for j in (-1, 0, 1)}
        walls = sorted(near - self.inside, key=lambda square: (-square[1], square[0]))
        keeper = self._of(KEEPER + KEEPER_ON_GOAL)[0]
        lines = ["", "; --- The level ---", ""]
        lines += [f"(goal_square {self._name(goal)})" for goal in self.goals]
        lines += ["", *(f"(goal_after {i} {i + 1} {self._name(goal)})" for i, goal in enumerate(self.goals))]
        lines += ["", *(f"(wall {self._name(wall)})" for wall in walls if self._wall(wall))]
        column, row = self._name(keeper).split()
        return "\n".join([*lines, "", f"(start_column {column})", f"(start_row {row})", ""])

    def _lines(self) -> str:
        columns = [self._column(x) for x in range(self.level.width)]
        rows = [self._row(y) for y in reversed(range(self.level.height))]
        parts = [
            [f"(column {columns[0]})", "(<= (column ?x2)", "  (next_column ?x1 ?x2))"],
            [f"(next_column {a} {b})" for a, b in pairwise(columns)],
            [f"(row {rows[0]})", "(<= (row ?y2)", "  (next_row ?y1 ?y2))"],
            [f"(next_row {a} {b})" for a, b in pairwise(rows)],
        ]
        return "\n".join("\n".join([*part, ""]) for part in parts)

    def _numbers(self, digits: bool) -> str:
        most = max(len(self.goals), 0 if digits else self.limit)
        lines = ["", "; --- Counting ---", "", *(f"(succ {n} {n + 1})" for n in range(most))]
        if digits:
            lines += ["", *(f"(turn {n} {(n + 1) % 10})" for n in range(10))]
        return "\n".join(lines) + "\n"

    # --- Names ---

    def _places(self) -> list[str]:
        return list(_DIGITS[: len(str(self.limit))])

    def _of(self, kinds: str) -> list[Square]:
        return [(x, y) for x, y in self.squares if self.level.rows[y][x] in kinds]

    def _wall(self, square: Square) -> bool:
        x, y = square
        return self.level.rows[y][x] == WALL

    def _column(self, x: int) -> str:
        return chr(ord("a") + x) if self.level.width <= 26 else str(x + 1)

    def _row(self, y: int) -> str:
        return str(self.level.height - y)

    def _name(self, square: Square) -> str:
        return f"{self._column(square[0])} {self._row(square[1])}"


def _one_line(text: str) -> str:
    """Return a text from a file for use in a comment: one line of printable characters, of limited length."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[:200]).split())[:60].rstrip(" .,")


_TIMES_A_GOOD_SOLUTION = 3

_DETOURS, _EACH_BOX, _EACH_SQUARE = 1.5, 4, 0.5
"""The estimated pushes of a good solution: for each push of the assignment below, each box, each square."""
_WALKS, _ROUNDS = 3, 2
"""The estimated steps: for each of these pushes, each square. A limit that is too low spoils a level; one
that is too high costs almost nothing."""
_MOST_SQUARES = 300
"""More squares do not raise the limit."""
_MOST_WORK = 2_000_000


def step_limit(level: Level, solution: int | None = None, pushes: bool = False) -> int:
    """Return the number of moves after which a game of this level ends: at least three times a good solution.

    Args:
        level: a checked level.
        solution: the length of a good solution in these moves, if known. Otherwise it is estimated from the
            push distances of the boxes and the size of the map.
        pushes: whether a move is a push, including the keeper's walk; otherwise it is a step.
    """
    if solution is not None:
        return _round(max(10, _TIMES_A_GOOD_SOLUTION * solution))
    inside = level.inside
    boxes = sum(square in inside for square in level.find(BOX + BOX_ON_GOAL))
    squares = min(len(inside), _MOST_SQUARES)
    guess = _DETOURS * assigned_pushes(level) + _EACH_BOX * boxes + _EACH_SQUARE * squares
    if not pushes:
        guess = _WALKS * guess + _ROUNDS * squares
    return _round(int(_TIMES_A_GOOD_SOLUTION * guess))


def assigned_pushes(level: Level) -> int:
    """Return the pushes of a greedy assignment of boxes to goals, as if boxes were never in each other's way.

    The nearest pair of a box and a goal comes first. A box without a goal counts as many pushes as the map's
    width and height together; in levels with too many boxes and squares each box counts half of that.
    """
    inside = level.inside
    boxes = {square for square in level.find(BOX + BOX_ON_GOAL) if square in inside}
    if len(boxes) * len(inside) > _MOST_WORK:
        return len(boxes) * (level.width + level.height) // 2
    goals = {square for square in level.find(GOAL + BOX_ON_GOAL + KEEPER_ON_GOAL) if square in inside}
    pairs = sorted(
        (distance, box, goal)
        for goal in goals
        for box, distance in push_distances(inside, goal).items()
        if box in boxes
    )
    total = 0
    for distance, box, goal in pairs:
        if box in boxes and goal in goals:
            boxes.remove(box)
            goals.remove(goal)
            total += distance
    return total + len(boxes) * (level.width + level.height)


def push_distances(inside: frozenset[Square], goal: Square) -> dict[Square, int]:
    """Return the squares from which a lone box can be pushed to the goal, with the number of pushes, by
    pulling it back. The keeper is assumed to be wherever it is needed."""
    distances = {goal: 0}
    line = [goal]
    for x, y in line:
        for dx, dy in ((0, -1), (0, 1), (-1, 0), (1, 0)):
            pulled, keeper = (x + dx, y + dy), (x + 2 * dx, y + 2 * dy)
            if pulled in inside and keeper in inside and pulled not in distances:
                distances[pulled] = distances[x, y] + 1
                line.append(pulled)
    return distances


def _round(limit: int) -> int:
    """Round up to two leading digits: 1347 becomes 1400."""
    unit: int = 10 ** max(0, len(str(limit)) - 2)
    return -(-limit // unit) * unit


LEVELS = LevelKind(names_level_file, lambda name, steps: level_to_gdl(find_level(name), steps=steps))
"""Sokoban's levels, as an entry point of ``kaskade.levels``."""
