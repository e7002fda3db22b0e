"""What a search of a cover problem is asked for, and what it tells."""

from __future__ import annotations

from dataclasses import dataclass

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
