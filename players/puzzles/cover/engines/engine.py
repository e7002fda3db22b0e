"""`CoverEngine`: the interface of all searches of a cover problem."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from players.companions import Stepwise
from players.puzzles.cover.problem import CoverError, CoverProblem

UNDERWAY, FULL, OVER = range(3)
"""Why a kernel stopped: enough nodes; the buffer of solutions is full; the search is complete."""

DEPTH, ENTERING, FOUND, NODES, FILLED, DELIVERED, OPEN, KILLED, EMPTY, CANDIDATES = range(10)
"""In ``scalars``, int64: the length of the path; whether a new node begins; solutions; nodes; options and
solutions in the buffer; items that are not covered. For dancing cells only: removed options, items that are
holes for good, candidates."""

ITEM, OPTION, TRIED, WIDTH, MARK, PICK_MARK, FIRST = range(7)
"""Columns of ``path``: the item of a node; the picked option; how many children are done, and the most there
can be. For dancing cells only: the length of the trail when the node and when the pick began, and the first
candidate, -1 if the item takes several options."""

ROOM = 1 << 16
"""Options in the buffer of solutions."""
FIRST_BUDGET = 256


def sorted_parts(options: NDArray[np.int32], ends: NDArray[np.int64]) -> list[NDArray[np.int32]]:
    """Split consecutive solutions, given by their ends, into arrays of their own, each sorted."""
    if not len(ends):
        return []
    lengths = np.diff(ends, prepend=0)
    if (lengths == lengths[0]).all():
        return list(np.sort(options.reshape(len(ends), -1), axis=1))
    owners = np.repeat(np.arange(len(ends), dtype=np.int64) << 32, lengths)
    options = np.sort(owners | options).astype(np.int32)  # the lower half
    bounds = [0, *ends.tolist()]
    return [options[begin:end] for begin, end in pairwise(bounds)]


class CoverEngine(Stepwise, ABC):
    """A search for all solutions of one problem, each once, in slices of time. It can be stopped and saved at
    any node.

    Args:
        problem: the problem.
        delivers: whether to keep solutions until they are taken; otherwise they are only counted.

    Attributes:
        name: the engine's name for users.
        over: whether the search is complete.
    """

    name: ClassVar[str]

    def __init__(self, problem: CoverProblem, *, delivers: bool = True) -> None:
        self.problem = problem
        self.delivers = delivers
        self.over = False
        self._path = np.zeros((0, 4), np.int32)
        """Space for the path, which each engine allocates: int32[levels, columns of this module]."""
        self._scalars = np.zeros(10, np.int64)
        self._scalars[ENTERING] = 1
        self._found = np.empty(max(ROOM, problem.options + problem.items), np.int32)
        self._ends = np.empty(ROOM, np.int64)
        self._budget = FIRST_BUDGET

    @classmethod
    @abstractmethod
    def takes(cls, problem: CoverProblem) -> bool:
        """Return whether it can search this problem; takes milliseconds."""

    @abstractmethod
    def _search(self, budget: int) -> int:
        """Run the kernel for about ``budget`` nodes. Returns why it stopped."""

    @abstractmethod
    def saved(self) -> dict[str, Any]:
        """Return the state a later process needs to continue from this node, for JSON. Solutions not yet
        taken are lost: take them first."""

    @abstractmethod
    def _go_to(self, saved: dict[str, Any]) -> None:
        """Rebuild the saved path. Raises CoverError, or any error that damaged data causes."""

    @property
    def count(self) -> int:
        """The exact number of solutions found."""
        return int(self._scalars[FOUND])

    @property
    def nodes(self) -> int:
        """The number of nodes searched."""
        return int(self._scalars[NODES])

    @property
    def progress(self) -> float:
        """The part of the tree that is done, 0 to 1, estimated from the sizes of the branches along the path;
        it never decreases."""
        if self.over:
            return 1.0
        done, share = 0.0, 1.0
        for row in self._path[: self._scalars[DEPTH]].tolist():
            share /= max(1, row[WIDTH])
            done += share * row[TRIED]
        return min(done, 1.0)

    def step(self, deadline: float) -> bool:
        """Search until about the deadline (time.monotonic() seconds), or until the buffer of solutions is
        full. Returns whether the search is complete.

        Kernels release the interpreter's lock: engines in several threads run side by side.
        """
        while not self.over:
            began = time.monotonic()
            status = self._search(self._budget)
            self.over = status == OVER
            now = time.monotonic()
            if now - began < 0.005 and status != FULL:
                self._budget *= 2
            elif now - began > 0.02:
                self._budget = max(FIRST_BUDGET, self._budget // 2)
            if status == FULL or now >= deadline:
                break
        return self.over

    def taken(self) -> list[NDArray[np.int32]]:
        """Return the solutions found since the last call, each as sorted option numbers; none if they are
        only counted."""
        ends = self._ends[: self._scalars[DELIVERED]]
        found = self._numbered(self._found[: self._scalars[FILLED]])
        self._scalars[DELIVERED] = self._scalars[FILLED] = 0
        return sorted_parts(found, ends.copy())

    def _numbered(self, options: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return a copy with the problem's option numbers in place of the kernel's."""
        return options.copy()

    def _head(self) -> dict[str, Any]:
        """Return the fields that all engines save."""
        return {"count": self.count, "nodes": self.nodes, "over": self.over}

    @classmethod
    def resumed(cls, problem: CoverProblem, saved: dict[str, Any], *, delivers: bool = True) -> Self:
        """Return the saved search of the same problem. Raises CoverError if the saved state does not fit."""
        engine = cls(problem, delivers=delivers)
        try:
            engine._go_to(saved)
            engine.over = bool(saved["over"])
            engine._scalars[FOUND], engine._scalars[NODES] = int(saved["count"]), int(saved["nodes"])
            if min(engine.count, engine.nodes) < 0 or max(engine.count, engine.nodes) >= 1 << 62:
                raise ValueError("more than there can be")
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            raise CoverError(
                "the saved search belongs to another problem",
                remedy="resume with the problem it was saved from",
            ) from error
        return engine
