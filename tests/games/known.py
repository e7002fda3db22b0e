"""Moves that are known to solve the puzzles, or to show what a game's rules can do."""

from __future__ import annotations

from typing import Final


def steps(letters: str) -> str:
    """The moves of Sokoban that u, d, l and r stand for."""
    words = {"u": "up", "d": "down", "l": "left", "r": "right"}
    return " ".join(f"(move {words[letter]})" for letter in letters)


OWN_TESTS: Final = [
    "amazons", "atarigo", "backgammon", "biddingtictactoe", "breakthrough", "checkers", "chess",
    "chinesecheckers", "chomp", "connectfour", "eightpuzzle", "hanoi", "hex", "kalah",
    "knightstour", "lightsout", "nim", "ninemensmorris", "othello", "pegsolitaire", "pentominoes",
    "prisonersdilemma", "queens", "rockpaperscissors", "sokoban", "soma", "sudoku", "tictactoe",
    "tron",
]  # fmt: skip
"""The games that tests of their own compare with known counts, positions and plays; all others have an oracle
that random matches are compared with."""

OPENINGS: Final[dict[str, str]] = {
    # En passant, castling on both sides, a capture with promotion.
    "chess": """
        (move e 2 e 4) (move a 7 a 6) (move e 4 e 5) (move d 7 d 5) (move e 5 d 6) (move g 8 f 6)
        (move g 1 f 3) (move g 7 g 6) (move d 6 c 7) (move f 8 g 7) (move f 1 e 2) (castle kingside)
        (castle kingside) (move h 7 h 6) (promote c 7 d 8 queen) (move f 8 d 8)""",
    # White jumps twice in one turn.
    "checkers": """
        (move g 3 f 4) (move b 6 c 5) (move c 3 d 4) (move d 6 e 5) (jump f 4 d 6)
        (jump c 7 e 5) (jump e 5 c 3)""",
    # A bid that is tied, and one that is not.
    "biddingtictactoe": "(bid 2) (bid 2) (mark b 2) (bid 1) (bid 3) (mark a 1)",
    # South's seeds end in the store, so south moves again; north captures later on.
    "kalah": "(sow c) (sow b) (sow b) (sow c)",
    # White tries where black stands, black takes a stone, and white may not take back at once.
    "phantomgo": """
        (try a 2) (try a 2) (try c 3) (try b 3) (try d 2) (try b 1) (try c 1) (try e 5)
        (try b 2) (try c 2) (try b 2) (try a 3) pass pass""",
    # One of the 240 ways (11,520 with turns).
    "soma": """
        (place right 0 1 2 2) (place tripod 9 2 3 2) (place left 0 1 1 1)
        (place v 10 1 3 1) (place z 4 3 1 1) (place l 3 1 1 2) (place t 2 1 3 3)""",
    # One of the 4 ways.
    "pentominoes": """
        (place f 18 1 5) (place y 20 4 2) (place p 2 1 1)
        (place u 2 1 3) (place v 10 3 1) (place l 10 2 6)""",
    # One of the 6,088 ways.
    "polyominoes": """
        (place o 1 a 1) (place domino 1 a 4) (place bar 1 a 3) (place i 1 c 4)
        (place l 2 e 3) (place corner 3 g 1) (place t 1 d 1) (place s 4 c 1)""",
    # 70 pushes.
    "sokoban": steps(
        "rddddrullldluruuururdruudllldluurrrddddrrrdrrulllldluuulurdrudlddrrrruuldrdllldluuuuuddddr"
        "rruuruuldddrdllldluuuudddllllldllurrrrdruuuruldlurdddlllluurdldrrrdruuuuuddddllluuluurdddl"
        "drrrdruuuu"
    ),
    "hanoi": """
        (move 1 right) (move 2 middle) (move 1 middle) (move 3 right) (move 1 left) (move 2 right)
        (move 1 right) (move 4 middle) (move 1 middle) (move 2 left) (move 1 left) (move 3 middle)
        (move 1 right) (move 2 middle) (move 1 middle) (move 5 right) (move 1 left) (move 2 right)
        (move 1 right) (move 3 left) (move 1 middle) (move 2 left) (move 1 left) (move 4 right)
        (move 1 right) (move 2 middle) (move 1 middle) (move 3 right) (move 1 left) (move 2 right)
        (move 1 right)""",
    "eightpuzzle": """
        (slide 8) (slide 1) (slide 5) (slide 8) (slide 7) (slide 4) (slide 3) (slide 2) (slide 1)
        (slide 7) (slide 4) (slide 6) (slide 8) (slide 5) (slide 7) (slide 4) (slide 5) (slide 8)""",
    "lightsout": """
        (press a 4) (press e 4) (press a 3) (press b 3) (press d 3) (press e 3) (press a 2) (press e 2)""",
    "queens": """
        (place a 1) (place b 5) (place c 8) (place d 6) (place e 3) (place f 7) (place g 2) (place h 4)""",
    "pegsolitaire": """
        (jump d 2 d 4) (jump b 3 d 3) (jump c 1 c 3) (jump e 1 c 1) (jump d 3 b 3) (jump a 3 c 3)
        (jump e 3 e 1) (jump g 3 e 3) (jump c 4 c 2) (jump c 1 c 3) (jump a 4 c 4) (jump c 4 c 2)
        (jump e 4 e 2) (jump e 1 e 3) (jump g 4 e 4) (jump e 4 e 2) (jump c 6 c 4) (jump a 5 c 5)
        (jump c 5 c 3) (jump c 2 c 4) (jump c 4 e 4) (jump e 5 e 3) (jump e 2 e 4) (jump g 5 e 5)
        (jump d 5 f 5) (jump e 7 e 5) (jump e 4 e 6) (jump c 7 e 7) (jump e 7 e 5) (jump f 5 d 5)
        (jump d 6 d 4)""",
    "knightstour": """
        (jump b 3) (jump a 5) (jump c 4) (jump e 5) (jump d 3) (jump e 1) (jump c 2) (jump d 4)
        (jump b 5) (jump a 3) (jump b 1) (jump d 2) (jump e 4) (jump c 5) (jump a 4) (jump b 2)
        (jump d 1) (jump e 3) (jump d 5) (jump b 4) (jump a 2) (jump c 3) (jump e 2) (jump c 1)""",
}
"""Game -> moves from its initial state, at each step one for every role that has a choice;
forced moves may be among them."""

SOLVED: Final = (
    "eightpuzzle", "hanoi", "knightstour", "lightsout", "pegsolitaire", "pentominoes", "polyominoes",
    "queens", "soma", "sokoban",
)  # fmt: skip
"""Puzzles that their opening solves."""
