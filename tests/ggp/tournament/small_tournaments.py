"""Small tournaments, and who follows them, in tests."""

from __future__ import annotations

from collections.abc import Iterable

from ggp.game import Game
from ggp.tournament.schedule import Fixture
from ggp.tournament.settings import Entrant, GameSpec, TournamentSettings
from ggp.tournament.store import Result


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


class Silent:
    """A watcher that only counts."""

    def __init__(self) -> None:
        self.begun = 0
        self.ended_matches: list[Fixture] = []
        self.errors: list[str] = []

    def began(self, fixture: Fixture) -> None:
        self.begun += 1

    def waits(self, fixture: Fixture, text: str) -> None: ...

    def step(self, fixture: Fixture, number: int) -> None: ...

    def ended(self, fixture: Fixture, result: Result | None, error: str) -> None:
        self.ended_matches.append(fixture)
        if error:
            self.errors.append(error)
