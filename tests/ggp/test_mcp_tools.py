"""Tools of language models, asked by the protocol's own client over standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gdl.json_schema import check_json
from ggp.answers.operations import OPERATIONS
from ggp.game import Game
from ggp.processes.budget import WorkBudget
from ggp.rule_files import games_folder
from tests.ggp.program import python
from tests.places import ROOT

mcp = pytest.importorskip("mcp", reason="mcp is not installed: extra mcp")
Client = mcp.Client


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
