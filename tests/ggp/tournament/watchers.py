"""Who follows tournaments in tests."""

from __future__ import annotations

from ggp.tournament.schedule import Fixture
from ggp.tournament.store import Result


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
