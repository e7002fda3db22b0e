"""`SearchHost` searches on a node for a player that runs elsewhere, and reports statistics of the root when
asked.

It is the service of a fleet that the relay calls (:mod:`players.uct.workers.relay`). It builds its own
machines from the rules' text, and has search processes like the player itself
(:mod:`players.uct.workers.pool`).
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from gdl.errors import GdlError
from gdl.machine import Machine
from gdl.syntax.parser import parse_rules, parse_terms
from gdl.words import counted
from players.fleet.fleet import Arrays, Message
from players.kaskade.kaskade import Kaskade
from players.uct.leaf_values import OFF
from players.uct.root_statistics import RootStatistics, merge
from players.uct.tuning import AUTO, Tuning
from players.uct.workers.pool import Pool

_MOST_WAIT = 1.0
"""Most seconds that an answer may be delayed."""


class SearchHost:
    """The search of one match at a time; :meth:`call` describes its messages."""

    def __init__(self) -> None:
        self._match = ""
        self._pool: Pool | None = None
        self._kaskade: Kaskade | None = None
        self._machine: Machine | None = None
        self._start: tuple[int, int, Tuning] | None = None
        self._order: Message = {}
        self._root = 0
        self._counts: list[int] = []
        self._starting = asyncio.Lock()

    async def call(self, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        """Answer a message.

        ``start``: take a ``match`` with ``rules``, ``role``, ``seed``, ``tuning`` and ``workers``.
        ``think``: search in a match from a ``state``, which is root ``number``, with ``seconds`` left; below
        the move at place ``fix`` if it was made; not at all if ``rest``. The answer ``lacks`` means that the
        match is unknown here.
        ``read``: wait ``seconds``, and return the statistics of root ``number`` (visits, totals and proven
        results) and finished ``lines``.

        Raises:
            GdlError: the message is not one of these, or its rules are invalid.
        """
        match message.get("do"):
            case "start":
                async with self._starting:
                    await self._begin(message)
                return {}, ()
            case "think":
                if message["match"] != self._match:
                    return {"lacks": True}, ()
                self._order = {**message, "until": time.monotonic() + float(message.get("seconds", 0.0))}
                self._think()
                return {}, ()
            case "read":
                await asyncio.sleep(min(max(float(message["seconds"]), 0.0), _MOST_WAIT))
                return self._read(int(message["number"]))
        raise GdlError("a search answers start, think and read only")

    def status(self) -> str:
        """The root that is searched, and the playouts so far."""
        if self._pool is None or not self._match:
            return "no match"
        merged = merge(self._counts, self._pool.read())
        return f"searches root {self._root}: {merged.playouts:,} playouts, {counted(merged.nodes, 'state')}"

    def close(self) -> None:
        """Stop searching."""
        if self._pool is not None:
            self._pool.stop()
        if self._kaskade is not None:
            self._kaskade.close()

    async def _begin(self, message: Message) -> None:
        """Begin a new match: the search uses the first machine while better ones are built."""
        if message["match"] == self._match:
            return
        self._match, self._order, self._machine, self._root = "", {}, None, 0
        if self._kaskade is not None:
            self._kaskade.close()
        text = str(message["rules"])
        rules = await asyncio.to_thread(parse_rules, text, "match")
        self._kaskade = kaskade = Kaskade("auto")
        kaskade.begin(text, rules)
        machine = await asyncio.to_thread(kaskade.best)
        if self._pool is None:
            self._pool = Pool(int(message["workers"]))
        tuning = _here(Tuning(**message["tuning"]))
        self._start = int(message["role"]), int(message["seed"]), tuning
        self._machine = machine
        self._pool.start(*self._start, machine)
        self._match = str(message["match"])

    def _think(self) -> None:
        """Carry out the last order."""
        pool, machine, order = self._pool, self._machine, self._order
        if pool is None or machine is None or not order:
            return
        number = int(order["number"])
        if number != self._root:
            state = machine.state_of(frozenset(parse_terms(order["state"], "state")))
            self._counts = [len(machine.legal_moves(state, role)) for role in range(len(machine.roles))]
            self._root = number
            pool.set_root(state, order["until"])
        if order.get("rest"):
            pool.rest()
        elif order.get("fix", -1) >= 0:
            pool.fix(int(order["fix"]))

    def _climb(self) -> None:
        """Switch to a faster machine, if one is ready."""
        if self._kaskade is not None and self._pool is not None and self._machine is not None:
            machine = self._kaskade.best()
            if machine is not self._machine:
                self._machine = machine
                self._pool.set_machine(machine)

    def _read(self, number: int) -> tuple[Message, Arrays]:
        self._climb()
        pool = self._pool
        if pool is None or number != self._root or not self._match:
            return {"number": -1}, ()
        pool.mend()
        merged = merge(self._counts, pool.read())
        lines = [[value, " ".join(map(str, terms))] for value, terms in pool.lines()]
        answer = {"number": number, "lines": lines, **_scalars(merged)}
        return answer, (merged.visits, merged.totals, merged.proven)


def _scalars(known: RootStatistics) -> dict[str, Any]:
    names = "counts", "playouts", "nodes", "depth", "value", "mixed"
    return {name: getattr(known, name) for name in names}


def _here(tuning: Tuning) -> Tuning:
    """The tuning without knowledge from files that are not here, but on the player's computer."""
    if tuning.knowledge in (AUTO, OFF) or Path(tuning.knowledge).exists():
        return tuning
    return replace(tuning, knowledge=OFF, knowledge_share=None, looks=None)
