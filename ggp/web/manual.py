"""``GET /docs`` lists the pages of the docs, ``GET /docs/NAME`` shows one.

Renders the pages of the docs that users of the web pages may need, as HTML from their Markdown.

The text is our own, but still only Markdown syntax becomes markup, and HTML in it does not. A link leads to
another of these pages, to a picture, or to another site. Other links become plain text.
"""

from __future__ import annotations

import asyncio
import posixpath
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from aiohttp import web

import ggp
from gdl.reading import read_limited
from ggp.web.rooms import PageRoom
from ggp.web.shell import add_page, page

CONTENTS: dict[str, tuple[str, ...]] = {
    "Start": ("tutorials/five-minute-tour", "web", "faq", "glossary"),
    "Play": ("sokoban", "cover", "puzzles", "hidden"),
    "Write a game": ("tutorials/first-game", "tutorials/first-dice-game", "boards", "notations"),
    "Players": ("tutorials/first-player", "tournaments", "server", "running", "knowledge", "compared"),
}
"""Chapter -> pages, as paths in the folder of the docs without ``.md``."""
NAMES = frozenset(name for names in CONTENTS.values() for name in names)
PICTURES = "pictures"
"""The folder of their pictures, in the folder of the docs."""
_LONGEST = 1 << 20
_TITLE = re.compile(r"^# (.*)$", re.MULTILINE)


def docs_folder() -> Path:
    """The folder of the docs: in the wheel, or next to the packages in a checkout."""
    here = Path(ggp.__path__[0]).resolve()
    inside = here / "docs"
    return inside if inside.is_dir() else here.parent / "docs"


def _text_of_page(name: str) -> str:
    """The Markdown of a page. Raises GdlError if it cannot be read."""
    return read_limited(docs_folder() / f"{name}.md", _LONGEST).decode()


def title_of_page(name: str) -> str:
    """The title of a page."""
    found = _TITLE.search(_text_of_page(name))
    return found[1] if found else name


@cache
def html_of_page(name: str) -> str:
    """A page without its title, as HTML. Headings have the same ids as on GitHub."""
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(_text_of_page(name))
    while tokens and tokens[0].type != "heading_close":
        del tokens[0]
    del tokens[:1]

    def lead(parts: Iterable[Token]) -> None:
        open_links: list[bool] = []
        for part in parts:
            if part.type == "link_open":
                target = _target(name, str(part.attrs["href"]))
                open_links.append(bool(target))
                part.attrs = {"href": target} if target else {}
            if part.type == "image":
                part.attrs["src"] = _target(name, str(part.attrs["src"]))
            if part.type in ("link_open", "link_close"):
                part.tag = "a" if open_links[-1] else "span"
            if part.type == "link_close":
                open_links.pop()

    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrs["id"] = anchor(tokens[number + 1].content)
        lead(token.children or ())
    return str(reader.renderer.render(tokens, reader.options, {}))


def anchor(heading: str) -> str:
    """The id of a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


def _target(name: str, href: str) -> str:
    """The target of a link on a page; empty if the target is not available here."""
    if re.match(r"https?:", href) or href.startswith("#"):
        return href
    path, _, part = href.partition("#")
    place = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
    if posixpath.dirname(place) == PICTURES:
        return f"/docs/{place}"
    page = place.removesuffix(".md")
    if page not in NAMES:
        return ""
    return f"/docs/{page}#{part}" if part else f"/docs/{page}"


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
    html = await asyncio.to_thread(html_of_page, name) if name else ""
    title = next((one["title"] for part in contents for one in part["pages"] if one["name"] == name), "Docs")
    return page(request, title, "docs.js", ("docs.css",), contents=contents, html=html, here=name)


@cache
def _contents() -> list[dict[str, Any]]:
    """The chapters, each with the names and titles of its pages."""
    return [
        {"chapter": chapter, "pages": [{"name": name, "title": title_of_page(name)} for name in names]}
        for chapter, names in CONTENTS.items()
    ]


ROOM = PageRoom(add_routes, "/docs", "Docs")
"""An entry point of ``kaskade.rooms``."""
