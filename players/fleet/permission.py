"""Which clusters a process may call: any, until it limits itself and all that it starts to some.

Whoever calls a cluster sends the token of the cluster along. A command that reads names of players from
strangers (a page, a file) first limits itself to the addresses of its command line. Then no later mistake can
send the token anywhere else.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from gdl.errors import GdlError

_VARIABLE = "GGP_CLUSTERS"
"""Processes inherit it: addresses with blanks between them. Without it all addresses are permitted."""


def permit_only(addresses: Iterable[str]) -> None:
    """From now on this process, and those it starts later, call only these clusters. What an earlier call, or
    the environment, has ruled out stays so."""
    os.environ[_VARIABLE] = " ".join(address for address in addresses if is_permitted(address))


def is_permitted(address: str) -> bool:
    """Whether the cluster at this address may be called."""
    permitted = os.environ.get(_VARIABLE)
    return permitted is None or address in permitted.split()


def check_permitted(address: str) -> None:
    """Raises GdlError where the cluster at this address may not be called."""
    if not is_permitted(address):
        raise GdlError(
            f"the cluster {address} may not be called from here",
            remedy="the operator names clusters on the command line",
        )
