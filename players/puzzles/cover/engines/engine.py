"""`CoverEngine`: what all searches of a cover problem have in common."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines import layout as at
from players.puzzles.cover.problem import CoverError, CoverProblem

ROOM = 1 << 16
"""Options in the buffer of solutions."""
FIRST_BUDGET = 256


def sorted_parts(options: NDArray[np.int32], ends: NDArray[np.int64]) -> list[NDArray[np.int32]]:
    """Solutions that lie one after another, each up to its end, as arrays of their own, each sorted."""
    if not len(ends):
        return []
    lengths = np.diff(ends, prepend=0)
    if (lengths == lengths[0]).all():
        return list(np.sort(options.reshape(len(ends), -1), axis=1))
    owners = np.repeat(np.arange(len(ends), dtype=np.int64) << 32, lengths)
    options = np.sort(owners | options).astype(np.int32)  # the lower half
    bounds = [0, *ends.tolist()]
    return [options[begin:end] for begin, end in pairwise(bounds)]


class CoverEngine(ABC):
    """A search of all solutions of one problem, each once, in slices of time; stopped and saved at any node.

    Args:
        problem: the problem.
        delivers: whether solutions are kept until they are taken, or only counted.

    Attributes:
        name: by which people ask for it.
        over: whether all is searched.
    """

    name: ClassVar[str]

    def __init__(self, problem: CoverProblem, *, delivers: bool = True) -> None:
        self.problem = problem
        self.delivers = delivers
        self.over = False
        self._path = np.zeros((0, 4), np.int32)
        """Room for the path, which each engine makes: int32[levels, columns of `layout`]."""
        self._scalars = np.zeros(10, np.int64)
        self._scalars[at.ENTERING] = 1
        self._found = np.empty(max(ROOM, problem.options), np.int32)
        self._ends = np.empty(ROOM, np.int64)
        self._budget = FIRST_BUDGET

    @classmethod
    @abstractmethod
    def takes(cls, problem: CoverProblem) -> bool:
        """Whether it can search this problem; within milliseconds."""

    @abstractmethod
    def _search(self, budget: int) -> int:
        """Have the kernel go on by so many nodes; why it stopped."""

    @abstractmethod
    def saved(self) -> dict[str, Any]:
        """What a later process needs to go on from this node, for JSON; solutions not yet taken are lost,
        take them first."""

    @abstractmethod
    def _go_to(self, saved: dict[str, Any]) -> None:
        """Make the path that was saved again. Raises CoverError, or any error of damaged data."""

    @property
    def count(self) -> int:
        """The solutions found so far, exactly."""
        return int(self._scalars[at.FOUND])

    @property
    def nodes(self) -> int:
        """The nodes of the search tree so far."""
        return int(self._scalars[at.NODES])

    @property
    def progress(self) -> float:
        """How much of the tree is done, 0 to 1, by the sizes of the branches along the path; it never goes
        back."""
        if self.over:
            return 1.0
        done, share = 0.0, 1.0
        for row in self._path[: self._scalars[at.DEPTH]].tolist():
            share /= max(1, row[at.WIDTH])
            done += share * row[at.TRIED]
        return min(done, 1.0)

    def step(self, deadline: float, nodes: int | None = None) -> bool:
        """Search until about the deadline (time.monotonic() seconds), so many more nodes are done, or its
        buffer of solutions is full. Returns whether there is anything left to do. Kernels release the
        interpreter's lock: engines of several threads run side by side."""
        limit = None if nodes is None else self.nodes + nodes
        while not self.over:
            budget = self._budget if limit is None else min(self._budget, limit - self.nodes)
            if budget <= 0:
                break
            began = time.monotonic()
            status = self._search(budget)
            self.over = status == at.OVER
            now = time.monotonic()
            if now - began < 0.005 and budget == self._budget and status != at.FULL:
                self._budget *= 2
            elif now - began > 0.02:
                self._budget = max(FIRST_BUDGET, self._budget // 2)
            if status == at.FULL or now >= deadline:
                break
        return not self.over

    def taken(self) -> list[NDArray[np.int32]]:
        """The solutions found since the last call, each the sorted numbers of its options; none if they are
        only counted."""
        ends = self._ends[: self._scalars[at.DELIVERED]]
        found = self._numbered(self._found[: self._scalars[at.FILLED]])
        self._scalars[at.DELIVERED] = self._scalars[at.FILLED] = 0
        return sorted_parts(found, ends.copy())

    def _numbered(self, options: NDArray[np.int32]) -> NDArray[np.int32]:
        """The problem's numbers of the kernel's options; a copy."""
        return options.copy()

    def _head(self) -> dict[str, Any]:
        """What all engines save."""
        return {"count": self.count, "nodes": self.nodes, "over": self.over}

    @classmethod
    def resumed(cls, problem: CoverProblem, saved: dict[str, Any], *, delivers: bool = True) -> Self:
        """The search that was saved, of the same problem; raises CoverError for what fits no such search."""
        engine = cls(problem, delivers=delivers)
        try:
            engine._go_to(saved)
            engine.over = bool(saved["over"])
            engine._scalars[at.FOUND], engine._scalars[at.NODES] = int(saved["count"]), int(saved["nodes"])
            if min(engine.count, engine.nodes) < 0 or max(engine.count, engine.nodes) >= 1 << 62:
                raise ValueError("more than there can be")
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            raise CoverError(
                "this is no saved search of this problem", remedy="resume with the problem it was saved from"
            ) from error
        return engine
