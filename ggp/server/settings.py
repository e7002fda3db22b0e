"""What a server is told at its start: where it listens, and how its matches are played."""

from __future__ import annotations

from dataclasses import dataclass, field

from ggp.protocol.http10 import MAX_BODY


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """How matches are played.

    Attributes:
        player: name of the player.
        machine: name of the machine.
        margin: seconds before the end of a clock at which the answer should leave, until better is learnt
            (:mod:`ggp.server.margin`).
        seed: what the players' randomness comes from.
        cores: processors that the searches of all matches share; None if the player's name says how many
            processes a match has.
        keepers: how many processes keep a legal move at hand, besides the one that thinks.
    """

    player: str = "uct"
    machine: str = "auto"
    margin: float = 0.8
    seed: int = 0
    cores: int | None = None
    keepers: int = 1


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Where a server listens, what its clients may take, how its matches are played.

    Attributes:
        name: what the player calls itself in INFO.
        host: address to listen on; ``0.0.0.0`` for all.
        port: 0 picks a free one.
        matches: how many matches at once; more are answered ``busy``.
        settings: how they are played.
        read_seconds: how long a client may take to send its message.
        max_body: bytes that a message may have.
        max_connections: how many connections at once; more are turned away.
        idle_playclocks: a match is freed after its startclock and this many playclocks
            without a message.
        idle_grace: seconds added to that.
        forks: whether fork servers make processes, once they have warmed up (:mod:`ggp.server.fork_servers`).
    """

    name: str = "kaskade"
    host: str = "127.0.0.1"
    port: int = 9147
    matches: int = 1
    settings: MatchSettings = field(default_factory=MatchSettings)
    read_seconds: float = 10.0
    max_body: int = MAX_BODY
    max_connections: int = 64
    idle_playclocks: int = 5
    idle_grace: float = 5.0
    forks: bool = False
