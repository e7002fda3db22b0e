"""The process of one local player.

It receives ``load`` (make a game and a player ready before any clock runs), ``start``, ``choose`` and
``stop``. It sends ``building``, ``built`` (the machine), ``loaded`` or ``refused``, ``ready``, and per turn
``move``, ``illegal`` or ``failed``. Deadlines are seconds of :func:`time.monotonic`, which all processes of
one computer share. The referee trusts none of these messages, and kills a process that does not answer.
"""

from __future__ import annotations

import functools
import time
from collections import OrderedDict

from gdl.errors import GdlError
from gdl.information import hides
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import Term
from ggp.processes.parent import Inbox, JsonMessage, Parent, leave
from ggp.tournament.process import END_SECONDS, pin
from players.belief.belief import Belief, Observed
from players.match import ask
from players.player import IllegalChoiceError, Player
from players.processes.limits import describe, limit_memory
from players.registry import fitting, make_player

MEMORY_BYTES = 8 * 1024**3
"""Data that a player may allocate."""
_MAX_MACHINES = 4
"""The number of machines kept from match to match."""
BUILD_SECONDS = 120.0
"""Seconds that the fastest machine may take; then the match is played on the machine that is ready."""
_WARM_UP_SECONDS = 0.2
"""Seconds that a player thinks once before its first match, so that everything is compiled and loaded."""
_WORKERS_SECONDS = 3.0
"""Seconds that a player with processes of its own thinks before each match: they are new in every one."""


class _PlayerService:
    """Handles the referee's messages, in one match after another."""

    def __init__(self, parent: Parent) -> None:
        self._parent = parent
        self._machines: OrderedDict[tuple[str, str], Machine] = OrderedDict()
        self._warm: set[tuple[str, str, str]] = set()
        self._player: Player | None = None
        self._state: State
        self._belief: Belief | None = None

    def load(self, message: JsonMessage) -> None:
        """Create the machine and the player, and let the player think for a moment."""
        pin(message["cores"])
        text, level, self._name = message["rules"], message["level"], message["player"]
        self._parent.send("building")
        self._machine = self._machine_of(text, level)
        self._parent.send("built")
        self.stop()
        if message["workers"]:
            self._player = make_player(fitting(self._name, self._machine), message["seed"])
            self._think(self._player, message["role"], _WORKERS_SECONDS)
        elif (text, level, self._name) not in self._warm:
            player = make_player(fitting(self._name, self._machine), 0)
            self._think(player, message["role"], _WARM_UP_SECONDS)
            player.stop()
        self._warm.add((text, level, self._name))
        self._parent.send("loaded", machine=self._machine.level)

    def start(self, message: JsonMessage) -> None:
        """Begin a match, after its opening."""
        self._role = message["role"]
        self._state = self._machine.initial_state()
        self._follow(message["moves"])
        if self._player is None:
            self._player = make_player(fitting(self._name, self._machine), message["seed"])
        self._belief = Belief(self._machine, self._role) if hides(self._machine.rules) else None
        if self._belief is not None:
            self._learn(self._belief, message)
        self._player.start(self._machine, self._role, self._state, message["startclock"], message["deadline"])
        self._parent.send("ready", id=message["id"])

    def choose(self, message: JsonMessage) -> None:
        """Answer with a move, after adding the joint moves made since the last time; if information is
        hidden, the role's percepts are added instead."""
        if self._player is None:
            raise RuntimeError("the player has not started")
        if self._belief is None:
            self._follow(message["moves"])
        else:
            self._learn(self._belief, message)
        choice = ask(self._player, self._state, self._belief, message["deadline"])
        move = self._machine.rules.spell(self._machine.move(self._role, choice.move))
        self._parent.send("move", id=message["id"], move=move, note=choice.note)

    def stop(self) -> None:
        """End the match."""
        player, self._player = self._player, None
        if player is not None:
            player.stop()

    def _think(self, player: Player, role: int, seconds: float) -> None:
        """Let a player think about the first position."""
        state = self._machine.initial_state()
        now = time.monotonic()
        player.start(self._machine, role, state, seconds / 2, now + seconds / 2)
        if self._machine.is_terminal(state):
            return
        belief = Belief(self._machine, role) if hides(self._machine.rules) else None
        ask(player, state, belief, now + seconds)

    def _follow(self, moves: list[list[str]]) -> None:
        for joint in moves:
            ids = [self._machine.move_id(role, _term(move)) for role, move in enumerate(joint)]
            self._state = self._machine.next_state(self._state, ids)

    def _learn(self, belief: Belief, message: JsonMessage) -> None:
        """Add the role's percepts since the last time to its belief."""
        for own, percepts in message.get("observed", ()):
            belief.update(Observed(_term(own), frozenset(map(_term, percepts))), message["deadline"])

    def _machine_of(self, text: str, level: str) -> Machine:
        key = (text, level)
        if key not in self._machines:
            self._machines[key] = _build(text, level)
            while len(self._machines) > _MAX_MACHINES:
                self._machines.popitem(last=False)[1].close()
        self._machines.move_to_end(key)
        return self._machines[key]


def _build(text: str, level: str) -> Machine:
    """The machine of a level; for ``auto`` the one that a served player would reach in a long match. Raises
    GdlError if there is none."""
    from players.kaskade.kaskade import AUTO, Kaskade
    from players.kaskade.make_machine import make_machine

    rules = parse_rules(text, "the rules")
    if level != AUTO:
        return make_machine(rules, level)
    with Kaskade() as kaskade:
        kaskade.begin(text, rules)
        kaskade.settle(BUILD_SECONDS)
        return kaskade.best()


@functools.lru_cache(maxsize=4096)
def _term(text: str) -> Term:
    return parse_term(text)


def main() -> None:
    """Serve one referee until it closes the connection."""
    limit_memory(MEMORY_BYTES)
    inbox = Inbox()
    parent = Parent(inbox.put, END_SECONDS)
    service = _PlayerService(parent)
    actions = {"load": service.load, "start": service.start, "choose": service.choose}
    do = ""
    while do != "end":
        message = inbox.get()
        do = message["do"]
        try:
            if do in actions:
                actions[do](message)
            else:
                service.stop()
        except (BrokenPipeError, KeyboardInterrupt):
            break
        except Exception as error:  # the player's own code: the referee gets an answer to any error
            illegal = isinstance(error, IllegalChoiceError)
            reason = str(error) if isinstance(error, GdlError) else describe(error)
            if do == "load":
                parent.send("refused", error=f"illegal move: {reason}" if illegal else reason)
            elif "id" in message:
                parent.send("illegal" if illegal else "failed", id=message["id"], error=reason)
    leave()
