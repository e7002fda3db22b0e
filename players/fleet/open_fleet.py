"""Opens a fleet by its address: ``HOST:PORT``, ``local-ray:N`` or ``local:N``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from gdl.errors import GdlError
from players.fleet.fleet import Fleet
from players.fleet.permission import check_permitted
from players.fleet.ray_access import LOCAL_RAY, close_doors, installed
from players.fleet.ray_nodes import ray_nodes

LOCAL = re.compile(r"local:([1-9]\d{0,2})")
RAY = re.compile(r"(\[[^\]]+\]|[^:\s]+):\d{1,5}")


def check_address(address: str) -> str:
    """The address, as it is. Raises GdlError for what cannot be one."""
    if not any(kind.fullmatch(address) for kind in (LOCAL, LOCAL_RAY, RAY)):
        raise GdlError(
            f"{address!r} is no address of a cluster",
            remedy="HOST:PORT, local-ray:N for N nodes of Ray here, or local:N for N processes without it",
        )
    return address


def open_fleet(address: str) -> Fleet:
    """The fleet at this address; ``local:N`` is this computer as N nodes, which divide its cores. Raises
    GdlError where it is none, cannot be reached, or may not be called (:mod:`players.fleet.permission`)."""
    local = LOCAL.fullmatch(check_address(address))
    check_permitted(address)
    if local:
        from players.fleet.local_fleet import LocalFleet

        return LocalFleet(nodes=int(local[1]))
    from players.fleet.ray_fleet import RayFleet

    return RayFleet(address)


@contextmanager
def standing(address: str) -> Iterator[str]:
    """An address that many can open while this is open: with ``local-ray:N`` the nodes are started here, in a
    process of their own. Raises GdlError where there cannot be such a fleet, or it may not be called."""
    check_address(address)
    check_permitted(address)
    if LOCAL.fullmatch(address):
        yield address
    elif local := LOCAL_RAY.fullmatch(address):
        with ray_nodes(int(local[1])) as started:
            yield started
    else:
        installed()
        close_doors(own=False)
        yield address
