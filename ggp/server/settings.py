"""The settings of a server: where it listens, and how its matches are played."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gdl.errors import GdlError
from ggp.protocol.dialect import MAX_BODY
from ggp.protocol.listener import ListenLimits, fit_limits
from ggp.protocol.messages import LONGEST_CLOCK, LONGEST_IDLE

MOST_WAITING = 4
"""Clients that may wait for the same answer of one match."""
OWN_FILES = 36
"""Files of the server itself: its fork servers, spare processes, and those that are just being started."""
FILES_PER_MATCH = 8 + 2 * MOST_WAITING
"""Files of a match: its processes, and the clients that wait for its answers."""


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """The settings of matches.

    Attributes:
        player: name of the player.
        machine: name of the machine.
        margin: seconds before the end of a clock at which the answer should leave, until a better value is
            learnt (:mod:`ggp.server.margin`).
        seed: of the players' random numbers.
        cores: processors that the searches of all matches share; None if the player's name sets the number of
            processes of a match.
    """

    player: str = "uct"
    machine: str = "auto"
    margin: float = 0.8
    seed: int = 0
    cores: int | None = None


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """The settings of a server: its address, the limits of its clients, and its matches. Raises GdlError if
    the host is empty, which would mean all addresses.

    Attributes:
        name: the player's name in INFO.
        host: address to listen on; ``0.0.0.0`` for all of IPv4, ``::`` for all.
        port: 0 picks a free one.
        matches: the most matches at once; more are answered ``busy``.
        settings: of the matches.
        read_seconds: the time that a client may take to send its message.
        max_body: bytes that a message may have.
        limits: of its connections. With more, the one that has been silent longest is closed. Those that wait
            for an answer do not count: each match has places of its own for some (:mod:`ggp.server.turn`).
        longest_clock: seconds; longer clocks of a match are cut down to it.
        idle_playclocks: a match is freed after its startclock and this many playclocks without a message.
        longest_idle: seconds after which it is freed in any case, but not within a single clock.
        idle_grace: seconds added to that.
        allow_origins: origins of web pages that may send messages (:mod:`ggp.server.clients.visitors`).
        allow_hosts: names under which browsers may ask, in addition to this computer's.
        any_sender: whether messages of a match may come from other addresses than its START.
        open_events: whether other computers may read the events of the matches, including the search.
        forks: whether fork servers make processes, once they have warmed up (:mod:`ggp.server.fork_servers`).
    """

    name: str = "kaskade"
    host: str = "127.0.0.1"
    port: int = 9147
    matches: int = 1
    settings: MatchSettings = field(default_factory=MatchSettings)
    read_seconds: float = 10.0
    max_body: int = MAX_BODY
    limits: ListenLimits = ListenLimits()
    longest_clock: int = LONGEST_CLOCK
    idle_playclocks: int = 5
    longest_idle: float = LONGEST_IDLE
    idle_grace: float = 5.0
    allow_origins: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    any_sender: bool = False
    open_events: bool = False
    forks: bool = False

    def __post_init__(self) -> None:
        if not self.host.strip():
            raise GdlError("the host is empty", remedy="use 127.0.0.1, or 0.0.0.0 to let other computers in")

    def fit(self, files: int | None) -> ServerConfig:
        """These settings with as many connections as a process with this limit of open files can take. Raises
        GdlError if these are too few for its matches."""
        what, fewer = "a match", ""
        if self.matches > 1:
            what, fewer = f"{self.matches} matches at once", ", or use a smaller --matches"
        own = OWN_FILES + FILES_PER_MATCH * self.matches
        return replace(self, limits=fit_limits(self.limits, files, own, what, fewer))

    def idle_seconds(self, startclock: int, playclock: int) -> float:
        """Seconds that a match with these clocks may be without a message."""
        most = min(startclock + self.idle_playclocks * playclock, self.longest_idle)
        return max(most, startclock, playclock if self.idle_playclocks else 0) + self.idle_grace
