"""The first page."""

from __future__ import annotations

from aiohttp import web

from ggp.web.choice import brought, pictures
from ggp.web.kept import KNOWN
from ggp.web.play.routes import TABLES
from ggp.web.shell import add_page, page


def add_routes(app: web.Application) -> None:
    """Add the first page and the pictures of cards to the application, after the tables."""
    add_page(app, "/", _page)
    pictures.add_routes(app)
    brought.add_routes(app)


async def _page(request: web.Request) -> web.Response:
    cards = await request.app[KNOWN].cards.get()
    shown = next((card for card in cards if card["name"] == "connectfour"), cards[0])
    return page(
        request,
        "Any game, by its rules alone",
        "start.js",
        ("board.css", "cards.css", "start.css"),
        shown=shown,
        games=sum(card["kind"] not in ("level", "packing") for card in cards),
        puzzles=sum(card["kind"] in ("puzzle", "level", "packing") for card in cards),
        players=request.app[TABLES].players,
    )
