"""What is told of matches: who plays what, each joint move, what the search expects while it thinks, the end.

A new reader is first told of all matches that are under way or have just ended (event ``all``), and then of
what changes: ``begin``, ``step``, ``think``, ``end``. So a reader that has lost its connection comes back to
the right step.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ggp.events.stream import EventStream, encode

KEPT = 8
"""Matches that have ended and are still told to new readers."""
MOST_READERS = 16
"""Connections that one feed keeps: ``ggp web`` tells everybody else."""
THINK_SECONDS = 0.25
"""Between two reports of one search."""


class Feed:
    """What one program tells of its matches. To be used within one event loop; ``source`` says who it is."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.events = EventStream(lambda: [encode("all", self.told())])
        self._stories: dict[str, MatchStory] = {}

    @property
    def watched(self) -> bool:
        """Whether anybody reads."""
        return self.events.readers > 0

    @property
    def full(self) -> bool:
        """Whether there is no room for another reader."""
        return self.events.readers >= MOST_READERS

    def told(self) -> dict[str, Any]:
        """All that is known."""
        return {"source": self.source, "matches": [story.told() for story in self._stories.values()]}

    def begin(self, match: str, rules: str, **about: Any) -> MatchStory:
        """A match begins.

        Args:
            match: its id.
            rules: their text.
            about: what is known: ``game`` (name), ``role`` (the one that is played here), ``players`` (names
                in role order), ``clocks`` (startclock and playclock, seconds).
        """
        self._stories.pop(match, None)
        story = self._stories[match] = MatchStory(self, match, {"rules": rules, **about})
        ended = [name for name, story in self._stories.items() if story.over]
        for name in ended[: max(0, len(ended) - KEPT)]:
            del self._stories[name]
        self.events.send("begin", story.told())
        return story


class MatchStory:
    """What is told of one match; made by :meth:`Feed.begin`.

    Attributes:
        over: why it has ended; empty while it goes on.
    """

    def __init__(self, feed: Feed, match: str, about: dict[str, Any]) -> None:
        self._feed = feed
        self._match = match
        self._about = about
        self._steps: list[dict[str, Any]] = []
        self._think: dict[str, Any] | None = None
        self._next = 0.0
        self._goals: list[str] = []
        self.over = ""

    @property
    def watched(self) -> bool:
        """Whether anybody would see what is told: a search may save itself the trouble."""
        return self._feed.watched

    def step(self, number: int, moves: Sequence[str], errors: Sequence[str] = ()) -> None:
        """A joint move was made, or is put right: that with this number, from 1. Later ones are forgotten."""
        if not 1 <= number <= len(self._steps) + 1:
            return
        step = {"number": number, "moves": list(moves), "errors": list(errors)}
        if number <= len(self._steps) and self._steps[number - 1]["moves"] == step["moves"]:
            return
        del self._steps[number - 1 :]
        self._steps.append(step)
        self._feed.events.send("step", {"match": self._match, **step})

    def think(self, *, done: bool = False, **report: Any) -> None:
        """What a search expects: ``role``, ``machine``, ``move``, ``value`` (0..100), ``visits``,
        ``candidates`` (``move``, ``visits``, ``value``), and a ``note`` for people, with playouts/s and
        proofs. Reports that come too fast are left out, but not the last of a search (``done``).
        """
        now = time.monotonic()
        if not done and now < self._next:
            return
        self._next = now + THINK_SECONDS
        self._think = {"step": len(self._steps), "done": done, **report}
        self._feed.events.send("think", {"match": self._match, **self._think})

    def end(self, why: str, goals: Sequence[str] = ()) -> None:
        """The match has ended."""
        if not self.over:
            self.over, self._goals = why, list(goals)
            self._feed.events.send("end", {"match": self._match, "over": why, "goals": self._goals})

    def told(self) -> dict[str, Any]:
        """All of it."""
        return {
            "match": self._match,
            **self._about,
            "steps": self._steps,
            "think": self._think,
            "over": self.over,
            "goals": self._goals,
        }
