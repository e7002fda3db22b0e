"""The process that runs one match after another: ``python -m ggp.tournament.referee``.

Each match is :class:`ggp.manager.Host`'s; local players think in processes of their own
(:mod:`ggp.tournament.player_process`), which are kept from match to match as long as they behave.

To it: ``play`` with a job. From it: ``step`` now and then, ``done`` with the record, or
``failed``.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from dataclasses import dataclass
from typing import Any

from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.manager import Host, Seat, Step
from ggp.processes.parent import Message, Parent, explain, leave
from ggp.protocol.http10 import parse_address
from ggp.protocol.match_record import MatchRecord, now_ms
from ggp.tournament.local_player import LocalMover, Terms
from ggp.tournament.openings import Openings, rules_from
from ggp.tournament.processes import END_SECONDS, TournamentProcess, pin
from players.processes.limits import limit_memory

MEMORY_BYTES = 4 * 1024**3
KEPT_SEATS = 8
"""Idle players' processes; more are ended."""


@dataclass(frozen=True, slots=True)
class _Table:
    """A game as the referee keeps it."""

    machine: Machine
    openings: Openings


class Referee:
    """Runs matches, one at a time."""

    def __init__(self, parent: Parent) -> None:
        self._parent = parent
        self._tables: dict[tuple[str, int, int], _Table] = {}
        self._idle: list[tuple[str, TournamentProcess]] = []

    async def play(self, job: Message) -> None:
        """Run the match of a job and report it."""
        cores = [core for seat in job["seats"] for core in seat["cores"]]
        pin(cores)
        table = self._table(job["rules"], job["plies"], job["seed"])
        machine = table.machine
        opening = table.openings.of_round(job["round"])
        state = machine.initial_state()
        for joint in opening:
            state = machine.next_state(state, joint)
        record = MatchRecord(
            f"{job['tournament']}.{now_ms()}.{seed_of(job['seed'], job['key']) % 10**8}",
            round(job["startclock"]),
            round(job["playclock"]),
            [seat["label"] for seat in job["seats"]],
            tournament=job["tournament"],
        )
        movers: dict[int, LocalMover] = {}
        seats: list[Seat] = []
        turnstile = asyncio.Lock() if job["take_turns"] else None
        try:
            for role, seat in enumerate(job["seats"]):
                address = parse_address(seat["address"]) if seat["address"] else None
                if address is None:
                    terms = Terms(
                        player=seat["player"],
                        rules=job["rules"],
                        level=job["level"],
                        workers=seat["workers"],
                        seed=seed_of(job["seed"], job["key"], role),
                        cores=tuple(seat["cores"]),
                        startclock=job["startclock"],
                        playclock=job["playclock"],
                    )
                    movers[role] = LocalMover(await self._child(seat["player"]), terms, record, turnstile)
                seats.append(Seat(seat["label"], address, mover=movers.get(role)))
            await asyncio.gather(*(mover.load(role) for role, mover in movers.items()))
            began = time.monotonic()
            record.start_time = now_ms()
            await Host(
                rules_from(state) if opening else job["rules"],
                machine,
                seats,
                record,
                seed=seed_of(job["seed"], job["key"], "referee"),
                watch=lambda step: self._step(step),
                opening=opening,
                max_steps=job["max_steps"],
            ).run()
            seconds = time.monotonic() - began
        finally:
            await self._release(job, movers)
        found: dict[str, Any] = record.to_dict()
        for key, clock in (("startClock", job["startclock"]), ("playClock", job["playclock"])):
            found[key] = clock if clock != int(clock) else int(clock)
        self._parent.send(
            "done",
            record=found,
            goals=record.goals,
            completed=record.completed,
            seconds=seconds,
            restarts=[movers[role].restarts if role in movers else 0 for role in range(len(seats))],
        )

    async def close(self) -> None:
        """End all processes, giving them a moment to free what they hold."""
        await asyncio.gather(*(child.close() for _, child in self._idle))

    # --- players' processes -------------------------------------------------------------------------
    async def _child(self, player: str) -> TournamentProcess:
        for index, (name, child) in enumerate(self._idle):
            if name == player and child.alive:
                del self._idle[index]
                return child
        return await TournamentProcess.start("ggp.tournament.player_process")

    async def _release(self, job: Message, movers: dict[int, LocalMover]) -> None:
        """Keep the processes that behaved."""
        for role, mover in movers.items():
            if mover.stop():
                self._idle.append((job["seats"][role]["player"], mover.child))
            else:
                mover.child.kill()
                await mover.child.close()
        while len(self._idle) > KEPT_SEATS:
            await self._idle.pop(0)[1].close()

    # --- games ----------------------------------------------------------------------------------------
    def _table(self, text: str, plies: int, seed: int) -> _Table:
        key = (text, plies, seed)
        if key not in self._tables:
            machine = ProverMachine(parse_rules(text, "the rules"))
            self._tables[key] = _Table(machine, Openings(machine, plies, seed))
        return self._tables[key]

    def _step(self, step: Step) -> None:
        self._parent.send("step", number=step.number)


def seed_of(*parts: object) -> int:
    """A seed of 31 bits that depends on all parts and on nothing else."""
    text = "\x00".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


async def serve() -> None:
    """Take jobs until the tournament closes the pipe, which a match under way does not survive."""
    loop = asyncio.get_running_loop()
    inbox: asyncio.Queue[Message] = asyncio.Queue()

    def receive(message: Message) -> None:
        loop.call_soon_threadsafe(inbox.put_nowait, message)

    parent = Parent(receive, END_SECONDS)
    referee = Referee(parent)
    playing: asyncio.Task[None] | None = None
    while (message := await inbox.get())["do"] == "play":
        playing = asyncio.create_task(_reported(referee, parent, message))
    if playing is not None and not playing.done():
        playing.cancel()
        await asyncio.wait([playing])
    await referee.close()


async def _reported(referee: Referee, parent: Parent, job: Message) -> None:
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
