"""What kind of game this is, for the log and the status page: a few random playouts on any machine at
first, and, when there is a network, what :mod:`propnet.analysis.classify` finds in a process of its own.

A survey is no proof: turns are called alternating, and sums constant, if nothing else was seen.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gdl.errors import GdlError
from gdl.machine import Machine
from players.kaskade.builder import Builder, BuildJob
from players.processes.limits import describe

if TYPE_CHECKING:
    from propnet.analysis.classify import Classification
    from propnet.network import Network

SINGLE = "single"
ALTERNATING = "alternating"
SIMULTANEOUS = "simultaneous"

MOST_PLAYOUTS = 16

WORK: Final = BuildJob(
    "propnet.analysis.classify:build_classification", seconds=120.0, cpu_seconds=30.0, memory=2 * 1024**3
)
"""How a game is classified."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What was seen.

    Attributes:
        roles: how many.
        options: how many joint moves there are at the beginning.
        turns: ``single`` for one role; ``simultaneous`` if several roles had a choice in one state.
        total: what the goals of all roles add up to at each end that was seen; None where they
            differ, or none was seen.
        states: how many states were seen, and ``ends`` how many of them at the end of a playout.
        length: the longest playout that came to its end, in joint moves; 0 if none did.
    """

    roles: int
    options: int
    turns: str
    total: int | None
    states: int
    ends: int
    length: int

    def __str__(self) -> str:
        words = [f"{self.roles} role{'s' if self.roles > 1 else ''}"]
        if self.roles > 1:
            words.append(self.turns)
            if self.ends:
                words.append("not constant-sum" if self.total is None else f"sum {self.total}")
        if self.length:
            words.append(f"{self.length} turns")
        return ", ".join(words)


class Classifier:
    """Classifies one game in a process of its own.

    Args:
        network: the game's.
        found: is told what was found, from a thread of its own.
        failed: is told why nothing was, unless it was stopped.
    """

    def __init__(
        self, network: Network, found: Callable[[Classification], None], failed: Callable[[str], None]
    ) -> None:
        self._network, self._found, self._failed = network, found, failed
        self._builder: Builder | None = None
        self._stopped = False
        self._starting = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True, name="classifier")
        self._thread.start()

    def stop(self) -> None:
        """End its process."""
        with self._starting:
            self._stopped = True
            if self._builder is not None:
                self._builder.kill()

    def join(self, seconds: float) -> None:
        """Wait for its end, at most so long."""
        self._thread.join(seconds)

    def _run(self) -> None:
        from propnet.analysis.classify import Classification
        from propnet.storage.network_bytes import to_bytes

        try:
            with self._starting:
                if self._stopped:
                    return
                builder = self._builder = Builder(WORK)
            for found in builder.build("", to_bytes(self._network)):
                if not self._stopped:
                    self._found(Classification.from_bytes(found))
        except (GdlError, OSError) as error:
            if not self._stopped:
                self._failed(describe(error))


def survey(machine: Machine, seconds: float, seed: int = 0) -> Survey:
    """Play at random for so many seconds, at least one step, and see.

    Raises:
        GdlError: the game cannot be played on.
    """
    end = time.monotonic() + seconds
    rng = random.Random(seed)
    roles = range(len(machine.roles))
    totals: set[int | None] = set()
    several = False
    first = states = ends = longest = 0
    for _ in range(MOST_PLAYOUTS):
        state = machine.initial_state()
        length = 0
        while not machine.is_terminal(state):
            options = [machine.legal_moves(state, role) for role in roles]
            if not states:
                first = 1
                for moves in options:
                    first *= len(moves)
            states += 1
            several |= sum(len(moves) > 1 for moves in options) > 1
            if time.monotonic() >= end or not all(options):
                break
            state = machine.next_state(state, [rng.choice(moves) for moves in options])
            length += 1
        else:
            goals = [machine.goal(state, role) for role in roles]
            totals.add(None if None in goals else sum(goal or 0 for goal in goals))
            ends += 1
            longest = max(longest, length)
        if time.monotonic() >= end:
            break
    turns = SINGLE if len(roles) == 1 else SIMULTANEOUS if several else ALTERNATING
    total = totals.pop() if len(totals) == 1 else None
    return Survey(len(roles), first, turns, total, states, ends, longest)
