"""Tools of language models, by the protocol's own client; lines that are no messages are answered."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gdl.json_schema import check_json
from gdl.reading import games_folder
from ggp.answers.operations import OPERATIONS
from ggp.game import Game
from ggp.processes.budget import WorkBudget
from tests.ggp.program import python, started
from tests.places import ROOT

pytest.importorskip("mcp", reason="mcp is not installed: extra mcp")

from mcp import Client

from ggp.answers.mcp_tools import MOST_BYTES, read_message


def server() -> Any:
    from mcp.client.stdio import StdioServerParameters

    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return StdioServerParameters(command=sys.executable, args=["-m", "ggp", "mcp"], env=environment)


@pytest.mark.slow
async def test_tools_answer_over_stdio() -> None:
    async with asyncio.timeout(120), Client(server()) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) == set(OPERATIONS)
        assert listed["legal"].input_schema == OPERATIONS["legal"].request

        async def call(name: str, **told: object) -> Any:
            result = await client.call_tool(name, told)
            assert not result.is_error, result.content
            check_json(result.structured_content, OPERATIONS[name].reply)
            return result.structured_content

        assert "tictactoe" in (await call("games"))["games"]
        legal = (await call("legal", game="tictactoe"))["legal"]
        assert legal == Game.load("tictactoe").machine("prover").initial_state().legal
        after = await call("next", game="tictactoe", joint=["(mark b 2)"])
        assert "(cell b 2 x)" in after["state"]
        found = await call("validate", rules="(role x) (<= (legal x ?m) (true (can ?m)")
        assert found["findings"][0]["code"] == "unclosed-parenthesis"
        assert (await call("playouts", game="tictactoe", n=64))["playouts"] == 64
        trace = (games_folder() / "playthroughs" / "nim.jsonl").read_text()
        assert (await call("verify", game="nim", trace=trace))["fault"] is None
        assert (await call("solve", game="hanoi", seconds=60))["value"] == 100
        for name, told in (
            ("legal", {"game": "nosuch"}),
            ("legal", {"game": 7}),
            ("legal", {"rules": "((("}),
            ("solve", {"game": "tictactoe"}),
        ):
            result = await client.call_tool(name, told)
            assert result.is_error
            assert "\n" not in result.content[0].text
            assert "Traceback" not in result.content[0].text


@pytest.mark.slow
async def test_a_search_tells_how_it_gets_on() -> None:
    from ggp.answers.mcp_tools import make_server
    from ggp.answers.operations import QuestionDesk

    told: list[tuple[float, str | None]] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    desk = QuestionDesk(WorkBudget(8, 2**32))
    try:
        async with asyncio.timeout(120), Client(make_server(desk)) as client:
            wanted = {"game": "sudoku", "solver": "nested-policy", "seconds": 4.0}
            await client.call_tool("solve", wanted, progress_callback=heard)
    finally:
        await desk.close()
    assert told
    assert all(message is not None and "states" in message for _, message in told)


def test_without_the_package_one_line_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise ImportError('no mcp')")
    done = python("-m", "ggp", "mcp", PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]))
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert "kaskade-ggp[mcp]" in done.stderr


# --- Lines that are no messages of JSON-RPC: each is answered as the standard asks for
PARSE, REQUEST, METHOD, PARAMS = -32700, -32600, -32601, -32602


def asked(**parts: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 5, "method": "ping", **parts}).encode()


MALFORMED: dict[str, tuple[bytes, int, int | str | None]] = {
    "not JSON": (b"hello", PARSE, None),
    "cut off": (asked()[:-3], PARSE, None),
    "two on a line": (asked() + asked(), PARSE, None),
    "an empty line": (b"", PARSE, None),
    "blanks": (b"  \t", PARSE, None),
    "a NUL": (b'{"jsonrpc": "2.0", "id": 5, "method": "pi\0ng"}', PARSE, None),
    "no UTF-8": (b'{"jsonrpc": "2.0", "id": 5, "method": "\xff\xfe"}', PARSE, None),
    "half a pair": (b'{"jsonrpc": "2.0", "id": 5, "method": "\\ud800"}', PARSE, None),
    "no number": (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', PARSE, None),
    "a comment": (b'{"jsonrpc": "2.0", /* x */ "id": 5, "method": "ping"}', PARSE, None),
    "deep": (b"[" * 100_000, PARSE, None),
    "deep in params": (asked(params=0)[:-2] + b'{"a":' * 1000 + b"1" + b"}" * 1001, REQUEST, None),
    "nothing": (b"null", REQUEST, None),
    "a number": (b"7", REQUEST, None),
    "a text": (b'"ping"', REQUEST, None),
    "a batch": (b"[" + asked() + b"]", REQUEST, None),
    "an empty batch": (b"[]", REQUEST, None),
    "an empty object": (b"{}", REQUEST, None),
    "no version": (b'{"id": 5, "method": "ping"}', REQUEST, 5),
    "another version": (asked(jsonrpc="1.0"), REQUEST, 5),
    "a version that is a number": (asked(jsonrpc=2.0), REQUEST, 5),
    "no method": (b'{"jsonrpc": "2.0", "id": "a"}', REQUEST, "a"),
    "a method that is a number": (asked(method=1), REQUEST, 5),
    "a method that is nothing": (asked(method=None), REQUEST, 5),
    "an id that is nothing": (asked(id=None), REQUEST, None),
    "an id that is a list": (asked(id=[1]), REQUEST, None),
    "an id that is true": (asked(id=True), REQUEST, None),
    "an id with a fraction": (asked(id=1.5), REQUEST, None),
    "a huge id": (asked(id=10**40), REQUEST, None),
    "an id twice": (b'{"jsonrpc": "2.0", "id": 5, "id": 6, "method": "ping"}', REQUEST, None),
    "params that are a list": (asked(params=[]), PARAMS, 5),
    "params that are a text": (asked(params="x"), PARAMS, 5),
    "huge": (b'{"x": "' + b"x" * MOST_BYTES + b'"}', REQUEST, None),
}
BY_THE_LIBRARY: dict[str, tuple[bytes, int, int]] = {
    "no such method": (asked(id=51, method="nosuch"), METHOD, 51),
    "no tool": (asked(id=52, method="tools/call", params={}), PARAMS, 52),
    "a tool that is a number": (asked(id=53, method="tools/call", params={"name": 7}), PARAMS, 53),
}
UNANSWERED = (
    b'{"jsonrpc": "2.0", "method": "notifications/x", "params": 7}',
    b'{"jsonrpc": "2.0", "result": {}}',
    b'{"jsonrpc": "1.0", "id": 7, "error": {}}',
)


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_line_that_is_no_message_is_answered(kind: str) -> None:
    line, code, asker = MALFORMED[kind]
    answer = read_message(line)
    assert answer is not None and not isinstance(answer, str)
    assert (answer.error.code, answer.id) == (code, asker)
    assert "\n" not in answer.error.message and len(answer.error.message) < 200


@pytest.mark.parametrize("line", UNANSWERED)
def test_notifications_and_answers_are_never_answered(line: bytes) -> None:
    assert read_message(line) is None


def test_messages_go_on_as_they_are() -> None:
    for line in (asked(), asked(params=None), asked(params={"é": [1]}), asked(id="é"), asked(more=1)):
        assert read_message(line) == line.decode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), inner)
    ),
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_line_is_a_message_or_answered(line: bytes) -> None:
    message = read_message(line)
    if message is None:
        value = json.loads(line)
        assert "id" not in value or "method" not in value
    elif isinstance(message, str):
        assert json.loads(message)["jsonrpc"] == "2.0"


@pytest.mark.slow
def test_the_server_answers_every_line_and_goes_on() -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    lines = [
        asked(id=1, method="initialize", params=hello),
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        *UNANSWERED,
        *(line for line, _, _ in (MALFORMED | BY_THE_LIBRARY).values()),
        asked(id=99),
    ]
    binary = {"text": False, "stdin": subprocess.PIPE, "stderr": None}
    run = started("mcp", **binary)
    with run:
        told: list[Any] = []
        for line in lines:
            run.stdin.write(line + b"\n")
            run.stdin.flush()
        while not told or told[-1].get("id") != 99:
            told.append(json.loads(run.stdout.readline()))
        run.stdin.close()
    assert run.returncode == 0
    errors = [(one["error"]["code"], one["id"]) for one in told if "error" in one]
    wanted = [(code, asker) for _, code, asker in (MALFORMED | BY_THE_LIBRARY).values()]
    assert sorted(map(str, errors)) == sorted(map(str, wanted))
