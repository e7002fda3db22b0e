"""What the play room answers: its page, tables and their events, requests to them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web

from gdl.errors import GdlError
from gdl.visible import visible
from ggp.answers.catalogue import checked_source
from ggp.web.gate import WebSettings
from ggp.web.kept import KNOWN
from ggp.web.overseer import BUDGET
from ggp.web.play.tables import OpenTables
from ggp.web.shell import add_page, page
from ggp.web.visits import json_object
from players.processes.limits import cores
from players.registry import NAMES

TABLES = web.AppKey("tables", OpenTables)
FIELDS = ("role", "move", "step", "player", "to", "from")
"""Of requests; others are dropped."""
REQUESTS = ("move", "back", "goto", "go", "pause", "seat", "swap", "hint", "show", "again", "walk", "sit")
KINDS = {"record": ("application/json", "json"), "html": ("text/html", "html")}
"""In what form a match is kept: its type, and what the file's name ends in."""
MOST_SEATS = 64
LONGEST_CLOCK = 3600.0
LONGEST_NAME = 1000
"""Characters of a player's name with all its options."""


def add_routes(app: web.Application, settings: WebSettings) -> None:
    """Add the room to the application."""
    app[TABLES] = OpenTables(settings.players, app[BUDGET])
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
    told = await json_object(request)
    seats = told.get("seats", [])
    if not isinstance(seats, list) or len(seats) > MOST_SEATS:
        raise GdlError("seats is no list of players", remedy='for example ["human", "uct"]')
    table_request = {
        **checked_source(told),
        "seats": [_player(name) for name in seats],
        "others": _player(told.get("others") or "uct"),
        "playclock": _number(told, "playclock", 2.0, 0.05),
        "patience": _number(told, "patience", 0.0, 0.0),
        "seed": int(_number(told, "seed", 0, 0)),
        "workers": int(_number(told, "workers", 0, 0, cores())),
    }
    cards = await request.app[KNOWN].cards.get()
    numbers = {card["name"]: number for number, card in enumerate(cards)}
    number = numbers.get(told.get("game") or "")
    title = told.get("title") or ""
    if not isinstance(title, str) or len(title) > LONGEST_NAME:
        raise GdlError(f"title is no text of at most {LONGEST_NAME} characters")
    if number is not None:
        card, after = cards[number], cards[(number + 1) % len(cards)]
        title = card["title"]
        table_request["card"] = card["name"]
        if card["kind"] == after["kind"] == "level":
            table_request["next_card"] = after["name"]
    table = await request.app[TABLES].open({**table_request, "title": visible(title)})
    return web.json_response({"table": table.id, "page": f"/play/{table.id}"})


async def _rules(request: web.Request) -> web.Response:
    return web.json_response({"text": request.app[TABLES].get(request.match_info["table"]).rules})


async def _keep(request: web.Request) -> web.Response:
    """The match so far as a file: ``form=record`` or ``form=html``."""
    form = request.query.get("form", "record")
    if form not in KINDS:
        raise GdlError(f"form is none of {', '.join(KINDS)}")
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
    told = await json_object(request)
    table = request.app[TABLES].get(request.match_info["table"])
    if do == "sit":
        return web.json_response({"key": table.sit(str(told.get("role") or ""))})
    if do == "seat":
        _player(told.get("player"))
    known = {name: told[name] for name in FIELDS if name in told}
    table.request(do, known, str(told.get("key") or ""))
    return web.json_response({})


def _player(name: object) -> str:
    """What may be a player's name; the table's process knows which (:mod:`ggp.web.play.seats`)."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        raise GdlError(f"a player's name is a text of 1 to {LONGEST_NAME} characters")
    return name


def _number(
    told: dict[str, Any], name: str, usual: float, least: float, most: float = LONGEST_CLOCK
) -> float:
    value = told.get(name, usual)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise GdlError(f"{name} is no number from {least:g} to {most:g}")
    return float(value)
