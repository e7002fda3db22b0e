"""Puppets: players over HTTP that answer what a test tells them to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.manager import GameManager, parse_players
from ggp.protocol.dialect import reply_bytes
from ggp.protocol.match_record import MatchRecord
from ggp.protocol.messages import Info, Message, Play, Start, Stop, parse_message

Reply = Callable[[Message], "str | bytes | None"]


@dataclass
class Puppet:
    """A player that answers what it is told to; None means not at all."""

    reply: Reply
    requests: list[bytes] = field(default_factory=list)
    port: int = 0

    async def __aenter__(self) -> Puppet:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    @property
    def messages(self) -> list[Message]:
        return [parse_message(r.partition(b"\r\n\r\n")[2].decode()) for r in self.requests]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        body = await reader.readexactly(length)
        self.requests.append(head + body)
        answer = self.reply(parse_message(body.decode()))
        if answer is None:
            await reader.read()
        else:
            writer.write(answer if isinstance(answer, bytes) else reply_bytes(answer))
        writer.close()


def decent(message: Message, move: str = "noop") -> str:
    match message:
        case Info():
            return "( ( name Puppet ) ( status available ) )"
        case Start():
            return "READY"
        case Play():
            return move
        case Stop():
            return "done"
        case _:
            return "aborted"


def marker(message: Message) -> str:
    return decent(message, "( MARK 1 1 )")


async def hosted(
    players: Sequence[Reply | str], rules: str, playclock: int = 1, name: str = "", **options: Any
) -> tuple[MatchRecord, list[Puppet]]:
    """A match between puppets with these replies and stand-ins of these names, and the puppets."""
    puppets: list[Puppet] = []
    places: list[str] = []
    async with AsyncExitStack() as stack:
        for player in players:
            if isinstance(player, str):
                places.append(player)
            else:
                puppets.append(await stack.enter_async_context(Puppet(player)))
                places.append(f"http://127.0.0.1:{puppets[-1].port}")
        parsed = parse_players(",".join(places))
        for one in parsed:
            one.name = name or one.name
        record = MatchRecord("m1", 2, playclock, [one.name for one in parsed])
        machine = ProverMachine(parse_rules(rules))
        return await GameManager(rules, machine, parsed, record, **options).run(), puppets
