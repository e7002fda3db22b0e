"""`CoverInstance`: what a file has, as something to be searched, and how its solutions are told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from players.puzzles.cover.outcome import CoverOptions, CoverResult
from players.puzzles.cover.problem import CoverProblem
from players.puzzles.cover.search import CoverSearch

Watch = Callable[[CoverResult], None]


class RunningSearch(Protocol):
    """What a search of covers and one of packings have in common: see `CoverSearch`."""

    def step(self, deadline: float) -> bool: ...

    def taken(self) -> list[NDArray[np.int32]]: ...

    def result(self) -> CoverResult: ...

    def saved(self) -> dict[str, Any]: ...


class CoverInstance(ABC):
    """A puzzle that was named on the command line; `name` is for people."""

    name: str

    @property
    @abstractmethod
    def options(self) -> int:
        """How many options solutions choose from."""

    @abstractmethod
    def search(self, options: CoverOptions, watch: Watch, saved: dict[str, Any] | None) -> RunningSearch:
        """A new search, or one that goes on from what was saved."""

    @abstractmethod
    def tell(self, solution: NDArray[np.int32]) -> str:
        """The text of a solution, lines without a last newline."""

    @abstractmethod
    def as_json(self, solution: Sequence[int]) -> object:
        """A solution for JSON."""

    def keep(self, path: Path, solutions: Sequence[NDArray[np.int32]], *, complete: bool) -> None:
        """Write a drawing of solutions, or a file with them, of the kind that the file's name says."""
        raise GdlError(f"{path}: only packing puzzles are drawn", remedy="leave --render and --export out")

    def as_rules(self) -> str:
        """The puzzle as a game, in KIF. Raises GdlError for what is no packing puzzle."""
        raise GdlError(f"{self.name} is no packing puzzle", remedy="only these become games: leave --gdl out")


class PlainInstance(CoverInstance):
    """A cover problem as such."""

    def __init__(self, name: str, problem: CoverProblem) -> None:
        self.name, self.problem = name, problem

    @property
    def options(self) -> int:
        return self.problem.options

    def search(self, options: CoverOptions, watch: Watch, saved: dict[str, Any] | None) -> CoverSearch:
        if saved is None:
            return CoverSearch(self.problem, options, watch)
        return CoverSearch.resumed(self.problem, saved, options, watch)

    def tell(self, solution: NDArray[np.int32]) -> str:
        return "\n".join(_option_text(self.problem, int(option)) for option in solution)

    def as_json(self, solution: Sequence[int]) -> object:
        return list(solution)


def _option_text(problem: CoverProblem, option: int) -> str:
    if problem.option_names and problem.option_names[option]:
        return problem.option_names[option]
    names = problem.item_names
    return " ".join(names[item] if names else str(item) for item in problem.option(option))
