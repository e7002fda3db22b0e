"""A service that says where it runs, and sends arrays back: whether a node answers, how fast, with what."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from gdl.errors import GdlError
from players.fleet.fleet import Arrays, Message


class NodeProbe:
    """Describes its node."""

    async def call(self, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        """The node in words, and the arrays that came. Raises GdlError for a message that asks for
        anything."""
        if message:
            raise GdlError("a probe does nothing but answer")
        try:
            installed = version("kaskade-ggp")
        except PackageNotFoundError:
            installed = ""
        where = {"host": platform.node(), "processor": platform.machine(), "process": os.getpid()}
        return {**where, "python": platform.python_version(), "version": installed}, arrays
