"""What comes of a level, and the replay of its solution, known without loading a search."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from players.puzzles.sokoban.levels.gdl import level_to_gdl
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import LETTERS, Push
from players.solvers import Solution, replayed

GDL_MOVES = dict(zip(LETTERS, ("(move up)", "(move right)", "(move down)", "(move left)"), strict=True))
"""The move of the rules that each letter of a solution stands for."""


class Outcome(Enum):
    """What a search has come to."""

    GOING_ON = "going on"
    SOLVED = "solved"
    UNSOLVABLE = "unsolvable"
    """Proven: all positions were looked at, or left out for a proof of their own. With ``most_pushes``, that
    no solution has so few."""
    MEMORY_FULL = "memory full"
    """It needs more memory to go on; nothing is proven."""
    GAVE_UP = "gave up"
    """It ran out of ideas; nothing is proven."""


class Metric(Enum):
    """What makes one solution shorter than another; the other one decides where they are equal."""

    PUSHES = "pushes"
    MOVES = "moves"


@dataclass(frozen=True, slots=True)
class LevelSolution:
    """What came of a level.

    Attributes:
        outcome: SOLVED, UNSOLVABLE (proven), MEMORY_FULL, GAVE_UP, or GOING_ON where time was up.
        pushes: the solution.
        steps: the same as letters, see :mod:`players.puzzles.sokoban.lines`.
        optimal: whether no solution is known to have fewer pushes, by proof.
        solver: the search that found it; empty where none was needed or none did.
        positions: how many positions were made.
        seconds: CPU seconds of this thread, replaying included.
        full: the searches whose memory was full.
    """

    outcome: Outcome
    pushes: tuple[Push, ...]
    steps: str
    optimal: bool
    solver: str
    positions: int
    seconds: float
    full: tuple[str, ...] = ()


def replay(level: Level, steps: str, solver: str = "") -> None:
    """Play the steps on the prover, by the rules that the level is written as.

    Raises:
        GdlError: they do not solve it. That is an error of the solver.
    """
    rules = parse_rules(level_to_gdl(level, solution=len(steps)), "the level's rules")
    moves = tuple(GDL_MOVES[letter] for letter in steps.lower())
    try:
        replayed(rules, Solution(100, moves, False, solver or "the level as it is", 0, 0.0))
    except GdlError as error:
        raise GdlError(f"a solution does not solve the level: {error.message}") from None
