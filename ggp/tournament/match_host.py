"""The service of a fleet that plays matches on its node."""

from __future__ import annotations

import platform

from gdl.errors import GdlError
from gdl.words import counted
from ggp.processes.parent import JsonMessage
from ggp.tournament.processes import usable_cores
from ggp.tournament.sites import OwnSite
from players.fleet.fleet import Arrays, Message

MATCH_HOST = "ggp.tournament.match_host:MatchHost"


class MatchHost:
    """Referees of a node; who asks keeps account of its cores."""

    def __init__(self) -> None:
        self._site = OwnSite()
        self._played = 0
        self._now: list[str] = []

    def status(self) -> str:
        """The matches that are played now, and how many were played."""
        return f"{', '.join(self._now) or 'no match now'}; {counted(self._played, 'match', 'matches')} before"

    async def call(self, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        """``cores``: those that this node may use, and the computer's name. ``play``: what the referee says
        last of a job, and its steps."""
        match message.get("do"):
            case "cores":
                return {"host": platform.node(), "cores": usable_cores()}, ()
            case "play":
                steps: list[JsonMessage] = []
                name = str(message["job"]["key"])
                self._now.append(name)
                try:
                    said = await self._site.play(message["job"], steps.append)
                finally:
                    self._now.remove(name)
                    self._played += 1
                return {"said": said, "steps": steps}, ()
        raise GdlError("this is no question to a host of matches")
