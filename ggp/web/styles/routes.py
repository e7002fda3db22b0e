"""What pages ask of the stylesheets of a folder: their names, and a frame with what one makes of a state."""

from __future__ import annotations

import re
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator
from pathlib import Path

from aiohttp import web

from gdl.errors import GdlError
from ggp.processes.budget import WorkBudget
from ggp.processes.workers import Workers, WorkKind
from ggp.web.gate import WebSettings
from ggp.web.kept import Kept
from ggp.web.overseer import BUDGET
from ggp.web.visits import json_object

SUFFIXES = (".xsl", ".xslt")
MOST = 5000
"""More stylesheets are not looked at."""
_VERSION = re.compile(r"v(\d+)")


def find_stylesheets(folder: Path) -> dict[str, Path]:
    """Game -> its stylesheet below a folder, by name.

    As the public repository of games does it, the game is the folder that holds the file, of several versions
    (``v0``, ``v1``, ...) the newest one; a file that lies in the folder itself is called like its game.
    """
    root = folder.resolve()
    found: dict[str, tuple[int, Path]] = {}
    paths = (path for path in root.rglob("*") if path.suffix.lower() in SUFFIXES)
    for _, path in zip(range(MOST), paths, strict=False):
        if not path.is_file() or not path.resolve().is_relative_to(root):
            continue
        holders = path.relative_to(root).parts[:-1]
        version = -1
        if holders and (number := _VERSION.fullmatch(holders[-1])):
            version, holders = int(number[1]), holders[:-1]
        name = holders[-1] if holders else path.stem
        # Several files of one folder are called by their own names.
        if name in found and found[name][1].parent == path.parent:
            name = path.stem
        if name not in found or found[name][0] < version:
            found[name] = version, path
    return {name: path for name, (_, path) in sorted(found.items(), key=lambda item: item[0].lower())}


WORK = WorkKind("ggp.web.styles.style_process", "drawing by a stylesheet", most=1, seconds=10.0)
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'; sandbox"
)
"""Of a drawing: it may look like something, and nothing else."""
MOST_FACTS = 200_000
"""Characters of a state."""
MOST_KEPT = 64
"""Drawings that wait to be fetched."""


class StyleRoom:
    """Draws by the stylesheets of a folder, and keeps the latest drawings."""

    def __init__(self, folder: Path | None, budget: WorkBudget) -> None:
        self._folder = folder
        self._sheets = Kept(lambda: {} if folder is None else find_stylesheets(folder))
        self._workers = Workers(WORK, budget)
        self._kept: OrderedDict[str, str] = OrderedDict()

    async def names(self) -> dict[str, Path]:
        """The games that have a stylesheet, and where it is."""
        return await self._sheets.get()

    async def draw(self, name: str, facts: str) -> str:
        """Where the drawing of a state can be fetched. Raises GdlError: it cannot be made."""
        sheet = (await self.names()).get(name)
        if sheet is None or self._folder is None:
            raise GdlError(
                f"there is no stylesheet {name!r}", remedy="ggp web --styles DIR names their folder"
            )
        folder = self._folder.resolve()
        request = {"do": "draw", "sheet": str(sheet.relative_to(folder)), "facts": facts}
        answer = await self._workers.ask("", request, arguments=(str(folder),))
        key = secrets.token_urlsafe(12)
        self._kept[key] = answer["page"]
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return f"/styles/drawn/{key}"

    def drawn(self, key: str) -> str | None:
        """A drawing that is still kept."""
        return self._kept.get(key)

    async def close(self) -> None:
        """End the process."""
        await self._workers.close()


STYLES = web.AppKey("styles", StyleRoom)


def add_routes(app: web.Application, settings: WebSettings) -> None:
    """Add the routes. Raises GdlError where there is a folder, and nothing to apply stylesheets with."""
    if settings.styles is not None:
        try:
            import lxml.etree  # noqa: F401
        except ImportError:
            raise GdlError(
                "--styles needs lxml, which is not installed", remedy="pip install 'kaskade-ggp[styles]'"
            ) from None
    app[STYLES] = StyleRoom(settings.styles, app[BUDGET])
    app.cleanup_ctx.append(_close)
    app.router.add_get("/styles", _names)
    app.router.add_get("/styles/drawn/{key}", _drawn)
    app.router.add_post("/styles/{name}", _draw)


async def _close(app: web.Application) -> AsyncIterator[None]:
    yield
    await app[STYLES].close()


async def _names(request: web.Request) -> web.Response:
    return web.json_response({"names": list(await request.app[STYLES].names())})


async def _draw(request: web.Request) -> web.Response:
    facts = (await json_object(request)).get("facts")
    if not isinstance(facts, str) or len(facts) > MOST_FACTS:
        raise GdlError(f"facts is no text of at most {MOST_FACTS:,} characters")
    frame = await request.app[STYLES].draw(request.match_info["name"], facts)
    return web.json_response({"frame": frame})


async def _drawn(request: web.Request) -> web.Response:
    page = request.app[STYLES].drawn(request.match_info["key"])
    if page is None:
        raise web.HTTPNotFound(reason="this drawing is kept no longer")
    headers = {
        "Content-Security-Policy": POLICY,
        "Cache-Control": "no-store",
        "X-DNS-Prefetch-Control": "off",
    }
    return web.Response(text=page, content_type="text/html", headers=headers)
