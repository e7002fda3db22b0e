"""The limits of a tournament's numbers, on the command line and in a file alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from players.player import LONGEST_CLOCK

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class Bound(Generic[Number]):
    """The least and the largest value, both allowed."""

    least: Number
    most: Number


ROUNDS = Bound(1, 1_000_000)
STARTCLOCK = Bound(0.0, float(LONGEST_CLOCK))
"""Seconds."""
PLAYCLOCK = Bound(0.01, float(LONGEST_CLOCK))
"""Seconds."""
PLIES = Bound(0, 10_000)
SEED = Bound(-(2**63), 2**63 - 1)
MAX_STEPS = Bound(1, 1_000_000)
MOST_MATCHES = 1_000_000
"""The most matches of a tournament, all rounds together."""
MOST_GAMES = 1000
MOST_ENTRANTS = 256
MOST_SEATS = 64
"""Roles of a game."""
LONGEST_NAME = 1000
"""Characters of the name of a game, a player or a tournament."""
