"""A service that says where it runs, and sends arrays back: whether a node answers, how fast, with what."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from gdl.errors import GdlError
from players.fleet.fleet import Arrays, Message


def own_version() -> str:
    """The version of this program; empty where it is not installed."""
    try:
        return version("kaskade-ggp")
    except PackageNotFoundError:
        return ""


class NodeProbe:
    """Describes its node."""

    def status(self) -> str:
        """It does nothing by itself."""
        return "ready"

    async def call(self, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        """The node in words, and the arrays that came. Raises GdlError for a message that asks for
        anything."""
        if message:
            raise GdlError("a probe does nothing but answer")
        where = {"host": platform.node(), "processor": platform.machine(), "process": os.getpid()}
        return {**where, "python": platform.python_version(), "version": own_version()}, arrays
