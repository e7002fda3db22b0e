"""Tables of bindings: one numpy column for each bound variable."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.joins.keys import Argument, Column, first_rows

DEDUPLICATE_FROM = 48
"""Tables with fewer bindings are not worth the search for doubles."""


def variables_of(*rows: Iterable[int]) -> frozenset[int]:
    """The variables among the arguments of atoms."""
    return frozenset([a for row in rows for a in row if a < 0])


@dataclass
class Bindings:
    """``n`` bindings; column ``env[v]`` has the values of variable v (coded as in FlatAtom)."""

    n: int
    env: dict[int, Column]

    def take(self, rows: NDArray[np.intp]) -> None:
        """Keep the rows with these numbers only."""
        self.env = {v: column[rows] for v, column in self.env.items()}
        self.n = len(rows)

    def filter(self, mask: NDArray[np.bool_]) -> None:
        """Keep the rows where the mask is true only."""
        if not mask.all():
            self.env = {v: column[mask] for v, column in self.env.items()}
            self.n = int(np.count_nonzero(mask))

    def args(self, atom: Sequence[int]) -> list[Argument]:
        """The columns of an atom whose variables are all bound."""
        return [a if a >= 0 else self.env[a] for a in atom]

    def project(self, keep: Collection[int]) -> None:
        """Drop other variables' columns, and then double bindings."""
        dropped = [v for v in self.env if v not in keep]
        for v in dropped:
            del self.env[v]
        if dropped:
            self.deduplicate()

    def deduplicate(self) -> None:
        """Drop double bindings, unless there are few."""
        if self.n >= DEDUPLICATE_FROM or (not self.env and self.n > 1):
            rows = first_rows(list(self.env.values()), self.n)
            if len(rows) < self.n:
                self.take(rows)
