"""`level_to_rules`: writes a level of Snakes as rules in GDL: rules of all levels, facts of this one."""

from __future__ import annotations

from players.puzzles.snakes.level import ARROWS, HEADS, Cell, SnakeLevel

STEPS = 100
"""Moves, falls included, after which a game ends unless said otherwise."""

_RULES = """
; --- What can be true, what can be done ---

(<= (base (head ?s ?x ?y))
  (snake ?s)
  (open ?x ?y))
(<= (base (body ?s ?x ?y ?d))
  (snake ?s)
  (open ?x ?y)
  (direction ?d))
BASES(base (step 0))
(<= (base (step ?n))
  (succ ?m ?n))

(<= (input player (move ?s ?d))
  (snake ?s)
  (direction ?d))
(input player fall)
(input player leave)

INITIAL(init (step 0))

; --- Where things are ---

(<= (on ?s ?x ?y)
  (true (head ?s ?x ?y)))
(<= (on ?s ?x ?y)
  (true (body ?s ?x ?y ?d)))

(<= (present ?s)
  (true (head ?s ?x ?y)))

; Another segment of the snake comes behind this one: it is not the tail.
(<= (followed ?s ?x2 ?y2)
  (true (body ?s ?x ?y ?d))
  (adjacent ?d ?x ?y ?x2 ?y2))

; --- Gravity: what is held stands on something firm; what cannot be shown to be held falls ---

(<= (held ?s)
  (on ?s ?x ?y)
  (floor ?x ?y))
(<= (held ?s)
  (on ?s ?x ?y)
  (adjacent down ?x ?y ?x2 ?y2)
  (firm ?x2 ?y2))

(<= (firm ?x ?y)
  (on ?s ?x ?y)
  (held ?s))
FIRM
(<= falling
  (present ?s)
  (not (held ?s)))
FALLING
(<= leaving
  (at_exit ?s))

FRUIT_LEFT(<= (at_exit ?s)
  (true (head ?s ?x ?y))
  (exit ?x ?y)NO_FRUIT)

; --- Moves ---

(<= (legal player leave)
  leaving)
(<= (legal player fall)
  falling
  (not leaving))
(<= (legal player (move ?s ?d))
  (ahead ?s ?d ?x ?y)
  (not leaving)
  (not falling)
  (not (stuck ?s ?d)))

(<= (ahead ?s ?d ?x2 ?y2)
  (true (head ?s ?x1 ?y1))
  (adjacent ?d ?x1 ?y1 ?x2 ?y2))

; Snake S on its way in direction D needs this cell, itself or by what it shoves.
(<= (wanted ?s ?d ?x ?y)
  (ahead ?s ?d ?x ?y))
(<= (wanted ?s ?d ?x2 ?y2)
  (shoved ?s ?d ?x1 ?y1)
  (adjacent ?d ?x1 ?y1 ?x2 ?y2))
(<= (shoves ?s ?d ?t)
  (wanted ?s ?d ?x ?y)
  (on ?t ?x ?y)
  (distinct ?s ?t))
(<= (shoved ?s ?d ?x ?y)
  (shoves ?s ?d ?t)
  (on ?t ?x ?y))
SHOVED
(<= (stuck ?s ?d)
  (wanted ?s ?d ?x ?y)
  (on ?s ?x ?y))
(<= (stuck ?s ?d)
  (shoved ?s ?d ?x ?y)
  (closed ?d ?x ?y))
STUCK
; The snake that moves: a new head, and the tail goes unless it eats.
(<= (next (head ?s ?x ?y))
  (does player (move ?s ?d))
  (ahead ?s ?d ?x ?y))
(<= (next (body ?s ?x ?y ?d))
  (does player (move ?s ?d))
  (true (head ?s ?x ?y)))
(<= (next (body ?s ?x ?y ?e))
  (does player (move ?s ?d))
  (true (body ?s ?x ?y ?e))
  (followed ?s ?x ?y))
EATING
; Snakes that are shoved or fall.
(<= (goes ?t ?d)
  (does player (move ?s ?d))
  (shoves ?s ?d ?t))
(<= (goes ?s down)
  (does player fall)
  (present ?s)
  (not (held ?s)))
(<= (next (head ?s ?x2 ?y2))
  (goes ?s ?d)
  (true (head ?s ?x1 ?y1))
  (adjacent ?d ?x1 ?y1 ?x2 ?y2))
(<= (next (body ?s ?x2 ?y2 ?e))
  (goes ?s ?d)
  (true (body ?s ?x1 ?y1 ?e))
  (adjacent ?d ?x1 ?y1 ?x2 ?y2))

; Snakes that stay.
(<= (stirs ?s)
  (goes ?s ?d))
(<= (stirs ?s)
  (does player (move ?s ?d)))
(<= (stirs ?s)
  (does player leave)
  (at_exit ?s))
(<= (next (head ?s ?x ?y))
  (true (head ?s ?x ?y))
  (not (stirs ?s)))
(<= (next (body ?s ?x ?y ?d))
  (true (body ?s ?x ?y ?d))
  (not (stirs ?s)))
NEXT
(<= (next (step ?n))
  (true (step ?m))
  (succ ?m ?n))

; --- The end ---

(<= terminal
  solved)
(<= terminal
  lost)
(<= terminal
  (not can_go_on))
(<= terminal
  (true (step LIMIT)))

(<= solved
  (not some_present))
(<= some_present
  (present ?s))

(<= can_go_on
  leaving)
(<= can_go_on
  falling)
(<= can_go_on
  (ahead ?s ?d ?x ?y)
  (not (stuck ?s ?d)))

; A snake is about to fall onto spikes or off the board.
(<= lost
  (on ?s ?x ?y)
  (deadly ?x ?y)
  (not (held ?s))
  (not leaving))

(<= (goal player 100)
  solved)
(<= (goal player 0)
  some_present)

; --- The level ---
"""

_BLOCKS = {
    "BASES": """(<= (base (block ?x ?y))
  (open ?x ?y))
""",
    "FIRM": """(<= (firm ?x ?y)
  (held_block ?x ?y))
(<= (held_block ?x ?y)
  (true (block ?x ?y))
  (block_floor ?x ?y))
(<= (held_block ?x ?y)
  (true (block ?x ?y))
  (adjacent down ?x ?y ?x2 ?y2)
  (firm ?x2 ?y2))
""",
    "FALLING": """(<= falling
  (true (block ?x ?y))
  (not (held_block ?x ?y)))
""",
    "SHOVED": """(<= (shoved ?s ?d ?x ?y)
  (wanted ?s ?d ?x ?y)
  (true (block ?x ?y)))
""",
    "NEXT": """
; Blocks: one that falls off the board is gone.
(<= (block_goes ?d ?x ?y)
  (does player (move ?s ?d))
  (shoved ?s ?d ?x ?y)
  (true (block ?x ?y)))
(<= (block_goes down ?x ?y)
  (does player fall)
  (true (block ?x ?y))
  (not (held_block ?x ?y)))
(<= (block_stirs ?x ?y)
  (block_goes ?d ?x ?y))
(<= (next (block ?x2 ?y2))
  (block_goes ?d ?x1 ?y1)
  (adjacent ?d ?x1 ?y1 ?x2 ?y2))
(<= (next (block ?x ?y))
  (true (block ?x ?y))
  (not (block_stirs ?x ?y)))
""",
}
_FRUIT = {
    "BASES": """(<= (base (fruit ?x ?y))
  (grows ?x ?y))
""",
    "FIRM": """(<= (firm ?x ?y)
  (true (fruit ?x ?y)))
""",
    "FRUIT_LEFT": """(<= fruit_left
  (true (fruit ?x ?y)))

""",
    "NO_FRUIT": "\n  (not fruit_left)",
    "STUCK": """(<= (stuck ?s ?d)
  (shoved ?s ?d ?x1 ?y1)
  (adjacent ?d ?x1 ?y1 ?x2 ?y2)
  (true (fruit ?x2 ?y2)))
""",
    "EATING": """(<= (next (body ?s ?x ?y ?e))
  (does player (move ?s ?d))
  (true (body ?s ?x ?y ?e))
  (ahead ?s ?d ?x2 ?y2)
  (true (fruit ?x2 ?y2)))
""",
    "NEXT": """
(<= (eaten ?x ?y)
  (does player (move ?s ?d))
  (ahead ?s ?d ?x ?y))
(<= (next (fruit ?x ?y))
  (true (fruit ?x ?y))
  (not (eaten ?x ?y)))
""",
}
_PLACES = ("BASES", "FIRM", "FALLING", "FRUIT_LEFT", "NO_FRUIT", "SHOVED", "STUCK", "EATING", "NEXT")


def level_to_rules(level: SnakeLevel, steps: int = STEPS) -> str:
    """The rules of a level, in the layout of ``ggp format``, with the map in the comment at the top.

    Args:
        level: a level that was read.
        steps: after how many moves, falls included, the game ends.

    Raises ValueError if ``steps`` is less than 1.
    """
    if steps < 1:
        raise ValueError(f"a game cannot end after {steps} moves")
    body = _RULES
    for place in _PLACES:
        text = _BLOCKS.get(place, "") if level.cells("$") else ""
        text += _FRUIT.get(place, "") if level.cells("*") else ""
        body = body.replace(place, text, 1)
    body = body.replace("INITIAL", _initial(level)).replace("LIMIT", str(steps))
    facts = "\n".join(_facts(level))
    counting = "\n".join(f"(succ {n} {n + 1})" for n in range(steps))
    text = f"{_header(level, steps)}\n(role player)\n{body}\n{facts}\n\n; --- Counting ---\n\n{counting}\n"
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text


def _name(level: SnakeLevel, cell: Cell) -> str:
    return f"{chr(ord('a') + cell[0])} {level.height - cell[1]}"


def _header(level: SnakeLevel, steps: int) -> str:
    cells = _open(level)
    bases = 5 * len(level.snakes) * len(cells) + len(level.cells("*")) + steps + 1
    bases += len(cells) if level.cells("$") else 0
    lines_of_map = [f"        {level.height - y:3}  {row}" for y, row in enumerate(level.rows)]
    lines_of_map.append(" " * 13 + "".join(chr(ord("a") + x) for x in range(level.width)))
    lines_out = [
        f"Snakes{', ' + level.title if level.title else ''}: they eat, push, fall and leave.",
        "",
        "Roles   player, alone.",
        "State   (head S X Y); (body S X Y D): the rest of snake S; D points to the next segment towards",
        "        its head; (block X Y); (fruit X Y) not yet eaten; (step N).",
        "        Columns are letters from left to right, rows are numbers from the bottom up.",
        "        # wall, * fruit, $ block, ! spikes, E exit, A to D heads, < > ^ v bodies:",
        *lines_of_map,
        "Moves   (move S D): the head of S goes up, down, left or right, the body follows; on fruit S",
        "        grows. Other snakes and blocks ahead are pushed, all or none; walls, spikes, fruit, the",
        "        board's edge and S itself cannot be.",
        "        fall: the only move while something stands on nothing; all such things go down by one cell.",
        "        Falling to the end within one move would take a recursion over heights in every rule of",
        "        what comes next; so each cell is a move, and rules and network stay small.",
        "        leave: the only move while a head is at the exit and no fruit is left; that snake is gone.",
        "        Walls, fruit and what stands on them hold snakes and blocks; spikes hold blocks only.",
        "Ends    when all snakes have left, when one falls onto spikes or off the board,",
        f"        when nothing can move, or after {steps} moves.",
        "Goals   100 when all snakes have left, or else 0.",
        f"Size    {bases} base propositions, {4 * len(level.snakes) + 2} moves.",
    ]
    return "\n".join(f"; {line}".rstrip() for line in lines_out) + "\n"


def _open(level: SnakeLevel) -> list[Cell]:
    return level.cells(".*$E" + HEADS + "".join(ARROWS))


def _adjacent(level: SnakeLevel) -> list[tuple[str, Cell, Cell]]:
    cells = _open(level)
    inside = set(cells)
    return [
        (name, (x, y), (x + i, y + j))
        for name, i, j in ARROWS.values()
        for x, y in cells
        if (x + i, y + j) in inside
    ]


def _initial(level: SnakeLevel) -> str:
    lines = []
    for head, segments in level.snakes.items():
        lines.append(f"(init (head {head.lower()} {_name(level, segments[0][0])}))")
        for cell, arrow in segments[1:]:
            lines.append(f"(init (body {head.lower()} {_name(level, cell)} {ARROWS[arrow][0]}))")
    lines += [f"(init (block {_name(level, cell)}))" for cell in level.cells("$")]
    lines += [f"(init (fruit {_name(level, cell)}))" for cell in level.cells("*")]
    return "\n".join(lines) + "\n"


def _facts(level: SnakeLevel) -> list[str]:
    cells, adjacent = _open(level), _adjacent(level)
    inside, walls, spikes = set(cells), set(level.cells("#")), set(level.cells("!"))
    below = {cell: (cell[0], cell[1] + 1) for cell in cells}
    on_wall = [cell for cell in cells if below[cell] in walls]
    on_spikes = [cell for cell in cells if below[cell] in spikes]
    parts = [
        [f"(snake {head.lower()})" for head in level.snakes],
        [f"(direction {name})" for name, _, _ in ARROWS.values()],
        [f"(exit {_name(level, cell)})" for cell in level.cells("E")],
        [f"(grows {_name(level, cell)})" for cell in level.cells("*")],
        [f"(open {_name(level, cell)})" for cell in cells],
        ["; Open cells on a wall, those where blocks stand on either, those above a snake's death."],
        [f"(floor {_name(level, cell)})" for cell in on_wall],
        [f"(block_floor {_name(level, cell)})" for cell in on_wall + on_spikes if level.cells("$")],
        [f"(deadly {_name(level, cell)})" for cell in cells if below[cell] not in inside | walls],
        ["; From an open cell to the next; open cells with none in this direction."],
        [f"(adjacent {d} {_name(level, a)} {_name(level, b)})" for d, a, b in adjacent],
        [
            f"(closed {d} {_name(level, (x, y))})"
            for d, i, j in ARROWS.values()
            for x, y in cells
            if (x + i, y + j) not in inside
        ],
    ]
    lines: list[str] = []
    for part in parts:
        lines += [*part, *([""] if part and not part[0].startswith(";") else [])]
    return lines
