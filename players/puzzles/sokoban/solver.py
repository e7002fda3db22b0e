"""Games that are Sokoban are solved as Sokoban, whatever their rules call it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from gdl.errors import GdlError
from players.puzzles.solver import Certainty, LineSolver, Promise, Task

if TYPE_CHECKING:
    from players.puzzles.sokoban.search.push_search import PushSearch
    from propnet.machine import PropnetMachine

_SLICE = 0.02
"""CPU seconds that a search works at once."""


class Sokoban(LineSolver):
    """Looks for pushes with the searches of :mod:`players.puzzles.sokoban.search`, and reports them as moves
    of the game.

    Nothing is proven of the game: what is solved has the best goal value, which ends the search.
    """

    name: ClassVar[str] = "sokoban"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._memory, self._seed = task.memory, task.seed
        self._work = self._solve()

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        # Only what has squares in its network needs these modules.
        from players.puzzles.sokoban.recognition.recognise import recognise

        return Promise(Certainty.FINDS, alike=True) if recognise(machine) else None

    def step(self, deadline: float) -> bool:
        return any(time.monotonic() >= deadline for _ in self._work)

    def _solve(self) -> Iterator[None]:
        from players.puzzles.sokoban.recognition.recognise import recognise
        from players.puzzles.sokoban.recognition.translate import machine_line
        from players.puzzles.sokoban.search.best_first import AStar, Greedy
        from players.puzzles.sokoban.search.push_search import LevelKnowledge, Outcome, PushTask

        game = recognise(self.machine)
        if game is None:
            return
        yield
        task = PushTask(
            LevelKnowledge(game.geometry),
            game.position(self.start),
            self._memory,
            game.moves_left(self.start),
            self._seed,
        )
        for kind in (Greedy, AStar):
            try:
                search: PushSearch = kind(task)
            except GdlError:
                return
            before = self.states
            while search.step(_SLICE) is Outcome.GOING_ON:
                self.states = before + search.progress.positions
                yield
            search.close()
            if search.outcome is Outcome.SOLVED:
                line = machine_line(game, self.start, search.pushes)
                if line is not None:
                    self.report(game.claim.best, line)
                    return
            yield
