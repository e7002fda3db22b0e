"""How long the native code of a game may take to compile."""

from __future__ import annotations

import math
import os

from gdl.errors import GdlError


def compile_seconds(usual: float) -> float:
    """Wall time that the native code of a game may take: ``$GGP_COMPILE_SECONDS``, or what is usual.

    Raises:
        GdlError: the variable is no number of seconds.
    """
    chosen = os.environ.get("GGP_COMPILE_SECONDS")
    if not chosen:
        return usual
    try:
        seconds = float(chosen)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise GdlError(
            f"GGP_COMPILE_SECONDS is {chosen!r}", remedy="set it to a number of seconds, 0 for no native code"
        )
    return seconds
