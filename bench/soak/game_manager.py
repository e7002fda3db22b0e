"""A game manager that plays matches over HTTP with an exact clock, and trusts no reply.

One runs in each process, so that neither the prover that checks legality nor other matches disturb its clock.
The other roles move at random.
"""

from __future__ import annotations

import os
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext

from bench.soak.heartbeat import BEAT, Heartbeat
from gdl.errors import GdlError
from gdl.information import hides, playing
from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_term
from ggp.game import Game
from ggp.protocol import messages
from ggp.protocol.dialect import request_bytes
from players.processes.limits import FIRST, go_first, set_session

KINDS = ("too few moves", "too many moves", "no terms", "not legal", "long ago", "the turn before was other")
"""The last kind is legal in the state before: the manager might put itself right so, and is followed."""


def junk(
    kind: str, machine: Machine, played: Sequence[tuple[State, list[str]]], state: State, rng: random.Random
) -> str:
    """The moves of such a PLAY in ``state``, as GDL; ``played`` are the states before and the joint moves
    made in them. Where a kind has no example here, it is ``not legal``."""
    roles = range(len(machine.roles))
    spell = machine.rules.spell
    last = played[-1][1] if played else ["noop" for _ in roles]
    match kind:
        case "too few moves":
            return _list(last[1:])
        case "too many moves":
            return _list([*last, last[-1]])
        case "no terms":
            return _list([rng.choice(("()", "(())", "?x", "(f ?x)", "((a b) c)")) for _ in roles])
        case "long ago" if len(played) > 3:
            return _list(rng.choice(played[:-2])[1])
        case "the turn before was other" if played:
            before = played[-1][0]
            choices = [machine.legal_moves(before, role) for role in roles]
            return _list([spell(machine.move(role, rng.choice(moves))) for role, moves in enumerate(choices)])
    # Legal in no state.
    return _list(
        [f"(nonsense {move})" if rng.random() < 0.5 else move for move in last[:-1]] + ["(nonsense 1)"]
    )


def blind_junk(kind: str, turn: int, rng: random.Random) -> str:
    """What follows the match in such a PLAY where information is hidden, as GDL, when so many turns were
    made."""
    nonsense = "(nonsense 1) thunder"
    match kind:
        case "too few moves":
            return "0 NIL NIL"
        case "too many moves":
            return f"{turn} (a) (b) (c) ({nonsense})"
        case "no terms":
            return rng.choice([f"{turn} NIL ((()) ?x)", "((?x))", f"{turn} (f ?x) NIL", "(f ("])
        case "not legal":
            return f"{turn + 1000} (nonsense 1) ({nonsense})"
        case "long ago":
            return f"{max(0, turn - 3)} (nonsense 1) ({nonsense})"
    return f"{max(0, turn - 1)} (nonsense 1) ({nonsense})"


def _list(moves: Sequence[str]) -> str:
    return "(" + " ".join(moves) + ")" if moves else "NIL"


PATIENCE = 10.0
"""Seconds after its clock for which a reply is still waited for, to see how late it comes."""

BUSY_SECONDS = 1.0
"""How long a manager waits before it asks again."""

LONGEST = 60
"""Turns after which a match is ended."""


@dataclass
class SoakCounts:
    """What a game manager has counted.

    Attributes:
        turns: PLAY messages that were sent.
        late: replies after the clock, or never; ``late_starts`` those to START.
        stood_still: how long the manager itself did not run while it waited for late replies, at most,
            seconds: it goes before all others, so then the whole computer stood still.
        illegal: replies that are no legal move.
        junk: PLAYs sent besides that cannot be or are not so (:mod:`bench.soak.game_manager`).
        busy: matches that were refused by ``busy``: nothing is wrong.
        lost: matches that were refused otherwise, forgotten or whose connection broke.
        matches: how many were begun.
        slowest: the longest time to a reply to PLAY, seconds; ``times`` all of them.
        faults: what was wrong, in words; the first few.
    """

    turns: int = 0
    late: int = 0
    late_starts: int = 0
    stood_still: float = 0.0
    illegal: int = 0
    junk: int = 0
    busy: int = 0
    lost: int = 0
    matches: int = 0
    slowest: float = 0.0
    times: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)

    def add(self, other: SoakCounts) -> None:
        """Add another manager's counts."""
        for name in ("turns", "late", "late_starts", "illegal", "junk", "busy", "lost", "matches"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("times", "faults", "ends"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.slowest = max(self.slowest, other.slowest)
        self.stood_still = max(self.stood_still, other.stood_still)

    def fault(self, text: str) -> None:
        """Note something that is wrong."""
        if len(self.faults) < 20:
            self.faults.append(f"{time.strftime('%H:%M:%S')} {text}")


@dataclass(frozen=True, slots=True)
class SoakPlan:
    """What a game manager is to do.

    Attributes:
        name: begins the match ids.
        port: where the player listens.
        games: played in turn, each time in another role.
        turns: how many PLAY messages to send.
        startclock, playclock: seconds.
        per_match: turns after which a match is ended.
        seed: what the other roles' moves come from.
        junk: share of turns before or during which a PLAY is sent that cannot be or is not so.
        kinds: how many kinds of them, in the order of :data:`bench.soak.game_manager.KINDS`.
    """

    name: str
    port: int
    games: tuple[str, ...]
    turns: int
    startclock: int
    playclock: int
    per_match: int = LONGEST
    seed: int = 0
    junk: float = 0.0
    kinds: int = len(KINDS) - 1


class Signals:
    """What all managers of a run tell and are told.

    Attributes:
        phases: int32, shape (managers,): what each waits for a reply to: a place in PHASES.
        over: set when they are to end.
    """

    PHASES = ("nothing", "START", "PLAY", "STOP")

    def __init__(self, managers: int, context: SpawnContext) -> None:
        self.phases = context.Array("i", managers, lock=False)
        self.over = context.Event()


class Reports:
    """What a role is told of a match: the joint move, or where information is hidden its percepts, in the
    dialect with numbers of turns or in the other one."""

    def __init__(self, match: str, machine: Machine, role: int, *, numbered: bool) -> None:
        self.hidden = hides(machine.rules)
        self._match, self._machine, self._role, self._numbered = match, machine, role, numbered
        self._turn = 0
        self._moves: list[str] | None = None
        self._percepts: list[str] = []

    def made(self, state: State, joint: Sequence[int], moves: list[str]) -> None:
        """A joint move has been made in this state, of these names."""
        self._turn += 1
        self._moves = moves
        if self.hidden:
            spell = self._machine.rules.spell
            self._percepts = [spell(p) for p in sorted(self._machine.percepts(state, joint)[self._role])]

    def message(self, command: str) -> str:
        """The PLAY or STOP that tells of the last joint move."""
        if not self.hidden:
            return messages.turn_request(command, self._match, self._moves)
        own = None if self._moves is None else self._moves[self._role]
        return messages.blind_request(
            command, self._match, self._turn, own, self._percepts, numbered=self._numbered
        )


class Manager:
    """Carries out a plan, as the manager of this ``number``.

    Attributes:
        counts: of what it has seen up to now.
    """

    def __init__(self, plan: SoakPlan, signals: Signals, number: int) -> None:
        self.plan = plan
        self._signals, self._number = signals, number
        self.counts = SoakCounts()
        self._random = random.Random(f"{plan.name} {plan.seed}")
        self._heartbeat = Heartbeat()
        self._heartbeat.start()

    def run(self) -> None:
        """Play matches until the turns are over."""
        games = self.plan.games
        number = 0
        while self.counts.turns < self.plan.turns and not self._signals.over.is_set():
            self._match(f"{self.plan.name}.{number}", games[number % len(games)], number // len(games))
            number += 1

    def _match(self, match: str, name: str, number: int) -> None:
        plan, counts = self.plan, self.counts
        game = Game.load(name)
        machine = ProverMachine(game.rules)
        state = machine.initial_state()
        roles = playing(machine.roles)
        role = roles[number % len(roles)]
        counts.matches += 1
        start = messages.start_request(
            match,
            game.rules.spell(machine.roles[role]),
            messages.spaced(game.text),
            plan.startclock,
            plan.playclock,
        )
        reply, seconds = self._ask(start, plan.startclock, "START")
        if reply == messages.BUSY and seconds <= plan.startclock:
            counts.busy += 1
            time.sleep(BUSY_SECONDS)
            return
        if reply != messages.READY:
            counts.lost += 1
            counts.fault(f"{match} {name} START: {reply[:200]!r} after {seconds:.3f} s")
            if reply:
                time.sleep(1.0)
                return
        elif seconds > plan.startclock:
            counts.late_starts += 1
            counts.fault(f"{match} {name} START: ready after {seconds:.3f} s")
        reports = Reports(match, machine, role, numbered=number // len(roles) % 2 == 0)
        moves: list[str] | None = None
        played: list[tuple[State, list[str]]] = []
        for turn in range(1, plan.per_match + 1):
            if machine.is_terminal(state) or counts.turns >= plan.turns or self._signals.over.is_set():
                break
            counts.turns += 1
            meanwhile = self._disturb(match, machine, played, state, reports)
            reply, seconds = self._ask(reports.message("PLAY"), plan.playclock, "PLAY")
            if meanwhile is not None:
                meanwhile.join()
            counts.times.append(seconds)
            counts.slowest = max(counts.slowest, seconds)
            if seconds > plan.playclock or not reply:
                counts.late += 1
                still = self._heartbeat.longest(seconds)
                counts.stood_still = max(counts.stood_still, still)
                told = f", this manager stood still for {still:.3f} s of them" if still > 5 * BEAT else ""
                counts.fault(f"{match} {name} turn {turn}: {reply[:50]!r} after {seconds:.3f} s{told}")
            legal = [machine.legal_moves(state, r) for r in range(len(machine.roles))]
            joint = [self._random.choice(options) for options in legal]
            move = _move(machine, role, reply)
            if move in legal[role]:
                joint[role] = move
            elif reply in (messages.BUSY, "") or reply.startswith("error"):
                counts.lost += 1
                counts.fault(f"{match} {name} turn {turn}: {reply[:200]!r}")
                break
            else:
                counts.illegal += 1
                counts.fault(f"{match} {name} turn {turn}: {reply[:100]!r} is not legal")
            moves = [machine.rules.spell(machine.move(r, m)) for r, m in enumerate(joint)]
            played.append((state, moves))
            reports.made(state, joint, moves)
            state = machine.next_state(state, joint)
        self._end(match, reports.message("STOP"), machine.is_terminal(state))

    def _disturb(
        self,
        match: str,
        machine: Machine,
        played: Sequence[tuple[State, list[str]]],
        state: State,
        reports: Reports,
    ) -> threading.Thread | None:
        """Send junk now, or in a thread while the next PLAY is thought about."""
        if self._random.random() >= self.plan.junk:
            return None
        kind = KINDS[self.counts.junk % self.plan.kinds]
        self.counts.junk += 1
        if reports.hidden:
            message = f"( PLAY {match} {blind_junk(kind, len(played), self._random)} )"
        else:
            message = f"( PLAY {match} {junk(kind, machine, played, state, self._random)} )"
        if self._random.random() < 0.5:
            self._ask(message, self.plan.playclock)
            return None
        waits = self._random.uniform(0.0, 0.5 * self.plan.playclock)
        thread = threading.Timer(waits, self._ask, (message, self.plan.playclock))
        thread.start()
        return thread

    def _end(self, match: str, stop: str, over: bool) -> None:
        abort = not over and self._random.random() < 0.5
        message = messages.abort_request(match) if abort else stop
        reply, _ = self._ask(message, self.plan.playclock, "STOP")
        self.counts.ends[reply[:20]] += 1
        if reply not in (messages.DONE, messages.ABORTED):
            self.counts.fault(f"{match} end: {reply[:100]!r}")

    def _ask(self, message: str, clock: float, phase: str = "") -> tuple[str, float]:
        """The body of the reply, empty for none; and how long it took from before connecting."""
        if not phase:
            return self._sent(message, clock)
        self._signals.phases[self._number] = Signals.PHASES.index(phase)
        try:
            return self._sent(message, clock)
        finally:
            self._signals.phases[self._number] = 0

    def _sent(self, message: str, clock: float) -> tuple[str, float]:
        data = request_bytes(message, "localhost", "player")
        answer = bytearray()
        began = time.monotonic()
        try:
            with socket.create_connection(("127.0.0.1", self.plan.port), timeout=clock + PATIENCE) as peer:
                peer.sendall(data)
                while chunk := peer.recv(65536):
                    answer += chunk
                seconds = time.monotonic() - began
        except OSError as error:
            self.counts.fault(f"{message[:40]}: {error}")
            return "", time.monotonic() - began
        return answer.partition(b"\r\n\r\n")[2].decode(), seconds


def _move(machine: Machine, role: int, text: str) -> int:
    """The id of a move; -1 where it is none."""
    try:
        return machine.move_id(role, parse_term(text))
    except GdlError:
        return -1


def manage(plan: SoakPlan, pipe: Connection, signals: Signals, number: int) -> None:
    """In a process of its own: carry out a plan, send the counts. It stands for another computer, whose clock
    does not wait for the processors of this one."""
    os.setsid()
    go_first()
    set_session(os.getpid(), -FIRST)
    manager = Manager(plan, signals, number)
    try:
        manager.run()
    finally:
        pipe.send(manager.counts)
