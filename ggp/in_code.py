"""Matches in this process (`play_match`), and players and matches in code (`GamePlayer`, `PlayedMatch`).

Players think one after the other, and a view shows what happens. :class:`ggp.game.Game` makes the other two.

>>> import ggp
>>> game = ggp.load("tictactoe")
>>> player = game.player("random", seed=1)
>>> player.name, player.roles, player.choose(game.initial, seconds=0.1), player.notes
('random', ['x', 'o'], {'x': '(mark ...)', 'o': 'noop'}, {'x': ''})
>>> player.stop()
>>> match = game.play(["random", "random"], seed=1)
>>> match.players, len(match.states) == len(match.moves) + 1, sum(match.goals.values()), match.why
({'x': 'random', 'o': 'random'}, True, 100, '')
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from gdl.ends import no_goal, no_move, stuck_roles
from gdl.errors import GdlError, real_number, whole_number
from gdl.information import chance_role, hides
from gdl.machine import Machine, State
from gdl.words import counted
from players.belief.belief import Belief, Observed
from players.player import LONGEST_CLOCK, TOLERANCE, Choice, Player
from players.processes.limits import describe
from players.registry import make_player


class Undo(Exception):  # noqa: N818 - a wish, not an error
    """The person takes back a move."""


class Quit(Exception):  # noqa: N818 - a wish, not an error
    """The person leaves."""


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
    """Shows a match between ``players``, one per role, as it goes; this base class shows nothing. ``chance``
    is the role of chance, or None."""

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
        """The reasons why roles have no goal in a terminal state. Other states need no goals."""
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
        """Called at each state, the last one too; ``steps`` counts the joint moves before it."""

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
def _told_by(player: Player) -> Iterator[None]:
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
        # They think one after the other, so each gets its share of the remaining time.
        began = time.monotonic()
        seconds = max(prepared_by - began, 0.1) / (len(players) - role)
        view.preparing(role, began + seconds)
        with _told_by(player):
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
        with _told_by(player):
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
    return late if late > TOLERANCE and player.timed else 0.0


def _last_human_step(steps: list[MatchSnapshot], players: Sequence[Player]) -> MatchSnapshot | None:
    humans = [role for role, player in enumerate(players) if not player.timed]
    return next((step for step in reversed(steps) if any(step.thought[role] for role in humans)), None)


PlayerSource = str | type[Player] | Player
"""A player's name (``uct:playouts=1000``, ``module:Class``), its class, or a player."""
START_SHARE = 0.1
"""Share of the first turn's time that a player has to prepare."""


def _player_from(source: PlayerSource, seed: int) -> Player:
    """The player that is meant. Raises GdlError if there is none of this name."""
    if isinstance(source, str):
        return make_player(source, seed)
    if isinstance(source, Player):
        return source
    if isinstance(source, type) and issubclass(source, Player):
        return source(seed=seed)
    raise GdlError(
        f"a player was expected, not {source!r:.60}",
        remedy="give a name such as 'uct', a subclass of Player, or one",
    )


class GamePlayer:
    """A player of one game, asked for moves in any state: for one role, or for all of them.

    Used with ``with`` it frees what its searches hold at the end, as :meth:`stop` does.

    Attributes:
        name: the player's.
        roles: the roles that it moves for.
        notes: role -> one line on its last search; roles that had no choice are not in it.
    """

    def __init__(self, machine: Machine, source: PlayerSource, role: str | None, seed: int) -> None:
        """Raises GdlError if there is no such player, no such role, or one player is to play many roles."""
        self._machine, seed = machine, whole_number(seed, "seed")
        every = [machine.rules.spell(term) for term in machine.roles]
        if role is not None and role not in every:
            raise GdlError(f"the game has no role {role}", remedy=f"its roles are {', '.join(every)}")
        self.roles = every if role is None else [role]
        self._seats = {name: every.index(name) for name in self.roles}
        if isinstance(source, Player) and len(self.roles) > 1:
            raise GdlError(
                f"one {source.name} cannot play {len(self.roles)} roles", remedy="give its class, or role="
            )
        self._players = {name: _player_from(source, seed * 64 + self._seats[name]) for name in self.roles}
        self._started: set[str] = set()
        self.name = next(iter(self._players.values())).name
        self.notes: dict[str, str] = {}

    def choose(self, state: State, seconds: float = 1.0) -> dict[str, str]:
        """The moves of its roles in a state, of any machine of the same rules: role -> move as GDL text.

        The player thinks for at most ``seconds`` about each role that has a choice, one after the other. The
        answer is empty if the match is over. ``state.play`` takes an answer that has all roles with a choice.

        Raises:
            GdlError: the seconds are not a number from 0 to a day, or the state is of another game.
            MoveError: one of the roles has no legal move, or the player does not answer with one.
        """
        real_number(seconds, "seconds", 0, LONGEST_CLOCK)
        own = self._machine.own_state(state)
        moves: dict[str, str] = {}
        self.notes = {}
        if state.terminal:
            return moves
        for name, seat in self._seats.items():
            options = state.machine.legal_moves(state, seat)
            move = options[0] if len(options) == 1 else self._think(name, seat, state, own, seconds)
            moves[name] = state.machine.rules.spell(state.machine.move(seat, move))
        return moves

    def _think(self, name: str, seat: int, state: State, own: State, seconds: float) -> int:
        player = self._players[name]
        if name not in self._started:
            self._started.add(name)
            share = START_SHARE * seconds
            player.start(self._machine, seat, own, share, time.monotonic() + share)
            seconds -= share  # whatever it took: what is compiled then counts for no turn
        choice = player.choose(state, time.monotonic() + seconds)
        self.notes[name] = choice.note
        return choice.move

    def stop(self) -> None:
        """Free the memory of the searches. The player can be used again and then starts from scratch."""
        for name in self._started:
            self._players[name].stop()
        self._started.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<GamePlayer {self.name} for {', '.join(self.roles)}>"


@dataclass(frozen=True, slots=True, repr=False)
class PlayedMatch:
    """A match that was played.

    Attributes:
        players: role -> the player's name.
        states: from the initial state to the last one.
        moves: the joint moves between them: role -> move as GDL text.
        why: why it ended where the last state is not terminal; else empty.
    """

    players: dict[str, str]
    states: list[State]
    moves: list[dict[str, str]]
    why: str = ""

    @property
    def goals(self) -> dict[str, int | None]:
        """Each role's goal value in the last state; None where the rules give none or several."""
        return self.states[-1].goals

    def __repr__(self) -> str:
        ends = ", ".join(f"{role} {self.players[role]} {goal}" for role, goal in self.goals.items())
        return f"<PlayedMatch of {counted(len(self.moves), 'step')}: {ends}{self.why and '; ' + self.why}>"


class _Recorder(MatchView):
    """Keeps states and moves, and shows each state."""

    def __init__(self, machine: Machine, players: Sequence[Player], watch: Callable[[State], object]) -> None:
        super().__init__(machine, players)
        self._watch = watch
        self.states: list[State] = []
        self.moves: list[dict[str, str]] = []
        self.why = ""

    def position(self, steps: int, state: State) -> None:
        self.states.append(state)
        self._watch(state)

    def step(self, step: MatchSnapshot) -> None:
        super().step(step)
        self.moves.append(
            {name: self.move_name(role, step.joint[role]) for role, name in enumerate(self.roles)}
        )

    def end(self, state: State, steps: int, why: str) -> None:
        self.why = why


def play_in_code(
    machine: Machine,
    sources: Sequence[PlayerSource],
    seconds: float,
    startclock: float,
    seed: int,
    max_steps: int | None,
    watch: Callable[[State], object],
) -> PlayedMatch:
    """See :meth:`ggp.game.Game.play`."""
    real_number(seconds, "seconds", 0, LONGEST_CLOCK)
    real_number(startclock, "startclock", 0, LONGEST_CLOCK)
    seed = whole_number(seed, "seed")
    if max_steps is not None:
        whole_number(max_steps, "max_steps")
    roles = machine.role_names
    remedy = f"give a list with one for each of {', '.join(roles)}"
    if not isinstance(sources, list | tuple):
        raise GdlError(f"players is {sources!r:.60}", remedy=remedy)
    if len(sources) != len(roles):
        raise GdlError(f"{counted(len(sources), 'player')} for {counted(len(roles), 'role')}", remedy=remedy)
    players = [_player_from(source, seed * 64 + role) for role, source in enumerate(sources)]
    view = _Recorder(machine, players, watch)
    try:
        play_match(machine, players, view, time.monotonic() + startclock, seconds, max_steps)
    finally:
        for player in players:
            player.stop()
    names = dict(zip(roles, (player.name for player in players), strict=True))
    return PlayedMatch(names, view.states, view.moves, view.why)
