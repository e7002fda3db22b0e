"""The questions of :mod:`ggp.answers` as tools of the Model Context Protocol (modelcontextprotocol.io)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any

import anyio
import mcp_types as types
import orjson
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

import ggp
from gdl.errors import GdlError
from gdl.visible import without_folders
from ggp.answers.desk import QuestionDesk
from ggp.answers.operations import GAMES, OPERATIONS
from ggp.answers.source import known_games, known_levels
from ggp.mcp.lines import MessageLines, private_input
from ggp.processes.budget import WorkBudget, usual_memory
from ggp.processes.parent import JsonMessage

INSTRUCTIONS = (
    "Game Description Language (GDL), as KIF, infix or Prolog. validate finds what is wrong with rules and "
    "where; state, legal, next and goals play them; playouts says how random matches end; solve solves "
    "puzzles; verify replays recorded matches. A game is named (see games) or brought as rules. Moves and "
    "facts are written as the rules spell them: (mark 1 1)."
)
PROCESSES = 8
"""That answer questions at once."""
log = logging.getLogger("ggp.mcp")
_READS = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
Context = ServerRequestContext[Any]


def tools() -> list[types.Tool]:
    """All tools, with the schemas of what they take and give."""
    nothing: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
    made = [_tool("games", "The games and levels that come along, by name", nothing, GAMES)]
    return made + [_tool(name, one.summary, one.request, one.reply) for name, one in OPERATIONS.items()]


def _tool(name: str, summary: str, request: dict[str, Any], reply: dict[str, Any]) -> types.Tool:
    return types.Tool(
        name=name, description=summary, input_schema=request, output_schema=reply, annotations=_READS
    )


def make_server(desk: QuestionDesk) -> Server[Any]:
    """A server of the tools; what they cannot do, they tell on one line."""

    async def list_tools(context: Context, params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools())

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        telling: set[asyncio.Task[None]] = set()

        def heard(news: JsonMessage) -> None:
            words = f"{news['states']:,} states, " + (
                "no line yet" if news["value"] is None else f"goal {news['value']} in {news['length']} moves"
            )
            seconds = float((params.arguments or {}).get("seconds", 10.0))
            task = asyncio.create_task(context.session.report_progress(news["seconds"], seconds, words))
            telling.add(task)
            task.add_done_callback(telling.discard)

        try:
            answer = await _answer(desk, params, heard)
        except GdlError as error:
            content: list[types.ContentBlock] = [
                types.TextContent(type="text", text=without_folders(str(error)))
            ]
            return types.CallToolResult(content=content, is_error=True)
        except Exception:  # the library would send what it says
            log.exception("the tool %.80s failed", params.name)
            raise MCPError(types.INTERNAL_ERROR, "the tool failed: see the log of the server") from None
        text = types.TextContent(type="text", text=orjson.dumps(answer).decode())
        return types.CallToolResult(content=[text], structured_content=answer)

    return Server(
        "kaskade-ggp",
        version=ggp.__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _answer(desk: QuestionDesk, params: types.CallToolRequestParams, heard: Any) -> JsonMessage:
    if params.name == "games":
        return {"games": known_games(), "levels": await asyncio.to_thread(known_levels)}
    if params.name not in OPERATIONS:
        raise GdlError(
            f"there is no tool {params.name[:80]!r}", remedy=f"there are games, {', '.join(OPERATIONS)}"
        )
    return await desk.ask(params.name, params.arguments or {}, heard)


class _Answers:
    """Sends answers to lines that are no messages, between those of the server."""

    def __init__(self, writing: Any) -> None:
        self._writing = writing

    async def send(self, answer: types.JSONRPCError) -> None:
        """Send one; nobody may be there to take it."""
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._writing.send(SessionMessage(answer))


async def serve_tools() -> None:
    """Serve over standard input and output until the other side hangs up. Lines that are no messages are
    answered as JSON-RPC asks for (:mod:`ggp.mcp.lines`)."""
    desk = QuestionDesk(WorkBudget(PROCESSES, usual_memory()))
    server = make_server(desk)
    lines = MessageLines(private_input())
    try:
        async with stdio_server(stdin=lines) as (reading, writing):  # type: ignore[arg-type]
            lines.answers.set_result(_Answers(writing))
            await server.run(reading, writing, server.create_initialization_options())
    finally:
        await desk.close()
