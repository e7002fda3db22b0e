"""The processes that draw: one for each game that was drawn lately, asked for one drawing at a time."""

from __future__ import annotations

from ggp.processes.budget import WorkBudget
from ggp.processes.workers import Workers, WorkKind

WORK = WorkKind("ggp.web.boards.drawing_process", "drawing", most=4, seconds=10.0)


class Artists:
    """Keeps the processes. To be used within one event loop."""

    def __init__(self, budget: WorkBudget) -> None:
        self.workers = Workers(WORK, budget)

    async def draw(self, name: str, state: str, steps: list[str]) -> str:
        """The drawing of a state of an installed game. Raises GdlError: it cannot be drawn, took too long, or
        there is too much to do."""
        order = {"do": "draw", "state": state, "steps": steps}
        return str((await self.workers.ask(name, order, arguments=(name,)))["svg"])

    async def close(self) -> None:
        """End all processes."""
        await self.workers.close()
