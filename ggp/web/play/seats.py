"""Who may take a seat at a table: people, players by public names, and whom the operator has named.

A page's text never imports a class, calls an address, or opens a folder: those come from the command line
(``ggp web --player NAME``).
"""

from __future__ import annotations

from collections.abc import Collection

from gdl.errors import GdlError
from ggp.protocol.address import parse_address
from ggp.web.play.remote_seat import is_remote
from ggp.web.play.view import HUMAN
from players.registry import check_name, check_public


def check_seat(name: str, allowed: Collection[str]) -> None:
    """Checks what somebody at a page wants to seat.

    Args:
        name: ``human``, a player's name, or an address.
        allowed: the names and addresses that the operator has given.

    Raises:
        GdlError: nobody of this name may take a seat.
    """
    if name == HUMAN:
        return
    if not is_remote(name):
        check_public(name, allowed)
    elif name not in allowed:
        raise GdlError(
            f"{name!r} is not offered here",
            remedy="the operator names addresses: ggp web --player http://HOST:PORT",
        )


def check_offer(name: str) -> None:
    """Checks what the operator gives. Raises GdlError where it is no player and no address."""
    if is_remote(name):
        parse_address(name)
    elif name != HUMAN:
        check_name(name)
