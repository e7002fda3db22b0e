"""Limits of a tournament's numbers, on the command line and in a file alike: as JSON schemas or numbers."""

from __future__ import annotations

from gdl.json_schema import number, whole
from players.player import LONGEST_CLOCK

ROUNDS = whole(1, 1_000_000)
STARTCLOCK = number(0.0, float(LONGEST_CLOCK))
"""Seconds."""
PLAYCLOCK = number(0.01, float(LONGEST_CLOCK))
"""Seconds."""
PLIES = whole(0, 10_000)
SEED = whole(-(2**63), 2**63 - 1)
MAX_STEPS = whole(1, 1_000_000)
MOST_MATCHES = 1_000_000
"""The most matches of a tournament, all rounds together."""
MOST_GAMES = 1000
MOST_ENTRANTS = 256
MOST_SEATS = 64
"""Roles of a game."""
LONGEST_NAME = 1000
"""Characters of the name of a game, a player or a tournament."""
