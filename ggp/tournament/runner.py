"""Plays the remaining matches of a tournament side by side, each on cores of its own.

A match that is lost with its node is played again on another. It is stored once, when its result arrives
here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any, Protocol

from ggp.processes.parent import JsonMessage
from ggp.server.match_news import MatchNews
from ggp.server.newsroom import Newsroom
from ggp.tournament.schedule import Fixture, plan
from ggp.tournament.settings import MATCH_SETTINGS, TournamentSettings
from ggp.tournament.sites import CoreSets, OwnSite, Site, Sites
from ggp.tournament.statistics.ratings import Sprt
from ggp.tournament.statistics.scores import block_scores
from ggp.tournament.statistics.standing import standing_of
from ggp.tournament.store import Result, Store, faults_of
from players.fleet.fleet import LostWorkerError


class _MatchReport:
    """Reports the referee's messages about one match to the newsroom, if there is one."""

    def __init__(self, newsroom: Newsroom | None, settings: TournamentSettings, fixture: Fixture) -> None:
        self._newsroom = newsroom
        self._settings = settings
        self._fixture = fixture
        self._match = ""
        self._news: MatchNews | None = None

    def step(self, message: JsonMessage) -> None:
        """Report a step: ``match`` (its id), ``moves`` (the new joint moves), ``errors`` of the last one."""
        if self._newsroom is None:
            return
        if self._news is None:
            settings, fixture = self._settings, self._fixture
            rules = next(game.rules for game in settings.games if game.name == fixture.game)
            clocks = settings.startclock, settings.playclock
            self._match = message["match"]
            self._news = self._newsroom.begin(self._match, rules, fixture.game, fixture.seats, clocks)
        for joint in message["moves"]:
            self._news.joint(joint, message["errors"] if joint is message["moves"][-1] else ())

    def end(self, why: str, goals: Sequence[int] = ()) -> None:
        """Report the end, if it is not yet reported."""
        if self._newsroom is not None:
            self._newsroom.end(self._match, why, goals)


_LOOK_AHEAD = 16
"""The number of fixtures that may be passed over because a player or the cores are not free."""
ATTEMPTS = 2
"""The number of times that a match is tried if its referee crashes."""


class Watcher(Protocol):
    """Follows a tournament as it goes."""

    def began(self, fixture: Fixture) -> None:
        """A match begins."""

    def waits(self, fixture: Fixture, text: str) -> None:
        """A match does not begin yet; ``text`` names the player it waits for."""

    def step(self, fixture: Fixture, number: int) -> None:
        """A match has reached this step."""

    def ended(self, fixture: Fixture, result: Result | None, error: str) -> None:
        """A match is over and on the disk; ``result`` is None if it could not be run."""


class Runner:
    """Plays the matches of a tournament that the store does not have.

    Args:
        settings: the tournament.
        store: where results are stored.
        workers: matches at once, at most; as many as there are cores for if 0.
        sprt: stop when this test of the two players is decided.
        newsroom: where it publishes its matches, if anywhere.
        sites: the computers that play, which :meth:`run` closes; this one if not given.
    """

    def __init__(
        self,
        settings: TournamentSettings,
        store: Store,
        workers: int = 0,
        sprt: Sprt | None = None,
        newsroom: Newsroom | None = None,
        sites: Sites | None = None,
    ) -> None:
        if sprt is not None:
            settings.check_pair()
        self._settings = settings
        self._store = store
        self._sprt = sprt
        self._newsroom = newsroom
        self._entrants = {entrant.label: entrant for entrant in settings.entrants}
        self._games = {game.name: game for game in settings.games}
        self._sites: Sites = sites or OwnSite()
        self._workers = workers
        self._busy: set[str] = set()
        self.results = store.results()
        done = {result.fixture for result in self.results}
        games = {game.name: game.roles for game in settings.games}
        fixtures = list(plan(games, settings.labels, settings.rounds))
        self.total = len(fixtures)
        self._pending = deque(fixture for fixture in fixtures if fixture not in done)
        self.left = len(self._pending)

    @property
    def crowded(self) -> list[str]:
        """Players that need more cores for a match than the largest known computer has."""
        if not self._sites.open:
            return []
        available = self._largest
        needs = {e.label: e.cores(available) for e in self._settings.entrants}
        most = max(game.roles for game in self._settings.games)
        allowed = available if self._settings.take_turns else available / min(most, len(needs))
        return [label for label, need in needs.items() if need > allowed]

    async def run(self, watcher: Watcher) -> str:
        """Play until all matches are played or the test is decided. Returns its verdict: ``H0``, ``H1`` or
        ``""``. Call it once."""
        self._watcher = watcher
        running: set[asyncio.Task[None]] = set()
        try:
            while not (verdict := self.verdict()):
                if self._pending:
                    await self._sites.look()
                most = self._workers or sum(max(1, len(site.cores.all)) for site in self._sites.open)
                while len(running) < most and (match := self._next()) is not None:
                    running.add(asyncio.create_task(self._play(*match)))
                patience = self._sites.patience if self._pending else None
                if not running:
                    if patience is None:
                        break
                    await asyncio.sleep(patience)
                    continue
                finished, running = await asyncio.wait(
                    running, timeout=patience, return_when=asyncio.FIRST_COMPLETED
                )
                for task in finished:
                    task.result()
            return verdict
        finally:
            for task in running:
                task.cancel()
            if running:
                await asyncio.wait(running)
            await self._sites.close()

    def verdict(self) -> str:
        """The present verdict of the sequential test."""
        if self._sprt is None:
            return ""
        labels = self._settings.labels
        return self._sprt.verdict(block_scores(standing_of(self.results, labels).results, *labels))

    @property
    def _largest(self) -> int:
        return max((len(site.cores.all) for site in self._sites.open), default=0)

    def _next(self) -> tuple[Fixture, Site, CoreSets] | None:
        """The first fixture whose players are free, and a computer with free cores for it. Only the first
        round that is not complete and the next one count."""
        for index, fixture in enumerate(list(self._pending)[:_LOOK_AHEAD]):
            if fixture.round > self._pending[0].round + 1:
                break
            players = [self._entrants[label] for label in fixture.seats]
            # A player over HTTP takes one match at a time.
            if any(player.remote and player.label in self._busy for player in players):
                continue
            for site in self._sites.open:
                needs = [player.cores(len(site.cores.all)) for player in players]
                # A match that is too large for this computer is left to a larger one, if there is any.
                if sum(needs) > len(site.cores.all) and len(site.cores.all) < self._largest:
                    continue
                cores = site.cores.take(needs, self._settings.take_turns)
                if cores is not None:
                    del self._pending[index]
                    self._busy.update(player.label for player in players if player.remote)
                    return fixture, site, cores
            largest = self._largest
            if sum(player.cores(largest) for player in players) > largest:
                break  # it needs a whole computer: other matches must not overtake it for ever
        return None

    async def _play(self, fixture: Fixture, site: Site, cores: CoreSets) -> None:
        try:
            self._watcher.began(fixture)
            result, error = None, ""
            for _ in range(ATTEMPTS):
                result, error = await self._attempt(fixture, site, cores)
                if result is not None or error:
                    break
            self.left -= 1
            if result is None:
                error = error or "the referee crashed"
                self._store.add_failure(fixture, error)
            self._watcher.ended(fixture, result, error)
        except LostWorkerError:
            self._pending.appendleft(fixture)
        finally:
            site.cores.give_back(cores)
            self._busy.difference_update(fixture.seats)

    async def _attempt(self, fixture: Fixture, site: Site, cores: CoreSets) -> tuple[Result | None, str]:
        """The result, or the reason why there is none; neither if the referee crashed."""
        news = _MatchReport(self._newsroom, self._settings, fixture)

        def step(message: JsonMessage) -> None:
            if message["kind"] == "waits":
                self._watcher.waits(fixture, message["text"])
                return
            self._watcher.step(fixture, message["number"])
            news.step(message)

        try:
            message = await site.play(self._job(fixture, site, cores), step)
            if message is None:
                return None, ""
            if message["kind"] == "failed":
                return None, message["error"]
            record = message["record"]
            goals, faults = tuple(message["goals"]), faults_of(record, message["roles"])
            length = len(record["moves"]), message["seconds"]
            result = Result(fixture, goals, faults, message["completed"], *length, tuple(message["own"]))
            # From here on the result is on the disk, whatever happens.
            self._store.add(result, record)
            news.end("stop" if result.completed else "cut", goals)
            self.results.append(result)
            return result, ""
        finally:
            news.end("abort")

    def _job(self, fixture: Fixture, site: Site, cores: CoreSets) -> dict[str, Any]:
        settings, available = self._settings, len(site.cores.all)
        return {
            "key": f"{fixture.game} {fixture.round} {' '.join(fixture.seats)}",
            "rules": self._games[fixture.game].rules,
            "round": fixture.round,
            "seats": [self._seat(*seat, available) for seat in zip(fixture.seats, cores, strict=True)],
            "tournament": settings.name,
            **{key: getattr(settings, key) for key in MATCH_SETTINGS},
        }

    def _seat(self, label: str, cores: Sequence[int], available: int) -> dict[str, Any]:
        entrant = self._entrants[label]
        return {
            "label": label,
            "player": "" if entrant.remote else entrant.local_name(available),
            "workers": entrant.workers(available) > 0,
            "address": entrant.spec if entrant.remote else "",
            "cores": list(cores),
        }
