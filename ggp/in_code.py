"""Players and matches in code (`GamePlayer`, `PlayedMatch`), as :class:`ggp.game.Game` makes them.

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from gdl.errors import GdlError, real_number, whole_number
from gdl.machine import Machine, State
from gdl.words import counted
from players.match import MatchView, play_match
from players.player import LONGEST_CLOCK, Player
from players.registry import make_player

PlayerSource = str | type[Player] | Player
"""A player's name (``uct:playouts=1000``, ``module:Class``), its class, or a player."""
_PREPARING_SHARE = 0.1
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
            share = _PREPARING_SHARE * seconds
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


class _Watched(MatchView):
    """Shows each state."""

    def __init__(self, machine: Machine, players: Sequence[Player], watch: Callable[[State], object]) -> None:
        super().__init__(machine, players)
        self._watch = watch

    def position(self, steps: int, state: State, before: State | None) -> None:
        self._watch(state)


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
    view = _Watched(machine, players, watch)
    try:
        match = play_match(machine, players, view, time.monotonic() + startclock, seconds, max_steps)
    finally:
        for player in players:
            player.stop()
    names = dict(zip(roles, (player.name for player in players), strict=True))
    spelled = [[view.move_name(role, move) for role, move in enumerate(step.joint)] for step in match.steps]
    moves = [dict(zip(roles, texts, strict=True)) for texts in spelled]
    return PlayedMatch(names, match.states, moves, match.why)
