"""The process that runs one match after another: ``python -m ggp.tournament.referee``.

A :class:`ggp.manager.GameManager` runs each match. Local players think in processes of their own
(:mod:`ggp.tournament.player_process`), which the referee keeps from match to match as long as they behave.

It receives ``play`` with a job. It sends ``waits`` while players take long to get ready, ``step`` after each
joint move, then ``done`` with the record, or ``failed``.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from gdl.information import hides, playing
from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.manager import GameManager, RemotePlayer, RolePlayer, TurnReport, in_words
from ggp.processes.parent import JsonMessage, Parent, explain, leave
from ggp.protocol.address import parse_address
from ggp.protocol.match_record import MatchRecord, now_ms
from ggp.tournament.local_player import PlayerTerms, ProcessPlayer
from ggp.tournament.process import END_SECONDS, TournamentProcess, pin
from ggp.tournament.schedule import Openings, rules_from
from players.processes.limits import limit_memory

MEMORY_BYTES = 4 * 1024**3

_MAX_IDLE = 8
"""The number of idle players' processes that are kept."""


class Referee:
    """Runs matches, one at a time."""

    def __init__(self, parent: Parent) -> None:
        self._parent = parent
        self._games: dict[tuple[str, int, int], tuple[Machine, Openings]] = {}
        self._idle: list[tuple[str, TournamentProcess]] = []

    async def play(self, job: JsonMessage) -> None:
        """Run the match of a job and report it. Raises GdlError if the match cannot be played."""
        pin(core for seat in job["seats"] for core in seat["cores"])
        machine, openings = self._game(job["rules"], job["plies"], job["seed"])
        # The state after an opening would reveal hidden information.
        hidden = hides(machine.rules)
        opening = () if hidden else openings.of_round(job["round"])
        roles, names = playing(machine.roles), [machine.rules.spell(role) for role in machine.roles]
        for role, seat in zip(roles, job["seats"], strict=True):
            names[role] = seat["label"]
        record = MatchRecord(
            f"{job['tournament']}.{now_ms()}.{_seed_of(job['seed'], job['key']) % 10**8}",
            round(job["startclock"]),
            round(job["playclock"]),
            names,
            tournament=job["tournament"],
            seed=(deals := _seed_of(job["seed"], job["key"], "referee", bits=128)),
        )
        local: dict[int, ProcessPlayer] = {}
        try:
            players = await self._players(job, roles, record, local)
            began = time.monotonic()
            record.start_time = now_ms()
            manager = GameManager(
                rules_from(openings.state(job["round"])) if opening else job["rules"],
                machine,
                players,
                record,
                seed=deals,
                watch=partial(self._tell, record),
                opening=opening,
                max_steps=job["max_steps"],
            )
            await manager.run()
            seconds = time.monotonic() - began
        finally:
            await self._release(job, local)
        fields: dict[str, Any] = {**record.to_dict(), "opening": len(opening)}
        for key, clock in (("startClock", job["startclock"]), ("playClock", job["playclock"])):
            fields[key] = clock if clock != int(clock) else int(clock)
        self._parent.send(
            "done",
            record=fields,
            roles=roles,
            goals=[record.goals[role] for role in roles],
            completed=record.completed,
            seconds=seconds,
            own=[manager.own_moves[role] for role in roles],
            restarts=[local[role].restarts if role in local else 0 for role in roles],
        )

    def _tell(self, record: MatchRecord, step: TurnReport) -> None:
        """Report a step: the first one with all moves of the opening."""
        moves = [step.moves] if step.moves else record.moves
        errors = list(map(in_words, step.errors))
        self._parent.send("step", number=step.number, match=record.match_id, moves=moves, errors=errors)

    def _remind(self, text: str) -> None:
        self._parent.send("waits", text=text)

    async def close(self) -> None:
        """End all processes, giving them a moment to free what they hold."""
        await asyncio.gather(*(process.close() for _, process in self._idle))

    async def _players(
        self, job: JsonMessage, roles: Sequence[int], record: MatchRecord, local: dict[int, ProcessPlayer]
    ) -> list[RolePlayer]:
        """The players of these roles, ready to start; players with processes are also put in ``local``."""
        players: list[RolePlayer] = []
        turnstile = asyncio.Lock() if job["take_turns"] else None
        for role, seat in zip(roles, job["seats"], strict=True):
            if seat["address"]:
                players.append(RemotePlayer(seat["label"], parse_address(seat["address"])))
                continue
            terms = PlayerTerms(
                label=seat["label"],
                player=seat["player"],
                rules=job["rules"],
                level=job["level"],
                workers=seat["workers"],
                seed=_seed_of(job["seed"], job["key"], role),
                cores=tuple(seat["cores"]),
                startclock=job["startclock"],
                playclock=job["playclock"],
            )
            local[role] = ProcessPlayer(await self._process(seat["player"]), terms, record, turnstile)
            players.append(local[role])
        await asyncio.gather(*(player.load(role, self._remind) for role, player in local.items()))
        return players

    async def _process(self, player: str) -> TournamentProcess:
        for index, (name, process) in enumerate(self._idle):
            if name == player and process.alive:
                del self._idle[index]
                return process
        return await TournamentProcess.start("ggp.tournament.player_process")

    async def _release(self, job: JsonMessage, local: dict[int, ProcessPlayer]) -> None:
        """Keep the processes that behaved, for later matches."""
        for player in local.values():
            if player.stop():
                self._idle.append((player.name, player.process))
            else:
                player.process.kill()
                await player.process.close()
        while len(self._idle) > _MAX_IDLE:
            await self._idle.pop(0)[1].close()

    def _game(self, text: str, plies: int, seed: int) -> tuple[Machine, Openings]:
        key = (text, plies, seed)
        if key not in self._games:
            machine = ProverMachine(parse_rules(text, "the rules"))
            self._games[key] = machine, Openings(machine, plies, seed)
        return self._games[key]


def _seed_of(*parts: object, bits: int = 31) -> int:
    """A seed of ``bits`` bits, at most 256, that depends on all parts and on nothing else."""
    text = "\x00".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") >> (256 - bits)


async def serve() -> None:
    """Take jobs until the tournament closes the connection; a match that is being played is then dropped."""
    loop = asyncio.get_running_loop()
    inbox: asyncio.Queue[JsonMessage] = asyncio.Queue()
    parent = Parent(lambda message: loop.call_soon_threadsafe(inbox.put_nowait, message), END_SECONDS)
    referee = Referee(parent)
    playing: asyncio.Task[None] | None = None
    while (message := await inbox.get())["do"] == "play":
        playing = asyncio.create_task(_reported(referee, parent, message))
    if playing is not None and not playing.done():
        playing.cancel()
        await asyncio.wait([playing])
    await referee.close()


async def _reported(referee: Referee, parent: Parent, job: JsonMessage) -> None:
    try:
        await referee.play(job)
    except Exception as error:
        parent.send("failed", error=explain(error, "referee"))


def main() -> None:
    """Serve one tournament."""
    limit_memory(MEMORY_BYTES)
    asyncio.run(serve())
    leave()


if __name__ == "__main__":
    main()
