"""Settings of a small tournament."""

from __future__ import annotations

from ggp.tournament.settings import Entrant, GameSpec, TournamentSettings


def settings_of(*labels: str, **more: object) -> TournamentSettings:
    games = (GameSpec("g", "(role a)", 2), GameSpec("h", "(role a)", 1))
    fields: dict[str, object] = {"rounds": 3, "startclock": 1.0, "playclock": 1.0, **more}
    entrants = tuple(Entrant(label, "random") for label in labels)
    return TournamentSettings(name="test", games=games, entrants=entrants, **fields)  # type: ignore[arg-type]
