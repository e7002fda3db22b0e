"""Who may ask, and what a page may do: every request to ``ggp web`` passes here.

Pages of other sites are refused as the player's server refuses them (:mod:`ggp.server.clients.visitors`),
whatever they ask for: a picture in such a page must not make us work. They may only lead to our pages. The
name that is asked for has to be ours, on whatever address we listen.
Every POST of a page carries the page's token, which only a page of ours can know: a nonce, and its HMAC under
a key that lives as long as the server. Every reply says that nothing is loaded from elsewhere, and that no
script runs but our modules (Content Security Policy Level 3, W3C).
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

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
    host, port: where it listens; port 0 picks a free one.
    records: a folder of match records to replay.
    watch: addresses of servers whose matches are shown.
    allow_origins: origins whose pages may ask beside our own.
    allow_hosts: names under which pages may be asked for, beside this computer's.
    players: players that pages may choose besides public names: classes, addresses, any options.
    limits: what bounds its connections.
    processes, memory: what all tables, searches, checks and drawings together may take; memory in bytes.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    records: Path | None = None
    watch: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    players: tuple[str, ...] = ()
    processes: int = 48
    memory: int = field(default_factory=usual_memory)
    limits: ListenLimits = ListenLimits(most=512, most_per_address=384)


TOKEN_HEADER = "X-Ggp-Token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    # Our pages tell us, and nobody else, where their requests come from.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Tokens:
    """Makes tokens for pages, and knows them again."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def make(self) -> str:
        """A new one."""
        nonce = secrets.token_hex(16)
        return f"{nonce}.{self._sign(nonce)}"

    def knows(self, token: str) -> bool:
        """Whether it was made here."""
        nonce, _, signature = token.partition(".")
        return hmac.compare_digest(self._sign(nonce).encode(), _bytes(signature))

    def _sign(self, nonce: str) -> str:
        return hmac.new(self._key, _bytes(nonce), sha256).hexdigest()


def _bytes(text: str) -> bytes:
    """The bytes of a header; aiohttp makes surrogates of those that are no UTF-8."""
    return text.encode("utf-8", "surrogateescape")


TOKENS = web.AppKey("tokens", Tokens)
STREAMED = web.AppKey("streamed", set[Handler])
"""The handlers that read the bodies of their requests themselves."""
PAGES = web.AppKey("pages", set[str])
"""The routes of pages, as the router writes them: :func:`ggp.web.shell.add_page`."""


def gate(settings: WebSettings) -> Middleware:
    """The middleware. What a handler raises becomes one line: GdlError 400, anything else 500."""
    visitors = Visitors(settings.host, settings.allow_origins, settings.allow_hosts)

    @web.middleware
    async def look(request: web.Request, handler: Handler) -> web.StreamResponse:
        visit = visit_of(request)
        if visit is not None:
            visit.waits = True
        try:
            _admit(request, visitors)
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
            reply = error_reply(400, "something in this request is no text")
        except Exception as error:
            say("error", "internal error", path=request.path, error=f"{type(error).__name__}: {error}")
            reply = error_reply(500, "internal error")
        finally:
            if visit is not None:
                visit.waits = False
        if not reply.prepared:
            protect(reply)
        return reply

    return look


def protect(reply: web.StreamResponse) -> None:
    """Add the headers that every reply has; one that is sent piece by piece needs them before its first."""
    for name, value in HEADERS.items():
        reply.headers.setdefault(name, value)


def error_reply(status: int, text: str) -> web.Response:
    """A refusal that a script can read: ``{"error": text}``. It does not say where files of ours lie."""
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
        return  # a tool: no page can leave out both
    if not request.app[TOKENS].knows(headers.get(TOKEN_HEADER.lower(), "")):
        raise HttpError(403, "this page is out of date", "load it again")


def _leads_to_page(headers: Mapping[str, str]) -> bool:
    """Whether a person goes to a page, from wherever: it becomes what the window shows."""
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
