"""Textbook UCT, one playout after the other: the opponent that the others are measured against."""

from __future__ import annotations

from players.uct.player import PLAYER_OPTIONS, UctPlayer
from players.uct.tuning import Tuning, tuning_options


class SequentialUctPlayer(UctPlayer):
    """UCT (Kocsis and Szepesvari 2006) whose every playout sees the results of all before it."""

    name = "uct-sequential"
    OPTIONS = (
        *PLAYER_OPTIONS,
        *tuning_options(
            Tuning(
                paths=1,
                per_leaf=1,
                exploration=0.5,
                selection="ucb",
                prior="none",
                decisive=False,
                trim=False,
                policy="equal",
            )
        ),
    )
