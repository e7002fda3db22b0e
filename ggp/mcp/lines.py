"""Lines of JSON-RPC from whoever is at the other end: what is no message is answered, and goes no further.

The library that serves the Model Context Protocol drops such lines without a word. Here each gets the error
that JSON-RPC 2.0 asks for. Notifications and answers get none, whatever is in them: nobody waits for one.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from typing import Any, BinaryIO

import anyio.to_thread
import mcp_types as types
import orjson

MOST_BYTES = 16 << 20
"""Of a line."""
_CHUNK = 1 << 20


class MessageLines:
    """The lines of a stream that are messages, in order; the others are answered.

    Attributes:
        answers: takes the answers to lines that are none; set it as soon as there is where to send them.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.answers: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await anyio.to_thread.run_sync(self._next):
            message = read_message(line)
            if isinstance(message, str):
                yield message
            elif message is not None:
                await (await self.answers).send(message)

    def _next(self) -> bytes:
        """The next line; nothing at the end. Of a longer one than may be the beginning, and one byte more."""
        line = self._file.readline(MOST_BYTES + 1)
        rest = line
        while len(line) > MOST_BYTES and rest and not rest.endswith(b"\n"):
            rest = self._file.readline(_CHUNK)
        return line


def private_input() -> BinaryIO:
    """Standard input for this process alone: processes that it starts find nothing there."""
    own = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    return os.fdopen(own, "rb")


def read_message(line: bytes) -> str | types.JSONRPCError | None:
    """The text of a line that is a message; of any other line the answer to it. None for a notification or an
    answer that is none: nobody waits for an answer to these."""
    if len(line) > MOST_BYTES:
        return _fault(types.INVALID_REQUEST, f"a message has more than {MOST_BYTES >> 20} MiB")
    try:
        message = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return _fault(types.PARSE_ERROR, f"this is not JSON: {error.msg}")
    if not isinstance(message, dict):
        what = "batches are not taken" if isinstance(message, list) else "a message is an object"
        return _fault(types.INVALID_REQUEST, what)
    asker = message.get("id")
    asker = asker if type(asker) in (int, str) else None
    if "method" not in message and ("result" in message or "error" in message):
        return line.decode() if asker is not None and message.get("jsonrpc") == "2.0" else None
    try:
        json.loads(line, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return _fault(types.INVALID_REQUEST, "an object names something twice, or objects lie too deep")
    if message.get("jsonrpc") != "2.0":
        return _fault(types.INVALID_REQUEST, 'jsonrpc is not "2.0"', asker)
    if not isinstance(message.get("method"), str):
        return _fault(types.INVALID_REQUEST, "method is no text", asker)
    if "id" in message and asker is None:
        return _fault(types.INVALID_REQUEST, "id is neither a text nor a whole number")
    if not isinstance(message.get("params"), dict | None):
        return _fault(types.INVALID_PARAMS, "params is no object", asker) if "id" in message else None
    return line.decode()


def _once(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name stands twice")


def _fault(code: int, message: str, asker: int | str | None = None) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=asker, error=types.ErrorData(code=code, message=message))
