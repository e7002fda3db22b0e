"""Processes of this computer as a fleet.

A worker is ``python -m players.fleet.local_fleet MODULE:CLASS``. Standard input and output carry frames: a
call's number and the frame's length (two 64-bit numbers), then the frame. The worker ends when its input is
closed.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import platform
import struct
import sys
from contextlib import suppress
from typing import BinaryIO

from gdl.errors import GdlError
from players.fleet.fleet import Fleet, FleetNode, FleetWorker, LostWorkerError, Service, answer, load
from players.processes.limits import cores as usable

_HEADER = struct.Struct("<QQ")


async def serve(service: Service, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until they end."""
    tasks: set[asyncio.Task[None]] = set()

    async def do(number: int, frame: bytes) -> None:
        reply = await answer(service, frame)
        try:
            answers.write(_HEADER.pack(number, len(reply)) + reply)
            answers.flush()
        except BrokenPipeError:  # the fleet is gone
            os._exit(0)

    while len(head := await asyncio.to_thread(requests.read, _HEADER.size)) == _HEADER.size:
        number, length = _HEADER.unpack(head)
        task = asyncio.create_task(do(number, await asyncio.to_thread(requests.read, length)))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    for task in tasks:
        task.cancel()


def main() -> None:
    """Serve one fleet."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a service may print; that must not mix with the answers
    asyncio.run(serve(load(sys.argv[1]), sys.stdin.buffer, answers))


class LocalFleet(Fleet):
    """This computer; each worker is a process of its own.

    Args:
        cores: number of cores that it offers; by default those that may be used.
        nodes: number of nodes that it counts as. They divide the cores, and each has at least one.
    """

    def __init__(self, cores: int | None = None, nodes: int = 1) -> None:
        each = max(1, (cores or usable()) // nodes)
        self._nodes = [FleetNode(f"local-{i}", platform.node(), each) for i in range(nodes)]
        self._workers: dict[int, tuple[FleetWorker, int]] = {}

    async def nodes(self) -> list[FleetNode]:
        return list(self._nodes)

    async def workers(self) -> list[FleetWorker]:
        return [worker for worker, _ in self._workers.values() if worker.handle.alive]

    async def start(self, node: FleetNode, service: str, cores: int) -> FleetWorker:
        busy = (pair for pair in self._workers.values() if pair[0].node == node and pair[0].handle.alive)
        free = node.cores - sum(number for _, number in busy)
        if cores > free:
            raise GdlError(f"{cores} cores are wanted, and {free} are free")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "players.fleet.local_fleet",
            service,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        worker = FleetWorker(node, service, _Pipe(process))
        self._workers[id(worker)] = worker, cores
        return worker

    async def _ask(self, worker: FleetWorker, frame: bytes) -> bytes:
        pipe: _Pipe = worker.handle
        return await pipe.ask(frame)

    async def stop(self, worker: FleetWorker) -> None:
        self._workers.pop(id(worker), None)
        await worker.handle.end()

    async def close(self) -> None:
        for worker, _ in list(self._workers.values()):
            await self.stop(worker)


class _Pipe:
    """The pipes to one process, and the calls that await an answer."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self.alive = True
        self._reading = asyncio.create_task(self._read())

    async def ask(self, frame: bytes) -> bytes:
        """The frame of the answer."""
        if not self.alive or self._process.stdin is None:
            raise LostWorkerError("the worker's process has ended")
        number = next(self._numbers)
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            with suppress(ConnectionError):  # the reader notices its end
                self._process.stdin.write(_HEADER.pack(number, len(frame)) + frame)
                await self._process.stdin.drain()
            return await future
        finally:
            self._waiting.pop(number, None)

    async def _read(self) -> None:
        out = self._process.stdout
        try:
            while out is not None:
                number, length = _HEADER.unpack(await out.readexactly(_HEADER.size))
                reply = await out.readexactly(length)
                if (future := self._waiting.get(number)) is not None and not future.done():
                    future.set_result(reply)
        except asyncio.IncompleteReadError:
            pass
        finally:
            self.alive = False
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(LostWorkerError("the worker's process has ended"))

    async def end(self) -> None:
        """Kill the process, and wait for its end."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        await self._reading


if __name__ == "__main__":
    main()
