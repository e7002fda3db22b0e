"""`MatchReport`: one match of a tournament, told to those who look on."""

from __future__ import annotations

from collections.abc import Sequence

from ggp.processes.parent import JsonMessage
from ggp.server.match_news import MatchNews
from ggp.server.newsroom import Newsroom
from ggp.tournament.schedule import Fixture
from ggp.tournament.settings import TournamentSettings


class MatchReport:
    """Tells of one match what its referee says; nothing without a newsroom."""

    def __init__(self, newsroom: Newsroom | None, settings: TournamentSettings, fixture: Fixture) -> None:
        self._newsroom = newsroom
        self._settings = settings
        self._fixture = fixture
        self._match = ""
        self._news: MatchNews | None = None

    def step(self, told: JsonMessage) -> None:
        """A step: ``match`` (its id), ``moves`` (joint moves that are new), ``errors`` of the last one."""
        if self._newsroom is None:
            return
        if self._news is None:
            settings, fixture = self._settings, self._fixture
            rules = next(game.rules for game in settings.games if game.name == fixture.game)
            clocks = settings.startclock, settings.playclock
            self._match = told["match"]
            self._news = self._newsroom.begin(self._match, rules, fixture.game, fixture.seats, clocks)
        for joint in told["moves"]:
            self._news.joint(joint, told["errors"] if joint is told["moves"][-1] else ())

    def end(self, why: str, goals: Sequence[int] = ()) -> None:
        """It is over, if it was not already."""
        if self._newsroom is not None:
            self._newsroom.end(self._match, why, goals)
