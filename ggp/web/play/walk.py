"""Paths on the board of a puzzle with one role: the moves that bring a thing from one square to another,
while nothing else moves except the thing that pushes it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable

from gdl.machine import Machine, State
from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.layers import Square, Thing

SECONDS = 1.5
"""CPU time of a search for a path."""
MOST_STATES = 20_000
Placed = frozenset[tuple[Square, Thing]]


class WalkFinder:
    """Finds paths in one game. ``board`` is its board."""

    def __init__(self, machine: Machine, board: Grid) -> None:
        self._machine, self._board = machine, board
        self._squares = {key: square for square in board.squares if (key := board.key(square))}

    def way(self, state: State, role: int, to: str, origin: str = "") -> list[int] | None:
        """The shortest list of moves that brings the walker, the thing that moves by itself, to the square
        ``to``. With ``origin`` the moves bring the thing on that square to ``to``. Squares are named as in
        ``data-square``. None if there is no path, or none is found in time."""
        target = self._squares.get(to)
        start = self._placed(state.propositions)
        source = self._squares.get(origin) if origin else None
        if target is None or (origin and source is None):
            return None
        pushed = {thing for square, thing in start if square == source}
        end = time.process_time() + SECONDS
        seen = {start}
        line: deque[tuple[State, list[int]]] = deque([(state, [])])
        while line and len(seen) < MOST_STATES and time.process_time() < end:
            at, moves = line.popleft()
            for move in self._machine.legal_moves(at, role):
                after = self._machine.next_state(at, (move,))
                now = self._placed(after.propositions)
                if now in seen:
                    continue
                # Only the walker may move, and with an origin the pushed thing too.
                moved = {square for square, _ in start ^ now}
                movers = self._movers(start, now)
                if origin and any(
                    (target, thing) in now and (target, thing) not in start for thing in pushed
                ):
                    return [*moves, move]
                if not origin and len(movers) == 1 and target in moved and self._came(start, now, target):
                    return [*moves, move]
                if len(movers) > (2 if origin else 1) or self._machine.is_terminal(after):
                    continue
                seen.add(now)
                line.append((after, [*moves, move]))
        return None

    def _placed(self, propositions: Iterable[Term]) -> Placed:
        on, _ = self._board.place(propositions)
        return frozenset((square, thing) for square, things in on.items() for thing in things)

    def _movers(self, before: Placed, now: Placed) -> set[Thing]:
        """The things that have moved."""
        return {thing for _, thing in before ^ now}

    def _came(self, before: Placed, now: Placed, square: Square) -> bool:
        """Whether a thing has come to a square."""
        return any(at == square for at, _ in now - before)
