"""Players that misbehave, for the tests of the server: ``ggp serve --player slow_players:...``."""

from __future__ import annotations

import subprocess
import time

from gdl.machine import Machine, State
from players.baselines import LegalPlayer
from players.player import Choice, Player


class Sleeper(Player):
    """Sleeps through every deadline."""

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        time.sleep(3600)
        return Choice(options[0])


class Dazed(Player):
    """Knows its last move at once, says so, and sleeps through the deadline."""

    reports = True

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        if self.on_progress is not None:
            self.on_progress(Choice(self.in_order(options)[-1]))
        time.sleep(3600)
        return Choice(options[0])


class Punctual(Player):
    """Thinks up to the deadline."""

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        time.sleep(max(0.0, deadline - time.monotonic()))
        return Choice(self.in_order(options)[-1])


class Broken(Player):
    """Fails whenever it is asked."""

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        raise ZeroDivisionError("this player is broken")


class Unready(LegalPlayer):
    """Fails while it prepares."""

    def start(self, machine: Machine, role: int, state: State, startclock: float, deadline: float) -> None:
        raise ZeroDivisionError("this player cannot start")


class Dreamer(LegalPlayer):
    """Never comes to an end with its preparations."""

    def prepare(self, state: State, deadline: float) -> None:
        time.sleep(3600)


class LeavesProcess(LegalPlayer):
    """Leaves a process behind that does not end by itself."""

    def prepare(self, state: State, deadline: float) -> None:
        subprocess.Popen(["sleep", "1234"])
