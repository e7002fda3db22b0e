"""What a search keeps for a later process: a fingerprint of its problem, and checks of what was kept."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.problem import CoverError, CoverProblem

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
