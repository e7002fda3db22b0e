"""The thread of a match process in which the player thinks, and changes to faster machines.

The main thread (:mod:`ggp.match_process.thinking_process`) never waits for this one: whatever compilers,
grounders and players do here, the main thread knows the state and a legal move.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.rules import Rules
from gdl.terms import Term
from gdl.visible import without_folders
from gdl.words import counted
from ggp.processes.parent import Send
from ggp.warm import alone, warm_up
from players.belief.belief import Belief
from players.kaskade.kaskade import BOTTOM, FAILED, READY, Event, Kaskade
from players.kaskade.player import START_SHARE, KaskadePlayer
from players.kaskade.until_compiled import STAND_IN, UntilCompiled
from players.match import ask
from players.player import Choice, Player
from players.processes import launch
from players.processes.limits import describe
from players.registry import fitting, is_registered, make_player
from propnet.capabilities import lane_machine

ALOUD_SECONDS = 0.5
"""Seconds between two messages about the player's search."""
MOST_CANDIDATES = 12
"""Number of moves in such a message."""


@dataclass(frozen=True, slots=True)
class StateToRebuild:
    """A state, to be rebuilt on any machine, and the legal moves of our role in it. If information is hidden,
    it is a likely state, and ``belief`` holds the states that our role considers possible; it must not
    change."""

    propositions: frozenset[Term]
    options: frozenset[Term]
    belief: Belief | None = None


class Thinker:
    """Runs jobs one after the other in a thread of its own; answers by ``send``.

    Args:
        send: sends a message to the server.
        player: the name of the player that will be used; it is warmed up.
        level: the furthest machine that may be used.

    Attributes:
        begun: whether it has rules, and accepts no others.
        single: the first network as a machine for the thread that follows the match; None before.
    """

    def __init__(self, send: Send, player: str, level: str) -> None:
        self.begun = False
        self.single: Machine | None = None
        self._send = send
        self._tasks: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._player: Player | None = None
        self._kaskade = Kaskade(level, on_event=self._note)
        self._role = self._turn = 0
        self._aloud = 0.0
        self._best = -1
        self._options: frozenset[Term] = frozenset()
        self._shared: tuple[int, bool] | None = None
        self._warm = threading.Event()
        """Set when everything is compiled that the player needs in games of several roles."""
        self._warm_alone = threading.Event()
        """Set when everything is compiled that it needs in games of a single role."""
        self._needed = self._warm
        # Players from other packages may hang, so they are not warmed up.
        if not launch.warm and is_registered(player):
            threading.Thread(target=self._warm_up, args=(player, level), daemon=True, name="warm-up").start()
        else:
            self._warm.set()
            self._warm_alone.set()
        threading.Thread(target=self._run, daemon=True, name="thinker").start()

    def begin(self, rules: Rules, text: str, fast: bool) -> None:
        """Begin to build the fast machines if ``fast``. Call it once."""
        self.begun = True
        if not fast:
            self._kaskade.close(0.0)
            self._kaskade = Kaskade(BOTTOM, on_event=self._note)
        self._kaskade.begin(text, rules)

    def start(
        self, role: int, position: StateToRebuild, player: str, seed: int, startclock: float, deadline: float
    ) -> None:
        """Prepare, then send ``ready``."""
        self._role = role
        self._tasks.put(lambda: self._start(position, player, seed, startclock, deadline))

    def share(self, workers: int | None, ponder: bool) -> None:
        """Set the processors that the player may use from the next search on: see
        :meth:`players.player.Player.share`. Without a number the options in the player's name decide."""
        if workers is not None:
            self._tasks.put(lambda: self._share(workers, ponder))

    def choose(self, turn: int, position: StateToRebuild, safe: str, deadline: float) -> None:
        """Send ``move`` for a turn before the deadline; ``safe`` if no better move is found."""
        self._tasks.put(lambda: self._choose(turn, position, safe, deadline))

    def stop(self, seconds: float) -> None:
        """Stop the player and the builders within ``seconds``."""
        self._kaskade.close(0.0)
        stopped = threading.Event()

        def stop() -> None:
            if self._player is not None:
                self._player.stop()
            stopped.set()

        self._tasks.put(stop)
        stopped.wait(seconds)

    def _run(self) -> None:
        while True:
            task = self._tasks.get()
            try:
                task()
            except Exception as error:
                self._log("error", "thinker failed", error=describe(error))

    def _warm_up(self, player: str, level: str) -> None:
        try:
            warm_up(alone(player), level, self._warm.set)
        except Exception as error:  # it occurs in the match too, and is reported there
            self._log("warning", "no warm-up", error=describe(error))
        by_length()  # before a match begins, because it takes a while
        self._warm.set()
        self._warm_alone.set()

    def _start(
        self, position: StateToRebuild, player: str, seed: int, startclock: float, deadline: float
    ) -> None:
        began = time.monotonic()
        self._log("debug", "player", player=player, seed=seed, startclock=startclock)
        if len(self._kaskade.prover().roles) == 1:
            self._needed = self._warm_alone
        if not self._needed.wait(max(0.0, deadline - time.monotonic()) * START_SHARE):
            self._log("debug", "a stand-in begins", player=STAND_IN)
        stand_in = self._climbing(make_player(STAND_IN, seed))
        self._player = UntilCompiled(player, stand_in, lambda: self._make(player, seed), self._needed.is_set)
        self._player.on_progress = self._think_aloud
        state = self._state(position)
        try:
            self._player.start(state.machine, self._role, state, startclock, deadline)
        except Exception as error:
            self._log("error", "player cannot start", error=describe(error))
        level = self._kaskade.best().level
        used = time.monotonic() - began
        self._log("debug", "prepared", machine=level, seconds=f"{used:.2f}", rising=self._kaskade.rising)
        self._send("ready", machine=level)
        machine = self._kaskade.prover()
        name, roles = name_of(machine.rules), " ".join(map(machine.rules.spell, machine.roles))
        self._log("info", "game", name=name, roles=roles)
        self._send("game", name=name)

    def _share(self, workers: int, ponder: bool) -> None:
        self._shared = workers, ponder
        if self._player is not None:
            self._player.share(workers, ponder)

    def _share_network(self) -> None:
        """Make a machine of the first network for other threads, since a machine serves one thread at a
        time."""
        machine = lane_machine(self._kaskade.newest)
        if machine is None or self.single is not None:
            return
        from propnet.machine import PropnetMachine

        single = PropnetMachine(machine.rules, machine.network)
        try:
            state = single.initial_state()  # its first answers take long, so they come before a turn
            options = [single.legal_moves(state, role) for role in range(len(single.roles))]
            single.next_state(state, [moves[0] for moves in options if moves])
        except Exception as error:
            self._log("warning", "not followed on the network", error=describe(error))
            return
        self.single = single

    def _make(self, player: str, seed: int) -> Player:
        """The player, on the machines of the kaskade; a stand-in if it cannot be created."""
        defaults = {"workers": self._shared[0], "ponder": self._shared[1]} if self._shared else {}
        try:
            made = make_player(fitting(player, self._kaskade.prover()), seed, **defaults)
        except Exception as error:
            self._log("error", "player cannot be made", player=player, error=describe(error))
            made = make_player(STAND_IN, seed)
        return self._climbing(made)

    def _climbing(self, player: Player) -> Player:
        player.found_out = lambda text: self._log("debug", "found out", text=text)
        return KaskadePlayer(player, self._kaskade, on_up=self._moved_up)

    def _choose(self, turn: int, position: StateToRebuild, safe: str, deadline: float) -> None:
        if time.monotonic() >= deadline:
            return  # something took too long, and the watchdog has answered
        note = level = ""
        expects: float | None = None
        self._turn, self._aloud = turn, time.monotonic()
        self._best, self._options = -1, position.options
        if self._player is not None:
            try:
                state = self._state(position)
                # The follower's machine serves only the follower's thread.
                belief = None if position.belief is None else position.belief.rebuilt(state.machine)
                choice = ask(self._player, state, belief, deadline)
                level = self._player.machine.level
                move = state.machine.move(self._role, choice.move)
                if move in position.options:
                    safe, note = state.machine.rules.spell(move), choice.note
                    expects = choice.expects
                else:
                    self._log("error", "player chose an illegal move", move=str(move))
            except Exception as error:
                self._log("error", "player failed", error=describe(error))
        details = {"note": without_folders(note), "machine": level, "expects": expects}
        self._send("move", id=turn, move=safe, again=False, **details)

    def _think_aloud(self, choice: Choice) -> None:
        """Send the best move found whenever it changes, and the player's candidates now and then."""
        now, machine = time.monotonic(), self._kaskade.prover()
        if choice.move != self._best:
            self._best, move = choice.move, machine.move(self._role, choice.move)
            if move in self._options:
                self._send("best", id=self._turn, move=machine.rules.spell(move))
        if now < self._aloud + ALOUD_SECONDS or self._player is None:
            return
        self._aloud = now
        candidates = [
            [machine.rules.spell(machine.move(self._role, one.move)), one.visits, one.rounded(1)]
            for one in choice.candidates[:MOST_CANDIDATES]
        ]
        details = {
            "note": without_folders(choice.note),
            "machine": self._player.machine.level,
            "candidates": candidates,
        }
        self._send("search", turn=self._turn, expects=choice.expects, **details)

    def _state(self, position: StateToRebuild) -> State:
        # On the prover: every other machine is compared with it before it is used.
        return self._kaskade.prover().state_of(position.propositions)

    def _moved_up(self, machine: Machine) -> None:
        fast = lane_machine(machine)
        size = {"propositions": len(fast.network.bases), "moves": fast.network.move_count} if fast else {}
        self._log("debug", "moved up", machine=machine.level, **size)

    def _note(self, event: Event) -> None:
        """Log an event of the machines; from any thread."""
        fields = {"machine": event.level, "seconds": f"{event.seconds:.2f}"}
        if event.what == FAILED:
            self._log("warning", "no machine", **fields, reason=event.detail)
        else:
            self._log("debug", f"machine {event.what}", **fields)
            if event.what == READY:
                self._share_network()

    def _log(self, level: str, event: str, **fields: object) -> None:
        self._send("log", level=level, event=event, fields=fields)


def name_of(rules: Rules) -> str:
    """The name of the bundled game with these rules, in any order and with any words; otherwise ``unnamed, N
    rules``."""
    from players.knowledge.canonical_rules import canonical_names

    unnamed = f"unnamed, {counted(len(rules), 'rule')}"
    candidates = by_length().get(len(rules), ())
    try:
        fingerprint = canonical_names(rules).fingerprint if candidates else ""
    except GdlError:  # too long or too symmetric to be distinguished from others
        return unnamed
    return next((name for name in candidates if _fingerprint(name) == fingerprint), unnamed)


@cache
def by_length() -> dict[int, tuple[str, ...]]:
    """Number of rules -> the bundled games of that number. The first call takes a while."""
    from ggp.protocol.messages import split
    from ggp.rule_files import installed_games, read_rules_file

    found: dict[int, tuple[str, ...]] = {}
    for path in installed_games():
        with suppress(GdlError):
            number = len(split(read_rules_file(path)))
            found[number] = (*found.get(number, ()), path.stem)
    return found


@cache
def _fingerprint(name: str) -> str:
    from ggp.game import Game
    from players.knowledge.canonical_rules import canonical_names

    try:
        return canonical_names(Game.load(name).rules).fingerprint
    except GdlError:  # a file that is not a game
        return ""
