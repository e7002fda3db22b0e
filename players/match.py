"""One match of a game (`Match`), and the loop that plays it between players in this process (`play_match`).

A match knows its state, its steps and the answers of the present turn. Its leader asks the roles that
:attr:`Match.waiting` names, in whatever way: players one after the other, a game manager over HTTP, a page of
people, searches by CPU time. Each answer goes to :meth:`Match.answer`; an answer that is late, illegal or
missing goes to :meth:`Match.replace`, which plays a random legal move. :meth:`Match.make` makes the joint
move. `Openings` are random beginnings, for pairs of matches with the roles exchanged.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from gdl.ends import no_goal, no_move
from gdl.errors import GdlError
from gdl.information import chance_role, hides
from gdl.machine import JointMove, Machine, State
from gdl.words import counted
from players.belief.belief import Belief, observed
from players.player import TOLERANCE, Choice, IllegalChoiceError, Player
from players.processes.limits import describe


class Undo(Exception):  # noqa: N818 - a wish, not an error
    """The person takes back a move."""


class Quit(Exception):  # noqa: N818 - a wish, not an error
    """The person leaves."""


@dataclass(slots=True)
class MatchStep:
    """One joint move.

    Attributes:
        number: from 1.
        state: where it was made.
        joint: the move id of each role.
        choices: the answers of the roles that had a choice.
        faults: role -> why its answer was replaced.
        late: role -> seconds past its clock, for answers that counted all the same.
        seconds: how long all answers took.
        words: each role's move in words, None for a move that only waits; empty until first used.
    """

    number: int
    state: State
    joint: tuple[int, ...]
    choices: dict[int, Choice] = field(default_factory=dict)
    faults: dict[int, str] = field(default_factory=dict)
    late: dict[int, float] = field(default_factory=dict)
    seconds: float = 0.0
    words: list[str | None] = field(default_factory=list)


class MatchClosing(NamedTuple):
    """An end that the rules do not know: a role gave up or ran out of time, or all agreed.

    Attributes:
        text: why, and who has won.
        goals: the goal value of each role.
    """

    text: str
    goals: tuple[int, ...]


class Match:
    """A match that begins in a state, by default the initial one.

    Args:
        rng: draws the moves of chance, and those in place of answers that do not count.
        max_steps: the match is cut after this many joint moves.

    Attributes:
        chance: the role of chance, whose moves its leader may draw; None if there is none.
        steps: the joint moves; after :meth:`go_to` also those that were taken back.
        at: the number of steps before :attr:`state`.
        state: the present state.
        over: whether it is terminal.
        options: the legal moves of each role in it; empty if it is terminal.
        choices: the answers of this turn; ``faults`` and ``late`` as in :class:`MatchStep`.
    """

    def __init__(
        self,
        machine: Machine,
        rng: random.Random | None = None,
        *,
        state: State | None = None,
        max_steps: int | None = None,
    ) -> None:
        self.machine = machine
        self.rng = rng or random.Random()
        self.chance = chance_role(machine.roles)
        self.steps: list[MatchStep] = []
        self._closing: MatchClosing | None = None
        self._most = max_steps
        self._last = machine.initial_state() if state is None else state
        self.go_to(0)

    def go_to(self, number: int) -> None:
        """Stand in the state after this many steps. Later steps are forgotten once another one is made."""
        self.at = number
        self.state = self.steps[number].state if number < len(self.steps) else self._last
        self.over = self.machine.is_terminal(self.state)
        self.options = () if self.over else self.machine.options(self.state)
        self.forget()

    def forget(self) -> None:
        """Drop the answers of this turn."""
        self.choices: dict[int, Choice] = {}
        self.faults: dict[int, str] = {}
        self.late: dict[int, float] = {}
        self._began = time.monotonic()

    @property
    def states(self) -> list[State]:
        """The states before all steps, and the last one."""
        return [*(step.state for step in self.steps), self._last]

    @property
    def stuck(self) -> list[int]:
        """The roles that have no legal move although the match is not over."""
        return [role for role, moves in enumerate(self.options) if not moves]

    @property
    def closed(self) -> MatchClosing | None:
        """The end in the present state, if the match was closed there."""
        return self._closing if self.at == len(self.steps) else None

    def close(self, text: str, goals: Sequence[int]) -> None:
        """End the match in the present state, although the rules go on. Another move from here or from an
        earlier step takes this end back."""
        del self.steps[self.at :]
        self._last = self.state
        self._closing = MatchClosing(text, tuple(goals))
        self.forget()

    @property
    def why(self) -> str:
        """Why the match cannot go on, although the rules say nothing of an end; empty if it can."""
        if self.over:
            return ""
        if self.closed is not None:
            return self.closed.text
        if self.stuck:
            return f"{no_move(self.state, self.stuck)}: the match cannot go on"
        if self._most is not None and self.at >= self._most:
            return f"cut after {counted(self._most, 'step')}, the limit of steps: the match is not over"
        return ""

    @property
    def waiting(self) -> list[int]:
        """The roles that have a choice and have not answered."""
        return [
            role for role, moves in enumerate(self.options) if len(moves) > 1 and role not in self.choices
        ]

    def answer(self, role: int, choice: Choice) -> None:
        """Take a role's answer. Raises IllegalChoiceError if the move is not legal."""
        if choice.move not in self.options[role]:
            raise IllegalChoiceError(f"the move of {self.machine.role_names[role]} is not legal")
        if len(self.options[role]) > 1:
            self.choices[role] = choice

    def replace(self, role: int, fault: str) -> None:
        """Draw a move in place of an answer that is late, illegal or missing."""
        move = self.draw(role)
        self.faults[role] = fault
        if len(self.options[role]) > 1:
            self.choices[role] = Choice(move)

    def in_order(self, role: int) -> list[int]:
        """A role's legal moves in the order of their text: ids differ between machines."""
        return self.machine.in_order(role, self.options[role])

    def draw(self, role: int) -> int:
        """A random legal move."""
        return self.rng.choice(self.in_order(role))

    def make(self) -> MatchStep:
        """Make the joint move: the answers, and for the other roles the only legal moves."""
        chosen = self.choices
        joint = tuple(
            chosen[role].move if role in chosen else moves[0] for role, moves in enumerate(self.options)
        )
        del self.steps[self.at :]
        seconds = time.monotonic() - self._began
        step = MatchStep(self.at + 1, self.state, joint, chosen, self.faults, self.late, seconds)
        return self._goes(step)

    def replay(self, joint: Sequence[int]) -> MatchStep:
        """Make a joint move that was chosen elsewhere."""
        del self.steps[self.at :]
        return self._goes(MatchStep(self.at + 1, self.state, tuple(joint)))

    def _goes(self, step: MatchStep) -> MatchStep:
        self.steps.append(step)
        self._closing = None
        self._last = self.machine.next_state(step.state, step.joint)
        self.go_to(step.number)
        return step

    @property
    def results(self) -> list[int]:
        """The result of each role in the present state, 0 where the rules give none."""
        if self.closed is not None:
            return list(self.closed.goals)
        return [self.machine.result(self.state, role) or 0 for role in range(len(self.machine.roles))]

    @property
    def doubts(self) -> list[str]:
        """Why roles have no goal value at the end, or not only one. Other states need no goals."""
        return doubts_of(self.state)


def doubts_of(state: State) -> list[str]:
    """Why roles have no goal value in a terminal state, or not only one; empty for other states."""
    machine = state.machine
    roles = range(len(machine.roles)) if machine.is_terminal(state) else ()
    chance = chance_role(machine.roles)
    return [no_goal(state, role) for role in roles if role != chance and machine.goal(state, role) is None]


class MatchView:
    """Shows a match between ``players``, one per role, as it goes; this base class shows nothing. ``chance``
    is the role of chance, or None."""

    def __init__(self, machine: Machine, players: Sequence[Player]) -> None:
        self.machine = machine
        self.players = players
        self.roles = machine.role_names
        self.chance = chance_role(machine.roles)
        self._began = time.monotonic()
        self._late: dict[int, list[float]] = {}

    def move_name(self, role: int, move: int) -> str:
        """A move as the rules spell it."""
        return self.machine.rules.spell(self.machine.move(role, move))

    @property
    def seconds(self) -> float:
        """Since the view was made."""
        return time.monotonic() - self._began

    def preparing(self, role: int, deadline: float) -> None:
        """The player of a role begins to use the startclock."""

    def position(self, steps: int, state: State, before: State | None) -> None:
        """Called at each state, the last one too; ``steps`` counts the joint moves that led to it, from the
        state ``before`` the last of them."""

    def thinking(self, role: int, deadline: float) -> None:
        """The player of a role begins to think about its move."""

    def step(self, step: MatchStep) -> None:
        """All have moved."""
        for role, late in step.late.items():
            self._late.setdefault(role, []).append(late)

    @property
    def lateness(self) -> list[str]:
        """Which players were late, how often; a line each."""
        return [
            f"{self.roles[role]} ({self.players[role].name}) was late with {counted(len(late), 'move')},"
            f" by up to {max(late):.1f} s: a tournament makes random moves instead"
            for role, late in sorted(self._late.items())
        ]

    def note(self, text: str) -> None:
        """Something people should know."""

    def perceived(self, role: int, belief: Belief) -> None:
        """In a game of hidden information: what a role believes after what it has seen last."""

    def end(self, state: State, steps: int, why: str) -> None:
        """The match is over; ``why`` says so if not by the rules."""


def ask(player: Player, state: State, belief: Belief | None, deadline: float) -> Choice:
    """A player's choice in a state, or in a game of hidden information by its belief."""
    return player.choose(state, deadline) if belief is None else player.choose_from(belief, deadline)


def play_match(
    machine: Machine,
    players: Sequence[Player],
    view: MatchView,
    prepared_by: float,
    playclock: float,
    max_steps: int | None = None,
) -> Match:
    """Play a match to its end, and return it. A late answer counts, and is noted.

    A role with a single legal move makes it without being asked.

    Args:
        machine: the rules.
        players: one per role.
        view: shows it.
        prepared_by: when the startclock is over; time.monotonic() seconds.
        playclock: seconds for each move.
        max_steps: stop after this many joint moves.
    """
    match = Match(machine, max_steps=max_steps)
    _prepare(match.state, players, view, prepared_by)
    hidden = hides(machine.rules)
    roles = [role for role in range(len(players)) if hidden and role != match.chance]
    beliefs = {role: Belief(machine, role) for role in roles}
    while True:
        view.position(match.at, match.state, match.steps[match.at - 1].state if match.at else None)
        if match.over or match.why:
            break
        try:
            _ask_all(match, players, view, beliefs, playclock)
        except Undo:
            match.forget()
            _take_back(match, players, view)
            continue
        step = match.make()
        view.step(step)
        if beliefs and not match.over:
            learnt = observed(step.state, step.joint)
            for role, belief in beliefs.items():
                belief.update(learnt[role], time.monotonic() + playclock)
                view.perceived(role, belief)
    view.end(match.state, match.at, match.why)
    for player in players:
        player.stop()
    return match


def _prepare(state: State, players: Sequence[Player], view: MatchView, prepared_by: float) -> None:
    """Start the players. They think one after the other, so each gets its share of the remaining time."""
    for role, player in enumerate(players):
        began = time.monotonic()
        seconds = max(prepared_by - began, 0.1) / (len(players) - role)
        view.preparing(role, began + seconds)
        with _blaming(player):
            player.start(state.machine, role, state, seconds, began + seconds)
        if (late := _late(player, began + seconds)) > 0:
            name = f"{view.machine.role_names[role]} ({player.name})"
            view.note(f"{name} prepared {late:.1f} s longer than the {seconds:.1f} s of its startclock")


def _ask_all(
    match: Match,
    players: Sequence[Player],
    view: MatchView,
    beliefs: Mapping[int, Belief],
    playclock: float,
) -> None:
    """Ask the players that have a choice."""
    for role in match.waiting:
        player, deadline = players[role], time.monotonic() + playclock
        view.thinking(role, deadline)
        with _blaming(player):
            match.answer(role, ask(player, match.state, beliefs.get(role), deadline))
        if late := _late(player, deadline):
            match.late[role] = late


def _take_back(match: Match, players: Sequence[Player], view: MatchView) -> None:
    """Go back to where a person had a choice last."""
    if hides(match.machine.rules):
        view.note("no move is taken back where information is hidden")
        return
    people = {role for role, player in enumerate(players) if not player.timed}
    back = next((step for step in reversed(match.steps[: match.at]) if people & step.choices.keys()), None)
    if back is None:
        view.note("there is nothing to take back")
    else:
        match.go_to(back.number - 1)


def _late(player: Player, deadline: float) -> float:
    """By how many seconds a player's answer is late, as a tournament counts it; people have all the time."""
    late = time.monotonic() - deadline
    return late if late > TOLERANCE and player.timed else 0.0


@contextmanager
def _blaming(player: Player) -> Iterator[None]:
    """Makes a GdlError, with the place, of whatever a player's own code raises."""
    try:
        yield
    except (GdlError, MemoryError, OSError, Quit, Undo):
        raise
    except Exception as error:
        raise GdlError(f"the player {player.name} failed: {describe(error)}") from error


_TRIES = 50
"""The number of openings tried if they end the match or are not new."""
_FORCED = 64
"""Joint moves without a choice after which an opening stops: rules may let all roles wait for ever."""


class Openings:
    """The openings of one game, one per round; they depend only on the rules, the seed and the plies.

    Args:
        machine: any machine of the game.
        plies: joint moves in which some role had a choice; none in one-player games, where a random move may
            spoil a puzzle.
        seed: of the random moves.
    """

    def __init__(self, machine: Machine, plies: int, seed: int) -> None:
        self._machine = machine
        self._plies = plies if len(machine.roles) > 1 else 0
        self._seed = seed
        self._known: list[tuple[JointMove, ...]] = []
        self._reached: set[State] = set()

    def of_round(self, number: int) -> tuple[JointMove, ...]:
        """The joint moves of a round's opening; rounds count from 1. They lead to a new position as long as
        random play finds one."""
        while len(self._known) < number:
            self._known.append(self._next())
        return self._known[number - 1]

    def state(self, number: int) -> State:
        """The state after the opening of a round."""
        state = self._machine.initial_state()
        for joint in self.of_round(number):
            state = self._machine.next_state(state, joint)
        return state

    def _next(self) -> tuple[JointMove, ...]:
        rng = random.Random(f"{self._seed} {len(self._known)}")
        best: tuple[JointMove, ...] = ()
        for _ in range(_TRIES if self._plies else 0):
            moves, end = self._walk(rng)
            if len(moves) > len(best) or not best:
                best = moves
            if end is not None and end not in self._reached:
                self._reached.add(end)
                return moves
        return best

    def _walk(self, rng: random.Random) -> tuple[tuple[JointMove, ...], State | None]:
        """A random walk that stops before the match would end, and the state it leads to; None if it had to
        stop early."""
        machine = self._machine
        state = machine.initial_state()
        walk: list[JointMove] = []
        plies = forced = 0
        while plies < self._plies:
            if forced == _FORCED:
                return tuple(walk[:-forced]), None
            options = machine.options(state)
            if not all(options):
                return tuple(walk), None
            joint = tuple(rng.choice(machine.in_order(role, moves)) for role, moves in enumerate(options))
            after = machine.next_state(state, joint)
            if machine.is_terminal(after):
                return tuple(walk), None
            chosen = any(len(moves) > 1 for moves in options)
            plies, forced = plies + chosen, 0 if chosen else forced + 1
            walk.append(joint)
            state = after
        return tuple(walk), state
