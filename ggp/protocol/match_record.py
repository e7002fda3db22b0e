"""A match as JSON, with the keys that game managers publish and viewers read."""

from __future__ import annotations

import json
import secrets
import string
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gdl.information import hides
from gdl.machine import State
from gdl.visible import visible
from ggp.protocol.messages import spaced


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def draw_seed() -> int:
    """A seed that nobody can guess: deals of cards come from it."""
    return secrets.randbits(128)


def _random_token() -> str:
    """Random letters and digits that cannot be guessed: they identify the publisher of a match."""
    return "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(32))


@dataclass
class MatchRecord:
    """The record of one match.

    Attributes:
        match_id: an atom, different for each match.
        startclock: seconds; ``playclock`` too; ``previewclock`` is -1 if there was none.
        players: a name for each role, in role order.
        game_url: the address at which the game's rules are published; empty if there is none.
        game: the game's name, if it is published; in addition to the public keys.
        rules: the game's rules as KIF, if they are published; in addition to the public keys.
        percepts: for each joint move the percepts of each role, if information is hidden; otherwise empty.
        states: for each state its true propositions.
        moves: the joint moves, GDL text in role order; one fewer than states.
        errors: for each state and role the error on the way to it: ``TO`` no answer in time, ``CE`` no
            connection, ``IL ...`` not a legal move, ``""`` none.
        state_times: for each state the time when it was reached, milliseconds since 1970.
        goals: the final goal values, once completed.
        end: why it ended though the rules go on (a resignation, time that ran out), and who has won; beside
            the public keys.
        seed: what chance and random moves came from; beside the public keys, and told at the end only: it
            tells what comes next.
    """

    match_id: str
    startclock: int
    playclock: int
    players: Sequence[str]
    scrambled: bool = False
    game_url: str = ""
    game: str = ""
    rules: str = ""
    tournament: str = ""
    previewclock: int = -1
    token: str = field(default_factory=_random_token)
    start_time: int = field(default_factory=now_ms)
    completed: bool = False
    aborted: bool = False
    states: list[str] = field(default_factory=list)
    moves: list[list[str]] = field(default_factory=list)
    state_times: list[int] = field(default_factory=list)
    errors: list[list[str]] = field(default_factory=list)
    goals: list[int] = field(default_factory=list)
    percepts: list[list[list[str]]] = field(default_factory=list)
    end: str = ""
    seed: int | None = None

    def add_state(self, state: State, errors: Sequence[str]) -> None:
        """Append a state, and the errors on the way to it."""
        propositions = map(state.machine.rules.spell, sorted(state.propositions))
        self.states.append(" ".join(("(", *map(spaced, propositions), ")")))
        self.state_times.append(now_ms())
        self.errors.append(list(errors))

    def add_moves(self, state: State, joint: Sequence[int]) -> list[str]:
        """Append a joint move of a state, and if information is hidden the percepts of each role. Returns the
        moves as the rules spell them."""
        machine, spell = state.machine, state.machine.rules.spell
        moves = [spell(machine.move(role, move)) for role, move in enumerate(joint)]
        self.moves.append(list(map(spaced, moves)))
        if hides(machine.rules):
            seen = machine.percepts(state, joint)
            self.percepts.append([[spaced(spell(one)) for one in sorted(percepts)] for percepts in seen])
        return moves

    def to_dict(self) -> dict[str, Any]:
        """The record under its public keys."""
        fields: dict[str, Any] = {
            "matchId": self.match_id,
            "randomToken": self.token,
            "startTime": self.start_time,
            "startClock": self.startclock,
            "playClock": self.playclock,
            "previewClock": self.previewclock,
            "playerNamesFromHost": list(self.players),
            "tournamentNameFromHost": self.tournament,
            "scrambled": self.scrambled,
            "isCompleted": self.completed,
            "isAborted": self.aborted,
            "states": self.states,
            "moves": self.moves,
            "stateTimes": self.state_times,
            "errors": self.errors,
        }
        if self.game_url:
            fields["gameMetaURL"] = self.game_url
        if self.game:
            fields["game"] = self.game
        if self.rules:
            fields["rules"] = self.rules
        if self.percepts:
            fields["percepts"] = self.percepts
        if self.end:
            fields["end"] = self.end
        if self.completed:
            fields["goalValues"] = self.goals
        if self.seed is not None and (self.completed or self.aborted):
            fields["seed"] = str(self.seed)  # longer than the numbers that readers of JSON keep
        return fields

    def to_json(self) -> str:
        """The record as JSON text on one line, every character of which can be seen."""
        return visible(json.dumps(self.to_dict(), ensure_ascii=False))
