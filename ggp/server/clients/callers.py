"""Who asks: addresses that can be compared, whether somebody is on this computer, and what the others are
shown of a match's id.

Whoever knows the id of a match can end it, as far as the protocol goes. So a match belongs to the address
that sent its START, and only this computer is shown whole ids.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from hashlib import sha256

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
