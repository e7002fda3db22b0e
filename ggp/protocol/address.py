"""The address of a player, in the form that people write."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from ggp.protocol.http_error import HttpError


@dataclass(frozen=True, slots=True)
class Address:
    """The address on which a player listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The same as a URL without a path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def parse_address(text: str) -> Address:
    """The address in ``http://host:port``, ``host:port`` or ``host`` (port 9147). Raises HttpError if the
    text is not an address."""
    try:
        parts = urlsplit(text if "//" in text else f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or port == 0 or parts.scheme not in ("", "http"):
        raise HttpError(400, f"{text} is not an address of a player", "write http://host:port or host:port")
    return Address(host, 9147 if port is None else port)
