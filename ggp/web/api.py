"""The JSON API of ``ggp web``: the questions of :mod:`ggp.answers`, searches with their progress, and a
description at ``/api/openapi.json`` (OpenAPI 3.1), which is made from the schemas that check the requests."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import orjson
from aiohttp import web

import ggp
from gdl.errors import GdlError
from gdl.json_schema import Schema
from gdl.visible import without_folders
from ggp.answers.catalogue import checked_source
from ggp.answers.operations import GAMES, OPERATIONS, PROGRESS, WORK, Operation, QuestionDesk
from ggp.processes.parent import JsonMessage
from ggp.protocol.event_source import BEHIND
from ggp.web.cached_lists import KNOWN
from ggp.web.gate import protect
from ggp.web.rooms import PageRoom, add_owner
from ggp.web.shell import add_page, encode, page
from ggp.web.visits import json_object, touch

ERROR: Schema = {
    "type": "object",
    "required": ["error"],
    "additionalProperties": False,
    "properties": {"error": {"type": "string", "description": "one line: the mistake and its remedy"}},
}
_JSON = "application/json"
_STREAM = "text/event-stream"
_EVENTS = (
    "Server-sent events: `progress` a few times a second (schema Progress), then `solved` (schema Solved), "
    "or `failed` with an error. Hanging up ends the search."
)


def describe_api() -> dict[str, Any]:
    """The whole OpenAPI description."""
    paths: dict[str, Any] = {
        "/api/games": {
            "get": {
                "operationId": "games",
                "summary": "The bundled games and levels",
                "responses": {"200": _content("Their names", _JSON, GAMES)},
            }
        },
        "/api/openapi.json": {
            "get": {
                "operationId": "openapi",
                "summary": "This description",
                "responses": {"200": _content("OpenAPI 3.1", _JSON, {"type": "object"})},
            }
        },
    }
    paths |= {f"/api/{name}": {"post": _described(name, one)} for name, one in OPERATIONS.items()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ggp web",
            "version": ggp.__version__,
            "summary": "Rules of games: checked, played, solved",
            "description": "All work runs in processes with limits of time and memory. An error is one line. "
            "There is no authentication: by default the server listens for this computer alone. Requests "
            "from browsers need the token of a page, requests from tools need none.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": {"Error": ERROR, "Progress": PROGRESS, "Solved": OPERATIONS["solve"].reply},
        },
    }


def _described(name: str, operation: Operation) -> dict[str, Any]:
    if operation.streams:
        good = _content(_EVENTS, _STREAM, {"type": "string"})
    else:
        good = _content("The answer", _JSON, operation.reply)
    error = {"$ref": "#/components/schemas/Error"}
    return {
        "operationId": name,
        "summary": operation.summary,
        "requestBody": {"required": True, "content": {_JSON: {"schema": operation.request}}},
        "responses": {
            "200": good,
            "400": _content("The question cannot be answered", _JSON, error),
            "403": _content("The request came from another site or lacks the page's token", _JSON, error),
            "503": _content("The server is busy: ask again after Retry-After seconds", _JSON, error),
            "413": _content("The body is longer than 2 MiB", _JSON, error),
        },
    }


def _content(description: str, kind: str, schema: Schema) -> dict[str, Any]:
    return {"description": description, "content": {kind: {"schema": schema}}}


_AFTER = {"game": "tictactoe", "moves": [["(mark b 2)", "noop"]]}
EXAMPLES: dict[str, dict[str, Any]] = {
    "validate": {"rules": "role(x) legal(x,M)"},
    "state": _AFTER,
    "legal": _AFTER,
    "next": {**_AFTER, "joint": ["noop", "(mark a 1)"]},
    "goals": _AFTER,
    "playouts": {"game": "connectfour", "n": 1000},
    "solve": {"game": "hanoi", "seconds": 20},
    "verify": {"game": "tictactoe", "trace": '{"type": "game", "game": "tictactoe", "roles": ["x", "o"]}'},
}
"""An example request of each operation, for the API page."""

DESK = web.AppKey("desk", QuestionDesk)


def add_routes(app: web.Application) -> None:
    """Add the API to the application."""
    add_owner(app, DESK, QuestionDesk)
    add_page(app, "/api", _page)
    app.router.add_get("/api/games", _games)
    app.router.add_get("/api/openapi.json", _description)
    for name, operation in OPERATIONS.items():
        app.router.add_post(f"/api/{name}", _stream if operation.streams else _answer)


async def _page(request: web.Request) -> web.Response:
    """The page of all calls, each with an example to try."""
    examples = {name: orjson.dumps(example).decode() for name, example in EXAMPLES.items()}
    return page(request, "The JSON API", "api.js", ("api.css",), examples=examples)


async def _games(request: web.Request) -> web.Response:
    names = request.app[KNOWN]
    return web.json_response({"games": await names.games.get(), "levels": await names.levels.get()})


async def _description(request: web.Request) -> web.Response:
    return web.json_response(describe_api())


async def _answer(request: web.Request) -> web.Response:
    name = request.path.rpartition("/")[2]
    body = json_object(request, OPERATIONS[name].request)
    return web.json_response(await request.app[DESK].ask(name, body))


async def _stream(request: web.Request) -> web.StreamResponse:
    """Stream server-sent events: progress, then the answer. Closing the connection ends the work."""
    name = request.path.rpartition("/")[2]
    body = json_object(request, OPERATIONS[name].request)
    checked_source(body)
    waiting: asyncio.Queue[bytes | None] = asyncio.Queue()

    def on_progress(message: JsonMessage) -> None:
        if waiting.qsize() < BEHIND:  # a slow reader misses progress, but gets the answer
            waiting.put_nowait(encode(message.pop("kind"), message))

    async def work() -> None:
        try:
            answer = await request.app[DESK].ask(name, body, on_progress)
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
                event = b":\n\n"  # fails if the connection is closed
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


ROOM = PageRoom(add_routes, "/api", "API", (WORK.module,))
"""An entry point of ``kaskade.rooms``."""
