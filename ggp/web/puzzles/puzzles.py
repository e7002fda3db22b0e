"""Keeps puzzles that are being solved or have been: their news, and what came of them."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict

from gdl.errors import GdlError
from gdl.visible import without_folders
from ggp.processes.budget import WorkBudget, WorkNeed
from ggp.processes.parent import JsonMessage
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError
from ggp.web.broadcast import Broadcast, encode

NEED = WorkNeed(memory=384 * 1024**2)
WORK = WorkKind("ggp.web.puzzles.solve_process", "solving", most=8, seconds=30.0, group=True, need=NEED)
AT_ONCE = 4
"""Puzzles that are being solved at once; the other processes draw."""
LONGEST = 600.0
"""Seconds for a search."""
GRACE = 180.0
"""Seconds beyond these: kernels may have to be compiled, and the network built."""
MOST = 64
"""Puzzles that are kept; the oldest goes."""


class Puzzle:
    """One search.

    Attributes:
        id: letters and digits that nobody can guess.
        news: its progress, and what came of it.
        moves: the best line so far.
        done: whether it is over.
    """

    def __init__(self, source: JsonMessage, name: str, seconds: float) -> None:
        self.id = secrets.token_urlsafe(12)
        self.source, self.name, self.seconds = source, name, seconds
        self.moves: list[str] = []
        self.done = False
        self.news = Broadcast(self._greeting)
        self.task: asyncio.Task[None] | None = None
        self._latest: tuple[str, JsonMessage] = ("progress", {"seconds": 0.0, "states": 0})

    def tell(self, event: str, data: JsonMessage) -> None:
        """Tell all who look on, and whoever comes later."""
        self._latest = event, data
        self.news.send(event, data)

    def _greeting(self) -> list[bytes]:
        event, data = self._latest
        return [encode(event, data if event != "progress" else {**data, "moves": self.moves})]


class Puzzles:
    """All puzzles of a server, within a budget."""

    def __init__(self, budget: WorkBudget) -> None:
        self._puzzles: OrderedDict[str, Puzzle] = OrderedDict()
        self._workers = Workers(WORK, budget)

    def get(self, key: str) -> Puzzle:
        """The puzzle of this id. Raises GdlError where there is none."""
        puzzle = self._puzzles.get(key)
        if puzzle is None:
            raise GdlError("this puzzle is kept no longer", remedy="solve it again")
        return puzzle

    def begin(self, source: JsonMessage, name: str, seconds: float, solver: str, seed: int) -> Puzzle:
        """Begin to solve. Raises BusyError where too many are being solved."""
        if sum(not puzzle.done for puzzle in self._puzzles.values()) >= AT_ONCE:
            raise BusyError(f"{AT_ONCE} puzzles are being solved", remedy="stop one, or wait for it")
        puzzle = Puzzle(source, name, seconds)
        self._puzzles[puzzle.id] = puzzle
        while len(self._puzzles) > MOST:
            oldest = next(key for key, one in self._puzzles.items() if one.done)
            del self._puzzles[oldest]
        order = {"do": "solve", **source, "seconds": seconds, "solver": solver, "seed": seed}
        puzzle.task = asyncio.create_task(self._solve(puzzle, order))
        return puzzle

    async def _solve(self, puzzle: Puzzle, order: JsonMessage) -> None:
        def heard(message: JsonMessage) -> None:
            if message.pop("kind") == "progress":
                puzzle.moves = message.get("moves", puzzle.moves)
                puzzle.tell("progress", message)

        try:
            answer = await self._workers.ask(puzzle.id, order, news=heard, seconds=puzzle.seconds + GRACE)
        except GdlError as error:
            puzzle.tell("failed", {"error": without_folders(str(error)), "moves": puzzle.moves})
        else:
            puzzle.moves = answer["moves"]
            puzzle.tell("solved", {name: value for name, value in answer.items() if name != "kind"})
        finally:
            puzzle.done = True

    async def stop(self, key: str) -> None:
        """End a search; the best line so far is kept. Raises GdlError where there is no such puzzle."""
        puzzle = self.get(key)
        if not puzzle.done:
            await self._workers.end(key)

    async def draw(self, key: str, step: int) -> str:
        """A drawing of a state along the best line. Raises GdlError."""
        puzzle = self.get(key)
        name = key if puzzle.done else f"{key}-drawing"  # the solving process has no time to draw
        order = {"do": "draw", **puzzle.source, "moves": puzzle.moves, "step": step}
        return str((await self._workers.ask(name, order))["svg"])

    async def close(self) -> None:
        """End all."""
        tasks = [puzzle.task for puzzle in self._puzzles.values() if puzzle.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._workers.close()
