"""Players that misbehave, for the tests of tournaments: ``odd_players:...``."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from gdl.machine import State
from gdl.terms import Term
from players.player import Choice, Player


class Quick(Player):
    """Answers at once; the state's own last move."""

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        return Choice(self.in_order(options)[-1])


class Brisk(Quick):
    """Takes a twentieth of a second for each move."""

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        time.sleep(0.05)
        return super().decide(state, options, deadline)


class Slow(Quick):
    """Takes a third of a second for each move."""

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        time.sleep(0.3)
        return super().decide(state, options, deadline)


class _Healthy(Quick):
    """Well while it is warmed up, which is recognised by the seed: matches have others."""

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        if self.seed:
            self.fail()
        return super().decide(state, options, deadline)

    def fail(self) -> None:
        """What goes wrong."""


class Hanging(_Healthy):
    """Never answers."""

    def fail(self) -> None:
        time.sleep(3600)


class Stumbling(_Healthy):
    """Thinks half a second longer than it may, the first time."""

    stumbles = True

    def fail(self) -> None:
        if self.stumbles:
            self.stumbles = False
            time.sleep(0.7)


class Recovering(_Healthy):
    """Takes its process down, but a second one goes on: the file that the environment names tells."""

    def fail(self) -> None:
        mark = Path(os.environ["RECOVERING"]) / str(self.seed)
        if not mark.exists():
            mark.touch()
            os._exit(3)


class Raising(_Healthy):
    """Fails whenever it is asked."""

    def fail(self) -> None:
        raise ZeroDivisionError("this player is broken")


class Crashing(_Healthy):
    """Takes its process down."""

    def fail(self) -> None:
        os._exit(3)


class Killed(_Healthy):
    """Is killed, as by a system that is short of memory."""

    def fail(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class Refusing(Quick):
    """Cannot be made."""

    def __init__(self, **_: object) -> None:
        raise RuntimeError("no weights")


class Cheater(Quick):
    """Answers with a move that there is not, always."""

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        return Choice(10**6)


class Inventing(_Healthy):
    """Answers with a move that there is not, in matches."""

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        return Choice(10**6) if self.seed else super().decide(state, options, deadline)


class Pinned(_Healthy):
    """Fails if it may run on more than one core."""

    def fail(self) -> None:
        if len(os.sched_getaffinity(0)) != 1:
            raise RuntimeError("more than one core")


class Cheating(Quick):
    """Passes when it is its turn."""

    def choose(self, state: State, deadline: float) -> Choice:
        return Choice(state.machine.move_id(self.role, Term("noop")))
