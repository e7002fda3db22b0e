"""A match in this process: players take turns in thinking, and a view is told what happens."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gdl.machine import Machine, State
from ggp.terminal.human import HumanPlayer, Undo
from players.player import Choice, Player


@dataclass(frozen=True, slots=True)
class Turn:
    """One joint move.

    Attributes:
        step: its number, from 1.
        state: where it was made.
        choices: each role's answer.
        thought: which roles had a choice, and were asked.
        seconds: how long all of them took.
    """

    step: int
    state: State
    choices: tuple[Choice, ...]
    thought: tuple[bool, ...]
    seconds: float

    @property
    def joint(self) -> tuple[int, ...]:
        """The move ids."""
        return tuple(choice.move for choice in self.choices)


class View(Protocol):
    """What is told of a match as it goes."""

    def preparing(self, role: int, deadline: float) -> None:
        """The player of a role begins to use the startclock."""

    def position(self, step: int, state: State) -> None:
        """A state is reached, the last one too; ``step`` joint moves were made."""

    def thinking(self, role: int, deadline: float) -> None:
        """The player of a role begins to think about its move."""

    def turn(self, turn: Turn) -> None:
        """All have moved."""

    def note(self, text: str) -> None:
        """Something people should know."""

    def end(self, state: State, steps: int, why: str) -> None:
        """The match is over; ``why`` says so if not by the rules."""


def play_match(
    machine: Machine,
    players: Sequence[Player],
    view: View,
    prepared_by: float,
    playclock: float,
    max_steps: int | None = None,
) -> State:
    """Play a match to its end, and return the last state.

    A role with a single legal move makes it without being asked.

    Args:
        machine: the rules.
        players: one per role.
        view: is told everything.
        prepared_by: when the startclock is over; time.monotonic() seconds.
        playclock: seconds for each move.
        max_steps: stop after this many joint moves.
    """
    state = machine.initial_state()
    for role, player in enumerate(players):
        # They think one after the other, so each gets its share of what is left.
        now = time.monotonic()
        left = max(prepared_by - now, 0.1) / (len(players) - role)
        view.preparing(role, now + left)
        player.start(machine, role, state, left, now + left)
    turns: list[Turn] = []
    why = ""
    while True:
        view.position(len(turns), state)
        if machine.is_terminal(state):
            break
        options = [machine.legal_moves(state, role) for role in range(len(players))]
        if not all(options):
            stuck = machine.rules.spell(machine.roles[options.index([])])
            why = f"{stuck} has no legal move, so the match cannot go on"
            break
        if len(turns) == max_steps:
            why = f"stopped after {max_steps} steps"
            break
        try:
            turn = _turn(machine, players, view, state, options, len(turns) + 1, playclock)
        except Undo:
            back = _last_human_turn(turns, players)
            if back is None:
                view.note("there is nothing to take back")
                continue
            state = back.state
            del turns[back.step - 1 :]
            continue
        turns.append(turn)
        view.turn(turn)
        state = machine.next_state(state, turn.joint)
    view.end(state, len(turns), why)
    for player in players:
        player.stop()
    return state


def _turn(
    machine: Machine,
    players: Sequence[Player],
    view: View,
    state: State,
    options: list[list[int]],
    step: int,
    playclock: float,
) -> Turn:
    began = time.monotonic()
    choices: list[Choice] = []
    for role, (player, moves) in enumerate(zip(players, options, strict=True)):
        if len(moves) == 1:
            choices.append(Choice(moves[0]))
            continue
        deadline = time.monotonic() + playclock
        view.thinking(role, deadline)
        choices.append(player.choose(state, deadline))
    thought = tuple(len(moves) > 1 for moves in options)
    return Turn(step, state, tuple(choices), thought, time.monotonic() - began)


def _last_human_turn(turns: list[Turn], players: Sequence[Player]) -> Turn | None:
    for turn in reversed(turns):
        if any(asked and isinstance(p, HumanPlayer) for asked, p in zip(turn.thought, players, strict=True)):
            return turn
    return None
