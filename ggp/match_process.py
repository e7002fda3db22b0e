"""The process in which one match is followed and thought about: ``python -m ggp.match_process``.

It reads one JSON object per line from its standard input and writes one per line to its
standard output. When its input ends, the server is gone and so is this process at once,
whatever it is busy with. Deadlines are seconds of :func:`time.monotonic`, which all
processes of one machine share.

To it: ``start`` (rules, role, deadline...), ``play`` (moves, deadline), ``preview``, ``stop``.
From it: ``ready`` or ``refused`` (``clean`` where it can take another match), ``game`` (what kind of
game it seems to be), per turn
``options`` (a safe move, before any search) and ``move``, at the end ``over``, and ``log`` at any
time.

The main thread follows the match on a prover of its own; the player thinks in another
(:mod:`ggp.thinker`).
"""

from __future__ import annotations

import json
import os
import queue
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

from gdl.errors import GdlError, RulesError
from gdl.machine import Machine
from gdl.parser import parse_rules, parse_term
from gdl.prover import ProverMachine
from ggp.ledger import Ledger
from ggp.thinker import Position, Thinker
from players.limits import describe, limit_memory

MEMORY_BYTES = 6 * 1024**3
"""Data that a match process may allocate: rules come from the network."""

STOP_SECONDS = 1.0
"""How long the player may take to free what it holds."""

Message = dict[str, Any]
Send = Callable[..., None]


class Match:
    """One match, followed for one role.

    Raises:
        GdlError: the match cannot be played.
    """

    def __init__(self, message: Message, thinker: Thinker, send: Send) -> None:
        self._send = send
        self._thinker = thinker
        self._rng = random.Random(message["seed"])
        rules = parse_rules(message["rules"], message["match"])
        thinker.begin(rules, message["rules"], message["fast"])
        machine = ProverMachine(rules)
        ledger = Ledger(machine, _role_id(machine, message["role"]), self._log)
        if machine.is_terminal(ledger.state):
            self._log("warning", "the game is over before it begins")
        elif not ledger.options():
            raise RulesError(f"{message['role']} has no legal move at the beginning")
        self._ledger = ledger
        ledger.replay(message["history"])
        thinker.start(
            ledger.role,
            self._position(ledger.options()),
            message["player"],
            message["seed"],
            message["startclock"],
            message["deadline"],
        )

    def play(self, message: Message) -> None:
        """Follow what was played, name a safe move at once, and have a better one searched."""
        ledger = self._ledger
        turn, answered = message["id"], message["answered"]
        before = len(ledger.history)
        if message["advanced"]:
            ledger.resume(message["moves"])
            before -= message["moves"] is not None
        elif (
            not ledger.follow(message["moves"], answered, message["delivered"], message["late"])
            and answered is not None
        ):
            self._send("move", id=turn, move=answered, again=True)
            return
        options = ledger.options()
        safe = ledger.text(ledger.role, self._rng.choice(options)) if options else "nil"
        made = ledger.history[-1] if len(ledger.history) > before else None
        self._send("options", id=turn, safe=safe, made=made)
        if len(options) > 1:
            self._thinker.choose(turn, self._position(options), safe, message["deadline"])
        else:
            self._send("move", id=turn, move=safe, again=False)

    def stop(self, message: Message) -> None:
        """The match is over: report the goals and free what was held."""
        goals = self._ledger.finish(message["moves"])
        self._send("over", goals=goals, turns=len(self._ledger.history))
        self._thinker.stop(STOP_SECONDS)

    def _position(self, options: list[int]) -> Position:
        ledger = self._ledger
        legal = frozenset(ledger.machine.move(ledger.role, move) for move in options)
        return Position(ledger.state.propositions, legal)

    def _log(self, level: str, event: str, **fields: object) -> None:
        self._send("log", level=level, event=event, fields=fields)


def _role_id(machine: Machine, name: str) -> int:
    try:
        return machine.role_id(parse_term(name))
    except GdlError as error:
        raise RulesError(error.message, remedy=error.remedy) from None


def main() -> None:
    """Serve one match, and end."""
    limit_memory(MEMORY_BYTES)
    # What libraries print must not mix with the messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lock = threading.Lock()

    def send(kind: str, **fields: object) -> None:
        line = json.dumps({"kind": kind, **fields}).encode() + b"\n"
        with lock:
            out.write(line)
            out.flush()

    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(inbox,), daemon=True, name="listener").start()
    player, machine = sys.argv[1:]
    thinker = Thinker(send, player, machine)
    match: Match | None = None
    while True:
        message = inbox.get()
        error = ""
        try:
            match message["do"]:
                case "start":
                    match = Match(message, thinker, send)
                case "preview":
                    ProverMachine(parse_rules(message["rules"], "preview")).initial_state()
                    send("ready", machine="")
                case "play" if match is not None:
                    match.play(message)
                case "stop":
                    if match is not None:
                        match.stop(message)
                    break
        except (BrokenPipeError, KeyboardInterrupt):
            break
        except GdlError as problem:
            error = str(problem)
        except (MemoryError, RecursionError):
            error = "these rules need more memory than a match may take"
        except Exception as problem:
            error = f"internal error, {describe(problem)}"
        if error:
            send("refused", error=error, turn=message.get("id"), clean=not thinker.begun)
    # Threads that still think or build must not keep the process.
    os._exit(0)


def _listen(inbox: queue.SimpleQueue[Message]) -> None:
    for line in sys.stdin.buffer:
        inbox.put(json.loads(line))
    os._exit(0)


if __name__ == "__main__":
    main()
