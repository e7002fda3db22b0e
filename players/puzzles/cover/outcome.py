"""The options and the result of a search of a cover problem, and the saved state for a later process: a
fingerprint of the problem, and checks of the saved data."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.problem import CoverError, CoverProblem

MOST_OPEN = 0.9999
"""The most progress of a search that is not complete."""


@dataclass(frozen=True, slots=True)
class CoverOptions:
    """The options of a search.

    Attributes:
        engine: the name of an engine; for None the search chooses one.
        workers: threads that search branches side by side; the solutions are the same whatever their number.
        delivers: whether to keep solutions until they are taken; otherwise they are only counted.
        first: stop after this many solutions; None for all.
    """

    engine: str | None = None
    workers: int = 1
    delivers: bool = True
    first: int | None = None


@dataclass(frozen=True, slots=True)
class CoverResult:
    """The state of a search at any time.

    Attributes:
        solutions: the exact number of solutions found; the number of all solutions if the search is complete.
        complete: whether everything was searched.
        nodes: the nodes searched.
        engine: the name of the engine, ``memo`` for the counting memo.
        seconds_cpu, seconds_wall: the time of all steps, including those before the search was
            resumed.
        progress: the part of the tree that is done, 0 to 1; it never decreases. It is 1 only if the search is
            complete: if everything is searched but not all solutions are delivered yet, it is
            :data:`MOST_OPEN`.
        reduction: statistics of the reduction: numbers by name.
    """

    solutions: int
    complete: bool
    nodes: int
    engine: str
    seconds_cpu: float
    seconds_wall: float
    progress: float
    reduction: dict[str, int]

    @property
    def seconds_left(self) -> float | None:
        """The estimated wall time of the rest in seconds, at the present speed; None while little is
        done."""
        if self.complete:
            return 0.0
        return self.seconds_wall * (1 / self.progress - 1) if self.progress > 1e-6 else None


FORMAT = 1


def digest(problem: CoverProblem) -> str:
    """Return the SHA-256, in hexadecimal, of all data that a problem's solutions depend on; names are not
    included."""
    hashed = hashlib.sha256()
    for array in (
        problem.minimum,
        problem.maximum,
        problem.starts,
        problem.nodes,
        problem.weights,
        problem.colours,
        problem.may_be_hole,
    ):
        data = np.ascontiguousarray(array, "<i4")
        hashed.update(len(data).to_bytes(8, "little") + data.tobytes())
    hashed.update(repr(problem.holes).encode())
    return hashed.hexdigest()


def damaged(what: str) -> CoverError:
    """Return the error for a saved search that cannot be read."""
    return CoverError(f"the saved search is damaged: {what}", remedy="start again without it")


def number(saved: dict[str, Any], key: str, least: int = 0) -> int:
    """Return an integer of a saved search that must be at least ``least``. Raises CoverError."""
    value = saved.get(key)
    if type(value) is not int or value < least:
        raise damaged(f"{key} is {str(value)[:40]}")
    return value


def seconds(saved: dict[str, Any], key: str) -> float:
    """Return a time of a saved search. Raises CoverError."""
    value = saved.get(key)
    if type(value) not in (int, float) or not 0 <= float(value or 0) < 1e12:
        raise damaged(f"{key} is {str(value)[:40]}")
    return float(value or 0)


def solutions(saved: dict[str, Any], key: str, options: int) -> list[NDArray[np.int32]]:
    """Return the solutions of a saved search as sorted numbers below ``options``. Raises CoverError."""
    rows = saved.get(key)
    if not isinstance(rows, list):
        raise damaged(f"{key} must be a list")
    if not all(is_solution(row, options) for row in rows):
        raise damaged(f"{key} contains an invalid solution")
    return [np.array(row, np.int32) for row in rows]


def is_solution(row: object, options: int) -> bool:
    """Whether ``row`` is a list of ascending numbers from 0 to ``options`` - 1."""
    return (
        isinstance(row, list)
        and all(type(option) is int and 0 <= option < options for option in row)
        and sorted(set(row)) == row
    )
