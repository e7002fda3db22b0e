"""The questions of :mod:`ggp.answers` as tools of the Model Context Protocol (modelcontextprotocol.io).

Lines of JSON-RPC come from an untrusted client. The library that serves the protocol silently drops a line
that is not a message. Here each such line gets the error that JSON-RPC 2.0 asks for. Notifications and
answers never get one, because the client does not wait for a reply.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from collections.abc import AsyncIterator
from typing import Any, BinaryIO

import anyio
import anyio.to_thread
import mcp_types as types
import orjson
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

import ggp
from gdl.errors import GdlError
from gdl.json_schema import TEXT, Schema, check_json
from gdl.visible import without_folders
from ggp.answers.operations import OPERATIONS, QuestionDesk
from ggp.processes.budget import WorkBudget, usual_memory
from ggp.processes.parent import JsonMessage

MOST_BYTES = 16 << 20
"""Most bytes of a line."""
_CHUNK = 1 << 20


class _MessageLines:
    """The lines of a stream that are messages, in order; the others are answered.

    Attributes:
        writing: where the answers go; set it as soon as it is there.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.writing: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await anyio.to_thread.run_sync(self._next):
            message = read_message(line)
            if isinstance(message, str):
                yield message
            elif message is not None:
                with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await (await self.writing).send(SessionMessage(message))

    def _next(self) -> bytes:
        """The next line; nothing at the end. Of a longer one than may be the beginning, and one byte more."""
        line = self._file.readline(MOST_BYTES + 1)
        rest = line
        while len(line) > MOST_BYTES and rest and not rest.endswith(b"\n"):
            rest = self._file.readline(_CHUNK)
        return line


def _private_input() -> BinaryIO:
    """Standard input for this process alone: processes that it starts find nothing there."""
    own = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    return os.fdopen(own, "rb")


_CALL: Schema = {
    "required": ["jsonrpc", "method"],
    "properties": {
        "jsonrpc": {"enum": ["2.0"]},
        "id": {"type": ["integer", "string"]},
        "method": TEXT,
        "params": {"type": ["object", "null"]},
    },
}


def read_message(line: bytes) -> str | types.JSONRPCError | None:
    """The text of a line that is a message, or the error that answers any other line. None for a faulty
    notification or answer, which gets no reply."""
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
    try:
        check_json(message, _CALL, "the message")
    except GdlError as error:
        of_params = isinstance(message.get("method"), str) and "params" in error.message
        if of_params and "id" not in message:
            return None
        code = types.INVALID_PARAMS if of_params else types.INVALID_REQUEST
        return _fault(code, error.message, asker)
    return line.decode()


def _once(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name stands twice")


def _fault(code: int, message: str, asker: int | str | None = None) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=asker, error=types.ErrorData(code=code, message=message))


_INSTRUCTIONS = (
    "Game Description Language (GDL), as KIF, infix or Prolog. validate finds the faults of rules and "
    "their places; state, legal, next and goals play them; playouts says how random matches end; solve "
    "solves puzzles; verify replays recorded matches. A game is named (see games) or brought as rules. "
    "Moves and facts are written as the rules spell them: (mark 1 1)."
)
PROCESSES = 8
"""Processes that answer questions at once."""
log = logging.getLogger("ggp.mcp")
_READS = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
Context = ServerRequestContext[Any]


def tools() -> list[types.Tool]:
    """All tools, with the schemas of their requests and replies."""
    return [
        types.Tool(
            name=name,
            description=one.summary,
            input_schema=one.request,
            output_schema=one.reply,
            annotations=_READS,
        )
        for name, one in OPERATIONS.items()
    ]


def make_server(desk: QuestionDesk) -> Server[Any]:
    """A server of the tools. A tool that fails answers with a one-line error."""

    async def list_tools(context: Context, params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools())

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        telling: set[asyncio.Task[None]] = set()

        def on_progress(news: JsonMessage) -> None:
            words = f"{news['states']:,} states, " + (
                "no line yet" if news["value"] is None else f"goal {news['value']} in {news['length']} moves"
            )
            seconds = float((params.arguments or {}).get("seconds", 10.0))
            task = asyncio.create_task(context.session.report_progress(news["seconds"], seconds, words))
            telling.add(task)
            task.add_done_callback(telling.discard)

        try:
            answer = await desk.ask(params.name, params.arguments or {}, on_progress)
        except GdlError as error:
            content: list[types.ContentBlock] = [
                types.TextContent(type="text", text=without_folders(str(error)))
            ]
            return types.CallToolResult(content=content, is_error=True)
        except Exception:  # the library would send its text
            log.exception("the tool %.80s failed", params.name)
            raise MCPError(types.INTERNAL_ERROR, "the tool failed: see the log of the server") from None
        text = types.TextContent(type="text", text=orjson.dumps(answer).decode())
        return types.CallToolResult(content=[text], structured_content=answer)

    return Server(
        "kaskade-ggp",
        version=ggp.__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def serve_tools() -> None:
    """Serve over standard input and output until the client hangs up. Invalid lines get the error that
    JSON-RPC asks for (:mod:`ggp.answers.mcp_tools`)."""
    desk = QuestionDesk(WorkBudget(PROCESSES, usual_memory()))
    server = make_server(desk)
    lines = _MessageLines(_private_input())
    try:
        async with stdio_server(stdin=lines) as (reading, writing):  # type: ignore[arg-type]
            lines.writing.set_result(writing)
            await server.run(reading, writing, server.create_initialization_options())
    finally:
        await desk.close()
