"""`CoverEngine`: what all searches of a cover problem have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.problem import CoverProblem


class CoverEngine(ABC):
    """A search of all solutions of one problem, each once, in slices of time; stopped and saved at any node.

    Attributes:
        name: by which people ask for it.
        problem: the problem.
        delivers: whether solutions are kept until they are taken, or only counted.
        count: the solutions found so far, exactly.
        nodes: the nodes of the search tree so far.
        over: whether all is searched.
    """

    name: ClassVar[str]

    def __init__(self, problem: CoverProblem, *, delivers: bool = True) -> None:
        self.problem = problem
        self.delivers = delivers
        self.count = 0
        self.nodes = 0
        self.over = False

    @classmethod
    @abstractmethod
    def takes(cls, problem: CoverProblem) -> bool:
        """Whether it can search this problem; within milliseconds."""

    @abstractmethod
    def step(self, deadline: float, nodes: int | None = None) -> bool:
        """Search until about the deadline (time.monotonic() seconds), so many more nodes are done, or its
        buffer of solutions is full. Returns whether there is anything left to do. Kernels release the
        interpreter's lock: engines of several threads run side by side."""

    @abstractmethod
    def taken(self) -> list[NDArray[np.int32]]:
        """The solutions found since the last call, each the sorted numbers of its options; none if they are
        only counted."""

    @property
    @abstractmethod
    def progress(self) -> float:
        """How much of the tree is done, 0 to 1, by the sizes of the branches along the path; it never goes
        back."""

    @abstractmethod
    def saved(self) -> dict[str, Any]:
        """What a later process needs to go on from this node, for JSON; solutions not yet taken are lost,
        take them first."""

    @classmethod
    @abstractmethod
    def resumed(cls, problem: CoverProblem, saved: dict[str, Any], *, delivers: bool = True) -> Self:
        """The search that was saved, of the same problem; raises CoverError for what fits no such search."""


def delivered(found: NDArray[np.int32], ends: NDArray[np.int64]) -> list[NDArray[np.int32]]:
    """Solutions that stand one behind another in `found`, the options of each sorted.

    >>> delivered(np.array([2, 1, 0, 5], np.int32), np.array([2, 4]))
    [array([1, 2], dtype=int32), array([0, 5], dtype=int32)]
    """
    lengths = np.diff(ends, prepend=0)
    if len(ends) and (lengths == lengths[0]).all():
        return list(np.sort(found[: ends[-1]].reshape(len(ends), -1), axis=1))
    return [np.sort(part) for part in np.split(found, ends)[: len(ends)]]
