"""The event loop of servers: libuv's where there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's event loop, on which connections cost a sixth less; on Windows, where it does not run, that of
    asyncio."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def run_server(main: Coroutine[Any, Any, Result]) -> Result:
    """As :func:`asyncio.run`, on such a loop."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(main)
