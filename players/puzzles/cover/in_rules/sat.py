"""`SatSearch`: a CDCL solver of the package python-sat, stopped and resumed by budgets of conflicts."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterable, Sequence
from typing import Any

from gdl.errors import GdlError

_FIRST_BUDGET = 50
_LARGEST_BUDGET = 200_000


def available() -> bool:
    """Whether the package is installed; it is not loaded."""
    return importlib.util.find_spec("pysat") is not None


class SatSearch:
    """Looks for an assignment that satisfies clauses, in slices of time.

    What it has learnt stays between slices. Close it when done.

    Attributes:
        answer: whether there is one; None while that is not known.
        model: the variables that are true in it.

    Raises:
        GdlError: python-sat is not installed.
    """

    def __init__(self, clauses: Iterable[Sequence[int]], solver: str = "glucose42") -> None:
        try:
            from pysat.solvers import Solver
        except ImportError:
            raise GdlError(
                "python-sat is not installed", remedy="install it with: pip install python-sat"
            ) from None
        self.answer: bool | None = None
        self.model: frozenset[int] = frozenset()
        self._solver: Any = Solver(name=solver)
        self._budget = _FIRST_BUDGET
        for clause in clauses:
            if not clause:
                self.answer = False
            self._solver.add_clause(clause)

    def add(self, clause: Sequence[int]) -> None:
        """One more clause; the answer is open again, unless it was no."""
        self._solver.add_clause(clause)
        if self.answer:
            self.answer = None

    def step(self, deadline: float) -> bool:
        """Search until about the deadline (time.monotonic() seconds); returns whether the answer is open."""
        while self.answer is None and (now := time.monotonic()) < deadline:
            self._solver.conf_budget(self._budget)
            self.answer = self._solver.solve_limited()
            if self.answer:
                self.model = frozenset(x for x in self._solver.get_model() if x > 0)
            taken = max(1e-6, time.monotonic() - now)
            # As many conflicts as fit in what is left, by the last budget; it grows slowly.
            fit = self._budget * (deadline - time.monotonic()) / taken
            self._budget = max(_FIRST_BUDGET, min(_LARGEST_BUDGET, 2 * self._budget, int(fit)))
        return self.answer is None

    def close(self) -> None:
        """Give its memory back."""
        self._solver.delete()
