"""Solve games that are Sokoban as Sokoban, whatever their symbols."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from players.solvers import Certainty, LineSolver, Promise, Task
from propnet.jit.parts import Part

if TYPE_CHECKING:
    from players.puzzles.sokoban.geometry import Geometry, Position
    from players.puzzles.sokoban.lines import Push
    from players.puzzles.sokoban.optimizer import Optimizer
    from players.puzzles.sokoban.push_search import PushSearch
    from players.puzzles.sokoban.recognition.recognise import Recognised
    from propnet.machine import PropnetMachine

_SLICE = 0.02
"""CPU seconds of a search per slice."""


@dataclass(slots=True)
class _Begun:
    """A search in progress: its game, its position and the search itself.

    Attributes:
        anchored: the position with the keeper on the lowest square that he can walk to.
        optimizer: set once the search has ended, unless the keeper has walked since.
    """

    game: Recognised
    start: Position
    anchored: Position
    search: PushSearch
    optimizer: Optimizer | None = None


class Sokoban(LineSolver):
    """Looks for pushes with the searches of :mod:`players.puzzles.sokoban.search`, and reports them as moves
    of the game, after the machine has played them.

    Nothing is proven about the game, but a solution has the best goal value. A running search continues for a
    new start if no box was pushed in between.
    """

    name: ClassVar[str] = "sokoban"
    shortens: ClassVar[bool] = True
    urgent: ClassVar[int] = 3
    _begun: ClassVar[_Begun | None] = None

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._memory = task.memory
        self._work = self._solve()

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        # Players of other games do not need these modules.
        from players.puzzles.sokoban.recognition.recognise import recognise

        return Promise(Certainty.MASTERS, alike=True) if recognise(machine) else None

    @classmethod
    def warm_up_parts(cls, small: Callable[[], PropnetMachine]) -> tuple[Part, ...]:
        # In the order of use: an easy level; a shorter solution; the output of `--explain`; searches for
        # harder levels.
        return (
            ("sokoban-searches", _warm_up_searches),
            ("sokoban-rooms", _warm_up_rooms),
            ("sokoban-optimizer", _warm_up_optimizer),
            ("sokoban-dead-sets", _warm_up_dead_sets),
            ("sokoban", lambda: _warm_up_searches(math.inf)),
        )

    def step(self, deadline: float) -> bool:
        # A level with a line may not need a shorter one, and the optimizer has its own kernels.
        return all(not reported and time.monotonic() < deadline for reported in self._work)

    def _solve(self) -> Iterator[bool]:
        """Work in small parts; yields whether a first line was just reported."""
        from players.puzzles.sokoban.recognition.recognise import recognise
        from players.puzzles.sokoban.solution import Outcome

        finished = False
        game = recognise(self.machine)
        if game is None:
            return
        yield False
        begun = self._resumed(game)
        search = begun.search
        while not finished:
            finished = search.step(time.monotonic() + _SLICE)
            self.states = search.positions
            yield False
        if search.outcome is not Outcome.SOLVED:
            return
        if begun.optimizer is None:
            self._report(game, search.pushes)
            yield True
        yield from self._shorten(begun)

    def _report(self, game: Recognised, pushes: list[Push]) -> None:
        """Report the line that makes these pushes, if the game allows that many moves."""
        from players.puzzles.sokoban.recognition.recognise import machine_line

        line = machine_line(game, self.start, pushes)
        if line is not None:
            self.report(game.claim.best, line)

    def _shorten(self, begun: _Begun) -> Iterator[bool]:
        """Look for lines with fewer moves of the game. The first line may have more than the game allows."""
        from players.puzzles.sokoban.optimizer import Optimizer
        from players.puzzles.sokoban.solution import Metric

        game = begun.game
        if begun.optimizer is None:
            metric = Metric.MOVES if game.by_steps else Metric.PUSHES
            begun.optimizer = Optimizer(
                game.geometry, begun.start, begun.search.pushes, metric, self._memory // 2
            )
        else:
            self._report(game, begun.optimizer.pushes)
        finished, cost = False, begun.optimizer.cost
        while not finished:
            finished = begun.optimizer.step(time.monotonic() + _SLICE)
            if begun.optimizer.cost < cost:
                cost = begun.optimizer.cost
                self._report(game, begun.optimizer.pushes)
            yield False

    def _resumed(self, game: Recognised) -> _Begun:
        """Return the search in progress for this start, or a new one. A search continues if no box was pushed
        in between."""
        from players.puzzles.sokoban.push_search import PushTask
        from players.puzzles.sokoban.search.portfolio import SearchPortfolio

        start, begun = game.position(self.start), Sokoban._begun
        anchored = game.anchored(start)
        if begun is not None and begun.game is game and begun.anchored == anchored:
            if begun.start != start:
                begun.start, begun.optimizer = start, None
            return begun
        left = game.moves_left(self.start)
        search = SearchPortfolio(PushTask(game.geometry, start, self._memory, left))
        if begun is not None:
            begun.search.close()
        Sokoban._begun = _Begun(game, start, anchored, search)
        return Sokoban._begun


_RIGHT = 1


def _small() -> tuple[Geometry, Position]:
    from players.puzzles.sokoban.geometry import from_level
    from players.puzzles.sokoban.search.solve_level import SMALL

    return from_level(SMALL)


def _warm_up_searches(latest: float | None = None) -> None:
    """Compile or load the kernels of the searches that begin within ``latest`` CPU seconds. The default
    covers the searches that begin as soon as plain Python has given up, which solve easy levels."""
    from players.puzzles.sokoban.search.few_positions import SECONDS
    from players.puzzles.sokoban.search.portfolio import ENTRIES
    from players.puzzles.sokoban.search.solve_level import warm_up

    latest = SECONDS if latest is None else latest
    warm_up([entry for entry in ENTRIES if entry.begin <= latest])


def _warm_up_optimizer() -> None:
    """Compile or load the kernels of the optimizer."""
    from players.puzzles.sokoban.optimizer import Optimizer

    geometry, start = _small()
    pushes: list[Push] = []
    for square in sorted(start.boxes):
        while square not in geometry.goals:
            pushes.append((square, _RIGHT))
            square = int(geometry.neighbours[square, _RIGHT])
    # To the end: a slice may be over as soon as the first kernel is compiled.
    Optimizer(geometry, start, pushes).step(math.inf)


def _warm_up_rooms() -> None:
    """Compile or load the kernels of tunnels, rooms and packing orders."""
    from players.puzzles.sokoban.fess.packing_plan import packing_order
    from players.puzzles.sokoban.rooms import forced_pushes

    geometry, start = _small()
    forced_pushes(geometry)
    packing_order(geometry, start)


def _warm_up_dead_sets() -> None:
    """Compile or load the kernels of dead sets of two and three boxes."""
    from players.puzzles.sokoban.deadsets.dead_sets import make_dead_sets

    make_dead_sets(_small()[0], seconds=math.inf)
