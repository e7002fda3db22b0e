"""The access checks and security headers of ``ggp web``. Every request passes through this module.

Requests from pages of other sites are refused as the player's server refuses them
(:mod:`ggp.server.clients.visitors`). This includes pictures: embedding one in another page must not cause
work here. Other sites may only link to our pages. The host name in a request must be one of ours, on
whatever address the server listens.
Every POST from a page carries the page's token, which only our own pages know: a nonce, and its HMAC under a
key that lives as long as the server. Every reply forbids loading anything from other hosts and running any
script except our modules (Content Security Policy Level 3, W3C).
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import orjson
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from gdl.errors import GdlError
from gdl.visible import without_folders
from ggp.log_lines import say
from ggp.processes.budget import usual_memory
from ggp.protocol.http_error import RETRY_SECONDS, BusyError, HttpError
from ggp.protocol.listener import ListenLimits
from ggp.server.clients.visitors import Visitors
from ggp.web.visits import held_body, visit_of


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Attributes:
    host, port: the address to listen on; port 0 picks a free one.
    records: a folder of match records to replay.
    tournaments: a folder that keeps the tournaments that pages begin; None for a temporary one.
    watch: addresses of servers whose matches are shown.
    allow_origins: origins other than our own whose pages may send requests.
    allow_hosts: host names that requests may use in addition to this computer's.
    players: players that pages may choose in addition to public names: classes, addresses, any options.
    limits: the limits on connections.
    processes, memory: the budget of all tables, searches, checks and drawings together; memory in bytes.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    records: Path | None = None
    tournaments: Path | None = None
    watch: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    players: tuple[str, ...] = ()
    processes: int = 48
    memory: int = field(default_factory=usual_memory)
    limits: ListenLimits = ListenLimits(most=512, most_per_address=384)


SETTINGS = web.AppKey("settings", WebSettings)
TOKEN_HEADER = "X-Ggp-Token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    # Our pages send a referrer to our server only.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Tokens:
    """Makes tokens for pages and verifies them."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def make(self) -> str:
        """A new token."""
        nonce = secrets.token_hex(16)
        return f"{nonce}.{self._sign(nonce)}"

    def knows(self, token: str) -> bool:
        """Whether a token was made by this object."""
        nonce, _, signature = token.partition(".")
        return hmac.compare_digest(self._sign(nonce).encode(), _bytes(signature))

    def _sign(self, nonce: str) -> str:
        return hmac.new(self._key, _bytes(nonce), sha256).hexdigest()


def _bytes(text: str) -> bytes:
    """The bytes of a header; aiohttp decodes bytes that are not UTF-8 as surrogates."""
    return text.encode("utf-8", "surrogateescape")


TOKENS = web.AppKey("tokens", Tokens)
STREAMED = web.AppKey("streamed", set[Handler])
"""The handlers that read the bodies of their requests themselves."""
PAGES = web.AppKey("pages", set[str])
"""The routes of pages, as the router writes them: :func:`ggp.web.shell.add_page`."""


def gate(settings: WebSettings, error_page: Callable[[web.Request, str], web.Response]) -> Middleware:
    """The middleware. A handler's exception becomes a one-line reply: status 400 for GdlError, else 500. For
    a browser that goes to an address it becomes the page that ``error_page`` makes."""
    visitors = Visitors(settings.host, settings.allow_origins, settings.allow_hosts)

    @web.middleware
    async def look(request: web.Request, handler: Handler) -> web.StreamResponse:
        visit = visit_of(request)
        if visit is not None:
            visit.waits = True
        admitted = False  # others get no page, because its token is for ours
        try:
            _admit(request, visitors)
            admitted = True
            streamed = request.match_info.handler in request.app[STREAMED]
            async with nullcontext() if streamed else held_body(request):
                reply = await handler(request)
        except web.HTTPException as error:
            reply = error_reply(error.status, error.reason)
        except HttpError as error:
            reply = error_reply(error.status, str(error))
            if isinstance(error, BusyError):
                reply.headers["Retry-After"] = str(RETRY_SECONDS)
        except GdlError as error:
            reply = error_reply(400, str(error))
        except (ConnectionError, TimeoutError):
            raise
        except UnicodeError:
            reply = error_reply(400, "the request contains bytes that are not valid text")
        except Exception as error:
            say("error", "internal error", path=request.path, error=f"{type(error).__name__}: {error}")
            reply = error_reply(500, "internal error")
        finally:
            if visit is not None:
                visit.waits = False
        headers = {name.lower(): value for name, value in request.headers.items()}
        if admitted and reply.status >= 400 and _leads_to_page(headers):
            text = reply.text if isinstance(reply, web.Response) else None
            shown = error_page(request, orjson.loads(text or "{}").get("error", ""))
            shown.set_status(reply.status)
            if "Retry-After" in reply.headers:
                shown.headers["Retry-After"] = reply.headers["Retry-After"]
            reply = shown
        if not reply.prepared:
            protect(reply)
        return reply

    return look


def protect(reply: web.StreamResponse) -> None:
    """Add the headers of every reply. A streamed reply needs them before its first bytes are sent."""
    for name, value in HEADERS.items():
        reply.headers.setdefault(name, value)


def error_reply(status: int, text: str) -> web.Response:
    """A refusal that a script can read: ``{"error": text}``, without the paths of our files."""
    return web.json_response({"error": without_folders(text)}, status=status)


def _admit(request: web.Request, visitors: Visitors) -> None:
    headers = {name.lower(): value for name, value in request.headers.items()}
    visitors.check_host(headers)
    if request.method in ("GET", "HEAD"):
        resource = request.match_info.route.resource
        page = resource is not None and resource.canonical in request.app[PAGES]
        if page and _leads_to_page(headers):
            return
        if page or request.path.startswith("/static/"):
            visitors.check_message(headers)
        else:
            visitors.check_part(headers)
        return
    visitors.check_message(headers)
    by_browser = "origin" in headers or any(name.startswith("sec-fetch-") for name in headers)
    if request.path.startswith("/api/") and not by_browser:
        return  # a tool, because browsers always send one of these headers
    if not request.app[TOKENS].knows(headers.get(TOKEN_HEADER.lower(), "")):
        raise HttpError(403, "this page is out of date", "load it again")


def _leads_to_page(headers: Mapping[str, str]) -> bool:
    """Whether the browser navigates to a page, from any site: the page replaces the window's content."""
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
