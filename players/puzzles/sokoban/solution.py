"""The result of a level, and the replay of its solution, without loading a search."""

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
"""The GDL move for each letter of a solution."""


class Outcome(Enum):
    """The outcome of a search."""

    GOING_ON = "going on"
    SOLVED = "solved"
    UNSOLVABLE = "unsolvable"
    """Proven: all positions were examined, or excluded by a proof of their own. With ``most_pushes``, proven
    that no solution has at most that many pushes."""
    MEMORY_FULL = "memory full"
    """The search needs more memory to continue; nothing is proven."""
    GAVE_UP = "gave up"
    """The search has nothing left to try; nothing is proven."""


class Metric(Enum):
    """The quantity to minimise; the other one breaks ties."""

    PUSHES = "pushes"
    MOVES = "moves"


@dataclass(frozen=True, slots=True)
class LevelSolution:
    """The result of a level.

    Attributes:
        outcome: SOLVED, UNSOLVABLE (proven), MEMORY_FULL, GAVE_UP, or GOING_ON if the time was up.
        pushes: the solution.
        steps: the solution as letters, see :mod:`players.puzzles.sokoban.lines`.
        optimal: whether it is proven that no solution has fewer pushes.
        solver: the search that found it; empty if none was needed or none succeeded.
        positions: the number of positions generated.
        seconds: CPU seconds of this thread, including the replay.
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
    """Replay the steps on the prover, with the rules of the level.

    Raises:
        GdlError: the steps do not solve the level, which is an error of the solver.
    """
    rules = parse_rules(level_to_gdl(level, solution=len(steps)), "the level's rules")
    moves = tuple(GDL_MOVES[letter] for letter in steps.lower())
    try:
        replayed(rules, Solution(100, moves, False, solver or "the level as it is", 0, 0.0))
    except GdlError as error:
        raise GdlError(f"a solution does not solve the level: {error.message}") from None
