"""One live match and its spectators: what is told of it goes on to all of them, drawn once."""

from __future__ import annotations

import asyncio
import time
from hashlib import sha256
from typing import Any

from gdl.errors import GdlError
from gdl.visible import visible
from ggp.web.asked_process import AskedProcess
from ggp.web.broadcast import Broadcast, encode

MODULE = "ggp.web.watch.watch_process"
SECONDS = 20.0
"""For one drawing, the start of the process included."""
IDLE_SECONDS = 20.0
"""So long after the last spectator has gone the process ends."""
THINK_SECONDS = 0.5
"""Between two reports of a search to the spectators."""
MOST_STEPS = 5000
MOST_ROLES = 64
MOST_RULES = 8 * 1024 * 1024
_SHORT, _LONG = 200, 2000


class LiveMatch:
    """See the module's first lines. To be used within one event loop.

    Args:
        source: the address of the program that tells of it.
        told: what that says at first. Raises ValueError, KeyError or TypeError where that is nonsense.

    Attributes:
        key: by which pages know it; the same after a restart.
    """

    def __init__(self, source: str, told: dict[str, Any]) -> None:
        self.id = text_of(told["match"])
        self.key = key_of(source, self.id)
        self.source = source
        self._rules = str(told["rules"])
        if len(self._rules) > MOST_RULES:
            raise ValueError("the rules are too long")
        self._process = AskedProcess(
            MODULE, self.id, {"rules": self._rules, "name": text_of(told.get("game"))}, SECONDS
        )
        self.news = Broadcast(self._greeting)
        self._steps: list[dict[str, Any]] = []
        self._values: dict[int, float] = {}
        self._roles: list[str] = []
        self._drawn = -1  # the last step that the process knows
        self._svg = ""
        self._note = ""
        self._think: dict[str, Any] | None = None
        self._thought_at = 0.0
        self._changed = asyncio.Event()
        self._drawer: asyncio.Task[None] | None = None
        self.connected = True
        self.update(told)

    # --- what its program tells -----------------------------------------------------------------------------
    def is_of(self, told: dict[str, Any]) -> bool:
        """Whether this is the match that is told of, and not another one of the same name."""
        return str(told["rules"]) == self._rules

    def update(self, told: dict[str, Any]) -> None:
        """All that is told at once, at the beginning and after each new connection."""
        self._about = {
            "game": text_of(told.get("game")),
            "role": text_of(told.get("role")),
            "players": [text_of(name) for name in (told.get("players") or ())[:MOST_ROLES]],
            "clocks": [float(clock) for clock in (told.get("clocks") or ())[:2]],
        }
        steps = told["steps"]
        known = len(self._steps)
        for step in steps[:MOST_STEPS]:
            self.step(step)
        if len(steps) < known:
            del self._steps[len(steps) :]
        self.over = text_of(told.get("over"))
        self.goals = [text_of(goal) for goal in (told.get("goals") or ())[:MOST_ROLES]]
        if told.get("think"):
            self.think(told["think"])
        self.news.send("match", self._whole())
        self._changed.set()

    def step(self, told: dict[str, Any]) -> None:
        """A joint move was made, or put right."""
        number = int(told["number"])
        if not 1 <= number <= min(len(self._steps) + 1, MOST_STEPS):
            raise ValueError("a step is missing")
        step = {
            "moves": [tidy(text_of(move, _LONG)) for move in told["moves"][:MOST_ROLES]],
            "errors": [text_of(error) for error in told["errors"][:MOST_ROLES]],
        }
        if number <= len(self._steps) and self._steps[number - 1]["moves"] == step["moves"]:
            return
        del self._steps[number - 1 :]
        self._steps.append(step)
        self._drawn = min(self._drawn, number - 1)
        self._changed.set()

    def think(self, told: dict[str, Any]) -> None:
        """What a search expects."""
        candidates = [
            {"move": text_of(c["move"]), "visits": int(c["visits"]), "value": float(c["value"])}
            for c in told.get("candidates", ())[:8]
        ]
        value = told.get("value")
        self._think = {
            "step": int(told["step"]),
            "done": bool(told.get("done")),
            "role": text_of(told.get("role")),
            "machine": text_of(told.get("machine")),
            "move": text_of(told.get("move")),
            "visits": int(told.get("visits", 0)),
            "value": None if value is None else float(value),
            "candidates": candidates,
            "note": text_of(told.get("note"), _LONG),
        }
        if value is not None:
            self._values[self._think["step"]] = float(value)
        now = time.monotonic()
        if self._think["done"] or now > self._thought_at + THINK_SECONDS:
            self._thought_at = now
            self.news.send("think", self._think)

    def end(self, told: dict[str, Any]) -> None:
        """It is over."""
        self.over = text_of(told["over"]) or "over"
        self.goals = [text_of(goal) for goal in told["goals"][:MOST_ROLES]]
        self.news.send("end", {"over": self.over, "goals": self.goals})

    def connect(self, connected: bool) -> None:
        """Whether its program can be heard."""
        if connected != self.connected:
            self.connected = connected
            self.news.send("source", {"connected": connected})

    # --- what spectators see --------------------------------------------------------------------------------
    def listed(self) -> dict[str, Any]:
        """Its line in the list of matches."""
        return {
            "key": self.key,
            "id": self.id,
            "source": self.source,
            "step": len(self._steps),
            "over": self.over,
            "goals": self.goals,
            "connected": self.connected,
            **self._about,
        }

    def open(self) -> None:
        """A spectator comes: have it drawn."""
        if self._drawer is None or self._drawer.done():
            self._drawer = asyncio.create_task(self._draw())
        self._changed.set()

    async def drawing(self, number: int) -> str:
        """The drawing of a step. Raises GdlError where there is none."""
        self.open()
        if number > self._drawn:
            raise GdlError(f"step {number} is not drawn yet", remedy="look again in a moment")
        told = await self._process.ask("draw", number=number)
        return str(told["svg"])

    async def close(self) -> None:
        """End its process."""
        if self._drawer is not None:
            self._drawer.cancel()
            await asyncio.wait([self._drawer])
        await self._process.end()

    def _greeting(self) -> list[bytes]:
        return [encode("match", self._whole())]

    def _whole(self) -> dict[str, Any]:
        steps = [{"moves": [], "errors": []}, *self._steps]
        return {
            **self.listed(),
            "roles": self._roles,
            "steps": [{**step, "value": self._values.get(n)} for n, step in enumerate(steps)],
            "think": self._think,
            "note": self._note,
            "drawn": self._drawn,
            "svg": self._svg,
        }

    async def _draw(self) -> None:
        """Have each step drawn as it comes, as long as anybody looks on."""
        idle = 0.0
        try:
            while idle < IDLE_SECONDS:
                self._changed.clear()
                try:
                    await self._catch_up()
                except GdlError as error:
                    self._note = visible(str(error))
                    self.news.send("note", {"text": self._note})
                before = time.monotonic()
                try:
                    async with asyncio.timeout(IDLE_SECONDS / 4):
                        await self._changed.wait()
                except TimeoutError:
                    pass
                idle = 0.0 if self.news.readers else idle + time.monotonic() - before
        finally:
            self._drawn = -1
            await self._process.end()

    async def _catch_up(self) -> None:
        if self._drawn < 0 or not self._process.alive:
            told = await self._process.ask("open")
            self._roles = [text_of(role) for role in told["roles"]]
            self._svg = str((await self._process.ask("draw", number=0))["svg"])
            self._drawn, self._note = 0, ""
            if not self._steps:
                self.news.send("match", self._whole())
        while self._drawn < len(self._steps):
            number = self._drawn + 1
            step = self._steps[number - 1]
            told = await self._process.ask("step", number=number, moves=step["moves"])
            if number > len(self._steps) or self._steps[number - 1] is not step:
                continue  # it was put right meanwhile
            self._drawn, self._svg = number, str(told["svg"])
            if number == len(self._steps):
                self.news.send("step", {"number": number, "roles": self._roles, **step, "svg": self._svg})


def key_of(source: str, match: str) -> str:
    """By which pages know a match."""
    return sha256(f"{source}\n{match}".encode(errors="replace")).hexdigest()[:16]


def tidy(move: str) -> str:
    """A move without the spaces that messages have within parentheses."""
    return move.replace("( ", "(").replace(" )", ")")


def text_of(value: object, most: int = _SHORT) -> str:
    """A stranger's word: on one line, and short."""
    text = visible(" ".join(str("" if value is None else value)[: 4 * most].split()))
    return text if len(text) <= most else text[: most - 1] + "…"
