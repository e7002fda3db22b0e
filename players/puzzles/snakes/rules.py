"""`level_to_rules`: writes a level of Snakes as rules in GDL: rules of all levels, facts of this one."""

from __future__ import annotations

import re
from itertools import pairwise

from players.puzzles.snakes.level import ARROWS, BLOCK, FREE, PIECES, Cell, SnakeLevel
from players.puzzles.snakes.rule_text import PARTS, RULES

STEPS = 200
"""Moves, falls included, after which a game ends unless said otherwise."""


def level_to_rules(level: SnakeLevel, steps: int = STEPS) -> str:
    """The rules of a level, in the layout of ``ggp format``, with the map in the comment at the top.

    Args:
        level: a level that was read.
        steps: after how many moves, falls included, the game ends.

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
    """What the level has, in the words of PARTS."""
    has = {"fruit": "*", "spikes": "!", "blocks": BLOCK, "pieces": PIECES, "either": BLOCK + PIECES}
    return {trait for trait, characters in has.items() if level.cells(characters)}


def _name(level: SnakeLevel, cell: Cell) -> str:
    return f"{chr(ord('a') + cell[0])} {level.height - cell[1]}"


def _header(level: SnakeLevel, steps: int) -> str:
    cells = level.cells(FREE)
    bases = 5 * len(level.snakes) * len(cells) + len(level.cells("*")) + steps + 1
    bases += len(cells) if level.cells(BLOCK) else 0
    bases += sum(len(_shifts(level, piece)) for piece in level.pieces.values())
    lines_of_map = [f"        {level.height - y:3}  {row}" for y, row in enumerate(level.rows)]
    lines_of_map.append(" " * 13 + "".join(chr(ord("a") + x) for x in range(level.width)))
    lines_out = [
        f"Snakes{', ' + level.title if level.title else ''}: they eat, push, fall and leave.",
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
    ]
    return "\n".join(f"; {line}".rstrip() for line in lines_out) + "\n"


def _shifts(level: SnakeLevel, piece: tuple[Cell, ...]) -> list[tuple[Cell, ...]]:
    """Where a block of several cells can be, one step at a time, walls and the board alone in its way."""
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
