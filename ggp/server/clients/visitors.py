"""Who asks, and who may: addresses that can be compared, whether somebody is on this computer, what the
others are shown of a match's id; and web pages of other sites, which may not ask.

Whoever knows the id of a match can end it, as far as the protocol goes. So a match belongs to the address
that sent its START, and only this computer is shown whole ids.

Any page that a person opens can have the browser send messages to a server on the same computer or network.
Browsers say so (``Origin``, ``Sec-Fetch-Site``: Fetch Metadata, W3C), game managers send neither. A page
whose name is made to lead here after it was loaded (DNS rebinding) is known by the ``Host`` that it asks for.
Browsers say where a request comes from only if they trust the way to the server: https, or this computer.
Elsewhere a page of ours is known by its ``Referer``, which no other page can write.
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
"""Another port of this computer is the same site, and another page all the same."""
_HOST = re.compile(r"(?:\[([^\[\]]+)\]|([^\[\]:/?#@\s]+))(?::\d{0,5})?", re.ASCII)
"""A name or a number, and perhaps a port (RFC 9110, 7.2)."""
_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?", re.ASCII)
_REFUSED = "a web page of another site may not do this"


class Visitors:
    """What requests are refused; names of their ``headers`` are in lower case.

    Args:
        host: the address that is listened on.
        allowed: origins (``https://manager.example``) whose pages may do everything; ``*`` for all.
        hosts: names of this server beside those of this computer, as a proxy or a name server gives them.

    Raises:
        GdlError: one of these is no origin or no name.
    """

    def __init__(self, host: str, allowed: Iterable[str] = (), hosts: Iterable[str] = ()) -> None:
        self._allowed = frozenset(origin.rstrip("/").lower() for origin in allowed)
        for origin in self._allowed - {ANY, "null"}:
            parts = _split(origin)
            if parts is None or parts[0] not in ("http", "https") or origin.count("/") != 2:
                raise GdlError(f"{origin!r} is no origin", remedy="write https://host or http://host:port")
        names = {_split(origin) for origin in self._allowed}
        self._names = {"localhost", socket.gethostname().lower(), host.lower()}
        self._names |= {parts[1] for parts in names if parts}
        for name in hosts:
            if _NAME.fullmatch(name) is None:
                raise GdlError(f"{name!r} is no name of a host", remedy="write host.example, without a port")
            self._names.add(name.lower().removesuffix("."))
        self._local = _is_loopback(host)

    def origin(self, headers: Mapping[str, str]) -> str:
        """What pages may read the reply: for ``Access-Control-Allow-Origin``; empty for none."""
        origin = headers.get("origin", "").lower()
        if ANY in self._allowed:
            return ANY
        return origin if origin in self._allowed else ""

    def check_message(self, headers: Mapping[str, str]) -> None:
        """Raises HttpError where a page of another site may have sent this message."""
        if ANY in self._allowed or self.origin(headers):
            return
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site", "").lower()
        if (origin is not None and not self._is_same(origin, headers)) or site in _ELSEWHERE:
            raise HttpError(403, _REFUSED, "start the server with --allow-origin")
        if _by_browser(headers):
            # The name is the page's own. Managers may call us as they like.
            self.check_host(headers)

    def check_page(self, headers: Mapping[str, str]) -> None:
        """Raises HttpError where a browser asks under a name that is none of this computer's, or anybody does
        and only this computer may ask."""
        if self._local or _by_browser(headers):
            self.check_host(headers)

    def check_host(self, headers: Mapping[str, str]) -> None:
        """Raises HttpError where somebody asks under a name that is none of this server's. Numbers are
        welcome, since no name server says where they lead; browsers never leave the name out."""
        host = headers.get("host", "")
        if host and ANY not in self._allowed and not self._is_ours(host):
            raise HttpError(
                403, "this server is not known by that name", "use localhost, its address, or --allow-host"
            )

    def check_part(self, headers: Mapping[str, str]) -> None:
        """Raises HttpError where a page of another site may ask for a part of one of ours: pictures, data,
        events."""
        self.check_message(headers)
        if ANY in self._allowed or self.origin(headers) or headers.get("sec-fetch-site"):
            return
        if _by_browser(headers) and not self._is_same(headers.get("referer", ""), headers):
            raise HttpError(403, _REFUSED, "open the page itself, or start the server with --allow-origin")

    def _is_same(self, address: str, headers: Mapping[str, str]) -> bool:
        """Whether an origin, or a page's address, is of the server that is asked for, and that is ours. The
        scheme is https where a proxy takes that in."""
        host = headers.get("host", "").lower()
        scheme, _, rest = address.lower().partition("://")
        return scheme in ("http", "https") and rest.partition("/")[0] == host and self._is_ours(host)

    def _is_ours(self, host: str) -> bool:
        """Whether a ``Host`` is a number or a name of ours, so that no stranger's name can lead here."""
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
        parts.port  # noqa: B018  (it raises ValueError for what is no port)
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
    """Whether only this computer reaches what listens there; names and ``127.1`` are looked up."""
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
    """The address of a peer as it can be compared: IPv4 within IPv6 is IPv4, and all addresses of the
    loopback device are :data:`LOOPBACK`."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return LOOPBACK if found.is_loopback else str(found)


def is_here(address: str, headers: Mapping[str, str]) -> bool:
    """Whether a request comes from this computer, and not by a proxy on it that passes on what strangers ask.
    Names of ``headers`` are in any case if the mapping does not mind, otherwise in lower case."""
    return sender_of(address) == LOOPBACK and not any(name in headers for name in _OF_PROXIES)


class Veil:
    """Makes names of matches that lead back to no id: the same for one id, as long as the server runs."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(16)

    def name(self, match_id: str) -> str:
        """What strangers and the log are told instead of the id: its beginning, and a keyed hash."""
        sign = hmac.new(self._key, match_id.lower().encode("utf-8", "replace"), sha256).hexdigest()[:6]
        return f"{match_id[: min(_SHOWN, len(match_id) // 2)]}..{sign}"
