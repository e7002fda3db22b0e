"""The frame of every page (head, navigation links, one ES module that fills it), and its events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import orjson
from aiohttp import web
from aiohttp.typedefs import Handler

from ggp.protocol.event_source import EventSource, encode
from ggp.web.gate import HEADERS, PAGES, TOKENS
from ggp.web.rooms import rooms
from ggp.web.visits import touch, visit_of

_HOME = '<a class="home" href="/"><img src="/static/icon.svg" alt="" width="20" height="20">kaskade</a>'

_MENU = '<button type="button" class="menu" popovertarget="rooms">Menu</button>'
"""Opens the list of rooms on a phone; elsewhere the list is always there."""


def add_page(app: web.Application, path: str, handler: Handler) -> None:
    """Add a page to the application. Only pages may be linked from other sites, so the handler must do little
    work."""
    route = app.router.add_get(path, handler)
    assert route.resource is not None
    app[PAGES].add(route.resource.canonical)


def page(
    request: web.Request, title: str, module: str, styles: Sequence[str] = (), **data: Any
) -> web.Response:
    """A page.

    Args:
        title: the window's title, and the heading above the content.
        module: file in ``ggp/web/static`` whose exported ``show(main, data)`` fills the page.
        styles: additional stylesheets in that folder.
        data: the module's data, passed as JSON.
    """
    here = "/" + request.path.strip("/").partition("/")[0]
    links = "".join(
        f'<a href="{escape(room.path)}"{" aria-current=page" * (room.path == here)}>{escape(room.title)}</a>'
        for room in rooms().values()
        if room.path
    )
    sheets = "".join(
        f'<link rel="stylesheet" href="/static/{escape(name)}">' for name in ("style.css", *styles)
    )
    # A browser neither executes nor shows the text in a <template>.
    carried = escape(orjson.dumps(data).decode())
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="token" content="{request.app[TOKENS].make()}">'
        f"<title>{escape(title)} - kaskade</title>"
        f'<link rel="icon" href="/static/icon.svg">{sheets}'
        f'<script type="module" src="/static/boot.js" data-module="{escape(module)}"></script></head>'
        f'<body><header><nav aria-label="Rooms">{_HOME}{_MENU}'
        f'<div id="rooms" popover>{links}</div></nav></header>'
        f"<main><h1>{escape(title)}</h1></main>"
        f'<template id="data">{carried}</template>'
        "<noscript>These pages need JavaScript.</noscript></body></html>"
    )
    return web.Response(text=text, content_type="text/html", headers={"Cache-Control": "no-store"})


def attachment(text: str, kind: str, name: str) -> web.Response:
    """A file to be saved, of a content type; where a browser shows it, nothing in it runs."""
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    return web.Response(text=text, content_type=kind, headers=headers)


def error_page(request: web.Request, text: str) -> web.Response:
    """The page for an address that leads nowhere, or to what is there no more."""
    return page(request, "Not here", "lost.js", text=text)


__all__ = ["Broadcast", "encode"]


class Broadcast(EventSource):
    """One source of events; ``greeting`` as for :class:`~ggp.protocol.event_source.EventSource`."""

    def __init__(self, greeting: Callable[[], list[bytes]] = list) -> None:
        super().__init__(greeting, HEADERS)

    async def stream(self, request: web.Request) -> web.StreamResponse:
        visit = visit_of(request)
        if visit is not None:
            visit.stream = asyncio.current_task()
        try:
            return await super().stream(request)
        finally:
            if visit is not None:
                visit.stream = None

    def wrote(self, request: web.Request) -> None:
        touch(request)
