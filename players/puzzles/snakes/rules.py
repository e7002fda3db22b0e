"""`level_to_rules`: writes a level of Snakes as GDL rules: rules shared by all levels, and facts of this one.

The shared rules have parts for fruit, blocks and spikes.
"""

from __future__ import annotations

import re
from itertools import pairwise

from gdl.syntax.preface import preface_lines
from players.puzzles.level_name import LevelKind
from players.puzzles.snakes.level import (
    ARROWS,
    BLOCK,
    FREE,
    PIECES,
    Cell,
    SnakeLevel,
    find_level,
    names_snakes_file,
)

RULES = """
; --- What can be true, what can be done ---

(<= (base (head ?s ?x ?y))
  (snake ?s)
  (open ?x ?y))
(<= (base (body ?s ?x ?y ?d))
  (snake ?s)
  (open ?x ?y)
  (direction ?d))
@BASES@(base (step 0))
(<= (base (step ?n))
  (succ ?m ?n))

(<= (input player (move ?s ?d))
  (snake ?s)
  (direction ?d))
(input player fall)
(input player leave)

@INITIAL@(init (step 0))

; --- Where things are ---

(<= (on ?s ?x ?y)
  (true (head ?s ?x ?y)))
(<= (on ?s ?x ?y)
  (true (body ?s ?x ?y ?d)))
@ON@
(<= (present ?s)
  (true (head ?s ?x ?y)))

; Another segment of the snake comes behind this one: it is not the tail.
(<= (followed ?s ?x2 ?y2)
  (true (body ?s ?x ?y ?d))
  (adjacent ?d ?x ?y ?x2 ?y2))

; --- Gravity: what is held stands on something firm; what cannot be shown to be held falls ---

(<= (held ?t)
  (on ?t ?x ?y)
  (floor ?x ?y))
(<= (held ?t)
  (on ?t ?x ?y)
  (adjacent down ?x ?y ?x2 ?y2)
  (firm ?x2 ?y2))
@HELD@
(<= (firm ?x ?y)
  (on ?t ?x ?y)
  (held ?t))
@FIRM@
(<= falling
  (present ?s)
  (not (held ?s)))
@FALLING@
(<= leaving
  (at_exit ?s))

@FRUIT_LEFT@(<= (at_exit ?s)
  (true (head ?s ?x ?y))
  (exit ?x ?y)@NO_FRUIT@)

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
@SHOVED@
(<= (stuck ?s ?d)
  (wanted ?s ?d ?x ?y)
  (on ?s ?x ?y))
(<= (stuck ?s ?d)
  (shoved ?s ?d ?x ?y)
  (closed ?d ?x ?y))
@STUCK@
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
@EATING@
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
@NEXT@
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
  (true (step @LIMIT@)))

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
  (snake ?s)
  (on ?s ?x ?y)
  (deadly ?x ?y)
  (not (held ?s))
  (not leaving))

(<= (goal player 100)
  solved)
(<= (goal player 0)
  some_present)

; --- The board: what follows from the map below ---

(<= (beside right ?x1 ?y ?x2 ?y)
  (left_of ?x1 ?x2)
  (row ?y))
(<= (beside left ?x2 ?y ?x1 ?y)
  (left_of ?x1 ?x2)
  (row ?y))
(<= (beside up ?x ?y1 ?x ?y2)
  (column ?x)
  (under ?y1 ?y2))
(<= (beside down ?x ?y2 ?x ?y1)
  (column ?x)
  (under ?y1 ?y2))

(<= (solid ?x ?y)
  (wall ?x ?y))
@SOLID@
(<= (open ?x ?y)
  (column ?x)
  (row ?y)
  (not (solid ?x ?y)))

; From an open cell to the next; open cells with none in this direction.
(<= (adjacent ?d ?x1 ?y1 ?x2 ?y2)
  (open ?x1 ?y1)
  (beside ?d ?x1 ?y1 ?x2 ?y2)
  (open ?x2 ?y2))
(<= (goes_on ?d ?x1 ?y1)
  (adjacent ?d ?x1 ?y1 ?x2 ?y2))
(<= (closed ?d ?x ?y)
  (open ?x ?y)
  (direction ?d)
  (not (goes_on ?d ?x ?y)))

; Open cells on a wall; those above a snake's death.
(<= (floor ?x1 ?y1)
  (open ?x1 ?y1)
  (beside down ?x1 ?y1 ?x2 ?y2)
  (wall ?x2 ?y2))
@SPIKED@(<= (deadly ?x ?y)
  (closed down ?x ?y)
  (not (floor ?x ?y)))

; --- The level ---
"""
"""The rules of every level. A word between @ marks the place of a part."""

PARTS: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "blocks",
        {
            "BASES": """(<= (base (block ?x ?y))
  (open ?x ?y))
""",
            "FIRM": """(<= (firm ?x ?y)
  (held_block ?x ?y))
(<= (held_block ?x ?y)
  (true (block ?x ?y))
  (floor ?x ?y))
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
; Blocks of one cell: one that falls off the board is gone.
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
        },
    ),
    (
        "blocks spikes",
        {
            "FIRM": """(<= (held_block ?x ?y)
  (true (block ?x ?y))
  (spiked ?x ?y))
""",
        },
    ),
    (
        "pieces",
        {
            "BASES": """(<= (base (piece ?p ?x ?y))
  (place ?p ?x ?y))
""",
            "ON": """(<= (on ?p ?x2 ?y2)
  (true (piece ?p ?x1 ?y1))
  (covers ?p ?x1 ?y1 ?x2 ?y2))
""",
            "FALLING": """(<= falling
  (true (piece ?p ?x ?y))
  (not (held ?p)))
""",
            "NEXT": """
; Blocks of several cells move as one; one that falls off the board is gone.
(<= (goes ?p down)
  (does player fall)
  (true (piece ?p ?x ?y))
  (not (held ?p)))
(<= (next (piece ?p ?x2 ?y2))
  (goes ?p ?d)
  (true (piece ?p ?x1 ?y1))
  (adjacent ?d ?x1 ?y1 ?x2 ?y2)
  (place ?p ?x2 ?y2))
(<= (next (piece ?p ?x ?y))
  (true (piece ?p ?x ?y))
  (not (stirs ?p)))
""",
            "SPIKED": """(<= (place ?p ?x ?y)
  (covers ?p ?x ?y ?x ?y))

""",
        },
    ),
    (
        "pieces spikes",
        {
            "HELD": """(<= (held ?p)
  (true (piece ?p ?x1 ?y1))
  (covers ?p ?x1 ?y1 ?x2 ?y2)
  (spiked ?x2 ?y2))
""",
        },
    ),
    (
        "spikes",
        {
            "SOLID": """(<= (solid ?x ?y)
  (spikes ?x ?y))
""",
        },
    ),
    (
        "spikes either",
        {
            "SPIKED": """(<= (spiked ?x1 ?y1)
  (open ?x1 ?y1)
  (beside down ?x1 ?y1 ?x2 ?y2)
  (spikes ?x2 ?y2))

""",
        },
    ),
    (
        "fruit",
        {
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
        },
    ),
)
"""The traits a level must have, as words, and the texts for the places. ``blocks`` have one cell, ``pieces``
several; ``either`` means blocks or pieces."""

STEPS = 200
"""The default number of moves, falls included, after which a game ends."""


def level_to_rules(level: SnakeLevel, steps: int = STEPS) -> str:
    """Return the rules of a level, in the layout of ``ggp format``, with the map in the comment at the top.

    Args:
        level: a valid level.
        steps: the number of moves, falls included, after which the game ends.

    Raises ValueError if ``steps`` is less than 1.
    """
    if steps < 1:
        raise ValueError(f"a game cannot end after {steps} moves")
    traits = _traits(level)
    body = RULES
    for needs, texts in PARTS:
        if traits.issuperset(needs.split()):
            for place, text in texts.items():
                body = body.replace(f"@{place}@", f"{text}@{place}@", 1)
    body = body.replace("@INITIAL@", _initial(level)).replace("@LIMIT@", str(steps))
    body = re.sub("@[A-Z_]+@", "", body)
    counting = "\n".join(f"(succ {n} {n + 1})" for n in range(steps))
    facts = "\n".join(_facts(level))
    text = f"{_header(level, steps)}\n(role player)\n{body}\n{facts}\n\n; --- Counting ---\n\n{counting}\n"
    return re.sub("\n\n\n+", "\n\n", text)


def _traits(level: SnakeLevel) -> set[str]:
    """Return the traits of a level, in the words of PARTS."""
    has = {"fruit": "*", "spikes": "!", "blocks": BLOCK, "pieces": PIECES, "either": BLOCK + PIECES}
    return {trait for trait, characters in has.items() if level.cells(characters)}


def _name(level: SnakeLevel, cell: Cell) -> str:
    return f"{chr(ord('a') + cell[0])} {level.height - cell[1]}"


_HOW = (
    "Bring all snakes to the exit. In a move you choose a snake and a direction: its head goes there, and"
    " its body follows. A snake cannot go through walls or itself, but pushes other snakes and blocks"
    " ahead. Snakes and blocks fall down unless a wall, fruit or something that stands holds them up. A"
    " piece of fruit makes the snake that eats it longer, and once all fruit is eaten, a snake whose head"
    " is at the exit leaves. You lose if a snake falls onto spikes or off the board, or if nothing can"
    " move. There are {steps} moves, and each cell of a fall counts as one."
)


def _header(level: SnakeLevel, steps: int) -> str:
    cells = level.cells(FREE)
    bases = 5 * len(level.snakes) * len(cells) + len(level.cells("*")) + steps + 1
    bases += len(cells) if level.cells(BLOCK) else 0
    bases += sum(len(_shifts(level, piece)) for piece in level.pieces.values())
    lines_of_map = [f"        {level.height - y:3}  {row}" for y, row in enumerate(level.rows)]
    lines_of_map.append(" " * 13 + "".join(chr(ord("a") + x) for x in range(level.width)))
    lines_out = [
        f"Snakes{', ' + level.title if level.title else ''}: they eat, push, fall and leave.",
        *preface_lines(_HOW.format(steps=steps), "puzzle"),
        "",
        "Roles   player, alone.",
        "State   (head S X Y); (body S X Y D): the rest of snake S; D points to the next segment towards",
        "        its head; (block X Y), of one cell; (piece P X Y): one of several, by the first cell of its",
        "        lowest row; (fruit X Y) not yet eaten; (step N).",
        "        Columns are letters from left to right, rows are numbers from the bottom up.",
        "        # wall, * fruit, $ block of one cell, 1 to 9 block of the cells with this digit, ! spikes,",
        "        E exit, A to D heads, < > ^ v bodies, each pointing to the next segment towards its head:",
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
        "",
        "say: (move ?s ?d) as snake ?S ?d",
        "say: leave as leave by the exit",
        "ends: solved as all snakes have left",
        "ends: lost as a snake is lost",
        "ends: (not can_go_on) as nothing can move",
    ]
    return "\n".join(f"; {line}".rstrip() for line in lines_out) + "\n"


def _shifts(level: SnakeLevel, piece: tuple[Cell, ...]) -> list[tuple[Cell, ...]]:
    """Return the places that a block of several cells can reach one step at a time, with only walls and the
    board's edge in its way."""
    inside = set(level.cells(FREE))
    seen, waiting = {piece}, [piece]
    for cells in waiting:
        for _, i, j in ARROWS.values():
            shifted = tuple((x + i, y + j) for x, y in cells)
            if shifted not in seen and inside.issuperset(shifted):
                seen.add(shifted)
                waiting.append(shifted)
    return sorted(seen, key=lambda cells: (-cells[0][1], cells[0][0]))


def _initial(level: SnakeLevel) -> str:
    lines = []
    for head, segments in level.snakes.items():
        lines.append(f"(init (head {head.lower()} {_name(level, segments[0][0])}))")
        for cell, arrow in segments[1:]:
            lines.append(f"(init (body {head.lower()} {_name(level, cell)} {ARROWS[arrow][0]}))")
    lines += [f"(init (block {_name(level, cell)}))" for cell in level.cells(BLOCK)]
    lines += [f"(init (piece p{name} {_name(level, cells[0])}))" for name, cells in level.pieces.items()]
    lines += [f"(init (fruit {_name(level, cell)}))" for cell in level.cells("*")]
    return "\n".join(lines) + "\n"


def _facts(level: SnakeLevel) -> list[str]:
    columns = [chr(ord("a") + x) for x in range(level.width)]
    rows = range(1, level.height + 1)
    parts = [
        [f"(snake {head.lower()})" for head in level.snakes],
        [f"(direction {name})" for name, _, _ in ARROWS.values()],
        [f"(column {name})" for name in columns],
        [f"(left_of {a} {b})" for a, b in pairwise(columns)],
        [f"(row {row})" for row in rows],
        [f"(under {a} {b})" for a, b in pairwise(rows)],
        [f"(exit {_name(level, cell)})" for cell in level.cells("E")],
        [f"(grows {_name(level, cell)})" for cell in level.cells("*")],
        [f"(wall {_name(level, cell)})" for cell in level.cells("#")],
        [f"(spikes {_name(level, cell)})" for cell in level.cells("!")],
    ]
    if level.pieces:
        parts.append(["; A block of several cells whose first cell is at the first place covers the second."])
    for piece, start in level.pieces.items():
        parts.append(
            [
                f"(covers p{piece} {_name(level, cells[0])} {_name(level, cell)})"
                for cells in _shifts(level, start)
                for cell in cells
            ]
        )
    lines: list[str] = []
    for part in parts:
        lines += [*part, *([""] if part and not part[0].startswith(";") else [])]
    return lines


LEVELS = LevelKind(names_snakes_file, lambda name, steps: level_to_rules(find_level(name), steps or STEPS))
"""The levels of Snakes, as an entry point of ``kaskade.levels``."""
