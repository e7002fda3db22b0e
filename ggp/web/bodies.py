"""The bodies of requests: read whole before anything is done with them, within bounds of size and time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from ggp.protocol.http_error import HttpError
from ggp.protocol.json_body import object_of
from ggp.web.visits import touch, visit_of

MAX_BODY = 2 * 1024 * 1024
"""Bytes of a body, where a route does not say otherwise."""
WHOLE_SECONDS = 30.0
"""How long a body may take to come."""
PAUSE_SECONDS = 10.0
"""How long the sender of a large body may pause."""
_LATE = HttpError(408, "the body takes too long to come", "send it at once")


async def take_body(request: web.Request) -> None:
    """Read the body; ``request.read()`` then has it at once. Raises HttpError where it does not come, and
    HTTPRequestEntityTooLarge."""
    if request.can_read_body:
        with _reading(request):
            try:
                async with asyncio.timeout(WHOLE_SECONDS):
                    await request.read()
            except TimeoutError:
                raise _LATE from None


async def body_chunks(request: web.Request, most: int) -> AsyncIterator[bytes]:
    """A large body piece by piece, at most so many bytes. Raises HttpError where it does not come or is
    longer."""
    size = 0
    while True:
        with _reading(request):
            try:
                async with asyncio.timeout(PAUSE_SECONDS):
                    chunk = await request.content.readany()
            except TimeoutError:
                raise _LATE from None
        if not chunk:
            return
        touch(request)
        size += len(chunk)
        if size > most:
            raise HttpError(413, f"the body has more than {most:,} bytes")
        yield chunk


@contextmanager
def _reading(request: web.Request) -> Iterator[None]:
    visit = visit_of(request)
    if visit is not None:
        visit.body, visit.waits = request.content, False
    try:
        yield
    finally:
        if visit is not None:
            visit.body, visit.waits = None, True


async def json_object(request: web.Request) -> dict[str, Any]:
    """The JSON object that a request carries. Raises GdlError where it is none."""
    return object_of(await request.read())
