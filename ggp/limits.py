"""See :mod:`players.limits`."""

from players.limits import WARM_UP_GAMES, describe, limit_memory

__all__ = ["WARM_UP_GAMES", "describe", "limit_memory"]
