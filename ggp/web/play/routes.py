"""The routes of the play pages: the pages, the events of tables, and requests to tables."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aiohttp import web

from gdl.errors import GdlError
from gdl.json_schema import Schema, number, rows, text, whole
from gdl.visible import visible
from ggp.answers.catalogue import SOURCE, checked_source
from ggp.web.cached_lists import KNOWN
from ggp.web.gate import SETTINGS
from ggp.web.play.tables import OpenTables
from ggp.web.rooms import BUDGET, PageRoom
from ggp.web.shell import add_page, page
from ggp.web.visits import fields, json_object
from players.processes.limits import cores
from players.registry import NAMES

TABLES = web.AppKey("tables", OpenTables)
KINDS = {"record": ("application/json", "json"), "html": ("text/html", "html")}
"""The formats of a saved match: form -> content type and file ending."""
MOST_SEATS = 64
LONGEST_CLOCK = 3600.0
_NAME = text(1000, 1)
"""A player with all its options; the table's process checks them (:mod:`ggp.web.play.seats`)."""
OPENING = fields(
    **SOURCE,
    title=text(1000),
    seats=rows(_NAME, most=MOST_SEATS),
    others=text(1000),
    playclock=number(0.05, LONGEST_CLOCK),
    patience=number(0, LONGEST_CLOCK),
    workers=whole(0, cores()),
)
_TERM, _SQUARE, _KEY = text(2000), text(200), text(100)
REQUESTS: dict[str, dict[str, Schema]] = {
    **{do: {} for do in ("back", "go", "pause", "swap", "show", "again")},
    "move": {"role": _TERM, "move": _TERM},
    "goto": {"step": whole()},
    "seat": {"role": _TERM, "player": _NAME},
    "hint": {"role": _TERM},
    "walk": {"role": _TERM, "to": _SQUARE, "from": _SQUARE},
    "sit": {"role": _TERM},
}
"""The requests to a table, each with the schemas of its fields."""


def add_routes(app: web.Application) -> None:
    """Add the room to the application."""
    app[TABLES] = OpenTables(app[SETTINGS].players, app[BUDGET])
    app.cleanup_ctx.append(_close)
    add_page(app, "/play", _page)
    add_page(app, "/play/{table}", _page)
    app.router.add_get("/play/{table}/events", _events)
    app.router.add_get("/play/{table}/rules", _rules)
    app.router.add_get("/play/{table}/keep", _keep)
    app.router.add_post("/play/tables", _open)
    app.router.add_post("/play/{table}/{do}", _request)


async def _close(app: web.Application) -> AsyncIterator[None]:
    yield
    await app[TABLES].close()


async def _page(request: web.Request) -> web.Response:
    table = request.match_info.get("table", "")
    players = request.app[TABLES].players
    if not table:
        cards = await request.app[KNOWN].cards.get()
        styles = ("board.css", "cards.css")
        return page(request, "Play", "choose.js", styles, cards=cards, players=players, names=NAMES)
    names = ["human", *NAMES, *players]
    return page(
        request, "Play", "play.js", ("board.css", "play.css", "hidden.css"), table=table, players=names
    )


async def _events(request: web.Request) -> web.StreamResponse:
    table = request.app[TABLES].get(request.match_info["table"])
    return await table.heard_with(request.query.get("key", "")).stream(request)


async def _open(request: web.Request) -> web.Response:
    body = json_object(request, OPENING)
    table_request = {**body, **checked_source(body)}
    cards = await request.app[KNOWN].cards.get()
    numbers = {card["name"]: place for place, card in enumerate(cards)}
    place = numbers.get(body.get("game", ""))
    title = body.get("title", "")
    if place is not None:
        card, after = cards[place], cards[(place + 1) % len(cards)]
        title = card["title"]
        table_request["card"] = card["name"]
        if card["kind"] == after["kind"] == "level":
            table_request["next_card"] = after["name"]
    table = await request.app[TABLES].open({**table_request, "title": visible(title)})
    return web.json_response({"table": table.id, "page": f"/play/{table.id}"})


async def _rules(request: web.Request) -> web.Response:
    return web.json_response({"text": request.app[TABLES].get(request.match_info["table"]).rules})


async def _keep(request: web.Request) -> web.Response:
    """Download the match up to now as a file: ``form=record`` or ``form=html``."""
    form = request.query.get("form", "record")
    if form not in KINDS:
        raise GdlError(f"form must be one of {', '.join(KINDS)}")
    text = await request.app[TABLES].get(request.match_info["table"]).kept(form)
    kind, ending = KINDS[form]
    headers = {
        "Content-Disposition": f'attachment; filename="match.{ending}"',
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    return web.Response(text=text, content_type=kind, headers=headers)


async def _request(request: web.Request) -> web.Response:
    do = request.match_info["do"]
    if do not in REQUESTS:
        raise web.HTTPNotFound(reason="there is no such request")
    body = json_object(request, fields(**REQUESTS[do], key=_KEY))
    key = body.pop("key", "")
    table = request.app[TABLES].get(request.match_info["table"])
    if do == "sit":
        return web.json_response({"key": table.sit(body.get("role", ""))})
    table.request(do, body, key)
    return web.json_response({})


ROOM = PageRoom(add_routes, "/play", "Play", ("ggp.web.play.table_process",))
"""An entry point of ``kaskade.rooms``."""
