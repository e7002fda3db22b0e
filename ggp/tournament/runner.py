"""Plays what is left of a tournament: matches side by side, each on cores of its own."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any, Protocol

from ggp.server.newsroom import Newsroom
from ggp.tournament.match_report import MatchReport
from ggp.tournament.processes import TournamentProcess, usable_cores
from ggp.tournament.schedule import Fixture, plan
from ggp.tournament.settings import MATCH_SETTINGS, TournamentSettings
from ggp.tournament.statistics.scores import block_scores
from ggp.tournament.statistics.sprt import Sprt
from ggp.tournament.store import Result, Store, faults_of

LOOK_AHEAD = 16
"""How many fixtures may be passed over because a player or the cores are not free."""
ATTEMPTS = 2
"""How often a match is tried whose referee crashes."""


CoreSets = tuple[tuple[int, ...], ...]
"""The cores of each player of a match."""


class Watcher(Protocol):
    """Follows a tournament as it goes."""

    def began(self, fixture: Fixture) -> None:
        """A match begins."""

    def step(self, fixture: Fixture, number: int) -> None:
        """A match has come to this step."""

    def ended(self, fixture: Fixture, result: Result | None, error: str) -> None:
        """A match is over and on the disk; no result if it could not be run."""


class Cores:
    """Which cores are free, of all that the tournament may use."""

    def __init__(self, cores: Sequence[int]) -> None:
        self.all = tuple(cores)
        self._free = list(cores)

    def take(self, needs: Sequence[int], shared: bool) -> CoreSets | None:
        """Cores for each player of a match; None where they are not free.

        A match that needs more than there are gets all of them for all of its players, alone.

        Args:
            needs: how many cores each player keeps busy.
            shared: the players take turns, and one set of cores is enough.
        """
        wanted = max(needs, default=0) if shared else sum(needs)
        if wanted > len(self.all):
            if len(self._free) < len(self.all):
                return None
            self._free.clear()
            return tuple(self.all if need else () for need in needs)
        if wanted > len(self._free):
            return None
        cores, self._free = self._free[:wanted], self._free[wanted:]
        starts = [0] * len(needs) if shared else [0, *accumulate(needs)]
        return tuple(tuple(cores[start : start + need]) for start, need in zip(starts, needs, strict=False))

    def give_back(self, cores: Sequence[Sequence[int]]) -> None:
        """The match that has taken these cores is over."""
        self._free = sorted({*self._free, *chain(*cores)})


class Runner:
    """Plays the matches of a tournament that the store does not have.

    Args:
        settings: the tournament.
        store: where results are kept.
        workers: matches at once, at most; as many as there are cores for if 0.
        sprt: stop when this test of the two players is decided.
        newsroom: where it tells of its matches, if anywhere.
    """

    def __init__(
        self,
        settings: TournamentSettings,
        store: Store,
        workers: int = 0,
        sprt: Sprt | None = None,
        newsroom: Newsroom | None = None,
    ) -> None:
        if sprt is not None:
            settings.check_pair()
        self._settings = settings
        self._store = store
        self._sprt = sprt
        self._newsroom = newsroom
        self._entrants = {entrant.label: entrant for entrant in settings.entrants}
        self._games = {game.name: game for game in settings.games}
        self._cores = Cores(usable_cores())
        self._workers = workers or max(1, len(self._cores.all))
        self._busy: set[str] = set()
        self._idle: list[TournamentProcess] = []
        self.results = store.results()
        done = {result.fixture for result in self.results}
        games = {game.name: game.roles for game in settings.games}
        fixtures = list(plan(games, settings.labels, settings.rounds))
        self.total = len(fixtures)
        self._pending = deque(fixture for fixture in fixtures if fixture not in done)
        self.left = len(self._pending)

    @property
    def crowded(self) -> list[str]:
        """Players that need more cores than there are for a match."""
        available = len(self._cores.all)
        needs = {e.label: e.cores(available) for e in self._settings.entrants}
        most = max(game.roles for game in self._settings.games)
        allowed = available if self._settings.take_turns else available / min(most, len(needs))
        return [label for label, need in needs.items() if need > allowed]

    async def run(self, watcher: Watcher) -> str:
        """Play until nothing is left or the test is decided; return its verdict: ``H0``, ``H1`` or ``""``.
        Run it once."""
        self._watcher = watcher
        running: set[asyncio.Task[None]] = set()
        try:
            while not (verdict := self.verdict()):
                while len(running) < self._workers and (match := self._next()) is not None:
                    running.add(asyncio.create_task(self._play(*match)))
                if not running:
                    break
                finished, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in finished:
                    task.result()
            return verdict
        finally:
            for task in running:
                task.cancel()
            if running:
                await asyncio.wait(running)
            await asyncio.gather(*(child.close() for child in self._idle))

    def verdict(self) -> str:
        """What the sequential test says so far."""
        if self._sprt is None:
            return ""
        return self._sprt.verdict(block_scores(self.results, *self._settings.labels))

    def _next(self) -> tuple[Fixture, CoreSets] | None:
        """The first fixture whose players and cores are free; its round must have come."""
        for index, fixture in enumerate(list(self._pending)[:LOOK_AHEAD]):
            if fixture.round > self._pending[0].round + 1:
                break
            players = [self._entrants[label] for label in fixture.seats]
            # A player over HTTP takes one match at a time.
            if any(player.remote and player.label in self._busy for player in players):
                continue
            needs = [player.cores(len(self._cores.all)) for player in players]
            cores = self._cores.take(needs, self._settings.take_turns)
            if cores is not None:
                del self._pending[index]
                self._busy.update(player.label for player in players if player.remote)
                return fixture, cores
            if sum(needs) > len(self._cores.all):
                break  # it needs the whole computer: nothing may overtake it for ever
        return None

    async def _play(self, fixture: Fixture, cores: CoreSets) -> None:
        try:
            self._watcher.began(fixture)
            result, error = None, ""
            for _ in range(ATTEMPTS):
                result, error = await self._attempt(fixture, cores)
                if result is not None or error:
                    break
            self.left -= 1
            if result is None:
                error = error or "the referee crashed"
                self._store.add_failure(fixture, error)
            self._watcher.ended(fixture, result, error)
        finally:
            self._cores.give_back(cores)
            self._busy.difference_update(fixture.seats)

    async def _attempt(self, fixture: Fixture, cores: CoreSets) -> tuple[Result | None, str]:
        """The result, or why there is none; neither where the referee crashed."""
        child = self._idle.pop() if self._idle else await TournamentProcess.start("ggp.tournament.referee")
        reusable, news = False, MatchReport(self._newsroom, self._settings, fixture)
        try:
            child.send("play", **self._job(fixture, cores))
            while (message := await child.inbox.get()) is not None:
                match message["kind"]:
                    case "step":
                        self._watcher.step(fixture, message["number"])
                        news.step(message)
                    case "failed":
                        reusable = True
                        return None, message["error"]
                    case _:
                        reusable = True
                        record = message["record"]
                        goals, faults = tuple(message["goals"]), faults_of(record, len(fixture.seats))
                        length = len(record["moves"]), message["seconds"]
                        result = Result(fixture, goals, faults, message["completed"], *length)
                        # From here on it is on the disk, whatever happens.
                        self._store.add(result, record)
                        news.end("stop" if result.completed else "cut", goals)
                        self.results.append(result)
                        return result, ""
            return None, ""
        finally:
            news.end("abort")
            if reusable:
                self._idle.append(child)
            else:
                await asyncio.shield(child.close())

    def _job(self, fixture: Fixture, cores: CoreSets) -> dict[str, Any]:
        settings = self._settings
        return {
            "key": f"{fixture.game} {fixture.round} {' '.join(fixture.seats)}",
            "rules": self._games[fixture.game].rules,
            "round": fixture.round,
            "seats": [self._seat(*seat) for seat in zip(fixture.seats, cores, strict=True)],
            "tournament": settings.name,
            **{key: getattr(settings, key) for key in MATCH_SETTINGS},
        }

    def _seat(self, label: str, cores: Sequence[int]) -> dict[str, Any]:
        entrant, available = self._entrants[label], len(self._cores.all)
        return {
            "label": label,
            "player": "" if entrant.remote else entrant.local_name(available),
            "workers": entrant.workers(available) > 0,
            "address": entrant.spec if entrant.remote else "",
            "cores": list(cores),
        }
