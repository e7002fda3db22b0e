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
from gdl.json_schema import TEXT, Schema, record
from gdl.visible import without_folders
from ggp.answers.catalogue import checked_source
from ggp.answers.operations import OPERATIONS, PROGRESS, WORK, Operation, QuestionDesk
from ggp.processes.parent import JsonMessage
from ggp.protocol.event_source import BEHIND
from ggp.web.gate import protect
from ggp.web.rooms import PageRoom, add_owner
from ggp.web.shell import add_page, encode, page
from ggp.web.visits import json_object, touch

ERROR = record(error={**TEXT, "description": "one line: the mistake and its remedy"})
_JSON = "application/json"
_STREAM = "text/event-stream"
_EVENTS = (
    "Server-sent events: `progress` a few times a second (schema Progress), then `solved` (schema Solved), "
    "or `failed` with an error. Hanging up ends the search."
)


def describe_api() -> dict[str, Any]:
    """The whole OpenAPI description."""
    description = {
        "operationId": "openapi",
        "summary": "This description",
        "responses": {"200": _content("OpenAPI 3.1", _JSON, {"type": "object"})},
    }
    paths = {
        f"/api/{name}": {_method(one).lower(): _described(name, one)} for name, one in OPERATIONS.items()
    }
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
        "paths": {**paths, "/api/openapi.json": {"get": description}},
        "components": {
            "schemas": {"Error": ERROR, "Progress": PROGRESS, "Solved": OPERATIONS["solve"].reply},
        },
    }


def _method(operation: Operation) -> str:
    return "POST" if operation.request["properties"] else "GET"


_ERRORS = {
    "400": "The question cannot be answered",
    "403": "The request came from another site or lacks the page's token",
    "413": "The body is longer than 2 MiB",
    "503": "The server is busy: ask again after Retry-After seconds",
}


def _described(name: str, operation: Operation) -> dict[str, Any]:
    if operation.streams:
        good = _content(_EVENTS, _STREAM, {"type": "string"})
    else:
        good = _content("The answer", _JSON, operation.reply)
    described = {"operationId": name, "summary": operation.summary, "responses": {"200": good}}
    if _method(operation) == "GET":
        return described
    error = {"$ref": "#/components/schemas/Error"}
    errors = {status: _content(text, _JSON, error) for status, text in _ERRORS.items()}
    body = {"required": True, "content": {_JSON: {"schema": operation.request}}}
    return {**described, "requestBody": body, "responses": {"200": good, **errors}}


def _content(description: str, kind: str, schema: Schema) -> dict[str, Any]:
    return {"description": description, "content": {kind: {"schema": schema}}}


DESK = web.AppKey("desk", QuestionDesk)


def add_routes(app: web.Application) -> None:
    """Add the API to the application."""
    add_owner(app, DESK, QuestionDesk)
    add_page(app, "/api", _page)
    app.router.add_get("/api/openapi.json", _description)
    for name, operation in OPERATIONS.items():
        answer = _stream if operation.streams else _answer
        app.router.add_route(_method(operation), f"/api/{name}", answer)


async def _page(request: web.Request) -> web.Response:
    """The page of all calls, each with an example to try."""
    examples = {name: orjson.dumps(one.example).decode() for name, one in OPERATIONS.items()}
    return page(request, "The JSON API", "api.js", ("api.css",), examples=examples)


async def _description(request: web.Request) -> web.Response:
    return web.json_response(describe_api())


async def _answer(request: web.Request) -> web.Response:
    name = request.path.rpartition("/")[2]
    body = {} if request.method == "GET" else json_object(request, OPERATIONS[name].request)
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
