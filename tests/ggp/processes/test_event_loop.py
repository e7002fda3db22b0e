"""Servers run on uvloop where there is one, and on asyncio's own loop elsewhere."""

from __future__ import annotations

import asyncio
import sys

import pytest

from ggp.processes.event_loop import new_loop, run_server


async def _kind() -> str:
    return type(asyncio.get_running_loop()).__module__


def test_a_server_runs_on_uvloop() -> None:
    pytest.importorskip("uvloop")
    assert run_server(_kind()) == "uvloop"


def test_without_uvloop_a_server_runs_on_the_loop_of_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert run_server(_kind()).startswith("asyncio")
    loop = new_loop()
    loop.close()
    assert type(loop).__module__.startswith("asyncio")
