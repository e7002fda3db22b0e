"""A match in this process: players think one after the other, and a view shows what happens."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from gdl.ends import no_goal, no_move, stuck_roles
from gdl.errors import GdlError
from gdl.information import chance_role, hides
from gdl.machine import Machine, State
from gdl.words import counted
from ggp.terminal.human import HumanPlayer, Quit, Undo
from players.belief.belief import Belief, Observed
from players.player import TOLERANCE, Choice, Player
from players.processes.limits import describe


@dataclass(frozen=True, slots=True)
class MatchSnapshot:
    """One joint move.

    Attributes:
        number: from 1.
        state: where it was made.
        choices: each role's answer.
        thought: which roles had a choice; only those are asked.
        seconds: how long all of them took.
        late: per role, seconds past the clock; 0 for an answer in time.
    """

    number: int
    state: State
    choices: tuple[Choice, ...]
    thought: tuple[bool, ...]
    seconds: float
    late: tuple[float, ...] = ()

    @property
    def joint(self) -> tuple[int, ...]:
        """The move ids."""
        return tuple(choice.move for choice in self.choices)


class MatchView:
    """Shows a match between ``players``, one per role, as it goes; this one shows nothing. ``chance`` is the
    role of chance, None where there is none."""

    def __init__(self, machine: Machine, players: Sequence[Player]) -> None:
        self.machine = machine
        self.players = players
        self.roles = [machine.rules.spell(role) for role in machine.roles]
        self.chance = chance_role(machine.roles)
        self._began = time.monotonic()
        self._late: dict[int, list[float]] = {}

    def move_name(self, role: int, move: int) -> str:
        """A move as the rules spell it."""
        return self.machine.rules.spell(self.machine.move(role, move))

    def goals(self, state: State) -> list[int | None]:
        """The goals of all roles; None where the rules give none, or several."""
        return [self.machine.goal(state, role) for role in range(len(self.roles))]

    def doubts(self, state: State) -> list[str]:
        """Why roles have no goal in a terminal state; of other states nobody asks for one."""
        if not self.machine.is_terminal(state):
            return []
        return [
            no_goal(state, role)
            for role, goal in enumerate(self.goals(state))
            if goal is None and role != self.chance
        ]

    @property
    def seconds(self) -> float:
        """Since the view was made."""
        return time.monotonic() - self._began

    def preparing(self, role: int, deadline: float) -> None:
        """The player of a role begins to use the startclock."""

    def position(self, steps: int, state: State) -> None:
        """A state is reached, the last one too, after so many joint moves."""

    def thinking(self, role: int, deadline: float) -> None:
        """The player of a role begins to think about its move."""

    def step(self, step: MatchSnapshot) -> None:
        """All have moved."""
        for role, late in enumerate(step.late):
            if late:
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


@contextmanager
def told_by(player: Player) -> Iterator[None]:
    """Makes a GdlError, with the place, of whatever a player's own code raises."""
    try:
        yield
    except (GdlError, MemoryError, OSError, Quit, Undo):
        raise
    except Exception as error:
        raise GdlError(f"the player {player.name} failed: {describe(error)}") from error


def play_match(
    machine: Machine,
    players: Sequence[Player],
    view: MatchView,
    prepared_by: float,
    playclock: float,
    max_steps: int | None = None,
) -> State:
    """Play a match to its end, and return the last state.

    A role with a single legal move makes it without being asked.

    Args:
        machine: the rules.
        players: one per role.
        view: shows it.
        prepared_by: when the startclock is over; time.monotonic() seconds.
        playclock: seconds for each move.
        max_steps: stop after this many joint moves.
    """
    state = machine.initial_state()
    for role, player in enumerate(players):
        # They think one after the other, so each gets its share of what is left.
        began = time.monotonic()
        seconds = max(prepared_by - began, 0.1) / (len(players) - role)
        view.preparing(role, began + seconds)
        with told_by(player):
            player.start(machine, role, state, seconds, began + seconds)
        if (late := _late(player, began + seconds)) > 0:
            name = f"{machine.rules.spell(machine.roles[role])} ({player.name})"
            view.note(f"{name} prepared {late:.1f} s longer than the {seconds:.1f} s of its startclock")
    steps: list[MatchSnapshot] = []
    beliefs = _first_beliefs(machine)
    why = ""
    while True:
        view.position(len(steps), state)
        if machine.is_terminal(state):
            break
        options = [machine.legal_moves(state, role) for role in range(len(players))]
        if not all(options):
            why = f"{no_move(state, stuck_roles(state))}: the match cannot go on"
            break
        if len(steps) == max_steps:
            why = f"cut after {counted(max_steps, 'step')}, the limit of steps: the match is not over"
            break
        try:
            step = _step(players, view, state, beliefs, options, len(steps) + 1, playclock)
        except Undo:
            if beliefs:
                view.note("no move is taken back where information is hidden")
                continue
            back = _last_human_step(steps, players)
            if back is None:
                view.note("there is nothing to take back")
                continue
            state = back.state
            del steps[back.number - 1 :]
            continue
        steps.append(step)
        view.step(step)
        before, state = state, machine.next_state(state, step.joint)
        if beliefs and not machine.is_terminal(state):
            seen = machine.percepts(before, step.joint)
            for role, belief in beliefs.items():
                learnt = Observed(machine.move(role, step.joint[role]), seen[role])
                belief.update(learnt, time.monotonic() + playclock)
                view.perceived(role, belief)
    view.end(state, len(steps), why)
    for player in players:
        player.stop()
    return state


def _first_beliefs(machine: Machine) -> dict[int, Belief]:
    """Before the first move, what each role but chance believes where information is hidden."""
    if not hides(machine.rules):
        return {}
    chance = chance_role(machine.roles)
    return {role: Belief(machine, role) for role in range(len(machine.roles)) if role != chance}


def _step(
    players: Sequence[Player],
    view: MatchView,
    state: State,
    beliefs: Mapping[int, Belief],
    options: list[list[int]],
    number: int,
    playclock: float,
) -> MatchSnapshot:
    began = time.monotonic()
    choices: list[Choice] = []
    late = [0.0] * len(players)
    for role, (player, moves) in enumerate(zip(players, options, strict=True)):
        if len(moves) == 1:
            choices.append(Choice(moves[0]))
            continue
        deadline = time.monotonic() + playclock
        view.thinking(role, deadline)
        with told_by(player):
            if role in beliefs:
                choices.append(player.choose_from(beliefs[role], deadline))
            else:
                choices.append(player.choose(state, deadline))
        late[role] = _late(player, deadline)
    thought = tuple(len(moves) > 1 for moves in options)
    return MatchSnapshot(number, state, tuple(choices), thought, time.monotonic() - began, tuple(late))


def _late(player: Player, deadline: float) -> float:
    """By how many seconds a player's answer is late, as a tournament counts it; people have all the time."""
    late = time.monotonic() - deadline
    return late if late > TOLERANCE and not isinstance(player, HumanPlayer) else 0.0


def _last_human_step(steps: list[MatchSnapshot], players: Sequence[Player]) -> MatchSnapshot | None:
    humans = [role for role, player in enumerate(players) if isinstance(player, HumanPlayer)]
    return next((step for step in reversed(steps) if any(step.thought[role] for role in humans)), None)
