"""The thread of a match process in which the player thinks, and moves up to faster machines.

The thread that follows the match (:mod:`ggp.match_process`) never waits for it: whatever happens
here, in compilers, grounders and players, that one still knows the state and a legal move.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from gdl.errors import GdlError
from gdl.machine import Machine
from gdl.parser import parse_rules
from gdl.rules import Rules
from gdl.state import State
from gdl.terms import Term
from ggp.limits import WARM_UP_GAMES, describe
from ggp.machine_builder import Builder
from players.player import Player

START_SHARE = 0.7
"""Share of the startclock for which the player waits for the fast machine before it begins. The
prover searches hundreds of times slower, so waiting costs little."""

TURN_SHARE = 0.5
"""Share of a turn's time for which it waits, where the startclock was too short."""

Send = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Position:
    """A state, to be rebuilt on any machine, and what is legal for our role in it."""

    propositions: frozenset[Term]
    options: frozenset[Term]


def make_player(name: str, seed: int) -> Player:
    """A player by its registered name, or any class by ``module:Class``.

    Raises:
        GdlError: there is no such player.
    """
    if ":" not in name:
        from players.registry import make_player as registered

        return registered(name, seed)
    module, _, kind = name.partition(":")
    try:
        made = getattr(import_module(module), kind)(seed=seed)
    except (ImportError, AttributeError, TypeError) as error:
        raise GdlError(f"there is no player {name}: {error}") from None
    if not isinstance(made, Player):
        raise GdlError(f"{name} is no player")
    return made


class Thinker:
    """Does one thing after another in a thread of its own; answers by ``send``.

    Args:
        send: takes a kind of message and its fields, as the server reads them.
        player: the player that will be asked for; it is warmed up.
        level: the machine that will be asked for.
    """

    def __init__(self, send: Send, player: str, level: str) -> None:
        self._send = send
        self._tasks: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._player: Player | None = None
        self._machine: Machine | None = None
        level = "propnet" if level == "auto" else level
        self._builder = None if level == "prover" else Builder(level)
        self._building = False
        self._role = 0
        # Players from outside this program may hang: they are not tried.
        if ":" not in player:
            self._tasks.put(lambda: self._warm_up(player, level))
        threading.Thread(target=self._run, daemon=True, name="thinker").start()

    def start(
        self,
        rules: Rules,
        text: str,
        role: int,
        position: Position,
        *,
        player: str,
        seed: int,
        fast: bool,
        startclock: float,
        deadline: float,
    ) -> None:
        """Begin to build the fast machine now, if it is wanted; prepare, then send ``ready``."""
        self._role = role
        if fast and self._builder is not None:
            self._builder.begin(text)
            self._building = True
        self._tasks.put(lambda: self._start(rules, position, player, seed, startclock, deadline))

    def choose(self, turn: int, position: Position, safe: str, deadline: float) -> None:
        """Send ``move`` for a turn before the deadline; ``safe`` where nothing better is found."""
        self._tasks.put(lambda: self._choose(turn, position, safe, deadline))

    def stop(self, seconds: float) -> None:
        """Stop the player and the builder, waiting at most that long."""
        if self._builder is not None:
            self._builder.close()
        stopped = threading.Event()

        def stop() -> None:
            if self._player is not None:
                self._player.stop()
            stopped.set()

        self._tasks.put(stop)
        stopped.wait(seconds)

    # --- in the thread ----------------------------------------------------------------------------
    def _run(self) -> None:
        while True:
            task = self._tasks.get()
            try:
                task()
            except Exception as error:
                self._log("error", "thinker failed", error=describe(error))

    def _warm_up(self, player: str, level: str) -> None:
        from players.machines import make_machine

        for game in WARM_UP_GAMES:
            machine = make_machine(parse_rules(game, "warm-up"), level)
            warmed = make_player(player, 0)
            state = machine.initial_state()
            warmed.start(machine, 0, state, 0.1, time.monotonic() + 0.1)
            warmed.choose(state, time.monotonic() + 0.1)
            warmed.stop()

    def _start(
        self, rules: Rules, position: Position, player: str, seed: int, startclock: float, deadline: float
    ) -> None:
        self._await_machine(deadline, START_SHARE)
        if self._machine is None:
            from gdl.prover import ProverMachine

            self._machine = ProverMachine(rules)
        made = make_player(player, seed)
        try:
            made.start(self._machine, self._role, self._state(position), startclock, deadline)
        except Exception as error:
            self._log("error", "player cannot start", error=describe(error))
        self._player = made
        self._send("ready", machine=self._machine.level)

    def _choose(self, turn: int, position: Position, safe: str, deadline: float) -> None:
        if time.monotonic() >= deadline:
            return  # something took too long, and the watchdog has answered
        note = ""
        self._await_machine(deadline, TURN_SHARE)
        if self._player is not None and self._machine is not None:
            try:
                choice = self._player.choose(self._state(position), deadline)
                move = self._machine.move(self._role, choice.move)
                if move in position.options:
                    safe, note = self._machine.rules.spell(move), choice.note
                else:
                    self._log("error", "player chose an illegal move", move=str(move))
            except Exception as error:
                self._log("error", "player failed", error=describe(error))
        self._send("move", id=turn, move=safe, again=False, note=note)

    def _state(self, position: Position) -> State:
        assert self._machine is not None
        return self._machine.state_of(position.propositions)

    def _await_machine(self, deadline: float, share: float) -> None:
        """Go over to the fast machine if it becomes ready within a share of the time left."""
        builder = self._builder
        if builder is None or not self._building:
            return
        if not builder.wait((deadline - time.monotonic()) * share):
            return
        self._building = False
        try:
            machine = builder.machine()
            if self._player is not None:
                self._player.update_machine(machine)
        except GdlError as error:
            self._log("warning", "no fast machine", error=str(error))
            return
        self._machine = machine
        self._log("info", "moved up", machine=machine.level)

    def _log(self, level: str, event: str, **fields: object) -> None:
        self._send("log", level=level, event=event, fields=fields)
