"""``GET /docs`` lists the pages of the docs, ``GET /docs/NAME`` shows one."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

from aiohttp import web

from ggp.web.manual.pages import CONTENTS, NAMES, PICTURES, docs_folder, html_of_page, title_of_page
from ggp.web.rooms import Room
from ggp.web.shell import add_page, page


def add_routes(app: web.Application) -> None:
    """Add the room to the application."""
    pictures = docs_folder() / PICTURES
    if pictures.is_dir():
        app.router.add_static(f"/docs/{PICTURES}/", pictures)
    add_page(app, "/docs", _page)
    add_page(app, "/docs/{name:.+}", _page)


async def _page(request: web.Request) -> web.Response:
    name = request.match_info.get("name", "")
    if name and name not in NAMES:
        raise web.HTTPNotFound(reason="there is no such page of the docs")
    contents = await asyncio.to_thread(_contents)
    html = await asyncio.to_thread(_html, name) if name else ""
    title = next((one["title"] for part in contents for one in part["pages"] if one["name"] == name), "Docs")
    return page(request, title, "docs.js", ("docs.css",), contents=contents, html=html, here=name)


@cache
def _contents() -> list[dict[str, Any]]:
    """The chapters, each with the names and titles of its pages."""
    return [
        {"chapter": chapter, "pages": [{"name": name, "title": title_of_page(name)} for name in names]}
        for chapter, names in CONTENTS.items()
    ]


@cache
def _html(name: str) -> str:
    return html_of_page(name)


ROOM = Room(add_routes, "/docs", "Docs")
"""An entry point of ``kaskade.rooms``."""
