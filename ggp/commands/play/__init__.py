"""Matches: watched, played, hosted, rated."""

from __future__ import annotations

from typing import Annotated

import typer

from gdl.errors import GdlError
from players.player import LONGEST_CLOCK

Clock = Annotated[
    str,
    typer.Option(
        "--clock",
        "-c",
        metavar="[START,]PLAY",
        help="Seconds for each move, or before the first move and for each: 10,5.",
    ),
]


def read_clock(text: str, startclock: float, whole: bool = False) -> tuple[float, float]:
    """The startclock and the playclock in ``10,5``; ``5`` leaves the startclock as it is. ``whole`` forbids
    parts of a second. Raises GdlError for any other text."""
    start, comma, play = text.rpartition(",")
    try:
        clocks = float(start) if comma else startclock, float(play)
    except ValueError:
        clocks = -1.0, -1.0
    least = 1 if whole else 0.01
    fits = 0 <= clocks[0] <= LONGEST_CLOCK and least <= clocks[1] <= LONGEST_CLOCK
    if not fits or (whole and not all(map(float.is_integer, map(float, clocks)))):
        raise GdlError(
            f"--clock must be a {'whole ' * whole}number of seconds from {least} to {LONGEST_CLOCK}, or two,"
            f" not {text[:40]!r}",
            remedy="write 5, or 10,5 with 10 seconds before the first move",
        )
    return clocks
