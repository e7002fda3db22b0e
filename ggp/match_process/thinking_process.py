"""The process that follows one match and thinks.

It communicates with the server by :class:`ggp.processes.parent.Parent`. Deadlines are seconds of
:func:`time.monotonic`, which all processes of one computer share.

Messages to it: ``start`` (rules, role, deadline...), ``play`` (moves, deadline), ``judge`` (whether reported
moves can be), ``share`` (of the processors), ``preview``, ``stop``.

Messages from it: ``ready`` or ``refused`` (``clean`` if it can take another match), ``game`` (its ``name``,
or a ``text`` on its kind), per turn ``options`` (a safe move, before any search) and ``move``, ``verdict``,
at the end ``over``, and ``log`` at any time.

The main thread follows the match on a prover of its own, and on the network once it is built
(:mod:`ggp.match_process.match_follower`). The player thinks in another thread
(:mod:`ggp.match_process.player_thread`).
"""

from __future__ import annotations

import os
import sys

from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.match_process.blind_match import BlindMatch
from ggp.match_process.match_follower import Follower
from ggp.match_process.player_thread import StateToRebuild, Thinker
from ggp.processes.parent import Inbox, JsonMessage, Parent, Send, serve
from players.processes import launch
from players.processes.limits import limit_memory

MEMORY_BYTES = 6 * 1024**3
"""Limit of data of a match process in bytes: rules come from the network."""
STOP_SECONDS = 1.0
"""Seconds in which the player must free its resources."""


class _RoleMatch:
    """Follows one match for one role, and thinks about it. Raises GdlError if the match cannot be played."""

    def __init__(self, message: JsonMessage, thinker: Thinker, send: Send) -> None:
        self._send = send
        self._thinker = thinker
        rules = parse_rules(message["rules"], message["match"])
        thinker.begin(rules, message["rules"], message["fast"])
        self._follower = Follower(rules, message, send, ahead=False)
        self._moved = False
        share(thinker, message["share"])
        match = self._follower.match
        position, clocks = self._position(match.options()), (message["startclock"], message["deadline"])
        thinker.start(match.role, position, message["player"], message["seed"], *clocks)

    def play(self, message: JsonMessage) -> None:
        """Follow the joint move, name a safe move at once, and start the search for a better one."""
        self._move_on()
        followed = self._follower.play(message)
        if followed is None:
            return
        options, safe = followed
        if len(options) > 1:
            self._thinker.choose(message["id"], self._position(options), safe, message["deadline"])
        else:
            self._send("move", id=message["id"], move=safe, again=False)

    def look_ahead(self) -> bool:
        """See :meth:`Follower.look_ahead`."""
        self._move_on()
        return self._follower.look_ahead()

    def _move_on(self) -> None:
        """Follow the match on the first network that is built: a step on it takes a fraction of the prover's
        time, which the search has to wait for."""
        machine = self._thinker.single
        if machine is not None and not self._moved:
            self._moved = True
            self._follower.move_to(machine)

    def judge(self, message: JsonMessage) -> None:
        """See :meth:`Follower.judge`."""
        self._follower.judge(message)

    def stop(self, message: JsonMessage) -> None:
        """End the match: report the goals and free its resources."""
        self._follower.finish(message)
        self._thinker.stop(STOP_SECONDS)

    def _position(self, options: list[int]) -> StateToRebuild:
        match = self._follower.match
        legal = frozenset(match.machine.move(match.role, move) for move in options)
        belief = match.belief if isinstance(match, BlindMatch) else None
        return StateToRebuild(match.state.propositions, legal, belief)


def share(thinker: Thinker, message: JsonMessage) -> None:
    """Set the share of the processors that the server allows."""
    launch.give_way(message["behind"])
    thinker.share(message["workers"], message["ponder"])


def main() -> None:
    """Serve one match, and end."""
    limit_memory(MEMORY_BYTES)
    inbox = Inbox()
    send = Parent(inbox.put).send
    player, machine = sys.argv[1:]
    thinker = Thinker(send, player, machine)
    match: _RoleMatch | None = None

    def do(message: JsonMessage) -> None:
        nonlocal match
        match message["do"]:
            case "start":
                match = _RoleMatch(message, thinker, send)
            case "preview":
                ProverMachine(parse_rules(message["rules"], "preview")).initial_state()
                send("ready", machine="")
            case "play" if match is not None:
                match.play(message)
            case "share":
                share(thinker, message)
            case "judge" if match is not None:
                match.judge(message)
            case "stop" if match is not None:
                match.stop(message)

    serve(inbox, send, do, lambda: not thinker.begun, lambda: match is not None and match.look_ahead())
    # Threads that still think or build must not keep the process alive.
    os._exit(0)
