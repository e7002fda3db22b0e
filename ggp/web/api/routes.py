"""What the JSON API answers: games, questions about them, searches with their progress, its description."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from aiohttp import web

from gdl.errors import GdlError
from gdl.json_schema import check_json
from gdl.visible import without_folders
from ggp.answers.desk import QuestionDesk
from ggp.answers.operations import OPERATIONS
from ggp.answers.source import checked_source
from ggp.processes.parent import JsonMessage
from ggp.web.api.openapi import describe_api
from ggp.web.bodies import json_object
from ggp.web.broadcast import encode
from ggp.web.gate import protect
from ggp.web.names import KNOWN
from ggp.web.overseer import BUDGET
from ggp.web.visits import touch

DESK = web.AppKey("desk", QuestionDesk)


def add_routes(app: web.Application) -> None:
    """Add the API to the application."""
    app.cleanup_ctx.append(_desk)
    app.router.add_get("/api/games", _games)
    app.router.add_get("/api/openapi.json", _description)
    for name, operation in OPERATIONS.items():
        app.router.add_post(f"/api/{name}", _stream if operation.streams else _answer)


async def _desk(app: web.Application) -> AsyncIterator[None]:
    app[DESK] = desk = QuestionDesk(app[BUDGET])
    yield
    await desk.close()


async def _games(request: web.Request) -> web.Response:
    known = request.app[KNOWN]
    return web.json_response({"games": await known.games.get(), "levels": await known.levels.get()})


async def _description(request: web.Request) -> web.Response:
    return web.json_response(describe_api())


async def _answer(request: web.Request) -> web.Response:
    name = request.path.rpartition("/")[2]
    return web.json_response(await request.app[DESK].ask(name, await json_object(request)))


async def _stream(request: web.Request) -> web.StreamResponse:
    """Server-sent events: news, then the answer. Who hangs up ends the work."""
    name = request.path.rpartition("/")[2]
    told = await json_object(request)
    check_json(told, OPERATIONS[name].request)
    checked_source(told)
    waiting: asyncio.Queue[bytes | None] = asyncio.Queue()

    def heard(message: JsonMessage) -> None:
        waiting.put_nowait(encode(message.pop("kind"), message))

    async def work() -> None:
        try:
            answer = await request.app[DESK].ask(name, told, heard)
            waiting.put_nowait(encode("solved", answer))
        except GdlError as error:
            waiting.put_nowait(encode("failed", {"error": without_folders(str(error))}))
        finally:
            waiting.put_nowait(None)

    reply = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
    protect(reply)
    await reply.prepare(request)
    task = asyncio.create_task(work())
    try:
        while True:
            try:
                async with asyncio.timeout(1.0):
                    event = await waiting.get()
            except TimeoutError:
                event = b":\n\n"  # finds out whether anybody is still there
            if event is None:
                return reply
            await reply.write(event)
            touch(request)
    except ConnectionError:
        return reply
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
