"""Sokoban as others might write it: the same levels in rules that share nothing with ours."""

from __future__ import annotations

from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.level import Level

NAMES = ("north", "east", "south", "west")


def _facts(level: Level) -> tuple[list[str], list[str], list[str], str]:
    """Which squares are next to each other (adj DIRECTION A B), goals, the squares of boxes and keeper."""
    geometry, start = from_level(level)
    near = [
        f"(adj {NAMES[direction]} q{square} q{there})"
        for square in range(geometry.size)
        for direction, there in enumerate(geometry.neighbours[square].tolist())
        if there != geometry.size
    ]
    goals = [f"(target q{goal})" for goal in geometry.goals.tolist()]
    return near, goals, [f"q{box}" for box in start.boxes], f"q{start.keeper}"


def named_boxes(level: Level, limit: int = 60) -> str:
    """Boxes with names, squares by one number, moves by two squares, nothing to do allowed, (clear S) beside,
    a counter of two digits."""
    near, goals, boxes, keeper = _facts(level)
    crates = [f"crate{i}" for i in range(len(boxes))]
    occupied = {keeper, *boxes}
    clear = [f"(init (clear q{s}))" for s in range(from_level(level)[0].size) if f"q{s}" not in occupied]
    return "\n".join(
        [
            "(role worker)",
            *near,
            *goals,
            *(f"(crate {name})" for name in crates),
            *(f"(init (at {name} {square}))" for name, square in zip(crates, boxes, strict=True)),
            f"(init (at worker {keeper}))",
            *clear,
            "(init (ones 0)) (init (tens 0))",
            *(f"(then {i} {(i + 1) % 10})" for i in range(10)),
            """
(<= (legal worker (move ?a ?b)) (true (at worker ?a)) (adj ?d ?a ?b) (true (clear ?b)))
(<= (legal worker (move ?a ?b)) (true (at worker ?a)) (adj ?d ?a ?b) (crate ?c) (true (at ?c ?b))
  (adj ?d ?b ?e) (true (clear ?e)))
(legal worker noop)
(<= (next (at worker ?b)) (does worker (move ?a ?b)))
(<= (next (at worker ?a)) (does worker noop) (true (at worker ?a)))
(<= (shoved ?c ?e) (does worker (move ?a ?b)) (crate ?c) (true (at ?c ?b)) (adj ?d ?a ?b) (adj ?d ?b ?e))
(<= (shoves ?c) (shoved ?c ?e))
(<= (next (at ?c ?e)) (shoved ?c ?e))
(<= (next (at ?c ?s)) (crate ?c) (true (at ?c ?s)) (not (shoves ?c)))
(<= (filled ?e) (shoved ?c ?e))
(<= (left ?a) (does worker (move ?a ?b)))
(<= (entered ?b) (does worker (move ?a ?b)))
(<= (next (clear ?s)) (true (clear ?s)) (not (entered ?s)) (not (filled ?s)))
(<= (next (clear ?s)) (left ?s))
(<= (next (ones ?m)) (true (ones ?n)) (then ?n ?m))
(<= (next (tens ?m)) (true (ones 9)) (true (tens ?n)) (then ?n ?m))
(<= (next (tens ?n)) (true (tens ?n)) (not (true (ones 9))))
(<= open_ (crate ?c) (true (at ?c ?s)) (not (target ?s)))
(<= (goal worker 100) (not open_))
(<= (goal worker 5) open_)""",
            "(<= terminal (not open_))",
            f"(<= terminal (true (tens {limit // 10})) (true (ones {limit % 10})))",
        ]
    )


def cells(level: Level) -> str:
    """A cell says what it holds, walls too; coordinates are numbers; there is no counter; walking and pushing
    are different moves."""
    rows = level.rows
    height, width = len(rows), len(rows[0])
    said = {" ": "ground", ".": "ground", "$": "stone", "*": "stone", "@": "man", "+": "man", "#": "rock"}
    return "\n".join(
        [
            "(role player)",
            *(f"(init (cell {x} {y} {said[rows[y][x]]}))" for y in range(height) for x in range(width)),
            *(f"(spot {x} {y})" for y in range(height) for x in range(width) if rows[y][x] in ".*+"),
            *(f"(after {i} {i + 1})" for i in range(max(width, height))),
            *(f"(index {i})" for i in range(max(width, height))),
            """
(<= (beside right ?x ?y ?x2 ?y) (after ?x ?x2) (index ?y))
(<= (beside left ?x2 ?y ?x ?y) (after ?x ?x2) (index ?y))
(<= (beside down ?x ?y ?x ?y2) (after ?y ?y2) (index ?x))
(<= (beside up ?x ?y2 ?x ?y) (after ?y ?y2) (index ?x))
(<= (legal player (walk ?d)) (true (cell ?x ?y man)) (beside ?d ?x ?y ?x2 ?y2) (true (cell ?x2 ?y2 ground)))
(<= (legal player (push ?d)) (true (cell ?x ?y man)) (beside ?d ?x ?y ?x2 ?y2) (true (cell ?x2 ?y2 stone))
  (beside ?d ?x2 ?y2 ?x3 ?y3) (true (cell ?x3 ?y3 ground)))
(<= (going ?d) (does player (walk ?d)))
(<= (going ?d) (does player (push ?d)))
(<= (enters ?x2 ?y2) (going ?d) (true (cell ?x ?y man)) (beside ?d ?x ?y ?x2 ?y2))
(<= (fills ?x3 ?y3) (does player (push ?d)) (true (cell ?x ?y man)) (beside ?d ?x ?y ?x2 ?y2)
  (beside ?d ?x2 ?y2 ?x3 ?y3))
(<= (next (cell ?x ?y man)) (enters ?x ?y))
(<= (next (cell ?x ?y stone)) (fills ?x ?y))
(<= (next (cell ?x ?y ground)) (true (cell ?x ?y man)))
(<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)) (distinct ?c man) (not (enters ?x ?y)) (not (fills ?x ?y)))
(<= missing (spot ?x ?y) (not (true (cell ?x ?y stone))))
(<= terminal (not missing))
(<= (goal player 100) (not missing))
(<= (goal player 0) missing)""",
        ]
    )


def by_squares(level: Level, more: str = "", pushed: str = "", goals_of: str = "") -> str:
    """Moves that name all squares: (walk A B) and (push A B C); a step counter to 99. Other rules make other
    games of it."""
    near, goals, boxes, keeper = _facts(level)
    return "\n".join(
        [
            "(role r)",
            *near,
            *goals,
            *(f"(init (box {square}))" for square in boxes),
            f"(init (on {keeper}))",
            "(init (time 0))",
            *(f"(tick {i} {i + 1})" for i in range(99)),
            pushed
            or """
(<= (legal r (push ?a ?b ?c)) (true (on ?a)) (adj ?d ?a ?b) (adj ?d ?b ?c) (true (box ?b))
  (not (true (box ?c))))""",
            """
(<= (legal r (walk ?a ?b)) (true (on ?a)) (adj ?d ?a ?b) (not (true (box ?b))))
(<= (next (on ?b)) (does r (walk ?a ?b)))
(<= (next (on ?b)) (does r (push ?a ?b ?c)))
(<= (next (box ?c)) (does r (push ?a ?b ?c)))
(<= (gone ?b) (does r (push ?a ?b ?c)))
(<= (next (box ?s)) (true (box ?s)) (not (gone ?s)))
(<= (next (time ?m)) (true (time ?n)) (tick ?n ?m))
(<= terminal (not wanting))
(<= terminal (true (time 99)))""",
            goals_of
            or """
(<= wanting (target ?s) (not (true (box ?s))))
(<= (goal r 100) (not wanting))
(<= (goal r 30) wanting)""",
            more,
        ]
    )


def two_colours(level: Level) -> str:
    """Each box has a goal of its own."""
    _, goals, _, _ = _facts(level)
    own = [f"(home crate{i} {goal.split()[1]}" for i, goal in enumerate(goals)]
    text = named_boxes(level)
    return text.replace(
        "(<= open_ (crate ?c) (true (at ?c ?s)) (not (target ?s)))",
        "(<= open_ (crate ?c) (true (at ?c ?s)) (not (home ?c ?s)))\n" + "\n".join(own),
    )


PULLS = """
(<= (legal r (pull ?a ?b ?c)) (true (on ?b)) (adj ?d ?a ?b) (adj ?d ?b ?c) (true (box ?a))
  (not (true (box ?c))))
(<= (next (on ?c)) (does r (pull ?a ?b ?c)))
(<= (next (box ?b)) (does r (pull ?a ?b ?c)))
(<= (gone ?a) (does r (pull ?a ?b ?c)))"""
"""The keeper can pull a box after him."""

ICE = """
(<= (next (box ?e)) (does r (push ?a ?b ?c)) (adj ?d ?b ?c) (adj ?d ?c ?e) (slippery ?c)
  (not (true (box ?e))))"""
"""A box slides on, and leaves one behind: on some square a push does more."""

SECOND_KEEPER = """
(init (off q0))
(<= (legal r (walk2 ?a ?b)) (true (off ?a)) (adj ?d ?a ?b) (not (true (box ?b))))
(<= (next (off ?b)) (does r (walk2 ?a ?b)))
(<= moved2 (does r (walk2 ?a ?b)))
(<= (next (off ?a)) (true (off ?a)) (not moved2))
(<= (next (on ?a)) (true (on ?a)) moved2)"""
"""Somebody else walks about, who is in nobody's way."""

ONE_WAY = """
(<= (legal r (push ?a ?b ?c)) (true (on ?a)) (adj ?d ?a ?b) (distinct ?d north) (adj ?d ?b ?c) (true (box ?b))
  (not (true (box ?c))))"""
"""Nothing can be pushed to the north (instead of the usual rule)."""

TWO_AT_ONCE = """
(<= (legal r (push ?a ?b ?e)) (true (on ?a)) (adj ?d ?a ?b) (adj ?d ?b ?c) (adj ?d ?c ?e) (true (box ?b))
  (true (box ?c)) (not (true (box ?e))))"""
"""Two boxes in a row can be pushed."""

TELEPORT = """
(<= (legal r (walk q0 ?b)) (true (on q0)) (target ?b) (not (true (box ?b))))"""
"""From one square to the goals is a step."""

HALF = """
(<= wanting (not done))
(<= done (target ?s) (true (box ?s)))
(<= (goal r 100) (not wanting))
(<= (goal r 30) wanting)"""
"""A box on one goal is enough."""
