"""Before a match: asks the players at addresses for their names, and reports those that cannot play."""

from __future__ import annotations

import asyncio
import errno
import socket
import time
from collections.abc import Sequence

from gdl.errors import GdlError
from ggp.manager import RemotePlayer, RolePlayer, StandIn, remote_players
from ggp.protocol import messages
from ggp.protocol.asking import asking, post
from ggp.protocol.http_error import HttpError

INFO_SECONDS = 3.0
"""Seconds that a player may take to answer with its name."""
COMING_SECONDS = 10.0
"""Seconds to wait for a player that does not listen yet, because it may just have been started."""
_RETRY_SECONDS = 0.1
_MAX_NAME = 100


async def meet(players: Sequence[RolePlayer]) -> list[str]:
    """Ask each player at an address by INFO for its name and whether it is free; set its name.

    Returns one short text for each player that cannot play: its address does not listen, it does not answer
    in time, it is not a player, or it is busy. Such a player keeps its address as name.
    """
    async with asking():
        faults = await asyncio.gather(*map(_meet, remote_players(players)))
    return [fault for fault in faults if fault]


def make_distinct(players: Sequence[RemotePlayer | StandIn]) -> None:
    """Give each player a name of its own: those that are called alike get their address, and a number where
    that is the same too."""
    for same in _alike(players):
        for player in same:
            if isinstance(player, RemotePlayer) and player.name != str(player.address):
                player.name = f"{player.name} at {player.address}"
    for same in _alike(players):
        for number, player in enumerate(same[1:], 2):
            player.name = f"{player.name} ({number})"


def _alike(players: Sequence[RemotePlayer | StandIn]) -> list[list[RemotePlayer | StandIn]]:
    """The players that share a name with another one."""
    names: dict[str, list[RemotePlayer | StandIn]] = {}
    for player in players:
        names.setdefault(player.name, []).append(player)
    return [same for same in names.values() if len(same) > 1]


async def _meet(player: RemotePlayer) -> str:
    place = player.address
    try:
        text = await _info(player)
        facts = messages.parse_info_reply(text)
    except TimeoutError:
        return f"{place} says nothing for {INFO_SECONDS:.0f} s"
    except socket.gaierror:
        return f"there is no computer {place.host}"
    except ConnectionRefusedError:
        return f"no player listens at {place}: `ggp serve --port {place.port}` starts a player there"
    except HttpError as error:
        return f"{place} answers, but not as a player does: {error.message}"
    except OSError as error:
        return f"{place} cannot be reached: {error.strerror or error}"
    except GdlError:
        text, facts = "", {}
    name = facts.get("name", "")
    if name.isprintable() and 0 < len(name) <= _MAX_NAME:
        player.name = name
    if not text or text.startswith("<"):
        return f"{place} answers, but not as a player does"
    if facts.get("status", "").lower() == messages.BUSY:
        return f"{player.name} at {place} is busy with another match"
    return ""


async def _info(player: RemotePlayer) -> str:
    end = time.monotonic() + COMING_SECONDS
    while True:
        try:
            return await post(player.address, messages.info_request(), player.name, INFO_SECONDS)
        except OSError as error:
            if not _refused(error):
                raise
            if time.monotonic() >= end:
                raise ConnectionRefusedError from None
        await asyncio.sleep(_RETRY_SECONDS)


def _refused(error: OSError) -> bool:
    """Whether the address does not listen. asyncio puts the errors of several addresses into one text."""
    code = f"[Errno {errno.ECONNREFUSED}]"
    text = str(error)
    several = text.startswith("Multiple exceptions") and text.count("[Errno") == text.count(code)
    return several or isinstance(error, ConnectionRefusedError)
