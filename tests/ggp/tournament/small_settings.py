"""Settings of a small tournament."""

from __future__ import annotations

from collections.abc import Iterable

from ggp.game import Game
from ggp.tournament.settings import Entrant, GameSpec, TournamentSettings


def settings_of(*labels: str, **more: object) -> TournamentSettings:
    games = (GameSpec("g", "(role a)", 2), GameSpec("h", "(role a)", 1))
    fields: dict[str, object] = {"rounds": 3, "startclock": 1.0, "playclock": 1.0, **more}
    entrants = tuple(Entrant(label, "random") for label in labels)
    return TournamentSettings(name="test", games=games, entrants=entrants, **fields)  # type: ignore[arg-type]


def tournament_of(
    entrants: Iterable[Entrant], game: str = "tictactoe", roles: int = 2, **more: object
) -> TournamentSettings:
    """One round of a game."""
    games = (GameSpec(game, Game.load(game).kif, roles),)
    fields: dict[str, object] = {"name": "t", "rounds": 1, "startclock": 1.0, "playclock": 1.0, **more}
    return TournamentSettings(games=games, entrants=tuple(entrants), **fields)  # type: ignore[arg-type]
