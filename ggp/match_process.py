"""The process in which one match thinks; run as ``python -m ggp.match_process``.

It reads one JSON object per line from its standard input and writes one per line to its
standard output. When its input ends, the server is gone and so is this process at once,
whatever it is busy with. Deadlines are seconds of :func:`time.monotonic`, which all
processes of one machine share.

To it: ``start`` (rules, role, deadline...), ``play`` (moves, deadline), ``preview``, ``stop``.
From it: ``ready`` or ``refused`` (``clean`` where it can take another match), per
turn ``options`` (a safe move, before any search) and ``move``, at the end ``over``, and ``log``
at any time.
"""

from __future__ import annotations

import json
import os
import queue
import random
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from gdl.errors import GdlError, RulesError
from gdl.machine import Machine
from gdl.parser import parse_rules, parse_term
from ggp.position import Position
from players.player import Player

MEMORY_BYTES = 6 * 1024**3
"""Data that a match process may allocate: rules come from the network."""

SLICE = 0.5
"""Seconds of search after which it is looked whether a faster machine has become ready."""

BUILD_SHARE = 0.7
"""Share of the startclock for which the player waits for the fast machine before it begins."""

BUILDER = "builder"

Send = Callable[..., None]


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


class Builder(threading.Thread):
    """Makes the fast machine beside the thread that plays on the slow one."""

    def __init__(self, make: Callable[[], Machine]) -> None:
        super().__init__(daemon=True, name=BUILDER)
        self._make = make
        self.machine: Machine | None = None
        self.error = ""

    def run(self) -> None:
        try:
            self.machine = self._make()
        except GdlError as error:
            self.error = str(error)
        except Exception as error:
            self.error = _described(error)


class Match:
    """One match, seen by one role."""

    def __init__(self, message: dict[str, Any], send: Send) -> None:
        self._send = send
        rules = parse_rules(message["rules"], message["match"])
        from gdl.prover import ProverMachine

        self._player = make_player(message["player"], message["seed"])
        self._rng = random.Random(message["seed"])
        machine = ProverMachine(rules)
        role = _role_id(machine, message["role"])
        self._position = Position(machine, role, self._log)
        if machine.is_terminal(self._position.state):
            self._log("warning", "the game is over before it begins")
        elif not self._position.options():
            raise RulesError(f"{message['role']} has no legal move at the beginning")
        self._builder = self._begin_build(message["machine"])
        self._position.replay(message["history"])
        self._await_build(message["deadline"])
        self._player.start(
            self._position.machine,
            role,
            self._position.state,
            message["startclock"],
            message["deadline"],
        )
        send("ready", machine=self._position.machine.level)

    def play(self, message: dict[str, Any]) -> None:
        """Follow what was played, name a safe move at once, then search until the deadline."""
        position = self._position
        answered = message["answered"]
        self._take_machine()
        before = len(position.history)
        if message["advanced"]:
            position.resume(message["moves"])
        elif (
            not position.follow(message["moves"], answered, message["delivered"], message["late"])
            and answered is not None
        ):
            self._send("move", id=message["id"], move=answered, again=True)
            return
        options = position.options()
        safe = position.text(position.role, self._rng.choice(options)) if options else "nil"
        made = position.history[-1] if len(position.history) > before else None
        self._send("options", id=message["id"], safe=safe, count=len(options), made=made)
        note = ""
        if len(options) > 1:
            safe, note = self._choose(message["deadline"], safe)
        self._send("move", id=message["id"], move=safe, again=False, note=note)

    def stop(self, message: dict[str, Any]) -> None:
        """The match is over: report the goals and free what was held."""
        goals = self._position.finish(message["moves"])
        self._send("over", goals=goals, turns=len(self._position.history))
        self._player.stop()

    # --- moving up ------------------------------------------------------------------------------
    def _begin_build(self, level: str) -> Builder | None:
        if level == "prover":
            return None
        from players.machines import make_machine

        rules = self._position.machine.rules
        builder = Builder(lambda: make_machine(rules, "propnet" if level == "auto" else level))
        builder.start()
        return builder

    def _await_build(self, deadline: float) -> None:
        """The prover searches hundreds of times slower, so waiting costs little."""
        if self._builder is not None:
            self._builder.join(max(0.0, (deadline - time.monotonic()) * BUILD_SHARE))
        self._take_machine()

    def _take_machine(self) -> bool:
        builder = self._builder
        if builder is None or builder.is_alive():
            return False
        self._builder = None
        if builder.machine is None:
            self._log("warning", "no fast machine", error=builder.error)
            return False
        try:
            self._position.move_to(builder.machine)
        except GdlError as error:
            self._log("error", "fast machine refused", error=str(error))
            return False
        if hasattr(self._player, "machine"):
            self._player.update_machine(builder.machine)
        self._log("info", "moved up", machine=builder.machine.level)
        return True

    def _choose(self, deadline: float, safe: str) -> tuple[str, str]:
        position = self._position
        try:
            while True:
                building = self._builder is not None
                until = min(deadline, time.monotonic() + SLICE) if building else deadline
                choice = self._player.choose(position.state, until)
                safe = position.text(position.role, choice.move)
                if not building or time.monotonic() + 0.05 >= deadline:
                    return safe, choice.note
                self._take_machine()
        except Exception as error:
            self._log("error", "player failed", error=_described(error))
            return safe, ""

    def _log(self, level: str, event: str, **fields: object) -> None:
        self._send("log", level=level, event=event, fields=fields)


def _role_id(machine: Machine, name: str) -> int:
    try:
        return machine.role_id(parse_term(name))
    except GdlError as error:
        raise RulesError(error.message, remedy=error.remedy) from None


def _described(error: BaseException) -> str:
    """An unexpected error on one line, with the innermost place it came from."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = ""
    if trace is not None:
        place = f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}{place}"


# --- the process -------------------------------------------------------------------------------
def main() -> None:
    """Serve one match, or one preview, and end."""
    _limit_memory()
    # What libraries print must not mix with the messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lock = threading.Lock()

    def send(kind: str, **fields: object) -> None:
        line = json.dumps({"kind": kind, **fields}).encode() + b"\n"
        with lock:
            out.write(line)
            out.flush()

    def refuse(message: dict[str, Any], error: str) -> None:
        clean = not any(thread.name == BUILDER for thread in threading.enumerate())
        send("refused", error=error, turn=message.get("id"), clean=clean)

    inbox: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(inbox,), daemon=True, name="listener").start()
    _warm_up(sys.argv[1] if len(sys.argv) > 1 else "", sys.argv[2] if len(sys.argv) > 2 else "auto")
    match: Match | None = None
    while True:
        message = inbox.get()
        try:
            match message["do"]:
                case "start":
                    match = Match(message, send)
                case "preview":
                    _preview(message)
                    send("ready", machine="")
                case "play" if match is not None:
                    match.play(message)
                case "stop":
                    if match is not None:
                        match.stop(message)
                    break
        except (BrokenPipeError, KeyboardInterrupt):
            break
        except GdlError as error:
            refuse(message, str(error))
        except (MemoryError, RecursionError):
            refuse(message, "these rules need more memory than a match may take")
        except Exception as error:
            refuse(message, f"internal error, {_described(error)}")
    out.flush()
    # Threads that still build must not keep the process.
    os._exit(0)


def _preview(message: dict[str, Any]) -> None:
    from gdl.prover import ProverMachine

    machine = ProverMachine(parse_rules(message["rules"], "preview"))
    machine.initial_state()


def _listen(inbox: queue.SimpleQueue[dict[str, Any]]) -> None:
    for line in sys.stdin.buffer:
        inbox.put(json.loads(line))
    os._exit(0)


def _warm_up(player: str, level: str) -> None:
    """Import what a match will need, while nobody waits for it."""
    import_module("gdl.prover")
    if level != "prover":
        import_module("players.machines")
    if player:
        try:
            make_player(player, 0)
        except GdlError:
            return  # the START message will say it


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on this platform
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


if __name__ == "__main__":
    main()
