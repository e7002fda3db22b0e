"""`CoverInstance`: what a file has, as a cover problem, and how its solutions are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.files.read import read_problem
from players.puzzles.cover.problem import CoverProblem


@dataclass(frozen=True, slots=True)
class CoverInstance:
    """A cover problem that was named on the command line.

    Attributes:
        name: for people.
        problem: the problem.
        tell: the text of a solution (sorted numbers of its options), lines without a last newline.
    """

    name: str
    problem: CoverProblem
    tell: Callable[[NDArray[np.int32]], str]


def load_instance(path: Path) -> CoverInstance:
    """Read a file. Raises GdlError."""
    problem = read_problem(path)

    def tell(solution: NDArray[np.int32]) -> str:
        return "\n".join(_option_text(problem, int(option)) for option in solution)

    return CoverInstance(path.stem, problem, tell)


def _option_text(problem: CoverProblem, option: int) -> str:
    if problem.option_names and problem.option_names[option]:
        return problem.option_names[option]
    names = problem.item_names
    return " ".join(names[item] if names else str(item) for item in problem.option(option))
