"""Decides which requests are allowed: compares addresses, recognises requests from this computer, shortens
match ids for others, and refuses web pages of other sites.

The protocol lets any client that knows the id of a match end it. So a match belongs to the address that sent
its START, and only this computer sees whole ids.

Any page that a person opens can make the browser send messages to a server on the same computer or network.
Browsers mark such messages (``Origin``, ``Sec-Fetch-Site``: Fetch Metadata, W3C), game managers send neither
header. A page may also change its own name to lead to this server after it was loaded (DNS rebinding). The
``Host`` of its requests reveals it. Browsers send the origin of a request only over a trusted connection:
https, or this computer. On other connections a page of this server is recognised by its ``Referer``, which no
other page can write.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Iterable, Mapping
from hashlib import sha256
from urllib.parse import urlsplit

from gdl.errors import GdlError
from ggp.protocol.http_error import HttpError

ANY = "*"
_ELSEWHERE = ("cross-site", "same-site")
"""The values of another site. Another port of this computer counts as the same site, but it is still another
page."""
_HOST = re.compile(r"(?:\[([^\[\]]+)\]|([^\[\]:/?#@\s]+))(?::\d{0,5})?", re.ASCII)
"""A name or a number, with an optional port (RFC 9110, 7.2)."""
_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?", re.ASCII)
_REFUSED = "a web page of another site may not do this"


class Visitors:
    """Decides which requests are refused; names of their ``headers`` are in lower case.

    Args:
        host: the address that the server listens on.
        allowed: origins (``https://manager.example``) whose pages may do everything; ``*`` for all.
        hosts: names of this server in addition to those of this computer, as a proxy or a name server gives
            them.

    Raises:
        GdlError: an origin or a host name is invalid.
    """

    def __init__(self, host: str, allowed: Iterable[str] = (), hosts: Iterable[str] = ()) -> None:
        self._allowed = frozenset(origin.rstrip("/").lower() for origin in allowed)
        for origin in self._allowed - {ANY, "null"}:
            parts = _split(origin)
            if parts is None or parts[0] not in ("http", "https") or origin.count("/") != 2:
                raise GdlError(
                    f"{origin!r} is not an origin", remedy="write https://host or http://host:port"
                )
        names = {_split(origin) for origin in self._allowed}
        self._names = {"localhost", socket.gethostname().lower(), host.lower()}
        self._names |= {parts[1] for parts in names if parts}
        for name in hosts:
            if _NAME.fullmatch(name) is None:
                raise GdlError(f"{name!r} is not a host name", remedy="write host.example, without a port")
            self._names.add(name.lower().removesuffix("."))
        self._local = _is_loopback(host)

    def origin(self, headers: Mapping[str, str]) -> str:
        """The origin whose pages may read the reply, for ``Access-Control-Allow-Origin``; empty for none."""
        origin = headers.get("origin", "").lower()
        if ANY in self._allowed:
            return ANY
        return origin if origin in self._allowed else ""

    def check_message(self, headers: Mapping[str, str]) -> None:
        """Raise HttpError if a page of another site may have sent this message."""
        if ANY in self._allowed or self.origin(headers):
            return
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site", "").lower()
        if (origin is not None and not self._is_same(origin, headers)) or site in _ELSEWHERE:
            raise HttpError(403, _REFUSED, "start the server with --allow-origin")
        if _by_browser(headers):
            # A browser's Host is the page's own name. Managers may use any name for this server.
            self.check_host(headers)

    def check_page(self, headers: Mapping[str, str]) -> None:
        """Raise HttpError if a browser uses a name that does not belong to this computer, or if the request
        comes from another computer and only this one may ask."""
        if self._local or _by_browser(headers):
            self.check_host(headers)

    def check_host(self, headers: Mapping[str, str]) -> None:
        """Raise HttpError if a request uses a name that does not belong to this server. Numeric addresses are
        allowed, since no name server can redirect them. Browsers always send the name."""
        host = headers.get("host", "")
        if host and ANY not in self._allowed and not self._is_ours(host):
            raise HttpError(
                403, "this server is not known by that name", "use localhost, its address, or --allow-host"
            )

    def check_part(self, headers: Mapping[str, str]) -> None:
        """Raise HttpError if a page of another site may have requested a part of one of this server's pages:
        pictures, data, events."""
        self.check_message(headers)
        if ANY in self._allowed or self.origin(headers) or headers.get("sec-fetch-site"):
            return
        if _by_browser(headers) and not self._is_same(headers.get("referer", ""), headers):
            raise HttpError(403, _REFUSED, "open the page itself, or start the server with --allow-origin")

    def _is_same(self, address: str, headers: Mapping[str, str]) -> bool:
        """Whether an origin, or a page's address, belongs to the requested server and that is this one. The
        scheme is https if a proxy accepts https."""
        host = headers.get("host", "").lower()
        scheme, _, rest = address.lower().partition("://")
        return scheme in ("http", "https") and rest.partition("/")[0] == host and self._is_ours(host)

    def _is_ours(self, host: str) -> bool:
        """Whether a ``Host`` is a number or a name of this server, so that no stranger's name can lead
        here."""
        parts = _HOST.fullmatch(host.lower())
        if parts is None:
            return False
        name = (parts[1] or parts[2]).removesuffix(".")
        return name in self._names or name.endswith(".localhost") or _is_number(name)


def _by_browser(headers: Mapping[str, str]) -> bool:
    return (
        "origin" in headers
        or "sec-fetch-site" in headers
        or headers.get("user-agent", "").startswith("Mozilla/")
    )


def _split(origin: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(origin)
        parts.port  # noqa: B018  (it raises ValueError for an invalid port)
    except ValueError:
        return None
    return (parts.scheme, parts.hostname) if parts.hostname else None


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    """Whether only this computer can reach an address; names and ``127.1`` are looked up."""
    try:
        found = {str(address[0]) for *_, address in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False  # nothing can listen there
    return all(ipaddress.ip_address(number.partition("%")[0]).is_loopback for number in found)


LOOPBACK = "this computer"
_OF_PROXIES = ("forwarded", "x-forwarded-for", "x-real-ip", "via")
_SHOWN = 8
"""Characters of an id that strangers see, at most half of it."""


def sender_of(address: str) -> str:
    """The address of a peer in a form that can be compared: IPv4 within IPv6 becomes IPv4, and all addresses
    of the loopback device become :data:`LOOPBACK`."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return LOOPBACK if found.is_loopback else str(found)


def is_here(address: str, headers: Mapping[str, str]) -> bool:
    """Whether a request comes from this computer, and not through a proxy on it that passes on strangers'
    requests. Names of ``headers`` are in lower case, unless the mapping ignores case."""
    return sender_of(address) == LOOPBACK and not any(name in headers for name in _OF_PROXIES)


class Veil:
    """Makes names of matches that do not reveal their ids: the same for one id, as long as the server
    runs."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(16)

    def name(self, match_id: str) -> str:
        """The name that strangers and the log see instead of the id: its beginning, and a keyed hash."""
        sign = hmac.new(self._key, match_id.lower().encode("utf-8", "replace"), sha256).hexdigest()[:6]
        return f"{match_id[: min(_SHOWN, len(match_id) // 2)]}..{sign}"
