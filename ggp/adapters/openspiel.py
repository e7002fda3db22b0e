"""Our games for OpenSpiel's algorithms: `load_gdl`."""

from __future__ import annotations

from pathlib import Path

from gdl.errors import TooLargeError
from ggp.game import Game
from players.openspiel.spiel_game import SpielGame, spiel_game
from propnet.capabilities import lane_machine


def load_gdl(
    source: str | Path | Game,
    *,
    dynamics: str = "auto",
    utility: str = "auto",
    max_steps: int = 10_000,
    machine: str = "auto",
) -> SpielGame:
    """A game of OpenSpiel, registered as ``gdl_NAME`` in this process: ``pyspiel.load_game`` and
    ``pyspiel.deserialize_game_and_state`` know it from then on.

    Args:
        source: as for :meth:`ggp.game.Game.load`, or a game.
        dynamics: ``sequential``, ``simultaneous``, or what random play shows.
        utility: ``zero-sum`` (returns from -1 to 1), ``general-sum`` (0 to 1), or what random play shows.
        max_steps: joint moves after which a match is over, with returns of 0.
        machine: ``propnet``, ``native`` or ``auto``.

    Raises:
        GdlError: there is no such game, or it is not of the kind that is asked for.
        TooLargeError: the game does not ground within the limits.
    """
    game = source if isinstance(source, Game) else Game.load(source)
    fast = lane_machine(game.machine(machine))
    if fast is None:
        raise TooLargeError(
            f"{game.name} does not ground within the limits, so its actions have no ids",
            remedy="OpenSpiel needs a game that `ggp ground` can ground",
        )
    return spiel_game(game.name, fast, dynamics=dynamics, utility=utility, max_steps=max_steps)
