"""A worker of this computer: ``python -m players.fleet.worker_process MODULE:CLASS``.

Frames on standard input and output: a call's number and the lengths of frame and parcel (three 64-bit
numbers), then both. Ends when the other side hangs up.
"""

from __future__ import annotations

import asyncio
import os
import struct
import sys
from typing import BinaryIO

from players.fleet.service import Service, answer, load

HEADER = struct.Struct("<QQQ")


async def serve(service: Service, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the requests end."""
    tasks: set[asyncio.Task[None]] = set()

    async def do(number: int, frame: bytes, parcel: bytes) -> None:
        reply = await answer(service, frame, parcel)
        try:
            answers.write(HEADER.pack(number, len(reply), 0) + reply)
            answers.flush()
        except BrokenPipeError:  # the fleet is gone
            os._exit(0)

    while len(head := await asyncio.to_thread(requests.read, HEADER.size)) == HEADER.size:
        number, length, more = HEADER.unpack(head)
        body = await asyncio.to_thread(requests.read, length + more)
        task = asyncio.create_task(do(number, body[:length], body[length:]))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    for task in tasks:
        task.cancel()


def main() -> None:
    """Serve one fleet."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a service prints is no answer
    asyncio.run(serve(load(sys.argv[1]), sys.stdin.buffer, answers))


if __name__ == "__main__":
    main()
