"""What a search of a cover problem is asked for, what it tells, and what it keeps for a later process: a
fingerprint of its problem, and checks of what was kept."""

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
    """How to search.

    Attributes:
        engine: the name of an engine; None: the search chooses.
        workers: threads that search branches side by side; the solutions are the same whatever their number.
        delivers: whether solutions are kept until they are taken, or only counted.
        first: stop when so many solutions are found; None for all.
    """

    engine: str | None = None
    workers: int = 1
    delivers: bool = True
    first: int | None = None


@dataclass(frozen=True, slots=True)
class CoverResult:
    """What is known of a search, at any time.

    Attributes:
        solutions: how many are found; all there are if it is complete. Exact, however many.
        complete: whether all was searched.
        nodes: of the search tree so far.
        engine: the name of the engine, ``memo`` for the counting memo.
        seconds_cpu, seconds_wall: what the steps took so far, those before it was resumed included.
        progress: the part of the tree that is done, 0 to 1; it never goes back. 1 only if it is complete:
            where all is searched and not all that was found is told, it is :data:`MOST_OPEN`.
        reduction: what the reduction brought: numbers by name.
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
        """About how long the rest will take, in seconds of wall time, if it goes on as so far; None while
        little is done."""
        if self.complete:
            return 0.0
        return self.seconds_wall * (1 / self.progress - 1) if self.progress > 1e-6 else None


FORMAT = 1


def digest(problem: CoverProblem) -> str:
    """The SHA-256 of all that a problem's solutions depend on, hexadecimal; names are not part of it."""
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
    """The error for a saved search that cannot be read."""
    return CoverError(f"the saved search is damaged: {what}", remedy="begin anew without it")


def number(saved: dict[str, Any], key: str, least: int = 0) -> int:
    """An integer of a saved search, at least so large. Raises CoverError."""
    value = saved.get(key)
    if type(value) is not int or value < least:
        raise damaged(f"{key} is {str(value)[:40]}")
    return value


def seconds(saved: dict[str, Any], key: str) -> float:
    """A time of a saved search. Raises CoverError."""
    value = saved.get(key)
    if type(value) not in (int, float) or not 0 <= float(value or 0) < 1e12:
        raise damaged(f"{key} is {str(value)[:40]}")
    return float(value or 0)


def solutions(saved: dict[str, Any], key: str, options: int) -> list[NDArray[np.int32]]:
    """Solutions of a saved search: sorted numbers of options, of which there are so many. Raises
    CoverError."""
    rows = saved.get(key)
    if not isinstance(rows, list):
        raise damaged(f"{key} is no list")
    if not all(is_solution(row, options) for row in rows):
        raise damaged(f"{key} has what is no solution")
    return [np.array(row, np.int32) for row in rows]


def is_solution(row: object, options: int) -> bool:
    """Whether something is a list of ascending numbers of options, of which there are so many."""
    return (
        isinstance(row, list)
        and all(type(option) is int and 0 <= option < options for option in row)
        and sorted(set(row)) == row
    )
