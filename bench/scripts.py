"""Helpers of the scripts here: command lines, intervals, clocks and matches. No script: others use it."""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gdl.machine import Machine, State
from players.match import Match
from players.player import Choice, Player
from players.registry import make_player

Ask = Callable[[Match], Choice]
"""Chooses a role's move in the present state of a match."""


def command_line(text: str | None) -> argparse.ArgumentParser:
    """A parser whose help is a module's docstring."""
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)


def clocks_of_cpu_time() -> None:
    """From now on the clocks of players in this process count its CPU seconds."""
    time.monotonic = time.process_time  # type: ignore[assignment]


def half_width(values: Sequence[float]) -> float:
    """Half of the 95 % interval of a mean; 0 for a single value."""
    return 1.96 * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def processor() -> str:
    """The name of the processor, and of its widest vectors."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    flags = fields.get("flags", "").split()
    widest = next((name for name in ("avx512f", "avx2") if name in flags), "")
    return " ".join(filter(None, (fields.get("model name", platform.machine()), widest)))


def ready(
    name: str, seed: int, machine: Machine, role: int, state: State | None = None, startclock: float = 0.0
) -> Player:
    """A player that has had its startclock, in seconds, for a match from a state or the first one."""
    player, first = make_player(name, seed), machine.initial_state() if state is None else state
    player.start(machine, role, first, startclock, time.monotonic() + startclock)
    return player


def choosing(player: Player, seconds: float) -> Ask:
    """Ask a player, which has so many seconds for each move."""
    return lambda match: player.choose(match.state, time.monotonic() + seconds)


def play(match: Match, seats: Mapping[int, Ask]) -> Match:
    """Play a match until it is over or may not go on; roles that have no seat draw their moves."""
    while not (match.over or match.why):
        for role in match.waiting:
            match.answer(role, seats[role](match) if role in seats else Choice(match.draw(role)))
        match.make()
    return match
