"""What other GGP systems reach on public games: figures published, or taken on a machine like ours."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """What others reach on one game, on one thread.

    Attributes:
        prover: rate of ggp-base's prover, the reference implementation in Java.
        states: whether that is states per second; else playouts per second.
        best: best published playouts per second of a network engine (ggplib in C++, Sancho in
            Java: counter gates with event propagation); 0 where unknown.
        year: when ``prover`` was measured, on a processor of that year; 2026 is one like ours.
    """

    prover: float
    states: bool
    best: float
    year: int


PUBLISHED = {
    "ticTacToe": Published(1_253, False, 381_700, 2026),
    "connectFour": Published(115, False, 160_200, 2026),
    "breakthrough": Published(12.6, False, 28_300, 2026),
    "reversi": Published(49, True, 1_815, 2017),
    "hex": Published(206, True, 1_950, 2016),
    "pentago": Published(442, True, 18_400, 2016),
    "nineBoardTicTacToe": Published(437, True, 31_200, 2016),
    "amazons_8x8": Published(391, True, 4_370, 2016),
    "speedChess": Published(158, True, 4_482, 2016),
    "skirmish": Published(45, True, 863, 2016),
    "knightThrough": Published(1_106, True, 10_900, 2016),
    "checkers": Published(320, True, 2_500, 2016),
    "chineseCheckers2": Published(2_893, True, 17_200, 2016),
    "dotsAndBoxes": Published(613, True, 16_900, 2016),
    "eightPuzzle": Published(3_379, True, 10_440, 2016),
    "othello-comp2007": Published(5.1, True, 0, 2016),
    "chess_200": Published(45, True, 0, 2016),
}
