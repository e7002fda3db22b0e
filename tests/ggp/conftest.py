"""Tests that are coroutines run in an event loop of their own; fixtures may use the same one."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator

import pytest


@pytest.fixture
def loop() -> Iterator[asyncio.Runner]:
    """Runs coroutines in the event loop of a test."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    run = pyfuncitem.funcargs["loop"].run if "loop" in pyfuncitem.funcargs else asyncio.run
    run(pyfuncitem.obj(**given))
    return True
