"""Follows one match on the prover for one role, and names a legal move in each turn before any search.

While it waits it looks a turn ahead: it finds a legal move after each of the joint moves that may come next.
With these moves the server has an answer even if this process is late, hangs or ends in the next turn. It
also plays at random (:class:`Practice`), so that the prover writes code for relations that appear or grow in
the course of a game before the match needs it. Random play that is unfinished when the match begins goes on
between its turns.
"""

from __future__ import annotations

import gc
import math
import random
import time
from collections import Counter, deque
from itertools import product
from typing import NamedTuple

from gdl.ends import RandomGames, difference, no_move
from gdl.errors import GdlError, RulesError
from gdl.information import hides
from gdl.machine import JointMove, Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_term
from ggp.match_process.blind_match import EFFORT, SECONDS, WORLDS, BlindMatch
from ggp.match_process.match_state import Log, MatchState
from ggp.processes.parent import JsonMessage, Send
from ggp.protocol.messages import NO_MOVE
from players.belief.belief import SHARE, Belief, observed
from players.processes.limits import describe

AHEAD = 64
"""The most joint moves that are examined in each turn, as far as AHEAD_SECONDS of CPU time allow."""
AHEAD_SECONDS = 0.08
_GUESSES = 8
"""The same limit if information is hidden: then the next joint move is only guessed."""


class Seen(NamedTuple):
    """The findings about the turn after this one.

    Attributes:
        turn: its number.
        replies: a legal move of our role after each of these joint moves.
        guess: a move that is legal after most of them.
    """

    turn: int
    replies: list[tuple[JointMove, int]]
    guess: int


class Foresight:
    """Looks one turn ahead, in steps of a few milliseconds each, between messages."""

    def __init__(self, machine: Machine, role: int, rng: random.Random, most: int = AHEAD) -> None:
        self._machine, self._role, self._rng, self._most = machine, role, rng, most
        self._state: State | None = None
        self._turn = 0
        self._spent = 0.0
        self._joints: list[JointMove] | None = None
        self._replies: list[tuple[JointMove, int]] = []
        self._legal: Counter[int] = Counter()

    def turn(self, number: int, state: State) -> None:
        """Begin a turn: the states after this one may come next."""
        self._turn, self._state = number, state
        self._joints = None
        self._spent = 0.0
        self._replies = []
        self._legal.clear()

    def step(self) -> bool:
        """Work for a few milliseconds; False if there is nothing left to do until the next turn."""
        if self._state is None:
            return False
        begun = time.process_time()
        try:
            more = self._look_ahead(self._state)
        except GdlError:  # if it matters, the match itself will meet it
            more, self._joints = False, []
        self._spent += time.process_time() - begun
        return more

    def seen(self) -> Seen | None:
        """The findings since the last call."""
        replies, self._replies = self._replies, []
        if not replies:
            return None
        return Seen(self._turn, replies, self._legal.most_common(1)[0][0])

    def _look_ahead(self, state: State) -> bool:
        machine = self._machine
        if self._joints is None:
            self._joints = [] if machine.is_terminal(state) else self._drawn(state)
        if not self._joints or self._spent >= AHEAD_SECONDS:
            return False
        joint = self._joints.pop()
        after = machine.next_state(state, joint)
        options = [] if machine.is_terminal(after) else machine.legal_moves(after, self._role)
        if options:
            self._replies.append((joint, self._rng.choice(options)))
            self._legal.update(options)
        return True

    def _drawn(self, state: State) -> list[JointMove]:
        """Joint moves that may come next, in random order: all, or some of many."""
        options = self._machine.options(state)
        if math.prod(map(len, options)) > self._most:
            return list({tuple(map(self._rng.choice, options)): None for _ in range(self._most)})
        joints = list(product(*options))
        self._rng.shuffle(joints)
        return joints


_MATCH_SECONDS = 4.0
"""CPU time in which the first of these games is played to its end: its last turns may be the most
expensive."""
PRACTICE_SECONDS, QUIET_SECONDS = 1.5, 0.3
"""CPU time for all of them; they end earlier after the second time without new code."""
_PACE_STEPS, _PACE_SECONDS = 8, 0.25
"""After this number of steps, or this CPU time, there is a first estimate of the time of a turn. Hidden
information is the exception: there the first turns show nothing, because a belief grows."""

MOST_CHARACTERS = 10_000
"""Total length of the names of relations that are sent to the server."""


class _HiddenGames(RandomGames):
    """Random games, and the beliefs of a role in them, as in a match."""

    def __init__(self, machine: Machine, role: int, seed: int) -> None:
        self._role = role
        super().__init__(machine, seed)

    def _begin(self) -> None:
        super()._begin()
        self._belief = Belief(self._machine, self._role, worlds=WORLDS, effort=EFFORT)

    def _go(self, joint: JointMove) -> None:
        machine, role, before = self._machine, self._role, self._state
        super()._go(joint)
        if not machine.is_terminal(self._state):
            self._belief.update(observed(before, joint)[role], time.monotonic() + SECONDS / SHARE)
            self._belief.legal_moves()


class Practice:
    """Plays random games in steps between messages, of a few milliseconds each, or of the length of a turn if
    information is hidden.

    Attributes:
        over: whether there is nothing left to do.
        whole: whether a game was played to its end, or for :data:`_MATCH_SECONDS`.
        pace: the longest of the steps, CPU seconds; None until it is representative of a match.
        lasting: the longest step without the time to write code, which is needed only once.
    """

    def __init__(self, machine: ProverMachine, role: int, seed: int) -> None:
        self._machine = machine
        self._hidden = hides(machine.rules)
        self._games = _HiddenGames(machine, role, seed) if self._hidden else RandomGames(machine, seed)
        self._steps, self._longest = 0, 0.0
        self._spent, self._quiet = 0.0, 0.0
        self.over = self.whole = False
        self.lasting = 0.0
        self.pace: float | None = None

    @property
    def large(self) -> list[str]:
        """Relations that another machine of these rules need not discover:
        :attr:`ProverMachine.large_relations`."""
        names = self._machine.large_relations
        return names if sum(map(len, names)) <= MOST_CHARACTERS else []

    def step(self) -> bool:
        """Play for a while. Returns whether there is more to do."""
        begun, writing = time.process_time(), self._machine.writing_seconds
        try:
            self.whole = self._games.step() or self.whole
        except GdlError:  # if it matters, the match itself will meet it
            self.over = True
        seconds, writing = time.process_time() - begun, self._machine.writing_seconds - writing
        self._steps, self._spent = self._steps + 1, self._spent + seconds
        self._quiet = 0.0 if writing else self._quiet + seconds
        self.whole = self.whole or self.over or self._spent >= _MATCH_SECONDS
        enough = self._spent >= PRACTICE_SECONDS or self._quiet >= QUIET_SECONDS
        self.over = self.over or (self.whole and enough)
        self._longest = max(self._longest, seconds)
        self.lasting = max(self.lasting, seconds - writing)
        begun_to_tell = self._steps >= _PACE_STEPS or self._spent >= _PACE_SECONDS
        if self.whole or (begun_to_tell and not self._hidden):
            self.pace = self._longest
        if self.over:
            # The objects that exist now last as long as the match: a garbage collection over them takes 0.2
            # s.
            gc.collect()
            gc.freeze()
        return not self.over


class Follower:
    """Follows the match that ``message`` describes, in a match process or a standby. ``ahead``: it looks
    ahead and plays at random while it waits. Raises GdlError if the match cannot be played."""

    def __init__(self, rules: Rules, message: JsonMessage, send: Send, ahead: bool = True) -> None:
        self._send = send
        self._rng = random.Random(message["seed"])
        machine = ProverMachine(rules, large=message.get("large", ()))
        try:
            role = machine.role_id(parse_term(message["role"]))
        except GdlError as error:
            raise RulesError(error.message, remedy=error.remedy) from None
        self.match = _match(machine, role, self._log)
        options = self.match.options()
        if machine.is_terminal(self.match.state):
            self._log("warning", "the game is over before it begins")
        elif not options:
            raise RulesError(no_move(self.match.state, [role]))
        most = AHEAD
        if isinstance(self.match, BlindMatch):
            self.match.replay(message["history"], message.get("answers", ()))
            most = _GUESSES
        else:
            self.match.replay(message["history"])
        self._foresight = Foresight(machine, role, self._rng, most)
        self._practice = Practice(machine, role, self._rng.getrandbits(32)) if ahead else None
        self._turn = 0
        if options and not message["history"]:
            # A process that is slow in the first turn, or ends before it, has sent a legal move for it.
            first = self.match.text(role, self._rng.choice(options))
            self._send("foreseen", id=0, replies=[(None, first)], guess=first)
        self._behind: MatchState | None = None
        self._unchecked: deque[JsonMessage] = deque()
        self._ahead = ahead

    def play(self, message: JsonMessage) -> tuple[list[int], str] | None:
        """Play the joint move that a PLAY reports, and send a safe move.

        Returns:
            The legal moves and the safe one. None if a PLAY was seen before or cannot be: then the previous
                answer is sent again.
        """
        begun = time.process_time()
        self._tell_ahead()
        match = self.match
        turn, moves, answered = message["id"], message["moves"], message["answered"]
        if self._behind is not None:
            self._unchecked.append(message)
        if isinstance(match, BlindMatch):
            match.on_first = lambda state: self._name_first(turn, state)
        new_turn = _advance(match, message)
        if not (message["advanced"] or new_turn or answered is None) and match.is_legal(answered):
            self._send("move", id=turn, move=answered, again=True, void=not match.reported(moves))
            return None
        options = match.options()
        self._turn = turn
        self._foresight.turn(turn, match.state)
        safe = match.text(match.role, self._rng.choice(options)) if options else NO_MOVE
        joint = match.history[-1] if new_turn and match.history else None
        self._send("options", id=turn, safe=safe, joint=joint, cpu=time.process_time() - begun)
        return options, safe

    def _name_first(self, turn: int, state: State) -> None:
        """Send a safe move for the first state that fits, if information is hidden: a role should have the
        same moves in all states that fit."""
        options = self.match.machine.legal_moves(state, self.match.role)
        if options:
            self._send("safe", id=turn, safe=self.match.text(self.match.role, self._rng.choice(options)))

    def look_ahead(self) -> bool:
        """Prepare for the next turn in a step of a few milliseconds; False if there is nothing left to do."""
        if self._unchecked:
            self._check()
            return True
        if self._ahead and self._foresight.step():
            return True
        self._tell_ahead()
        return self._practise()

    def _practise(self) -> bool:
        """Run a step of random games, if there are any left. Returns whether there are more."""
        practice = self._practice
        if practice is None or practice.over:
            return False
        before = practice.pace is not None, practice.whole
        more = practice.step()
        if practice.pace is not None and (before != (True, practice.whole) or not more):
            self._send("pace", cpu=practice.pace, lasting=practice.lasting, whole=practice.whole)
        if not more:
            self._send("practised", large=practice.large)
        return more

    def _tell_ahead(self) -> None:
        """Send legal moves for the joint moves that may come next."""
        seen, text = self._foresight.seen(), self.match.text
        if seen is not None:
            replies = [
                ([text(role, move) for role, move in enumerate(joint)], text(self.match.role, reply))
                for joint, reply in (() if isinstance(self.match, BlindMatch) else seen.replies)
            ]
            guess = text(self.match.role, seen.guess)
            self._send("foreseen", id=seen.turn, replies=replies, guess=guess)

    def move_to(self, machine: Machine) -> bool:
        """Follow the match on a faster machine from now on, if it agrees with the prover on the current state
        of the match. Returns whether it does. If information is hidden, the match stays on the prover.

        The prover follows behind: :meth:`look_ahead` compares the two in each turn, and returns to the prover
        if they differ."""
        if isinstance(self.match, BlindMatch):
            return False
        try:
            moved, fault = self.match.on(machine), difference(machine, self.match.state)
        except Exception as error:
            fault = describe(error)
        if fault:
            self._log("warning", "not followed on this machine", machine=machine.level, reason=fault)
            return False
        self._behind, self.match = self.match.muted(), moved
        # On this machine looking ahead takes almost no time.
        self._look_from(machine, True)
        return True

    def _look_from(self, machine: Machine, ahead: bool) -> None:
        """Look ahead on this machine from now on, or stop looking ahead."""
        self._ahead = ahead
        self._foresight = Foresight(machine, self.match.role, self._rng)
        if self._turn:
            self._foresight.turn(self._turn, self.match.state)

    def _check(self) -> None:
        """Let the prover play its next missing turn, and compare the two machines' states."""
        behind = self._behind
        assert behind is not None
        _advance(behind, self._unchecked.popleft())
        if self._unchecked:
            return
        try:
            same = self.match.state == behind.state and not difference(self.match.machine, behind.state)
        except GdlError:
            same = False
        if not same:
            self._log("error", "a machine is wrong", machine=self.match.machine.level)
            self.match, self._behind = behind, None
            self._look_from(behind.machine, False)

    def judge(self, message: JsonMessage) -> None:
        """Send whether a report could be followed, without following it."""
        self._send("verdict", question=message["question"], can_be=self.match.can_be(message["moves"]))

    def finish(self, message: JsonMessage) -> None:
        """End the match: report the goals."""
        goals = self.match.finish(message["moves"])
        self._send("over", goals=goals, turns=len(self.match.history))

    def _log(self, level: str, event: str, **fields: object) -> None:
        self._send("log", level=level, event=event, fields=fields)


def _match(machine: Machine, role: int, log: Log) -> MatchState | BlindMatch:
    """A match at its beginning, in the form that a role can follow."""
    return BlindMatch(machine, role, log) if hides(machine.rules) else MatchState(machine, role, log)


def _advance(match: MatchState | BlindMatch, message: JsonMessage) -> bool:
    """Take in the joint move that a PLAY reports. Returns whether it was a new turn."""
    moves = message["moves"]
    if message["advanced"]:
        return match.resume(moves)
    return match.follow(moves, message["answered"], message["delivered"], message["late"])
