"""What tests of kaskades share: odd stages, a game, a log of what happened, looks at processes and files."""

from __future__ import annotations

import contextlib
import queue
from pathlib import Path

import pytest

from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from players.kaskade.builder import BuildJob
from players.kaskade.kaskade import Event
from players.kaskade.stages import Stage


class Named(ProverMachine):
    """A prover under another name."""

    def __init__(self, rules: Rules, level: str) -> None:
        super().__init__(rules)
        self.level = level


class Liar(Named):
    """Says that nothing is legal."""

    def legal_moves(self, state: State, role: int) -> list[int]:
        return []


def stage(level: str, function: str, **limits: float) -> Stage:
    """A stage whose machine is a prover, or whatever is delivered by name."""

    def load(rules: Rules, product: bytes, before: Machine | None) -> Machine:
        if product == b"liar":
            return Liar(rules, level)
        if product == b"unloadable":
            raise ZeroDivisionError("this cannot be loaded")
        return Named(rules, level)

    return Stage(level, BuildJob(f"tests.players.kaskade.odd_builders:{function}", **limits), load)  # type: ignore[arg-type]


# --- What tests of kaskades share: a game, a log of what happened, and looks at processes and files
LONG = 120.0
"""Seconds that nothing in these tests takes; waits end earlier, when what they wait for has happened."""

GAME = (
    "(role me) (init (n 0)) (legal me go) (legal me wait) (<= (next (n 1)) (does me go))"
    " (<= (next (n 0)) (does me wait)) (<= terminal (true (n 1))) (goal me 100)"
)

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


class Log:
    """What a kaskade tells, in order."""

    def __init__(self) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def __call__(self, event: Event) -> None:
        self.events.put(event)

    def all(self) -> list[Event]:
        events: list[Event] = []
        with contextlib.suppress(queue.Empty):
            while True:
                events.append(self.events.get_nowait())
        return events


def open_files() -> int:
    """How many files this process has open."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def children() -> list[int]:
    """The processes that this one has started and that are not gone, the dead ones among them."""
    try:
        return [int(pid) for pid in Path("/proc/thread-self/children").read_text(encoding="utf-8").split()]
    except OSError:
        return []
