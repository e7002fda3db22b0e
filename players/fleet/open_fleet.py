"""Opens a fleet by its address, ``HOST:PORT`` or ``local-ray:N``, if it may be called.

A call to a cluster sends the token of the cluster. So a command that reads players' names from strangers (a
page, a file) first limits itself, and all processes that it starts, to the addresses of its command line.
Then no later mistake can send the token to another address.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from gdl.errors import GdlError
from players.fleet.fleet import Fleet
from players.fleet.ray_nodes import LOCAL_RAY, close_doors, installed, ray_nodes

_VARIABLE = "GGP_CLUSTERS"
"""An environment variable, inherited by processes: addresses separated by blanks. Without it all addresses
are permitted."""


def permit_only(addresses: Iterable[str]) -> None:
    """From now on this process, and those it starts later, call only these clusters. Clusters that an earlier
    call or the environment has excluded remain excluded."""
    os.environ[_VARIABLE] = " ".join(address for address in addresses if is_permitted(address))


def is_permitted(address: str) -> bool:
    """Whether the cluster at this address may be called."""
    permitted = os.environ.get(_VARIABLE)
    return permitted is None or address in permitted.split()


def check_permitted(address: str) -> None:
    """Raises GdlError if the cluster at this address may not be called."""
    if not is_permitted(address):
        raise GdlError(
            f"the cluster {address} may not be called from here",
            remedy="the operator names clusters on the command line",
        )


_RAY = re.compile(r"(\[[^\]]+\]|[^:\s]+):\d{1,5}")


def check_address(address: str) -> str:
    """The address, unchanged. Raises GdlError for a text that cannot be one."""
    if not any(kind.fullmatch(address) for kind in (LOCAL_RAY, _RAY)):
        raise GdlError(
            f"{address!r} is not an address of a cluster",
            remedy="HOST:PORT, or local-ray:N for N nodes of Ray here",
        )
    return address


def open_fleet(address: str) -> Fleet:
    """The fleet at this address. Raises GdlError if it is not an address, cannot be reached, or may not be
    called (:mod:`players.fleet.open_fleet`)."""
    check_address(address)
    check_permitted(address)
    from players.fleet.ray_fleet import RayFleet

    return RayFleet(address)


@contextmanager
def standing(address: str) -> Iterator[str]:
    """An address that several processes can open inside the block. For ``local-ray:N`` the nodes are started
    here, in a process of their own. Raises GdlError if there cannot be such a fleet, or it may not be
    called."""
    check_address(address)
    check_permitted(address)
    if local := LOCAL_RAY.fullmatch(address):
        with ray_nodes(int(local[1])) as started:
            yield started
    else:
        installed()
        close_doors(own=False)
        yield address
