"""``GET /games/NAME/state.svg?state=...&moves=...``: the drawing of a state of an installed game. Each
recently drawn game has a process of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aiohttp import web

from ggp.boards.svg.markup import drawing_policy
from ggp.processes.budget import WorkBudget
from ggp.processes.workers import Workers, WorkKind
from ggp.web.kept import KNOWN
from ggp.web.overseer import BUDGET

WORK = WorkKind("ggp.web.drawing_process", "drawing", most=4, seconds=10.0)


class Artists:
    """Owns the drawing processes. To be used within one event loop."""

    def __init__(self, budget: WorkBudget) -> None:
        self.workers = Workers(WORK, budget)

    async def draw(self, name: str, state: str, steps: list[str]) -> str:
        """The drawing of a state of an installed game. Raises GdlError if it cannot be drawn, takes too long,
        or the server is busy."""
        request = {"do": "draw", "state": state, "steps": steps}
        return str((await self.workers.ask(name, request, arguments=(name,)))["svg"])

    async def close(self) -> None:
        """End all processes."""
        await self.workers.close()


_ARTISTS = web.AppKey("artists", Artists)


def add_routes(app: web.Application) -> None:
    """Add the route, and end its processes with the application."""
    app.router.add_get("/games/{name}/state.svg", _state)
    app.cleanup_ctx.append(_artists)


async def _artists(app: web.Application) -> AsyncIterator[None]:
    app[_ARTISTS] = artists = Artists(app[BUDGET])
    yield
    await artists.close()


async def _state(request: web.Request) -> web.Response:
    """The drawing of the initial state, or of ``state`` (propositions), after each ``moves`` (one move per
    role, or per role with a choice). The parameter ``moves`` may be repeated."""
    name = request.match_info["name"]
    if name not in await request.app[KNOWN].games.get():
        raise web.HTTPNotFound(reason="there is no such game")
    drawing = await request.app[_ARTISTS].draw(
        name, request.query.get("state", ""), request.query.getall("moves", [])
    )
    # The policy allows the drawing's own stylesheet and nothing else.
    return web.Response(
        text=drawing,
        content_type="image/svg+xml",
        headers={"Content-Security-Policy": drawing_policy(), "Cache-Control": "max-age=60"},
    )
