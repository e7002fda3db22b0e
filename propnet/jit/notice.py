"""Notifications while kernels are compiled, during which Python's garbage collector is off.

numba is imported only where kernels are, so its events come from there (:func:`listen`).
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from typing import Any

_Tell = Callable[[str, float], None]
"""Takes a kernel's name and -1.0 when this process begins to compile it, then the name and the seconds."""

_listeners: list[tuple[int, _Tell]] = []


def tell_when_compiling(tell: _Tell) -> None:
    """Call ``tell`` for each kernel that this process compiles, but not for those of its forks. Functions
    that are compiled as a part of a kernel are not reported."""
    _listeners[:] = [(os.getpid(), tell)]


def listen(event: Any) -> None:
    """Register for numba's events; ``event`` is its module."""

    class Kernels(event.Listener):  # type: ignore[misc]
        """Receives the events of kernels that are not on disk."""

        def __init__(self) -> None:
            self._begun: list[float] = []
            self._collects = False

        def on_start(self, occurrence: Any) -> None:
            self._begun.append(time.monotonic())
            if len(self._begun) == 1:
                # Compilation creates millions of objects that live to the end. Scanning them again and again
                # takes a fifth of the time.
                self._collects = gc.isenabled()
                gc.disable()
                self._tell(occurrence, -1.0)

        def on_end(self, occurrence: Any) -> None:
            began = self._begun.pop()
            if not self._begun:
                if self._collects:
                    gc.enable()
                self._tell(occurrence, time.monotonic() - began)

        def _tell(self, occurrence: Any, seconds: float) -> None:
            if _listeners and _listeners[0][0] == os.getpid():
                function = occurrence.data["dispatcher"].py_func
                _listeners[0][1](f"{function.__module__}.{function.__name__}", seconds)

    event.register("numba:compile", Kernels())
